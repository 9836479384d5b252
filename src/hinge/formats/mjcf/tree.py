"""The bodies of an MJCF file one after another, with everything that stands for several or for a place worked out.

<frame> moves what is inside it, <replicate> repeats it, <attach> brings in a body of another model. After this file
there are only bodies, and in each its joints, geoms, sites and inertial in the body's own frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import hypot, inf

import numpy as np

from hinge.errors import ModelError, did_you_mean
from hinge.formats.mjcf.document import Document
from hinge.formats.mjcf.settings import HERE, ORIGIN, class_inside, integer, walk, z_to
from hinge.formats.mjcf.words import LEAVES, TREE, check
from hinge.formats.xml import Element, number, numbers, shown
from hinge.typing import Array

MAX_GROWN = 200_000  # elements that repetitions and attached models may add
MAX_NESTED = 2_000
MAX_NAME = 10_000  # characters that repetitions and attached models may add to a name
UNMODELLED = {
    "composite": "composite bodies were dropped from MJCF in version 4; write the bodies out, or use <replicate>.",
    "flexcomp": "flexible bodies have no finite mass matrix here.",
    "plugin": "what a plugin does to the body cannot be read from the file.",
}


@dataclass(frozen=True)
class Scope:
    """What holds for the elements in one place: the model they are of, their class, names, and frame."""

    document: Document
    childclass: str = "main"
    prefix: str = ""
    suffix: str = ""
    R: Array = field(default_factory=lambda: HERE)
    p: Array = field(default_factory=lambda: ORIGIN)

    def name(self, given: str) -> str:
        return f"{self.prefix}{given}{self.suffix}" if given else ""

    def at(self, R: Array, p: Array) -> Scope:
        """The scope of what stands in a frame there."""
        return replace(self, R=self.R @ R, p=self.p + self.R @ p)

    def of_class(self, element: Element) -> Scope:
        """The scope inside a body or frame that may name a class for its contents."""
        name = class_inside(element, self.childclass)
        self.document.defaults.of(name, element)
        return replace(self, childclass=name)

    def read(self, element: Element) -> Element:
        """The element with its defaults."""
        return self.document.defaults.applied(element, self.childclass)

    def placement(self, element: Element) -> tuple[Array, Array]:
        """Rotation and position of an element in the frame of the body it is in."""
        R, p = self.document.settings.placement(element)
        return self.R @ R, self.p + self.R @ p

    def between(self, element: Element) -> tuple[Array, Array, float]:
        """Rotation, position and length of an element stated by its two ends; its z points to the first end."""
        ends = np.array(numbers(element, "fromto", 6))
        along = ends[:3] - ends[3:]
        length = hypot(*along)
        if not 1e-14 < length < inf:
            raise ModelError("fromto", f"{element} has fromto with two ends in one place.",
                             "Write two points that differ.", element.where)  # fmt: skip
        return self.R @ z_to(along / length), self.p + self.R @ (ends[:3] + ends[3:]) / 2, length


@dataclass
class Body:
    """A body, its place in its parent, and what is in it; each element with its scope, whose frame is in the body."""

    element: Element
    scope: Scope
    parent: Body | None
    R: Array
    p: Array
    joints: list[tuple[Element, Scope]] = field(default_factory=list)
    geoms: list[tuple[Element, Scope]] = field(default_factory=list)
    sites: list[tuple[Element, Scope]] = field(default_factory=list)
    inertial: tuple[Element, Scope] | None = None
    bodies: list[tuple[Element, Scope]] = field(default_factory=list)
    link: str = ""  # what the builder calls it


def bodies(document: Document) -> Iterator[Body]:
    """The world and then every body, depth first in the order of the file."""
    world = Element("worldbody", {})
    for part in document.sections("worldbody"):
        check(part)
        world.children.extend(part.children)
        world.where = part.where
    _bounded(world, document)
    stack: list[tuple[Element, Scope, Body | None]] = [(world, Scope(document), None)]
    while stack:
        element, scope, parent = stack.pop()
        R, p = (HERE, ORIGIN) if parent is None else scope.placement(element)
        inside = replace(scope.of_class(element), R=HERE, p=ORIGIN)
        body = Body(element, inside, parent, R, p)
        _fill(body, element, inside)
        yield body
        stack.extend((child, at, body) for child, at in reversed(body.bodies))


def _fill(body: Body, element: Element, scope: Scope) -> None:
    """Sort what is in a body, frames and repetitions opened."""
    rooms = {
        "joint": body.joints,
        "freejoint": body.joints,
        "geom": body.geoms,
        "site": body.sites,
        "body": body.bodies,
    }
    check(element, TREE)
    stack = [(child, scope) for child in reversed(element.children)]
    while stack:
        child, at = stack.pop()
        check(child, LEAVES.get(child.tag))
        if body.parent is None and child.tag in ("joint", "freejoint", "inertial"):
            hint = "Only bodies move and weigh: put it in a <body>."
            raise ModelError("world", f"the world has a <{child.tag}>.", hint, child.where)
        if child.tag in rooms:
            rooms[child.tag].append((child, at))
        elif child.tag in MACROS:
            check(child, TREE)
            opened = list(MACROS[child.tag](child, at))
            stack.extend(reversed(opened))
        elif child.tag == "inertial":
            if body.inertial is not None:
                raise ModelError("repeated", f"{element} has two <inertial>.", "Keep one.", child.where)
            body.inertial = child, at
        elif child.tag in UNMODELLED:
            raise ModelError("unmodelled", f"{element} has a <{child.tag}>: {UNMODELLED[child.tag]}",
                             "hinge reads rigid bodies only.", child.where)  # fmt: skip


# what stands for other elements


def _frame(frame: Element, scope: Scope) -> Iterator[tuple[Element, Scope]]:
    scaled = numbers(frame, "scale", len(frame.attributes.get("scale", "1").split()), (1.0,))
    if any(s != 1.0 for s in scaled) or number(frame, "massscale", 0.0) not in (0.0, 1.0):
        raise ModelError("unmodelled", f"{frame} has a scale, which hinge does not read.",
                         "Let MuJoCo save the model compiled (mj_saveLastXML) and load that.", frame.where)  # fmt: skip
    inside = scope.of_class(frame).at(*scope.document.settings.placement(frame))
    return ((child, inside) for child in frame.children)


def _replicate(element: Element, scope: Scope) -> Iterator[tuple[Element, Scope]]:
    count = integer(element, "count")
    scope = scope.of_class(element)
    offset, angles = (np.array(numbers(element, name, 3, (0.0, 0.0, 0.0))) for name in ("offset", "euler"))
    digits, p = len(str(count)), np.zeros(3)
    sep = _short(element.attributes.get("sep", "") + scope.suffix, element).removesuffix(scope.suffix)
    for k in range(count):
        R = scope.document.settings.turned(k * angles)  # MuJoCo multiplies the angles, not the rotation
        copy = replace(scope.at(R, p), suffix=f"{sep}{k:0{digits}d}{scope.suffix}")
        yield from ((child, copy) for child in element.children)
        p = p + R @ offset


def _attach(element: Element, scope: Scope) -> Iterator[tuple[Element, Scope]]:
    source, childclass, contents = _attached(element, scope.document)
    prefix = _short(scope.prefix + element.attributes.get("prefix", ""), element)
    inside = Scope(source, childclass, prefix, scope.suffix, scope.R, scope.p)
    return ((child, inside) for child in contents)


def _short(part: str, element: Element) -> str:
    """Part of a name, which nesting must not let grow without end."""
    if len(part) > MAX_NAME:
        raise ModelError(
            "size", f"{element} makes names longer than {MAX_NAME} characters.", "Nest less.", element.where
        )
    return part


def _attached(element: Element, document: Document) -> tuple[Document, str, list[Element]]:
    """The model an <attach> takes from, the class that holds where it is taken, and what is taken."""
    name = element.attributes.get("model")
    source = document if name is None else document.attached(name, element.where)
    for tag in ("body", "frame"):
        if tag in element.attributes:
            found, childclass = _find(source, tag, element.attributes[tag], element)
            return source, childclass, [found]
    if name is None:
        raise ModelError("missing", "<attach> names neither a model nor a body.", 'Write body="…".', element.where)
    return source, "main", [child for world in source.sections("worldbody") for child in world.children]


def _find(document: Document, tag: str, name: str, asker: Element) -> tuple[Element, str]:
    """The element of that name in a model's tree, and the class its place has."""
    if (tag, name) not in document.places:
        known = [given for kind, given in document.places if kind == tag]
        what = f"there is no {tag} {shown(name)!r} to attach."
        raise ModelError("unknown-body", what, did_you_mean(name, known), asker.where)
    return document.places[tag, name]


