"""Bad input of every kind is refused by name, and odd but good input is taken."""

import math

import numpy as np
import pytest

import hinge
from hinge import Builder, ModelError, SizeError, TraceError
from hinge.graph import Graph
from hinge.spatial import Force, Motion, cross

NAN = math.nan


def arm(link=None, frame=None, gravity=(0, 0, -9.81), kind="revolute", **joint):
    builder = Builder("arm", gravity=gravity)
    builder.link("base")
    builder.link("rod", **{"mass": 1.0, "inertia": np.eye(3), **(link or {})})
    builder.joint("elbow", kind, "base", "rod", **joint)
    if frame:
        builder.frame("hand", "rod", **frame)
    return builder.build()


def text(inside):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    return (
        f'<robot name="r"><link name="base"/><link name="rod">{inertial}</link><joint name="elbow" type="continuous">'
        f'<parent link="base"/><child link="rod"/>{inside}</joint></robot>'
    )


ONE = '<robot name="r"><link name="a"/></robot>'
OUTSIDE = np.vstack([np.eye(4)[:3], [1, 2, 3, 4]])
NOWHERE = np.vstack([[1, 0, 0, NAN], np.eye(4)[1:]])

REFUSE = {
    # what should be a ModelError and is something else, or nothing at all
    "a frame at NaN": lambda: arm(frame={"xyz": (NAN, 0, 0)}),
    "a frame turned by NaN": lambda: arm(frame={"rotation": np.full((3, 3), NAN)}),
    "gravity of NaN in a Builder": lambda: arm(gravity=(0, 0, NAN)),
    "gravity of two numbers in a Builder": lambda: arm(gravity=(0, -9.81)),
    "gravity that is a number in load": lambda: hinge.load(ONE, gravity=9.81),
    "a rotation that scales": lambda: arm(rotation=2 * np.eye(3)),
    "a rotation that mirrors": lambda: arm(rotation=np.diag([1.0, 1.0, -1.0])),
    "a pitch of NaN": lambda: arm(kind="helical", pitch=NAN),
    "a mimic ratio of NaN": lambda: arm(mimic=("other", NAN, 0.0)),
    "an infinite armature": lambda: arm(armature=math.inf),
    "a mass with a unit": lambda: arm(link={"mass": "1kg"}),
    "a centre of mass with two numbers": lambda: arm(link={"com": (0, 0)}),
    "an inertia of two rows": lambda: arm(link={"inertia": np.eye(2)}),
    "an inertia that is a vector": lambda: arm(link={"inertia": (1, 1, 1)}),
    "an axis with two numbers": lambda: arm(axis=(0, 1)),
    "a place with two numbers": lambda: arm(xyz=(0, 1)),
    "a tool at NaN": lambda: hinge.dh([{"mass": 1.0}], tool=NOWHERE),
    "a base whose last row is not 0 0 0 1": lambda: hinge.dh([{"mass": 1.0}], base=OUTSIDE),
    "a base that is a word": lambda: hinge.dh([{"mass": 1.0}], base="x"),
    "a row that is a list": lambda: hinge.dh([[1.0, 2.0]]),
    "a path with a NUL": lambda: hinge.load("a\0b"),
}


@pytest.mark.parametrize("fault", REFUSE)
def test_this_is_refused_as_a_model_error(fault):
    with pytest.raises(ModelError):
        REFUSE[fault]()


def test_an_axis_may_be_very_long():
    model = hinge.load(text('<axis xyz="0 0 1e99"/>')).model
    assert tuple(model.joint[1].axis) == (0, 0, 1)


@pytest.mark.parametrize("number", [np.float32(-1), np.int64(-1), np.array(-1.0)])
def test_a_limit_may_be_any_number_of_numpy(number):
    assert arm(lower=number).data[1].lower == (-1.0,)


def test_a_wrong_number_of_limits_names_the_joint():
    with pytest.raises(ModelError, match="joint 'elbow'"):
        arm(lower=[1.0, 2.0])


