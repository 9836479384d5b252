"""Where answers are kept: one Zarr group with coordinates and units, which xarray opens.

    sweep.zarr/
      forearm.mass, q0, …       what rollouts were given, a coordinate each
      q_end, qd_end, …, status  what is kept of them
      digest                    a hash of each chunk, written when the chunk is on the disk

A chunk is there if its digest is, 32 bytes that are not all zero, and each of its files has the right size. Any other
is missing, and computed again. Links are not followed inside a store.

All arrays but the labels have the same chunks of rollouts, not compressed: a chunk is its numbers, one after another,
and a CRC-32C of them (a codec of Zarr), so that whoever reads a damaged one is told.
Its files are complete before the first of them is in its place, and one that is computed twice is the same both times,
so neither the order nor the number of those who write matters.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hinge import files
from hinge.arguments import Array
from hinge.calls.call import DEFAULT_TERMS
from hinge.errors import SweepError
from hinge.model.states import labels
from hinge.robot import Robot
from hinge.sim import units
from hinge.sim.trajectory import Trajectory
from hinge.status import Status
from hinge.sweeps.question import Question
from hinge.typing import Statuses, Whole

FORMAT = 2
UNKNOWN = 255  # the status of a rollout that has not been computed
HASH = 32  # bytes
SUM = 4  # bytes of a checksum, which every chunk ends with
AXES = {"q0": "coordinate", "qd0": "velocity", "tau": "velocity"}


def package(name: str) -> Any:
    """A package of the extra `sweep`."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise SweepError(f"sweeps need the package {name}.", 'pip install "hinge[sweep]"') from None


