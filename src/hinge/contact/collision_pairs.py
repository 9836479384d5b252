"""Which shapes of a robot may touch which: pairs, in MuJoCo's order of kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hinge.contact.collision_shapes import CollisionShape
from hinge.model.shapes import SHAPES


@dataclass(frozen=True, eq=False)
class Pairs:
    """Shapes, the pairs of them that may touch, and how near each pair has to be to count (m)."""

    shapes: tuple[CollisionShape, ...]
    rows: tuple[tuple[int, int], ...]
    within: tuple[float, ...]

    def classes(self, known: Mapping[tuple[str, str], Any], on_plane: Any, otherwise: Any) -> dict[Any, list[int]]:
        """The rows of each class of pairs, by what finds their contacts."""
        made: dict[Any, list[int]] = {}
        for k, (i, j) in enumerate(self.rows):
            kinds = self.shapes[i].geometry.kind, self.shapes[j].geometry.kind
            narrow = known.get(kinds, on_plane if kinds[0] == "plane" else otherwise)
            made.setdefault(narrow, []).append(k)
        return made


def ordered(shapes: Sequence[CollisionShape], i: int, j: int) -> tuple[int, int]:
    """A pair with planes first, and then in the order in which kinds are registered."""
    kinds = ["plane", *SHAPES]
    return (i, j) if kinds.index(shapes[i].geometry.kind) <= kinds.index(shapes[j].geometry.kind) else (j, i)
