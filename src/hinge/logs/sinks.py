"""Logs that are written, a chunk of rows at a time, and can be read whatever happens.

A log grows in a new folder beside its place, `NAME.part`, and is moved when it is closed. Closing it takes space too,
so a reserve of more than a chunk is held from the beginning: when the disk is full the reserve is given up, the chunk
is finished, the file is closed and can be read, and then the fault is raised. The same after Ctrl-C, or when a row
cannot be read. Where a log is there already, a part of another does not replace it and stays in the folder. What a
killed process leaves there can be read too: text, or arrays.
"""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hinge import files
from hinge.errors import LogError, UnwrittenLog
from hinge.logs.columns import columns
from hinge.logs.disk import Store, unbroken
from hinge.logs.tables import Array, pyarrow_or_say, target_suffix
from hinge.sim.trajectory import FIELDS, Trajectory

WORD = 26  # bytes a number may take as text
FOOT = 512  # bytes that the end of a Parquet file has on a column of a chunk
HEADER = 128  # bytes before the numbers of an .npy file
Names = Mapping[str, list[str] | None]


class Full(Exception):
    """The disk is full; the reserve has been given up."""


class _Kind(Protocol):
    """A format: takes chunks, and closes what it has."""

    def add(self, chunk: Mapping[str, Array]) -> None: ...

    def close(self) -> None: ...


