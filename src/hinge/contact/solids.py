"""The solids of contact geometry: a link's collision shapes, and where they are."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.errors import NotCovered
from hinge.model.model import Model
from hinge.model.shapes import SHAPES, Geometry, Mesh, Shape

CURVED = ("cylinder", "plane")  # what has no corners and is covered nevertheless


class Solid(NamedTuple):
    """A solid on a link (None: the world), in base coordinates: axes R, origin p, and the vertices of a mesh's hull."""

    kind: str
    size: tuple[float, ...]
    link: str | None
    R: Array
    p: Array
    vertices: Array | None = None

    def __str__(self) -> str:
        return f"the {self.kind} on {'the world' if self.link is None else repr(self.link)}"

    @property
    def geometry(self) -> Geometry:
        return _sized(self.kind, self.size)

    @property
    def axis(self) -> Array:
        return self.R[:, 2]

    @property
    def reach(self) -> float:
        """The radius of a sphere around its origin that holds it."""
        return self.geometry.reach if self.vertices is None else float(np.linalg.norm(self.vertices, axis=1).max())

    @property
    def ends(self) -> Array:
        """The centres of the ends of what has a length, (2, 3)."""
        return self.p + np.outer([-0.5, 0.5], self.axis * self.size[1])

    @property
    def corners(self) -> Array:
        """Its corners, or their centres where it is rounded; those of a mesh's hull."""
        return self.p + (self.geometry.corners if self.vertices is None else self.vertices) @ self.R.T


@lru_cache(maxsize=1024)
def _sized(kind: str, size: tuple[float, ...]) -> Geometry:
    return SHAPES[kind](*size)


def touches(kind: str) -> bool:
    """Whether contact geometry covers shapes of this kind: all that have corners, and a few that are curved."""
    return kind in CURVED or (kind in SHAPES and SHAPES[kind].corners is not Geometry.corners)


def link_solids(model: Model) -> list[tuple[str, Shape]]:
    """The collision shapes of a robot with their links; refuses by name what is no solid of ours."""
    made = []
    for link, shapes in model.shapes.items():
        for shape in shapes:
            if shape.role != "collision":
                continue
            if not touches(shape.kind):
                hint = f"Contact geometry covers {', '.join(filter(touches, SHAPES))}. Leave it out, or replace it."
                raise NotCovered(f"link {link!r} has a collision shape of kind {shape.kind!r}.\n  {hint}")
            made.append((link, shape))
    return made


def placed(link: str, shape: Shape, T: Array) -> Solid:
    """A shape where its link is."""
    R = T[:3, :3] @ np.array(shape.rotation, float)
    p = T[:3, 3] + T[:3, :3] @ np.array(shape.xyz, float)
    return Solid(shape.kind, shape.size, link, R, p, hull_of(shape.geometry, link))


def hull_of(mesh: Geometry | None, link: str) -> Array | None:
    """The vertices of a mesh's hull, in its own coordinates."""
    if not isinstance(mesh, Mesh):
        return None
    if not mesh.file:
        what = f"link {link!r}: a collision mesh has no file, only vertices or a builtin shape."
        raise NotCovered(f"{what}\n  Save it as an STL or OBJ file, and name that in the robot's file.")
    try:
        return mesh.corners
    except ImportError as missing:
        raise NotCovered(
            f"link {link!r}: the collision mesh {mesh.file!r} needs a package that is not installed: "
            f'{missing}.\n  pip install "hinge[mesh]", or take boxes and spheres.'
        ) from None
    except Exception as wrong:  # readers of meshes raise whatever they like
        raise NotCovered(f"link {link!r}: the collision mesh {mesh.file!r} cannot be read: {wrong}.") from None
