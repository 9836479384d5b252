"""Derivatives where series take over, at rest, at corners, where equations are singular, in batches of all sorts."""

import numpy as np
import pytest
from differences import by_differences, inputs, near, positions, slots
from mechanisms_of_all_sorts import mechanism
from robots import MOVING
from sweeps import swept
from test_every_algorithm import NAMES, covers

import hinge
from hinge.dynamics.registry import PLACE, POSITION, required_inputs

pytestmark = pytest.mark.usefixtures("plain_interpreter")
QUICK = {"inverse_dynamics", "integrate", "difference", "momentum", "jacobian", "gravity_force"}
BALLS = [kind for kind, joint in MOVING.items() if joint.nq != joint.nv and joint.holonomic]


@pytest.mark.parametrize("name", swept(NAMES, QUICK.__contains__))
def test_at_rest_in_the_reference_position(name):
    """All rates zero, quaternions that say no turn: derivatives are there, and what differences say."""
    robot, _ = mechanism("mixed")
    if not covers(robot, name) or name.startswith("resolved"):  # which are singular in this position
        return
    given = {}
    for one, x in inputs(robot, np.random.default_rng(3), name).items():
        quantity = required_inputs(name)[one]
        given[one] = x if quantity is PLACE or one == "h" else robot.neutral() if quantity is POSITION else 0.0 * x
    *made, status = robot.derivatives(name, *given.values(), return_status=True)
    assert status == hinge.Status.OK
    results = made if len(positions(name)) > 1 else [made]
    for k, one in enumerate(slots(name)):
        for parts, want in zip(results, by_differences(robot, name, given, one), strict=True):
            near(parts[k], want, 1e-9)


@pytest.mark.parametrize("kind", BALLS)
@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_moving_by_nothing_moves_by_what_is_added(kind, number):
    robot = hinge.samples.random_tree(np.random.default_rng(0), 2, (kind,))
    here = np.stack([robot.neutral(), robot.random_state(np.random.default_rng(1), 1)[0][0]]).astype(number)
    still, one = np.zeros((2, robot.nv), number), np.broadcast_to(np.eye(robot.nv), (2, robot.nv, robot.nv))
    rel = 1e-14 if number is np.float64 else 1e-6
    for name, given, signs in (("integrate", (here, still), (1, 1)), ("difference", (here, here), (-1, 1))):
        *made, status = robot.derivatives(name, *given, return_status=True)
        assert np.all(status == hinge.Status.OK)
        for sign, part in zip(signs, made, strict=True):
            assert part.dtype == number
            near(part, sign * one, rel)


def test_single_precision_no_states_and_a_bad_row():
    robot, _ = mechanism("mixed")
    q, qd = robot.random_state(np.random.default_rng(0), 5)
    tau = np.random.default_rng(1).normal(size=qd.shape)
    whole = robot.derivatives("forward_dynamics", q, qd, tau)
    single = robot.derivatives("forward_dynamics", *(x.astype(np.float32) for x in (q, qd, tau)))
    for a, b in zip(single, whole, strict=True):
        assert a.dtype == np.float32
        near(a, b, 1e-3)
    for one in robot.derivatives("forward_dynamics", q[:0], qd[:0], tau[:0]):
        assert one.shape == (0, robot.nv, robot.nv)
    qd[2, 1] = np.nan
    *bad, status = robot.derivatives("forward_dynamics", q, qd, tau, return_status=True)
    assert status.tolist() == [0, 0, hinge.Status.NONFINITE, 0, 0]
    for a, b in zip(bad, whole, strict=True):
        assert np.array_equal(np.delete(a, 2, 0), np.delete(b, 2, 0))
        assert np.isnan(a[2]).any() or a is bad[2]  # those by tau are not by qd


def rubbing():
    """Two hinges with dry friction."""
    builder = hinge.Builder("rubbing")
    builder.link("base")
    for k, parent in enumerate(("base", "link0")):
        builder.link(f"link{k}", 1.0, (0.1, 0.0, -0.3), 0.1 * np.eye(3))
        builder.joint(f"joint{k}", "revolute", parent, f"link{k}", (0.2, 0.1, 0.0), axis=(0, 1, 0), friction=0.5)
    return hinge.Robot(builder.build())


def test_dry_friction_has_no_derivative_at_rest():
    robot, states = rubbing(), np.array([[0.0, 0.0], [0.3, -0.2], [0.3, 0.0]])
    told = lambda name, **how: robot.derivatives(name, states, states, states, return_status=True, **how)[-1].tolist()
    bad = hinge.Status.NOT_SMOOTH
    for name in ("inverse_dynamics", "forward_dynamics"):
        assert told(name, joint_terms=("friction",)) == [bad, 0, bad]
        assert told(name, joint_terms=("friction",), by="q") == [0, 0, 0]  # along which it stays as it is
        assert told(name) == [0, 0, 0]


def test_singular_states_say_so():
    """Axes of three turns that fall together: there is no acceleration, and no derivative of one."""
    robot = hinge.samples.random_tree(np.random.default_rng(0), 1, ("spherical_angles",))
    q = np.array([[0.1, np.pi / 2, 0.2], [0.1, 0.3, 0.2], [np.nan, 0.3, 0.2]])
    zero = np.zeros((3, 3))
    *made, status = robot.derivatives("forward_dynamics", q, zero, zero, return_status=True)
    assert status.tolist() == [hinge.Status.SINGULAR, hinge.Status.OK, hinge.Status.NONFINITE]
    for one in made:
        assert np.isnan(one[0]).all()
        assert np.isfinite(one[1]).all()


def test_wrong_names_are_told():
    robot = rubbing()
    for by, told in (
        ("qddd", "inverse_dynamics: derivatives by 'qddd' are asked for, which is none of its inputs. Did you mean"),
        ("link0.mass", "It does not vary: ask robot.vary('link0.mass')."),
        (("q", "q"), "inverse_dynamics: by= names 'q' twice. Name it once."),
    ):
        with pytest.raises(hinge.UnknownName) as caught:
            robot.derivatives("inverse_dynamics", *np.zeros((3, 2)), by=by)
        assert told in str(caught.value)
