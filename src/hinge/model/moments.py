"""Mass, centre and second moments of what has even density, and of triangles.

A shape is its mass for unit density, its centre of mass, and its second moment about that centre for unit density:
E = ∫ x xᵀ dm, from which the inertia is tr(E) 1 - E. Second moments add and turn like any other tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hinge.typing import Array, Whole

BLOCK = 1 << 15  # triangles that are taken at once


class Moments(NamedTuple):
    """A shape of unit density: what it holds (m³, or m² for a shell), its centre, its second moment about it."""

    content: float
    center: Array
    second: Array

    @property
    def inertia(self) -> Array:
        """About the centre, for unit density."""
        return np.trace(self.second) * np.eye(3) - self.second

    def placed(self, R: Array, p: Array) -> Moments:
        """The same shape after its own frame was put at (R, p)."""
        return Moments(self.content, R @ self.center + p, R @ self.second @ R.T)

    def scaled(self, density: float) -> Moments:
        """The same shape of another density: its content is then a mass."""
        return Moments(density * self.content, self.center, density * self.second)


def joined(parts: list[Moments]) -> Moments:
    """Several shapes as one."""
    content = sum(part.content for part in parts)
    if content == 0.0:
        return Moments(0.0, np.zeros(3), np.zeros((3, 3)))
    center = sum((part.content * part.center for part in parts), np.zeros(3)) / content
    moment = np.zeros((3, 3))
    for part in parts:
        away = part.center - center
        moment += part.second + part.content * np.outer(away, away)
    return Moments(content, center, moment)


def centred(content: float, x: float, y: float, z: float) -> Moments:
    """A shape symmetric about its axes: what it holds, and the mean squares of its coordinates."""
    return Moments(content, np.zeros(3), content * np.diag([x, y, z]))


# triangles: each with the apex makes a tetrahedron


def of_triangles(vertices: Array, faces: Whole, apex: Array, signed: bool) -> Moments:
    """The tetrahedra between an apex and the triangles; those seen from outside count negative where `signed`."""

    def volumes(corners: Array) -> Array:
        volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        return volume if signed else np.abs(volume)

    return _gathered(volumes, vertices, faces, apex, 4)


def surface(vertices: Array, faces: Whole) -> Moments:
    """The triangles themselves."""
    return _gathered(_areas, vertices, faces, np.zeros(3), 3)


def _areas(corners: Array) -> Array:
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2


def _gathered(content: Callable[[Array], Array], vertices: Array, faces: Whole, origin: Array, k: int) -> Moments:
    """Simplices of k corners, those of a triangle and (for k = 4) the origin, each with its content."""
    total, first, moment = 0.0, np.zeros(3), np.zeros((3, 3))
    for start in range(0, len(faces), BLOCK):
        corners = vertices[faces[start : start + BLOCK]] - origin
        weights, sums = content(corners), corners[:, 0] + corners[:, 1] + corners[:, 2]
        total += float(weights.sum())
        first += weights @ sums
        # ∫ x xᵀ over a simplex with corners v: content / (k (k + 1)) (Σ v vᵀ + Σ v (Σ v)ᵀ)
        weighted = (weights[:, None, None] * corners).reshape(-1, 3)
        moment += weighted.T @ corners.reshape(-1, 3) + (weights[:, None] * sums).T @ sums
    if total == 0.0:
        return Moments(0.0, origin.copy(), np.zeros((3, 3)))
    center = first / k / total
    return Moments(total, center + origin, moment / (k * (k + 1)) - total * np.outer(center, center))
