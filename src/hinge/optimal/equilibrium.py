"""Equilibria: states at rest, and the joint forces that hold them.

    C(q, 0) = tau + Aᵀ λ,    gap(q) = 0

Without loops there are no λ. Joints that are driven take what force they need; rows of the others are equations for q,
solved by damped steps of Gauss and Newton along velocities, with exact derivatives (Levenberg, Marquardt). Of all steps
that solve them the shortest is taken, so that q stays near the guess, and where everything is driven at the guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, count, positive, real
from hinge.errors import NotCovered, SizeError
from hinge.model.states import labels
from hinge.optimal.driven import driven_velocities
from hinge.robot import Robot
from hinge.status import NONFINITE, OK, UNCLOSED, UNCONVERGED, UNREACHED
from hinge.typing import Flags

CAUTION, BOLDER, SHYER = 1e-2, 0.2, 8.0  # damping at the start, and its factors after a step that was taken or not
LEAST = 1e-20  # damping beside the square of the largest force and slope: what is smaller says nothing
FLAT = 1e-6  # slope of the error beside these, where no step leads nearer


class Equilibrium(NamedTuple):
    """A state at rest: q (…, nq), tau (…, nv), a `Status` (…), and the largest force (N m, N) that is left (…)."""

    q: Array
    tau: Array
    status: Array
    residual: Array


class Statics(NamedTuple):
    """A robot at rest at q (…, nq): C (…, nv) and its slope; of the loops A (…, r, nv), its slope, gaps (…, r)."""

    q: Array
    bias: Array
    slope: Array
    A: Array
    A_slope: Array
    gap: Array


def equilibrium(robot: Robot, q: Any, driven: Sequence[str] | None = None, held: Sequence[str] = (), tau: Any = None,
                tolerance: float = 1e-12, iterations: int = 100, **how: Any) -> Equilibrium:  # fmt: skip
    """A state at rest near a guess q (…, nq), and the joint forces that hold it.

    `driven` names the joints that have motors, all but floating ones unless given; coordinates of joints that `held`
    names stay as they are. With `tau` (…, nv) forces are given, and q is found where they hold the robot. A state is OK
    where forces that are left are no more than displacements of `tolerance` (rad, m) make, and UNREACHED where none is
    nearer: begin elsewhere. Loops are closed. Limits are not looked at. `how` is what `bias_force` takes:
    `joint_terms`, `parameters`, `external`, ….

    >>> acrobot = hinge.samples.pendulum(2)
    >>> rest = hinge.optimal.equilibrium(acrobot, [3.0, 0.2], driven=["joint2"], held=["joint2"])
    >>> rest.q.round(3), rest.tau.round(3)
    (array([3.092, 0.2  ]), array([ 0.   , -0.734]))
    """
    what = "equilibrium"
    guess = real(f"{what}: q", q, (robot.nq,)).astype(float)
    tolerance, iterations = positive(f"{what}: tolerance", tolerance), count(f"{what}: iterations", iterations)
    given = np.zeros(robot.nv) if tau is None else real(f"{what}: tau", tau, (robot.nv,)).astype(float)
    if tau is not None and driven is not None:
        raise SizeError(
            f"{what} takes driven=, whose forces it finds, or tau=, the forces of all joints; both are given."
        )
    motors = np.array(driven_velocities(robot, driven) if tau is None else (), int)
    passive = np.setdiff1d(np.arange(robot.nv), motors)
    held = [held] if isinstance(held, str) else list(held)
    fixed = [np.arange(robot.nv)[robot.coordinates(name)[1]] for name in held]
    free = np.setdiff1d(np.arange(robot.nv), np.concatenate([np.zeros(0, int), *fixed]))
    search = _Search(robot, passive, free, held, given, tolerance, how)
    now, status, left = search.found(guess, iterations)
    if tau is None and not how.get("external") and (status != OK).any():
        _refuse_falling(robot, now.bias, passive, how)
    forces = holding_force(now.bias, now.A, motors) if tau is None else np.broadcast_to(given, now.bias.shape)
    return Equilibrium(now.q, forces, status, left)


def statics(robot: Robot, q: Array, how: Mapping[str, Any]) -> Statics:
    """The forces at rest and the loops that carry some of them, with their slopes."""
    still = np.zeros(robot.nv)
    bias = robot.bias_force(q, still, **how)
    (slope,) = robot.derivatives("bias_force", q, still, by="q", **how)
    q = np.broadcast_to(q, (*bias.shape[:-1], robot.nq))
    A = loop_rows(robot, q, how)
    if not robot.loops:
        return Statics(q, bias, slope, A, A[..., None] * slope[..., None, :, :], bias[..., :0])
    (A_slope,) = robot.derivatives("loop_jacobian", q, **kinematics(how))
    return Statics(q, bias, slope, A, A_slope, robot.loop_gap(q, **kinematics(how)))


def loop_rows(robot: Robot, q: Array, how: Mapping[str, Any]) -> Array:
    """A (…, r, nv) of the loops, without any of which r is zero."""
    return robot.loop_jacobian(q, **kinematics(how)) if robot.loops else np.zeros((*q.shape[:-1], 0, robot.nv))


def numbers(how: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `how` that give numbers of the robot: varied ones, and the motion of driven joints."""
    return {name: how[name] for name in ("parameters", "prescribed") if name in how}