class Sink:
    """A log that takes rows: `names` has the columns of each array, None for an array that is one column.

    Rows are gathered until there are `rows` of them and then written. A context: leaving it closes the file.
    """

    def __init__(self, path: str | os.PathLike[str], names: Names, rows: int) -> None:
        self.path, self.rows = os.fspath(path), 0
        self._size, self._width = rows, sum(len(columns or [""]) for columns in names.values())
        self._gathered: list[Mapping[str, Array]] = []
        kinds: dict[str, Callable[[Store, Names], _Kind]] = {".csv": _Csv, ".parquet": _Parquet, ".npz": _Npz}
        kind = kinds[target_suffix(self.path)]
        self._store = Store(self.path, self._needed())
        try:
            self._made = kind(self._store, names)
        except BaseException as problem:
            self._store.drop()
            if isinstance(problem, OSError):
                raise UnwrittenLog(*files.unwritten(self.path, problem)) from None
            raise

    def _needed(self) -> int:
        """Bytes to write a chunk and close the file, whose end has a word on every column of every chunk so far."""
        return 2 * self._width * (self._size * WORD + (1 + self.rows // self._size) * FOOT)

    def __enter__(self) -> Sink:
        return self

    def add(self, chunk: Mapping[str, Array]) -> None:
        """Take rows: arrays whose first axes are as long."""
        with unbroken():
            self._gathered.append(chunk)
            self.rows += _length(chunk)
            if sum(map(_length, self._gathered)) >= self._size:
                self._store.hold(self._needed())
                self._write()

    def _write(self) -> None:
        parts, self._gathered = self._gathered, []
        if parts:
            self._made.add({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        if self._store.full:
            raise Full

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> None:
        if not self.rows and problem is not None:
            self._store.drop()
            return
        with unbroken():
            try:
                if not isinstance(problem, Full | OSError):
                    self._write()
            except (Full, OSError) as fault:
                problem = fault
            place = self._closed(problem)
        kept = f"The first {self.rows:,} rows are in {place}."
        if isinstance(problem, Full):
            raise UnwrittenLog(f"{self.path} cannot be written: {os.strerror(errno.ENOSPC)}.", kept) from None
        if isinstance(problem, LogError):
            raise LogError(str(problem), kept) from None
        if isinstance(problem, KeyboardInterrupt):
            problem.args = (kept,)

    def _closed(self, problem: BaseException | None) -> str:
        """Where the log is, or what there is of it after a problem."""
        try:
            self._made.close()
            if isinstance(problem, OSError):  # in the middle of a chunk
                raise problem
            return self._store.finish(whole=problem is None)
        except OSError as fault:
            self._store.give_up()
            what, hint = files.unwritten(self.path, problem if isinstance(problem, OSError) else fault)
            raise UnwrittenLog(what, f"What there is of it is in {self._store.beside}. {hint}") from None


def _length(chunk: Mapping[str, Array]) -> int:
    return len(next(iter(chunk.values())))


class _Columns:
    """CSV and Parquet: arrays taken apart into columns."""

    def __init__(self, store: Store, names: Names) -> None:
        self.names, self.file, self.arrow = names, store.open(), pyarrow_or_say(store.path)
        flat = [name for key, columns in names.items() for name in ([key] if columns is None else columns)]
        self.schema = self.arrow.schema([(name, self.arrow.float64()) for name in flat])
        self.sink = self.arrow.PythonFile(self.file, mode="w")
        self.writer = self.writer_on()

    def writer_on(self) -> Any:
        raise NotImplementedError

    def add(self, chunk: Mapping[str, Array]) -> None:
        parts = [np.asarray(chunk[name], float).reshape(len(chunk[name]), -1) for name in self.names]
        table = [self.arrow.array(np.ascontiguousarray(column)) for part in parts for column in part.T]
        self.writer.write(self.arrow.record_batch(table, schema=self.schema))

    def close(self) -> None:
        self.writer.close()
        self.sink.close()


class _Csv(_Columns):
    def writer_on(self) -> Any:
        return self.arrow.csv.CSVWriter(self.sink, self.schema)


class _Parquet(_Columns):
    """What a Parquet file holds is known by its end alone: until it is closed, its rows are in arrays beside it too."""

    def __init__(self, store: Store, names: Names) -> None:
        super().__init__(store, names)
        self.arrays = _Arrays(store, names, spare=True)

    def add(self, chunk: Mapping[str, Array]) -> None:
        self.arrays.add(chunk)
        super().add(chunk)

    def close(self) -> None:
        super().close()
        self.arrays.close()

    def writer_on(self) -> Any:
        return self.arrow.parquet.ParquetWriter(self.sink, self.schema, use_dictionary=False, write_page_checksum=True)


class _Arrays:
    """Arrays that grow in files of their own, `NAME.npy`, which can be read at any time.

    A header counts only the rows that are in the file: it is rewritten after them.
    """

    def __init__(self, store: Store, names: Names, spare: bool = False) -> None:
        self.store, self.files = store, {name: store.open(f"{name}.npy", spare) for name in names}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for file in self.files.values():
            file.write(_npy_header((0,)))
        self.rows = 0

    def add(self, chunk: Mapping[str, Array]) -> None:
        for name, file in self.files.items():
            values = np.ascontiguousarray(chunk[name], float)
            self.shapes[name] = values.shape[1:]
            file.write(values)
        self.rows += len(values)
        for name, file in self.files.items():
            file.rewrite(_npy_header((self.rows, *self.shapes[name])))

    def close(self) -> None:
        for name, file in self.files.items():
            if not self.rows:
                file.rewrite(_npy_header((0, *self.shapes.get(name, ()))))
            file.close()


class _Npz(_Arrays):
    """An array a member, put into the archive at the end."""

    def close(self) -> None:
        super().close()
        self.store.give_up()
        try:
            with zipfile.ZipFile(self.store.place, "x") as made:
                for name, file in self.files.items():
                    made.write(file.path, f"{name}.npy")
        except OSError:
            Path(self.store.place).unlink(missing_ok=True)
            raise


def _npy_header(shape: tuple[int, ...]) -> bytes:
    """The beginning of an .npy file of float64, always as long."""
    said = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape!r}, }}"
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + said.ljust(HEADER - 11).encode() + b"\n"


def write(trajectory: Trajectory, path: str | os.PathLike[str], rows: int = 4096) -> None:
    """A trajectory as a log: t, q, qd and tau, one rollout after the other, numbered where there are several.

    >>> import os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> hinge.logs.write(hinge.simulate(hinge.samples.pendulum(1), t=0.01), place)
    >>> sorted(np.load(place))
    ['q', 'qd', 't', 'tau']
    """
    recorded = {name: getattr(trajectory, name) for name in FIELDS if name in trajectory.states}
    many = trajectory.status.ndim > 0
    names: dict[str, list[str] | None] = {"t": None, **({"rollout": None} if many else {})}
    names |= {name: columns(trajectory.robot, name) for name in recorded}
    flat = {name: a.reshape(trajectory.status.size, len(trajectory), -1) for name, a in recorded.items()}
    with Sink(path, names, rows) as sink:
        for k in range(trajectory.status.size):
            for start in range(0, len(trajectory), rows):
                part = slice(start, start + rows)
                t = trajectory.t[part]
                number = {"rollout": np.full(len(t), float(k))} if many else {}
                sink.add({"t": t} | number | {name: a[k, part] for name, a in flat.items()})
