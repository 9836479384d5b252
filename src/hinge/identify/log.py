"""A measured motion: times, coordinates, velocities, accelerations and joint forces, a row each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hinge import arguments
from hinge.errors import LogError, NotCovered, SizeError
from hinge.identify.filtering import differentiate
from hinge.identify.parameters import Array
from hinge.logs.columns import matched
from hinge.logs.tables import chunks_of, open_log
from hinge.model.states import labels
from hinge.robot import Robot
from hinge.typing import Numbers

Load = str | tuple[str, float] | tuple[str, float, Numbers] | tuple[str, float, Numbers, Numbers]
FIELDS = ("q", "qd", "qdd", "tau")
TIMES = ("t", "time")  # what the column of times may be called
ROWS = 1 << 16  # of a file that are read at once


class Log:
    """Rows of a measured motion, in the order of time.

    Without `qdd` accelerations are central differences of `qd`. Rows with a number that is not finite are left out and
    counted in `left_out`. `tau` may be any signal that is a gain away from a joint force, such as a current: see the
    drive terms of `fit`. `load` is what the robot carried besides itself, as `with_payload` takes it: (body, mass, com,
    inertia), the last two if need be. `cutoff` (Hz) is that of the filter which the motion went through, if it did.

    >>> log = hinge.identify.Log([0.0, 0.1, 0.2], [[0.0], [np.nan], [0.1]], np.ones((3, 1)), np.zeros((3, 1)))
    >>> len(log), log.left_out
    (2, 1)
    """

    def __init__(
        self,
        t: Numbers,
        q: Numbers,
        qd: Numbers,
        tau: Numbers,
        qdd: Numbers | None = None,
        load: Load | None = None,
        cutoff: float | None = None,
    ):
        self.load, self.cutoff = load, cutoff
        self.t = arguments.real("log: t", t).astype(float)
        if self.t.ndim != 1 or len(self.t) < 2:
            raise SizeError(f"log: t has shape {self.t.shape}; it has to be (T,) with two rows or more.")
        known = np.flatnonzero(np.isfinite(self.t))
        back = np.flatnonzero(np.diff(self.t[known]) <= 0.0)
        if len(back):
            before, k = known[back[0]], known[back[0] + 1]
            raise SizeError(
                f"log: t[{k}] = {self.t[k]:g} comes after t[{before}] = {self.t[before]:g}.\n"
                "  Sort the rows by time, and give each time once."
            )
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


def read(robot: Robot, log: Any, cutoff: float | None = None, load: Load | None = None) -> Log:
    """A log of this robot, from a path, a `Log`, a `Trajectory` of one rollout, or a dict of arrays.

    A CSV, Parquet or NPZ file has the columns t, q_JOINT, qd_JOINT, tau_JOINT and perhaps qdd_JOINT. With `cutoff` (Hz)
    velocities and accelerations are those of the positions, as `differentiate` makes them, and none need be in the log;
    joints that turn without limits may have angles within one turn, which are joined to a continuous motion;
    `fit` then filters forces and regressor alike. `load` is what the robot carried, as for a `Log`.

    >>> t = np.arange(400.0)[:, None] / 100.0
    >>> measured = {"t": t[:, 0], "q": np.sin(t + [0.0, 1.0]), "tau": np.zeros((400, 2))}
    >>> log = hinge.identify.read(hinge.samples.planar_2r(), measured, cutoff=5.0)
    >>> len(log), bool(np.allclose(log.qdd, -log.q, atol=1e-2))
    (320, True)
    """
    made = log[:] if isinstance(log, Log) else _made(robot, log, ("q", "qd", "tau") if cutoff is None else ("q", "tau"))
    for name, count, said in (("q", robot.nq, "nq"), *((f, robot.nv, "nv") for f in FIELDS[1:])):
        if getattr(made, name).shape[1] != count:
            has = getattr(made, name).shape[1]
            raise SizeError(f"log: {name} has {has} entries a row, robot {robot.name!r} has {said} = {count}.")
    if len(made) < 2:
        raise SizeError(f"log: {made.left_out} rows have a number that is not finite, and {len(made)} are left.")
    if cutoff is not None:
        made = _differentiated(robot, made, cutoff)
    made.load = made.load if load is None else load
    return made


def _made(robot: Robot, given: Any, needed: Sequence[str]) -> Log:
    """A log from what is none yet; rates that are not needed are zeros."""
    if isinstance(given, str | os.PathLike):
        given = _table(robot, given, needed)
    elif not isinstance(given, Mapping):
        if not all(hasattr(given, name) for name in ("t", "q", "qd", "tau")):
            raise SizeError(
                f"log is a {type(given).__name__}; it has to be a Log, a Trajectory or a dict of arrays, "
                "or the path of a file."
            )
        given = {name: getattr(given, name) for name in ("t", "q", "qd", "tau")}
    missing = [name for name in ("t", *needed) if name not in given]
    if missing:
        raise SizeError(
            f"log: the dict has no {missing[0]!r}. It has to have t, {', '.join(needed)}, and may have qdd."
        )
    qd = given["qd"] if "qd" in needed else np.zeros(np.shape(given["tau"]))
    return Log(given["t"], given["q"], qd, given["tau"], given.get("qdd") if "qd" in needed else None)


def _table(robot: Robot, path: str | os.PathLike[str], needed: Sequence[str]) -> dict[str, Array]:
    """The columns of a file, side by side as the robot has its joints."""
    file = open_log(path)
    time = next((name for name in TIMES if name in file.columns), None)
    if time is None:
        raise LogError(f"{file.path} has no column of times.", "Add one called t, in seconds.")
    there = {name.split("_", 1)[0] for name in file.columns}
    if "qd" in needed and "qd" not in there:
        raise LogError(
            f"{file.path} has no column of qd.",
            f"Add qd_{labels(robot.model)[1][0]}, and one for every other joint, or filter positions: "
            "hinge.identify.read(robot, path, cutoff=…).",
        )
    more = ["qdd"] if "qdd" in there else []
    inside = {"t": [time], **matched(robot, [*needed, *more], file)}
    wanted = list(dict.fromkeys(name for names in inside.values() for name in names))
    chunks = [chunk for chunk, _ in chunks_of(file, wanted, ROWS)]
    columns = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in wanted}
    made = {field: np.stack([columns[name] for name in names], axis=-1) for field, names in inside.items()}
    return {field: x[..., 0] if field == "t" or x.ndim == 3 else x for field, x in made.items()}


def _unwrapped(robot: Robot, q: Array) -> Array:
    """Return coordinates where joints that turn without limits do not jump by a whole turn."""
    model, limits, made = robot.model, robot.limits, q.copy()
    turning = ("revolute", "continuous")
    endless = [model.slices[i][0].start for i in model.leaders if model.joint[i].kind in turning]
    endless = [k for k in endless if np.isinf(limits.lower[k]) and np.isinf(limits.upper[k])]
    made[:, endless] = np.unwrap(made[:, endless], axis=0)
    return made


def _differentiated(robot: Robot, log: Log, cutoff: float) -> Log:
    """The log with the motion that its positions make below the cut-off, at even times."""
    for i in robot.model.leaders:
        if not robot.model.joint[i].rates_are_velocities:
            raise NotCovered(
                f"log: joint {robot.model.joint_name[i]!r} turns freely; its coordinates cannot be "
                "filtered one by one.\n  Give velocities and accelerations, and no cutoff=."
            )
    t, q, qd, qdd = differentiate(log.t, _unwrapped(robot, log.q), cutoff)
    made = Log(t, q, qd, np.stack([np.interp(t, log.t, one) for one in log.tau.T], axis=1), qdd, log.load, cutoff)
    made.left_out = log.left_out
    return made
