"""Logs that are read, a chunk of rows at a time: CSV and Parquet by pyarrow, NPZ by its members side by side."""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import prod
from typing import Any, Protocol

import numpy as np

from hinge import files
from hinge.arguments import Array
from hinge.errors import HingeError, LogError

Chunk = tuple[dict[str, Array], float]  # columns, and how much of the log has been read
BLOCK = 512 << 10  # bytes of a CSV file that are parsed at once; some thirty blocks are read ahead
HEADER = 1 << 20  # bytes that the names of columns take at most
SUFFIXES = (".csv", ".parquet", ".npz")


class Log(Protocol):
    """A table on disk, of no more than so many rows. `wide` says how many columns an array of an NPZ file has."""

    path: str
    columns: list[str]
    wide: dict[str, int]
    rows: int

    def chunks(self, columns: Sequence[str], rows: int) -> Iterator[Chunk]: ...


def open_log(path: str | os.PathLike[str]) -> Log:
    """The log at a path, by its suffix."""
    name = os.fspath(path)
    kinds: dict[str, Callable[[str], Log]] = {".csv": Csv, ".parquet": Parquet, ".npz": Npz}
    kind = kinds[suffix_of(name)]
    try:
        files.regular(name)  # of any size: it is read a chunk at a time
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise LogError(f"{name} cannot be read: {why}.", files.nearby(name, SUFFIXES)) from None
    with _reading(name):
        return kind(name)


