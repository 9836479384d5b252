"""Compiled programs on disk, so that the second process starts at once.

One file an entry, named by a key that says everything the code depends on: the robot, the algorithm and its options,
hinge's own sources, the processor and the version of LLVM. An entry is written under another name and then renamed;
its checksum is checked before the code is mapped. A broken entry is made anew, never trusted; a cache that cannot be
written only warns. The oldest entries go when it outgrows its limit.

HINGE_CACHE_DIR says where it is; an empty value switches it off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import warnings
from dataclasses import asdict
from functools import cache as once
from pathlib import Path

from hinge.backends.llvm.jit import Signature, processor
from hinge.graph import Input

LIMIT = 1 << 30  # bytes
MAGIC = b"hinge kernel 1\n"
_warned: set[str] = set()


def folder() -> Path | None:
    """Where the cache is, or None when it is switched off."""
    asked = os.environ.get("HINGE_CACHE_DIR")
    if asked is not None:
        return Path(asked) if asked else None
    import platformdirs

    return Path(platformdirs.user_cache_dir("hinge", appauthor=False))


@once
def _circumstances() -> str:
    """What all compiled code here depends on: hinge's sources, the processor, LLVM."""
    import llvmlite

    source = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        source.update(path.read_bytes())
    return "\n".join([source.hexdigest(), *processor(), llvmlite.__version__])


def key(*parts: str) -> str:
    """The name of the entry for code that depends on these parts, and on the circumstances."""
    return hashlib.sha256("\0".join([_circumstances(), *parts]).encode()).hexdigest()


def find(name: str) -> tuple[Signature, bytes] | None:
    """The entry of that name, if it is there and whole."""
    where = folder()
    if where is None:
        return None
    path = where / f"{name}.kernel"
    try:
        entry = _parsed(name, path.read_bytes())
    except OSError:
        return None
    with contextlib.suppress(OSError):
        if entry is None:
            path.unlink()
        else:
            os.utime(path)  # used just now
    return entry


def _parsed(name: str, content: bytes) -> tuple[Signature, bytes] | None:
    head = len(MAGIC) + 32
    if not content.startswith(MAGIC) or hashlib.sha256(content[head:]).digest() != content[len(MAGIC) : head]:
        return None
    size = int.from_bytes(content[head : head + 8], "little")
    described = json.loads(content[head + 8 : head + 8 + size])
    if described.pop("key") != name:
        return None
    inputs = tuple(Input(**one) for one in described.pop("inputs"))
    outputs = tuple((n, tuple(shape)) for n, shape in described.pop("outputs"))
    return Signature(inputs, outputs, **described), content[head + 8 + size :]


def keep(name: str, signature: Signature, code: bytes) -> None:
    """Write an entry; where that fails, warn once and go on."""
    where = folder()
    if where is None:
        return
    described = json.dumps({"key": name, **asdict(signature)}).encode()
    body = len(described).to_bytes(8, "little") + described + code
    try:
        where.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix="new-", dir=where)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(temporary, where / f"{name}.kernel")
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _trim(where)
    except OSError as problem:
        if str(where) not in _warned:
            _warned.add(str(where))
            warnings.warn(f"the kernel cache {where} cannot be written ({problem.strerror}); "
                          "kernels will be compiled anew in every process.", stacklevel=2)  # fmt: skip


def entries() -> list[tuple[Path, os.stat_result]]:
    """The files of the cache, the least recently used first."""
    where = folder()
    found = []
    for path in where.glob("*.kernel") if where is not None and where.is_dir() else ():
        try:
            found.append((path, path.stat()))
        except OSError:  # another process removed it
            continue
    return sorted(found, key=lambda entry: entry[1].st_mtime)


def clear() -> int:
    """Remove every entry; how many there were."""
    found = entries()
    for path, _ in found:
        path.unlink(missing_ok=True)
    return len(found)


def _trim(where: Path) -> None:
    """Remove the least recently used entries beyond the limit, and what a killed process left half written."""
    found = entries()
    total = sum(stat.st_size for _, stat in found)
    for path, stat in found:
        if total <= LIMIT:
            break
        path.unlink(missing_ok=True)
        total -= stat.st_size
    newest = found[-1][1].st_mtime if found else 0.0
    for path in where.glob("new-*"):
        try:
            if path.stat().st_mtime < newest - 3600:
                path.unlink()
        except OSError:
            continue
