"""Denavit-Hartenberg files: a table in TOML, into a Builder.

    name = "arm"
    convention = "classic"              # or "modified"
    gravity = [0, 0, -9.81]             # m/s², and so on; these five may be left out
    base = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    angles = "degrees"                  # or "radians"

    [[joint]]
    a = 0.4
    alpha = 90
    mass = 2.0

Python reads the TOML; this file says where in it a fault is. A row's keys are those of `hinge.dh`, dh.py has what they
mean. With degrees, alpha, theta and the limits, velocities, references and rests of what turns are in degrees; pitch,
damping and stiffness are per radian all the same.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from sys import float_info
from typing import Any

from hinge.errors import ModelError, Where, did_you_mean
from hinge.formats import dh
from hinge.model.build import EARTH, Builder
from hinge.model.numbers import LARGEST, RANGE

MAX_BYTES, MAX_LINES, MAX_JOINTS = 2**20, 50_000, 1000
# keys within keys within keys: there are none in such a file, and reading them takes quadratic time
_DOTTED = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]+[ \t]*\.[ \t]*){32}")
KEYS = ("name", "convention", "gravity", "base", "tool", "angles", "joint")
WORDS = {"name": str, "convention": str, "angles": str, "type": str, "driven_by": str}
INFINITE = ("limits", "velocity", "effort")  # may be, where there is none
TURNED = ("limits", "velocity", "reference", "rest")  # are angles where the joint turns
DEEPEST = 3  # an array of arrays of numbers, such as a pose


def is_table(text: str) -> bool:
    """Whether a text is one of these rather than XML or the name of a file."""
    return not text.lstrip("\ufeff \t\r\n").startswith("<") and bool(
        re.search(r"^[ \t]*\[\[[ \t]*joint[ \t]*\]\]", text, re.M)
    )


def read(content: str | bytes, file: str = "", folder: str | None = None, packages: Sequence[str] = ()) -> Builder:
    """The arm a file describes; `file` names it in messages. It names no other files."""
    name = os.path.basename(file)
    text = _decoded(content, name)
    _bounded(text, name)
    places = _Places(text, name)
    said = _parsed(text, places)
    for key, value in said.items():
        if key not in KEYS:
            raise ModelError("dh-key", f"{key!r} is no key of a Denavit-Hartenberg file.", did_you_mean(key, KEYS),
                             places.of(key))  # fmt: skip
        if key != "joint":
            _check(key, value, places.of(key))
    rows = said.get("joint")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ModelError("empty", "the file has no [[joint]] tables.", "Write one a joint, from the base outward.",
                         places.of("joint"))  # fmt: skip
    if len(rows) > MAX_JOINTS:
        raise ModelError("size", f"the file has {len(rows)} joints, at most {MAX_JOINTS} are read.",
                         "For more, build the robot in Python or as URDF.", places.of("joint"))  # fmt: skip
    for k, row in enumerate(rows):
        for key, value in row.items():
            if key not in dh.KEYS:
                raise ModelError("dh-key", f"joint {k + 1} has {key!r}.", did_you_mean(key, dh.KEYS), places.of(key, k))
            _check(key, value, places.of(key, k))
    unit = said.get("angles", "radians")
    if unit not in ("radians", "degrees"):
        raise ModelError("angles", f'angles = "{unit}" is not known.', did_you_mean(unit, ("radians", "degrees")),
                         places.of("angles"))  # fmt: skip
    return _built(said, [_in_radians(row) if unit == "degrees" else row for row in rows], places, file)


def _built(said: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], places: _Places, file: str) -> Builder:
    gravity = said.get("gravity", EARTH)
    if not isinstance(gravity, Sequence) or len(gravity) != 3 or any(isinstance(x, list) for x in gravity):
        raise ModelError("gravity", "gravity is not a vector.", "Write three numbers in m/s².", places.of("gravity"))
    wheres = [places.of("", k) for k in range(len(rows))]
    try:
        return dh.read(rows, said.get("convention", "classic"), said.get("base"), said.get("tool"),
                       said.get("name", "arm"), wheres, gravity=gravity, file=file)  # fmt: skip
    except ModelError as error:
        if error.line:
            raise
        key = error.code if error.code == "convention" else str(error.what).split("=")[0]
        raise ModelError(error.code, error.what, error.hint, places.of(key if key in KEYS else "")) from None


def _decoded(content: str | bytes, file: str) -> str:
    if len(content) > MAX_BYTES:
        raise ModelError("size", f"the file has {len(content)} bytes, at most {MAX_BYTES} are read.",
                         "A table has a few lines a joint.", Where(file))  # fmt: skip
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise ModelError("encoding", f"byte 0x{content[problem.start]:02X} is not UTF-8.", "Save the file as UTF-8.",
                         Where(file, line)) from None  # fmt: skip


def _bounded(text: str, file: str) -> None:
    """Refuse what would take long to read, and is no arm."""
    lines = text.count("\n")
    if lines > MAX_LINES:
        raise ModelError("size", f"the file has {lines} lines, at most {MAX_LINES} are read.",
                         "A table has a few lines a joint.", Where(file))  # fmt: skip
    deep = _DOTTED.search(text)
    if deep:
        raise ModelError("depth", "there are keys within keys, 32 deep.", "A table has none.",
                         Where(file, text.count("\n", 0, deep.start()) + 1))  # fmt: skip


def _parsed(text: str, places: _Places) -> dict[str, Any]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as problem:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(problem))
        line = int(place[1]) if place else text.count("\n") + 1
        what = re.sub(r" \(at [^()]*\)$", "", str(problem))
        column = f", column {place[2]}" if place else ""
        raise ModelError("toml", f"the file is not TOML: {what}{column}.", "See https://toml.io for how it is written.",
                         Where(places.file, line)) from None  # fmt: skip
    except RecursionError:
        raise ModelError("depth", "the file has values nested too deep.", "A pose is an array of arrays of numbers.",
                         Where(places.file)) from None  # fmt: skip


class _Places:
    """Where keys are written: those of the file, and those of the k-th [[joint]]."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines: dict[tuple[str, int], int] = {}
        joint = -1
        for number, line in enumerate(text.split("\n"), start=1):
            if re.match(r"\s*\[\[\s*[\"']?joint[\"']?\s*\]\]", line):
                joint += 1
                self.lines["", joint] = number
            key = re.match(r"\s*[\"']?([\w-]+)[\"']?\s*(=|\.)", line) or re.match(r"\s*\[+\s*[\"']?([\w-]+)", line)
            if key:
                self.lines.setdefault((key[1], joint), number)
                self.lines.setdefault((key[1], -1), number)

    def of(self, key: str, joint: int = -1) -> Where:
        """The line of a key, of the table it should be in, or of the file."""
        line = self.lines.get((key, joint)) or self.lines.get(("", joint)) or 0
        return Where(self.file, line)