def chunks_of(log: Log, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
    """Yield the rows of a log, so many at a time; raise where it has none."""
    count = 0
    for chunk in log.chunks(columns, rows):
        count += len(chunk[0][columns[0]])
        yield chunk
    if not count:
        raise LogError(f"{log.path} has no rows.", "A log has a row for each time.")


def suffix_of(path: str) -> str:
    """The suffix of a log, which has to be one that is known."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise LogError(f"{path} has the suffix {suffix!r}.", f"A log is one of {', '.join(SUFFIXES)}.")
    return suffix


def target_suffix(path: str) -> str:
    """The suffix of a log that is to be written; refused where there is no folder for it."""
    suffix, folder = suffix_of(path), os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise LogError(f"{path} cannot be written: there is no folder {folder}.", "Make it first.")
    return suffix


def pyarrow_or_say(path: str) -> Any:
    """The package pyarrow, without which CSV and Parquet are not read or written."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise LogError(
            f"{path}: CSV and Parquet files need the package pyarrow.", 'pip install "hinge[files]"'
        ) from None
    return pyarrow


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """A block that reads a log: what NumPy, zipfile and Arrow raise of a damaged one becomes an error that says so."""
    try:
        yield
    except HingeError:
        raise
    except Exception as problem:  # of a dozen kinds, from missing keys to unknown codecs
        why = (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")
        raise LogError(f"{path} cannot be read: {why}.", "It may be damaged: write it again.") from None


class _Arrow:
    """What CSV and Parquet have in common."""

    path: str
    wide: dict[str, int]
    rows: int
    _arrow: Any

    def __init__(self, path: str, names: Sequence[str]) -> None:
        self.path, self.wide = path, {}
        self._written = {name.strip(): name for name in names}
        self.columns = list(self._written)
        twice = next((name for name, n in Counter(name.strip() for name in names).items() if n > 1), None)
        if twice is not None:
            raise LogError(f"{path} has two columns {twice!r}.", "Rename one.")

    def _numbers(self, batch: Any, columns: Sequence[str]) -> dict[str, Array]:
        made = {}
        for name in columns:
            values = batch.column(self._written[name])
            try:
                made[name] = values.cast("float64").to_numpy(zero_copy_only=False)
            except self._arrow.ArrowException:
                raise LogError(f"{self.path}: column {name!r} holds {values.type}, not numbers.",
                               "Write numbers; times in seconds.") from None  # fmt: skip
        return made


class Csv(_Arrow):
    def __init__(self, path: str) -> None:
        self._arrow = pyarrow_or_say(path)
        with open(path, "rb") as file:
            head = file.readline(HEADER)  # before rows are parsed: commas in their numbers would be columns
        other = next((mark for mark in ";\t" if mark.encode() in head and b"," not in head), None)
        if other is not None:
            raise LogError(f"{path} has {other!r} between its columns.", "Write commas, and points in numbers.")
        with self._arrow.csv.open_csv(path) as reader:
            super().__init__(path, reader.schema.names)
        self.rows = os.path.getsize(path) // (2 * len(self.columns))  # a digit and a comma each

    def chunks(self, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
        csv, written = self._arrow.csv, [self._written[name] for name in columns]
        convert = csv.ConvertOptions(include_columns=written, column_types=dict.fromkeys(written, "float64"))
        read, size = csv.ReadOptions(block_size=BLOCK, use_threads=False), os.path.getsize(self.path)
        with (
            _reading(self.path),
            self._arrow.OSFile(self.path) as file,
            csv.open_csv(file, read, convert_options=convert) as reader,
        ):
            for batch in reader:
                yield self._numbers(batch, columns), file.tell() / size


class Parquet(_Arrow):
    def __init__(self, path: str) -> None:
        self._arrow = pyarrow_or_say(path)
        with self._open(path) as file:
            self.rows = file.metadata.num_rows
            super().__init__(path, file.schema_arrow.names)

    def _open(self, path: str) -> Any:
        return self._arrow.parquet.ParquetFile(
            path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True
        )

    def chunks(self, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
        done = 0
        with _reading(self.path), self._open(self.path) as file:
            written = [self._written[name] for name in columns]
            for batch in file.iter_batches(rows, columns=written, use_threads=False):
                done += len(batch)
                yield self._numbers(batch, columns), done / self.rows


class Npz:
    """Arrays (rows,), a column each, or (rows, n); read from their members of the archive at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.columns, self.wide = [], {}
        lengths = {}
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name == member.filename:
                    continue
                with archive.open(member) as file:
                    shape, fortran, number = _header(file)
                if min(shape, default=0) < 0 or prod(shape) * number.itemsize > member.file_size:
                    raise LogError(f"{path}: array {name!r} ends early.", "It is damaged.")
                if not shape or number.kind not in "fiub" or len(shape) > 2:
                    continue
                if len(shape) == 2 and fortran and min(shape) > 1:
                    raise LogError(f"{path}: {name!r} is stored column by column.", "Save np.ascontiguousarray of it.")
                lengths[name] = shape[0]
                if len(shape) == 2:
                    self.wide[name] = shape[1]
                self.columns.append(name)
        if not lengths:
            raise LogError(f"{path} has no array of numbers.", "Save one with np.savez(path, q=…, qd=…).")
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {n}" for name, n in lengths.items())
            raise LogError(f"{path} has arrays of different lengths: {shown}.", "A log has a row a state.")
        self.rows: int = next(iter(lengths.values()))

    def chunks(self, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
        with _reading(self.path):
            yield from self._chunks(columns, rows)

    def _chunks(self, columns: Sequence[str], rows: int) -> Iterator[Chunk]:
        total = self.rows
        with zipfile.ZipFile(self.path) as archive, ExitStack() as stack:
            files = {name: stack.enter_context(archive.open(f"{name}.npy")) for name in columns}
            headers = {name: _header(file) for name, file in files.items()}
            for start in range(0, total, rows):
                count = min(rows, total - start)
                made = {}
                for name, (shape, _, number) in headers.items():
                    size = count * int(np.prod(shape[1:])) * number.itemsize
                    content = files[name].read(size)
                    if len(content) < size:
                        raise LogError(f"{self.path}: array {name!r} ends early.", "It is damaged.")
                    made[name] = np.frombuffer(content, number).reshape(count, *shape[1:]).astype(float)
                yield made, (start + count) / total


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)
