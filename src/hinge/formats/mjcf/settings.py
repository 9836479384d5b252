"""What holds for a whole MJCF file: compiler settings, default classes, and how orientations are written.

    <compiler angle="radian" eulerseq="zyx"/>
    <default> <joint damping="1"/> <default class="leg"> … </default> </default>

A class has what the classes around it say; an element's own words come before its class's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import atan2, copysign, cos, hypot, inf, pi, sin
from typing import Any

import numpy as np

from hinge.errors import ModelError, did_you_mean
from hinge.formats.mjcf.words import ACTUATORS, DEFAULTS, LEADING, SHARED, check
from hinge.formats.xml import Element, attribute, number, numbers, shown
from hinge.spatial.rotation import rotation_from_quaternion
from hinge.typing import Array

HERE, ORIGIN = np.eye(3), np.zeros(3)  # no turn and no shift
HERE.flags.writeable = ORIGIN.flags.writeable = False  # because all share them
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


def word(element: Element, name: str, known: tuple[str, ...], default: str) -> str:
    """An attribute that is one of a few words."""
    given = element.attributes.get(name, default)
    if given not in known:
        raise ModelError("word", f'{element} has {name}="{shown(given)}".', did_you_mean(given, known), element.where)
    return given


def truth(element: Element, name: str, default: bool) -> bool:
    return word(element, name, ("true", "false"), str(default).lower()) == "true"


def integer(element: Element, name: str, default: int | None = None) -> int:
    value = number(element, name, default)
    if value != int(value):
        what = f'{element} has {name}="{shown(element.attributes[name])}".'
        raise ModelError("number", what, "Write a whole number.", element.where)
    return int(value)


@dataclass(frozen=True)
class Settings:
    """The <compiler> settings that matter here."""

    degrees: bool = True
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    groups: tuple[int, int] = (0, 5)
    boundmass: float = 0.0
    boundinertia: float = 0.0
    settotalmass: float = -1.0
    fusestatic: bool = False
    balanceinertia: bool = False
    fitaabb: bool = False
    alignfree: bool = False
    strippath: bool = False
    conflict: str = "warning"
    assetdir: str = ""
    meshdir: str = ""

    def read(self, compiler: Element) -> Settings:
        """These settings as a <compiler> element changes them."""
        check(compiler)
        if compiler.attributes.get("coordinate", "local") != "local":
            hint = (
                "MuJoCo dropped it in version 2.3.4: save the model with an older one, which writes local coordinates."
            )
            raise ModelError("coordinate", 'coordinate="global" is no longer MJCF.', hint, compiler.where)
        sequence = compiler.attributes.get("eulerseq", self.eulerseq)
        if len(sequence) != 3 or set(sequence) - set("xyzXYZ"):
            raise ModelError("eulerseq", f'eulerseq="{shown(sequence)}" is no sequence of axes.',
                             "Write three of xyz (turning axes) or XYZ (fixed ones).", compiler.where)  # fmt: skip
        low, high = numbers(compiler, "inertiagrouprange", 2, self.groups)
        units = "degree" if self.degrees else "radian"
        return replace(
            self,
            degrees=word(compiler, "angle", ("degree", "radian"), units) == "degree",
            eulerseq=sequence,
            autolimits=truth(compiler, "autolimits", self.autolimits),
            inertiafromgeom=word(compiler, "inertiafromgeom", ("auto", "true", "false"), self.inertiafromgeom),
            groups=(int(low), int(high)),
            boundmass=number(compiler, "boundmass", self.boundmass),
            boundinertia=number(compiler, "boundinertia", self.boundinertia),
            settotalmass=number(compiler, "settotalmass", self.settotalmass),
            fusestatic=truth(compiler, "fusestatic", self.fusestatic),
            balanceinertia=truth(compiler, "balanceinertia", self.balanceinertia),
            fitaabb=truth(compiler, "fitaabb", self.fitaabb),
            alignfree=truth(compiler, "alignfree", self.alignfree),
            strippath=truth(compiler, "strippath", self.strippath),
            conflict=word(compiler, "conflict", ("warning", "merge", "error"), self.conflict),
            assetdir=compiler.attributes.get("assetdir", self.assetdir),
            meshdir=compiler.attributes.get("meshdir", self.meshdir),
        )

    @property
    def angle(self) -> float:
        """Radians in the file's unit of angle."""
        return pi / 180 if self.degrees else 1.0

    def rotation(self, element: Element) -> Array:
        """The orientation an element states, in whichever of the five ways; none is the identity."""
        given = [name for name in TURNS if name in element.attributes]
        if len(given) > 1:
            raise ModelError("orientation", f"{element} has both {given[0]} and {given[1]}.",
                             "They say the same thing twice: keep one of them.", element.where)  # fmt: skip
        return getattr(self, f"_{given[0]}")(element) if given else HERE

    def _quat(self, element: Element) -> Array:
        return from_quaternion(numbers(element, "quat", 4), element)

    def _axisangle(self, element: Element) -> Array:
        x, y, z, angle = numbers(element, "axisangle", 4)
        return about(direction((x, y, z), element, "axisangle"), angle * self.angle)

    def _euler(self, element: Element) -> Array:
        return self.turned(numbers(element, "euler", 3))

    def _xyaxes(self, element: Element) -> Array:
        six = numbers(element, "xyaxes", 6)
        x = direction(six[:3], element, "xyaxes")
        y = np.array(six[3:])
        y = direction(y - x * (x @ y), element, "xyaxes")
        return np.column_stack([x, y, np.cross(x, y)])

    def _zaxis(self, element: Element) -> Array:
        return z_to(direction(numbers(element, "zaxis", 3), element, "zaxis"))

    def turned(self, angles: Sequence[float] | Array) -> Array:
        """The rotation of three angles in the file's unit and sequence."""
        R = HERE
        for letter, angle in zip(self.eulerseq, angles, strict=True):
            turn = about(AXES[letter.lower()], angle * self.angle)
            R = R @ turn if letter.islower() else turn @ R
        return R

    def placement(self, element: Element) -> tuple[Array, Array]:
        """Rotation and position of an element with `pos` and an orientation."""
        return self.rotation(element), np.array(numbers(element, "pos", 3, (0.0, 0.0, 0.0)))


