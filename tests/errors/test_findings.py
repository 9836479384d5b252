"""What is odd about a robot without making it impossible: every finding whole, and strict=True, which refuses them."""

import numpy as np
import pytest

import hinge
from hinge import Builder, ModelError

UNIT = np.eye(3)
ROD = '<parent link="base"/><child link="rod"/>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def one_link(mass, inertia):
    builder = Builder("arm")
    builder.link("rod", mass, inertia=inertia)
    return builder


def one_link_text(mass, inertia):
    names = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
    entries = " ".join(f'{name}="{inertia[i][j]}"' for name, (i, j) in names.items())
    return (
        f'<robot name="arm">\n<link name="rod">\n<inertial><mass value="{mass}"/><inertia {entries}/></inertial>'
        "</link></robot>"
    )


def pendulum(mass=1.0, **options):
    """A base and a rod on one joint."""
    builder = Builder("arm")
    builder.link("base")
    builder.link("rod", mass, inertia=UNIT * mass)
    builder.joint("elbow", "revolute", "base", "rod", **options)
    return builder


def pendulum_text(inertial='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>', inside=""):
    return (
        f'<robot name="arm">\n<link name="base"/>\n<link name="rod">{inertial}</link>\n'
        f'<joint name="elbow" type="revolute">{ROD}{LIMIT}{inside}</joint>\n</robot>'
    )


FINDINGS = [
    # severity, code, mass, inertia, what is odd, what to do
    ("error", "negative-mass", -1.5, UNIT, "link 'rod' has mass -1.5 kg.", "Masses are positive."),
    ("warning", "inertia-without-mass", 0.0, UNIT, "link 'rod' has inertia but no mass.",
     "Give it a mass, or leave the inertia out."),
    ("error", "negative-inertia", 1.0, np.diag([1, -0.5, 2]),
     "link 'rod' has principal inertias (-0.5, 1, 2) kg m².", "All three must be positive."),
    ("error", "negative-inertia", 1.0, np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]]),
     "link 'rod' has principal inertias (-1, 1, 3) kg m².", "All three must be positive."),
    ("warning", "triangle", 1.0, np.diag([3, 1, 1]),
     "link 'rod' has principal inertias (1, 1, 3) kg m²: no body has two that sum to less than the third.",
     "Raise the two smaller ones until they sum to 3."),
]  # fmt: skip
ASYMMETRIC = (
    "error", "asymmetric-inertia", 1.0, np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
    "link 'rod' has an inertia that is not symmetric.", "Write each product of inertia once.",
)  # fmt: skip


@pytest.mark.parametrize(("severity", "code", "mass", "inertia", "what", "fix"), [*FINDINGS, ASYMMETRIC])
def test_an_unphysical_link_is_a_finding_of_the_builder(severity, code, mass, inertia, what, fix):
    (finding,) = one_link(mass, inertia).build().report
    assert str(finding) == f"{severity}: {what}\n  {fix}"
    assert (finding.severity, finding.code, finding.what, finding.fix) == (severity, code, what, fix)


@pytest.mark.parametrize(("severity", "code", "mass", "inertia", "what", "fix"), FINDINGS)
def test_an_unphysical_link_of_a_text_is_a_finding_with_its_line(severity, code, mass, inertia, what, fix):
    (finding,) = hinge.load(one_link_text(mass, inertia)).report
    assert str(finding) == f"line 2: {severity}: {what}\n  {fix}"
    assert (finding.code, finding.where.line) == (code, 2)


@pytest.mark.parametrize(("severity", "code", "mass", "inertia", "what", "fix"), FINDINGS)
def test_strict_refuses_an_unphysical_link(severity, code, mass, inertia, what, fix):
    with pytest.raises(ModelError) as caught:
        one_link(mass, inertia).build(strict=True)
    assert (caught.value.code, str(caught.value)) == (code, f"{what}\n  {fix}")
    with pytest.raises(ModelError) as caught:
        hinge.load(one_link_text(mass, inertia), strict=True)
    assert (caught.value.code, str(caught.value)) == (code, f"line 2: {what}\n  {fix}")


@pytest.mark.parametrize("inertia", [np.diag([1, 1, 2]), np.diag([1, 1, 2 + 1e-10]), np.diag([0, 1, 1]), 0 * UNIT])
def test_a_flat_plate_a_thin_rod_and_a_point_are_no_findings(inertia):
    assert list(one_link(1.0, inertia).build(strict=True).report) == []


def test_a_link_can_have_several_findings_and_all_are_told():
    report = one_link(-1.0, np.array([[1, 0.2, 0], [0, 1, 0], [0, 0, -1]])).build().report
    assert [f.code for f in report] == ["negative-mass", "asymmetric-inertia", "negative-inertia"]
    assert str(report) == (
        "error: link 'rod' has mass -1 kg.\n  Masses are positive.\n"
        "error: link 'rod' has an inertia that is not symmetric.\n  Write each product of inertia once.\n"
        "error: link 'rod' has principal inertias (-1, 0.9, 1.1) kg m².\n  All three must be positive."
    )