def test_an_armature_is_enough_for_forward_dynamics_and_no_finding_says_otherwise():
    model = arm(link={"mass": 0.0, "inertia": None}, armature=0.1)
    assert hinge.Robot(model).forward_dynamics([0.0], [0.0], [1.0], backend="interpret").tolist() == [10.0]
    assert list(model.report) == []


def test_a_negative_armature_is_a_finding():
    assert len(arm(armature=-1.0).report) == 1


# ---- calls


@pytest.fixture(scope="module")
def chain():
    return hinge.samples.chain(np.random.default_rng(1), 3)


def call(robot, wrench, dtype=float, **options):
    zero = np.zeros(3, dtype)
    return robot.inverse_dynamics(zero, zero, zero, external=wrench, backend="interpret", **options)


@pytest.mark.parametrize(
    "wrench",
    [
        {"link3": ["a"] * 6},
        {"link3": np.ones(6) * 1j},
        {"link3": np.zeros((3, 6)), "link2": np.zeros((2, 6))},
        [np.zeros(6)],
    ],
    ids=["words", "complex", "batches that do not fit", "a list"],
)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_an_external_force_that_is_none_is_refused_as_other_arrays_are(chain, wrench):
    with pytest.raises(SizeError):
        call(chain, wrench)


def test_float32_everywhere_and_in_external_forces_gives_float32(chain):
    assert call(chain, {"link3": np.ones(6, np.float32)}, np.float32).dtype == np.float32


def test_a_state_with_external_forces_equals_its_row_in_a_batch(chain):
    wrenches = np.random.default_rng(0).normal(size=(50, 6))
    many = call(chain, {"link3": wrenches})
    assert many.tobytes() == np.array([call(chain, {"link3": w}) for w in wrenches]).tobytes()


def test_a_batch_of_length_zero_has_a_status(chain):
    _, status = chain.forward_dynamics(*[np.zeros((0, 3))] * 3, return_status=True, backend="interpret")
    assert status.shape == (0,)


@pytest.mark.parametrize("call", ["mass_matrix", "potential_energy"])
def test_a_batch_of_length_zero_has_a_result_also_when_the_kernel_is_warm(chain, call):
    for n in (2, 0):
        assert getattr(chain, call)(np.zeros((n, 3)), backend="llvm").shape[0] == n


@pytest.mark.parametrize("given", [["a"] * 3, None], ids=["words", "nothing"])
def test_checking_values_still_says_that_these_are_no_numbers(chain, given):
    with pytest.raises(SizeError, match="q is not an array of real numbers"):
        chain.gravity_force(given, check="values", backend="interpret")


def test_checking_values_names_the_frame_of_an_external_force(chain):
    with pytest.raises(SizeError, match="link3"):
        call(chain, {"link3": np.full(6, NAN)}, check="values")


def test_bind_without_arrays_says_what_it_takes(chain):
    with pytest.raises(SizeError, match="bind takes q and out; 0 arrays were given"):
        chain.kernel("gravity_force", backend="interpret").bind()


def test_a_wrong_number_of_threads_is_a_hinge_error():
    with pytest.raises(SizeError, match=r"0 is not a number of threads. Give 1 or more, or None"):
        hinge.set_threads(0)


# ---- traced values


@pytest.mark.parametrize(
    "ask",
    [lambda x: x > 0.0, lambda x: x >= 0.0, lambda x: max(x, 0.0)],
    ids=["greater", "at least", "max"],
)
def test_comparing_a_traced_value_points_at_less_and_select(ask):
    with pytest.raises(TraceError, match="select"):
        ask(Graph().input("q", 0))


@pytest.mark.parametrize("pair", [(Motion(), 1.0), (Force(), Motion())], ids=["a number", "a force first"])
def test_cross_takes_a_motion_first_and_then_a_motion_or_a_force(pair):
    with pytest.raises(TraceError):
        cross(*pair)
