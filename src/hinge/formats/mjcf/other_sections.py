"""What an MJCF file says besides its bodies: kept in the model, and named in its report where dynamics leaves it out.

Actuators add their armature to the joint they drive; nothing else here reaches the dynamics. What would change the mass
matrix or the tree, and is not modelled, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hinge.errors import ModelError
from hinge.formats.mjcf.document import Document
from hinge.formats.mjcf.settings import truth, walk, word
from hinge.formats.mjcf.tree import Body
from hinge.formats.mjcf.words import check
from hinge.formats.xml import Element, number, numbers, shown
from hinge.model.build import Builder

WIDTH = {"hinge": 1, "slide": 1, "ball": 4, "free": 7}
LEFT_OUT = {
    "equality": ("equality", "equality constraints are kept and left out of the dynamics"),
    "contact": ("contact", "contact pairs and exclusions are kept and left out of the dynamics"),
    "tendon": ("tendon", "tendons are kept and left out of the dynamics"),
    "sensor": ("", ""),
    "custom": ("", ""),
}
SERVOS = {"position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle", "dcmotor"}


def as_data(element: Element) -> dict[str, Any]:
    """An element as plain data."""
    looks = ("class", "width", "rgba", "material") if element.tag == "fixed" else ("class",)  # not its own words
    return {"tag": element.tag, "attributes": {k: v for k, v in element.attributes.items() if k not in looks},
            "children": tuple(as_data(child) for child in element.children)}  # fmt: skip


def refuse_unmodelled(document: Document) -> None:
    """Errors for what changes the mass matrix or the tree in a way hinge does not model."""
    for section in document.sections("deformable"):
        for flex in section.all("flex"):
            _refuse(flex, f"{flex} is a flexible body")
    for section in document.sections("tendon"):
        for tendon in section.children:
            said = document.defaults.of(tendon.attributes.get("class", "main"), tendon).get("tendon", {})
            if number(Element("tendon", said | tendon.attributes, where=tendon.where), "armature", 0.0):
                _refuse(tendon, f"{tendon} has armature, which couples its joints in the mass matrix")
    for actuator in document.actuators:
        if "tendon" in actuator.attributes and number(actuator, "armature", 0.0):
            _refuse(actuator, f"{actuator} has armature and acts on a tendon")


def _refuse(element: Element, what: str) -> None:
    raise ModelError("unmodelled", f"{what}; hinge does not model it.", "Remove it, or use MuJoCo.", element.where)


def added(document: Document, what: str, prefix: str = "", on: str = "joint") -> Iterator[tuple[str, float]]:
    """What actuators add to the armature or damping of joints or tendons, with their names."""
    for actuator in document.actuators:
        target = actuator.attributes.get(on, actuator.attributes.get("jointinparent") if on == "joint" else None)
        own, gear = (_first(actuator, name, default) for name, default in ((what, 0.0), ("gear", 1.0)))
        if target is not None and own:
            yield prefix + target, gear * gear * own


def _first(element: Element, name: str, default: float) -> float:
    """The first of however many numbers."""
    values = numbers(element, name, len(element.attributes.get(name, "").split()), (default,))
    return values[0] if values else default


def sections(document: Document, builder: Builder) -> None:
    """Keep the sections of the main file, and say what dynamics leaves out."""
    builder.extras["format"] = "mjcf"
    for tag, (code, sentence) in LEFT_OUT.items():
        key = tag if tag in ("equality", "tendon") else ""  # what a class calls them all
        elements = [
            document.defaults.applied(child, key=key) for part in document.sections(tag) for child in part.children
        ]
        if elements:
            builder.extras[tag] = tuple(as_data(element) for element in elements)
            if code:
                builder.finding("note", code, f"{_names(elements)}: {sentence}.", where=elements[0].where)
    actuators = document.actuators
    if actuators:
        builder.extras["actuator"] = tuple(as_data(element) for element in actuators)
    biased = [a for a in actuators if a.tag in SERVOS or a.attributes.get("biastype", "none") != "none"]
    if biased:
        what = (
            "forces that actuators make of position and velocity are left out of the dynamics; tau is the joint's force"
        )
        builder.finding("note", "actuator-bias", f"{_names(biased)}: {what}.", where=biased[0].where)


def bodies_named(document: Document) -> Iterator[str]:
    """Yield the names of bodies that sensors, constraints, actuators, cameras and the like refer to."""
    for element in walk(document.root):
        said = element.attributes
        if element.tag not in ("body", "attach"):
            yield from (said[word] for word in ("body", "body1", "body2", "target") if word in said)
            for end in ("obj", "ref"):
                if said.get(f"{end}type") in ("body", "xbody"):
                    yield said.get(f"{end}name", "")


def of_bodies(bodies: Sequence[Body], builder: Builder) -> None:
    """Findings on what bodies say and dynamics leaves out."""
    lifted = [b.element for b in bodies if number(b.element, "gravcomp", 0.0)]
    if lifted:
        builder.extras["gravcomp"] = {b.link: number(b.element, "gravcomp", 0.0) for b in bodies
                                      if number(b.element, "gravcomp", 0.0)}  # fmt: skip
        builder.finding("note", "gravcomp", f"{_names(lifted)}: gravity compensation is left out of the dynamics.",
                        where=lifted[0].where)  # fmt: skip
    held = [b.element for b in bodies if truth(b.element, "mocap", False)]
    if held:
        builder.extras["mocap"] = tuple(b.link for b in bodies if truth(b.element, "mocap", False))
        builder.finding("note", "mocap", f"{_names(held)}: moved by motion capture in MuJoCo, fixed here.",
                        where=held[0].where)  # fmt: skip


def on_mocap(bodies: Sequence[Body]) -> Iterator[tuple[str, str]]:
    """Yield the links that are moved by motion capture with those of bodies that joints connect to them.

    They do not touch each other, although what is moved by motion capture stands still here.
    """
    welded: dict[int, Body] = {}  # by id: the body that a body is fixed to, itself perhaps
    for body in bodies:
        own = body.parent is None or body.joints or truth(body.element, "mocap", False)
        welded[id(body)] = body if own or body.parent is None else welded[id(body.parent)]
    held = [body for body in bodies if body.parent and truth(welded[id(body)].element, "mocap", False)]
    for body in bodies:
        base = welded[id(body)]
        if base.joints and base.parent is not None:
            on = welded[id(base.parent)]
            yield from ((other.link, body.link) for other in held if welded[id(other)] is on)


def _names(elements: Sequence[Element]) -> str:
    shown_ = [str(element) for element in elements[:3]]
    return ", ".join(shown_) + (f" and {len(elements) - 3} more" if len(elements) > 3 else "")


def gravity(document: Document, default: tuple[float, ...]) -> tuple[float, ...]:
    """The field of gravity, which a flag may switch off."""
    made, on = default, True
    for option in document.sections("option"):
        check(option)
        made = numbers(option, "gravity", 3, made)
        for flag in option.all("flag"):
            on = word(flag, "gravity", ("enable", "disable"), "enable" if on else "disable") == "enable"
    return made if on else (0.0, 0.0, 0.0)


def attached(part: Document, document: Document, builder: Builder) -> None:
    """What a model that is attached says besides its bodies."""
    refuse_unmodelled(part)
    stated = [option for option in part.sections("option") if "gravity" in option.attributes]
    if stated and document.settings.conflict != "warning":
        _refuse(stated[0], f'conflict="{document.settings.conflict}" takes gravity from an attached model')
    keys = [key for section in part.sections("keyframe") for key in section.all("key")]
    if keys:
        builder.finding("note", "attached-keyframe", f"{_names(keys)}: keyframes of an attached model are left out.",
                        where=keys[0].where)  # fmt: skip


def keyframes(document: Document, layout: Sequence[tuple[str, str]], builder: Builder) -> None:
    """The configurations the file names, in hinge's order: a free body's quaternion first."""
    kept: dict[str, Any] = {}
    nq = sum(WIDTH[kind] for _, kind in layout)
    for section in document.sections("keyframe"):
        for k, key in enumerate(section.all("key")):
            check(key)
            name = key.attributes.get("name", f"key_{k}")
            if "qpos" not in key.attributes:
                continue
            count = len(key.attributes["qpos"].split())
            values = numbers(key, "qpos", count)
            if count != nq:
                what = f"keyframe {shown(name)!r} has {count} coordinates, the robot {nq}; it was left out."
                builder.finding("warning", "keyframe", what, "Write one for each coordinate.", key.where)
                continue
            kept[name] = {"q": _ours(values, layout), "time": number(key, "time", 0.0)}
            for extra in ("qvel", "ctrl", "act"):
                if extra in key.attributes:
                    kept[name][extra] = numbers(key, extra, len(key.attributes[extra].split()))
            if any(kept[name].get("qvel", ())):
                what = f"keyframe {shown(name)!r} has velocities (qvel), and robot.keyframes has coordinates only."
                how = f"robot.model.extras['keyframes'][{name!r}]['qvel'] has them. Give them as qd0."
                builder.finding("note", "keyframe-velocities", what, how, key.where)
    if kept:
        builder.extras["keyframes"] = kept


def _ours(qpos: Sequence[float], layout: Sequence[tuple[str, str]]) -> tuple[float, ...]:
    q: list[float] = []
    at = 0
    for _, kind in layout:
        part = list(qpos[at : at + WIDTH[kind]])
        q.extend(part[3:] + part[:3] if kind == "free" else part)
        at += WIDTH[kind]
    return tuple(q)