MASSLESS = "joint 'elbow' moves nothing that has mass."
MASSLESS_FIX = "Forward dynamics needs a mass, an inertia or an armature there."


def test_a_joint_that_moves_nothing_with_mass_is_a_finding():
    (finding,) = pendulum(mass=0.0).build().report
    assert (finding.code, str(finding)) == ("massless", f"warning: {MASSLESS}\n  {MASSLESS_FIX}")
    (finding,) = hinge.load(pendulum_text(inertial="")).report
    assert (finding.code, str(finding)) == ("massless", f"line 4: warning: {MASSLESS}\n  {MASSLESS_FIX}")
    with pytest.raises(ModelError) as caught:
        hinge.load(pendulum_text(inertial=""), strict=True)
    assert (caught.value.code, str(caught.value)) == ("massless", f"line 4: {MASSLESS}\n  {MASSLESS_FIX}")


def test_a_massless_link_that_carries_mass_is_no_finding():
    builder = pendulum(mass=0.0)
    builder.link("tip", 1.0, inertia=UNIT)
    builder.joint("wrist", "revolute", "rod", "tip")
    assert list(builder.build(strict=True).report) == []


NEARLY_STRAIGHT = [[1, 1e-12, 0], [-1e-12, 1, 0], [0, 0, 1]]
SNAPPED = "rotation entries within 1e-11 of 0 or ±1 were set to it, at {}."


def test_a_rotation_that_was_straightened_is_noted():
    model = pendulum(rotation=NEARLY_STRAIGHT).build()
    (finding,) = model.report
    assert (finding.code, str(finding)) == ("snapped", f"note: {SNAPPED.format(repr('elbow'))}")
    assert model.placement[1].pose()[0] == (1, 0, 0, 0, 1, 0, 0, 0, 1)


def test_a_straightened_rotation_of_a_file_is_noted_once_with_five_names(tmp_path):
    joints = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="fixed"><parent link="base"/><child link="l{k}"/>'
        '<origin rpy="0 0 1e-12"/></joint>'
        for k in range(7)
    )
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm"><link name="base"/>{joints}</robot>', encoding="utf-8")
    (finding,) = hinge.load(path).report
    assert finding.what == SNAPPED.format("'j0', 'j1', 'j2', 'j3', 'j4', …")
    assert (finding.severity, finding.code) == ("note", "snapped")


def test_strict_lets_a_note_pass():
    (finding,) = pendulum(rotation=NEARLY_STRAIGHT).build(strict=True).report
    assert finding.severity == "note"


@pytest.mark.parametrize(
    ("leader", "why", "hint"),
    [
        ("elbo", "does not exist", "Did you mean 'elbow'?"),
        ("weld", "does not move", "Known: 'elbow', 'wrist'."),
    ],
)
def test_a_joint_that_mimics_no_moving_joint_is_a_finding_and_stays_independent(leader, why, hint):
    builder = pendulum()
    for name, kind, parent, mimic in (("weld", "fixed", "base", None), ("wrist", "revolute", "rod", (leader, 2.0, 0))):
        builder.link(f"{name}_link", 1.0, inertia=UNIT)
        builder.joint(name, kind, parent, f"{name}_link", mimic=mimic)
    model = builder.build()
    what = f"joint 'wrist' mimics joint '{leader}', which {why}; it is left to move by itself."
    (finding,) = model.report
    assert (finding.code, str(finding)) == ("mimic", f"error: {what}\n  {hint}")
    assert (model.nv, dict(model.follows)) == (2, {})
    assert hinge.Robot(model).coordinates("wrist") == (slice(1, 2), slice(1, 2))
    with pytest.raises(ModelError) as caught:
        builder.build(strict=True)
    assert (caught.value.code, str(caught.value)) == ("mimic", f"{what}\n  {hint}")


def test_an_unknown_leader_in_a_text_is_a_finding_with_its_line():
    robot = hinge.load(pendulum_text(inside='<mimic joint="elbo"/>'))
    (finding,) = robot.report
    assert str(finding) == (
        "line 4: error: joint 'elbow' mimics joint 'elbo', which does not exist; it is left to move by itself.\n"
        "  Did you mean 'elbow'?"
    )
    assert robot.nv == 1


def test_mimic_free_asks_for_no_leader():
    assert list(hinge.load(pendulum_text(inside='<mimic joint="elbo"/>'), mimic="free", strict=True).report) == []


def test_a_clean_file_gives_an_empty_report():
    report = hinge.load(pendulum_text(), strict=True).report
    assert (list(report), len(report), bool(report)) == ([], 0, False)
    assert str(report) == "nothing to report"


def test_a_finding_does_not_keep_the_robot_from_being_used():
    robot = hinge.load(pendulum_text('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial>'))
    assert [f.code for f in robot.report] == ["triangle"]
    # the joint turns about x, and the centre of mass is on its axis
    assert robot.mass_matrix([0.3], backend="interpret").tolist() == [[1.0]]
