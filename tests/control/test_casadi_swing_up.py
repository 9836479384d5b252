"""A cart-pole swung up by direct collocation with CasADi and IPOPT: within its limits, and true when replayed."""

import numpy as np
import pytest

import hinge
from hinge.envs.cart_pole import PUSH, RAIL, cart_pole

TIME, N = 2.0, 40
DOWN, UP = np.array([0.0, np.pi]), np.zeros(2)


def collocated(ca, f):
    """Times, states, pushes and their cost: the least effort from hanging to upright, at rest at both ends.

    Hermite-Simpson: states are cubics over a step, whose slopes are those of the dynamics at its ends and middle; the
    push is straight in between.
    """
    h = TIME / N
    q, qd, u = ca.MX.sym("q", 2, N + 1), ca.MX.sym("qd", 2, N + 1), ca.MX.sym("u", 1, N + 1)
    x = ca.vertcat(q, qd)

    def rates(x, u):
        n = x.shape[1]
        return ca.vertcat(x[2:, :], f.map(n)(x[:2, :], x[2:, :], ca.vertcat(u, ca.MX.zeros(1, n))))

    slope, before, after = rates(x, u), x[:, :-1], x[:, 1:]
    middle = (before + after) / 2 + h / 8 * (slope[:, :-1] - slope[:, 1:])
    there = rates(middle, (u[:, :-1] + u[:, 1:]) / 2)
    gap = after - before - h / 6 * (slope[:, :-1] + 4 * there + slope[:, 1:])
    ends = ca.vertcat(q[:, 0] - DOWN, qd[:, 0], q[:, -1] - UP, qd[:, -1])
    cost = h / 6 * ca.sum2(u[:, :-1] ** 2 + (u[:, :-1] + u[:, 1:]) ** 2 + u[:, 1:] ** 2)
    problem = {"x": ca.veccat(q, qd, u), "f": cost, "g": ca.veccat(gap, ends)}
    quiet = {"ipopt": {"print_level": 0, "sb": "yes", "bound_relax_factor": 0.0}, "print_time": False}
    solver = ca.nlpsol("solver", "ipopt", problem, quiet)
    far = np.concatenate([np.tile([RAIL, np.inf], N + 1), np.full(2 * N + 2, np.inf), np.full(N + 1, PUSH)])
    guess = np.concatenate([np.linspace(DOWN, UP, N + 1).ravel(), np.zeros(3 * N + 3)])
    found = solver(x0=guess, lbx=-far, ubx=far, lbg=0.0, ubg=0.0)
    assert solver.stats()["success"]
    q, qd, u = np.split(np.array(found["x"]).ravel(), [2 * N + 2, 4 * N + 4])
    return np.linspace(0.0, TIME, N + 1), q.reshape(-1, 2), qd.reshape(-1, 2), u, float(found["f"])


def test_the_pole_is_up_within_the_limits_and_simulation_agrees():
    ca = pytest.importorskip("casadi", reason="casadi is not installed")
    robot, terms = cart_pole(), ("armature", "damping")
    f = robot.casadi("forward_dynamics", joint_terms=terms)
    t, q, qd, u, cost = collocated(ca, f)
    assert collocated(ca, f.expand())[-1] == pytest.approx(cost, rel=1e-9)  # with derivatives by CasADi
    assert np.abs(u).max() <= PUSH
    assert np.abs(q[:, 0]).max() < RAIL
    held = np.interp(np.arange(0.5e-3, TIME, 1e-3), t, u)  # in the middle of each millisecond
    run = hinge.simulate(
        robot, TIME, DOWN, control=np.stack([held, 0 * held], -1), step=1e-3, record=50, joint_terms=terms, effort=True
    )
    np.testing.assert_allclose(run.q, q, atol=5e-5)
    np.testing.assert_allclose(run.qd, qd, atol=2e-4)
    assert cost == pytest.approx(np.sum(held**2) * 1e-3, rel=1e-5)
