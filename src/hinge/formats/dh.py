"""Denavit-Hartenberg tables into a Builder.

    classic     T = Rz(theta) Tz(d) Tx(a) Rx(alpha)      joint i moves about z of frame i - 1
    modified    T = Rx(alpha) Tx(a) Rz(theta) Tz(d)      joint i moves about z of frame i

`theta` and `d` in a row are offsets; the joint's own coordinate is added to one of them. The modified convention is
that of featherstone1987 8.2.1; turney1981 and nasser1990 use the classic one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hinge.errors import ModelError, did_you_mean
from hinge.model import JOINTS, Builder

KEYS = {
    "a", "alpha", "d", "theta", "type", "pitch", "mass", "com", "inertia", "name", "limits", "velocity", "effort",
    "armature", "damping", "friction",
}  # fmt: skip
TYPES = {joint.dh: kind for kind, joint in JOINTS.items() if joint.dh}


def _turn(axis: int, angle: float) -> np.ndarray:
    T, c, s = np.eye(4), math.cos(angle), math.sin(angle)
    x, y = (axis + 1) % 3, (axis + 2) % 3
    T[x, x], T[x, y], T[y, x], T[y, y] = c, -s, s, c
    return T


def _shift(axis: int, distance: float) -> np.ndarray:
    T = np.eye(4)
    T[axis, 3] = distance
    return T


def read(rows: Sequence[Mapping[str, Any]], convention: str = "classic", base: Any = None, tool: Any = None,
         name: str = "arm", **options: Any) -> Builder:  # fmt: skip
    """The arm a table describes, a row a joint. `base` and `tool` are 4×4 poses; the hand's frame is called "tool"."""
    if convention not in ("classic", "modified"):
        raise ModelError("convention", f'convention="{convention}" is not known.', 'Give "classic" or "modified".')
    builder = Builder(name, **options)
    builder.link("base")
    before = _pose("base", base)
    link = "base"
    for k, row in enumerate(rows, start=1):
        unknown = set(row) - KEYS
        if unknown:
            word = sorted(unknown)[0]
            raise ModelError("dh-key", f"row {k} of the table has {word!r}.", did_you_mean(word, KEYS))
        kind = TYPES.get(row.get("type", "revolute"))
        if kind is None:
            raise ModelError("joint-type", f"row {k} of the table has type {row['type']!r}.",
                             did_you_mean(str(row["type"]), TYPES))  # fmt: skip
        about_x = _shift(0, row.get("a", 0.0)) @ _turn(0, row.get("alpha", 0.0))
        along_z = _turn(2, row.get("theta", 0.0)) @ _shift(2, row.get("d", 0.0))
        inner, outer = (
            (before, along_z @ about_x) if convention == "classic" else (before @ about_x @ along_z, np.eye(4))
        )
        body = row.get("name", f"link{k}")
        limits = row.get("limits") or (None, None)
        parameters = {"pitch": row.get("pitch", 0.0)} if row.get("type") == "screw" else {}
        builder.link(body, row.get("mass", 0.0), row.get("com", (0.0, 0.0, 0.0)), row.get("inertia"))
        builder.joint(row.get("name", f"joint{k}"), kind, link, body, inner[:3, 3], inner[:3, :3], (0, 0, 1),
                      child_xyz=outer[:3, 3], child_rotation=outer[:3, :3],
                      lower=limits[0], upper=limits[1], velocity=row.get("velocity"), effort=row.get("effort"),
                      armature=row.get("armature", 0.0), damping=row.get("damping", 0.0),
                      friction=row.get("friction", 0.0), **parameters)  # fmt: skip
        link, before = body, np.eye(4)
    hand = _pose("tool", tool)
    builder.frame("tool", link, hand[:3, 3], hand[:3, :3])
    return builder


def _pose(what: str, given: Any) -> np.ndarray:
    T = np.eye(4) if given is None else np.asarray(given, float)
    if (
        T.shape != (4, 4)
        or not np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-9)
        or np.linalg.det(T[:3, :3]) < 0
    ):
        raise ModelError(
            "pose", f"{what}= is not a pose.", "Give a 4×4 matrix [R p; 0 1] with a right-handed rotation R."
        )
    return T
