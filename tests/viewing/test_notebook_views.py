"""What results look like in a notebook, and a trajectory as a data frame."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

import hinge
from hinge.counting.table import of_robot

EVIL = """<robot name="&lt;script&gt;"><link name="foot"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1"/>
</inertial></link><link name="&lt;b&gt;arm"><inertial><mass value="1.5"/><inertia ixx="1" iyy="1" izz="3"/></inertial>
</link><joint name="turn" type="revolute"><parent link="foot"/><child link="&lt;b&gt;arm"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="2" velocity="3" effort="4"/></joint></robot>"""


class Reader(HTMLParser):
    """The tags that were opened and closed, and the text of each row of cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.tags = [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_robot_is_a_tree_with_masses_limits_and_findings():
    page = Reader(text := hinge.load(EVIL)._repr_html_())
    assert page.rows[1] == ["<b>arm", "turn", "revolute", "1.5", "-1", "2", "3", "4"]
    assert "&lt;script&gt;: 1 degree of freedom, 1.5 kg without the fixed base of 3 kg" in text
    assert not {"script", "b"} & page.tags
    assert page.rows[-1][0] == "warning"
    assert "has principal inertias" in page.rows[-1][2]
    tree = Reader(hinge.samples.go2()._repr_html_())
    assert len(tree.rows) == 1 + hinge.samples.go2().model.count
    assert hinge.samples.planar_2r()._repr_html_().count("\u2003") == 1


def test_every_robot_has_a_page():
    for make in (hinge.samples.puma560, hinge.samples.four_bar, hinge.samples.pendulum):
        assert Reader(make()._repr_html_()).rows
    sympy = pytest.importorskip("sympy")
    arm = hinge.dh([{"a": 1.0, "mass": sympy.Symbol("m")}])
    assert Reader(arm._repr_html_()).rows[1][3] == "m"


def test_costs_reports_diagnoses_sheets_and_tables():
    arm = hinge.samples.planar_2r()
    cost = arm.cost("mass_matrix")
    names, figures = Reader(cost._repr_html_()).rows
    assert dict(zip(names, figures, strict=True)) == {k: str(v) for k, v in vars(cost).items()}
    assert Reader(arm.report._repr_html_()).tags == {"pre"}
    found = hinge.check(EVIL)
    assert len(Reader(found._repr_html_()).rows) == 1 + len(found.findings)
    assert "the text: " in found._repr_html_()
    sheet = of_robot(arm, "mass_matrix")
    assert Reader(sheet._repr_html_()).rows[0] == list(sheet.columns)
    assert len(Reader(arm.to_dh()._repr_html_()).rows) == 3


@pytest.mark.sweep
def test_a_trajectory_draws_what_it_went_through():
    arm = hinge.samples.planar_2r()
    run = hinge.simulate(arm, 1.0, q0=[[0.3, 0.5], [0.0, 0.0]], step=1e-3, backend="interpret")
    text = run._repr_html_()
    paths = ET.fromstring(re.search(r"<svg.*</svg>", text)[0]).findall("path")
    assert [path[0].text for path in paths] == list(arm.joint_names)
    q = run.q[0, ::5]
    for k, path in enumerate(paths):
        points = np.array([pair.split(",") for pair in re.split("[ML]", path.get("d"))[1:]], float)
        assert len(points) == len(q)
        np.testing.assert_allclose(points[:, 1], 160 * (q.max() - q[:, k]) / np.ptp(q), atol=0.051)
    assert "of the first rollout" in text
    assert "<svg" not in hinge.simulate(arm, 0.01, fields=("qd",), backend="interpret")._repr_html_()


def test_a_curve_is_broken_where_it_is_not_finite():
    y = np.array([[0.0], [1.0], [np.nan], [2.0], [3.0]])
    assert re.findall("[ML]", re.search(r'd="([^"]*)"', hinge.notebook.curves(np.arange(5.0), y, ["a"], "m"))[1]) == [
        "M", "L", "M", "L",
    ]  # fmt: skip
    assert 'd=""' in hinge.notebook.curves(np.arange(5.0), np.full((5, 1), np.nan), ["a"], "m")


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_data_frame_has_a_row_a_time(base, tmp_path):
    pytest.importorskip("pandas")
    arm = hinge.load(EVIL, base=base)
    one = hinge.simulate(arm, 0.02, step=0.01, backend="interpret")
    frame = one.to_dataframe()
    assert len(frame) == len(one)
    hinge.logs.write(one, tmp_path / "run.npz")
    columns = ["t", *(name for field in ("q", "qd", "tau") for name in hinge.logs.columns.columns(arm, field))]
    assert list(frame) == columns
    np.testing.assert_array_equal(frame.filter(regex="^qd_").to_numpy(), one.qd)
    q, _ = arm.random_state(np.random.default_rng(0), 3)
    many = hinge.simulate(arm, 0.02, q0=q, step=0.01, backend="interpret")
    frame = many.to_dataframe()
    assert len(frame) == 3 * len(many)
    np.testing.assert_array_equal(frame[frame.rollout == 2].filter(regex="^q_").to_numpy(), many.q[2])
