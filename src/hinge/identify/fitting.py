"""The fit: the robot, near the one given, whose joint forces explain those measured.

turney1981, section 9, ends with it: compare measured with predicted torques, and adjust inertias and friction. Base
parameters are found first, on their own (least_squares.py); parameters of bodies that can be, near the robot given,
follow from them (consistency.py). Standard deviations are those of least squares with white noise, and so too small
where noise is not white or the model is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from hinge import arguments
from hinge.calls.call import DEFAULT_TERMS
from hinge.errors import ExcitationError, SizeError
from hinge.identify.base import FAINT, Base, base_parameters
from hinge.identify.consistency import chosen, nearest, prior
from hinge.identify.equations import DRIVE, Drive, DriveTerm, Equations, drive, equations, together
from hinge.identify.least_squares import Estimate, first_gain, first_weights, least_squares, weights_after
from hinge.identify.log import Log, read
from hinge.identify.noise import noisy_motion, typical
from hinge.identify.parameters import Array, in_force, parameters, with_parameters
from hinge.model.model import NUMBERS, TERMS
from hinge.robot import Robot
from hinge.typing import Numbers, Term

SLIGHT = 1e-3  # of a joint's force: the unit of a term that the robot says nothing of
NO_FORCE = 1e-12  # of the forces of the robot's parts: a joint force that is none
FAR = 3.0  # standard deviations, from which on a base parameter that was moved is named


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
    joint_terms: tuple[Term, ...]
    velocity_names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())
    drive: dict[str, Array] = field(default_factory=dict)  # term → (nv)
    drive_deviations: dict[str, Array] = field(default_factory=dict)
    stribeck_velocity: Array = field(default_factory=lambda: np.ones(()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return self.base.all_names

    def predict(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Array:
        """The signal (…, nv) that was fitted, at other states: joint forces, and what the drive makes of them."""
        force = self.robot.inverse_dynamics(q, qd, qdd, joint_terms=in_force(self.joint_terms))
        own = Drive(tuple(term for term in DRIVE if term in self.drive), self.stribeck_velocity, self.velocity_names)
        linear = np.concatenate([np.zeros(0), *(self.drive[term] for term in own.linear)])
        return (force + own.columns(np.asarray(qd, float)) @ linear) / self.drive.get("gain", 1.0)

    def __str__(self) -> str:
        lines = [
            f"{self.robot.name}: {self.base.rank} base parameters of {len(self.names)}, condition {self.condition:.3g}",
            "error of joint forces on motion held out (root mean square):",
            *(
                f"  {n:<24} {b:10.4g} → {a:.4g}"
                for n, b, a in zip(self.velocity_names, self.before, self.after, strict=True)
            ),
            *(f"{term}: {', '.join(f'{x:.4g}' for x in values)}" for term, values in self.drive.items()),
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def fit(
    robot: Robot,
    log: Any,
    joint_terms: Sequence[Term] = DEFAULT_TERMS,
    held_out: Any = 0.25,
    weights: Numbers | None = None,
    consistent: bool = True,
    partial: bool = False,
    nearness: float | None = None,
    drive_terms: DriveTerm | Sequence[DriveTerm] = (),
    stribeck_velocity: Numbers = 0.1,
) -> Fit:
    """Fit the numbers of a robot's bodies, and of its joints' `joint_terms`, to a measured motion.

    `log` is a `Log`, a `Trajectory`, a dict of arrays, the path of a CSV, Parquet or NPZ file, or a list of such.
    `held_out` is a share of each, its end, or another log or list; `weights` (nv) multiply the errors of each velocity.
    Armature that `joint_terms` does not name keeps the robot's value, and its force is part of what is fitted; damping,
    friction and stiffness that it does not name are no part of it. Joint forces that are all zero are refused.
    Bodies stay such that there can be, and near the robot given where the log says little, unless `consistent` is
    false: with `nearness` 1 a number that is off by its own size weighs as a measured one a standard deviation off;
    that is the default, or less where the robot given is so far off that the fit would suffer.
    What the log does not show is refused by name; with `partial` it keeps the robot's values.

    `drive_terms` are found for each velocity besides: "offset", a constant force; "stribeck", friction beyond
    Coulomb's at rest, which is gone at `stribeck_velocity` (rad/s or m/s; nv, or one number); "gain", force by
    measured signal, which takes logs with and without a known `load`.

    >>> arm, rng = hinge.samples.planar_2r(), np.random.default_rng(0)
    >>> q, qd, qdd = rng.normal(size=(3, 200, 2))
    >>> heavier = arm.with_payload("lower", 0.5)
    >>> log = hinge.identify.Log(np.arange(200.0), q, qd, heavier.inverse_dynamics(q, qd, qdd), qdd)
    >>> bool(np.all(hinge.identify.fit(arm, log).after < 1e-9))
    True
    """
    terms = cast(tuple[Term, ...], (joint_terms,) if isinstance(joint_terms, str) else tuple(joint_terms))
    own_drive = drive(robot, drive_terms, stribeck_velocity)
    if nearness is not None and not 0.0 < nearness < np.inf:
        raise SizeError(
            f"fit: nearness is {nearness!r}; give a number above zero, or consistent=False for none at all."
        )
    given_weights = None if weights is None else _given_weights(weights, robot.nv)
    logs = _logs(robot, log)
    train, test, notes = _split(robot, logs, held_out, terms, own_drive)
    base = base_parameters(robot, terms, tol=FAINT)
    if base.rank == 0:
        raise ExcitationError(f"fit: robot {robot.name!r} has no parameter that a joint feels.")
    problem = _Problem(robot, base, terms, own_drive, parameters(robot, terms))
    if len(train) * robot.nv < len(problem.names):
        raise SizeError(
            f"fit: the log gives {len(train) * robot.nv} equations for {len(problem.names)} base "
            "parameters. Give a longer one."
        )
    notes += _left_out(robot, terms)
    _refuse_no_forces(train, problem)
    found, w = problem.solve(train, given_weights)
    hidden = tuple(np.array(problem.names)[found.dark].tolist())
    if hidden and not partial:
        raise _not_shown(robot, len(train), hidden, len(problem.names))
    notes += _said(problem, found)
    x, a = problem.consistent(found, train, nearness) if consistent else problem.shared(found)
    beta, p = base.values(x[: problem.count]), problem.count
    moved = np.abs(np.concatenate([beta, x[p:], a])[: len(problem.names)] - problem.joined(found))
    far = moved > FAR * found.deviations + 1e-9 * np.abs(problem.joined(found))
    if far.any():
        notes.append(
            f"bodies that can be differ from the best fit by more than {FAR:g} standard deviations in "
            + ", ".join(np.array(problem.names)[far])
        )
    start = problem.start(train)
    before, after = (_size(test.signal - gain * test.force(values)) for values, gain in (start, (x, a)))
    left = typical(train.signal - a * train.force(x)) / np.abs(a)
    fitted = with_parameters(robot, x[:p], terms)
    notes += noisy_motion(robot, parameters(fitted, in_force(terms)), logs, in_force(terms), left, own_drive.labels)
    values, spread = problem.of_drive(found, x, a)
    return Fit(
        robot=fitted,
        parameters=x[:p],
        base=base,
        base_values=beta,
        deviations=found.deviations[: base.rank],
        before=before,
        after=after,
        weights=w,
        condition=found.condition,
        joint_terms=terms,
        velocity_names=own_drive.labels,
        notes=tuple(notes),
        drive=values,
        drive_deviations=spread,
        stribeck_velocity=own_drive.velocity,
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is to be found: x are the robot's parameters (p) and the drive's, a one over its gains."""

    robot: Robot
    base: Base
    terms: tuple[Term, ...]
    drive: Drive
    own: Array

    @property
    def count(self) -> int:
        return len(self.own)

    @property
    def gains(self) -> bool:
        return "gain" in self.drive.terms

    @property
    def names(self) -> tuple[str, ...]:
        """Of the base parameters, and of the drive's."""
        return (*self.base.names, *self.drive.names(self.drive.terms))

    def start(self, rows: Equations) -> tuple[Array, Array]:
        """(x, a) of the robot given."""
        x = np.concatenate([self.own, np.zeros(rows.Y.shape[-1] - self.count)])
        return x, first_gain(rows.force(x), rows.signal) if self.gains else np.ones(self.robot.nv)

    def solve(self, rows: Equations, weights: Array | None) -> tuple[Estimate, Array]:
        """The best of any numbers, and the weights they were found with."""
        x, a = self.start(rows)
        columns = [*self.base.independent, *range(self.count, len(x))]
        slim = Equations(rows.Y[..., columns], rows.known, rows.signal)
        x = np.concatenate([self.base.values(self.own), x[self.count :]])
        scale = np.sqrt(np.mean(slim.Y**2, axis=(0, 1)))
        scale[: self.base.rank] = self.base.scale
        if weights is None:
            first = least_squares(slim, x, a, first_weights(rows.signal), scale, self.gains)
            weights = weights_after(rows.signal - first.a * slim.force(first.x), rows.signal)
        return least_squares(slim, x, a, weights, scale, self.gains), weights

    def joined(self, found: Estimate) -> Array:
        """x and a in the order of `names`."""
        return np.concatenate([found.x, found.a])[: len(self.names)]

    def shared(self, found: Estimate) -> tuple[Array, Array]:
        """(x, a) with what was found given to the independent parameters."""
        x, rank = np.concatenate([self.own, found.x[self.base.rank :]]), self.base.rank
        x[list(self.base.independent)] += found.x[:rank] - self.base.values(self.own)
        return x, found.a

    def consistent(self, found: Estimate, rows: Equations, nearness: float | None) -> tuple[Array, Array]:
        """(x, a) of bodies that can be, near the robot given."""
        x, a = self.start(rows)
        everything = np.concatenate([x, a]) if self.gains else x
        p, rank, more = self.count, self.base.rank, len(everything) - self.count
        B = np.zeros((rank + more, len(everything)))
        B[range(rank), self.base.independent], B[:rank, self.base.dependent] = 1.0, self.base.K
        B[rank:, p:] = np.eye(more)
        force, felt = 1.0 / (first_weights(rows.signal) * np.abs(found.a)), _size(rows.Y)  # (nv) and (nv, columns)
        size = force[felt.argmax(axis=0)] / np.where(felt.any(axis=0), felt.max(axis=0), 1.0)
        size = np.concatenate([size, np.abs(a)])[: len(everything)]
        bodies = self.robot.model.count
        near = prior(everything, bodies, SLIGHT * size[NUMBERS * bodies : p], size[p:])
        measured = B, self.joined(found), found.R
        values = chosen(near, *measured) if nearness is None else nearest(near, *measured, nearness)
        return values[: len(x)], values[len(x) :] if self.gains else a

    def of_drive(self, found: Estimate, x: Array, a: Array) -> tuple[dict[str, Array], dict[str, Array]]:
        """The drive's terms and their deviations, by name."""
        values = np.split(np.concatenate([x[self.count :], 1.0 / a]), len(self.drive.linear) + 1)
        spread = found.deviations[self.base.rank :].reshape(len(self.drive.terms), len(a)).copy()
        if self.gains:
            spread[-1] /= a**2
        return dict(zip(self.drive.terms, values, strict=False)), dict(zip(self.drive.terms, spread, strict=True))


