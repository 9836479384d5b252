"""Files as others may have left them: regular ones only are opened, their size is looked at first, and no more is read.

A pipe would wait for a writer that never comes, a device has no end, and a large file fills the memory before its
reader can refuse it. All that is read from disk goes through here; what is wrong is an OSError. What is written is
there whole, or what was there before.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePath
from typing import BinaryIO

from hinge.errors import did_you_mean

Path = str | os.PathLike[str]
KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe"),
    (stat.S_ISSOCK, "it is a socket"),
    (stat.S_ISCHR, "it is a device"),
    (stat.S_ISBLK, "it is a device"),
)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class TooLarge(OSError):
    """A file of more bytes than are read."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(errno.EFBIG, f"it has {size} bytes, at most {most} are read")


def regular(path: Path, most: int | None = None) -> int:
    """The size of a regular file, of no more than `most` bytes; nothing is opened."""
    return _size(os.stat(path), most)


def opened(path: Path, most: int | None = None) -> BinaryIO:
    """A regular file of no more than `most` bytes, open for reading."""
    regular(path, most)
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115  the caller's to close
    try:
        _size(os.fstat(file.fileno()), most)
    except BaseException:
        file.close()
        raise
    return file


def _without_waiting(path: str, flags: int) -> int:
    """As os.open, also of what has become a pipe since it was looked at."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read(path: Path, most: int) -> bytes:
    """The content of a regular file of no more than `most` bytes.

    >>> import os
    >>> hinge.files.read(os.devnull, 100)
    Traceback (most recent call last):
    ...
    OSError: [Errno 22] it is a device
    """
    with opened(path, most) as file:
        said = os.fstat(file.fileno()).st_size
        content = file.read(said + 1)
    if len(content) > said:
        raise OSError(errno.EINVAL, "it is longer than it says")
    return content


def unused(path: Path, ending: str) -> str:
    """A name beside a path that nothing has: `run.csv.part`, or else `run.csv.2.part`, and so on."""
    start = os.path.normpath(os.fspath(path))
    names = itertools.chain([f"{start}.{ending}"], (f"{start}.{k}.{ending}" for k in itertools.count(2)))
    return next(name for name in names if not os.path.lexists(name))


def below(path: Path, folder: Path) -> str | None:
    """The name of a file from a folder on, with slashes; None where it does not lie below it, on another drive say.

    >>> hinge.files.below("robots/panda/hand.stl", "robots")
    'panda/hand.stl'
    """
    inside = PurePath(os.path.normpath(path))
    return inside.relative_to(folder).as_posix() if inside.is_relative_to(folder) else None


def replace(contents: Mapping[str, bytes], sync: bool = True, follow: bool = True) -> None:
    """Files with other contents, each all at once: all are beside their places before the first is renamed.

    What a link leads to is replaced, and the link stays; without `follow` the link itself is replaced. With `sync` the
    files are on the disk, under their names, when this returns.
    """
    beside = {}
    try:
        for path, content in contents.items():
            target = os.path.realpath(path) if follow else path
            beside[target] = f"{target}.{os.urandom(4).hex()}.part"
            with open(beside[target], "xb") as file:
                file.write(content)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                os.chmod(beside[target], stat.S_IMODE(os.stat(target, follow_symlinks=follow).st_mode))
        for target, name in beside.items():
            os.replace(name, target)
        if sync:
            for folder in {os.path.dirname(target) or "." for target in beside}:
                _sync_directory(folder)
    except BaseException:
        for name in beside.values():
            with contextlib.suppress(OSError):
                os.unlink(name)
        raise


def _sync_directory(path: str) -> None:
    """Write the names in a directory to the disk, where the system can."""
    with contextlib.suppress(OSError):  # Windows opens no directory
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def unwritten(path: Path, problem: OSError) -> tuple[str, str]:
    """What is said of a place that cannot be written, and what to do."""
    full = problem.errno in FULL
    return (
        f"{os.fspath(path)} cannot be written: {problem.strerror or problem}.",
        "Make room there, or choose another place." if full else "Choose another place, or see who may write there.",
    )


def nearby(path: Path, suffixes: Collection[str]) -> str:
    """A sentence on files with such suffixes that are where a missing one was looked for.

    >>> hinge.files.nearby("nowhere/panda.urdf", [".urdf"])
    'There is no folder nowhere.'
    """
    folder, name = os.path.split(os.fspath(path))
    try:
        near = sorted(file for file in os.listdir(folder or ".") if os.path.splitext(file)[1].lower() in suffixes)
    except OSError:
        return "Check the path." if os.path.isdir(folder) else f"There is no folder {folder}."
    said = did_you_mean(name, near)
    if said.startswith("Did"):
        return said
    there = ", ".join(near[:8]) + (", …" if len(near) > 8 else "")
    return f"Check the path; beside it there is {there}." if near else "Check the path."


def same(a: Path, b: Path) -> bool:
    """Whether two paths lead to one file, by whatever links."""
    return os.path.realpath(a) == os.path.realpath(b) or (
        os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)
    )


def _size(found: os.stat_result, most: int | None) -> int:
    if not stat.S_ISREG(found.st_mode):
        what = next((what for test, what in KINDS if test(found.st_mode)), "it is no file")
        raise OSError(errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL, what)
    if most is not None and found.st_size > most:
        raise TooLarge(found.st_size, most)
    return found.st_size