def from_quaternion(q: tuple[float, ...], element: Element) -> Array:
    length = hypot(*q)
    if not 1e-14 < length < inf:
        raise ModelError("quaternion", f"{element} has a quaternion of length {length:g}.",
                         "The quaternion of no rotation is 1 0 0 0.", element.where)  # fmt: skip
    return np.array(rotation_from_quaternion([c / length for c in q])).reshape(3, 3)


def about(axis: Any, angle: float) -> Array:
    """The rotation about a unit vector."""
    x, y, z = axis
    c, s = cos(angle), sin(angle)
    u, v, w = (1 - c) * x, (1 - c) * y, (1 - c) * z
    return np.array(
        [
            [c + u * x, u * y - s * z, u * z + s * y],
            [v * x + s * z, c + v * y, v * z - s * x],
            [w * x - s * y, w * y + s * x, c + w * z],
        ]
    )


def z_to(axis: Array) -> Array:
    """The shortest rotation that takes z to a unit vector; all but opposite, by half a turn about x as MuJoCo does."""
    x, y, z = axis
    sine = hypot(x, y)
    if sine <= 1e-7:
        return np.diag([1.0, copysign(1.0, z), copysign(1.0, z)])
    return about((-y / sine, x / sine, 0.0), atan2(sine, z))


def direction(given: Any, element: Element, name: str) -> Array:
    """A vector of an element, which has to point somewhere, at unit length."""
    length = hypot(*given)
    if not 1e-14 < length < inf:
        raise ModelError("zero-axis", f"{element} has {name} without a direction.", "Give a vector that is not zero.",
                         element.where)  # fmt: skip
    return np.asarray(given, float) / length


@dataclass
class Defaults:
    """The default classes: attributes by class and tag, each class with those of the ones around it."""

    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {"main": {}})
    actuators: dict[str, list[Element]] = field(default_factory=dict)  # of each class itself, all kinds in turn
    above: dict[str, str] = field(default_factory=dict)  # the class around each

    def read(self, outer: Element) -> None:
        """Take in a <default> element that stands directly in the file."""
        stack = [(outer, "main")]
        while stack:
            element, parent = stack.pop()
            name = element.attributes.get("class", "main") if element is outer else attribute(element, "class")
            if element is outer and name != "main":
                raise ModelError("class", f"the outermost <default> has class {shown(name)!r}.",
                                 'It is always "main": put a <default> with another class inside it.',
                                 element.where)  # fmt: skip
            if element is not outer and name in self.classes:
                raise ModelError("duplicate-class", f"there are two default classes {shown(name)!r}.", "Rename one.",
                                 element.where)  # fmt: skip
            check(element, DEFAULTS)
            known = self.classes.setdefault(name, dict(self.classes[parent]))
            self.actuators.setdefault(name, []).extend(child for child in element.children if child.tag in ACTUATORS)
            if name != parent:
                self.above[name] = parent
            for child in element.children:
                if child.tag != "default":
                    check(child)
                    known[child.tag] = _over(known.get(child.tag, {}), child.attributes)
                if child.tag in ACTUATORS:
                    shared = {name: child.attributes[name] for name in SHARED if name in child.attributes}
                    known["actuator"] = known.get("actuator", {}) | shared
            stack.extend((child, name) for child in reversed(list(element.all("default"))))

    def applied(self, element: Element, inherited: str = "main", key: str = "") -> Element:
        """The element with what its class, or the one it inherits, says for its tag, or for what `key` names."""
        name = element.attributes.get("class", inherited)
        said = self.of(name, element).get(key or element.tag)
        if not said:
            return element
        return Element(element.tag, _over(said, element.attributes), element.children, element.text, element.where)

    def of(self, name: str, element: Element) -> dict[str, dict[str, str]]:
        """All a class says."""
        if name not in self.classes:
            raise ModelError("class", f"{element} has default class {shown(name)!r}, which does not exist.",
                             did_you_mean(name, self.classes), element.where)  # fmt: skip
        return self.classes[name]


def _over(said: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """A class's attributes under an element's own; one orientation replaces another, however it is written."""
    if not own.keys().isdisjoint(TURNS):
        said = {k: v for k, v in said.items() if k not in TURNS}
    begun = {name: text.split() for name, text in own.items() if name in LEADING and name in said}
    return said | own | {name: " ".join([*x, *said[name].split()[len(x) :]]) for name, x in begun.items()}


def class_inside(element: Element, outer: str) -> str:
    """The class of what is inside a body, frame or repetition; the latter two may call it `class` as well."""
    return element.attributes.get("childclass", element.attributes.get("class", outer))


def walk(root: Element) -> Iterator[Element]:
    """The element and all below it."""
    stack = [root]
    while stack:
        element = stack.pop()
        yield element
        stack.extend(reversed(element.children))
