"""Controllers of the joints, and what all controllers are put together with.

    pd                tau = kp e + kd ė + G(q)
    computed torque   tau = H(q) (qdd + kp e + kd ė) + C(q, qd)

With an exact model the second makes every joint's error an oscillator of its own: ë + kd ė + kp e = 0.
A controller is written for arrays, and calls the robot's methods. A simulation traces it with all that it calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.control import laws
from hinge.control.laws import Law
from hinge.dynamics.registry import choose
from hinge.model.coasting import FREE, floating
from hinge.motion.durations import limits
from hinge.robot import Robot
from hinge.typing import Control, Moving, Numbers, Term


@laws.made_again
def pd(
    robot: Robot, target: Numbers | Moving, kp: Numbers = 100.0, kd: Numbers | None = None, gravity: bool = True
) -> Law:
    """Joint forces of springs and dampers toward a target, and those that carry the robot's weight.

    `target` is a motion or a configuration (nq); kp (N m/rad, N/m) and kd are a number or one for each velocity, and
    without kd it is 2 √kp. A configuration or gains with more axes, the rollouts' first, are for a rollout each.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.control.pd(arm, [0.1, 0.0], kp=50.0, gravity=False)(0.0, np.zeros(2), np.zeros(2))
    array([5., 0.])
    """
    want = laws.joint_target(robot, target)

    def control(t: Any, q: Any, qd: Any, at: Any, stiff: Any, damp: Any) -> Any:
        goal = want(t, at)
        tau = stiff * robot.difference(q, goal.q) + damp * (goal.qd - qd)
        return tau + robot.gravity_force(q) if gravity else tau

    return laws.fed(control, target, laws.joint_place(robot, target), *laws.gains(kp, kd, robot.nv))


@laws.made_again
def computed_torque(
    robot: Robot,
    target: Numbers | Moving,
    kp: Numbers = 100.0,
    kd: Numbers | None = None,
    joint_terms: Sequence[Term] = ("armature",),
) -> Law:
    """Joint forces that make errors die out as kp (1/s²) and kd (1/s) say, each joint for itself, by inverse dynamics.

    `target` is a motion or a configuration (nq); gains are a number or one for each velocity, and without kd it is
    2 √kp: no overshoot. `joint_terms` is what the model has of the joints. No force acts on a floating base: the other
    joints move as wanted, and the base as that makes it.

    >>> arm = hinge.samples.puma560()
    >>> hinge.control.computed_torque(arm, np.ones(6))(0.0, np.zeros(6), np.zeros(6)).shape
    (6,)
    """
    return dynamics(robot, posture(robot, target, kp, kd), joint_terms)


@laws.made_again
def posture(robot: Robot, target: Numbers | Moving, kp: Numbers = 10.0, kd: Numbers | None = None) -> Law:
    """The joint accelerations (t, q, qd) → (nv) that lead to a target: what hand controllers take as `null`.

    >>> hinge.control.posture(hinge.samples.planar_2r(), [0.1, 0.0])(0.0, np.zeros(2), np.zeros(2))
    array([1., 0.])
    """
    want = laws.joint_target(robot, target)

    def wanted(t: Any, q: Any, qd: Any, at: Any, stiff: Any, damp: Any) -> Any:
        goal = want(t, at)
        return goal.qdd + stiff * robot.difference(q, goal.q) + damp * (goal.qd - qd)

    return laws.fed(wanted, target, laws.joint_place(robot, target), *laws.gains(kp, kd, robot.nv))


def dynamics(robot: Robot, wanted: Law, joint_terms: Sequence[Term]) -> Law:
    """The joint forces for wanted accelerations; of a robot that floats, those of the joints beyond its base."""
    if floating(robot.model).any():
        choose(robot.model, "floating_inverse_dynamics")  # refuses a robot with a free joint elsewhere

        def beyond(t: Any, q: Any, qd: Any, qdd: Any) -> Any:
            _, tau = robot.floating_inverse_dynamics(q, qd, qdd[..., FREE:], joint_terms=joint_terms)
            return np.concatenate([0.0 * qdd[..., :FREE], tau], axis=-1)

        return laws.around(wanted, beyond)
    return laws.around(wanted, lambda t, q, qd, qdd: robot.inverse_dynamics(q, qd, qdd, joint_terms=joint_terms))


@laws.made_again
def saturate(robot: Robot, control: Control, effort: Numbers | None = None) -> Law:
    """A controller whose joint forces are kept within the effort limits: the robot's, or those given.

    The limit of a floating base is 0, unless `effort` has one for each velocity.

    >>> arm = hinge.samples.planar_2r()
    >>> weak = hinge.control.saturate(arm, hinge.control.pd(arm, [1.0, 0.0]), effort=2.0)
    >>> weak(0.0, np.zeros(2), np.zeros(2))
    array([2., 2.])
    """
    within = laws.law("control", control)
    most = np.array(robot.limits.effort if effort is None else limits("effort", effort, robot.nv))
    if effort is None or np.asarray(effort).ndim == 0:
        most[floating(robot.model)] = 0.0
    return laws.around(within, lambda t, q, qd, tau: np.where(np.isfinite(most), np.clip(tau, -most, most), tau))
