"""The doctor: what is odd about a file that loads, each finding with the case next to it that is none; hinge.check."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge

OF_THE_DOCTOR = {"unit-inertia", "oversized-inertia", "too-dense", "point-mass", "copied-inertia", "heavy", "light",
                 "millimetres", "far-com", "degrees", "locked", "zero-velocity", "zero-effort",
                 "neutral-outside"}  # fmt: skip


def link(name, mass=1.0, inertia=(0.01, 0.01, 0.01), com=(0, 0, 0), shape=""):
    xx, yy, zz = inertia
    return (
        f'<link name="{name}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>\n'
    )


def joint(name, parent, child, kind="revolute", xyz=(0.3, 0, 0), lower=-1, upper=1, effort=10, velocity=1):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}"/><axis xyz="0 1 0"/>'
        f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/></joint>\n'
    )


def arm(rod="", elbow=None, more=""):
    """A base, an upper arm, and a rod on an elbow; lines 2 to 6."""
    parts = [link("base"), link("upper"), rod or link("rod"), joint("shoulder", "base", "upper")]
    return '<robot name="arm">\n' + "".join(parts) + (elbow or joint("elbow", "upper", "rod")) + more + "</robot>"


BOX = '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
MESH = '<visual><geometry><mesh filename="rod.stl"/></geometry></visual>'
ODD = [
    # code, severity, the odd one, the ordinary one, what is said
    ("unit-inertia", "warning", arm(link("rod", 2, (1, 1, 1))), arm(link("rod", 20, (1, 1, 1.01))),
     "link 'rod' has inertia 1, 1, 1 kg m², which looks like a default: with 2 kg it is a radius of gyration of 0.71 "
     "m."),
    ("oversized-inertia", "warning", arm(link("rod", 1, (0.1, 0.1, 0.1), shape=BOX)),
     arm(link("rod", 1, (0.01, 0.01, 0.01), shape=BOX)),
     "link 'rod' has inertia 0.1 kg m² with 1 kg: a radius of gyration of 0.32 m, where its shapes reach 0.087 m."),
    ("oversized-inertia", "warning", arm(link("rod", 1, (0.4, 0.4, 0.4), shape=MESH)),
     arm(link("rod", 1, (0.3, 0.3, 0.3), shape=MESH)),
     "link 'rod' has inertia 0.4 kg m² with 1 kg: a radius of gyration of 0.63 m, where the robot reaches 0.6 m."),
    ("too-dense", "warning", arm(link("rod", 1, (1e-4, 1e-4, 1e-4))), arm(link("rod", 1, (2e-4, 2e-4, 2e-4))),
     "link 'rod' has 1 kg with a mean inertia of 0.0001 kg m², which no matter is dense enough for."),
    ("point-mass", "warning", arm(link("rod", 1, (0, 0, 0))), arm(link("rod", 1)),
     "link 'rod' has 1 kg and no inertia: it is a point."),
    ("point-mass", "warning", arm(link("rod", 1, (0, 1e-20, 0))), arm(link("rod", 0, (0, 0, 0), com=(1, 0, 0))),
     "link 'rod' has 1 kg and no inertia: it is a point."),
    ("copied-inertia", "note", arm(link("rod", 2)), arm(link("rod", 1.4)),
     "3 links have the same inertia and masses from 1 to 2 kg: 'base', 'upper', 'rod'."),
    ("heavy", "warning", arm(link("rod", 150, (5, 5, 5))), arm(link("rod", 90, (5, 5, 5))),
     "body 'rod' has 150 kg, all others that move 1 kg together."),
    ("light", "warning", arm(link("rod", 1e-7, (1e-13, 1e-13, 1e-13))), arm(link("rod", 1e-5, (1e-11, 1e-11, 1e-11))),
     "body 'rod' has, with all it carries, 1e-07 kg of the robot's 1 kg."),
    ("millimetres", "warning", arm(elbow=joint("elbow", "upper", "rod", xyz=(300, 0, 0))),
     arm(elbow=joint("elbow", "upper", "rod", xyz=(30, 0, 0))), "joint 'elbow' is 300 m away from the body it is on."),
    ("millimetres", "warning", arm(link("rod", com=(0, 150, 0))), arm(link("rod", com=(0, 0.15, 0))),
     "link 'rod' has its centre of mass 150 m away."),
    ("millimetres", "warning", arm(elbow=joint("elbow", "upper", "rod", "prismatic", lower=0, upper=40)),
     arm(elbow=joint("elbow", "upper", "rod", "prismatic", lower=-100, upper=100)),
     "joint 'elbow' slides by 40 m, the robot reaches 0.6 m."),
    ("far-com", "warning", arm(link("rod", com=(0, 1.3, 0))), arm(link("rod", com=(0, 1.1, 0))),
     "link 'rod' has its centre of mass 1.3 m away, the robot reaches 0.6 m."),
    ("degrees", "warning", arm(elbow=joint("elbow", "upper", "rod", lower=-90, upper=45)),
     arm(elbow=joint("elbow", "upper", "rod", lower=-9.42, upper=10)),
     "joint 'elbow' has limits -90 and 45 rad, which look like degrees."),
    ("degrees", "warning", arm(elbow=joint("elbow", "upper", "rod", lower=0, upper=360)),
     arm(elbow=joint("elbow", "upper", "rod", lower=-100, upper=100)),
     "joint 'elbow' has limits 0 and 360 rad, which look like degrees."),
    ("locked", "warning", arm(elbow=joint("elbow", "upper", "rod", lower=0, upper=0)), arm(),
     "joint 'elbow' has the same lower and upper limit."),
    ("zero-velocity", "note", arm(elbow=joint("elbow", "upper", "rod", velocity=0)), arm(),
     "the velocity limit is 0 at joint 'elbow', so that nothing may drive them."),
    ("zero-effort", "note", arm(elbow=joint("elbow", "upper", "rod", effort=0)), arm(),
     "the effort limit is 0 at joint 'elbow', so that nothing may drive them."),
    ("neutral-outside", "note", arm(elbow=joint("elbow", "upper", "rod", lower=0.2, upper=2)), arm(),
     "robot.neutral() is outside the limits of joint 'elbow'."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "severity", "odd", "ordinary", "what"), ODD, ids=[f"{k}-{row[0]}" for k, row in enumerate(ODD)]
)
def test_what_is_odd_is_found_and_what_is_not_is_not(code, severity, odd, ordinary, what):
    found = [f for f in hinge.check(odd).findings if f.code == code]
    assert [(f.severity, f.what) for f in found] == [(severity, what)]
    assert found[0].fix
    assert found[0].where.line == (4 if found[0].what.startswith(("link", "body")) else 2 if "3 links" in what else 6)
    assert code not in {f.code for f in hinge.check(ordinary).findings}


def test_every_rule_has_a_case():
    assert {row[0] for row in ODD} == OF_THE_DOCTOR


def test_loading_does_not_ask_what_is_odd():
    for _, _, odd, _, _ in ODD:
        assert not {f.code for f in hinge.load(odd, strict=True).report} & OF_THE_DOCTOR


def test_an_inertia_about_the_origin_is_recognised():
    """A rod of 1 kg, 0.1 m long, whose inertia was taken 0.5 m away from it."""
    about_origin = 0.25 + 0.01 / 12
    rod = link(
        "rod",
        1,
        (1e-4, about_origin, about_origin),
        com=(0.5, 0, 0),
        shape=BOX.replace("<geo", '<origin xyz="0.5 0 0"/><geo'),
    )
    (finding,) = (f for f in hinge.check(arm(rod)).findings if f.code == "oversized-inertia")
    assert finding.fix == (
        "With 1 kg at most 0.0075 kg m² fit. "
        "It fits if it was taken about the link's origin: URDF wants it about the centre of mass."
    )


def test_a_marker_that_its_body_does_not_feel_is_not_judged():
    weld = '<joint name="weld" type="fixed"><parent link="rod"/><child link="imu"/></joint>'
    small = BOX.replace("0.1 0.1 0.1", "0.001 0.001 0.001")
    marker = arm(more=link("imu", 0.001, (5e-5, 5e-5, 5e-5), shape=small) + weld)
    assert list(hinge.check(marker).findings) == []
    felt = arm(more=link("imu", 0.001, (5e-4, 5e-4, 5e-4), shape=small) + weld)
    assert [f.code for f in hinge.check(felt).findings] == ["oversized-inertia"]


def test_an_empty_limit_is_told_once():
    limitless = joint("elbow", "upper", "rod").replace(' lower="-1" upper="1"', "")
    assert [f.code for f in hinge.check(arm(elbow=limitless)).findings] == ["empty-limit"]


WRITTEN = [
    # code, severity, what is in the file, what is there instead, what is said
    ("incomplete-inertia", "note", ' ixy="0" ixz="0" iyz="0"/>', ' ixy="0"/>',
     "link 'base' has an <inertia> without ixz, iyz; other readers leave out all of it.", 'Write ixz="0" iyz="0".'),
    ("incomplete-limit", "note", ' effort="10" velocity="1"', "",
     "joint 'shoulder' has a <limit> without effort and velocity; other readers refuse the file.",
     'Write effort="…" and velocity="…".'),
    ("no-axis", "note", '<axis xyz="0 1 0"/>', "", "joint 'shoulder' has no <axis>, which means x.",
     'Write <axis xyz="1 0 0"/> if that is meant.'),
    ("degrees", "warning", '<origin xyz="0.3 0 0"/>', '<origin rpy="0 -90 180"/>',
     'rpy="0 -90 180" looks like degrees.', "In radians it is 0 -1.570796327 3.141592654."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "severity", "old", "new", "what", "fix"), WRITTEN, ids=[row[0] for row in WRITTEN])
def test_how_a_file_is_written_is_looked_at(tmp_path, code, severity, old, new, what, fix):
    path = tmp_path / "arm.urdf"
    path.write_text(arm().replace(old, new, 1))
    (finding,) = hinge.check(path).findings
    assert (finding.code, finding.severity, finding.what, finding.fix) == (code, severity, what, fix)
    assert (finding.where.file, finding.where.line) == ("arm.urdf", 2 if "link" in what else 5)


def test_what_is_not_read_is_not_judged():
    odd = '<visual><origin rpy="one two"/><geometry><torus/></geometry></visual>'
    assert [f.code for f in hinge.check(arm(link("rod", shape=odd))).findings] == ["unknown-element", "geometry"]


@pytest.mark.parametrize("rpy", ["0 0 1.5707963", "0 0 -7", "6.2831853 0 0", "0 5 0"])
def test_angles_that_may_be_radians_are_no_finding(rpy):
    assert hinge.check(arm().replace('<origin xyz="0.3 0 0"/>', f'<origin xyz="0.3 0 0" rpy="{rpy}"/>')).exit_code == 0


def test_coupled_joints_move_nothing_only_where_none_of_them_does():
    """One finding for a gripper, at the joint that leads; none where a finger has mass or the joints are free."""

    def gripper(mass, mimic='<mimic joint="elbow"/>'):
        finger = joint("finger", "upper", "tip").replace("</joint>", f"{mimic}</joint>")
        return arm(link("rod", 0, (0, 0, 0)), more=link("tip", mass, (mass * 0.01,) * 3) + finger)

    massless = [f.what for f in hinge.load(gripper(0)).report]
    assert massless == ["joint 'elbow' moves nothing that has mass."]
    assert list(hinge.load(gripper(1)).report) == []
    assert len(hinge.load(gripper(0), mimic="free").report) == 2


# ---- hinge.check


def test_a_clean_robot_has_nothing_to_report():
    found = hinge.check(arm())
    assert (list(found.findings), found.proofs, found.exit_code) == ([], (), 0)
    assert str(found) == "the text: nothing to report"
    assert found.robot.nv == 2


def test_findings_are_in_the_order_of_the_file_and_printed_with_codes():
    found = hinge.check(arm(link("rod", 1, (0.1, 0.1, 0.3)), joint("elbow", "upper", "rod", lower=0.1, effort=0)))
    assert str(found) == (
        "line 4: warning: link 'rod' has principal inertias (0.1, 0.1, 0.3) kg m²: no body has two that sum to less "
        "than the third. [triangle]\n"
        "  Raise the two smaller ones until they sum to 0.3.\n"
        "line 6: note: the effort limit is 0 at joint 'elbow', so that nothing may drive them. [zero-effort]\n"
        "  Give what the motor can, or leave the limit out.\n"
        "line 6: note: robot.neutral() is outside the limits of joint 'elbow'. [neutral-outside]\n"
        "  Begin elsewhere: robot.random_state gives positions within the limits.\n"
        "the text: 1 warning, 2 notes"
    )
    assert (found.exit_code, found.counts) == (1, {"error": 0, "warning": 1, "note": 2})


def test_notes_count_only_where_it_is_strict():
    noted = arm(elbow=joint("elbow", "upper", "rod", lower=0.1))
    assert hinge.check(noted).exit_code == 0
    assert hinge.check(noted, strict=True).exit_code == 1


@pytest.mark.parametrize(
    ("bad", "code", "line"),
    [
        ("<robot", "xml", 1),
        ('<robot name="r"/>', "empty", 1),
        (arm().replace('mass value="1.0"', 'mass value="1kg"', 1), "number", 2),
        (arm(elbow=joint("elbow", "upper", "rad")), "unknown-link", 6),
        ('<!DOCTYPE r [<!ENTITY a "b">]>' + arm(), "doctype", 1),
    ],
)
def test_a_bad_file_is_a_finding_and_not_an_error(bad, code, line):
    found = hinge.check(bad)
    (finding,) = found.findings
    assert (found.robot, found.exit_code, finding.severity, finding.code, finding.where.line) == (
        None,
        2,
        "error",
        code,
        line,
    )
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(bad)
    assert finding.what == caught.value.what
    assert str(found).endswith("the text: cannot be loaded")
    assert hinge.check(bad, certify=True).proofs == ()


@pytest.mark.parametrize("options", [{"base": "flying"}, {"mimic": "maybe"}, {"gravity": "down"}])
def test_a_wrong_option_is_an_error_and_not_a_finding(options):
    with pytest.raises(hinge.ModelError):
        hinge.check(arm(), **options)


def test_a_mistake_in_the_program_is_an_error():
    with pytest.raises(TypeError, match="colour"):
        hinge.check(arm(), colour="red")
    with pytest.raises(hinge.SizeError, match="Give a path"):
        hinge.check(5)


def test_load_options_are_handed_on():
    assert hinge.check(arm(), base="floating", gravity=(0, 0, -1)).robot.nv == 8


def test_json_says_the_same(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(arm(link("rod", 1, (0.1, 0.1, 0.3))))
    found = hinge.check(path)
    said = json.loads(found.to_json())
    assert list(said) == ["file", "exit_code", "robot", "counts", "findings", "proofs"]
    assert said["file"] == str(path)
    assert said["robot"] == {"name": "arm", "nq": 2, "nv": 2, "mass": 2.0}
    (finding,) = said["findings"]
    assert finding == {"severity": "warning", "code": "triangle", "what": found.findings[0].what,
                       "fix": found.findings[0].fix, "file": "arm.urdf", "line": 4}  # fmt: skip
    missing = json.loads(hinge.check(tmp_path / "arn.urdf").to_json())
    assert (missing["exit_code"], missing["robot"], missing["findings"][0]["line"]) == (2, None, None)


def test_json_has_no_number_that_json_does_not_know(monkeypatch):
    proof = hinge.Proof("energy", False, float("inf"), 1e-9, "")
    found = hinge.check(arm())
    said = json.loads(hinge.Diagnosis(found.file, found.robot, found.findings, (proof,)).to_json())
    assert said["proofs"] == [{"name": "energy", "passed": False, "worst": None, "limit": 1e-9, "detail": ""}]
    assert said["exit_code"] == 0 or np.isinf(proof.worst)


def test_attached_robots_keep_the_places_of_their_links():
    robot = hinge.load(arm())
    both = robot.attach(robot, at="rod", prefix="second_")
    assert both.model.written["second_rod"] == robot.model.written["rod"]


# ---- whatever is in a file


PIECES = st.sampled_from(
    ['"', "<", ">", "/", "nan", "1e999", "-1", "0", "é", "\0", "<link/>", "type", "mass", " ", "rpy", "-->"]
)


@settings(derandomize=True, deadline=None, max_examples=300, database=None)
@given(st.data())
def test_no_file_makes_the_doctor_raise(data):
    text = arm()
    for _ in range(data.draw(st.integers(1, 4))):
        at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 30))
        text = text[:at] + data.draw(PIECES) + text[at + length :]
    found = hinge.check(text if "<" in text else "<" + text)
    assert found.exit_code in (0, 1, 2)
    assert (found.robot is None) == (found.exit_code == 2)
    assert json.loads(found.to_json())["exit_code"] == found.exit_code
    assert str(found)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_a_file_in_another_encoding_is_examined_too(tmp_path, encoding):
    path = tmp_path / "arm.urdf"
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n' + arm().replace("rod", "tête").replace(
        '<axis xyz="0 1 0"/>', "", 1
    )
    path.write_bytes(text.encode(encoding))
    (finding,) = hinge.check(path).findings
    assert (finding.code, finding.where.line) == ("no-axis", 6)


def test_a_folder_is_no_robot(tmp_path):
    assert hinge.check(tmp_path).exit_code == 2
