"""Derivatives of a step of the soft law, by the implicit function: against differences, forward and in reverse."""

from itertools import product

import numpy as np
import pytest

import hinge
from hinge.backends.llvm import Native
from hinge.contact.laws import SoftLaw
from hinge.contact.laws.soft_parameters import SoftPair, Weights
from hinge.contact.laws.soft_step import soft_step
from hinge.contact.slots import Slots, Touch
from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import FORCE
from hinge.graph import Graph, Input, along, less, order, pulled
from hinge.spatial import Vec3

BOX = '<mujoco><worldbody><body name="box"><freejoint/><geom type="box" size=".2 .15 .1"/></body></worldbody></mujoco>'
CORNERS = list(product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1)))
INPUTS = [Input("q", 7), Input("qd", 6), Input("tau", 6)]


def step(cone):
    """A step of a box whose corners touch the ground: inputs, then coordinates, velocities, and sums of forces of
    contacts, each with a weight of its own."""
    model = hinge.load(BOX).target.traced
    weights, graph = Weights(model), Graph()
    pair = SoftPair(0, 1, weights.link("box"), 3, (0.5, 0.5, 0.0, 0.0, 0.0))
    law = SoftLaw((pair,), cone=cone, inertia=weights.inertia, tolerance=1e-18)
    q, qd, tau = ([graph.input(one.name, k) for k in range(one.size)] for one in INPUTS)
    joints = model.joint_positions(q)
    R, r = poses(model, joints)
    slots, frame = Slots(8, q[0]), model.frame("box")
    for corner in CORNERS:
        p = R[1] @ (frame.R @ Vec3(corner) + frame.p) + r[1]
        at = (p[0], p[1], 0.5 * p[2])
        slots.add(less(p[2], 0.0), Touch(0.0, p[2], at, (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)))
    force, none = FORCE.take(model, tau), [0.0 * q[0]] * 6
    made = soft_step(
        model, law, joints, model.joint_velocities(qd), force, slots, none, 0.002, [[0.0] * 6] * 6, slopes=True
    )
    contacts = made.dynamics.contacts

    def weighted(k, *now):
        return [x + (1.0 + k * (1.0 + r)) * f for r, (x, f) in enumerate(zip(now, contacts.forces(k), strict=True))]

    forces = slots.each([0.0 * q[0]] * contacts.size, weighted)
    return graph, [*q, *qd, *tau], [*model.flat(made.q), *made.qd, *forces]


def states(n):
    """Boxes that lie, or stand on an edge or a corner, and move in some way."""
    rng = np.random.default_rng(0)
    q, qd = np.zeros((n, 7)), rng.normal(size=(n, 6)) * rng.choice([0.01, 1.0], size=(n, 1))
    q[:, 0], q[:, 1:4] = 1.0, rng.choice([0.003, 0.3], size=(n, 1)) * rng.normal(size=(n, 3))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    for row in q:
        R = hinge.load(BOX).pose(np.r_[row[:4], 0, 0, 0], "box")[:3, :3]
        row[6] = -min((R @ c)[2] for c in np.array(CORNERS)) - rng.uniform(0.0, 0.004)
    return [q, qd, rng.normal(size=(n, 6)) * 20.0]


@pytest.mark.sweep
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_step_has_the_derivatives_that_differences_have(cone):
    graph, given, made = step(cone)
    rates, weights = ([graph.input(name, k) for k in range(n)] for name, n in (("d", 19), ("w", len(made))))
    value = Native(order(INPUTS, [("y", (len(made),), made)]))
    pushed = along(made, dict(zip(given, rates, strict=True)))
    forward = Native(order([*INPUTS, Input("d", 19)], [("y", (len(made),), pushed)]))
    reverse = Native(order([*INPUTS, Input("w", len(made))], [("x", (19,), pulled(made, weights, given))]))
    n, rng = 60, np.random.default_rng(1)
    at, d, w = states(n), rng.normal(size=(n, 19)), rng.normal(size=(n, len(made)))

    def run(program, *arrays):
        out = np.empty((n, 19 if program is reverse else len(made)))
        program.run([np.ascontiguousarray(x) for x in arrays], [out])
        return out

    def moved(e):
        return run(value, *(x + e * dx for x, dx in zip(at, np.split(d, [7, 13], axis=1), strict=True)))

    e, here = 1e-7, moved(0.0)
    ahead, behind = (moved(e) - here) / e, (here - moved(-e)) / e
    size = np.abs(ahead).max(axis=1) + 1.0
    smooth = np.abs(ahead - behind).max(axis=1) < 1e-4 * size
    assert smooth.mean() > 0.8
    slope = run(forward, *at, d)
    assert (np.abs(slope - 0.5 * (ahead + behind)).max(axis=1) < 1e-5 * size)[smooth].all()
    np.testing.assert_allclose(
        (run(reverse, *at, w) * d).sum(axis=1), (w * slope).sum(axis=1), rtol=1e-8, atol=1e-8 * size.max()
    )
