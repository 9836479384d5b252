"""`hinge demo` and `hinge show`."""

import re

import pytest
from saying import LAMP, said

import hinge


def test_show_prints_the_joints_and_the_findings(lamp):
    assert said("show", lamp).output.endswith("┘\nother frames: foot\n")  # nothing was found
    with open(lamp, "w") as file:
        file.write(LAMP.replace('izz="0.02"', 'izz="-0.02"'))
    shown = said("show", lamp)
    assert shown.exit_code == 0
    assert "lamp: 2 degrees of freedom, 2 kg" in shown.output
    rows = [re.findall(r"[\w.∞-]+", line) for line in shown.output.splitlines() if line.startswith("│")]
    assert rows[0][:4] == ["turn", "continuous", "stem", "world"]
    assert rows[1] == ["nod", "revolute", "head", "stem", "0.5", "-1", "0.5"]
    (finding,) = hinge.load(lamp).report
    assert str(finding).split() == shown.output.rpartition("other frames: foot")[2].split()


@pytest.mark.sweep
@pytest.mark.parametrize("given", [[], ["lamp"]], ids=["its own arm", "a file"])
def test_demo_computes_counts_and_times(lamp, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = said("demo", "--seconds", "0.05", *([lamp] if given else []))
    assert shown.exit_code == 0
    for part in ("degrees of freedom", "largest difference", "inverse_dynamics", "composite", "States per second"):
        assert part in shown.output
    difference = float(re.search(r"largest difference (\S+) rad", shown.output)[1])
    assert difference < 1e-9
    rates = re.findall(r"([\d,]+)\s+\([\d,]+ ns a state\)", shown.output)
    assert len(rates) == 4
    assert all(int(rate.replace(",", "")) > 0 for rate in rates)


@pytest.mark.parametrize("verb", ["show", "demo"])
def test_a_file_that_is_not_there_is_said_to_be(tmp_path, lamp, verb):
    missing = str(tmp_path / "lump.urdf")
    ended = said(verb, missing)
    assert ended.exit_code == 2
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(missing)
    assert ended.output == f"Error: {caught.value}\n"
    assert f"{missing} cannot be read: No such file or directory." in ended.output
    assert "Did you mean 'lamp.urdf'?" in ended.output


def test_a_broken_file_is_said_to_be(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text(LAMP[:300])
    ended = said("show", str(path))
    assert ended.exit_code == 2
    assert ended.output.startswith("Error: ")
    assert "broken.urdf:" in ended.output


def test_the_verbs_are_listed_and_the_version_told():
    shown = said("--help")
    assert shown.exit_code == 0
    for verb in ("demo", "show", "cache"):
        assert verb in shown.output
    assert said("--version").output == f"hinge, version {hinge.__version__}\n"
    assert said("shw", "x").exit_code == 2
