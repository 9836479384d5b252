"""Accelerations are differentiated by what inverse dynamics implies; as they were computed, the same comes out."""

import numpy as np
import pytest
from differences import near
from mechanisms_of_all_sorts import mechanism

from hinge.dynamics.registry import FORCE, RULES, choose
from hinge.graph import Graph, columns, evaluated, pulled, sin
from hinge.model.driven import put, sizes
from hinge.spatial import Force, Motion, Vec3


def accelerations(robot):
    """Numbers that move, and accelerations at a state made of them, under loads that depend on it, on a moving base."""
    graph, (nq, nv) = Graph(), sizes(robot.model)
    widths = {"x": robot.nq, "y": robot.nv, "tau": robot.nv, "more": nq + 2 * nv, "t": 1}
    x, y, tau, more, t = ([graph.input(name, k) for k in range(n)] for name, n in widths.items())
    model = put(robot.model, [a * t[0] for a in more])
    q = model.joint_positions([a - 0.1 * sin(b) for a, b in zip(x, [*y, *y], strict=False)])
    v = [a - b * t[0] for a, b in zip(y, tau, strict=True)]
    loads = [Force(Vec3((v[0] * v[-1], x[0], t[0])), Vec3((v[0], x[-1], 0.0)))] * len(q)
    base = Motion(Vec3((t[0], 0.0, 0.2))), Motion(Vec3((0.1, t[0] * t[0], 0.0)))
    forward = choose(model, "forward_dynamics").function
    qdd, _ = forward(model, q, model.joint_velocities(v), FORCE.take(model, tau), loads, base)
    return [*x, *y, *tau, *more, *t], qdd


def slopes(robot, numbers):
    """The derivatives of these accelerations: all, along two directions, and pulled back from weights."""
    inputs, qdd = accelerations(robot)
    few = [dict(zip(inputs, rates, strict=True)) for rates in numbers[1:3].tolist()]
    every = [{x: 1.0} for x in inputs]
    made = columns(qdd, every), columns(qdd, few), [pulled(qdd, list(range(1, len(qdd) + 1)), inputs)]
    known = dict(zip(inputs, numbers[0].tolist(), strict=True))
    return [np.array([evaluated(row, known) for row in rows]) for rows in made]


@pytest.mark.sweep
@pytest.mark.parametrize("which", ["mixed", "driven", "coupled"])
def test_the_same_derivatives_as_of_how_they_were_computed(which, monkeypatch):
    robot, _ = mechanism(which)
    numbers = np.random.default_rng(5).uniform(0.2, 0.9, (3, len(accelerations(robot)[0])))
    implied = slopes(robot, numbers)
    monkeypatch.delitem(RULES, "forward_dynamics")
    for got, want in zip(implied, slopes(robot, numbers), strict=True):
        near(got, want, 1e-12)
        assert np.abs(want).max() > 1e-2