def _said(problem: _Problem, found: Estimate) -> list[str]:
    names, notes = np.array(problem.names), []
    if found.dark.any():
        notes.append(f"not shown by the log, and left as they were: {', '.join(names[found.dark])}")
    if found.weak.any():
        notes.append(f"known no better than to their own size: {', '.join(names[found.weak])}")
    return notes


def _left_out(robot: Robot, terms: tuple[Term, ...]) -> list[str]:
    """Return a note on the joint terms that the robot has and the fit does not."""
    others = [term for term in TERMS if term not in in_force(terms)]
    own = [term for term in others if any(any(getattr(data, term)) for data in robot.model.data)]
    words = " and ".join(own)
    return [f"forces are fitted without the robot's {words}; joint_terms= can name these terms"] if own else []


def _refuse_no_forces(rows: Equations, problem: _Problem) -> None:
    """Raise where all joint forces are zero: nothing fixes the scale of the parameters then."""
    x, _ = problem.start(rows)
    if not np.any(np.abs(rows.signal) > NO_FORCE * (np.abs(rows.Y) @ np.abs(x))):
        raise ExcitationError(
            f"fit: the joint forces of the log (tau) are zero in all {len(rows)} rows, so a robot of twice the mass "
            "fits as well.\n  Give a log with measured joint forces, of a robot that is driven.",
            problem.names,
        )


