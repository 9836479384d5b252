"""Shapes as geoms: those that are seen in group 2, those that collide in group 3, as is the custom, and none weighs.

A geom that is both is one that a file without groups has. Meshes are assets; MuJoCo opens .stl, .obj and .msh files,
and refuses a model whose mesh is not there, so others are left out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from hinge import files
from hinge.formats.write.mjcf_physics import surface_words
from hinge.formats.write.notes import Notes
from hinge.formats.write.text import Tag, row
from hinge.model.model import Model
from hinge.model.shapes import Mesh, Shape
from hinge.spatial.linear3 import Mat3
from hinge.spatial.rotation import quaternion_from_rotation

MESHES = (".stl", ".obj", ".msh")
MOST_FACES = 200_000
CLASSES = {
    "visual": {"group": "2", "contype": "0", "conaffinity": "0", "mass": "0"},
    "collision": {"group": "3", "mass": "0"},
}


class Shapes:
    """Geoms, and what they need besides: default classes and assets."""

    def __init__(self, model: Model, folder: str, notes: Notes) -> None:
        self.model, self.folder, self.notes = model, os.path.realpath(folder), notes
        self.roles: set[str] = set()
        self.meshes: dict[tuple[str, tuple[float, ...]], str] = {}
        self.names: set[str] = set()

    def geoms(self, link: str, shapes: Sequence[Shape]) -> list[Tag]:
        """The geoms of a link."""
        made = []
        collide = [shape for shape in shapes if shape.role == "collision"]
        for shape in shapes:
            twin = replace(shape, role="collision")
            if shape.role == "visual" and twin in collide:
                collide.remove(twin)
                made.append(self.geom(link, shape, ""))
            elif shape.role == "visual" or shape in collide:
                made.append(self.geom(link, shape, shape.role))
        return [geom for geom in made if geom is not None]

    def geom(self, link: str, shape: Shape, role: str) -> Tag | None:
        geometry = shape.geometry
        if geometry is None or not geometry.mjcf or min(shape.size, default=1.0) <= 0.0:
            self.notes.add(
                "note", "shape", "link", link, f"MJCF has no {shape.kind} of size {shape.size}; it was left out."
            )
            return None
        said: dict[str, str | None] = {"class": role or None}
        if shape.name and shape.name not in self.names:
            self.names.add(shape.name)
            said["name"] = shape.name
        said["type"] = geometry.mjcf
        if isinstance(geometry, Mesh):
            said["mesh"] = self.mesh(link, shape)
            if said["mesh"] is None:
                return None
        else:
            said["size"] = row(geometry.mjcf_size)
        q = quaternion_from_rotation(Mat3(x for r in shape.rotation for x in r))
        said["pos"] = row(shape.xyz) if any(shape.xyz) else None
        said["quat"] = row(q) if any(q[1:]) else None
        said["rgba"] = None if shape.rgba is None else row(shape.rgba)
        said["mass"] = None if role else "0"
        said |= surface_words(shape.surface)
        if role:
            self.roles.add(role)
        return Tag("geom", said)

    def mesh(self, link: str, shape: Shape) -> str | None:
        """The name of a mesh among the assets, or None where it is not there or MuJoCo could not open it."""
        beside = os.path.dirname(os.path.abspath(self.model.file)) if self.model.file else ""
        path = os.path.join(beside, shape.file)
        if not (os.path.isabs(path) and os.path.isfile(path)):
            hint = "Put it there, or read the robot with packages=…, the folders that its packages lie in."
            self.notes.add("note", "mesh", "link", link, f"mesh {shape.file!r} was not found; it was left out.", hint)
            return None
        if not _opens(path):
            kind = os.path.splitext(path)[1] or shape.file
            self.notes.add("note", "mesh", "link", link, f"a {kind} mesh is none that MuJoCo opens; it was left out.",
                           f"It opens binary .stl files of up to {MOST_FACES} faces, .obj and .msh.")  # fmt: skip
            return None
        real = os.path.realpath(path)
        file = files.below(real, self.folder) or real.replace(os.sep, "/")
        key = file, tuple(shape.scale)
        if key not in self.meshes:
            name, k = os.path.splitext(os.path.basename(file))[0], 1
            while (candidate := name if k == 1 else f"{name}_{k}") in self.meshes.values():
                k += 1
            self.meshes[key] = candidate
        return self.meshes[key]

    def defaults(self) -> list[Tag]:
        classes = [
            Tag("default", {"class": role}, [Tag("geom", CLASSES[role])]) for role in CLASSES if role in self.roles
        ]
        if self.meshes:  # nothing weighs, and a surface has an inertia even where it holds nothing
            classes.insert(0, Tag("mesh", {"inertia": "shell"}))
        return [Tag("default", {}, classes)] if classes else []

    def assets(self) -> list[Tag]:
        listed = [
            Tag("mesh", {"name": name, "file": file, "scale": None if scale == (1.0, 1.0, 1.0) else row(scale)})
            for (file, scale), name in self.meshes.items()
        ]
        return [Tag("asset", {}, listed)] if listed else []


def _opens(path: str) -> bool:
    """Whether MuJoCo opens a mesh file."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in MESHES:
        return False
    if suffix != ".stl":
        return True
    with files.opened(path) as file:  # eighty bytes of header, the number of faces, fifty bytes each
        faces = int.from_bytes(file.read(84)[80:], "little")
    return 0 < faces <= MOST_FACES and os.path.getsize(path) == 84 + 50 * faces
