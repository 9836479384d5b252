"""Mass, centre and inertia of shapes of uniform density, solid or as shells.

A shape is its mass for unit density, its centre of mass, and its second moment about that centre for unit density:
E = ∫ x xᵀ dm, from which the inertia is tr(E) 1 - E. Second moments add and turn like any other tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Solid(NamedTuple):
    """A shape of unit density: what it holds (m³, or m² for a shell), its centre, its second moment about it."""

    content: float
    center: Array
    moment: Array

    @property
    def inertia(self) -> Array:
        """About the centre, for unit density."""
        return np.trace(self.moment) * np.eye(3) - self.moment

    def placed(self, R: Array, p: Array) -> Solid:
        """The same shape after its own frame was put at (R, p)."""
        return Solid(self.content, R @ self.center + p, R @ self.moment @ R.T)

    def scaled(self, density: float) -> Solid:
        """The same shape of another density: its content is then a mass."""
        return Solid(density * self.content, self.center, density * self.moment)


def joined(parts: list[Solid]) -> Solid:
    """Several shapes as one."""
    content = sum(part.content for part in parts)
    if content == 0.0:
        return Solid(0.0, np.zeros(3), np.zeros((3, 3)))
    center = sum((part.content * part.center for part in parts), np.zeros(3)) / content
    moment = np.zeros((3, 3))
    for part in parts:
        away = part.center - center
        moment += part.moment + part.content * np.outer(away, away)
    return Solid(content, center, moment)


def _centered(content: float, x: float, y: float, z: float) -> Solid:
    """A shape symmetric about its axes: mean squares of its coordinates."""
    return Solid(content, np.zeros(3), content * np.diag([x, y, z]))


# solids by kind; sizes are MuJoCo's: radius, radius and half-length, half-edges, semi-axes


def sphere(r: float) -> Solid:
    return _centered(4 / 3 * pi * r**3, r * r / 5, r * r / 5, r * r / 5)


def ellipsoid(a: float, b: float, c: float) -> Solid:
    return _centered(4 / 3 * pi * a * b * c, a * a / 5, b * b / 5, c * c / 5)


def box(a: float, b: float, c: float) -> Solid:
    return _centered(8 * a * b * c, a * a / 3, b * b / 3, c * c / 3)


def cylinder(r: float, h: float) -> Solid:
    return _centered(2 * pi * r * r * h, r * r / 4, r * r / 4, h * h / 3)


def capsule(r: float, h: float) -> Solid:
    """A cylinder and the two halves of a sphere at its ends."""
    ball = sphere(r).content
    caps = _centered(ball, r * r / 5, r * r / 5, r * r / 5 + h * h + 3 / 4 * h * r)
    return joined([cylinder(r, h), caps])


# shells by kind


def sphere_shell(r: float) -> Solid:
    return _centered(4 * pi * r * r, r * r / 3, r * r / 3, r * r / 3)


def box_shell(a: float, b: float, c: float) -> Solid:
    x = _centered(8 * b * c, a * a, b * b / 3, c * c / 3)
    y = _centered(8 * c * a, a * a / 3, b * b, c * c / 3)
    z = _centered(8 * a * b, a * a / 3, b * b / 3, c * c)
    return joined([x, y, z])


def _tube(r: float, h: float) -> Solid:
    return _centered(4 * pi * r * h, r * r / 2, r * r / 2, h * h / 3)


def cylinder_shell(r: float, h: float) -> Solid:
    return joined([_tube(r, h), _centered(2 * pi * r * r, r * r / 4, r * r / 4, h * h)])


def capsule_shell(r: float, h: float) -> Solid:
    return joined([_tube(r, h), _centered(4 * pi * r * r, r * r / 3, r * r / 3, r * r / 3 + h * h + h * r)])


def ellipsoid_shell(a: float, b: float, c: float) -> Solid:
    """As MuJoCo has it: Thomsen's formula for the area (1 % off at worst), moments of a layer a micrometre thick."""
    p, layer = 1.6075, 1e-6
    area = 4 * pi * (((a * b) ** p + (b * c) ** p + (c * a) ** p) / 3) ** (1 / p)
    inner, outer = ellipsoid(a, b, c), ellipsoid(a + layer, b + layer, c + layer)
    return Solid(area, np.zeros(3), area * (outer.moment - inner.moment) / (outer.content - inner.content))


SOLIDS: dict[str, Callable[..., Solid]] = {
    "sphere": sphere,
    "capsule": capsule,
    "ellipsoid": ellipsoid,
    "cylinder": cylinder,
    "box": box,
}
SHELLS: dict[str, Callable[..., Solid]] = {
    "sphere": sphere_shell, "capsule": capsule_shell, "ellipsoid": ellipsoid_shell, "cylinder": cylinder_shell,
    "box": box_shell,
}  # fmt: skip
SIZES = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}


# triangles: each with the apex makes a tetrahedron


def of_triangles(vertices: Array, faces: Array, apex: Array, signed: bool) -> Solid:
    """The tetrahedra between an apex and the triangles; those seen from outside count negative where `signed`."""
    corners = vertices[faces] - apex
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    if not signed:
        volume = np.abs(volume)
    return _gathered(volume, corners, apex, 4)


def surface(vertices: Array, faces: Array) -> Solid:
    """The triangles themselves."""
    corners = vertices[faces]
    return _gathered(areas(corners), corners, np.zeros(3), 3)


def areas(corners: Array) -> Array:
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2


def _gathered(weights: Array, corners: Array, origin: Array, k: int) -> Solid:
    """Simplices of k corners, the three given and (for k = 4) the origin, with these contents."""
    total = float(weights.sum())
    if total == 0.0:
        return Solid(0.0, origin.copy(), np.zeros((3, 3)))
    sums = corners.sum(axis=1)
    center = weights @ sums / k / total
    # ∫ x xᵀ over a simplex with corners v: content / (k (k + 1)) (Σ v vᵀ + Σ v (Σ v)ᵀ)
    moment = np.einsum("i,ija,ijb->ab", weights, corners, corners) + np.einsum("i,ia,ib->ab", weights, sums, sums)
    return Solid(total, center + origin, moment / (k * (k + 1)) - total * np.outer(center, center))
