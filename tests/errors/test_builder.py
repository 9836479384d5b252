"""What cannot be a robot, refused by the Builder and by hinge.load, each message whole; and what is only a finding."""

import math

import numpy as np
import pytest

import hinge
from hinge import Builder, ModelError

NAN = math.nan
UNIT = np.eye(3)


def refused(do, *args, **options):
    with pytest.raises(ModelError) as caught:
        do(*args, **options)
    return caught.value


# ---- the same robot twice: as calls of a Builder, and as text with the links from line 2 on and then a joint a line


def built(links, joints, **options):
    builder = Builder("arm")
    for name in links:
        builder.link(name)
    for name, kind, parent, child, more in joints:
        builder.joint(name, kind, parent, child, **more)
    return builder.build(**options)


def written(links, joints):
    lines = ['<robot name="arm">', *(f'<link name="{name}"/>' for name in links)]
    for name, kind, parent, child, more in joints:
        inside = f'<parent link="{parent}"/><child link="{child}"/>'
        if "axis" in more:
            inside += '<axis xyz="{:g} {:g} {:g}"/>'.format(*more["axis"])
        if "lower" in more:
            inside += f'<limit lower="{more["lower"]}" upper="{more["upper"]}"/>'
        if "mimic" in more:
            inside += '<mimic joint="{}" multiplier="{}" offset="{}"/>'.format(*more["mimic"])
        lines.append(f'<joint name="{name}" type="{kind}">{inside}</joint>')
    return "\n".join([*lines, "</robot>"])


def joint(name, parent, child, kind="continuous", **more):
    return name, kind, parent, child, more


THREE = ["base", "rod", "tip"]  # lines 2 to 4; joints begin on line 5
A, B = joint("a", "base", "rod"), joint("b", "rod", "tip")  # with these a good robot
LOOSE = "A robot has one root: connect the others to it, with fixed joints if need be."
TREE = "A robot is a tree; remove one joint of the cycle and close the loop separately."
SWAP = "Swap them, or leave both out for a joint without limits."
ONE_CARRIER = "A link has one joint that carries it; close loops separately."
Z = 'needs a direction. For the joint\'s z axis write <axis xyz="0 0 1"/>.'
LEAD = "One joint of the ring has to lead."
SINGLE = "Only joints with one coordinate can lead or follow."


def after(name):
    return {"mimic": (name, 2.0, 0.5)}


