"""Triangles as pictures want them: with a direction at each corner that light falls on, and arrows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.model.shapes import turned
from hinge.typing import Whole

CREASE = 0.8  # cosine of the angle between triangles that are seen as two
MANY = 64  # triangles at one corner: with more of them each is seen for itself


class Surface(NamedTuple):
    """Corners (n, 3) with normals (n, 3), each of one direction, and triangles (m, 3) of them."""

    corners: Array
    normals: Array
    faces: Whole


def surface(vertices: Array, faces: Whole) -> Surface:
    """A surface that is smooth but for its edges: normals are the mean of those of triangles that meet smoothly."""
    scale = float(np.ptp(vertices, axis=0).max()) or 1.0
    _, merged = np.unique(np.round(vertices / (1e-6 * scale)), axis=0, return_inverse=True)
    sides = np.cross(vertices[faces[:, 1]] - vertices[faces[:, 0]], vertices[faces[:, 2]] - vertices[faces[:, 0]])
    sides = np.repeat(sides, 3, axis=0)  # of a corner of a triangle
    units = sides / np.maximum(np.linalg.norm(sides, axis=1, keepdims=True), 1e-300)
    at = merged.reshape(-1)[faces].reshape(-1)
    order = np.argsort(at, kind="stable")
    count = np.bincount(at)[at[order]]
    first = np.searchsorted(at[order], at[order])
    few = np.where(count <= MANY, count, 0)
    one = np.repeat(np.arange(len(at)), few)
    other = np.repeat(first, few) + np.arange(len(one)) - np.repeat(np.cumsum(few) - few, few)
    one, other = order[one], order[other]
    smooth = np.einsum("ij,ij->i", units[one], units[other]) > CREASE
    sums = np.stack([np.bincount(one[smooth], sides[other[smooth], k], len(at)) for k in range(3)], axis=1)
    normals = np.where(np.isin(np.arange(len(at)), one)[:, None], sums, units)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    told = np.column_stack([merged.reshape(-1)[faces.reshape(-1)], np.round(127.0 * normals)])
    _, kept, corner = np.unique(told, axis=0, return_index=True, return_inverse=True)
    return Surface(vertices[faces.reshape(-1)[kept]], normals[kept], corner.reshape(-1, 3))


def arrow(thick: float) -> tuple[Surface, Surface]:
    """Shaft and head of an arrow along z, each of length one."""
    shaft = turned([(0.0, 0.0), (thick, 0.0), (thick, 1.0)], 16)
    head = turned([(0.0, 0.0), (2.5 * thick, 0.0), (0.0, 1.0)], 16)
    return surface(*shaft), surface(*head)
