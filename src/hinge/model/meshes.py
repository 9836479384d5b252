"""Mesh files, read: by trimesh (`pip install hinge[mesh]`), and MuJoCo's own .msh, four counts and four arrays."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np

from hinge import files

Array = np.ndarray[Any, np.dtype[Any]]
MOST = 512 << 20  # bytes of a mesh file


def read(path: str) -> tuple[Array, Array]:
    """Vertices (n, 3) and triangles (m, 3) of a mesh file; raises whatever its reader does."""
    if path.lower().endswith(".msh"):
        return _msh(path)
    import trimesh

    kind = os.path.splitext(path)[1][1:].lower()
    beside: Any = _Beside(os.path.dirname(path))
    with files.opened(path, MOST) as file:
        mesh: Any = trimesh.load(file, kind, beside, force="mesh", process=False, skip_materials=True)
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)


class _Beside:
    """The files below a folder, by name: what a mesh in several files may ask for, as trimesh asks for it."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder or os.curdir)

    def get(self, name: str) -> bytes:
        path = os.path.realpath(os.path.join(self.folder, name.strip()))
        if not path.startswith(os.path.join(self.folder, "")):
            raise ValueError(f"{name!r} leads out of its folder")
        return files.read(path, MOST)

    __getitem__ = get


@lru_cache(maxsize=256)
def hull(path: str) -> Array:
    """The vertices of the convex hull of a mesh file."""
    import trimesh

    return np.asarray(trimesh.Trimesh(*read(path)).convex_hull.vertices, float)


def _msh(path: str) -> tuple[Array, Array]:
    """Counts of vertices, normals, texture coordinates and faces, then the arrays."""
    data = files.read(path, MOST)
    nv, nn, nt, nf = (int(n) for n in np.frombuffer(data, "<i4", 4))
    if min(nv, nn, nt, nf) < 0 or len(data) != 16 + 4 * (3 * nv + 3 * nn + 2 * nt + 3 * nf):
        raise ValueError("its length does not fit its counts")
    vertices = np.frombuffer(data, "<f4", 3 * nv, 16).reshape(-1, 3).astype(float)
    faces = np.frombuffer(data, "<i4", 3 * nf, 16 + 4 * (3 * nv + 3 * nn + 2 * nt)).reshape(-1, 3)
    return vertices, faces.astype(int)
