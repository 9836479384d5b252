"""How a URDF is written: what other programs read differently, and slips that are gone once it has been read."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence

from hinge.errors import ModelError
from hinge.formats import xml
from hinge.formats.xml import Element
from hinge.model import Finding
from hinge.robot.loading import is_text, read_file

Content = str | bytes
PRODUCTS = ("ixy", "ixz", "iyz")
BOUNDED = ("revolute", "prismatic")
ON_AXIS = (*BOUNDED, "continuous", "planar")


def content_of(source: str | bytes | os.PathLike[str], packages: Sequence[str | os.PathLike[str]] = ()) -> Content:
    """What was read: the text itself, the bytes of a file, or what a xacro file expands to."""
    if is_text(source):
        return source
    path = os.fsdecode(source)
    if path.endswith(".xacro"):
        from hinge.formats import xacro

        return xacro.expand(path, [os.fspath(folder) for folder in packages])
    return read_file(path)


def root_of(text: Content, file: str = "") -> Element | None:
    """The outermost element; None for what is not XML."""
    try:
        return xml.parse(text, file)
    except ModelError:
        return None


def examine_text(text: Content, file: str) -> list[Finding]:
    """What is odd about the writing of a URDF; nothing about other formats."""
    root = root_of(text, file)
    if root is None or root.tag != "robot":
        return []
    return [finding for rule in RULES for finding in rule(root)]


def incomplete_inertia(root: Element) -> Iterator[Finding]:
    """Products of inertia that are left out."""
    for link in root.all("link"):
        inertial = link.first("inertial")
        inertia = inertial.first("inertia") if inertial else None
        missing = [name for name in PRODUCTS if inertia and name not in inertia.attributes]
        if inertia and missing:
            what = f"{link} has an <inertia> without {', '.join(missing)}; other readers leave out all of it."
            fix = "Write " + " ".join(f'{name}="0"' for name in missing) + "."
            yield Finding("note", "incomplete-inertia", what, fix, inertia.where)


def incomplete_limit(root: Element) -> Iterator[Finding]:
    """Limits of effort or velocity that are left out."""
    for joint in root.all("joint"):
        limit = joint.first("limit")
        if limit and joint.attributes.get("type") in BOUNDED:
            missing = [name for name in ("effort", "velocity") if name not in limit.attributes]
            if missing:
                what = f"{joint} has a <limit> without {' and '.join(missing)}; other readers refuse the file."
                fix = "Write " + " and ".join(f'{name}="…"' for name in missing) + "."
                yield Finding("note", "incomplete-limit", what, fix, limit.where)


def no_axis(root: Element) -> Iterator[Finding]:
    """Joints about x because nothing else is written."""
    for joint in root.all("joint"):
        if joint.attributes.get("type") in ON_AXIS and joint.first("axis") is None:
            yield Finding("note", "no-axis", f"{joint} has no <axis>, which means x.",
                          'Write <axis xyz="1 0 0"/> if that is meant.', joint.where)  # fmt: skip


def angles_in_degrees(root: Element) -> Iterator[Finding]:
    """rpy="0 0 90": beyond a whole turn, and whole multiples of five."""
    for element in _inside(root):
        if element.tag == "origin" and "rpy" in element.attributes:
            angles = _angles(element)
            if max(map(abs, angles), default=0.0) > 2.0 * math.pi and all(angle % 5.0 == 0.0 for angle in angles):
                fix = "In radians it is " + " ".join(f"{math.radians(angle):.10g}" for angle in angles) + "."
                yield Finding("warning", "degrees", f'rpy="{element.attributes["rpy"]}" looks like degrees.', fix,
                              element.where)  # fmt: skip


def _angles(origin: Element) -> tuple[float, ...]:
    """Three numbers, or none where a part that is not read has something else there."""
    try:
        return xml.numbers(origin, "rpy", 3)
    except ModelError:
        return ()


def _inside(element: Element) -> Iterator[Element]:
    """Everything below an element that says where something of a robot is."""
    for part in element.children:
        if part.tag in ("link", "joint", "inertial", "visual", "collision", "origin"):
            yield part
            yield from _inside(part)


RULES: tuple[Callable[[Element], Iterator[Finding]], ...] = (
    incomplete_inertia, incomplete_limit, no_axis, angles_in_degrees,
)  # fmt: skip
