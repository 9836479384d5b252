"""Denavit-Hartenberg files in TOML: read, written, and refused with the line of the fault."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trip import again, codes, same_dynamics

import hinge
from hinge.formats import dh_file
from hinge.formats.write.toml import _value
from hinge.model.samples import _random_body

ARM = """\
name = "two"
convention = "classic"
gravity = [0, 0, -9.81]
base = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1]]

[[joint]]
name = "shoulder"
a = 0.4
alpha = 1.5707963267948966
mass = 2.0
com = [-0.2, 0, 0]
inertia = [[0.01, 0, 0], [0, 0.03, 0], [0, 0, 0.03]]
limits = [-1.5, inf]

[[joint]]
type = "prismatic"
d = 0.1
mass = 1.0
"""


def rows(rng, convention):
    made = []
    for k in range(int(rng.integers(1, 7))):
        kind = str(rng.choice(["revolute", "prismatic", "screw", "cylindric"]))
        row = {"type": kind, "name": f"joint {k}", **_random_body(rng), "armature": float(rng.uniform(0, 0.1))}
        row |= {key: float(rng.normal()) for key in ("a", "alpha", "d", "theta")}
        row |= {"pitch": 0.1, "driven_by": "couple"} if kind == "screw" else {}
        if k % 2:
            n = 2 if kind == "cylindric" else 1
            row["limits"] = (-math.inf, 1.0) if n == 1 else ((-1.0, -math.inf), (math.inf, 2.0))
            row["damping"] = 0.5 if n == 1 else (0.5, 0.25)
            row["stiffness"] = 3.0
        made.append(row)
    return made


def as_file(table, **rest):
    lines = [f"{key} = {_value(value)}" for key, value in rest.items()]
    for row in table:
        lines += ["[[joint]]", *(f"{key} = {_value(value)}" for key, value in row.items())]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("convention", ["classic", "modified"])
@settings(derandomize=True, deadline=None, max_examples=12, database=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_table_in_a_file_is_the_table(convention, seed):
    rng = np.random.default_rng(seed)
    table = rows(rng, convention)
    tool = np.eye(4)
    tool[:3, 3] = rng.normal(size=3)
    text = as_file(table, name="arm", convention=convention, gravity=(0.0, 1.0, -9.0), tool=tool)
    robot = hinge.dh(table, convention, tool=tool, gravity=(0.0, 1.0, -9.0))
    read = hinge.load(text)
    assert read.model.digest == robot.model.digest
    assert read.model.frames == robot.model.frames
    for ours, theirs in zip(read.model.data, robot.model.data, strict=True):
        for key in ("lower", "upper", "damping", "stiffness", "armature"):
            assert getattr(ours, key) == getattr(theirs, key)


@pytest.mark.parametrize("convention", ["classic", "modified"])
@pytest.mark.parametrize("seed", range(8))
def test_an_arm_comes_back(convention, seed, tmp_path):
    rng = np.random.default_rng(seed)
    robot = hinge.dh(rows(rng, convention), convention, gravity=(0.0, 1.0, -9.0), name="arm")
    made, report = again(robot, tmp_path, ".toml")
    assert made.name == robot.name
    same_dynamics(robot, made, seed)
    q, _ = robot.random_state(rng, 1)
    np.testing.assert_allclose(made.pose(q[0], "tool"), robot.pose(q[0], robot.body_names[-1]), rtol=0, atol=1e-12)
    for ours, theirs in zip(made.model.data[1:], robot.model.data[1:], strict=True):
        for key in ("lower", "upper", "damping", "stiffness", "armature"):
            assert getattr(ours, key) == getattr(theirs, key)
    assert set(codes(report)) <= {"frame", "links"}


def test_a_file_reads_as_it_is_written(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(ARM)
    robot = hinge.load(path)
    assert (robot.name, robot.joint_names, robot.model.joint[2].kind) == ("two", ("shoulder", "joint2"), "prismatic")
    assert robot.limits.upper[0] == math.inf
    assert robot.limits.lower[0] == -1.5
    assert robot.model.data[1].where == hinge.errors.Where("two.toml", 6)
    same_dynamics(robot, hinge.load(ARM))
    same_dynamics(robot, hinge.load("\ufeff" + ARM.replace("\n", "\r\n")))
    assert hinge.load(ARM, base="floating").nv == 8


def test_degrees(tmp_path):
    text = (
        ARM.replace("1.5707963267948966", "90")
        .replace("-1.5, inf", "-90, 45")
        .replace("d = 0.1", "d = 0.1\nlimits = [0, 1]")
    )
    degrees = hinge.load('angles = "degrees"\n' + text)
    radians = hinge.load(text.replace("alpha = 90", f"alpha = {math.pi / 2!r}"))
    same_dynamics(radians, degrees)
    np.testing.assert_array_equal(degrees.limits.lower, [-math.pi / 2, 0])
    np.testing.assert_array_equal(degrees.limits.upper, [math.pi / 4, 1])
    both = hinge.load('angles = "degrees"\n[[joint]]\ntype = "cylindric"\nlimits = [[-180, -1], [180, 1]]\nmass = 1')
    np.testing.assert_array_equal(both.limits.upper, [math.pi, 1])


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "message"),
    [
        ('name = "two"', 'nam = "two"', "dh-key", 1, "'nam' is no key of a Denavit-Hartenberg file.\n  Did you "
        "mean 'name'?"),
        ('name = "two"', "name = 2", "word", 1, 'name = 2 is not a text.\n  Write it in "quotes".'),
        ('"classic"', '"standard"', "convention", 2, 'convention="standard" is not known.\n  Give "classic" or '
        '"modified".'),
        ("[0, 0, -9.81]", "[0, -9.81]", "gravity", 3, "gravity is not a vector.\n  Write three numbers in m/s²."),
        ("[0, 0, -9.81]", "9.81", "gravity", 3, "gravity is not a vector.\n  Write three numbers in m/s²."),
        ("0.5], [0, 0, 0, 1]]", "0.5]]", "pose", 4,
         "base= is not a pose.\n  Give a 4×4 matrix [R p; 0 1] with a right-handed rotation R."),
        ("alpha", "alfa", "dh-key", 9, "joint 1 has 'alfa'.\n  Did you mean 'alpha'?"),
        ("mass = 2.0", 'mass = "2kg"', "number", 10,
         "mass = '2kg' is not a number.\n  Write plain numbers such as 0.5, without a unit; arrays of them "
         "in [ ]."),
        ("mass = 2.0", "mass = true", "number", 10,
         "mass = True is not a number.\n  Write plain numbers such as 0.5, without a unit; arrays of them in [ ]."),
        ("mass = 2.0", "mass = nan", "nan", 10, "mass = nan is not a finite number.\n  Write a number."),
        ("mass = 2.0", "mass = inf", "nan", 10, "mass = inf is not a finite number.\n  Write a number."),
        ("mass = 2.0", f"mass = 1{'0' * 400}", "nan", 10, "mass = a huge integer is not a finite number.\n  "
        "Write a number."),
        ("[-1.5, inf]", "[-1.5, nan]", "nan", 13, "limits = nan is not a finite number.\n  Write a number."),
        ("[-1.5, inf]", "3", "limits", 6, "row 1 of the table has limits 3.\n  Give two, lower and upper; inf "
        "where there is none."),
        ("[-1.5, inf]", "[2, 1]", "limits", 6, "joint 'shoulder' has lower limit 2 above upper limit 1.\n"
         "  Swap them, or leave both out for a joint without limits."),
        ("[-0.2, 0, 0]", "[-0.2, 0]", "number", 6, "link 'shoulder' has com [-0.2, 0].\n  Give 3 numbers."),
        ("[-0.2, 0, 0]", "[[[[1]]]]", "number", 11,
         "com = [1] is not a number.\n  Write plain numbers such as 0.5, without a unit; arrays of them in [ ]."),
        ('"prismatic"', '"prismatik"', "joint-type", 15, "row 2 of the table has type 'prismatik'.\n  Did you "
        "mean 'prismatic'?"),
        ("d = 0.1", "d = 0.1.2", "toml", 17, "the file is not TOML: Expected newline or end of document after a "
        "statement, "
         "column 8.\n  See https://toml.io for how it is written."),
        ("mass = 1.0", "mass = ", "toml", 18, "the file is not TOML: Invalid value, column 8.\n"
         "  See https://toml.io for how it is written."),
        ('name = "shoulder"', 'name = "base"', "duplicate-link", 6, "there are two links named 'base'.\n  Rename one."),
        ("[[joint]]", "[joint]", "toml", 15, None),
    ],
)  # fmt: skip
def test_a_fault_is_refused_with_its_line(old, new, code, line, message, tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(ARM.replace(old, new))
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(path)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert message is None or str(caught.value).startswith(f"two.toml:{line}: {message}")


def test_a_file_without_joints_is_refused(tmp_path):
    for text in ("", "joint = 3\n", "joint = []\n", 'name = "x"\n', "joint = [1, 2]\n"):
        path = tmp_path / "none.toml"
        path.write_text(text)
        with pytest.raises(hinge.ModelError, match=r"the file has no \[\[joint\]\] tables") as caught:
            hinge.load(path)
        assert caught.value.code == "empty"


BOMBS = {
    "nested": b"[[joint]]\na = " + b"[" * 500_000,
    "dotted": b"a" + b".a" * 200_000 + b" = 1\n[[joint]]\n",
    "tables": b"[a" + b".a" * 200_000 + b"]\n",
    "keys": b"".join(b"k%d = 1\n" % k for k in range(80_000)),
    "joints": b"[[joint]]\n" * 100_000,
    "bytes": b"\xff\xfe[[joint]]",
    "large": b"#" * (dh_file.MAX_BYTES + 1),
    "binary": bytes(range(256)) * 1000,
    "string": b'name = "' + b"\\n" * 400_000 + b'"',
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("bomb", BOMBS)
def test_bad_files_are_refused_soon(bomb, tmp_path):
    path = tmp_path / "bomb.toml"
    path.write_bytes(BOMBS[bomb])
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(path)
    assert caught.value.file == "bomb.toml"


@settings(derandomize=True, deadline=None, max_examples=150, database=None)
@given(data=st.data())
def test_any_damage_gives_a_robot_or_an_error_of_ours(data):
    text = list(ARM)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 12))] = data.draw(
            st.text(alphabet='[]{}"=.#\n0123456789einfax_-,', max_size=6)
        )
    with contextlib.suppress(hinge.HingeError):
        assert dh_file.read("".join(text)).build().nv >= 0


def test_only_arms_are_written(tmp_path):
    tree = hinge.samples.random_tree(np.random.default_rng(2), 4, ("revolute",))
    with pytest.raises(hinge.NotCovered, match="has no Denavit-Hartenberg table: it branches at body"):
        hinge.write(tree, tmp_path / "tree.toml")
    assert not list(tmp_path.iterdir())


def test_what_a_table_cannot_say(tmp_path):
    builder = hinge.Builder("odd")
    builder.link("ground")
    builder.link("arm", 1.0, (0.1, 0, 0), np.eye(3), shapes=[hinge.model.model.Shape("visual", "sphere", (0.1,))])
    builder.joint("tool", "continuous", "ground", "arm", data={"safety_controller": {}})
    builder.frame("camera", "arm", (1, 0, 0))
    robot = hinge.Robot(builder.build())
    made, report = again(robot, tmp_path, ".toml")
    assert [str(finding) for finding in report] == [
        "note: frames 'ground', 'camera': a table has no frames but its own and the hand's.",
        "note: robot 'odd': a table has no links: bodies have the names of their joints, and frames of their own.",
        "note: link 'arm': a table has no shapes; they were left out.",
        "note: joint 'tool': a table has no word for a joint that goes round; differences are read the long way.",
        "note: joint 'tool': a table has no word for its safety_controller; it was left out.",
        "warning: joint 'tool': a table has a frame of that name; it is written as 'tool_2'.",
    ]
    same_dynamics(robot, made)
