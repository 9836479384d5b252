"""A serial arm as a Denavit-Hartenberg file; dh.py makes the table.

The bodies of the table have frames of their own, so links and frames other than the hand are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hinge.errors import NotCovered
from hinge.formats import dh
from hinge.formats.dh_file import MAX_JOINTS
from hinge.formats.write.notes import Notes, leave_loop
from hinge.formats.write.text import number
from hinge.model.build import unused
from hinge.model.model import Model

ORDER = ("name", "type", "alpha", "a", "theta", "d", "pitch", "driven_by", "mass", "com", "inertia", "limits", *dh.DATA)
ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write(model: Model, folder: str, notes: Notes) -> str:
    """The text of the file that says it; `folder` is where the file will lie."""
    for loop in model.loops:
        leave_loop(loop, "a table", notes)
    if model.count > MAX_JOINTS:
        raise NotCovered(
            f"robot {model.name!r} has {model.count} joints, a .toml file at most {MAX_JOINTS}. A .urdf file can."
        )
    table = dh.write(model)
    what_is_lost(model, notes)
    taken = {"base", "tool"}
    lines = [f"name = {_text(model.name)}", f'convention = "{table.convention}"', f"gravity = {_value(model.gravity)}"]
    lines += [f"{key} = {_value(pose)}" for key, pose in (("base", table.base), ("tool", table.tool))]
    for row in table.rows:
        row = {**row, "name": _fresh(row["name"], taken, notes)}
        lines += ["", "[[joint]]"]
        lines += [f"{key} = {_value(row[key])}" for key in ORDER if key in row and not _is_zero(key, row[key])]
    return "\n".join(lines) + "\n"


def what_is_lost(model: Model, notes: Notes) -> None:
    last = model.body_name[-1]
    for name in model.frames:
        if name not in ("base", "tool", last):
            notes.add("note", "frame", "frame", name, "a table has no frames but its own and the hand's.")
    if set(model.links) - set(model.joint_name):
        why = "a table has no links: bodies have the names of their joints, and frames of their own."
        notes.add("note", "links", "robot", model.name, why)
    for name in model.shapes:
        notes.add("note", "shape", "link", name, "a table has no shapes; they were left out.")
    for i, _ in model.outward():
        if model.joint[i].kind == "continuous":
            why = "a table has no word for a joint that goes round; differences are read the long way."
            notes.add("note", "continuous", "joint", model.joint_name[i], why)
        for key in model.data[i].other:
            notes.add("note", key, "joint", model.joint_name[i], f"a table has no word for its {key}; it was left out.")
    for what, kept in model.extras.items():
        if kept and what != "format":
            notes.add("note", "extras", "robot", model.name, f"a table has no word for its {what}; it was left out.")


def _fresh(name: str, taken: set[str], notes: Notes) -> str:
    found = unused(name, taken)
    taken.add(found)
    if found != name:
        notes.add("warning", "name", "joint", name, f"a table has a frame of that name; it is written as {found!r}.")
    return found


def _is_zero(key: str, value: Any) -> bool:
    """Whether a number may be left out because it is what a row without it has."""
    return key not in ("limits", "name", "type", "driven_by") and not np.any(value) and key not in dh.DATA


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Iterable):
        return "[" + ", ".join(map(_value, value)) + "]"
    return number(value)


def _text(text: str) -> str:
    """A string of TOML's basic kind."""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise NotCovered(f"{text!r} has half of a surrogate pair, which is not text. Rename it.")
    odd = "".join(ESCAPED.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text)
    return f'"{odd}"'
