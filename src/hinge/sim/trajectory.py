"""What came out of a simulation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from hinge import notebook
from hinge.arguments import Array
from hinge.calls.call import DEFAULT_TERMS
from hinge.contact.results import ContactRecord
from hinge.dynamics.file_forces import stretched
from hinge.errors import TrajectoryError
from hinge.model import Model
from hinge.model.states import labels
from hinge.robot import Robot
from hinge.sim.contact_record import Taken
from hinge.sim.panels import panels
from hinge.sim.recording import FIELDS, Event, Recorded
from hinge.status import OK, UNREACHED, Status
from hinge.typing import Flags, Statuses, Term

DRAWN = 200  # times of a picture in a notebook
SHOWN = ("stopped", "kept_error", "file", "replaced")  # of what is reported


class Stored(Protocol):
    """States that are not in memory, (…, T, n); `at` reads some of the times."""

    def at(self, part: slice) -> Array: ...


def tendon_energy(model: Model, q: Array) -> Array:
    """Return the energy (…) of the springs of fixed tendons at q (…, nq), in J."""
    made = np.zeros(q.shape[:-1])
    if "spring" in model.physics.options.disabled:
        return made
    at = model.joint_positions([q[..., k] for k in range(model.nq)])
    for tendon in model.physics.tendons:
        if tendon.stiffness:
            length, (low, high) = stretched(model, tendon, at)[0], tendon.slack
            beyond = np.maximum(length - high, 0.0) + np.minimum(length - low, 0.0)
            made += 0.5 * tendon.stiffness * beyond * beyond
    return made


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States in time: t (T,), q (…, T, nq), qd and tau (…, T, nv); leading axes are the rollouts.

    `status` has a `hinge.Status` for each rollout; a rollout that failed is NaN from there on. One that is UNREACHED
    has not: its controller did not lead the hand as wanted, first at the time `lost`. `events` are what an adaptive
    method found, `info` says how it was made: step, versions, what there was to report. States that are in a file are
    read when they are asked for: `run[a:b].q` reads those times only. `course` is how steps with contacts were taken;
    a file and a copy do not have it.

    >>> ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    >>> run = hinge.simulate(ball, 0.1, q0=[1, 0, 0, 0, 0, 0, 0.1], ground=0.0)
    >>> run.contacts.forces.shape, run.contacts.forces[5, 0, 2].round(6)
    ((101, 1, 3), np.float64(19.62))
    """

    robot: Robot
    t: Array
    states: Mapping[str, Array | Stored]
    status: Statuses
    method: str
    events: tuple[Event, ...] = ()
    info: dict[str, Any] = field(default_factory=dict)
    lost: Array | None = None  # (…) s: since when its status is not OK, NaN where it is
    # by name, one for all or for each rollout; None where they are not known
    parameters: Mapping[str, Array] | None = field(default_factory=dict)
    joint_terms: Sequence[Term] = DEFAULT_TERMS
    course: Taken | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"course": None}

    @property
    def failed(self) -> Flags | np.bool:
        """Which rollouts have no states from `lost` on, (…)."""
        told = (self.status != OK) & (self.status != UNREACHED)
        found = self.states.get("q")
        return told & np.isnan(found[..., -1, :]).any(axis=-1) if isinstance(found, np.ndarray) and len(self) else told

    @cached_property
    def q(self) -> Array:
        """Coordinates (…, T, nq); refused where they were not recorded."""
        return self._read("q")

    @cached_property
    def qd(self) -> Array:
        """Velocities (…, T, nv), likewise."""
        return self._read("qd")

    @cached_property
    def tau(self) -> Array:
        """Joint forces (…, T, nv), likewise."""
        return self._read("tau")

    @cached_property
    def contacts(self) -> ContactRecord:
        """What touched: points and forces (…, T, n, 3), normals, gaps and pairs (…, T, n), names of the pairs.

        They are those of the step that begins at each recorded state, found when they are asked for, and are not in
        files. Room is for n contacts at once; `pairs` is -1 where there is none.
        """
        if self.course is None:
            raise TrajectoryError(
                "this trajectory does not know what touched: it had no contacts, or is out of a file or a copy.",
                "Simulate with contacts=, ground= or physics='file', or use robot.contact_step on its states.",
            )
        return self.course.contacts(self.t, self.q, self.qd, self.tau if "tau" in self.states else None)

    def _read(self, name: Recorded) -> Array:
        if name not in self.states:
            wanted = tuple(one for one in FIELDS if one in (name, *self.states))
            raise TrajectoryError(f"{name} was not recorded.", f"Simulate with fields={wanted}.")
        found = self.states[name]
        return found if isinstance(found, np.ndarray) else found.at(slice(None))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the robot has that did not act: damping, friction, stiffness and limits that the run left out."""
        return tuple(self.info.get("notes", "").splitlines())

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        rollouts = self.status.size
        many = f"{rollouts} rollouts, " if self.status.ndim else ""
        span = f"{self.t[0]:g} … {self.t[-1]:g} s" if len(self.t) else "nothing"
        lines = [f"<Trajectory of {self.robot.name!r}: {many}{len(self)} states in {span}, {self.method}>"]
        failed, unreached = self.failed, np.count_nonzero(self.status == UNREACHED)
        if failed.any():
            kinds = ", ".join(Status(k).name for k in np.unique(self.status[failed]))
            lines.append(f"  {np.count_nonzero(failed)} of {rollouts} failed: {kinds}")
        if unreached:
            lines.append(f"  {unreached} of {rollouts} not led as wanted: {Status.UNREACHED.name}")
        lines += [f"  {key}: {value}" for key, value in self.info.items() if key in SHOWN]
        lines += [f"  note: {one}" for one in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = self[:: max(1, len(self) // DRAWN)]
        if "q" not in self.states or not len(self):
            return notebook.lines(repr(self))
        which = " of the first rollout" if self.status.ndim else ""
        return notebook.lines(repr(self)) + "".join(
            notebook.curves(
                shown.t, one.values.reshape(-1, len(shown), len(one.lines))[0], one.names, f"{one.unit}{which}"
            )
            for one in panels(shown, "q")
        )

    def __getitem__(self, at: int | np.integer[Any] | slice) -> Trajectory:
        """A slice in time, with the same rollouts; one index keeps the axis of time."""
        part = slice(at, at + 1 or None) if isinstance(at, int | np.integer) else at
        states = {k: a[..., part, :] if isinstance(a, np.ndarray) else a.at(part) for k, a in self.states.items()}
        return replace(self, t=self.t[part], states=states)

    @property
    def final(self) -> tuple[Array, Array]:
        """The last state: q (…, nq) and qd (…, nv)."""
        last = self[-1:]
        return last.q[..., -1, :], last.qd[..., -1, :]

    def energy(self) -> Array:
        """Kinetic and potential energy (…, T), in J, with the parameters of the run.

        Armature and springs are in where the `joint_terms` of the run had them, and so are the springs of tendons where
        the physics of a file acted.
        """
        if self.parameters is None:
            raise TrajectoryError(
                "this trajectory does not know the parameters of its rollouts.",
                "Ask robot.kinetic_energy and robot.potential_energy of its states, with parameters=.",
            )
        own = {one.name: len(one.shape) for one in self.robot.target.vary}
        given = {
            name: np.expand_dims(x, self.status.ndim) if x.ndim > own[name] else x
            for name, x in self.parameters.items()
            if name in own
        }
        how: dict[str, Any] = {"parameters": given, "joint_terms": self.joint_terms}
        made = self.robot.kinetic_energy(self.q, self.qd, **how) + self.robot.potential_energy(self.q, **how)
        return made + tendon_energy(self.robot.model, self.q) if self.info.get("physics") == "file" else made

    def to_xarray(self) -> Any:
        """An xarray Dataset with dimensions rollout (or rollout_0, …), time, coordinate, velocity."""
        try:
            import xarray
        except ImportError:
            raise TrajectoryError("to_xarray needs the package xarray.", 'pip install "hinge[files]"') from None
        n = self.status.ndim
        rollouts = ["rollout"] if n == 1 else [f"rollout_{k}" for k in range(n)]
        axes = {"q": "coordinate", "qd": "velocity", "tau": "velocity"}
        data = {name: ((*rollouts, "time", axes[name]), self._read(name)) for name in FIELDS if name in self.states}
        names = labels(self.robot.model)
        coordinates = {"time": self.t, "velocity": names[1]}
        if "q" in data:
            coordinates["coordinate"] = names[0]
        about = {"robot": self.robot.name, "method": self.method} | {k: str(v) for k, v in self.info.items()}
        return xarray.Dataset(data | {"status": (tuple(rollouts), self.status)}, coordinates, about)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, one row a time: t, q_JOINT, qd_JOINT and tau_JOINT, as the columns of a log are called.

        Of several rollouts one after the other, with the column `rollout`.

        >>> run = hinge.simulate(hinge.samples.planar_2r(), 0.01)
        >>> run.to_dataframe().shape
        (11, 7)
        """
        try:
            import pandas
        except ImportError:
            raise TrajectoryError("to_dataframe needs the package pandas.", 'pip install "hinge[files]"') from None
        count, times = self.status.size, len(self)
        columns: dict[str, Any] = {"t": np.tile(self.t, count)}
        if self.status.ndim:
            columns["rollout"] = np.repeat(np.arange(count), times)
        for name, entries in zip(FIELDS, (labels(self.robot.model)[k] for k in (0, 1, 1)), strict=True):
            if name in self.states:
                flat = self._read(name).reshape(count * times, -1)
                columns |= {f"{name}_{entry}": flat[:, k] for k, entry in enumerate(entries)}
        return pandas.DataFrame(columns)

    def plot(self, path: str | os.PathLike[str] | None = None, joints: Sequence[str] | None = None) -> Any:
        """A Matplotlib figure of positions, rates, forces with their limits, and energy; written to `path` if given.

        Each panel has one unit. A floating base, or a ball, is in panels of its own: position, and roll, pitch and yaw.
        Of several rollouts it has the median, and bands that hold half and nine tenths of them. `joints` are those
        that are drawn.
        """
        from hinge.sim.picture import picture

        return picture(self, path, joints)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a Zarr folder that `hinge.open` reads; replaces a trajectory that is there, nothing else."""
        from hinge.sim.store import save

        save(self, path)
