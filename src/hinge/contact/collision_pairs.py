"""Which shapes of a robot may touch which: the rules of MJCF, which serve URDF too.

    for pair in file_pairs(model): pair.first.link, pair.first.shape, pair.touching.friction

Shapes on one body do not touch, nor do those on bodies that a joint connects, nor what stands still with what stands
still; a body whose parent is the world may touch the world. Of two others each has to want the other: `contype` of one
and `conaffinity` of the other have a bit in common. A pair that the file lists touches all the same. Shapes of which no
file says anything touch as MuJoCo's default has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import finite, number
from hinge.contact.collision_shapes import CollisionShape, half_space, shapes_of
from hinge.errors import SizeError, UnknownName, did_you_mean
from hinge.model import Model
from hinge.model.file_physics import Surface, Touching, mixed
from hinge.model.shapes import SHAPES, Geometry, Shape
from hinge.model.symbols import unknown
from hinge.spatial import Vec3
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.rotation import shortest_turn

Names = tuple[str, str]
HalfSpace = tuple[tuple[float, float, float], float]  # unit normal n and offset: n · x ≤ offset
GROUND = "ground"
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
    for a, b in _meeting(model, shapes):
        if not {(a, b), (b, a)} & listed.keys():
            made.append(FilePair(shapes[a], shapes[b], mixed(shapes[a].surface, shapes[b].surface)))
    return made


def _meeting(model: Model, shapes: Sequence[Placed]) -> Iterator[tuple[int, int]]:
    """The numbers of shapes that want each other, and that nothing keeps from touching."""
    apart = {frozenset(pair) for pair in model.physics.excludes}
    near = _neighbours(model) if "filterparent" not in model.physics.options.disabled else set()
    for b, second in enumerate(shapes):
        for a, first in enumerate(shapes[:b]):
            bodies = first.body, second.body
            if first.body == second.body or bodies in near or bodies[::-1] in near:
                continue
            if frozenset((first.link, second.link)) in apart or {first.shape.kind, second.shape.kind} <= {*ENDLESS}:
                continue
            if first.surface.meets(second.surface):
                yield a, b


def _neighbours(model: Model) -> set[tuple[int, int]]:
    """Each body with the one it is joined to, where that is not the world; what is nothing only carries a joint."""
    shown, made = {model.frames[link].body for link, shapes in model.shapes.items() if shapes}, set()
    for i, p in model.outward():
        while p and p not in shown and _weightless(model.inertia[p]):
            p = model.parent[p]
        if p:
            made.add((i, p))
    return made


def _weightless(inertia: RigidInertia) -> bool:
    numbers = (inertia.m, *inertia.I)
    return not unknown(numbers) and not any(numbers)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Shapes, the pairs of them that may touch, and how near each pair has to be to count (m)."""

    shapes: tuple[CollisionShape, ...]
    rows: tuple[tuple[int, int], ...]
    within: tuple[float, ...]
    sides: bool = False  # whether the prisms of terrain are solids by themselves, as MuJoCo has them

    @property
    def names(self) -> list[Names]:
        """The links of each pair."""
        return [(self.shapes[i].name, self.shapes[j].name) for i, j in self.rows]

    def classes(self, narrow: Callable[[Geometry, Geometry], Any]) -> dict[Any, list[int]]:
        """The rows of each class of pairs, by what a function says finds their contacts."""
        made: dict[Any, list[int]] = {}
        for k, (i, j) in enumerate(self.rows):
            made.setdefault(narrow(self.shapes[i].geometry, self.shapes[j].geometry), []).append(k)
        return made

    def chosen(self, rows: Sequence[int]) -> Pairs:
        """Some of the pairs."""
        return replace(self, rows=tuple(self.rows[k] for k in rows), within=tuple(self.within[k] for k in rows))

    def seen_from(self, model: Model) -> Pairs:
        """The same pairs with shapes in the coordinates of a model that has other body frames."""
        return replace(
            self, shapes=tuple(shape if shape.shape is None else shape.moved(model) for shape in self.shapes)
        )