MACROS: dict[str, Callable[[Element, Scope], Iterator[tuple[Element, Scope]]]] = {
    "frame": _frame, "replicate": _replicate, "attach": _attach,
}  # fmt: skip


def _bounded(world: Element, document: Document) -> None:
    """Refuse what would grow without end, before it grows: nested repetitions, and models that attach themselves."""
    sizes: dict[int, int] = {}  # of elements, with all they stand for
    most = MAX_GROWN + sum(1 for _ in walk(world))

    # an explicit stack, because attached models nest as deep as they like
    stack: list[tuple[Element, Document, bool]] = [(world, document, False)]
    open_: set[int] = set()
    while stack:
        element, of, done = stack.pop()
        if id(element) in sizes:
            continue
        parts, inner = element.children, of
        if element.tag == "attach":
            inner, _, parts = _attached(element, of)
        if not done:
            if id(element) in open_:
                hint = "Attach a body that does not hold the <attach>."
                raise ModelError("attach-cycle", "a body is attached inside itself.", hint, element.where)
            if len(open_) > MAX_NESTED:
                what = f"bodies and attached models nest more than {MAX_NESTED} deep."
                raise ModelError("depth", what, "Attach less.", element.where)
            open_.add(id(element))
            stack.append((element, of, True))
            stack.extend((child, inner, False) for child in parts)
            continue
        open_.discard(id(element))
        total = 1 + sum(sizes[id(child)] for child in parts)
        if element.tag == "replicate":
            count = integer(element, "count")
            if count < 1:
                raise ModelError("count", f"<replicate> has count {count}.", "Write 1 or more.", element.where)
            total *= count
        if total > most:
            raise ModelError("size", f"{element} stands for more than {MAX_GROWN} elements.",
                             "Repeat less, or build the robot from parts.", element.where)  # fmt: skip
        sizes[id(element)] = total
