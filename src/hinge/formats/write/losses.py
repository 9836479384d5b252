"""The robot that a written file gives, compared field by field with the robot it was written from.

Writers note what a format has no word for. This comparison walks the fields of the model and of the file's physics, and
adds a finding for every difference that no note explains, so that nothing is lost without a word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from math import isclose
from operator import attrgetter
from typing import Any

from hinge.formats.write.notes import Notes
from hinge.model.file_physics import Surface
from hinge.model.model import Frame, JointData, Model
from hinge.model.shapes import Shape
from hinge.spatial.transform import Transform

CLOSE = 1e-9  # relative, or of a unit: what rounding and small angles taken for zero may change
UNSAID = Surface()
SOURCES = ("where", "file", "heights")  # of the text, not of the robot; heights are arrays
NOT_WRITTEN = {  # of Model: where it came from, what was made of it, and what the comparison reads by name instead
    "report", "file", "written", "seats", "terms", "given", "potentials", "parent", "placement", "inertia", "body_name",
    "joint_name", "joint", "data", "frames", "links", "shapes", "follows", "loops",
}  # fmt: skip
KEPT_OTHERWISE = ("format", "actuator.attributes.armature", "actuator.attributes.damping")  # the last two by joints
EXPLAINED = {  # the codes of notes that explain a difference in a field, besides the field's own name
    "lower": ("limits", "continuous"), "upper": ("limits", "continuous"), "velocity": ("limits",),
    "effort": ("limits",), "rest": ("reference", "rest"), "kind": ("continuous", "own-joint", "split"),
    "follows": ("mimic",), "shapes": ("shape", "mesh"), "links": ("inertia", "helper-link", "name", "split"),
    "pose": ("snapped", "inertia", "name", "links"), "frames": ("frame", "name", "helper-link", "links"),
    "extras": ("keyframe",), "split": ("name",),
}  # fmt: skip
MOVES = {
    "pose",
    "kind",
    "split",
    "follows",
    "lower",
    "upper",
    "gravity",
    "armature",
    "damping",
    "friction",
    "stiffness",
}


def note_losses(model: Model, again: Model, notes: Notes) -> None:
    """Add a finding for each field of a model that the model read back has otherwise, and that no note explains."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for kind, name, field, where in _losses(model, again):
        found.setdefault((kind, name, field), []).append(where)
    for (kind, name, field), places in found.items():
        said = notes.codes(name) | (notes.codes(model.name) if kind in ("link", "frame") else set())
        if not said & {field, *EXPLAINED.get(field, ())}:
            listed = ", ".join(dict.fromkeys(places))
            why = f"the file gives other values when it is read back, of: {listed}."
            notes.add("warning" if field in MOVES else "note", field, kind, name, why)


def _losses(model: Model, again: Model) -> Iterator[tuple[str, str, str, str]]:
    """Yield (kind, name, field, place of the difference) of all that differs."""
    for field in fields(Model):
        if field.name not in NOT_WRITTEN:
            for where in _differences(getattr(model, field.name), getattr(again, field.name), ""):
                parts = field.name == "physics" and not where.startswith("options")  # what `extras` has as text, too
                if where not in KEPT_OTHERWISE:
                    yield "robot", model.name, "extras" if parts else field.name, where or field.name
    yield from _joints(model, again)
    yield from _links(model, again)
    written = {one.name for one in (*again.loops, *again.physics.equalities)}
    for loop in model.loops:
        if loop.name not in written:
            yield "loop", loop.name, "loop", "constraint"


def _joints(model: Model, again: Model) -> Iterator[tuple[str, str, str, str]]:
    numbers = {name: i for i, name in enumerate(again.joint_name) if i}
    for i, _ in model.outward():
        name = model.joint_name[i]
        if name not in numbers:
            yield "joint", name, "split", "joint"
            continue
        k = numbers[name]
        if model.joint[i].kind != again.joint[k].kind:
            yield "joint", name, "kind", "type"
            continue
        for field in fields(JointData):
            if field.name in ("where", "reference", "rest"):
                continue
            usual = getattr(JointData.unsaid(model.joint[i]), field.name)
            ours, theirs = (getattr(data, field.name) or usual for data in (model.data[i], again.data[k]))
            for where in _differences(ours, theirs, ""):
                yield "joint", name, where.split(".")[0] if field.name == "other" else field.name, where or field.name
        for key, ours, theirs in (
            ("reference", model.neutral(i), again.neutral(k)),
            ("rest", model.slack(i), again.slack(k)),
        ):
            if (key == "reference" or any(model.data[i].stiffness)) and any(
                _differences(tuple(ours), tuple(theirs), key)
            ):
                yield "joint", name, key, key
        if _follow(model, i) != _follow(again, k):
            yield "joint", name, "follows", "coupling to another joint"