def pairs_of(model: Model, ground: Any = None, exclude: Collection[Names] = (), pairs: Sequence[Names] | None = None,
             within: Any = 0.0, by_kind: bool = True) -> Pairs:  # fmt: skip
    """The pairs of shapes that may touch.

    `ground` is a height (m), a (normal, offset), or None; all that moves touches it. `exclude` has pairs of links that
    do not touch, `pairs` those that do whatever the rules are, and no others. `within` is how near a pair has to be to
    count (m): the sum of what its shapes have, one number or one for each. Pairs are ordered `by_kind`, as MuJoCo has
    them, or else as the file has them, planes first.
    """
    shapes, meeting = shapes_of(model), set(_meeting(model, collision_shapes(model)))
    n = len(shapes)
    near = np.append(np.broadcast_to(np.asarray(within, float), n), 0.0)
    plane = plane_of(ground)
    if plane is not None:
        meeting |= {(k, n) for k, one in enumerate(shapes) if one.body}
        shapes.append(_ground(plane))
    left_out = {frozenset(one) for one in _known(model, exclude, shapes, "exclude")}
    wanted = None if pairs is None else {frozenset(one) for one in _known(model, pairs, shapes)}

    def may(i: int, j: int) -> bool:
        a, b = shapes[i], shapes[j]
        both, planes = frozenset((a.name, b.name)), a.geometry.kind == b.geometry.kind == "plane"
        if wanted is not None:
            return both in wanted and a.body != b.body and not planes
        return (i, j) in meeting and both not in left_out and not planes

    rows = [(i, j) for i in range(len(shapes)) for j in range(i + 1, len(shapes)) if may(i, j)]
    distances = tuple(float(near[i] + near[j]) for i, j in rows)
    return Pairs(tuple(shapes), tuple(ordered(shapes, i, j, by_kind) for i, j in rows), distances)


def ordered(shapes: Sequence[CollisionShape], i: int, j: int, by_kind: bool = True) -> tuple[int, int]:
    """A pair with planes and terrain first, and then in the order in which kinds are registered, which is MuJoCo's."""
    kinds = [*ENDLESS, *(SHAPES if by_kind else ())]
    a, b = (kinds.index(k) if (k := shapes[m].geometry.kind) in kinds else len(kinds) for m in (i, j))
    return (i, j) if a <= b else (j, i)


def afloat(model: Model, body: int) -> int:
    """The loose body that carries a body, itself perhaps; 0 where it is fixed to the world through joints."""
    while body and model.joint[body].nv < 6:
        body = model.parent[body]
    return body


def plane_of(ground: Any) -> HalfSpace | None:
    """Return the unit normal n and the offset of the half-space n · x ≤ offset, from a height or (normal, offset)."""
    if ground is None:
        return None
    if isinstance(ground, bool | np.bool):
        raise SizeError(f"ground is {ground!r}. Give None, a height in m, or (normal, offset).")
    normal, offset = ground if isinstance(ground, list | tuple) else ((0.0, 0.0, 1.0), ground)
    n, offset = finite("ground: normal", normal), number("ground: offset", offset)
    length = float(np.linalg.norm(n))
    if n.shape != (3,) or not length > 0.0:
        raise SizeError(f"ground: normal is {normal!r}. Give a height, or a direction of three numbers and an offset.")
    x, y, z = (float(c) for c in n / length)
    return (x, y, z), float(offset / length)


def _ground(ground: HalfSpace) -> CollisionShape:
    normal, offset = ground
    return half_space(np.array(normal), offset, np.array(shortest_turn(Vec3(normal)), float).reshape(3, 3))


def _known(
    model: Model, pairs: Collection[Names], shapes: Sequence[CollisionShape], what: str = "pairs"
) -> Collection[Names]:
    """Pairs of names, each of a link that has a collision shape, or the ground."""
    names = list(dict.fromkeys(shape.name for shape in shapes))
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise SizeError(f"{what}: {pair!r} is no pair of links. Give a list of (link, link).")
        for name in pair:
            if name not in names:
                known = did_you_mean(name, names)
                raise UnknownName(f"{what}: robot {model.name!r} has no collision shape on a link {name!r}. {known}")
    return pairs
