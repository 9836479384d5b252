"""Numbers have a range where they come in: what is beyond it is refused, and what is within it can be used."""

import math

import numpy as np
import pytest

import hinge
from hinge import Builder, ModelError

RANGE = "Numbers of a robot are at most 1e+100."


def urdf(mass="1", inertia="1", limit="", origin="", inside=""):
    return (
        '<robot name="arm">\n<link name="base"/>\n<link name="rod">'
        f'<inertial><mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}"/></inertial>'
        f'</link>\n<joint name="elbow" type="revolute"><parent link="base"/><child link="rod"/>{origin}'
        f'<limit lower="-1" upper="1" effort="1" velocity="1" {limit}/>{inside}</joint>\n</robot>'
    ).replace('lower="-1" upper="1" effort="1" velocity="1" !', "")


def limited(written):
    return urdf(limit="!" + written)


def refused(source, **options):
    with pytest.raises(ModelError) as caught:
        hinge.load(source, **options)
    return caught.value.code, str(caught.value)


TOO_LARGE = {
    "mass": (urdf(mass="1e300"), 'line 3: mass value="1e300" is out of range.'),
    "inertia": (urdf(inertia="1e308"), 'line 3: inertia ixx="1e308" is out of range.'),
    "a place": (urdf(origin='<origin xyz="0 -1e101 0"/>'),
                'line 4: origin xyz="0 -1e101 0": "-1e101" is out of range.'),
    "a ratio": (urdf(inside='<mimic joint="elbow" multiplier="1e200"/>'),
                'line 4: mimic multiplier="1e200" is out of range.'),
    "a table": ("[[joint]]\na = 1e101\n", "line 2: a = 1e+101 is out of range."),
    "a shape": ('<mujoco>\n<worldbody><body><geom size="1e101"/></body></worldbody></mujoco>',
                'line 2: geom size="1e101" is out of range.'),
}  # fmt: skip


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_number_that_is_too_large_is_refused_where_it_is_written(name):
    text, what = TOO_LARGE[name]
    assert refused(text) == ("range", f"{what}\n  {RANGE}")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"xyz": (1e101, 0, 0)}, "joint 'elbow' has xyz 1e+101, which is out of range."),
        ({"armature": 1e200}, "joint 'elbow' has armature 1e+200, which is out of range."),
        ({"lower": 1e101, "upper": 1e102}, "joint 'elbow' has lower 1e+101, which is out of range."),
        ({"mimic": ("elbow", 1e101, 0)}, "joint 'elbow' has mimic ratio and offset 1e+101, which is out of range."),
        ({"kind": "helical", "pitch": 1e300}, "joint 'elbow' has pitch 1e+300, which is out of range."),
    ],
)
def test_the_builder_refuses_the_same(options, what):
    builder = Builder()
    with pytest.raises(ModelError) as caught:
        builder.joint("elbow", options.pop("kind", "revolute"), "base", "rod", **options)
    assert (caught.value.code, str(caught.value)) == ("range", f"{what}\n  {RANGE}")


def test_gravity_has_a_range():
    with pytest.raises(ModelError, match="gravity 1e\\+200, which is out of range"):
        hinge.load(urdf(), gravity=(0, 0, 1e200))
    with pytest.raises(ModelError, match="gravity"):
        hinge.load(urdf(), gravity=(0, 0, 10**400))


@pytest.mark.parametrize(
    "written", [f'lower="-{far}" upper="{far}"' for far in ("1.79769e308", "1e308", "1e101", "1e16", "2e9")]
)
def test_a_limit_beyond_the_range_is_none(written, tmp_path):
    robot = hinge.load(limited(f'{written} effort="1e308" velocity="1e200"'))
    data = robot.model.data[1]
    assert (data.lower, data.upper, data.effort, data.velocity) == ((-math.inf,), *[(math.inf,)] * 3)
    q, _ = robot.random_state(np.random.default_rng(0), 3)
    assert np.all(np.isfinite(robot.inverse_dynamics(q, q, q, backend="interpret")))
    for suffix in ("urdf", "xml", "toml"):
        hinge.write(robot, tmp_path / f"arm.{suffix}")
        again = hinge.load(tmp_path / f"arm.{suffix}")
        assert again.nv == 1
        assert np.array_equal(again.limits.lower, robot.limits.lower)


def test_a_range_of_mjcf_and_limits_of_a_table_beyond_it_are_none():
    text = '<joint range="-1e308 1e308"/><geom size="1"/>'
    for source in (f"<mujoco><worldbody><body>{text}</body></worldbody></mujoco>",
                   "[[joint]]\nmass = 1\nlimits = [-1e308, inf]\n"):  # fmt: skip
        data = hinge.load(source).model.data[1]
        assert (data.lower, data.upper) == ((-math.inf,), (math.inf,))


