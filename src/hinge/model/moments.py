"""Mass, centre and second moments of what has even density, and of triangles.

A shape is its mass for unit density, its centre of mass, and its second moment about that centre for unit density:
E = ∫ x xᵀ dm, from which the inertia is tr(E) 1 - E. Second moments add and turn like any other tensor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


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


def of_triangles(vertices: Array, faces: Array, apex: Array, signed: bool) -> Moments:
    """The tetrahedra between an apex and the triangles; those seen from outside count negative where `signed`."""
    corners = vertices[faces] - apex
    volume = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    if not signed:
        volume = np.abs(volume)
    return _gathered(volume, corners, apex, 4)


def surface(vertices: Array, faces: Array) -> Moments:
    """The triangles themselves."""
    corners = vertices[faces]
    return _gathered(areas(corners), corners, np.zeros(3), 3)


def areas(corners: Array) -> Array:
    return np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2


def _gathered(weights: Array, corners: Array, origin: Array, k: int) -> Moments:
    """Simplices of k corners, the three given and (for k = 4) the origin, with these contents."""
    total = float(weights.sum())
    if total == 0.0:
        return Moments(0.0, origin.copy(), np.zeros((3, 3)))
    sums = corners.sum(axis=1)
    center = weights @ sums / k / total
    # ∫ x xᵀ over a simplex with corners v: content / (k (k + 1)) (Σ v vᵀ + Σ v (Σ v)ᵀ)
    moment = np.einsum("i,ija,ijb->ab", weights, corners, corners) + np.einsum("i,ia,ib->ab", weights, sums, sums)
    return Moments(total, center + origin, moment / (k * (k + 1)) - total * np.outer(center, center))
