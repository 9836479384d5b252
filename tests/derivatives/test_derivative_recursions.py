"""The recursions for derivatives of inverse and forward dynamics against the graphs of these, differentiated."""

import numpy as np
import pytest
from hypothesis import given
from machines import MACHINES, grown, machine, near, refused, state
from robots import drawn, families, law, seeds
from slopes_by_graph import by_graph, by_recursion
from test_joint_terms import TERMS, laden
from test_potentials import pulled
from test_varied_joints import built

import hinge
from hinge.errors import NotCovered
from hinge.model.driven import prescribe, sizes

every = pytest.mark.parametrize("which", [*MACHINES, "coupled"])
CLOSE = 1e-12


def agrees(robot, q, qd, qdd, tau, **said):
    """Both recursions are what differentiation of the graphs gives."""
    made = by_recursion(robot, "inverse_dynamics", q, qd, qdd, backend="interpret", **said)
    near(made, by_graph(robot, "inverse_dynamics", q, qd, qdd, method="newton_euler", **said), CLOSE)
    made = by_recursion(robot, "forward_dynamics", q, qd, tau, backend="interpret", **said)
    near(made, by_graph(robot, "forward_dynamics", q, qd, tau, method="composite", **said), CLOSE)


@pytest.mark.sweep
@families
@given(seed=seeds)
@law(3)
def test_on_random_trees_of_every_joint(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    agrees(robot, q, qd, qdd, rng.normal(size=robot.nv))


@pytest.mark.sampled(1)
@every
@pytest.mark.parametrize("frame", ["body", "base", "aligned"])
def test_loads_stay_as_they_are_in_the_coordinates_they_are_given_in(which, frame):
    robot, rng = machine(which), np.random.default_rng(7)
    loads = {name: 5.0 * rng.normal(size=6) for name in (robot.body_names[-1], robot.body_names[2])}
    agrees(robot, *state(robot, 8), external=loads, external_frame=frame)


@pytest.mark.sampled(1)
@every
def test_on_a_base_that_is_moved(which):
    robot, rng = machine(which), np.random.default_rng(9)
    agrees(robot, *state(robot, 10), base_motion=(rng.normal(size=6), rng.normal(size=6)))


@pytest.mark.sampled(1)
@every
def test_with_potentials(which):
    robot = pulled(which)
    agrees(robot, *state(robot, 11))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_with_armature_damping_friction_and_springs(base):
    robot = laden(base=base)
    agrees(robot, *state(robot, 12), joint_terms=TERMS)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("which", "parts"),
    [
        ("tree", {"joint3": None, "joint5": [1]}),
        ("tree", {"joint2": [1], "joint5": [0]}),
        ("odd", {"joint2": None, "joint4": [0]}),
        ("slides", {"joint1": [2], "joint2": [0, 2]}),
        ("floating", {"base": None}),
        ("coupled", {"joint4": [1]}),
    ],
)
def test_of_joints_some_of_which_are_driven(which, parts):
    robot, rng = hinge.Robot(prescribe(machine(which).model, parts)), np.random.default_rng(13)
    nq, nv = sizes(robot.model)
    given = rng.normal(size=nq), rng.normal(size=nv), rng.normal(size=nv)
    agrees(robot, *state(robot, 14), prescribed=given)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ratio", [-1.0, 1.0, 2.5])
def test_with_varied_numbers_of_bodies_joints_and_gears(ratio):
    rng = np.random.default_rng(15)
    given = {"joint5.ratio": ratio, "joint5.offset": 0.0, "link2.mass": 2.0, "link3.com": rng.normal(size=3),
             "gravity": rng.normal(size=3), "joint3.stiffness": rng.uniform(size=3), "joint2.damping": 2.0}  # fmt: skip
    robot = built().vary(*given)
    agrees(robot, *state(robot, 16), parameters=given, joint_terms=TERMS)


def test_a_follower_that_goes_backwards_with_axes_of_its_own():
    """cos(-q) is kept as cos(q): slopes along q have to be found all the same."""

    class Wobble(hinge.Joint):
        kind, nq, nv, axes_vary = "wobble", 1, 1, True

        def transform(self, q):
            return JOINTS["universal"]().transform([q[0], q[0]])

        def axes(self, q):
            first, second = JOINTS["universal"]().axes([q[0], q[0]])
            return MotionSpace([first + second])

    from hinge.model import JOINTS
    from hinge.spatial import MotionSpace

    try:
        robot = grown(17, ("revolute", Wobble(), Wobble()), (0, 1, 1), mimic={3: ("joint2", -1.0, 0.0)})
        agrees(robot, *state(robot, 18))
    finally:
        del JOINTS["wobble"]


def test_loops_are_cut_in_inverse_dynamics_and_refused_in_forward_dynamics():
    robot = hinge.samples.four_bar()
    q, qd, qdd, tau = state(robot, 19)
    made = by_recursion(robot, "inverse_dynamics", q, qd, qdd, backend="interpret")
    near(made, by_graph(robot, "inverse_dynamics", q, qd, qdd), CLOSE)
    assert refused(NotCovered, by_recursion, robot, "forward_dynamics", q, qd, tau) == (
        "forward_dynamics_derivatives: nothing covers robot 'four_bar': it has kinematic loops.\n  No method does."
    )


def test_the_slopes_of_one_dynamics_undo_those_of_the_other():
    """H ∂qdd/∂q = -∂tau/∂q, and so on: an identity between two kernels, in batches and in single precision."""
    robot = machine("floating")
    q, qd, qdd, _ = state(robot, 20, 5)
    tau, H, n = robot.inverse_dynamics(q, qd, qdd), robot.mass_matrix(q), robot.nv
    inverse, forward = (
        by_recursion(robot, "inverse_dynamics", q, qd, qdd), by_recursion(robot, "forward_dynamics", q, qd, tau)
    )  # fmt: skip
    near(H @ forward[..., : 2 * n], -inverse[..., : 2 * n], 1e-11)
    near(H @ forward[..., 2 * n :], np.broadcast_to(np.eye(n), H.shape), 1e-11)
    single = by_recursion(robot, "inverse_dynamics", *(x.astype(np.float32) for x in (q, qd, qdd)))
    assert single.dtype == np.float32
    near(single, inverse, 1e-5)


def test_a_state_without_an_answer_says_so():
    robot = grown(21, ("spherical_angles", "revolute"))
    q, qd, _, tau = state(robot, 22, 2)
    q[1, 1] = np.pi / 2
    made, status = by_recursion(robot, "forward_dynamics", q, qd, tau, return_status=True)
    assert status.tolist() == [hinge.Status.OK, hinge.Status.SINGULAR]
    assert np.isfinite(made[0]).all()
    assert np.isnan(made[1]).all()