class Store:
    """The answers to a question on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        zarr = package("zarr")
        try:
            group = zarr.open_group(str(path), mode="r+")
            self.question = json.loads(group.attrs["question"])
            self.size, self.total = self.question["chunk"], self.question["rollouts"]
            if group.attrs["format"] != FORMAT:
                raise ValueError(f"its format is {group.attrs['format']}")
            arrays = dict(group.arrays())
            self.digests = arrays["digest"]
        except Exception as problem:  # whatever Zarr makes of another folder
            why = (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")
            raise SweepError(f"{path} holds no sweep: {why}.", "Choose another name, or remove it.") from None
        self.arrays = {name: a for name, a in arrays.items() if a.metadata.dimension_names[0] == "rollout"}
        self.names = set(arrays)
        linked = next((name for name in arrays if (path / name).is_symlink()), None)
        if linked is not None:
            raise SweepError(
                f"{path}: {linked} is a symbolic link, and a sweep writes into its own directory only.",
                "Move the array back into the store, or link to the whole store.",
            )
        self._sizes = {name: SUM + a.dtype.itemsize * math.prod(a.chunks) for name, a in self.arrays.items()}
        self._sizes["digest"] = HASH + SUM

    @property
    def key(self) -> str:
        """A hash of its question."""
        return hashlib.sha256(json.dumps(self.question, sort_keys=True).encode()).hexdigest()

    @property
    def chunks(self) -> int:
        return -(-self.total // self.size)

    def rollouts(self, chunk: int) -> Whole:
        """The numbers of the rollouts of a chunk."""
        return np.arange(chunk * self.size, min((chunk + 1) * self.size, self.total))

    def write(self, chunk: int, answer: Mapping[str, Array]) -> None:
        """Put the answers of a chunk in their places, all at once, and last that they are there."""
        files.replace({self._file(name, chunk): self._padded(name, answer) for name in self.arrays}, follow=False)
        files.replace({self._file("digest", chunk): _with_checksum(_digest(answer))}, follow=False)

    def _file(self, name: str, chunk: int) -> str:
        axes = len(self.digests.shape if name == "digest" else self.arrays[name].shape)
        return os.path.join(self.path, name, ".".join(["c", str(chunk), *["0"] * (axes - 1)]))

    def _padded(self, name: str, answer: Mapping[str, Array]) -> bytes:
        """The bytes of a chunk, which the last one is too short for."""
        array, values = self.arrays[name], answer[name]
        if len(values) < self.size:
            filled = np.full((self.size - len(values), *values.shape[1:]), array.fill_value, array.dtype)
            values = np.concatenate([values, filled])
        return _with_checksum(np.ascontiguousarray(values, array.dtype.newbyteorder("<")).tobytes())

    def read(self, chunk: int) -> dict[str, Array]:
        """The answers of a chunk."""
        part = slice(chunk * self.size, min((chunk + 1) * self.size, self.total))
        return {name: self.values(name, part) for name in self.arrays}

    def values(self, name: str, part: int | slice) -> Any:
        """An array of some rollouts, refused where it is damaged."""
        try:
            return np.asarray(self.arrays[name][part])
        except ValueError:  # of the codec that checks
            first = part if isinstance(part, int) else part.start
            raise _damaged(self._file(name, first // self.size)) from None

    def has(self, chunk: int) -> bool:
        """Whether a chunk is there."""
        return self.digest(chunk) is not None

    def digest(self, chunk: int) -> bytes | None:
        """The digest of a chunk that is there, or None."""
        for name, size in self._sizes.items():
            try:
                found = os.lstat(self._file(name, chunk))
            except OSError:
                return None
            if not stat.S_ISREG(found.st_mode) or found.st_size != size:
                return None
        try:
            said = self._content("digest", chunk)
        except (OSError, SweepError):
            return None
        return said if any(said) else None

    def _content(self, name: str, chunk: int) -> bytes:
        """The bytes of a chunk without their checksum, which has to be theirs."""
        path = self._file(name, chunk)
        content = files.read(path, self._sizes[name])
        if _with_checksum(content[:-SUM]) != content:
            raise _damaged(path)
        return content[:-SUM]

    def failed(self, chunk: int) -> int:
        """How many rollouts of a chunk have a status other than OK."""
        return int(np.count_nonzero(self.statuses(chunk)))

    def statuses(self, chunk: int) -> Statuses:
        """The statuses of a chunk's rollouts, a byte each."""
        return np.frombuffer(self._content("status", chunk), np.uint8)[: len(self.rollouts(chunk))]

    def missing(self) -> list[int]:
        """The chunks that are not there."""
        return [k for k in range(self.chunks) if not self.has(k)]

    def damaged(self) -> list[int]:
        """The chunks that are not what was written; from now on they are missing."""
        written = [k for k in range(self.chunks) if os.path.lexists(self._file("digest", k))]
        wrong = [k for k in written if not self._is_whole(k)]
        for k in wrong:
            os.unlink(self._file("digest", k))
        return wrong

    def _is_whole(self, chunk: int) -> bool:
        """Whether a chunk is what its digest says."""
        said = self.digest(chunk)
        try:
            return said is not None and _digest(self.read(chunk)) == said
        except SweepError:
            return False

    def tidy(self) -> None:
        """Remove what writers that were killed have left."""
        for path in self.path.glob("*/c.*.part"):
            path.unlink(missing_ok=True)

    def hash(self) -> str | None:
        """The hash of all there is to know, where nothing is missing."""
        made = hashlib.sha256()
        for k in range(self.chunks):
            said = self.digest(k)
            if said is None:
                return None
            made.update(said)
        return made.hexdigest()


def kept(path: str | os.PathLike[str], robot: Robot, rollouts: Sequence[int]) -> Trajectory:
    """Rollouts of a store that keeps trajectories, by their numbers, as one trajectory of its robot."""
    store = Store(Path(path))
    if not {"q", "qd"} <= store.arrays.keys():
        have = ", ".join(store.question["keep"])
        raise SweepError(
            f"{path} keeps {have} of its rollouts, and no trajectories.",
            'Sweep with keep=["trajectory"], or view the sweep itself, which runs them once more.',
        )
    for k in rollouts:
        if not 0 <= k < store.total:
            raise SweepError(f"{path} has no rollout {k}.", f"They are numbered from 0 to {store.total - 1}.")
    states = {name: np.stack([store.values(name, k) for k in rollouts]) for name in ("q", "qd")}
    for name, width in (("q", robot.nq), ("qd", robot.nv)):
        if states[name].shape[-1] != width:
            have = f"its {name} has {states[name].shape[-1]} entries, not {width}"
            raise SweepError(f"{path} is of another robot than {robot.name!r}: {have}.", "Give the robot it is of.")
    status = np.stack([store.values("status", k) for k in rollouts])
    t = np.asarray(package("zarr").open_group(str(path), mode="r")["time"][:])
    options = store.question["options"]
    numbers: dict[str, Array] | None = None if store.question["parameters"] else {}
    terms = tuple(options.get("joint_terms", DEFAULT_TERMS))
    return Trajectory(robot, t, states, status, options.get("method", "rk4"), parameters=numbers, joint_terms=terms)


