"""Mesh files, read: by trimesh (`pip install hinge[mesh]`), and MuJoCo's own .msh, four counts and four arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def read(path: str) -> tuple[Array, Array]:
    """Vertices (n, 3) and triangles (m, 3) of a mesh file; raises whatever its reader does."""
    if path.lower().endswith(".msh"):
        return _msh(path)
    import trimesh

    mesh: Any = trimesh.load(path, force="mesh", process=False, skip_materials=True)  # no other files
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)


@lru_cache(maxsize=256)
def hull(path: str) -> Array:
    """The vertices of the convex hull of a mesh file."""
    import trimesh

    return np.asarray(trimesh.Trimesh(*read(path)).convex_hull.vertices, float)


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
