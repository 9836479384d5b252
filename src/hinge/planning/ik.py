"""Inverse kinematics: coordinates that put a frame of the robot where it is wanted.

    dq = Jᵀ (J Jᵀ + λ 1)⁻¹ e,    λ = c eᵀ e + small

Damped least squares, from many starts. e is what is left to go, a turn and a shift in base axes; the damping goes with
its square, so that steps are cautious far away and Newton's near the end, also where J loses rank. A step that leads
no nearer is not taken, and c grows; else it shrinks (Levenberg, Marquardt). A joint at a limit that would be passed is
left out of the step, and steps end at limits. A whole step is one compiled program; poses and starts run through it
together, and those that have arrived leave the batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from hinge.arguments import Array, generator, real
from hinge.backends import backend_name
from hinge.backends.kernel import Kernel
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.numbers import limits_of
from hinge.dynamics.kinematics import frame_pose, jacobian, poses
from hinge.dynamics.place import At
from hinge.dynamics.registry import PLACE, POSE, POSITION, SCALAR, Algorithm
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.errors import GeometryError, SizeError, one_of
from hinge.geometry.arrays import MEASURED, outside_se3
from hinge.graph import inner, less, maximum, minimum, select, sqrt
from hinge.model import Model
from hinge.model.model import Limits
from hinge.model.states import limit_entries, random_state
from hinge.robot import Robot
from hinge.spatial import Mat3, Vec3
from hinge.spatial.rotation import quaternion_from_rotation, quaternion_log
from hinge.status import Status
from hinge.typing import Backend, Numbers, Statuses, Whole

Match = Literal["pose", "position", "orientation"]
MATCH: dict[Match, slice] = {"pose": slice(0, 6), "position": slice(3, 6), "orientation": slice(0, 3)}
CAUTION, BOLDER, SHYER = 0.1, 0.5, 8.0  # c at the start, and its factors after a step that was taken or not
FLOOR = 1e-12  # damping that keeps a singular J solvable when hardly anything is left to go
LOST = 1e12  # c where even the smallest steps lead no nearer


class Reached(NamedTuple):
    """Coordinates (…, nq), a `Status` (…) for each, and what is left to go (…, 2): an angle (rad), a distance (m)."""

    q: Array
    status: Statuses
    error: Array


def inverse_kinematics(
    robot: Robot,
    poses: Numbers,
    frame: str,
    start: Numbers | None = None,
    starts: int = 64,
    match: Match = "pose",
    tolerance: float = 1e-10,
    steps: int = 40,
    seed: int = 0,
    parameters: Mapping[str, Numbers] | None = None,
    prescribed: Sequence[Any] | None = None,
    backend: Backend | None = None,
) -> Reached:
    """Coordinates, within the limits, that put a link or frame at a pose; poses (…, 4, 4) in one batch.

    Each pose is tried from `start` (…, nq), or from the neutral configuration without one, and then from up to `starts`
    random configurations, until angle (rad) and distance (m) are within `tolerance`. Joints that do not move the frame
    stay where the start has them. `match` is "pose", "position" or "orientation". A pose
    that is not reached has the status UNREACHED, the nearest coordinates found, and in `error` how far they are away.

    >>> arm = hinge.samples.puma560()
    >>> goal = arm.pose([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "tool")
    >>> q, status, error = hinge.inverse_kinematics(arm, goal, "tool")
    >>> bool(status == hinge.Status.OK), bool(np.allclose(arm.pose(q, "tool"), goal))
    (True, True)
    """
    goals = checked_poses(poses)
    batch, n = goals.shape[:-2], goals[..., 0, 0].size
    if starts < 0:
        raise SizeError(f"inverse_kinematics: starts={starts}. Give 0, for the start alone, or more.")
    if steps < 1 or not tolerance >= 0.0:
        raise SizeError(f"inverse_kinematics: steps={steps}, tolerance={tolerance}. Give at least 1, and at least 0.")
    rest = [np.broadcast_to(x, (*batch, x.shape[-1])).reshape(n, x.shape[-1]) for x in (
        *inputs.parameters("inverse_kinematics", robot.model, robot.target.vary, parameters),
        *inputs.prescribed("inverse_kinematics", robot.model, prescribed))]  # fmt: skip
    descent = Descent(robot, frame, match, tolerance, steps, backend)
    limits = limits_of(robot.target, rest[0] if robot.target.vary else None)
    guesses = Guesses.within(robot.model, limits, n, seed, starts)
    begin = _given_start(robot, robot.neutral() if start is None else start, batch).reshape(n, robot.nq)
    begin = np.clip(begin, limits.lower, limits.upper)
    q, error = descent(begin, goals.reshape(n, 4, 4), rest)
    _improve(q, error, descent, guesses, moving_coordinates(robot.model, frame), goals.reshape(n, 4, 4), rest)
    q[~np.isfinite(error).all(axis=1)] = np.nan  # nothing is known of them
    status = np.where(error.max(axis=1) <= tolerance, Status.OK, Status.UNREACHED).astype(np.uint8)
    return Reached(q.reshape(*batch, robot.nq), status.reshape(batch), error.reshape(*batch, 2))


def moving_coordinates(model: Model, frame: str) -> Array:
    """Return a mask of the coordinates (nq) whose joints move a link or frame."""
    mask, body = np.zeros(model.nq, bool), model.frame(frame).body
    while body > 0:
        mask[model.slices[body][0]] = True  # those of a mimic joint are its leader's
        body = model.parent[body]
    return mask


@dataclass(frozen=True)
class Guesses:
    """Random configurations to begin from: `sets` (k, starts, nq), and which of the sets each pose has (n)."""

    sets: Array
    which: Whole

    @classmethod
    def within(cls, model: Model, limits: Limits, n: int, seed: int, starts: int) -> Guesses:
        """Return guesses for n poses: those within the same limits have the same."""
        ends = np.concatenate(np.broadcast_arrays(limits.lower, limits.upper), axis=-1)
        rows, which = np.unique(ends.reshape(-1, ends.shape[-1]), axis=0, return_inverse=True)
        free = np.full(model.nv, np.inf)
        sets = []
        for row in rows:
            within = Limits(row[: model.nq], row[model.nq :], free, free)
            sets.append(random_state(model, generator("inverse_kinematics", seed), starts, within)[0])
        return cls(np.array(sets), np.broadcast_to(which.reshape(-1), n))

    def __len__(self) -> int:
        return self.sets.shape[1]

    def of(self, poses: Whole, some: slice) -> Array:
        """Some of the guesses of each of these poses, one after the other."""
        made = self.sets[self.which[poses], some]
        return made.reshape(-1, made.shape[-1])


def _improve(
    q: Array, error: Array, descent: Descent, guesses: Guesses, moves: Array, goals: Array, rest: Sequence[Array]
) -> None:
    """Try guesses on those poses that are still far, ever more at once, and keep what is nearest, in place.

    Only the coordinates in the mask `moves` are guessed; the others stay.
    """
    tried, wave = 0, 1
    while tried < len(guesses) and len(far := np.flatnonzero(~(error.max(axis=1) <= descent.tolerance))):
        some = slice(tried, min(tried + wave, len(guesses)))
        count = some.stop - some.start
        rows = np.repeat(far, count)
        begin = np.where(moves, guesses.of(far, some), q[rows])
        found, left = descent(begin, goals[rows], [x[rows] for x in rest])
        best = _size(left).reshape(len(far), -1).argmin(axis=1) + np.arange(len(far)) * count
        nearer = _size(left[best]) < _size(error[far])
        q[far[nearer]], error[far[nearer]] = found[best[nearer]], left[best[nearer]]
        tried, wave = tried + wave, 2 * wave
    far = np.flatnonzero(~(error.max(axis=1) <= descent.tolerance))
    if len(far):  # near a singular place the way is long
        q[far], error[far] = descent(q[far], goals[far], [x[far] for x in rest], times=10)


def _size(error: Array) -> Array:
    """What is left to go as one number, a radian counted as a metre."""
    return np.nan_to_num(np.hypot(error[:, 0], error[:, 1]), nan=np.inf)


class Descent:
    """Runs rows of guesses toward rows of poses."""

    def __init__(self, robot: Robot, frame: str, match: Match, tolerance: float, steps: int, backend: Backend | None):
        self.kernel = _kernel(robot, frame, match, backend_name(backend))
        self.tolerance, self.steps = tolerance, steps

    def __call__(self, start: Array, goals: Array, rest: Sequence[Array], times: int = 1) -> tuple[Array, Array]:
        """Where the guesses lead in so many times the steps, and what is left to go from there."""
        q, c, error = np.array(start), np.full(len(start), CAUTION), np.empty((len(start), 2))
        going = np.arange(len(start))
        for _ in range(times * self.steps):
            made = self.kernel(q[going], c[going], goals[going], *(x[going] for x in rest))
            q[going], c[going], error[going, 0], error[going, 1] = made
            going = going[(error[going].max(axis=1) > self.tolerance) & (c[going] < LOST)]
            if not len(going):
                break
        return q, error


def toward(model, q, c, at, goal, match="pose"):
    """One step toward a pose: the coordinates and the damping after it, and the angle and distance still to go."""
    lower, upper, *_ = limit_entries(model)
    there = Mat3([goal[4 * i + j] for i in range(3) for j in range(3)]), Vec3((goal[3], goal[7], goal[11]))
    J = jacobian(model, q, at, frame="aligned")[MATCH[match]]
    before = _to_go(model, q, at, there, match)
    J = _without_blocked(model, q, before, J, lower, upper)
    damping = c[0] * _square(before) + FLOOR
    ahead = _moved(model, q, model.joint_velocities(_damped(J, before, damping, model.joint_label())), lower, upper)
    after = _to_go(model, model.joint_positions(ahead), at, there, match)
    nearer = less(_square(after), _square(before))
    either = lambda new, old: [select(nearer, a, b) for a, b in zip(new, old, strict=True)]
    ends = model.joint_positions(either(ahead, model.flat(q)))
    turn, shift = _parts(either(after, before), match)
    return ends, select(nearer, c[0] * BOLDER, c[0] * SHYER), sqrt(_square(turn)), sqrt(_square(shift))


def _to_go(model, q, at, there, match):
    """The turn and the shift, in base axes, that take the frame to the pose, so far as they are asked for."""
    R, r = frame_pose(at, *poses(model, q))
    return [*quaternion_log(quaternion_from_rotation(there[0].times(R.T))), *(there[1] - r)][MATCH[match]]


def _parts(e, match):
    """The turn and the shift of what is to go; nothing where it is not asked for."""
    return {"pose": (e[:3], e[3:]), "position": ([0.0], e), "orientation": (e, [0.0])}[match]


def _square(e):
    return inner(e, e)


def _without_blocked(model, q, e, J, lower, upper):
    """J with zeros for the joints that stand at a limit and are pulled beyond it."""
    columns = [list(column) for column in zip(*J, strict=True)]
    for i in model.leaders:
        at, v = model.slices[i]
        if model.joint[i].nq != model.joint[i].nv:
            continue
        for k in range(model.joint[i].nq):
            pull = inner(columns[v.start + k], e)
            low, high = lower[at.start + k], upper[at.start + k]
            free = select(less(0.0, pull), less(q[i][k], high), less(low, q[i][k]))
            columns[v.start + k] = [select(free, x, 0.0) for x in columns[v.start + k]]
    return [list(row) for row in zip(*columns, strict=True)]


def _damped(J, e, damping, joint_label):
    """(JᵀJ + λ 1)⁻¹ Jᵀ e, by the smaller of JᵀJ and JJᵀ: they give the same."""
    columns = list(zip(*J, strict=True))
    if len(columns) < len(J):
        gram = [[inner(a, b) for b in columns] for a in columns]
        return LDL(plus_diagonal(gram, [damping] * len(columns)), joint_label).solve(
            [inner(column, e) for column in columns]
        )
    gram = [[inner(a, b) for b in J] for a in J]
    y = LDL(plus_diagonal(gram, [damping] * len(J)), joint_label).solve(e)
    return [inner(column, y) for column in columns]


def _moved(model, q, move, lower, upper):
    """The user's coordinates after a move that is cut off at their limits; a quaternion has none."""
    flat = []
    for i in model.leaders:
        joint, at = model.joint[i], model.slices[i][0]
        ends = joint.integrate(q[i], move[i])
        cut = [maximum(minimum(x, high), low) for x, low, high in zip(ends, lower[at], upper[at], strict=True)]
        flat += cut if joint.nq == joint.nv else ends
    return flat


def _kernel(robot: Robot, frame: str, match: Match, backend: str) -> Kernel:
    """The step as a kernel, made once for a frame of a robot."""
    one_of("inverse_kinematics: match", match, MATCH)
    words = {"options": (("match", match),), "frames": (("at", At((frame,))),)}
    return Call.outside_registry(robot.target, (_step,), backend, **words).kernel


def _step() -> Algorithm:
    takes = {"q": POSITION, "c": SCALAR, "at": PLACE, "goal": POSE}
    gives = {"q": POSITION, "c": SCALAR, "angle": SCALAR, "distance": SCALAR}
    return Algorithm("inverse_kinematics", "damped", toward, takes, gives, {"match": tuple(MATCH)})


def checked_poses(poses: Numbers) -> Array:
    """An array of poses, refused where one is not in SE(3)."""
    goals = real("inverse_kinematics: poses", poses, (4, 4)).astype(float)
    bad = outside_se3(goals, MEASURED)
    if bad.any():
        at = [int(k) for k in np.argwhere(bad)[0]]
        raise GeometryError(
            f"inverse_kinematics: {f'poses{at}' if at else 'the pose'} is not in SE(3).\n"
            "  A pose is finite: a rotation, a shift, and a last row 0 0 0 1."
        )
    return goals


def _given_start(robot: Robot, start: Any, batch: tuple[int, ...]) -> Array:
    """The user's starts, a row a pose."""
    q = real("inverse_kinematics: start", start, (robot.nq,)).astype(float)
    if not np.isfinite(q).all():
        raise SizeError("inverse_kinematics: start has a value that is not finite. Give finite numbers.")
    try:
        return np.broadcast_to(q, (*batch, robot.nq))
    except ValueError:
        raise SizeError(
            f"inverse_kinematics: start has shape {q.shape}; the poses want {(*batch, robot.nq)}."
        ) from None
