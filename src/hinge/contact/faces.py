"""Where the faces that contacts are on end: contacts break at their edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.calls.poses import poses
from hinge.calls.target import Target
from hinge.contact.contacts import Contact
from hinge.typing import Flags

EDGE = 1e-6  # m: how far beyond the edge of a face a point still is on it


def off_faces(target: Target, q: Any, contacts: Sequence[Contact], parameters: Mapping[str, Any] | None = None,
              prescribed: Any = None) -> Flags:  # fmt: skip
    """Return (…, n): whether the point of each contact is beyond an edge of its face. Source: featherstone1987, 9.6."""
    q = np.asarray(q, float)
    off = np.zeros((*q.shape[:-1], len(contacts)), bool)
    bounded = [k for k, contact in enumerate(contacts) if contact.face]
    if not bounded:
        return off
    names = list(dict.fromkeys(name for k in bounded for name in (contacts[k].body, contacts[k].other) if name))
    T = dict(zip(names, np.moveaxis(poses(target, q, names, parameters, prescribed), -3, 0), strict=True))
    for k in bounded:
        off[..., k] = _off(contacts[k], T)
    return off


def _off(contact: Contact, T: Mapping[str, Array]) -> Any:
    """Return whether one contact, with the frames of its links at T, is beyond an edge of its face."""
    n, corners = np.asarray(contact.normal), np.asarray(contact.face)
    point, axis = _seen(contact, T, contact.point, 1.0), None
    if contact.edge is not None:  # a disc touches at its lowest point
        axis = _seen(contact, T, contact.edge, 0.0)
        down = n - axis * (axis @ n)[..., None]
        with np.errstate(invalid="ignore", divide="ignore"):
            point = point - contact.offset * down / np.linalg.norm(down, axis=-1, keepdims=True)
    sides = np.roll(corners, -1, axis=0) - corners
    out = np.cross(sides, n)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    out *= -np.sign(np.einsum("kj,kj->k", out, corners.mean(axis=0) - corners))[:, None]  # in either order of corners
    beyond = np.einsum("...j,kj->...k", point, out) - np.einsum("kj,kj->k", out, corners)
    return beyond.max(axis=-1) > EDGE


def _seen(contact: Contact, T: Mapping[str, Array], x: Sequence[float], point: float) -> Array:
    """Return a point (whose fourth coordinate is 1) or a direction (0) of the body in the coordinates of `other`."""
    there = T[contact.body] @ np.array([*x, point])
    if contact.other is None:
        return there[..., :3]
    R, p = T[contact.other][..., :3, :3], T[contact.other][..., :3, 3]
    return np.einsum("...ji,...j->...i", R, there[..., :3] - point * p)