def test_a_number_below_the_range_is_zero():
    tiny = hinge.load(urdf(mass="1e-310", inertia="4e-320", origin='<origin xyz="1e-101 0 -1e-200"/>'))
    assert tiny.mass == 0.0
    assert not any(tiny.model.inertia[1].I)
    assert tuple(tiny.model.placement[1].pose()[1]) == (0.0, 0.0, 0.0)
    assert [finding.code for finding in tiny.report] == ["massless"]
    least = hinge.load(urdf(mass="1e-100", inertia="1e-100"))
    assert least.mass == 1e-100


def test_a_ratio_below_the_range_is_none():
    assert refused(urdf(inside='<mimic joint="elbow" multiplier="1e-101"/>'))[0] == "ratio"


@pytest.mark.parametrize("mass", ["1e100", "1e-100"])
@pytest.mark.parametrize("reach", ["1e100", "-1e100", "1e-100"])
def test_what_is_in_range_is_examined_written_and_read_without_a_fault(mass, reach, tmp_path):
    text = urdf(mass, mass, origin=f'<origin xyz="{reach} {reach} 0" rpy="0 1 2"/>')
    found = hinge.check(text, certify=False)
    assert found.robot is not None
    assert math.isfinite(found.robot.mass_matrix([0.1], backend="interpret")[0, 0])
    for suffix in ("urdf", "xml"):
        hinge.write(found.robot, tmp_path / f"arm.{suffix}")
        assert hinge.load(tmp_path / f"arm.{suffix}").mass == found.robot.mass


@pytest.mark.parametrize("word", ["effort", "velocity"])
def test_a_limit_below_zero_is_refused(word):
    other = {"effort": "velocity", "velocity": "effort"}[word]
    said = f"joint 'elbow' has {word} limit -5, below zero.\n"
    code, message = refused(limited(f'lower="-1" upper="1" {other}="1" {word}="-5"'))
    assert code == "limits"
    assert message == f"line 4: {said}  Write how much it may be in either direction, or leave it out."


def chain(middle):
    """Two joints in line, and a body between them."""
    builder = Builder("arm")
    builder.link("base")
    builder.link("middle", middle, inertia=np.eye(3) * middle)
    builder.link("rod", 1.0, com=(1.0, 0.0, 0.0), inertia=np.eye(3))
    builder.joint("a", "revolute", "base", "middle", lower=-1, upper=1, velocity=1, effort=1)
    builder.joint("b", "revolute", "middle", "rod", lower=-1, upper=1, velocity=1, effort=1)
    return builder.build()


def test_a_body_without_mass_in_the_middle_of_a_chain_is_told(tmp_path):
    files = {}
    for middle in (0.0, 1.0):
        files[middle] = tmp_path / f"{middle}.urdf"
        hinge.write(hinge.Robot(chain(middle)), files[middle])
    assert "weightless" not in [finding.code for finding in hinge.check(files[1.0]).findings]
    (told,) = [f for f in hinge.check(files[0.0]).findings if f.code == "weightless"]
    assert (told.severity, told.what) == ("note", "body 'middle' has neither mass nor inertia and carries others.")
    matrix = hinge.load(files[0.0]).mass_matrix([0.1, 0.2], backend="interpret")
    assert abs(np.linalg.det(matrix)) < 1e-12  # which is why


@pytest.mark.parametrize(("given", "says"), [
    ({"mass": 1e101}, "mass 1e+101"), ({"mass": 1.0, "com": (0, 1e150, 0)}, "com 1e+150"),
    ({"mass": 1.0, "inertia": 1e120 * np.eye(3)}, "inertia 1e+120"),
])  # fmt: skip
def test_a_payload_has_a_range(given, says):
    with pytest.raises(hinge.ModelError) as caught:
        hinge.samples.planar_2r().with_payload("lower", **given)
    assert str(caught.value) == (
        f"payload on 'lower' has {says}, which is out of range.\n  Numbers of a robot are at most 1e+100."
    )


@pytest.mark.parametrize("suffix", ["urdf", "xml", "toml"])
def test_a_robot_beyond_the_range_is_not_written(tmp_path, suffix):
    robot = hinge.samples.planar_2r()
    for _ in range(3):
        robot = robot.with_payload("lower", 9e99)
    place = tmp_path / f"arm.{suffix}"
    place.write_text("old")
    with pytest.raises(hinge.NotCovered, match=r"arm.* is not written, because .*: .*2.7e\+100"):
        hinge.write(robot, place)
    assert place.read_text() == "old"
