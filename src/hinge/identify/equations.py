"""What a log says of the parameters, as equations: forces by the regressor, and the drive between forces and what was
measured.

    gain s = Y (π + π_known) + offset + F exp(-(qd / v)²) sign(qd)

s is the measured signal, v the Stribeck velocity, which is given, and F what friction at rest has beyond Coulomb's.
Where the motion was filtered both sides go through the same filter, and one row is kept of those that it makes alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hinge import arguments
from hinge.errors import SizeError, UnknownName, did_you_mean
from hinge.identify.filtering import EVEN, low_pass
from hinge.identify.log import Log
from hinge.identify.parameters import Array, in_force, parameter_names, parameters
from hinge.model.states import labels
from hinge.robot import Robot
from hinge.typing import Numbers, Term

DriveTerm = Literal["offset", "stribeck", "gain"]
DRIVE: tuple[DriveTerm, ...] = get_args(DriveTerm)


@dataclass(frozen=True, eq=False)
class Drive:
    """Which terms there are between joint forces and the measured signal, one each for a velocity of the robot."""

    terms: tuple[DriveTerm, ...]
    velocity: Array  # (nv) v, Stribeck's
    labels: tuple[str, ...]

    @property
    def linear(self) -> tuple[str, ...]:
        """Those that forces are linear in: all but gains."""
        return tuple(term for term in self.terms if term != "gain")

    def names(self, terms: Sequence[str]) -> tuple[str, ...]:
        """What they are called, velocity by velocity."""
        return tuple(f"{label}.{term}" for term in terms for label in self.labels)

    def columns(self, qd: Array) -> Array:
        """The force of a unit of each linear term, (…, nv, terms × nv)."""
        felt = {"offset": np.ones_like(qd), "stribeck": np.sign(qd) * np.exp(-((qd / self.velocity) ** 2))}
        blocks = [felt[term][..., None] * np.eye(len(self.labels)) for term in self.linear]
        return np.concatenate([np.zeros((*qd.shape, 0)), *blocks], axis=-1)


@dataclass(frozen=True, eq=False)
class Equations:
    """Rows of `signal` = gain⁻¹ (Y x + known), with x the parameters of the robot and the linear ones of its drive."""

    Y: Array  # (T, nv, p + terms × nv)
    known: Array  # (T, nv) the force of the load and of armature that is not fitted
    signal: Array  # (T, nv)

    def __len__(self) -> int:
        return len(self.signal)

    def __getitem__(self, part: slice) -> Equations:
        return Equations(self.Y[part], self.known[part], self.signal[part])

    def force(self, x: Array) -> Array:
        """Y x + known, (T, nv)."""
        return self.Y @ x + self.known


def drive(robot: Robot, terms: str | Sequence[DriveTerm], velocity: Numbers) -> Drive:
    """The drive terms of a robot, as users name them."""
    asked = (terms,) if isinstance(terms, str) else tuple(terms)
    for term in asked:
        if term not in DRIVE:
            raise UnknownName(f"drive_terms has {term!r}. {did_you_mean(str(term), DRIVE)}")
    given = arguments.finite("fit: stribeck_velocity", velocity)
    if given.shape not in ((), (robot.nv,)) or not np.all(given > 0.0):
        raise SizeError(f"fit: stribeck_velocity has to be above zero, one number or nv = {robot.nv} of them.")
    in_order = tuple(term for term in DRIVE if term in asked)
    return Drive(in_order, np.broadcast_to(given, (robot.nv,)), tuple(labels(robot.model)[1]))


def equations(robot: Robot, log: Log, joint_terms: tuple[Term, ...], own_drive: Drive) -> Equations:
    """Return the rows of a log; through its filter, and every so many of them, where it has one.

    Armature that `joint_terms` does not name keeps the robot's value, and is known with the load.
    """
    present = in_force(joint_terms)
    sought = np.isin(parameter_names(robot, present), parameter_names(robot, joint_terms))
    values = np.where(sought, 0.0, parameters(robot, present))
    if log.load is not None:
        loaded = robot.with_payload(*((log.load,) if isinstance(log.load, str) else log.load))
        values += parameters(loaded, present) - parameters(robot, present)
    Y = robot.regressor(*log.motion, joint_terms=present)
    Y, known = Y[..., sought], Y @ values
    made = [np.concatenate([Y, own_drive.columns(log.qd)], axis=-1), known, log.tau]
    if log.cutoff is not None:
        step = float(np.median(np.diff(log.t)))
        if np.abs(np.diff(log.t) - step).max() > EVEN * step:
            raise SizeError(
                "log: it has a cutoff, and its times are not even.\n"
                "  hinge.identify.read(robot, log, cutoff=…) makes an even one of positions and forces."
            )
        every = max(1, int(0.5 / (log.cutoff * step)))
        made = [low_pass(x, step, log.cutoff)[::every] for x in made]
    return Equations(*made)


def together(parts: Sequence[Equations]) -> Equations:
    """The rows of all, one after another."""
    return Equations(*(np.concatenate([getattr(part, f) for part in parts]) for f in ("Y", "known", "signal")))
