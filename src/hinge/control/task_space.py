"""Controllers of the hand, or of any frame.

    resolved acceleration   the least joint accelerations that give the hand the wanted one; then inverse dynamics
    operational space       those least in kinetic energy: tau = Jᵀ Λ (a - J̇ qd) + C + what moves the hand not at all
    impedance               tau = Jᵀ (K e + D ė) + C: the hand on a spring and a damper

The first two differ in the metric only. Near singular places both are damped (dynamics/resolved_motion.py): the hand
falls behind, no joint force jumps, joints that have lost hold of the hand come to rest, and `status` says UNREACHED.
The third solves nothing, and needs no damping.
Source: turney1981, section 10.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.control import laws
from hinge.control.joint_space import dynamics
from hinge.control.laws import Law
from hinge.dynamics.resolved_motion import OPTIONS
from hinge.errors import SizeError, one_of
from hinge.geometry.arrays import over_arrays
from hinge.robot import Robot
from hinge.spatial import mat3
from hinge.spatial.rotation import quaternion_from_rotation, quaternion_log
from hinge.status import OK, SINGULAR, UNREACHED
from hinge.typing import Control, Moving, Numbers, Term

if TYPE_CHECKING:
    from hinge.robot.algorithms import Metric, ResolvedAccelerationMethod, Task

RADIAN = 1.0  # rad, m: the error of a joint that asks for as much as a weak direction may


@laws.made_again
def resolved_acceleration(
    robot: Robot,
    target: Numbers | Moving,
    at: str,
    kp: Numbers = 100.0,
    kd: Numbers | None = None,
    task: Task = "pose",
    null: Control | None = None,
    damping: float | None = None,
    method: ResolvedAccelerationMethod | None = None,
    joint_terms: Sequence[Term] = ("armature",),
    most: float | None = None,
) -> Law:
    """Joint forces that move the frame `at` along a target, by the least joint accelerations that do.

    `target` is a hand motion or a pose (4, 4); gains are a number or (6,), turns first; without kd it is 2 √kp. `task`
    is "pose", "position" or "orientation"; `null` says what joint accelerations should be where that leaves them free
    or is out of reach, where joints come to rest without it. `damping`, `method` ("jacobian" or "strobe") and `most`
    (rad/s², m/s²) are those of `robot.resolved_acceleration`; `most` is kp unless given, what an error of one
    radian asks of a joint, and without damping there is none. A simulation's status is UNREACHED where answers were
    damped.

    >>> arm, q = hinge.samples.puma560(), np.array([0.0, 0.5, 0.5, 0.0, 0.5, 0.0])
    >>> hinge.control.resolved_acceleration(arm, arm.pose(q, "tool"), "tool")(0.0, q, np.zeros(6)).shape
    (6,)
    """
    return dynamics(robot, reach(robot, target, at, kp, kd, task, "unit", null, damping, method, most), joint_terms)


@laws.made_again
def operational_space(
    robot: Robot,
    target: Numbers | Moving,
    at: str,
    kp: Numbers = 100.0,
    kd: Numbers | None = None,
    task: Task = "pose",
    null: Control | None = None,
    damping: float | None = None,
    joint_terms: Sequence[Term] = ("armature",),
    most: float | None = None,
) -> Law:
    """Joint forces that move the frame `at` along a target as if it were all there is; `null` does not disturb it.

    Takes what `resolved_acceleration` takes. `null` is another task, such as `posture` or `reach`, or any function
    (t, q, qd) → joint accelerations; of it is done what does not accelerate the hand.

    >>> arm, q = hinge.samples.puma560(), np.array([0.0, 0.5, 0.5, 0.0, 0.5, 0.0])
    >>> rest = hinge.control.posture(arm, np.zeros(6))
    >>> control = hinge.control.operational_space(arm, arm.pose(q, "tool"), "tool", task="position", null=rest)
    >>> control(0.0, q, np.zeros(6)).shape
    (6,)
    """
    return dynamics(robot, reach(robot, target, at, kp, kd, task, "inertia", null, damping, most=most), joint_terms)


@laws.made_again
def reach(
    robot: Robot,
    target: Numbers | Moving,
    at: str,
    kp: Numbers = 100.0,
    kd: Numbers | None = None,
    task: Task = "pose",
    metric: Metric = "inertia",
    null: Control | None = None,
    damping: float | None = None,
    method: ResolvedAccelerationMethod | None = None,
    most: float | None = None,
) -> Law:
    """The joint accelerations (t, q, qd) → (nv) that move the frame `at` along a target.

    >>> arm, q = hinge.samples.puma560(), np.array([0.0, 0.5, 0.5, 0.0, 0.5, 0.0])
    >>> hinge.control.reach(arm, arm.pose(q, "tool"), "tool")(0.0, q, np.zeros(6)).round(9)
    array([0., 0., 0., 0., 0., 0.])
    """
    want, at = laws.hand_target(target), laws.frame(robot, at)
    stiff, damp = laws.gains(kp, kd, 6)
    for what, word in (("task", task), ("metric", metric)):
        one_of(what, word, OPTIONS[what])
    free = None if null is None else laws.law("null", null)
    slack = laws.gain("damping", 0.02 if damping is None else damping, 1)
    bound = _most(most, stiff if slack.any() else np.zeros(1))
    rest = np.max(damp)

    def resolved(t: Any, q: Any, qd: Any, **how: Any) -> Any:
        goal, brake = want(t), -rest * qd
        error, lag = errors(robot, at, goal, q, qd)
        a = goal.rate + stiff * error + damp * lag
        how |= {"posture": brake if free is None else free(t, q, qd), "lost": brake, "damping": slack, "most": bound}
        return robot.resolved_acceleration(q, qd, a, at, task=task, metric=metric, method=method, **how)  # (10.2)

    def status(t: Any, q: Any, qd: Any) -> Any:
        return np.where(resolved(t, q, qd, return_status=True)[1] == SINGULAR, UNREACHED, OK)

    law: Any = lambda t, q, qd: resolved(t, q, qd)
    law.status = status
    return law


def _most(given: float | None, stiff: Any) -> float:
    """The joint accelerations beyond which weak directions are damped; without any that are known, none is."""
    if given is None:
        return float(RADIAN * np.max(stiff)) or math.inf
    if not given > 0.0:
        raise SizeError(f"most={given!r} has to be positive.")
    return float(given)


@laws.made_again
def impedance(
    robot: Robot,
    target: Numbers | Moving,
    at: str,
    stiffness: Numbers,
    damping: Numbers,
    null: Control | None = None,
    joint_terms: Sequence[Term] = ("armature",),
) -> Law:
    """Joint forces that hang the frame `at` on a spring and a damper to a target, its own weight and inertia carried.

    `target` is a hand motion or a pose (4, 4); stiffness (N m/rad, N/m) and damping are a number or (6,), turns first,
    in base axes. Pushed with a steady force, the hand gives way by force over stiffness. `null` says what joint
    accelerations should be as far as the hand does not feel them.

    >>> arm, q = hinge.samples.puma560(), np.array([0.0, 0.5, 0.5, 0.0, 0.5, 0.0])
    >>> hinge.control.impedance(arm, arm.pose(q, "tool"), "tool", 500.0, 40.0)(0.0, q, np.zeros(6)).shape
    (6,)
    """
    want, at = laws.hand_target(target), laws.frame(robot, at)
    K, D = laws.gain("stiffness", stiffness, 6), laws.gain("damping", damping, 6)
    free = null if null is None else laws.law("null", null)

    def control(t: Any, q: Any, qd: Any) -> Any:
        error, lag = errors(robot, at, want(t), q, qd)
        wrench = K * error + D * lag
        tau = (wrench[..., None, :] @ robot.jacobian(q, at, frame="aligned"))[..., 0, :]
        if free is None:
            return tau + robot.bias_force(q, qd, joint_terms=joint_terms)
        by_itself = robot.acceleration(q, qd, np.zeros(robot.nv), at, frame="aligned", kind="classical")
        unfelt = robot.resolved_acceleration(q, qd, by_itself, at, metric="inertia", posture=free(t, q, qd))
        return tau + robot.inverse_dynamics(q, qd, unfelt, joint_terms=joint_terms)

    return control


def errors(robot: Robot, at: str, goal: Any, q: Numbers, qd: Numbers) -> tuple[Any, Any]:
    """How far a frame is from its goal, [turn; shift] in base axes, and how much slower it is."""
    here = robot.pose(q, at)
    turn = turn_between(here[..., :3, :3], goal.pose[..., :3, :3])
    error = np.concatenate([turn, goal.pose[..., :3, 3] - here[..., :3, 3]], axis=-1)
    return error, goal.twist - robot.velocity(q, qd, at, frame="aligned")


def turn_between(R: Any, wanted: Any) -> Any:
    """The vector, in base axes, of the turn by at most half a circle that takes the axes R to those wanted."""
    return _turn(wanted @ np.swapaxes(R, -1, -2))


@over_arrays(rotation=(3, 3), gives=(3,))
def _turn(rotation: Any) -> Any:
    return list(quaternion_log(quaternion_from_rotation(mat3(rotation))))
