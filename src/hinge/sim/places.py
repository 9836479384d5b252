"""Where trajectories are put on disk: what may be replaced there, set aside until then, and removed.

A folder is a trajectory by what its mark says and by all that is in it. Anything else is left alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from hinge import files
from hinge.errors import TrajectoryError

MARK = "finished.json"
SAID = 256 << 20  # bytes of a mark, at most
KEYS = {"format", "hinge", "digest", "batch", "fields", "finished"}
ARRAY, TORN = r"(t|q|qd|tau|status)/", r"\.[0-9a-f]{32}\.partial"  # what a process that ends leaves of a write
OURS = re.compile(
    rf"({ARRAY})?zarr(\.json|{TORN})|{ARRAY}c/[\d/]*\d({TORN})?|"
    r"(finished\.json|robot\.(xml|urdf))(\.[0-9a-f]{8}\.part)?|finished\.json\.part"
)


def real(path: str | os.PathLike[str]) -> Path:
    """A path, or where it leads if it is a link: that is replaced, and the link stays."""
    return Path(os.path.realpath(path) if os.path.islink(path) else path)


def replaceable(path: Path, overwrite: bool) -> bool:
    """Whether a trajectory is there that may be overwritten; raises where it may not, or anything else is there."""
    if not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir())):
        return False
    if not is_trajectory(path):
        raise TrajectoryError(f"{path} exists and is not a trajectory.", "Choose another name, or remove it.")
    if not overwrite:
        raise TrajectoryError(f"{path} holds a trajectory already.", "Give overwrite=True, or append=True to go on "
                              "with it, or another name.")  # fmt: skip
    other = foreign(path)
    if other is not None:
        raise TrajectoryError(f"{path} holds a trajectory, and {other} which is not of it.", "Move that, or choose "
                              "another name.")  # fmt: skip
    return True


def set_aside(path: Path, overwrite: bool) -> Path | None:
    """Rename the trajectory that is there, if there is one and it may be overwritten; its new name."""
    if not replaceable(path, overwrite):
        return None
    old = Path(files.unused(path, "old"))
    os.rename(path, old)
    return old


def put_back(old: Path | None, path: Path) -> None:
    """What was set aside in its place again, and not what had been begun there."""
    remove(path)
    if old is not None:
        os.rename(old, path)


def remove(folder: Path) -> None:
    """Remove a trajectory, or the beginning of one: all of it, unless something else is in it."""
    if folder.is_dir() and foreign(folder) is None:
        shutil.rmtree(folder)


def is_trajectory(folder: Path) -> bool:
    """Whether a folder has the mark of one, with its contents."""
    try:
        about = json.loads(files.read(folder / MARK, SAID))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(about, dict) and about.keys() >= KEYS


def foreign(folder: Path) -> str | None:
    """The first thing in a folder that is not of a trajectory."""
    return next((name for name, entry in entries(folder) if entry.is_symlink() or not _ours(name, entry)), None)


def _ours(name: str, entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and OURS.fullmatch(name) is not None


def entries(folder: Path, inside: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """All below a folder that is no folder itself, by its path from there; links are not followed."""
    with os.scandir(folder / inside) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                yield from entries(folder, f"{inside}{entry.name}/")
            else:
                yield f"{inside}{entry.name}", entry