# ---- values ----------------------------------------------------------------------------------------------------------


def _check(key: str, value: Any, where: Where, depth: int = 0) -> None:
    """Words where words are wanted, and else finite numbers or arrays of them."""
    if key in WORDS:
        if not isinstance(value, str):
            raise ModelError("word", f"{key} = {_shown(value)} is not a text.", 'Write it in "quotes".', where)
    elif isinstance(value, list) and depth < DEEPEST:
        for entry in value:
            _check(key, entry, where, depth + 1)
    elif not isinstance(value, int | float) or isinstance(value, bool):
        raise ModelError("number", f"{key} = {_shown(value)} is not a number.",
                         "Write plain numbers such as 0.5, without a unit; arrays of them in [ ].", where)  # fmt: skip
    elif value != value or (abs(value) > float_info.max and not (key in INFINITE and isinstance(value, float))):
        raise ModelError("nan", f"{key} = {_shown(value)} is not a finite number.", "Write a number.", where)
    elif abs(value) > LARGEST and key not in INFINITE:
        raise ModelError("range", f"{key} = {_shown(value)} is out of range.", RANGE, where)


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or value.bit_length() < 200 else "a huge integer"
    return text if len(text) <= 60 else text[:59] + "…"


def _in_radians(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose angles are in degrees with all of them in radians."""
    turns = row.get("type", "revolute") != "prismatic"
    several = row.get("type") == "cylindric"  # whose first coordinate turns
    made = dict(row)
    for key in ("alpha", "theta"):
        if key in row:
            made[key] = _radians(row[key])
    for key in TURNED:
        if key in row and turns:
            ends = row[key] if key == "limits" else [row[key]]
            turned = [_first_turned(x) if several else _radians(x) for x in ends] if isinstance(ends, list) else ends
            made[key] = turned if key == "limits" else turned[0]
    return made


def _radians(value: Any) -> Any:
    return [_radians(x) for x in value] if isinstance(value, list) else math.radians(value)


def _first_turned(value: Any) -> Any:
    return [_radians(x) if k == 0 else x for k, x in enumerate(value)] if isinstance(value, list) else value
