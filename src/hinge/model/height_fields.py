"""Height fields: terrain by its heights on a grid. What touches are the prisms under its triangles, as in MuJoCo."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.errors import SizeError
from hinge.model.shapes import AROUND, Drawing, Geometry
from hinge.model.support import Parts
from hinge.typing import Array

if TYPE_CHECKING:
    from hinge.model.shapes import Shape


class Heights:
    """Heights (rows, columns) in m over a rectangle about the origin with edges `size` (x, y), down to `base` below it.

    Columns go along x, rows along y. Two that have the same numbers are equal.

    >>> Heights([[0.0, 0.1], [0.2, 0.3]], size=(2.0, 1.0)).step
    (2.0, 1.0)
    """

    key_fields = ("rows", "size", "base")

    def __init__(self, rows: Any, size: Sequence[float], base: float = 1.0):
        made, edges = np.array(rows, float), np.array(size, float)
        if made.ndim != 2 or min(made.shape) < 2 or not np.isfinite(made).all():
            raise SizeError(f"heights have shape {made.shape}. Give finite numbers, two rows and columns at least.")
        if edges.shape != (2,) or not (edges > 0.0).all() or not (np.isfinite(edges).all() and base > -made.min()):
            raise SizeError(
                f"heights over {size!r} m, down to {base!r} m: give two lengths, and a base below them all."
            )
        made.setflags(write=False)
        self.rows, self.size, self.base = made, (float(edges[0]), float(edges[1])), float(base)
        self.digest = hashlib.sha256(repr((made.shape, self.size, self.base)).encode() + made.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heights) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Heights({self.digest})"

    @property
    def step(self) -> tuple[float, float]:
        """How far columns and rows are apart (m)."""
        rows, columns = self.rows.shape
        return self.size[0] / (columns - 1), self.size[1] / (rows - 1)

    def triangles_under(self, radius: float) -> int:
        """How many triangles a ball may be above."""
        return 2 * math.prod(int(2.0 * radius / step) + 2 for step in self.step)


@dataclass(frozen=True)
class HeightField(Geometry):
    """Terrain."""

    heights: Heights
    kind = "hfield"
    parts = Parts()

    @classmethod
    def sizes(cls) -> tuple[str, ...]:
        return ()

    @classmethod
    def of(cls, shape: Shape) -> Geometry | None:
        return None if shape.heights is None else cls(shape.heights)

    @cached_property
    def reach(self) -> float:
        deep = max(float(np.abs(self.heights.rows).max()), abs(self.heights.base))
        return float(np.hypot(np.hypot(*self.heights.size) / 2, deep))

    def triangles(self, around: int = AROUND) -> Drawing:
        """Two for each cell, cut from the corner of least x and y to the one opposite."""
        (rows, columns), (x, y) = self.heights.rows.shape, self.heights.size
        at_x, at_y = np.meshgrid(np.linspace(-0.5, 0.5, columns) * x, np.linspace(-0.5, 0.5, rows) * y)
        vertices = np.stack([at_x, at_y, self.heights.rows], axis=-1).reshape(-1, 3)
        at = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
        both = [(at, at + columns + 1, at + columns), (at, at + 1, at + columns + 1)]
        return vertices, np.concatenate([np.stack(three, axis=1) for three in both])


def normalised(rows: Any) -> Array:
    """Heights from 0 to 1, as MuJoCo makes them of any numbers; all 0 where they do not differ."""
    made = np.array(rows, np.float32)
    made = made - made.min()
    return (made / made.max() if made.max() > 0.0 else made).astype(float)
