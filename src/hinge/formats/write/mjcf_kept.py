"""What an MJCF file says besides its bodies, written back: equalities, actuators, sensors, keyframes and the like.

Joints that follow others are an equality too, so that MuJoCo moves them together. What speaks of a joint that the robot
no longer has, because it was locked or written as several, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hinge.formats.write.notes import Notes
from hinge.formats.write.text import Tag, number, row
from hinge.formats.write.tree import Tree, reference
from hinge.model.model import Model

SECTIONS = ("contact", "equality", "tendon", "actuator", "sensor", "custom")
OF_JOINTS = ("joint", "joint1", "joint2", "jointinparent")


def sections(model: Model, tree: Tree, notes: Notes) -> list[Tag]:
    """The sections that come after the bodies."""
    joints = {part.joint_name for part in tree.parts if part.joint.nv}
    made = {section: _kept_section(model, section, joints, notes) for section in SECTIONS}
    made["equality"] += _couplings(tree, notes)
    whole = len(made["actuator"]) == len(model.extras.get("actuator", ()))
    made["keyframe"] = _keyframes(model, tree, notes, ("qvel", "ctrl", "act") if whole else ("qvel",))
    return [Tag(section, {}, children) for section, children in made.items() if children]


def _kept_section(model: Model, section: str, joints: set[str], notes: Notes) -> list[Tag]:
    made = []
    for said in model.extras.get(section, ()):
        lost = next((name for name in _joints(said) if name not in joints), None)
        if lost is not None:
            why = f"<{said['tag']}> of its {section} speaks of joint {lost!r}, which is not there; it was left out."
            notes.add("warning", "extras", "robot", model.name, why)
            continue
        if "class" in said["attributes"] and section != "actuator":
            why = f"<{said['tag']}> of its {section} loses class {said['attributes']['class']!r}, and what that says."
            notes.add("note", "class", "robot", model.name, why)
        made.append(_kept(said, section == "actuator"))
    return made


def _kept(said: Mapping[str, Any], actuator: bool) -> Tag:
    """An element as the file had it, but for its class, and for an armature, which the actuator's joint has now."""
    left = ("class", "armature") if actuator else ("class",)
    attributes = {key: str(value) for key, value in said["attributes"].items() if key not in left}
    return Tag(said["tag"], attributes, [_kept(child, False) for child in said["children"]])


def _joints(said: Mapping[str, Any]) -> list[str]:
    """The joints that an element, or one inside it, speaks of."""
    names = [said["attributes"][key] for key in OF_JOINTS if key in said["attributes"]]
    return names + [name for child in said["children"] for name in _joints(child)]


def _couplings(tree: Tree, notes: Notes) -> list[Tag]:
    """Joints that follow others: y - y0 = c0 + c1 (x - x0), where x0 and y0 are the references."""
    made = []
    by_name = {part.joint_name: part for part in tree.parts if part.joint.nv}
    for part in by_name.values():
        if part.mimic is None:
            continue
        leader, ratio, offset = part.mimic
        y0, x0 = reference(part), reference(by_name[leader])
        polynomial = (offset - y0 + ratio * x0 if x0 or y0 else offset, ratio, 0.0, 0.0, 0.0)
        made.append(Tag("joint", {"joint1": part.joint_name, "joint2": leader, "polycoef": row(polynomial)}))
        why = f"it follows joint {leader!r} by an equality, which hinge keeps as data: read back it moves by itself."
        notes.add("warning", "mimic", "joint", part.joint_name, why)
    return made


def _keyframes(model: Model, tree: Tree, notes: Notes, words: Sequence[str]) -> list[Tag]:
    made = []
    for name, key in model.extras.get("keyframes", {}).items():
        if len(key["q"]) != model.nq:
            why = f"it has {len(key['q'])} coordinates, the robot {model.nq}; it was left out."
            notes.add("warning", "keyframe", "keyframe", name, why)
            continue
        time = number(key["time"]) if key.get("time") else None
        said = {"name": name, "time": time, "qpos": row(_qpos(model, tree, key["q"]))}
        made.append(Tag("key", said | {word: row(key[word]) for word in words if word in key}))
    return made


def _qpos(model: Model, tree: Tree, q: Sequence[float]) -> list[float]:
    """Coordinates as MuJoCo has them: of every joint, and a free body's position before its quaternion."""
    split = model.joint_positions(q)
    made: list[Any] = []
    for part in tree.parts:
        i, which = part.of
        own = [split[i][k] for k in which]
        made.extend(own[4:] + own[:4] if part.joint.kind == "free" else own)
    return made
