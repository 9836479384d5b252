"""Compiled programs on disk, so that the second process starts at once.

One file an entry, named by a key that says everything the code depends on: the robot, the algorithm and its options,
hinge's own sources, and what the back end says of itself, such as the processor and the version of LLVM. An entry is
written under another name and then renamed; its checksum is checked before it is used. What is broken, or no regular
file, is made anew, never trusted; a cache that cannot be written only warns. When the cache
outgrows its limit, the least recently used entries are removed. Listing the folder takes longer than writing an entry,
so only a few writes check the limit; the name of an entry decides which.

Entries are machine code, and a checksum is no signature: whoever can write one runs as whoever reads it. So a folder
that is not this user's alone (`ownership`) is not used, and no entry that is not either.

A kernel is found in two steps: the digest of the source that a program is traced from leads to the digest of the
program, in an entry of the kind "shared", and that leads to its code.

HINGE_CACHE_DIR sets the directory; an empty value switches the cache off. With HINGE_CACHE=verify every program that is
found is traced once more and compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from functools import cache as once
from pathlib import Path

from hinge import files
from hinge.backends import ownership
from hinge.errors import UnknownName

LIMIT = 1 << 30  # bytes
SLACK = 1 << 24  # bytes written, on average, between two checks of the limit
LABEL = 4096  # bytes of what an entry says it is for, of which a letter takes up to twelve
MAGIC = b"hinge kernel 3\n"
ELSEWHERE = "\n  HINGE_CACHE_DIR names another folder for it, or none where it is empty."
_warned: set[str] = set()


def folder() -> Path | None:
    """Where the cache is, links followed; None when it is switched off, nowhere, or open to other users."""
    asked = os.environ["HINGE_CACHE_DIR"] if "HINGE_CACHE_DIR" in os.environ else _usual()
    if asked is None:
        _warn("", "there is no kernel cache, as this user has no home folder", ELSEWHERE)
    if not asked:
        return None
    if doubt := ownership.doubt(Path(asked)):
        _warn(asked, f"the kernel cache {asked} is not used: {doubt}", ELSEWHERE)
        return None
    return Path(os.path.realpath(asked))


def _usual() -> str | None:
    """Where this system keeps what a user can do without; None where that is below a "~" that stands for nothing."""
    import platformdirs

    try:
        usual = platformdirs.user_cache_dir("hinge", appauthor=False)
    except RuntimeError:
        return None
    return usual if os.path.isabs(usual) else None


def _warn(where: str, what: str, fix: str = "") -> None:
    """Warn once of a cache."""
    if where not in _warned:
        _warned.add(where)
        warnings.warn(f"{what}; kernels will be compiled anew in every process.{fix}", stacklevel=3)


@once
def _sources() -> str:
    """The digest of hinge's own sources. Reading them takes time, so it is kept beside the entries, under what the
    system says of the files: sizes, and times of the last change to each file and to its record.
    """
    sources = sorted(Path(__file__).parents[1].rglob("*.py"))
    state = hashlib.sha256()
    for path in sources:
        now = path.stat()
        state.update(f"{path}\0{now.st_size}\0{now.st_mtime_ns}\0{now.st_ctime_ns}\0{now.st_ino}\n".encode())
    name = state.hexdigest()
    known = find(name, "shared")
    if known is not None and len(known) == 64:
        return known.decode("ascii", "replace")
    content = hashlib.sha256()
    for path in sources:
        content.update(path.read_bytes())
    keep(name, content.hexdigest().encode(), "shared")
    return content.hexdigest()


def key(*parts: str) -> str:
    """The name of the entry for what depends on these parts, and on hinge's sources."""
    return hashlib.sha256("\0".join([_sources(), *parts]).encode()).hexdigest()


def verifies() -> bool:
    """Return whether every entry that is found is checked against a program traced anew."""
    asked = os.environ.get("HINGE_CACHE", "")
    if asked not in ("", "verify"):
        raise UnknownName(f"HINGE_CACHE={asked!r} is not known. Give HINGE_CACHE=verify, or leave it out.")
    return bool(asked)


def find(name: str, kind: str = "kernel") -> bytes | None:
    """The entry of that name, if it is there and whole; `kind` is a kernel's, or "shared" for what all of them use."""
    where = folder()
    if where is None:
        return None
    path = where / f"{name}.{kind}"
    try:
        entry = _parsed(name, files.read(path, LIMIT)) if ownership.own_file(path) else None
    except OSError:
        return None
    with contextlib.suppress(OSError):
        if entry is None:
            path.unlink()
        else:
            os.utime(path)  # used just now
    return entry


def _parsed(name: str, content: bytes) -> bytes | None:
    """What an entry holds, if it is whole and is the one of that name."""
    head = len(MAGIC) + 32
    whole = content[head:]
    if not content.startswith(MAGIC) or hashlib.sha256(whole).digest() != content[len(MAGIC) : head]:
        return None
    said, _, entry = whole.partition(b"\n")
    return entry if said.startswith(f"{name} ".encode()) else None


def label(path: Path) -> tuple[str, ...]:
    """What an entry says it is for, by its first line: of a kernel robot, algorithm, back end, type of its numbers."""
    try:
        with files.opened(path) as file:
            file.seek(len(MAGIC) + 32)
            said = file.readline(2 * LABEL).decode()
        return tuple(map(str, json.loads(said.partition(" ")[2])))
    except (OSError, ValueError, TypeError):
        return ()


def keep(name: str, content: bytes, kind: str = "kernel", about: Sequence[str] = ()) -> None:
    """Write an entry and what it is `about`; where that fails, warn once and go on."""
    where = folder()
    if where is None:
        return
    import tempfile

    words = [word[: LABEL // (12 * len(about))] for word in about]
    body = f"{name} {json.dumps(words)}\n".encode() + content
    try:
        where.mkdir(0o700, parents=True, exist_ok=True)
        if folder() != where:  # another was faster
            return
        handle, temporary = tempfile.mkstemp(suffix=".new", dir=where)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(temporary, where / f"{name}.{kind}")
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        drawn = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) / 2**32
        if drawn * SLACK < len(body):
            trim()
    except OSError as problem:
        _warn(str(where), f"the kernel cache {where} cannot be written ({problem.strerror})")


def entries(*kinds: str) -> list[tuple[Path, os.stat_result]]:
    """Return the files of these kinds, those of kernels unless others are named, the least recently used first."""
    where, endings, found = folder(), tuple(f".{kind}" for kind in kinds or ("kernel",)), []
    if where is None or not where.is_dir():
        return []
    with os.scandir(where) as files_there:
        for one in files_there:
            if one.name.endswith(endings):
                with contextlib.suppress(OSError):  # another process removed it
                    found.append((Path(one.path), one.stat()))
    return sorted(found, key=lambda entry: entry[1].st_mtime)


def clear() -> int:
    """Remove every entry; how many kernels there were."""
    found = entries()
    for path, _ in (*found, *entries("shared")):
        path.unlink(missing_ok=True)
    return len(found)


def trim() -> None:
    """Remove the least recently used entries beyond the limit, and what a killed process left half written."""
    found = entries("kernel", "shared")
    total = sum(stat.st_size for _, stat in found)
    for path, stat in found:
        if total <= LIMIT:
            break
        path.unlink(missing_ok=True)
        total -= stat.st_size
    newest = found[-1][1].st_mtime if found else 0.0
    for path, stat in entries("new"):
        if stat.st_mtime < newest - 3600:
            with contextlib.suppress(OSError):
                path.unlink()
