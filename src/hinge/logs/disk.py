"""A file that can be closed properly when the disk is full: a reserve of disk is held while it grows."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hinge.errors import LogError

FULL = (errno.ENOSPC, errno.EDQUOT)


class Store:
    """Where the bytes go: a file beside the log's place, and a reserve of disk."""

    def __init__(self, path: str, reserve: int) -> None:
        self.path, self.full = path, False
        self.beside, self._reserve = f"{path}.part", f"{path}.reserve"
        try:
            _fill(self._reserve, reserve)
        except OSError as fault:
            self.drop()
            raise LogError(f"{path} cannot be written: {fault.strerror or fault}.") from None

    def open(self, name: str = "") -> File:
        """A file of this log; with a name, one of several in a folder."""
        if name:
            os.makedirs(self.beside, exist_ok=True)
        return File(os.path.join(self.beside, name) if name else self.beside, self)

    def hold(self, reserve: int) -> None:
        """Make the reserve larger, where it has to be and there is room."""
        if not self.full and reserve > os.path.getsize(self._reserve):
            try:
                _fill(self._reserve, reserve)
            except OSError:
                self.give_up()

    def give_up(self) -> bool:
        """Free the reserve; whether there was one."""
        if self.full:
            return False
        self.full = True
        _free(self._reserve)
        return True

    def finish(self) -> None:
        if os.path.isfile(self.beside):
            os.replace(self.beside, self.path)
        _free(self._reserve)

    def drop(self) -> None:
        for place in (self._reserve, self.beside):
            if os.path.isdir(place):
                shutil.rmtree(place)
            else:
                Path(place).unlink(missing_ok=True)


def _fill(path: str, size: int) -> None:
    with open(path, "ab", buffering=0) as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.write(bytes(size - file.tell()))


def _free(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


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
    """A file that gives up the reserve where the disk is full, and goes on."""

    def __init__(self, path: str, store: Store) -> None:
        self._store, self._file = store, open(path, "wb", buffering=0)  # noqa: SIM115  closed by close
        self.closed, self._end = False, 0

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        done = 0
        while done < len(view):
            try:
                done += self._file.write(view[done:]) or 0
            except OSError as fault:
                if fault.errno not in FULL or not self._store.give_up():
                    raise
        self._end += done
        return done

    def rewrite(self, content: bytes) -> None:
        """Other bytes at the beginning, which is there already."""
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