FAULTS = {
    # code, links, joints, line in the text, what is wrong, what to do
    "unknown parent": ("unknown-link", THREE, [joint("a", "bass", "rod"), B], 5,
                       "joint 'a' has parent link 'bass', which does not exist.", "Did you mean 'base'?"),
    "unknown child": ("unknown-link", THREE, [A, joint("b", "rod", "hand")], 6,
                      "joint 'b' has child link 'hand', which does not exist.", "Known: 'base', 'rod', 'tip'."),
    "two parents": ("two-parents", THREE, [A, joint("b", "tip", "rod")], 6,
                    "link 'rod' is carried by joint 'a' and by joint 'b'.", ONE_CARRIER),
    "two roots": ("two-roots", THREE, [A], 4, "links 'base', 'tip' are carried by no joint.", LOOSE),
    "five roots": ("two-roots", ["a", "b", "c", "d", "e"], [], 3,
                   "links 'a', 'b', 'c', 'd', … are carried by no joint.", LOOSE),
    "a cycle beside the root": ("cycle", THREE, [B, joint("c", "tip", "rod")], 5,
                                "joints 'b', 'c' lead back to where they start.", TREE),
    "a cycle of all links": ("cycle", THREE, [A, B, joint("c", "tip", "base")], 5,
                             "joints 'a', 'b', 'c' lead back to where they start.", TREE),
    "a link on itself": ("cycle", ["base", "rod"], [joint("a", "rod", "rod")], 4,
                         "joints 'a' lead back to where they start.", TREE),
    "zero axis, revolute": ("zero-axis", THREE, [A, joint("b", "rod", "tip", axis=(0, 0, 0))], 6,
                            "joint 'b' has axis (0, 0, 0).", f"A continuous joint {Z}"),
    "zero axis, prismatic": ("zero-axis", THREE, [joint("a", "base", "rod", "prismatic", axis=(0, 0, -0.0)), B], 5,
                             "joint 'a' has axis (0, 0, -0).", f"A prismatic joint {Z}"),
    "lower above upper": ("limits", THREE, [A, joint("b", "rod", "tip", "revolute", lower=2, upper=1.5)], 6,
                          "joint 'b' has lower limit 2 above upper limit 1.5.", SWAP),
    "mimics itself": ("mimic-cycle", THREE, [joint("a", "base", "rod", **after("a")), B], 5,
                      "joint 'a' mimics itself: a → a.", LEAD),
    "mimic cycle": ("mimic-cycle", THREE, [joint("a", "base", "rod", **after("b")),
                                           joint("b", "rod", "tip", **after("a"))], 6,
                    "joint 'b' mimics itself: a → b → a.", LEAD),
    "mimic of a ball": ("mimic", THREE, [joint("a", "base", "rod", "spherical"),
                                         joint("b", "rod", "tip", **after("a"))], 6,
                        "joint 'b' mimics joint 'a', but 'a' is spherical.", SINGLE),
    "a ball that mimics": ("mimic", THREE, [joint("a", "base", "rod", "spherical", **after("b")), B], 5,
                           "joint 'a' mimics joint 'b', but 'a' is spherical.", SINGLE),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_structure_is_refused_by_the_builder(fault):
    code, links, joints, _, what, hint = FAULTS[fault]
    error = refused(built, links, joints)
    assert str(error) == f"{what}\n  {hint}"
    assert (error.code, error.hint, error.file, error.line) == (code, hint, "", 0)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_structure_is_refused_in_a_text_with_its_line(fault):
    code, links, joints, line, what, hint = FAULTS[fault]
    error = refused(hinge.load, written(links, joints))
    assert str(error) == f"line {line}: {what}\n  {hint}"
    assert (error.code, error.hint, error.file, error.line) == (code, hint, "", line)


def test_a_fault_in_a_file_names_the_file_and_the_line(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(written(THREE, [A]), encoding="utf-8")
    error = refused(hinge.load, path)
    assert str(error) == f"arm.urdf:4: links 'base', 'tip' are carried by no joint.\n  {LOOSE}"
    assert (error.file, error.line) == ("arm.urdf", 4)


@pytest.mark.parametrize(
    ("links", "joints", "what", "first", "line"),
    [
        ([*THREE, "rod"], [A, B], "two links named 'rod'", 3, 5),
        (THREE, [A, joint("a", "rod", "tip")], "two joints named 'a'", 5, 6),
    ],
)
def test_a_name_given_twice_is_refused_and_the_first_is_pointed_at(links, joints, what, first, line):
    code = "duplicate-" + what.split()[1][:-1]
    error = refused(built, links, joints)
    assert (error.code, str(error)) == (code, f"there are {what}.\n  Rename one.")
    error = refused(hinge.load, written(links, joints))
    assert error.code == code
    assert str(error) == f"line {line}: there are {what}.\n  The first one is at line {first}. Rename one."


def test_a_robot_without_links_is_refused():
    error = refused(Builder("arm").build)
    assert (error.code, str(error)) == ("empty", "robot 'arm' has no links.\n  Add at least one.")
    error = refused(hinge.load, '<robot name="arm"/>')
    hint = 'A robot has at least one <link name="…"/>. A xacro file must be expanded with xacro first.'
    assert (error.code, str(error)) == ("empty", f"line 1: the robot has no link.\n  {hint}")


def test_a_zero_axis_on_a_fixed_joint_is_let_through():
    robot = hinge.load(written(THREE, [A, joint("b", "rod", "tip", "fixed", axis=(0, 0, 0))]))
    assert robot.joint_names == ("a",)


def test_an_unknown_joint_type_offers_the_nearest():
    error = refused(built, THREE, [A, joint("b", "rod", "tip", "revolut")])
    assert (error.code, str(error)) == ("joint-type", "joint 'b' has type 'revolut'.\n  Did you mean 'revolute'?")
    error = refused(hinge.load, written(THREE, [A, joint("b", "rod", "tip", "revolut")]))
    assert str(error) == "line 6: joint 'b' has type=\"revolut\".\n  Did you mean 'revolute'?"


def test_a_frame_needs_a_link_and_a_name_of_its_own():
    def framed(name, link):
        builder = Builder("arm")
        builder.link("base")
        builder.frame(name, link)
        builder.build()

    error = refused(framed, "hand", "bass")
    assert str(error) == "frame 'hand' is on link 'bass', which does not exist.\n  Did you mean 'base'?"
    assert error.code == "unknown-link"
    error = refused(framed, "base", "base")
    assert str(error) == (
        "frame 'base' has the name of a link or another frame.\n"
        "  Links, frames and sites share one name space: rename it."
    )
    assert error.code == "duplicate-frame"


# ---- numbers that are not numbers


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("label", ["mass", "com", "inertia"])
def test_a_link_with_a_number_that_is_not_finite_is_refused_by_the_builder(label, bad):
    value = {"mass": bad, "com": (0, bad, 0), "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, bad]]}[label]
    error = refused(Builder("arm").link, "rod", **{"mass": 1.0, label: value})
    assert str(error) == f"link 'rod' has {label} with a value that is not a finite number.\n  Give numbers."
    assert error.code == "nan"


@pytest.mark.parametrize("label", ["axis", "xyz", "rotation", "child_xyz", "child_rotation"])
def test_a_joint_placed_by_nan_is_refused_by_the_builder(label):
    value = [[1, 0, 0], [0, NAN, 0], [0, 0, 1]] if "rotation" in label else (0, 0, NAN)
    error = refused(built, THREE, [A, joint("b", "rod", "tip", **{label: value})])
    assert str(error) == f"joint 'b' has {label} with a value that is not a finite number.\n  Give numbers."
    assert error.code == "nan"


WORDS = ["lower", "upper", "velocity", "effort", "damping", "friction", "stiffness", "armature"]


@pytest.mark.parametrize("label", WORDS)
def test_a_joint_with_nan_limits_or_data_is_refused_by_the_builder(label):
    error = refused(built, THREE, [A, joint("b", "rod", "tip", **{label: NAN})])
    assert (error.code, str(error)) == ("nan", f"joint 'b' has {label} NaN.\n  Give a number.")


@pytest.mark.parametrize("word", ["velocity", "effort"])
@pytest.mark.parametrize("limits", [(-5.0, 3.0), (3.0, -5.0)])
def test_no_freedom_of_a_joint_has_a_limit_below_zero(word, limits):
    error = refused(built, THREE, [A, joint("b", "rod", "tip", "universal", **{word: limits})])
    said = f"joint 'b' has {word} limit -5, below zero."
    assert (error.code, str(error).split("\n")[0]) == ("limits", said)


INERTIA = '<inertia ixx="1" iyy="1" izz="1"/>'
LINK = '<robot name="arm">\n<link name="rod"><inertial>\n{}\n</inertial></link>\n</robot>'
JOINT = (
    '<robot name="arm">\n<link name="base"/><link name="rod"/>\n<joint name="a" type="revolute">'
    '<parent link="base"/><child link="rod"/>\n{}\n</joint></robot>'
)


@pytest.mark.parametrize("bad", ["nan", "NaN", "inf"])
@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (LINK.format('<mass value="BAD"/>' + INERTIA), 3, 'mass value="BAD" is'),
        (LINK.format('<mass value="1"/>' + INERTIA.replace("1", "BAD", 1)), 3, 'inertia ixx="BAD" is'),
        (LINK.format('<origin xyz="0 BAD 0"/><mass value="1"/>' + INERTIA), 3, 'origin xyz="0 BAD 0": "BAD" is'),
        (JOINT.format('<axis xyz="0 0 BAD"/>'), 4, 'axis xyz="0 0 BAD": "BAD" is'),
        (JOINT.format('<limit lower="BAD" upper="1"/>'), 4, 'limit lower="BAD" is'),
        (JOINT.format('<limit lower="0" upper="1" effort="BAD"/>'), 4, 'limit effort="BAD" is'),
        (JOINT.format('<dynamics damping="BAD"/>'), 4, 'dynamics damping="BAD" is'),
        (JOINT.format('<mimic joint="a" multiplier="BAD"/>'), 4, 'mimic multiplier="BAD" is'),
    ],
)
def test_a_number_in_a_text_that_is_not_finite_is_refused_with_its_line(text, line, what, bad):
    error = refused(hinge.load, text.replace("BAD", bad))
    hint = "Write a plain number such as 0.5 or -1e-3, without a unit."
    assert str(error) == f"line {line}: {what.replace('BAD', bad)} not a finite number.\n  {hint}"
    assert error.code == "number"


# ---- words of build and load


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"base": "float"}, "base",
         'base="float" is not a kind of base.\n  Give base="fixed" or base="floating".'),
        ({"mimic": "coupled"}, "mimic",
         'mimic="coupled" is not known.\n  Give mimic="couple" or mimic="free".'),
    ],
)  # fmt: skip
def test_a_wrong_word_for_base_or_mimic_is_refused(options, code, message):
    for make in (lambda: built(THREE, [A, B], **options), lambda: hinge.load(written(THREE, [A, B]), **options)):
        error = refused(make)
        assert (error.code, str(error)) == (code, message)


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, NAN), (0, 0, -9.81, 0)])
def test_gravity_is_three_finite_numbers(gravity):
    for make in (lambda: hinge.load(written(["a"], []), gravity=gravity), lambda: hinge.dh([], gravity=gravity)):
        error = refused(make)
        assert str(error) == f"gravity={gravity} is not a vector.\n  Give three finite numbers in m/s²."
        assert error.code == "gravity"


def test_a_missing_file_offers_the_nearest_of_its_folder(tmp_path):
    (tmp_path / "panda.urdf").touch()
    (tmp_path / "panda.txt").touch()
    missing = tmp_path / "pand.urdf"
    for given in (missing, str(missing)):
        error = refused(hinge.load, given)
        assert str(error) == f"{missing} cannot be read: No such file or directory.\n  Did you mean 'panda.urdf'?"
        assert error.code == "no-file"
    nowhere = tmp_path / "gone" / "panda.urdf"
    told = f"{nowhere} cannot be read: No such file or directory.\n  There is no folder {tmp_path / 'gone'}."
    assert str(refused(hinge.load, nowhere)) == told
