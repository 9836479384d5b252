"""A file that can be closed properly when the disk is full: a reserve of disk is held while it grows."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from hinge import files
from hinge.errors import UnwrittenLog

FULL = (errno.ENOSPC, errno.EDQUOT)


class Store:
    """Where the bytes go: a new folder beside the log's place, and a reserve of disk that ends with the process."""

    def __init__(self, path: str, reserve: int) -> None:
        self.path, self.full = path, False
        self.beside = files.unused(path, "part")
        self.place = os.path.join(self.beside, os.path.basename(path))  # of the log, until it is finished
        self._files: list[File] = []
        self._held = 0
        try:
            os.mkdir(self.beside)
        except OSError as fault:
            raise self._fault(fault) from None
        try:
            self._reserve = tempfile.TemporaryFile(dir=self.beside)  # noqa: SIM115  closed where it is given up
            _fill(self._reserve, reserve)
        except OSError as fault:
            self.drop()
            raise self._fault(fault) from None
        self._held = reserve

    def _fault(self, fault: OSError) -> UnwrittenLog:
        return UnwrittenLog(*files.unwritten(self.path, fault))

    def open(self, name: str = "", spare: bool = False) -> File:
        """A file of this log, or one beside it; a spare one is emptied before the reserve is given up."""
        self._files.append(File(os.path.join(self.beside, name) if name else self.place, self, spare))
        return self._files[-1]

    def hold(self, reserve: int) -> None:
        """Make the reserve larger, where it has to be and there is room."""
        while not self.full and reserve > self._held:
            try:
                _fill(self._reserve, reserve)
                self._held = reserve
            except OSError:
                self.make_room()

    def make_room(self) -> bool:
        """Empty the spare files, or else free the reserve; whether there was either."""
        spare = [file for file in self._files if file.spare]
        for file in spare:
            file.empty()
        return bool(spare) or self.give_up()

    def give_up(self) -> bool:
        """Free the reserve; whether there was one."""
        if self.full:
            return False
        self.full = True
        _free(self._reserve)
        return True

    def finish(self, whole: bool) -> str:
        """Move the log to its path, and say where it is: a part of one stays here where a log is there already."""
        if whole or not os.path.lexists(self.path):
            os.replace(self.place, self.path)
            self.place = self.path
        self.drop(self.place)
        return self.place

    def drop(self, but: str = "") -> None:
        """Remove what was made here, and nothing else."""
        for place in {self.place, *(file.path for file in self._files)} - {but}:
            Path(place).unlink(missing_ok=True)
        if self._held:
            self.give_up()
        with contextlib.suppress(OSError):
            os.rmdir(self.beside)


def _fill(file: IO[bytes], size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.write(bytes(size - file.tell()))
        file.flush()


def _free(file: IO[bytes]) -> None:
    with contextlib.suppress(OSError):
        file.close()


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """Ctrl-C waits until what is being written is whole: a format that is torn in a write cannot be closed."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[Any] = []
    signal.signal(signal.SIGINT, lambda *given: came.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        before(*came[0])


class File:
    """A file that makes room where the disk is full, and goes on; a spare one stays empty from then on."""

    def __init__(self, path: str, store: Store, spare: bool) -> None:
        self.path, self.spare, self._emptied = path, spare, False
        self._store, self._file = store, open(path, "xb", buffering=0)  # noqa: SIM115  closed by close
        self.closed, self._end = False, 0

    def empty(self) -> None:
        """Give its room back."""
        self._file.truncate(0)
        self.spare, self._emptied = False, True

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        done = 0
        while done < len(view) and not self._emptied:
            try:
                done += self._file.write(view[done:]) or 0
            except OSError as fault:
                if fault.errno not in FULL or not self._store.make_room():
                    raise
        self._end += done
        return done

    def rewrite(self, content: bytes) -> None:
        """Other bytes at the beginning, which is there already."""
        if self._emptied:
            return
        self._file.seek(0)
        self._file.write(content)
        self._file.seek(self._end)

    def tell(self) -> int:
        return self._end

    def flush(self) -> None: ...

    def close(self) -> None:
        self.closed = True
        self._file.close()

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False
