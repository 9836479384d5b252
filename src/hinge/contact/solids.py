"""The solids of contact geometry: what a link's collision shapes are, and where.

Sizes are as URDF has them: a sphere's radius, a box's whole edges, radius and whole length of a cylinder or a capsule
(of a capsule between the centres of its ends), along z. A plane is the half-space below its z axis.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.errors import NotCovered
from hinge.model.model import Model, Shape

SOLIDS = ("sphere", "capsule", "box", "cylinder", "half_space", "mesh")
WAYS = {"plane": "half_space"}  # what else files call them


class Solid(NamedTuple):
    """A solid on a link (None: the world), in base coordinates: axes R, origin p, and the vertices of a mesh's hull."""

    kind: str
    size: tuple[float, ...]
    link: str | None
    R: Array
    p: Array
    vertices: Array | None = None

    def __str__(self) -> str:
        return f"the {self.kind.replace('_', '-')} on {'the world' if self.link is None else repr(self.link)}"

    @property
    def axis(self) -> Array:
        return self.R[:, 2]

    @property
    def reach(self) -> float:
        """The radius of a sphere around its origin that holds it."""
        if self.kind == "half_space":
            return np.inf
        if self.kind == "mesh":
            return float(np.sqrt((self.corners - self.p) ** 2 @ np.ones(3)).max())
        if self.kind == "box":
            return float(np.linalg.norm(self.size) / 2)
        if self.kind == "capsule":
            return self.size[0] + self.size[1] / 2
        return float(np.hypot(self.size[0], self.size[1] / 2)) if self.kind == "cylinder" else self.size[0]

    @property
    def ends(self) -> Array:
        """The centres of the ends of a capsule or cylinder, (2, 3)."""
        return self.p + np.outer([-0.5, 0.5], self.axis * self.size[1])

    @property
    def corners(self) -> Array:
        """The vertices of a box or of a mesh's hull."""
        if self.vertices is not None:
            return self.p + self.vertices @ self.R.T
        signs = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
        return self.p + (signs * np.asarray(self.size) / 2) @ self.R.T


def link_solids(model: Model) -> list[tuple[str, Shape]]:
    """The collision shapes of a robot with their links; refuses by name what is no solid of ours."""
    made = []
    for link, shapes in model.shapes.items():
        for shape in shapes:
            if shape.role != "collision":
                continue
            if WAYS.get(shape.kind, shape.kind) not in SOLIDS:
                hint = f"Contact geometry covers {', '.join(SOLIDS)}. Leave it out, or replace it by those."
                raise NotCovered(f"link {link!r} has a collision shape of kind {shape.kind!r}.\n  {hint}")
            made.append((link, shape))
    return made


def placed(link: str, shape: Shape, T: Array) -> Solid:
    """A shape where its link is."""
    R = T[:3, :3] @ np.array(shape.rotation, float)
    p = T[:3, 3] + T[:3, :3] @ np.array(shape.xyz, float)
    vertices = _hull(shape.file, shape.scale, link) if shape.kind == "mesh" else None
    return Solid(WAYS.get(shape.kind, shape.kind), shape.size, link, R, p, vertices)


@lru_cache(maxsize=256)
def _hull(file: str, scale: tuple[float, ...], link: str) -> Array:
    """The vertices of a mesh's convex hull, in its own coordinates."""
    try:
        import trimesh

        mesh: Any = trimesh.load(file, force="mesh")
        return np.asarray(mesh.convex_hull.vertices, float) * np.asarray(scale)
    except ImportError as missing:
        raise NotCovered(f"link {link!r}: the collision mesh {file!r} needs a package that is not installed: "
                         f"{missing}.\n  pip install hinge[mesh], or take boxes and spheres.") from None  # fmt: skip
    except Exception as wrong:  # readers of meshes raise whatever they like
        raise NotCovered(f"link {link!r}: the collision mesh {file!r} cannot be read: {wrong}.") from None
