"""What an MJCF file says besides its bodies, written back: equalities, actuators, sensors, keyframes and the like.

Joints that follow others are an equality too, so that MuJoCo moves them together; and so are loops, where MJCF has a
word for them: a spherical one is a connect, a fixed one a weld, joints kept in step a joint. What speaks of something
that is not in the file, such as a joint that was locked, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hinge.formats.write.notes import Notes, leave_loop
from hinge.formats.write.text import Tag, number, row
from hinge.formats.write.tree import Tree, reference
from hinge.model.loops import Loop, Tie
from hinge.model.model import Model

SECTIONS = ("contact", "tendon", "equality", "actuator", "sensor", "custom")
REFERS = {  # attributes that name something, and what
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(("site", "site1", "site2", "refsite", "cranksite", "slidersite", "sidesite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "actuator": "actuator",
    "camera": "camera",
}
SPELLED = {"spherical": "connect", "fixed": "weld"}  # loops that MJCF has a word for
Known = dict[str, set[str]]


def sections(model: Model, tree: Tree, known: Known, notes: Notes) -> list[Tag]:
    """The sections that come after the bodies; `known` has the names of bodies, sites and geoms in the file."""
    known = {"tendon": set(), "actuator": set(), "camera": set(), **known}
    known["joint"] = {part.joint_name for part in tree.parts if part.joint.nv}
    made: dict[str, list[Tag]] = {}
    for section in SECTIONS:
        made[section] = _kept_section(model, section, known, notes)
        if section in known:
            known[section] |= {tag.attributes.get("name") or "" for tag in made[section]}
    made["equality"] += _couplings(tree, notes) + _loops(model, tree, notes)
    whole = len(made["actuator"]) == len(model.extras.get("actuator", ()))
    made["keyframe"] = _keyframes(model, tree, notes, ("qvel", "ctrl", "act") if whole else ("qvel",))
    return [Tag(section, {}, children) for section, children in made.items() if children]


def _kept_section(model: Model, section: str, known: Known, notes: Notes) -> list[Tag]:
    made = []
    for said in model.extras.get(section, ()):
        lost = next(((what, name) for what, name in _named(said) if name not in known.get(what, {name})), None)
        if lost is not None:
            what, name = lost
            why = f"<{said['tag']}> of its {section} speaks of {what} {name!r}, which is not there; it was left out."
            notes.add("warning", "extras", "robot", model.name, why)
            continue
        made.append(_kept(said, section == "actuator"))
    return made


def _kept(said: Mapping[str, Any], actuator: bool) -> Tag:
    """An element as the file had it, but for armature and damping, which an actuator's joint has now."""
    left = ("armature", "damping") if actuator and "tendon" not in said["attributes"] else ()
    attributes = {key: str(value) for key, value in said["attributes"].items() if key not in left}
    return Tag(said["tag"], attributes, [_kept(child, False) for child in said["children"]])


def spoken_of(model: Model, kind: str) -> set[str]:
    """The names of that kind that something kept speaks of."""
    kept = (said for section in SECTIONS for said in model.extras.get(section, ()))
    return {name for said in kept for what, name in _named(said) if what == kind}


def _named(said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What an element, or one inside it, speaks of: of which kind, and its name."""
    attributes = said["attributes"]
    for key, name in attributes.items():
        if key in REFERS:
            yield REFERS[key], name
        elif key in ("objname", "refname"):
            yield attributes.get(f"{key[:3]}type", ""), name
    for child in said["children"]:
        yield from _named(child)


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


def _loops(model: Model, tree: Tree, notes: Notes) -> list[Tag]:
    """The loops that are not in the file as it was read; their frames are sites already."""
    made = []
    said = {
        one["attributes"].get("name") or f"{one['tag']}_{k}" for k, one in enumerate(model.extras.get("equality", ()))
    }
    for loop in model.loops:
        if loop.name in said:
            continue
        tag = _tied(loop, tree) if isinstance(loop, Tie) else None
        if isinstance(loop, Loop) and loop.joint.kind in SPELLED:
            tag = Tag(SPELLED[loop.joint.kind], {"name": loop.name, "site1": loop.a, "site2": loop.b})
        if tag is None:
            leave_loop(loop, "MJCF", notes)
        elif loop.powered:
            notes.add("warning", "loop", "loop", loop.name, "MJCF has no word for what drives it.")
        made += [tag] if tag else []
    return made


def _tied(tie: Tie, tree: Tree) -> Tag | None:
    """Joints kept in step; MuJoCo counts from the references, with a polynomial of fourth order."""
    by_name = {part.joint_name: part for part in tree.parts if part.joint.nv}
    rest = tuple(reference(by_name[name]) if name in by_name else 0.0 for name in (tie.joint, tie.other))
    if len(tie.coefficients) > 5 or rest != tie.rest or tie.joint not in by_name:
        return None
    words = {"name": tie.name, "joint1": tie.joint, "joint2": tie.other or None}
    return Tag("joint", words | {"polycoef": row((*tie.coefficients, *[0.0] * (5 - len(tie.coefficients))))})


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