def _follow(model: Model, i: int) -> tuple[str, float, float] | None:
    one = model.follows.get(i)
    return None if one is None else (model.joint_name[one.leader], one.ratio, one.offset)


def _links(model: Model, again: Model) -> Iterator[tuple[str, str, str, str]]:
    for name, said in model.links.items():
        other = again.links.get(name)
        if other is None:
            yield "link", name, "links", "link"
            continue
        largest = max(abs(x) for row in said.inertia for x in row)
        pairs = zip(chain(*said.inertia), chain(*other.inertia), strict=True)
        turned = any(abs(x - y) > CLOSE * largest for x, y in pairs)
        if turned or not isclose(said.mass, other.mass, rel_tol=CLOSE) or any(_differences(said.com, other.com, "com")):
            yield "link", name, "links", "mass, center of mass or inertia"
        ours, theirs = (sorted(one.shapes.get(name, ()), key=attrgetter("role")) for one in (model, again))
        places = list(_differences(ours, theirs, ""))
        if places:  # perhaps of the order only, in which the file has them
            places = list(_differences(sorted(ours, key=_order), sorted(theirs, key=_order), ""))
        for where in places:
            yield "link", name, "surface" if where.startswith("surface") else "shapes", where or "shapes"
    if set(model.joint_name) - set(again.joint_name):  # a joint in parts has other coordinates
        return
    at = {name: model.neutral(i) for i, name in enumerate(model.joint_name) if i}
    poses, others = _poses(model, at), _poses(again, at)
    for name, pose in poses.items():
        if name not in others:
            yield "frame", name, "frames", "frame"
        elif any(_differences(pose, others[name], "pose")):
            yield "frame", name, "pose", "place"


def _order(shape: Shape) -> tuple[Any, ...]:
    return shape.role, shape.kind, shape.name, os.path.basename(shape.file), shape.size, shape.xyz


def _poses(model: Model, at: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return where the named frames stand when each joint is a little off these coordinates, by its name."""
    placed = [Frame(0)]
    for i, p in model.outward():
        known = at.get(model.joint_name[i], ())
        q = known if len(known) == model.joint[i].nq else model.neutral(i)
        q = [x + (0.1 if model.joint[i].is_single else 0.0) for x in q]
        moved: Transform = model.joint[i].transform(q) @ model.placement[i]
        placed.append(placed[p].then(*moved.pose()))
    made = {name: placed[frame.body].then(frame.R, frame.p) for name, frame in model.frames.items()}
    return {name: (tuple(one.R), tuple(one.p)) for name, one in made.items()}


def _differences(a: Any, b: Any, where: str) -> Iterator[str]:
    """Yield the places at which b does not have what a has, up to rounding, as names joined by dots."""
    if a is b:
        return
    if isinstance(a, Surface) or isinstance(b, Surface):
        a, b = (UNSAID if one is None else one for one in (a, b))
    if is_dataclass(a) and type(a) is type(b):
        for field in fields(a):
            if field.name not in SOURCES:
                yield from _differences(getattr(a, field.name), getattr(b, field.name), _within(where, field.name))
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in a:
            if key in b:
                yield from _differences(a[key], b[key], _within(where, key))
            elif a[key]:
                yield _within(where, key)
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        listed = not any(isinstance(x, float) for x in a)  # further elements of a list are no loss
        if len(a) > len(b) or (len(a) < len(b) and not listed):
            yield where
            return
        for x, y in zip(a, b, strict=False):
            yield from _differences(x, y, where)
    elif isinstance(a, float) and isinstance(b, int | float):
        if not isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE):
            yield where
    elif a != b:
        yield where


def _within(where: str, name: Any) -> str:
    return f"{where}.{name}" if where else str(name)