def _not_shown(robot: Robot, rows: int, hidden: tuple[str, ...], count: int) -> ExcitationError:
    shown = ", ".join(hidden[:12]) + (", …" if len(hidden) > 12 else "")
    gains = any(name.endswith(".gain") for name in hidden)
    more = "\n  Gains show beside a known load only: give logs with and without one, load=(body, mass, com)."
    return ExcitationError(
        f"fit: the log of {rows} rows does not show {len(hidden)} of {count} base parameters of robot {robot.name!r}: "
        f"{shown}.\n  Move the joints that feel them, faster or farther (hinge.identify.excite makes such a motion), "
        f"or say partial=True to leave them as they are.{more if gains else ''}",
        hidden,
    )


def _size(x: Array) -> Array:
    """The root mean square over rows."""
    return np.sqrt(np.mean(x * x, axis=0))


def _given_weights(weights: Any, nv: int) -> Array:
    made = arguments.real("fit: weights", weights).astype(float)
    if made.shape != (nv,) or not np.all(np.isfinite(made)) or np.any(made < 0.0) or not np.any(made > 0.0):
        raise SizeError(f"fit: weights has to be {nv} numbers, none negative and not all zero; given was {weights!r}.")
    return made


def _logs(robot: Robot, given: Any) -> list[Log]:
    """The logs of a list, or the one that is given."""
    logs = given if isinstance(given, list | tuple) else [given]
    if not logs:
        raise SizeError("fit: the list of logs is empty.")
    return [read(robot, log) for log in logs]