def kinematics(how: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of `how` that every call takes, also one without forces."""
    return numbers(how) | ({"backend": how["backend"]} if "backend" in how else {})


def loop_loads(bias: Array, A: Array, passive: Array) -> Array:
    """The forces λ (…, r) in the loops that best carry what joints without a motor cannot."""
    return (np.linalg.pinv(_known(A[..., passive]).swapaxes(-1, -2)) @ bias[..., passive, None])[..., 0]


def holding_force(bias: Array, A: Array, motors: Array) -> Array:
    """The joint forces (…, nv) of motors that hold a robot still, as far as they can."""
    passive = np.setdiff1d(np.arange(bias.shape[-1]), motors)
    forces = bias - _carried(A, loop_loads(bias, A, passive))
    forces[..., passive] = 0.0
    return forces


def _carried(A: Array, loads: Array) -> Array:
    """Aᵀ λ."""
    return (loads[..., None, :] @ A)[..., 0, :]


class _Search:
    """Damped steps toward a state at rest, for all guesses at once."""

    def __init__(self, robot: Robot, passive: Array, free: Array, held: Sequence[str], given: Array, tolerance: float,
                 how: Mapping[str, Any]) -> None:  # fmt: skip
        self.robot, self.passive, self.free, self.held, self.given = robot, passive, free, held, given
        self.tolerance, self.how = tolerance, how

    def found(self, guess: Array, iterations: int) -> tuple[Statics, Array, Array]:
        """Where the guesses lead, a status for each, and the largest force that is left."""
        now = self.at(guess)
        caution, going = np.full(now.bias.shape[:-1], CAUTION), np.ones(now.bias.shape[:-1], bool)
        for _ in range(iterations):
            ahead = self.at(self.robot.integrate(now.q, self.step(now, caution), **kinematics(self.how)))
            nearer = going & (_square(self.off(ahead)) < _square(self.off(now)))
            going &= nearer | ~self.within(now)
            now = Statics(*(_either(nearer, a, b) for a, b in zip(ahead, now, strict=True)))
            caution = np.where(nearer, caution * BOLDER, caution * SHYER)
            if not going.any():
                break
        return now, self.status(now), np.abs(self.off(now)).max(axis=-1, initial=0.0)

    def at(self, q: Array) -> Statics:
        """The forces at q, after loops are closed there."""
        closed = self.robot.assemble(q, hold=self.held, **numbers(self.how)).q if self.robot.loops else q
        axes = np.broadcast_shapes(closed.shape[:-1], self.given.shape[:-1])
        return statics(self.robot, np.broadcast_to(closed, (*axes, q.shape[-1])), self.how)

    def off(self, now: Statics) -> Array:
        """The forces that are left on joints without a motor."""
        return (now.bias - self.given - _carried(now.A, self.loads(now)))[..., self.passive]

    def loads(self, now: Statics) -> Array:
        """The forces in the loops (…, r)."""
        return loop_loads(now.bias - self.given, now.A, self.passive)

    def slope(self, now: Statics) -> Array:
        """The slope of what is left, along free velocities that keep loops closed, and along their loads."""
        A = _known(now.A[..., self.free])
        closed = np.eye(len(self.free)) - np.linalg.pinv(A) @ A
        by_q = now.slope - np.einsum("...r,...rjk->...jk", self.loads(now), now.A_slope)
        by_load = -now.A.swapaxes(-1, -2)[..., self.passive, :]
        return np.concatenate([by_q[..., self.passive, :][..., self.free] @ closed, by_load], axis=-1)

    def step(self, now: Statics, caution: Array) -> Array:
        """The displacement (…, nv) of a damped step."""
        J, off = _known(self.slope(now)), self.off(now)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        least = np.maximum(LEAST * _largest(now) ** 2, np.finfo(float).tiny)
        damping = (caution * _square(off) + least)[..., None]
        gains = s / (s**2 + damping) * (U.swapaxes(-1, -2) @ off[..., None])[..., 0]
        move = np.zeros((*J.shape[:-2], self.robot.nv))
        move[..., self.free] = -(Vt.swapaxes(-1, -2) @ gains[..., None])[..., : len(self.free), 0]
        return move

    def within(self, now: Statics) -> Flags:
        """Whether what is left is no more than displacements of `tolerance` make."""
        return np.abs(self.off(now)).max(axis=-1, initial=0.0) <= self.tolerance * _largest(now)

    def status(self, now: Statics) -> Array:
        """OK, UNCLOSED, UNREACHED where the error is level and UNCONVERGED where it falls, NONFINITE."""
        J, off = self.slope(now), self.off(now)
        lost = ~(np.isfinite(J).all(axis=(-1, -2)) & np.isfinite(off).all(axis=-1))
        downhill = np.linalg.norm((off[..., None, :] @ J)[..., 0, :], axis=-1)
        level = downhill <= FLAT * _largest(now) * np.linalg.norm(off, axis=-1)
        fared = np.where(self.within(now), OK, np.where(level, UNREACHED, UNCONVERGED))
        fared = np.where(np.abs(now.gap).max(axis=-1, initial=0.0) <= self.tolerance, fared, UNCLOSED)
        return np.where(lost, NONFINITE, fared).astype(np.uint8)


def _largest(now: Statics) -> Array:
    """The largest force (N m, N) and slope of one (N m/rad, N/m)."""
    return np.maximum(np.abs(now.slope).max(axis=(-1, -2)), np.abs(now.bias).max(axis=-1))


def _known(J: Array) -> Array:
    """Matrices, with zeros in place of those in which something is not finite."""
    return np.where(np.isfinite(J).all(axis=(-1, -2), keepdims=True), J, 0.0)


def _square(x: Array) -> Array:
    return np.einsum("...i,...i->...", x, x)


def _either(chosen: Flags, new: Array, old: Array) -> Array:
    return np.where(chosen.reshape(chosen.shape + (1,) * (new.ndim - chosen.ndim)), new, old)


def _refuse_falling(robot: Robot, bias: Array, passive: Array, how: Mapping[str, Any]) -> None:
    """Refuse a robot on which a force acts that no motor takes up, wherever it is."""
    model, names = robot.model, labels(robot.model)[1]
    if robot.loops:
        return
    loaded = np.intersect1d(passive, np.flatnonzero((np.abs(bias) > 0.0).reshape(-1, robot.nv).any(axis=0)))
    floating = {
        model.joint_name[i]: np.arange(robot.nv)[model.slices[i][1]]
        for i in model.leaders
        if model.parent[i] == 0 and model.joint[i].nv == 6 and not model.potentials
    }
    terms = {"joint_terms": how["joint_terms"]} if "joint_terms" in how else {}
    changing, _ = robot.derivative_pattern("gravity_force", by="q", **terms)
    told = [name for name, own in floating.items() if np.isin(own, loaded).any()]
    told += [names[k] for k in np.setdiff1d(loaded, changing)]
    if told:
        raise NotCovered(
            f"equilibrium: nothing holds robot {robot.name!r}: {told[0]!r} is not driven, and its load is never zero.\n"
            "  Name it in driven=, lock it, close it with a loop, or give forces that hold it as external=."
        )
