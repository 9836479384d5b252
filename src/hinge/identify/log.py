"""A measured motion: times, coordinates, velocities, accelerations and joint forces, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hinge import arguments
from hinge.errors import SizeError
from hinge.identify.parameters import Array
from hinge.robot import Robot

FIELDS = ("q", "qd", "qdd", "tau")


class Log:
    """Rows of a measured motion, in the order of time.

    Without `qdd` accelerations are central differences of `qd`. Rows with a number that is not finite are left out and
    counted in `left_out`.

    >>> log = hinge.identify.Log([0.0, 0.1, 0.2], [[0.0], [np.nan], [0.1]], np.ones((3, 1)), np.zeros((3, 1)))
    >>> len(log), log.left_out
    (2, 1)
    """

    def __init__(self, t: Any, q: Any, qd: Any, tau: Any, qdd: Any = None):
        self.t = arguments.real("log: t", t).astype(float)
        if self.t.ndim != 1 or len(self.t) < 2:
            raise SizeError(f"log: t has shape {self.t.shape}; it has to be (T,) with two rows or more.")
        known = np.flatnonzero(np.isfinite(self.t))
        back = np.flatnonzero(np.diff(self.t[known]) <= 0.0)
        if len(back):
            before, k = known[back[0]], known[back[0] + 1]
            raise SizeError(f"log: t[{k}] = {self.t[k]:g} comes after t[{before}] = {self.t[before]:g}.\n"
                            "  Sort the rows by time, and give each time once.")  # fmt: skip
        self.q, self.qd, self.tau = (self._rows(name, x) for name, x in (("q", q), ("qd", qd), ("tau", tau)))
        self.qdd = np.gradient(self.qd, self.t, axis=0) if qdd is None else self._rows("qdd", qdd)
        good = np.isfinite(self.t) & np.all([np.isfinite(getattr(self, f)).all(axis=1) for f in FIELDS], axis=0)
        self.left_out = int(len(good) - good.sum())
        if self.left_out:
            self._keep(good)

    def _rows(self, name: str, given: Any) -> Array:
        made = arguments.real(f"log: {name}", given).astype(float)
        if made.ndim != 2 or len(made) != len(self.t):
            raise SizeError(f"log: {name} has shape {made.shape}; it has to be ({len(self.t)}, …), a row a time.")
        return made

    def _keep(self, which: Any) -> None:
        self.t = self.t[which]
        for name in FIELDS:
            setattr(self, name, getattr(self, name)[which])

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, part: slice) -> Log:
        """Part of the log."""
        made = object.__new__(Log)
        made.__dict__ |= self.__dict__
        made._keep(part)
        return made

    @property
    def motion(self) -> tuple[Array, Array, Array]:
        """(q, qd, qdd)."""
        return self.q, self.qd, self.qdd


def read(given: Any, robot: Robot) -> Log:
    """A log of this robot, from a `Log`, a `Trajectory` of one rollout, or a dict of arrays."""
    if isinstance(given, Mapping):
        missing = [name for name in ("t", "q", "qd", "tau") if name not in given]
        if missing:
            raise SizeError(f"log: the dict has no {missing[0]!r}. It has to have t, q, qd, tau, and may have qdd.")
        given = Log(given["t"], given["q"], given["qd"], given["tau"], given.get("qdd"))
    elif not isinstance(given, Log):
        if not all(hasattr(given, name) for name in ("t", "q", "qd", "tau")):
            raise SizeError(f"log is a {type(given).__name__}; it has to be a Log, a Trajectory or a dict of arrays.")
        given = Log(given.t, given.q, given.qd, given.tau)
    for name, count, said in (("q", robot.nq, "nq"), *((f, robot.nv, "nv") for f in FIELDS[1:])):
        if getattr(given, name).shape[1] != count:
            has = getattr(given, name).shape[1]
            raise SizeError(f"log: {name} has {has} entries a row, robot {robot.name!r} has {said} = {count}.")
    if len(given) < 2:
        raise SizeError(f"log: {given.left_out} rows have a number that is not finite, and {len(given)} are left.")
    return given
