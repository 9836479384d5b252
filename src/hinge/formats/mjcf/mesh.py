"""Meshes, opened only where a mass has to be inferred from them.

MuJoCo reads vertices in single precision, and so does this file: then masses agree to rounding. Files are read with
trimesh (`pip install hinge[mesh]`); MuJoCo's own .msh is four counts and four arrays.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from hinge.errors import ModelError, Where
from hinge.formats.mjcf.solids import Array, Solid, areas, of_triangles, surface
from hinge.formats.xml import Element

MAX_BYTES = 512 * 2**20
MODES = ("legacy", "convex", "exact", "shell")


class Mesh(NamedTuple):
    """Triangles in the frame of the file, scaled and moved as its <mesh> says."""

    vertices: Array
    faces: Array

    @property
    def closed(self) -> bool:
        """Whether every edge has a triangle on either side, both turned the same way round."""
        _, same = np.unique(self.vertices, axis=0, return_inverse=True)
        corners = same.reshape(-1)[self.faces]
        ahead, n = np.roll(corners, -1, axis=1), len(self.vertices)
        return bool(np.array_equal(np.sort(corners * n + ahead, axis=None), np.sort(ahead * n + corners, axis=None)))

    def solid(self, mode: str) -> Solid:
        """What it holds, in the way its `inertia` attribute names."""
        if mode == "shell":
            return surface(self.vertices, self.faces)
        if mode in ("exact", "convex"):
            return of_triangles(self.vertices, self.faces, self.vertices.mean(axis=0), True)
        # "legacy": every tetrahedron counts positive, once from the middle of the surface to find the centre, and again
        # from there; right for convex meshes, too much for others
        weights = areas(self.vertices[self.faces])
        middle = weights @ self.vertices[self.faces].mean(axis=1) / weights.sum()
        center = of_triangles(self.vertices, self.faces, middle, False).center
        again = of_triangles(self.vertices, self.faces, center, False)
        away = again.center - center
        return Solid(again.content, center, again.moment + again.content * np.outer(away, away))


def principal(solid: Solid) -> Array:
    """Axes of inertia in columns, right-handed, the largest inertia first."""
    _, vectors = np.linalg.eigh(solid.moment)  # the largest inertia has the smallest second moment
    return vectors * np.array([1.0, 1.0, np.linalg.det(vectors)])


def fitted(mesh: Mesh, solid: Solid, kind: str, scale: float, by_box: bool) -> tuple[tuple[float, ...], Array, Array]:
    """Size, centre and axes of the primitive MuJoCo puts in the place of a mesh.

    It has the inertia of the mesh or, with `by_box`, its extent along the axes of inertia.
    """
    R, center = principal(solid), solid.center
    if by_box:
        along = (mesh.vertices - center) @ R
        low, high = along.min(axis=0), along.max(axis=0)
        (x, y, z), center = (high - low) / 2, center + R @ ((high + low) / 2)
        radius = max(x, y)
        sizes = {"sphere": (max(x, y, z),), "capsule": (radius, max(0.0, z - radius)), "cylinder": (radius, z)}
    else:
        x, y, z = np.sqrt(3 * np.diag(R.T @ solid.moment @ R) / solid.content)
        radius = (x + y) / 2
        sizes = {"sphere": ((x + y + z) / 3,), "capsule": (radius, max(0.0, z - radius / 2)), "cylinder": (radius, z)}
    size = sizes.get(kind, (x, y, z))
    return tuple(scale * float(s) for s in size), center, R


def load(path: str, where: Where) -> tuple[Array, Array]:
    """Vertices and triangles of a mesh file."""
    try:
        size = os.path.getsize(path)
    except OSError as problem:
        hint = "Masses are inferred from it: fetch it, or write <inertial> in the body."
        raise ModelError("no-mesh", f"mesh file {path!r} cannot be read: {problem.strerror}.", hint, where) from None
    if size > MAX_BYTES:
        raise ModelError(
            "size", f"mesh file {path!r} has {size} bytes, at most {MAX_BYTES} are read.", "Simplify it.", where
        )
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".stl", ".obj", ".msh"):
        raise ModelError("mesh-format", f"mesh file {path!r} is none of .stl, .obj and .msh.", "Convert it.", where)
    try:
        vertices, faces = _msh(path) if ending == ".msh" else _with_trimesh(path)
        good = vertices.ndim == faces.ndim == 2 and len(vertices) > 2 and bool(np.all(np.isfinite(vertices)))
        good = good and bool(faces.min(initial=0) >= 0 and faces.max(initial=0) < len(vertices))
        good = good and (len(faces) > 0 or ending == ".msh")  # which stands for its hull then
    except ModelError:
        raise
    except Exception as problem:  # whatever a mesh library makes of a broken file
        raise ModelError("mesh", f"mesh file {path!r} cannot be read: {problem}.", "Export it again.", where) from None
    if not good:
        raise ModelError("mesh", f"mesh file {path!r} has no triangles, or broken ones.", "Export it again.", where)
    return vertices, faces


def around(points: Array, element: Element) -> tuple[Array, Array]:
    """Vertices and triangles of the convex hull of points."""
    cloud = _trimesh().Trimesh(points, process=False)
    try:
        hull = cloud.convex_hull
    except Exception:  # whatever a mesh library makes of points in a plane
        raise ModelError("mesh", f"{element} has no hull.", "Its points lie in a plane: give it a thickness, or write "
                         "<inertial> in the body.", element.where) from None  # fmt: skip
    return np.asarray(hull.vertices, float), np.asarray(hull.faces, int)


def _with_trimesh(path: str) -> tuple[Array, Array]:
    mesh = _trimesh().load(path, force="mesh", process=False, skip_materials=True)  # no other files
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)


def _msh(path: str) -> tuple[Array, Array]:
    """Counts of vertices, normals, texture coordinates and faces, then the arrays."""
    with open(path, "rb") as file:
        data = file.read()
    nv, nn, nt, nf = (int(n) for n in np.frombuffer(data, "<i4", 4))
    if min(nv, nn, nt, nf) < 0 or len(data) != 16 + 4 * (3 * nv + 3 * nn + 2 * nt + 3 * nf):
        raise ValueError("its length does not fit its counts")
    vertices = np.frombuffer(data, "<f4", 3 * nv, 16).reshape(-1, 3).astype(float)
    faces = np.frombuffer(data, "<i4", 3 * nf, 16 + 4 * (3 * nv + 3 * nn + 2 * nt)).reshape(-1, 3)
    return vertices, faces.astype(int)


def _trimesh() -> Any:
    try:
        import trimesh
    except ImportError:
        raise ModelError("trimesh", "a mass has to be inferred from a mesh, which needs the package trimesh.",
                         "pip install hinge[mesh], or write <inertial> in the body.") from None  # fmt: skip
    return trimesh
