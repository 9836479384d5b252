"""What a Denavit-Hartenberg table cannot be, each message whole."""

import math

import numpy as np
import pytest

import hinge
from hinge import ModelError

GOOD = {"a": 1.0, "mass": 1.0}
POSE = "Give a 4×4 matrix [R p; 0 1] with a right-handed rotation R."
FINITE = "with a value that is not a finite number.\n  Give numbers."


def refused(*args, **options):
    with pytest.raises(ModelError) as caught:
        hinge.dh(*args, **options)
    return caught.value


def test_an_unknown_key_offers_the_nearest_and_names_the_row():
    error = refused([GOOD, {**GOOD, "alfa": 1.0}])
    assert (error.code, str(error)) == ("dh-key", "row 2 of the table has 'alfa'.\n  Did you mean 'alpha'?")
    error = refused([{"length": 1.0}])
    known = "'a', 'alpha', 'armature', 'com', 'd', 'damping', 'driven_by', 'effort', …"
    assert str(error) == f"row 1 of the table has 'length'.\n  Known: {known}."


def test_an_unknown_type_offers_the_nearest_and_names_the_row():
    error = refused([GOOD, {**GOOD, "type": "prismatik"}])
    assert (error.code, str(error)) == (
        "joint-type",
        "row 2 of the table has type 'prismatik'.\n  Did you mean 'prismatic'?",
    )
    # the model's own word for it is not the table's
    error = refused([{**GOOD, "type": "spherical"}])
    types = "'cylindric', 'prismatic', 'revolute', 'screw'"
    assert str(error) == f"row 1 of the table has type 'spherical'.\n  Known: {types}."


def test_an_unknown_convention_is_refused():
    error = refused([GOOD], convention="standard")
    assert (error.code, str(error)) == (
        "convention",
        'convention="standard" is not known.\n  Give "classic" or "modified".',
    )


@pytest.mark.parametrize("end", ["base", "tool"])
@pytest.mark.parametrize(
    "pose",
    [
        np.eye(3),
        np.zeros((4, 4)),
        np.diag([1.0, 1.0, -1.0, 1.0]),
        np.diag([2.0, 2.0, 2.0, 1.0]),
        np.full((4, 4), math.nan),
        [1.0, 0.0, 0.0],
    ],
    ids=["3 by 3", "zero", "mirrored", "scaled", "NaN", "a vector"],
)
def test_a_base_or_tool_that_is_not_a_pose_is_refused(end, pose):
    error = refused([GOOD], **{end: pose})
    assert (error.code, str(error)) == ("pose", f"{end}= is not a pose.\n  {POSE}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"mass": math.nan}, f"link 'link1' has mass {FINITE}"),
        ({"com": (0, math.inf, 0)}, f"link 'link1' has com {FINITE}"),
        ({"inertia": np.full((3, 3), math.nan)}, f"link 'link1' has inertia {FINITE}"),
        ({"a": math.nan}, f"row 1 of the table has a {FINITE}"),
        ({"d": "1 m"}, "row 1 of the table has d ['1 m'].\n  Give a number."),
        ({"armature": math.nan}, "joint 'joint1' has armature NaN.\n  Give a number."),
        ({"limits": (0.0, math.nan)}, "joint 'joint1' has upper NaN.\n  Give a number."),
        ({"limits": (1.0, -1.0)}, "joint 'joint1' has lower limit 1 above upper limit -1.\n"
         "  Swap them, or leave both out for a joint without limits."),
        ({"name": "base"}, "there are two links named 'base'.\n  Rename one."),
        ({"name": "tool"}, "frame 'tool' has the name of a link or another frame.\n"
         "  Links, frames and sites share one name space: rename it."),
    ],
)  # fmt: skip
def test_what_the_builder_refuses_is_refused_in_a_table(row, message):
    assert str(refused([{"mass": 1.0, **row}])) == message


def test_a_table_can_have_findings():
    (finding,) = hinge.dh([{"mass": -1.0, "inertia": np.eye(3)}]).report
    assert str(finding) == "error: link 'link1' has mass -1 kg.\n  Masses are positive."
