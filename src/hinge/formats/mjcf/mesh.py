"""Meshes, opened only where a mass has to be inferred from them.

MuJoCo reads vertices in single precision, and so does this file: then masses agree to rounding.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from hinge import files
from hinge.errors import ModelError, Where
from hinge.formats.xml import Element
from hinge.model.meshes import MOST, read
from hinge.model.moments import Moments, of_triangles, surface
from hinge.model.shapes import Geometry
from hinge.typing import Array, Whole

FLAT = 1e-13  # of their extent: how far points may be from a plane that they lie in
MODES = ("legacy", "convex", "exact", "shell")


class Mesh(NamedTuple):
    """Triangles in the frame of the file, scaled and moved as its <mesh> says."""

    vertices: Array
    faces: Whole

    @property
    def closed(self) -> bool:
        """Whether every edge has a triangle on either side, both turned the same way round."""
        order = np.lexsort(self.vertices.T)  # vertices in one place come to stand side by side, and get one number
        apart = np.any(np.diff(self.vertices[order], axis=0) != 0.0, axis=1)
        same = np.zeros(len(order), int)
        same[order[1:]] = np.cumsum(apart)
        corners = same[self.faces]
        ahead, n = np.roll(corners, -1, axis=1), len(self.vertices)
        return bool(np.array_equal(np.sort(corners * n + ahead, axis=None), np.sort(ahead * n + corners, axis=None)))

    def solid(self, mode: str) -> Moments:
        """What it holds, in the way its `inertia` attribute names."""
        if mode == "shell":
            return surface(self.vertices, self.faces)
        if mode in ("exact", "convex"):
            return of_triangles(self.vertices, self.faces, self.vertices.mean(axis=0), True)
        # "legacy": every tetrahedron counts positive, once from the middle of the surface to find the centre, and again
        # from there; right for convex meshes, too much for others
        middle = surface(self.vertices, self.faces).center
        center = of_triangles(self.vertices, self.faces, middle, False).center
        again = of_triangles(self.vertices, self.faces, center, False)
        away = again.center - center
        return Moments(again.content, center, again.second + again.content * np.outer(away, away))


def principal(solid: Moments) -> Array:
    """Axes of inertia in columns, right-handed, the largest inertia first."""
    _, vectors = np.linalg.eigh(solid.second)  # the largest inertia has the smallest second moment
    return vectors * np.array([1.0, 1.0, np.linalg.det(vectors)])


def fitted(mesh: Mesh, solid: Moments, shape: type[Geometry], scale: float, by_box: bool
           ) -> tuple[tuple[float, ...], Array, Array]:  # fmt: skip
    """Size, centre and axes of the primitive MuJoCo puts in the place of a mesh.

    It has the inertia of the mesh or, with `by_box`, its extent along the axes of inertia.
    """
    R, center = principal(solid), solid.center
    if by_box:
        along = (mesh.vertices - center) @ R
        low, high = along.min(axis=0), along.max(axis=0)
        half, center = (high - low) / 2, center + R @ ((high + low) / 2)
    else:
        half = np.sqrt(3 * np.diag(R.T @ solid.second @ R) / solid.content)
    x, y, z = half.tolist()
    return tuple(scale * s for s in shape.fitted(x, y, z, by_box)), center, R


def load(path: str, where: Where) -> tuple[Array, Whole]:
    """Vertices and triangles of a mesh file."""
    try:
        files.regular(path, MOST)
    except files.TooLarge as problem:
        what = f"mesh file {path!r} cannot be read: {problem.strerror}."
        raise ModelError("size", what, "Simplify it.", where) from None
    except OSError as problem:
        hint = "Masses are inferred from it: fetch it, or write <inertial> in the body."
        raise ModelError("no-mesh", f"mesh file {path!r} cannot be read: {problem.strerror}.", hint, where) from None
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".stl", ".obj", ".msh"):
        raise ModelError("mesh-format", f"mesh file {path!r} is none of .stl, .obj and .msh.", "Convert it.", where)
    try:
        if ending != ".msh":
            _trimesh()
        vertices, faces = read(path)
        good = vertices.shape[1:] == faces.shape[1:] == (3,) and len(vertices) > 2 and bool(np.isfinite(vertices).all())
        good = good and bool(faces.min(initial=0) >= 0 and faces.max(initial=0) < len(vertices))
        good = good and (len(faces) > 0 or ending == ".msh")  # which stands for its hull then
    except ModelError:
        raise
    except Exception as problem:  # whatever a mesh library makes of a broken file
        raise ModelError("mesh", f"mesh file {path!r} cannot be read: {problem}.", "Export it again.", where) from None
    if not good:
        raise ModelError("mesh", f"mesh file {path!r} has no triangles, or broken ones.", "Export it again.", where)
    return vertices, faces


def around(points: Array, element: Element) -> tuple[Array, Whole]:
    """Vertices and triangles of the convex hull of points."""
    cloud = _trimesh().Trimesh(points, process=False)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    try:
        if len(points) < 4 or spread[2] <= FLAT * spread[0]:
            raise ValueError  # of which some versions make a hull without volume
        hull = cloud.convex_hull
    except Exception:  # whatever a mesh library makes of points in a plane
        raise ModelError("mesh", f"{element} has no hull.", "Its points lie in a plane: give it a thickness, or write "
                         "<inertial> in the body.", element.where) from None  # fmt: skip
    return np.asarray(hull.vertices, float), np.asarray(hull.faces, int)


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError:
        raise ModelError("trimesh", "a mass has to be inferred from a mesh, which needs the package trimesh.",
                         "pip install \"hinge[mesh]\", or write <inertial> in the body.") from None  # fmt: skip
    return trimesh
