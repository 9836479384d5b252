"""Mesh files, read: by trimesh (`pip install "hinge[mesh]"`), but binary STL and MuJoCo's own .msh here, as arrays.

A mesh is opened by its full path, which is what readers of robots put where they found one. A bare name is one that
they did not find: it is remembered, and looked for nowhere. What a mesh needs besides, as the numbers of a .gltf, lies
in its folder or below.
"""

from __future__ import annotations

import errno
import os
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

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
    data, ending = _content(path)
    if (plain := _plain(data, ending)) is not None:
        return plain
    import trimesh

    beside: Any = _Beside(os.path.dirname(path))
    mesh: Any = trimesh.load(BytesIO(data), ending[1:], beside, "mesh", process=False, skip_materials=True)
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)


class Painted(NamedTuple):
    """Triangles of one material: vertices (n, 3), triangles (m, 3), and its colour where the file says one."""

    vertices: Array
    faces: Whole
    rgba: tuple[float, ...] | None


def painted(path: str) -> list[Painted]:
    """What `read` gives, apart by the colours of the file's materials: those of DAE, OBJ with its MTL, glTF and PLY.

    A material with an image has the mean colour of the image. A material that cannot be read has no colour.
    """
    data, ending = _content(path)
    if (plain := _plain(data, ending)) is not None:
        return [Painted(*plain, None)]
    import trimesh

    beside: Any = _Beside(os.path.dirname(path))
    apart: dict[tuple[float, ...] | None, list[Any]] = {}
    try:
        scene: Any = trimesh.load_scene(BytesIO(data), ending[1:], beside, process=False)
        for mesh in scene.dump():
            if hasattr(mesh, "faces"):  # lines and points are no surface
                apart.setdefault(_rgba(mesh.visual), []).append(mesh)
    except Exception:  # a material is no reason not to see the mesh
        return [Painted(*read(path), None)]
    return [Painted(*_joined(same), rgba) for rgba, same in apart.items()]


def _joined(pieces: list[Any]) -> tuple[Array, Whole]:
    """Vertices and triangles of several meshes as those of one."""
    before = np.cumsum([0, *(len(one.vertices) for one in pieces)])
    faces = [np.asarray(one.faces, int) + at for one, at in zip(pieces, before, strict=False)]
    return np.concatenate([np.asarray(one.vertices, float) for one in pieces]), np.concatenate(faces)


def _rgba(visual: Any) -> tuple[float, ...] | None:
    """The colour of a mesh as trimesh has it: of its material, of the material's image, or the mean of its corners."""
    if not visual.defined:
        return None
    material = getattr(visual, "material", None)
    if material is None:
        color = np.asarray(visual.main_color, float) / 255.0
    else:
        color = np.asarray(material.main_color, float) / 255.0
        image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
        if image is not None:
            color[:3] = np.asarray(image.convert("RGB").resize((1, 1)), float).reshape(3) / 255.0
        color[3] = float(np.ravel(getattr(material, "kwargs", {}).get("d", color[3]))[0])
    return tuple(color.tolist())


def _content(path: str) -> tuple[bytes, str]:
    """The bytes of a mesh file, and its ending."""
    if not os.path.isabs(path):
        raise FileNotFoundError(errno.ENOENT, "it was not found", path)
    return files.read(path, MOST), os.path.splitext(path.lower())[1]


def _plain(data: bytes, ending: str) -> tuple[Array, Whole] | None:
    """Vertices and triangles of the kinds that are read here."""
    if ending == ".msh":
        return _msh(data)
    if ending == ".stl" and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        return _stl(data)
    return None


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
