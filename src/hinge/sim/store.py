"""Trajectories on disk: a Zarr folder, written chunk by chunk while a simulation runs.

    run.zarr/
      t, q, qd, tau, status    arrays, time first; every chunk appears whole or not at all
      robot.xml or robot.urdf  the robot, where a format can say it
      finished.json            how many states are there, replaced after each chunk; and how they were made

Each chunk ends with a CRC-32C (a codec of Zarr), finished.json with its own SHA-256, and it holds those of the other
files. So a file that was changed is noticed when it is read.

A run that was killed, or whose disk was full, opens as far as finished.json says. A trajectory that is replaced goes
when the new one is complete, and lies in run.zarr.old until then.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from hinge import files
from hinge.arguments import Array
from hinge.errors import CannotWrite, HingeError, TrajectoryError
from hinge.keys import Opaque, digest_of
from hinge.robot import Robot
from hinge.sim.places import MARK, SAID, put_back, real, remove, replaceable, set_aside
from hinge.sim.record import rollouts
from hinge.sim.recording import FIELDS, Event, Recording
from hinge.steps.step import Physics
from hinge.version import __version__

FORMAT = 2
CHUNK = 8 << 20  # bytes of one array in a chunk, at most
LARGEST = 2 << 30  # bytes of a chunk that is read
LONGEST = 10_000  # states in a chunk, at most: what a run that is killed may lose
SAYS: dict[str, type] = {  # what a mark has, and as what
    "finished": int, "fields": list, "batch": list, "status": list, "events": list, "info": dict, "hinge": str,
    "method": str, "parameters": dict, "joint_terms": list, "lengths": list, "digests": dict, "acting": dict,
}  # fmt: skip
ROBOTS = ("robot.xml", "robot.urdf")  # MJCF says most, but coupled joints only URDF


def zarr_package() -> Any:
    try:
        import zarr
    except ImportError:
        raise TrajectoryError("trajectories are kept with the package zarr.", 'pip install "hinge[files]"') from None
    return zarr


class Writer:
    """Has room for a chunk of states while a simulation runs, and writes them when it is full.

    What is `there` is gone on with: its last state is where the run begins, and the first that is written.
    """

    def __init__(self, path: str | os.PathLike[str], run: Any, widths: dict[str, int], count: int,
                 there: Recording | None = None,
                 overwrite: bool = False) -> None:  # fmt: skip
        zarr_package()  # before anything is moved
        self.path, self.run, rows = real(path), run, len(run.q)
        self.base = self.row = self.count = 0  # states of the file before this run; the first in the arrays; and whole
        self.about: dict[str, Any] = {
            "format": FORMAT,
            "hinge": __version__,
            "name": run.robot.name,
            "digest": run.robot.model.digest,
            "method": run.physics.method,
            "joint_terms": list(run.joint_terms),
            "acting": _acting(run.physics),
            "batch": list(run.batch),
            "fields": list(widths),
            "parameters": {name: x.tolist() for name, x in (run.parameters or dict[str, Array]()).items()},
            "parameters_known": run.parameters is not None,
        }
        self.events: list[Event] = []
        self.old: Path | None = None  # what was there, until this is complete
        try:
            if there is not None:
                self.stored = self._gone_on(there, count)
            else:
                self.old = set_aside(self.path, overwrite)
                self._begin(rows, widths, count)
        except OSError as problem:
            raise CannotWrite(*files.unwritten(self.path, problem)) from problem
        self.room = min(self.stored["t"].chunks[0], count)
        self.t = np.empty(self.room)
        self.arrays = {name: np.full((rows, self.room, width), np.nan) for name, width in widths.items()}

    def _begin(self, rows: int, widths: dict[str, int], count: int) -> None:
        """A new file that has no states yet, or else what was there before, if it is an empty folder."""
        empty = self.path.is_dir()
        try:
            self.stored = _created(self.path, rows, widths, count)
            _write_robot(self.run.robot, self.path)
            self.about |= {"lengths": [count], "digests": _digests(self.path, tuple(self.stored))}
            self._mark(0)
        except BaseException:
            _settle()
            put_back(self.old, self.path)
            if empty:
                self.path.mkdir()
            raise

    def _gone_on(self, there: Recording, count: int) -> dict[str, Any]:
        """The arrays of the file that is there, made longer; the run begins at its last state."""
        about = about_file(self.path)
        for name in ("batch", "fields", "method", "joint_terms"):
            if about[name] != self.about[name]:
                raise cannot_go_on(self.path, f"its {name} is {about[name]!r}, not {self.about[name]!r}")
        for name, value in self.about["acting"].items():
            if about["acting"].get(name, value) != value:
                raise cannot_go_on(self.path, f"its run has other {name}")
        if about["parameters"] != self.about["parameters"]:
            raise cannot_go_on(self.path, "its robot has other parameters")
        q, qd = (a.reshape(-1, a.shape[-1]).copy() for a in there.final)
        self.run.q, self.run.qd, self.run.t = q, qd, float(there.t[-1])
        status = there.status.reshape(-1).astype(float)
        self.run.fate[:, 0] = np.where(np.reshape(there.failed, -1), status, -status)
        self.run.fate[:, 1] = np.nan if there.lost is None else there.lost.reshape(-1)
        self.base, self.events = len(there) - 1, list(there.events)
        zarr = zarr_package()
        with zarr.config.set({"array.write_empty_chunks": True}):  # as where they were made
            group = zarr.open_group(str(self.path), mode="r+")
            arrays = {name: group[name] for name in ("t", *about["fields"])}
        self.about |= {"lengths": [arrays["t"].shape[0], self.base + count], "digests": about["digests"]}
        self._mark(about["finished"])  # a run that is killed now leaves arrays of either length
        for array in arrays.values():
            array.resize((self.base + count, *array.shape[1:]))
        return arrays

    def fill(self, t: Array) -> None:
        at = self.count - self.row
        self.t[at : at + len(t)] = t
        self.count += len(t)
        if self.count - self.row == self.room:
            self.flush()

    def flush(self) -> None:
        """Write the states that are whole, then say that they are there."""
        n, at = self.count - self.row, self.base + self.row
        try:
            self.stored["t"][at : at + n] = self.t[:n]
            for name, array in self.arrays.items():
                self.stored[name][at : at + n] = np.moveaxis(array[:, :n], 1, 0)
            self._mark(at + n)
        except OSError as problem:  # the disk is full, or gone
            raise CannotWrite(f"{self.path}: {problem.strerror or problem}") from problem
        self.row = self.count

    def _mark(self, finished: int) -> None:
        lost = [None if np.isnan(t) else t for t in self.run.fate[:, 1].tolist()]
        events = [[e.which, list(e.rollout), e.t, e.q.tolist(), e.qd.tolist()] for e in self.events]
        about = self.about | {"finished": finished, "status": self.run.status.tolist(), "lost": lost,
                              "info": self.run.info, "events": events, "method": self.run.physics.method}  # fmt: skip
        files.replace({os.path.join(self.path, MARK): sealed(about)}, sync=False)

    def made(self) -> tuple[Array, dict[str, Any]]:
        """What is on disk; what is pending goes there first, if it can."""
        try:
            self.flush()
        except CannotWrite as problem:
            self.run.stopped = self.run.stopped or str(problem)
        if self.old is not None and self.run.stopped:
            self.run.info["replaced"] = str(self.old)
        elif self.old is not None:
            remove(self.old)
        count = self.base + self.row
        states = {name: OnDisk(self.path, self.stored[name], count, self.run.batch) for name in self.arrays}
        return np.asarray(self.stored["t"][:count]), states


def _acting(physics: Any) -> dict[str, Any]:
    """Return what acts in a run besides its robot, method and joint terms; nothing for a trajectory that is saved."""
    if not isinstance(physics, Physics):
        return {}
    limits = "stop" if physics.stops else "ignore" if physics.springs is None else "spring"
    try:
        contacts = digest_of(physics.touch) if physics.touch.active else ""
    except Opaque:
        contacts = "of the user"
    return {"effort limits": physics.effort, "position limits": limits, "loops": physics.loops, "contacts": contacts,
            "constraints": physics.constraint is not None, "physics of the file": physics.integrator}  # fmt: skip


def _created(path: Path, rows: int, widths: dict[str, int], count: int) -> dict[str, Any]:
    """The arrays of a new file."""
    zarr = zarr_package()
    group = zarr.open_group(str(path), mode="w-")
    widest = max([1, *widths.values()])
    chunk = int(np.clip(CHUNK // (8 * rows * widest), 1, max(1, min(LONGEST, count))))
    # chunks of zeros are written too, so that one that is missing is known to be
    return {
        name: group.create_array(name, shape=(count, *shape), chunks=(chunk, *(max(1, n) for n in shape)), dtype="f8",
                                 compressors=[zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()],
                                 config={"write_empty_chunks": True})
        for name, shape in {"t": (), **{name: (rows, width) for name, width in widths.items()}}.items()
    }  # fmt: skip


def _settle() -> None:
    """Wait for what is being written: Zarr writes several files at once, and raises when the first of them fails."""
    from zarr.core.sync import sync

    async def settled() -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    sync(settled())


@dataclass(frozen=True)
class OnDisk:
    """The finished part of an array in a file, read when it is asked for."""

    folder: Path
    array: Any
    count: int
    batch: tuple[int, ...]

    def at(self, part: Any) -> Array:
        """The states at some of the times, (…, T, n)."""
        if isinstance(part, slice) and (part.step or 1) > 0:
            return rollouts(self.read(slice(*part.indices(self.count))), self.batch)
        rows = np.arange(self.count)[part]
        low, high = (int(rows.min()), int(rows.max()) + 1) if len(rows) else (0, 0)
        return rollouts(self.read(slice(low, high))[rows - low], self.batch)

    def read(self, part: slice) -> Array:
        """Read some states; a chunk that is missing or damaged is refused by the name of its file."""
        chunks = range(part.start // self.array.chunks[0], -(-part.stop // self.array.chunks[0]))
        lost = next((file for file in map(self._file, chunks) if not file.is_file()), None)
        if lost is not None and self.array.size:  # Zarr would read zeros
            raise damaged(str(lost), FileNotFoundError("there is no such file"))
        try:
            return np.asarray(self.array[part])
        except Exception as problem:  # whatever Zarr and its codecs make of a damaged chunk
            raise damaged(str(self._firstdamaged(chunks)), problem) from None

    def _file(self, chunk: int) -> Path:
        return self.folder.joinpath(self.array.path, "c", str(chunk), *["0"] * (self.array.ndim - 1))

    def _firstdamaged(self, chunks: Iterable[int]) -> Path:
        """Return the file of the first chunk that cannot be read, or the folder of the array."""
        for chunk in chunks:
            try:
                self.array.blocks[chunk]
            except Exception:
                return self._file(chunk)
        return self.folder / self.array.path

    def check(self, names: set[str], *shape: int) -> OnDisk:
        """Itself, the record of such states; raises where it is none, or chunks of it are not among the files."""
        array, name = self.array, self.array.path
        if len(array.shape) == 3 and len(shape) == 2 and array.shape[-1] != shape[-1]:
            raise ValueError(f"{name} has {array.shape[-1]} numbers a state, and its robot {shape[-1]}")
        whole = array.shape[1:] == shape and array.chunks[1:] == tuple(max(1, n) for n in shape)
        if not whole or array.dtype != np.float64 or self.count > array.shape[0] or 8 * prod(array.chunks) > LARGEST:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape} in chunks of {array.chunks}, which is no "
                             "record of this run")  # fmt: skip
        count = -(-self.count // array.chunks[0])
        chunks = [f"{name}/c/{k}{'/0' * len(shape)}" for k in range(min(count, len(names) + 1))]
        missing = count - sum(chunk in names for chunk in chunks)
        if missing > 0:
            first = next(chunk for chunk in chunks if chunk not in names)
            raise ValueError(f"{name} lacks {missing} of its chunks, the first is {first}")
        return self


def save(trajectory: Recording, path: str | os.PathLike[str]) -> None:
    """Write a trajectory that is in memory: beside the place first, then there at once."""
    target = real(path)
    replaceable(target, True)
    beside = Path(files.unused(target, "part"))
    rows = trajectory.status.size
    fields: dict[str, Array] = {name: getattr(trajectory, name) for name in FIELDS if name in trajectory.states}

    class _Done:
        robot, batch, info, stopped = trajectory.robot, trajectory.status.shape, _plain(trajectory.info), ""
        parameters, joint_terms = trajectory.parameters, trajectory.joint_terms
        q, physics, status = np.empty((rows, 0)), trajectory, trajectory.status.reshape(-1)
        fate = np.full((rows, 3), np.nan) if trajectory.lost is None else trajectory.lost.reshape(-1, 1)[:, [0, 0, 0]]

    widths = {name: a.shape[-1] for name, a in fields.items()}
    flat = {name: a.reshape(rows, len(trajectory), -1) for name, a in fields.items()}
    try:
        writer = Writer(beside, _Done, widths, len(trajectory))
        for k in range(0, len(trajectory), writer.room):
            part = slice(k, k + writer.room)
            for name, array in flat.items():
                writer.arrays[name][:, : len(trajectory.t[part])] = array[:, part]
            writer.fill(trajectory.t[part])
        writer.events = list(trajectory.events)
        writer.flush()
        old = set_aside(target, True)
        try:
            os.rename(beside, target)
        except OSError:
            put_back(old, target)
            raise
    except (OSError, CannotWrite) as problem:
        remove(beside)
        why = problem if isinstance(problem, OSError) else problem.__cause__
        assert isinstance(why, OSError)
        raise CannotWrite(*files.unwritten(target, why)) from None
    if old is not None:
        remove(old)


def cannot_go_on(path: Any, why: str) -> TrajectoryError:
    return TrajectoryError(f"{path} cannot be gone on with: {why}.", "Write to another file.")


def about_file(folder: Path) -> dict[str, Any]:
    """What a file says of itself."""
    try:
        content = files.read(folder / MARK, SAID)
        about = json.loads(content)
        if not isinstance(about, dict):
            raise ValueError(f"{MARK} is no table")
        body = content[: -len(_seal(b""))]
        if about.get("format", FORMAT) == FORMAT and content != body + _seal(body):
            raise ValueError("it is not what was written")
        for name, kind in SAYS.items() if about.get("format", FORMAT) == FORMAT else ():
            if name not in about or not isinstance(about[name], kind) or isinstance(about[name], bool):
                raise ValueError(f"{MARK} has no {name}, or not as it is written")
        counts = [about.get("finished", 0), *about.get("batch", ())]
        if not all(isinstance(n, int) and n >= 0 for n in counts):
            raise ValueError(f"{MARK} has {counts} states and rollouts")
    except FileNotFoundError:
        raise TrajectoryError(
            f"{folder} holds no trajectory.", f"It has no {MARK}." if folder.is_dir() else "There is no such folder."
        ) from None
    except (OSError, ValueError, RecursionError) as problem:
        raise damaged(str(folder / MARK), problem) from None
    if about.get("format") != FORMAT:
        raise TrajectoryError(f"{folder} has format {about.get('format')!r}, written by hinge "
                         f"{about.get('hinge', '?')}; this is hinge {__version__}, which reads format {FORMAT}.",
                         "Read it with the version that wrote it.")  # fmt: skip
    return about


def sealed(about: dict[str, Any]) -> bytes:
    """Return the content of a mark, which ends with its own digest."""
    body = json.dumps(about).encode()[:-1]
    return body + _seal(body)


def _seal(body: bytes) -> bytes:
    return b', "sha256": "' + hashlib.sha256(body).hexdigest().encode() + b'"}'


def _digests(folder: Path, arrays: Sequence[str]) -> dict[str, str]:
    """Return the digests of all files that are neither chunks nor the mark, by name."""
    names = ["zarr.json", *(f"{name}/zarr.json" for name in arrays), *ROBOTS]
    return {name: _digest(folder / name) for name in names if (folder / name).is_file()}


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file; of an array without its number of states, which grows."""
    content = files.read(path, SAID)
    if path.name == "zarr.json":
        layout = json.loads(content)
        content = json.dumps(layout | {"shape": layout.get("shape", [])[1:]}).encode()
    return hashlib.sha256(content).hexdigest()


def refuse_changed(folder: Path, name: str, about: dict[str, Any]) -> None:
    """Raise where a file is not the one that was written."""
    try:
        same = _digest(folder / name) == about["digests"].get(name)
    except (ValueError, TypeError, AttributeError):  # it is no description of an array
        same = False
    if not same:
        raise ValueError(f"{name} is not what was written")


def damaged(place: str, problem: Exception) -> TrajectoryError:
    why = (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")
    return TrajectoryError(f"{place} cannot be read: {why}.", "It is damaged.")


def _write_robot(robot: Robot, folder: Path) -> None:
    from hinge.robot.loading import load
    from hinge.robot.writing import write

    for path in (folder / name for name in ROBOTS):
        try:
            write(robot, path)
            again = load(path)
            if (again.nq, again.nv) == (robot.nq, robot.nv):
                return
        except HingeError as problem:
            if getattr(problem, "code", "") == "not-writable" and problem.__context__:  # which no format mends
                raise problem.__context__ from None
        path.unlink(missing_ok=True)
    warnings.warn("the robot itself is not in the file, because no format can say it; give it to hinge.open.",
                  stacklevel=4)  # fmt: skip


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    return {k: v if isinstance(v, str | int | float | bool | None) else str(v) for k, v in info.items()}
