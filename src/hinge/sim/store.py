"""Trajectories on disk: a Zarr folder, written chunk by chunk while a simulation runs.

    run.zarr/
      t, q, qd, tau, status    arrays, time first; every chunk appears whole or not at all
      robot.xml or robot.urdf  the robot, where a format can say it
      finished.json            how many states are there, replaced after each chunk; and how they were made

A run that was killed, or whose disk was full, opens as far as finished.json says.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.errors import HingeError, TrajectoryError
from hinge.robot import Robot
from hinge.sim.record import CannotWrite, rollouts
from hinge.sim.trajectory import FIELDS, Event, Trajectory
from hinge.version import __version__

if TYPE_CHECKING:
    from hinge.sim.running import Run

Array = np.ndarray[Any, np.dtype[Any]]
FORMAT = 1
CHUNK = 8 << 20  # bytes of one array in a chunk, at most
LONGEST = 10_000  # states in a chunk, at most: what a run that is killed may lose
MARK = "finished.json"


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise TrajectoryError("trajectories are kept with the package zarr.", "pip install hinge[files]") from None
    return zarr


class Writer:
    """Takes states while a simulation runs and writes them when a chunk is full."""

    def __init__(self, path: str | os.PathLike[str], robot: Robot, run: Run, widths: dict[str, int], count: int,
                 method: str) -> None:  # fmt: skip
        self.path, self.run, rows = _cleared(Path(path)), run, len(run.q)
        group = _zarr().open_group(str(self.path), mode="w")
        widest = max([1, *widths.values()])
        self.chunk = int(np.clip(CHUNK // (8 * rows * widest), 1, max(1, min(LONGEST, count))))
        self.arrays = {}
        for name, shape in {"t": (), **{name: (rows, width) for name, width in widths.items()}}.items():
            # chunks of zeros are written too, so that one that is missing is known to be
            self.arrays[name] = group.create_array(
                name, shape=(count, *shape), chunks=(self.chunk, *(max(1, n) for n in shape)), dtype="f8",
                config={"write_empty_chunks": True},
            )  # fmt: skip
        self.buffers = {name: np.empty((self.chunk, *array.shape[1:])) for name, array in self.arrays.items()}
        self.count = self.pending = 0
        self.events: list[Any] = []
        self.about = {"format": FORMAT, "method": method, "batch": list(run.batch), "hinge": __version__,
                      "name": robot.name, "digest": robot.model.digest, "fields": list(widths)}  # fmt: skip
        _write_robot(robot, self.path)
        self._mark(0)

    def add(self, t: float, q: Array, qd: Array, tau: Array) -> None:
        for name, value in (("t", t), ("q", q), ("qd", qd), ("tau", tau)):
            if name in self.buffers:
                self.buffers[name][self.pending] = value
        self.pending += 1
        if self.pending == self.chunk:
            self.flush()

    def flush(self) -> None:
        """Write what is pending, then say that it is there."""
        end = self.count + self.pending
        try:
            for name, array in self.arrays.items():
                array[self.count : end] = self.buffers[name][: self.pending]
            self._mark(end)
        except OSError as problem:  # the disk is full, or gone
            raise CannotWrite(f"{self.path}: {problem.strerror or problem}") from problem
        self.count, self.pending = end, 0

    def _mark(self, finished: int) -> None:
        about = self.about | {"finished": finished, "status": self.run.status.tolist(), "info": self.run.info,
                              "events": self.events}  # fmt: skip
        beside = self.path / (MARK + ".part")
        beside.write_text(json.dumps(about))
        os.replace(beside, self.path / MARK)

    def made(self) -> tuple[Array, dict[str, Any]]:
        """What is on disk; what is pending goes there first, if it can."""
        try:
            self.flush()
        except CannotWrite as problem:
            self.run.stopped = self.run.stopped or str(problem)
        names = [name for name in self.arrays if name != "t"]
        states = {name: OnDisk(self.arrays[name], self.count, self.run.batch) for name in names}
        return np.asarray(self.arrays["t"][: self.count]), states


@dataclass(frozen=True)
class OnDisk:
    """The finished part of an array in a file, read when it is asked for."""

    array: Any
    count: int
    batch: tuple[int, ...]

    def at(self, part: Any) -> Array:
        """The states at some of the times, (…, T, n)."""
        if isinstance(part, slice) and (part.step or 1) > 0:
            return rollouts(self._read(slice(*part.indices(self.count))), self.batch)
        rows = np.arange(self.count)[part]
        low, high = (int(rows.min()), int(rows.max()) + 1) if len(rows) else (0, 0)
        return rollouts(self._read(slice(low, high))[rows - low], self.batch)

    def _read(self, part: slice) -> Array:
        try:
            return np.asarray(self.array[part])
        except (OSError, ValueError, RuntimeError) as problem:
            raise TrajectoryError(f"{self.array.path} cannot be read: {problem}.", "It is damaged.") from None

    def check(self, width: int) -> None:
        """Raise where this is not the record of that many numbers a state, or chunks of it are missing."""
        if self.array.shape[-1] != width:
            raise ValueError(f"{self.array.path} has {self.array.shape[-1]} numbers a state, and its robot {width}")
        missing = -(-self.count // self.array.chunks[0]) - self.array.nchunks_initialized
        if missing > 0:
            raise ValueError(f"{self.array.path} lacks {missing} of its chunks")


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Write a trajectory that is in memory: beside the place first, then there at once."""
    target = Path(path)
    beside = target.with_name(f"{target.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    rows = trajectory.status.size
    fields = {name: getattr(trajectory, name) for name in FIELDS if getattr(trajectory, name) is not None}

    class _Done:
        q = np.empty((rows, trajectory.robot.nq))
        batch, info, stopped = trajectory.status.shape, _plain(trajectory.info), ""
        status = trajectory.status.reshape(-1)

    widths = {name: a.shape[-1] for name, a in fields.items()}
    flat = {name: np.moveaxis(a.reshape(rows, len(trajectory), -1), 1, 0) for name, a in fields.items()}
    try:
        writer = Writer(beside, trajectory.robot, _Done, widths, len(trajectory), trajectory.method)  # type: ignore[arg-type]
        for k, t in enumerate(trajectory.t):
            writer.add(t, *(flat[name][k] if name in flat else np.empty(0) for name in FIELDS))
        writer.events = [[e.which, list(e.rollout), e.t, e.q.tolist(), e.qd.tolist()] for e in trajectory.events]
        writer.flush()
        _cleared(target)
        os.replace(beside, target)
    except (OSError, CannotWrite) as problem:
        shutil.rmtree(beside, ignore_errors=True)
        why = problem.__cause__ if isinstance(problem, CannotWrite) else problem
        raise TrajectoryError(f"{target} cannot be written: {getattr(why, 'strerror', None) or why}.") from None


def open_trajectory(path: str | os.PathLike[str], robot: Robot | None = None) -> Trajectory:
    """A trajectory from a file that `simulate` or `save` wrote; of a run that was killed, what was finished.

    The robot is read from the file; give one where that is not the robot you mean.

    >>> hinge.open("run.zarr")  # doctest: +SKIP
    """
    folder = Path(path)
    try:
        about = json.loads((folder / MARK).read_text())
        finished, fields = int(about["finished"]), list(about["fields"])
    except FileNotFoundError:
        raise TrajectoryError(
            f"{folder} holds no trajectory.", f"It has no {MARK}." if folder.is_dir() else "There is no such folder."
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise TrajectoryError(f"{folder} cannot be read: {problem}.", "It is damaged.") from None
    if about.get("format") != FORMAT:
        raise TrajectoryError(f"{folder} has format {about.get('format')!r}, written by hinge "
                         f"{about.get('hinge', '?')}; this is hinge {__version__}, which reads format {FORMAT}.",
                         "Read it with the version that wrote it.")  # fmt: skip
    robot = robot or _read_robot(folder, about)
    zarr = _zarr()
    try:
        group, batch = zarr.open_group(str(folder), mode="r"), tuple(about["batch"])
        t, planned = np.asarray(group["t"][:finished]), group["t"].shape[0]
        states = {name: OnDisk(group[name], finished, batch) for name in fields}
        for name, stored in states.items():
            stored.check(robot.nq if name == "q" else robot.nv)
        status = np.array(about["status"], np.uint8).reshape(batch)
        events = tuple(Event(which, tuple(at), t, np.array(q), np.array(qd)) for which, at, t, q, qd in about["events"])
        info = dict(about["info"]) | {"hinge": about["hinge"]}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise TrajectoryError(f"{folder} cannot be read: {problem}.", "It is damaged.") from None
    if finished < planned:
        info.setdefault("stopped", f"{finished} of {planned} states were finished")
    return Trajectory(robot, t, states, status, about["method"], events, info)


def _cleared(path: Path) -> Path:
    """The place with no trajectory in it; anything else there is left alone."""
    if path.exists():
        if not (path / MARK).is_file():
            raise TrajectoryError(f"{path} exists and is not a trajectory.", "Choose another name, or remove it.")
        shutil.rmtree(path)
    return path


def _write_robot(robot: Robot, folder: Path) -> None:
    from hinge.loading import load
    from hinge.writing import write

    for ending in ("xml", "urdf"):  # MJCF says most, but coupled joints only URDF
        path = folder / f"robot.{ending}"
        try:
            write(robot, path)
            again = load(path)
            if (again.nq, again.nv) == (robot.nq, robot.nv):
                return
        except HingeError:
            pass
        path.unlink(missing_ok=True)
    warnings.warn("the robot itself is not in the file, because no format can say it; give it to hinge.open.",
                  stacklevel=4)  # fmt: skip


def _read_robot(folder: Path, about: dict[str, Any]) -> Robot:
    from hinge.loading import load

    path = next((p for p in (folder / "robot.xml", folder / "robot.urdf") if p.is_file()), None)
    if path is None:
        raise TrajectoryError(f"{folder} does not hold its robot, {about.get('name')!r}.",
                         "Give it: hinge.open(path, robot=…).")  # fmt: skip
    try:
        return load(path)
    except (HingeError, OSError) as problem:
        raise TrajectoryError(f"the robot of {folder} cannot be read: {problem}.",
                              "Give it: hinge.open(path, robot=…).") from None  # fmt: skip


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    return {k: v if isinstance(v, str | int | float | bool | None) else str(v) for k, v in info.items()}
