"""Links and joints as a builder collects them, and joints made from a kind, an axis and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hinge.errors import NOWHERE, ModelError, Where, did_you_mean
from hinge.model.joints import JOINTS, Joint, OnLine
from hinge.model.model import JointData, LinkInertia
from hinge.model.numbers import numbers
from hinge.model.shapes import Shape
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import Mat3, Vec3
from hinge.spatial.rotation import snapped_direction

Triple = Sequence[float] | np.ndarray[Any, Any]


@dataclass(frozen=True)
class LinkEntry:
    """A link as it was given."""

    name: str
    said: LinkInertia
    inertia: RigidInertia
    shapes: tuple[Shape, ...]
    where: Where


@dataclass(frozen=True)
class JointEntry:
    """A joint as it was given, with the links it connects."""

    name: str
    joint: Joint
    parent: str
    child: str
    R: Mat3
    p: Vec3
    seat: tuple[Mat3, Vec3]
    data: JointData
    mimic: tuple[str, float, float] | None
    where: Where
    named: bool = True


def make_joint(
    name: str, kind: str, axis: Triple | None, parameters: Mapping[str, Any], where: Where = NOWHERE
) -> Joint:
    """Return a joint of a kind from its axis and parameters, checked."""
    cls = JOINTS.get(kind)
    if cls is None:
        raise ModelError("joint-type", f"joint {name!r} has type {kind!r}.", did_you_mean(kind, JOINTS), where)
    known = [f.name for f in fields(cls) if f.name != "axis"]
    for word in parameters:
        if word not in known:
            raise ModelError("parameter", f"joint {name!r} has {word}={parameters[word]!r}, which a {kind} joint "
                             "does not have.", did_you_mean(word, known), where)  # fmt: skip
    if not issubclass(cls, OnLine):
        return cls(**parameters)
    return cls(axis=snapped_direction(axis_direction(name, kind, axis, where)), **parameters)


def axis_direction(name: str, kind: str, axis: Triple | None, where: Where) -> Vec3:
    """Return the axis of a joint; refuse zero."""
    given = (0.0, 0.0, 1.0) if axis is None else numbers(f"joint {name!r}", "axis", axis, (3,), where, False)
    if not any(given):
        shown = ", ".join(f"{x:g}" for x in given)
        article = "an" if kind[0] in "aeiou" else "a"
        raise ModelError("zero-axis", f"joint {name!r} has axis ({shown}).",
                         f"{article.capitalize()} {kind} joint needs a direction. "
                         'For the joint\'s z axis write <axis xyz="0 0 1"/>.', where)  # fmt: skip
    longest = max(map(abs, given))
    return Vec3(tuple(x / longest for x in given))
