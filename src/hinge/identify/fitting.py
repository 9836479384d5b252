"""Least squares: the robot whose joint forces are nearest to those measured.

    W τ = W Y_b β + noise,   β = π_b + K π_d

turney1981, section 9, ends with it: compare measured with predicted torques, and adjust inertias and friction. β is
found first, on its own; parameters of bodies that can be follow from it (consistency.py). Rows of each velocity are
weighed by the size of what is left of it after a first fit with equal shares. Standard deviations are those of least
squares with white noise, and so too small where noise is not white or the model is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge import arguments
from hinge.errors import ExcitationError, SizeError
from hinge.identify.base import FAINT, Base, base_parameters
from hinge.identify.consistency import consistent as nearest
from hinge.identify.log import Log, read
from hinge.identify.parameters import USUAL, Array, parameters, with_parameters
from hinge.model.states import labels
from hinge.robot import Robot

SHOWN = 1e-7  # of the largest singular value: what is below it was not shown by the motion
MATTERS = 0.1  # share in a direction that was not shown, from which on a parameter is named
FLAT = 1e-3  # of the largest joint force: what is smaller is not made more of in the first fit
EXACT = 1e-9  # of the largest joint force: noise is not taken to be smaller


@dataclass(frozen=True, eq=False)
class Fit:
    """A robot fitted to a log; arrays have an entry a parameter (p), a base parameter (rank) or a velocity (nv)."""

    robot: Robot
    parameters: Array
    base: Base
    base_values: Array
    deviations: Array  # (rank) standard deviations of the base parameters; infinite for what was not shown
    before: Array  # (nv) root mean square error on the motion held out, with the robot given
    after: Array  # (nv) with the one fitted
    weights: Array
    condition: float
    joint_terms: tuple[str, ...]
    velocity_names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self.base.all_names

    def __str__(self) -> str:
        lines = [
            f"{self.robot.name}: {self.base.rank} base parameters of {len(self.names)}, condition {self.condition:.3g}",
            "error of joint forces on motion held out (root mean square):",
            *(f"  {n:<24} {b:10.4g} → {a:.4g}" for n, b, a in
              zip(self.velocity_names, self.before, self.after, strict=True)),
        ]  # fmt: skip
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def fit(robot: Robot, log: Any, joint_terms: Sequence[str] = USUAL, held_out: Any = 0.25, weights: Any = None,
        consistent: bool = True, partial: bool = False) -> Fit:  # fmt: skip
    """Fit the numbers of a robot's bodies, and of its joints' `joint_terms`, to a measured motion.

    `log` is a `Log`, a `Trajectory` or a dict of arrays. `held_out` is a share of it, its end, or another log;
    `weights` (nv) multiply the errors of each velocity. Bodies stay such that there can be, unless `consistent` is
    false. What the log does not show is refused by name; with `partial` it keeps the robot's values.

    >>> arm, rng = hinge.samples.planar_2r(), np.random.default_rng(0)
    >>> q, qd, qdd = rng.normal(size=(3, 200, 2))
    >>> heavier = arm.with_payload("lower", 0.5)
    >>> log = hinge.identify.Log(np.arange(200.0), q, qd, heavier.inverse_dynamics(q, qd, qdd), qdd)
    >>> bool(np.all(hinge.identify.fit(arm, log).after < 1e-9))
    True
    """
    terms = (joint_terms,) if isinstance(joint_terms, str) else tuple(joint_terms)
    train, test, notes = _split(read(log, robot), held_out, robot)
    base = base_parameters(robot, terms, tol=FAINT)
    if base.rank == 0:
        raise ExcitationError(f"fit: robot {robot.name!r} has no parameter that a joint feels.")
    own = parameters(robot, terms)
    Y = base.columns(_regressor(robot, train, terms))
    if len(train) * robot.nv < base.rank:
        raise SizeError(f"fit: the log gives {len(train) * robot.nv} equations for {base.rank} base parameters. "
                        "Give a longer one.")  # fmt: skip
    w = _given_weights(weights, robot.nv) if weights is not None else _weights(Y, train.tau, base)
    found = _least_squares(Y, train.tau, w, base, base.values(own))
    if found.hidden and not partial:
        shown = ", ".join(found.hidden[:12]) + (", …" if len(found.hidden) > 12 else "")
        raise ExcitationError(
            f"fit: the log of {len(train)} rows does not show {len(found.hidden)} of {base.rank} base parameters of "
            f"robot {robot.name!r}: {shown}.\n  Move the joints that feel them, faster or farther "
            "(hinge.identify.excite makes such a motion), or say partial=True to leave them as they are.",
            found.hidden,
        )
    beta, notes = found.beta, [*notes, *found.notes]
    if consistent:
        values, beta = nearest(own, base, beta, found.R, robot.model.count)
        moved = np.abs(beta - found.beta) > found.deviations + 1e-9 * np.abs(beta)
        if moved.any():
            notes.append("bodies can not have the best fit; moved by more than a standard deviation: "
                         + ", ".join(np.array(base.names)[moved]))  # fmt: skip
    else:
        values = own.copy()
        values[list(base.independent)] += beta - base.values(own)
    Y = _regressor(robot, test, terms)
    before, after = (np.sqrt(np.mean((test.tau - Y @ each) ** 2, axis=0)) for each in (own, values))
    made = with_parameters(robot, values, terms)
    return Fit(made, values, base, beta, found.deviations, before, after, w, found.condition, terms,
               tuple(labels(robot.model)[1]), tuple(notes))  # fmt: skip


@dataclass(frozen=True)
class _Found:
    beta: Array
    deviations: Array
    R: Array  # takes a change of β to standard deviations
    condition: float
    hidden: tuple[str, ...]
    notes: tuple[str, ...]


def _least_squares(Y: Array, tau: Array, w: Array, base: Base, own: Array) -> _Found:
    """β, with what was not shown left as it was."""
    A = (Y * w[:, None]).reshape(-1, base.rank) / base.scale
    b = (tau * w).reshape(-1) - A @ (own * base.scale)  # what the robot does not explain yet
    U, size, Vt = np.linalg.svd(A, full_matrices=False)
    seen = size > SHOWN * size[0]  # none where the log shows nothing at all
    step = Vt[seen].T @ (U[:, seen].T @ b / size[seen])
    left = b - A @ step
    noise = max(np.sqrt(left @ left / max(1, len(b) - seen.sum())), EXACT)
    spread = noise * np.sqrt(np.sum((Vt[seen] / size[seen, None]) ** 2, axis=0))
    dark = np.sqrt(np.sum(Vt[~seen] ** 2, axis=0)) > MATTERS  # how much of each is in directions not shown
    spread[dark] = np.inf
    beta, deviations = own + step / base.scale, spread / base.scale
    names, notes = np.array(base.names), []
    if dark.any():
        notes.append(f"not shown by the log, and left as they were: {', '.join(names[dark])}")
    weak = (deviations > np.abs(beta)) & ~dark & (spread > SHOWN * np.abs(tau).max())
    if weak.any():
        notes.append(f"known no better than to their own size: {', '.join(names[weak])}")
    R = (Vt * size[:, None]) * base.scale / noise
    condition = float(size[0] / size[seen][-1]) if seen.any() else np.inf
    return _Found(beta, deviations, R, condition, tuple(map(str, names[dark])), tuple(notes))


def _weights(Y: Array, tau: Array, base: Base) -> Array:
    """One over the noise of each velocity, as a first fit leaves it."""
    size = np.sqrt(np.mean(tau * tau, axis=0))
    most = size.max(initial=0.0) or 1.0
    first = 1.0 / np.maximum(size, FLAT * most)
    A = (Y * first[:, None]).reshape(-1, base.rank) / base.scale
    step = np.linalg.lstsq(A, (tau * first).reshape(-1), rcond=SHOWN)[0]
    left = tau - Y @ (step / base.scale)
    return 1.0 / np.maximum(np.sqrt(np.mean(left * left, axis=0)), EXACT * most)


def _given_weights(weights: Any, nv: int) -> Array:
    made = arguments.real("fit: weights", weights).astype(float)
    if made.shape != (nv,) or not np.all(np.isfinite(made)) or np.any(made < 0.0) or not np.any(made > 0.0):
        raise SizeError(f"fit: weights has to be {nv} numbers, none negative and not all zero; given was {weights!r}.")
    return made


def _split(log: Log, held_out: Any, robot: Robot) -> tuple[Log, Log, list[str]]:
    """The part to fit, the part to judge by, and what there is to say of them."""
    notes = [f"{log.left_out} rows with a number that is not finite were left out"] if log.left_out else []
    if not isinstance(held_out, float | int):
        return log, read(held_out, robot), notes
    rows = round(len(log) * (1.0 - held_out)) if 0.0 < held_out < 1.0 else 0
    if rows < 1 or rows == len(log):
        raise SizeError(f"fit: held_out={held_out!r} of {len(log)} rows leaves nothing to fit or nothing to judge by.\n"
                        "  Give a share between 0 and 1, or another log.")  # fmt: skip
    return log[:rows], log[rows:], notes


def _regressor(robot: Robot, log: Log, terms: tuple[str, ...]) -> Array:
    return robot.regressor(*log.motion, joint_terms=terms)
