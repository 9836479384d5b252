"""Mesh files, read: by trimesh (`pip install hinge[mesh]`), but binary STL and MuJoCo's own .msh here, as arrays.

A mesh is opened by its full path, which is what readers of robots put where they found one. A bare name is one that
they did not find: it is remembered, and looked for nowhere. What a mesh needs besides, as the numbers of a .gltf, lies
in its folder or below.
"""

from __future__ import annotations

import errno
import os
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np

from hinge import files
from hinge.arguments import Array
from hinge.typing import Whole

MOST = 512 << 20  # bytes of a mesh file


def found(path: str) -> bool:
    """Whether a mesh is where its path says."""
    return os.path.isabs(path) and os.path.isfile(path)


def read(path: str) -> tuple[Array, Whole]:
    """Vertices (n, 3) and triangles (m, 3) of a mesh file; raises whatever its reader does."""
    if not os.path.isabs(path):
        raise FileNotFoundError(errno.ENOENT, "it was not found", path)
    data = files.read(path, MOST)
    folder, (_, ending) = os.path.dirname(path), os.path.splitext(path.lower())
    if ending == ".msh":
        return _msh(data)
    if ending == ".stl" and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        return _stl(data)
    import trimesh

    beside: Any = _Beside(folder)
    mesh: Any = trimesh.load(BytesIO(data), ending[1:], beside, "mesh", process=False, skip_materials=True)
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)


class _Beside:
    """The files in a folder and below, by name, as trimesh asks for what a mesh needs besides."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)

    def get(self, name: str) -> bytes:
        path = os.path.realpath(os.path.join(self.folder, name.strip().removeprefix("file://")))
        if not path.startswith(os.path.join(self.folder, "")):
            raise ValueError(f"{name!r} leads out of the folder of its mesh")
        return files.read(path, MOST)

    __getitem__ = get


@lru_cache(maxsize=256)
def hull(path: str) -> Array:
    """The vertices of the convex hull of a mesh file."""
    import trimesh

    return np.asarray(trimesh.Trimesh(*read(path)).convex_hull.vertices, float)


def _stl(data: bytes) -> tuple[Array, Whole]:
    """A title, a count, and of each triangle a normal, three corners and a word; every corner is a vertex."""
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("word", "<u2")])
    vertices = np.frombuffer(data, triangle, offset=84)["corners"].reshape(-1, 3).astype(float)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _msh(data: bytes) -> tuple[Array, Whole]:
    """Counts of vertices, normals, texture coordinates and faces, then the arrays."""
    nv, nn, nt, nf = (int(n) for n in np.frombuffer(data, "<i4", 4))
    if min(nv, nn, nt, nf) < 0 or len(data) != 16 + 4 * (3 * nv + 3 * nn + 2 * nt + 3 * nf):
        raise ValueError("its length does not fit its counts")
    vertices = np.frombuffer(data, "<f4", 3 * nv, 16).reshape(-1, 3).astype(float)
    faces = np.frombuffer(data, "<i4", 3 * nf, 16 + 4 * (3 * nv + 3 * nn + 2 * nt)).reshape(-1, 3)
    return vertices, faces.astype(int)