def _split(
    robot: Robot, logs: list[Log], held_out: Any, terms: tuple[Term, ...], own_drive: Drive
) -> tuple[Equations, Equations, list[str]]:
    """The rows to fit, the rows to judge by, and what there is to say of them."""
    left_out = sum(log.left_out for log in logs)
    notes = [f"{left_out} rows with a number that is not finite were left out"] if left_out else []
    cutoffs = sorted({log.cutoff for log in logs if log.cutoff is not None})
    if cutoffs:
        notes.append(f"motion, forces and regressor were filtered at {', '.join(f'{f:g}' for f in cutoffs)} Hz")
    rows = [equations(robot, log, terms, own_drive) for log in logs]
    if not isinstance(held_out, float | int):
        others = [equations(robot, log, terms, own_drive) for log in _logs(robot, held_out)]
        return together(rows), together(others), notes
    cuts = [round(len(one) * (1.0 - held_out)) if 0.0 < held_out < 1.0 else 0 for one in rows]
    if any(cut < 1 or cut == len(one) for cut, one in zip(cuts, rows, strict=True)):
        few = min(len(one) for one in rows)
        raise SizeError(
            f"fit: held_out={held_out!r} of {few} rows leaves nothing to fit or nothing to judge by.\n"
            "  Give a share between 0 and 1, or another log."
        )
    parts = list(zip(rows, cuts, strict=True))
    return together([one[:cut] for one, cut in parts]), together([one[cut:] for one, cut in parts]), notes
