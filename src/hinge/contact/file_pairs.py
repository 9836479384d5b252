"""Which shapes of a robot may touch, as its file says: types and affinities, neighbours, exclusions, pairs.

    for pair in file_pairs(model): pair.first.link, pair.first.shape, pair.touching.friction

Two shapes on one rigid body never touch, nor do those of a body and the one it is joined to, unless that is the world.
A pair that the file lists touches all the same. Shapes of which no file says anything touch as MuJoCo's default has it.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.model.file_physics import Surface, Touching, mixed
from hinge.model.model import Model
from hinge.model.shapes import Shape
from hinge.model.symbols import unknown
from hinge.spatial.inertia import RigidInertia

ENDLESS = ("plane", "hfield")  # what is never found to touch its like
DEFAULT = Surface()


class Placed(NamedTuple):
    """A collision shape, the link it is on, and the body that carries the link."""

    body: int
    link: str
    shape: Shape

    @property
    def surface(self) -> Surface:
        return self.shape.surface or DEFAULT


class FilePair(NamedTuple):
    """Two shapes that may touch, in the order of the file, and what holds where they do."""

    first: Placed
    second: Placed
    touching: Touching


def collision_shapes(model: Model) -> list[Placed]:
    """The shapes that can touch anything, in the order of the file."""
    return [
        Placed(model.frames[link].body, link, shape)
        for link, shapes in model.shapes.items()
        for shape in shapes
        if shape.role == "collision"
    ]


def file_pairs(model: Model) -> list[FilePair]:
    """The pairs of shapes that may touch; those that the file lists come first.

    >>> file_pairs(hinge.samples.planar_2r().model)
    []
    """
    physics, shapes = model.physics, collision_shapes(model)
    if {"contact", "constraint"} & set(physics.options.disabled):
        return []
    named = {placed.shape.name: k for k, placed in enumerate(shapes) if placed.shape.name}
    listed = {(named[a], named[b]): touching for a, b, touching in physics.pairs if a in named and b in named}
    made = [FilePair(shapes[a], shapes[b], touching) for (a, b), touching in listed.items()]
    apart = {frozenset(pair) for pair in physics.excludes}
    near = _neighbours(model) if "filterparent" not in physics.options.disabled else set()
    for b, second in enumerate(shapes):
        for a, first in enumerate(shapes[:b]):
            bodies = first.body, second.body
            filtered = first.body == second.body or bodies in near or bodies[::-1] in near
            if filtered or not first.surface.meets(second.surface) or {(a, b), (b, a)} & listed.keys():
                continue
            if frozenset((first.link, second.link)) in apart or {first.shape.kind, second.shape.kind} <= {*ENDLESS}:
                continue
            made.append(FilePair(first, second, mixed(first.surface, second.surface)))
    return made


def _neighbours(model: Model) -> set[tuple[int, int]]:
    """Each body with the one it is joined to, where that is not the world; what weighs nothing only carries a joint."""
    made = set()
    for i, p in model.outward():
        while p and _weightless(model.inertia[p]):
            p = model.parent[p]
        if p:
            made.add((i, p))
    return made


def _weightless(inertia: RigidInertia) -> bool:
    numbers = (inertia.m, *inertia.I)
    return not unknown(numbers) and not any(numbers)
