"""A puck on a slope under the soft law slides as Coulomb says, and creeps where it sticks; a box gains no energy."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from soft_law_of import sized

import hinge
from hinge.calls.call import Call
from hinge.contact.laws import SoftLaw
from hinge.contact.laws.soft_parameters import SoftPair, Weights
from hinge.contact.laws.soft_step import soft_step
from hinge.contact.slots import Slots, Touch
from hinge.dynamics.energy import kinetic_energy, potential_energy
from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, unregistered
from hinge.graph import cos, less, maximum, repeat, sin
from hinge.spatial import Vec3, dot3

BOX = '<mujoco><worldbody><body name="box"><freejoint/><geom type="box" size=".2 .15 .1"/></body></worldbody></mujoco>'
PUCK = """<mujoco><worldbody><body name="puck"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
<joint type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody></mujoco>"""
MU, G, H = 0.5, 9.81, 0.002
CORNERS = list(product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1)))


def rollout(text, link, points, steps, **law):
    """(q, qd, angle of the slope) to the state after some steps, the velocity before the last half of them, and the
    greatest energy that there was, less that at the beginning. What may touch are points of a link."""
    robot = hinge.load(text)
    weights, body = Weights(robot.model), robot.model.frame(link).body
    pair = SoftPair(0, body, weights.link(link), 3, (MU, MU, 0.0, 0.0, 0.0))
    soft = replace(SoftLaw((pair,), inertia=weights.inertia), **law)
    nq, nv = robot.nq, robot.nv

    def run(model, q, qd, angle):
        normal = Vec3((-sin(angle[0]), 0.0, cos(angle[0])))
        tangent = (cos(angle[0]), 0.0, sin(angle[0]))
        tau = FORCE.take(model, [0.0] * nv)

        def energy(q, v):
            return kinetic_energy(model, q, v) + potential_energy(model, q)

        def step(_, *now):
            q, v = model.joint_positions(now[:nq]), model.joint_velocities(now[nq : nq + nv])
            R, r = poses(model, q)
            slots, at = Slots(len(points), now[0]), model.frame(link)
            for point in points:
                p = R[body] @ (at.R @ Vec3(point) + at.p) + r[body]
                gap = dot3(normal, p)
                slots.add(less(gap, 0.0), Touch(0.0, gap, tuple(p - normal * (0.5 * gap)), tuple(normal), tangent))
            made = soft_step(model, soft, q, v, tau, slots, list(now[nq + nv : -1]), H, [[0.0] * nv] * nv)
            most = maximum(now[-1], energy(made.q, model.joint_velocities(made.qd)))
            return [*model.flat(made.q), *made.qd, *made.guess, most]

        begin = energy(q, qd)
        half = repeat(steps // 2, [*model.flat(q), *model.flat(qd), *[0.0 * begin] * nv, begin], step)
        end = repeat(steps // 2, half, step)
        return end[:nq], end[nq : nq + nv], half[nq : nq + nv], [end[-1] - begin]

    gives = {"q_end": sized("nq"), "qd_end": sized("nv"), "half": sized("nv"), "gain": sized(1)}
    takes = {"q": POSITION, "qd": VELOCITY, "angle": sized(1)}
    return Call.outside_registry(robot.target, (lambda: unregistered("touching", run, takes, gives),), "llvm").kernel


def along(angles, v):
    """Velocities along slopes, and away from them."""
    c, s = np.cos(angles), np.sin(angles)
    return c * v[:, 0] + s * v[:, 2], c * v[:, 2] - s * v[:, 0]


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_puck_slides_as_coulomb_says(cone):
    """The first is fast on the level, the others begin at rest on slopes that are too steep; downhill is -x."""
    angles, steps, slide = np.array([0.0, 0.6, 0.9]), 200, rollout(PUCK, "puck", [(0.0, 0.0, 0.0)], 200, cone=cone)
    speed = np.array([[-3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    _, end, half, _ = slide(np.zeros((3, 3)), speed, angles[:, None])
    (t1, n1), (t0, n0) = along(angles, end), along(angles, half)
    time = 0.5 * H * steps
    pressed = n1 - n0 + G * np.cos(angles) * time  # impulses by mass
    np.testing.assert_allclose(t1 - t0 + G * np.sin(angles) * time, MU * pressed, rtol=1e-6)
    assert (pressed > 0.0).all()


def test_a_puck_that_sticks_creeps_the_less_the_firmer_friction_is():
    """A force f is held at the speed where damping towards rest asks for it: in proportion to f and to 1 / impratio."""
    angles = np.array([0.1, 0.2, 0.3])
    still = np.zeros((3, 3))
    ends = [
        rollout(PUCK, "puck", [(0.0, 0.0, 0.0)], 1000, cone="elliptic", impratio=x)(still, still, angles[:, None])
        for x in (1.0, 10.0)
    ]
    soft, firm = (along(angles, end[1])[0] for end in ends)
    np.testing.assert_allclose(soft / firm, 10.0, rtol=1e-3)
    np.testing.assert_allclose(soft / soft[0], np.sin(angles) / np.sin(angles[0]), rtol=0.1)
    assert (np.abs(soft) < 0.01).all()
    assert (soft < 0.0).all()


def test_no_energy_is_gained():
    rng = np.random.default_rng(0)
    q = np.hstack([rng.normal(size=(100, 4)), rng.normal(size=(100, 3)) * 0.2 + [0, 0, 0.6]])
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    qd = rng.normal(size=(100, 6)) * 2.0
    end, speed, _, gain = rollout(BOX, "box", CORNERS, 1500, cone="elliptic")(q, qd, np.zeros((100, 1)))
    *_, drift = rollout(BOX, "box", CORNERS, 1500, cone="elliptic")(q + [0, 0, 0, 0, 0, 0, 1e4], qd, np.zeros((100, 1)))
    assert (gain <= np.maximum(drift, 0.0) + 1e-3 * 24.0 * G).all()
    assert (np.abs(speed[:, 3:]) < 2.0).all()
    assert (end[:, 6] > 0.05).all()


def test_bodies_and_joints_give_way_as_in_mujoco():
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="base"><freejoint/><geom type="box" size=".2 .1 .05" mass="3"/>
    <body name="arm" pos=".3 0 0"><joint name="ball" type="ball"/>
    <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03" mass="1"/>
    <body name="tip" pos=".3 .1 0"><joint name="hinge" axis="0 1 0"/>
    <geom type="box" size=".1 .02 .03" pos=".1 0 0" mass=".5"/></body></body></body></worldbody></mujoco>"""
    robot, theirs = hinge.load(text), mujoco.MjModel.from_xml_string(text)
    weights = Weights(robot.model, True)
    for name, body in (("base", 1), ("arm", 2), ("tip", 3)):
        np.testing.assert_allclose(weights.link(name), theirs.body_invweight0[body], rtol=1e-12)
    own = [x for i in robot.model.leaders for x in weights.velocities(i)]
    order = [3, 4, 5, 0, 1, 2, 6, 7, 8, 9]  # a free joint turns first here, and moves first there
    np.testing.assert_allclose(own, theirs.dof_invweight0[order], rtol=1e-12)