@cache
def opened(path: str, key: str) -> Store:
    """A store that a worker writes to again and again; `key` says of what question."""
    found = Store(Path(path))
    if found.key != key:
        raise SweepError(f"{path} holds another sweep now.", "It was replaced while this one ran.")
    return found


def names(question: Question) -> list[str]:
    """The names of all arrays of a store."""
    labelled = ["time"] if "trajectory" in question.keep else []
    given = [one.name for one in question.numbers if one.varies]
    return [*given, *question.kept(), "status", "digest", "coordinate", "velocity", *labelled]


def created(path: Path, question: Question, said: Mapping[str, Any]) -> None:
    """A store without answers, there at once with all its arrays."""
    beside = Path(files.unused(path, "part"))
    try:
        _laid_out(package("zarr").open_group(str(beside), mode="w-"), question, said)
        os.rename(beside, path)
    except OSError:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _laid_out(group: Any, question: Question, said: Mapping[str, Any]) -> None:
    """Make the arrays of a store, and say what they are."""
    model, total, size = question.robot.model, question.space.total, question.chunk
    checked = [package("zarr").codecs.Crc32cCodec()]

    def make(name: str, dims: Any, shape: Any, chunk: int, kind: Any = "f8", fill: Any = np.nan, **about: Any) -> Any:
        layout = {
            "shape": shape,
            "chunks": (chunk, *shape[1:]),
            "dtype": kind,
            "fill_value": fill,
            "compressors": checked,
        }
        flat = {"name": "default", "separator": "."}  # a chunk is a file beside the others, in no folder of its own
        axes = ("rollout", *dims)[-len(shape) :]
        return group.create_array(name, **layout, chunk_key_encoding=flat, dimension_names=axes, attributes=about)

    for one in question.numbers:
        if one.varies:
            dims = [AXES[one.name]] if one.name in AXES else [f"{one.name}_{k}" for k in range(len(one.shape))]
            make(one.name, dims, (total, *one.shape), size, **{"units": one.units} if one.units else {})
    for name, (of, shape) in question.kept().items():
        unit = units.common(units.units(model, of))
        make(name, ("time", AXES[f"{of}0"])[-len(shape) :], (total, *shape), size, units=unit)
    flags = {"flag_values": [int(one) for one in Status], "flag_meanings": " ".join(one.name for one in Status)}
    make("status", (), (total,), size, "u1", UNKNOWN, **flags)
    make("digest", ("chunk", "byte"), (-(-total // size), HASH), 1, "u1", 0)
    for name, words in zip(("coordinate", "velocity"), labels(model), strict=True):
        make(name, (name,), (len(words),), len(words), str, "")[:] = np.array(words, object)
    if "trajectory" in question.keep:
        times = question.options.get("t0", 0.0) + question.h * np.arange(0, question.steps + 1, question.record)
        make("time", ("time",), times.shape, len(times), units="s")[:] = times
    given = [one.name for one in question.numbers if one.varies]
    about = {"format": FORMAT, "question": json.dumps(said, sort_keys=True)}
    group.attrs.update(about | ({"coordinates": " ".join(given)} if given else {}))


def _with_checksum(content: bytes) -> bytes:
    """Bytes and their CRC-32C, as the codec of Zarr writes them."""
    return bytes(package("numcodecs.checksum32").CRC32C().encode(content))


def _damaged(path: str) -> SweepError:
    return SweepError(
        f"{path} is damaged: its numbers do not have its checksum.",
        "verify() of the sweep finds all such chunks, and resume=True computes them again.",
    )


def _digest(answer: Mapping[str, Array]) -> bytes:
    made = hashlib.sha256()
    for name in sorted(answer):
        made.update(f"{name} {answer[name].shape} ".encode())
        made.update(np.ascontiguousarray(answer[name]).data)
    return made.digest()
