"""A sweep written down in a TOML file.

robot = "ur5.urdf"                       # files lie in the directory of this one, or below it
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
from hinge.sweeps.asking import asked
from hinge.sweeps.question import Question
from hinge.sweeps.sweeping import sweep

WORDS = {"uniform": 2, "latin": 2, "normal": 2, "grid": 1, "table": 1}  # and how many arguments each has
LARGEST = 1 << 20, 1 << 36  # bytes of a file, and of an array of rows
OURS = {"robot", "store", "base", "parameters", "initial", "control", "options"}
CALLED = set(inspect.signature(sweep).parameters)
PLAIN = CALLED - OURS - {"inputs", "resume", "client", "workers", "progress"}


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
    except (OSError, ValueError, RecursionError) as problem:  # of a file, of its encoding, and of TOML
        raise SweepError(f"{place} cannot be read: {str(problem).rstrip('.')}.", "See docs/sweeps.md.") from None
    for name in said:
        if name not in OURS | PLAIN:
            raise SweepError(f"{place}: {name!r} is not known.", did_you_mean(name, OURS | PLAIN))
    for name in ("robot", "store"):
        if not isinstance(said.get(name), str):
            raise SweepError(f"{place} has no {name}.", f'Write {name} = "…", the path of a file beside this one.')
    for name in ("parameters", "initial", "options"):
        if not isinstance(said.get(name, {}), dict):
            raise SweepError(
                f"{place}: {name} is {said[name]!r}.", f"Write a table: [{name}], and a line for each name."
            )
    made = {name: said[name] for name in said.keys() & PLAIN} | _options(place, said.get("options", {}))
    robot = _beside(place, "robot", said["robot"])
    if robot.suffix.lower() == ".xacro":
        raise SweepError(
            f"{place}: robot is {said['robot']!r}. A xacro file runs Python expressions, which a sweep file must not.",
            "Convert it once with `hinge convert`, and name the URDF.",
        )
    made["robot"] = load(robot, base=base or said.get("base", "fixed"), packages=packages)
    made["store"] = _beside(place, "store", said["store"])
    for part in ("parameters", "initial"):
        made[part] = {name: _spread(place, f"{part}.{name}", x) for name, x in said.get(part, {}).items()}
    if "control" in said:
        made["control"] = _spread(place, "control", said["control"])
    return made


def _beside(place: Path, name: str, path: str) -> Path:
    """The path of a file that a sweep file names, in its directory or below it."""
    folder = Path(os.path.realpath(place.parent))
    if "\0" in path or not path or not Path(os.path.realpath(folder / path)).is_relative_to(folder):
        raise SweepError(
            f"{place}: {name} is {path!r}, which does not lie in the directory of this file.",
            "Give a path below it, or call hinge.sweep from Python, which takes any.",
        )
    return place.parent / path


def question(
    path: str | os.PathLike[str], base: Base | None = None, packages: Sequence[str | os.PathLike[str]] = ()
) -> Question:
    """What a file asks, not answered: `again` runs any rollout of it."""
    given = inspect.signature(sweep).bind(**read(path, base, packages))
    given.apply_defaults()
    return asked(**{name: given.arguments[name] for name in inspect.signature(asked).parameters})


def _options(place: Path, said: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `rollout`, with what is no number or word as what it is."""
    for name in said.keys() & CALLED:
        where = "Write it above the tables." if name in PLAIN | OURS else "Give it to the command."
        raise SweepError(f"{place}: options.{name} is no option of a rollout.", where)
    made = dict(said)
    if isinstance(said.get("ground"), dict):
        made["ground"] = _filled(place, "ground", Ground, said["ground"])
    if isinstance(said.get("contacts"), list):
        made["contacts"] = [_filled(place, "contacts", Contact, one) for one in said["contacts"]]
    if "ctrl" in said:
        made["ctrl"] = _spread(place, "options.ctrl", said["ctrl"])
    return made


def _filled(place: Path, name: str, kind: Any, said: Any) -> Any:
    """A ground or a contact from a table of its fields."""
    try:
        if not isinstance(said, dict):
            raise TypeError("it is no table")
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
        given = _array(place, name, _beside(place, name, given))
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
