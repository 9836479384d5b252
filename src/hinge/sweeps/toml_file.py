"""A sweep written down in a TOML file.

robot = "ur5.urdf"                       # files are looked for beside this one
store = "ur5.zarr"
t = 0.2
rollouts = 1000000
keep = ["final", "extremes"]

[parameters]
"forearm_link.mass" = { uniform = [2.0, 3.0] }

[initial]
q = { latin = [-1.0, 1.0] }
qd_elbow_joint = { table = "rates.npy" }

[options]                                # of hinge.rollout
limits = "stop"
ground = { friction = 0.8 }              # a height, or a Ground; contacts is a word, or a list of tables
"""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hinge import files
from hinge.contact.contact_model import Ground
from hinge.contact.contacts import Contact
from hinge.errors import SweepError, did_you_mean
from hinge.robot.loading import Base, load
from hinge.sweeps import spreads
from hinge.sweeps.sweeping import sweep

WORDS = {"uniform": 2, "latin": 2, "normal": 2, "grid": 1, "table": 1}  # and how many arguments each has
LARGEST = 1 << 20, 1 << 36  # bytes of a file, and of an array of rows
OURS = {"robot", "store", "base", "parameters", "initial", "control", "options"}
PLAIN = set(inspect.signature(sweep).parameters) - OURS - {"inputs", "resume", "client", "workers", "progress"}


def read(
    source: str | os.PathLike[str] | bytes, base: Base | None = None, packages: Sequence[str | os.PathLike[str]] = ()
) -> dict[str, Any]:
    """What `hinge.sweep` is given, from a file; its robot on another `base` than it says, with meshes in `packages`.

    Bytes are the text of a file that lies in the current folder, and is called standard input.
    """
    place = Path("standard input" if isinstance(source, bytes) else os.fspath(source))
    try:
        if isinstance(source, bytes) and len(source) > LARGEST[0]:
            raise files.TooLarge(len(source), LARGEST[0])
        said = tomllib.loads((source if isinstance(source, bytes) else files.read(place, LARGEST[0])).decode())
    except FileNotFoundError as problem:
        hint = files.nearby(place, (place.suffix,))
        raise SweepError(f"{place} cannot be read: {problem.strerror}.", hint) from None
    except (OSError, ValueError) as problem:  # of a file, of its encoding, and of TOML
        raise SweepError(f"{place} cannot be read: {str(problem).rstrip('.')}.", "See docs/sweeps.md.") from None
    for name in said:
        if name not in OURS | PLAIN:
            raise SweepError(f"{place}: {name!r} is not known.", did_you_mean(name, OURS | PLAIN))
    for name in ("robot", "store"):
        if not isinstance(said.get(name), str):
            raise SweepError(f"{place} has no {name}.", f'Write {name} = "…", the path of a file beside this one.')
    made = {name: said[name] for name in said.keys() & PLAIN} | _options(place, said.get("options", {}))
    made["robot"] = load(place.parent / said["robot"], base=base or said.get("base", "fixed"), packages=packages)
    made["store"] = place.parent / said["store"]
    for part in ("parameters", "initial"):
        made[part] = {name: _spread(place, f"{part}.{name}", x) for name, x in said.get(part, {}).items()}
    if "control" in said:
        made["control"] = _spread(place, "control", said["control"])
    return made


def _options(place: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `rollout`, with what is no number or word as what it is."""
    made = dict(said)
    if isinstance(said.get("ground"), dict):
        made["ground"] = _filled(place, "ground", Ground, said["ground"])
    if isinstance(said.get("contacts"), list):
        made["contacts"] = [_filled(place, "contacts", Contact, one) for one in said["contacts"]]
    if "ctrl" in said:
        made["ctrl"] = _spread(place, "options.ctrl", said["ctrl"])
    return made


def _filled(place: Path, name: str, kind: Any, said: Mapping[str, Any]) -> Any:
    """A ground or a contact from a table of its fields."""
    try:
        return kind(**said)
    except TypeError as problem:
        known = ", ".join(inspect.signature(kind).parameters)
        raise SweepError(
            f"{place}: options.{name} is {said!r}: {problem}.", f"A {kind.__name__} has {known}."
        ) from None


def _spread(place: Path, name: str, said: Any) -> Any:
    """A number, an array, or a spread by its word."""
    if not isinstance(said, dict):
        return said
    word = next(iter(said), "")
    if len(said) != 1 or word not in WORDS:
        raise SweepError(
            f"{place}: {name} is {said!r}.", f"A spread is a word and its numbers. {did_you_mean(word, WORDS)}"
        )
    given = said[word]
    if isinstance(given, str):
        given = _array(place, name, place.parent / given)
    if WORDS[word] == 1:
        return getattr(spreads, word)(given)
    if not isinstance(given, list) or len(given) != WORDS[word]:
        raise SweepError(f"{place}: {name} is {said!r}.", f"Write {{ {word} = [first, second] }}.")
    return getattr(spreads, word)(*given)


def _array(place: Path, name: str, path: Path) -> Any:
    try:
        with files.opened(path, LARGEST[1]) as file:
            return np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        raise SweepError(
            f"{place}: {name}: {path} cannot be read: {str(problem).rstrip('.')}.",
            "Give an array that numpy.save has written.",
        ) from None
