"""The direction in which two convex solids are nearest, from their support functions alone.

The nearest points of two solids are the point of their difference that is nearest to the origin. Corners of the
difference are added, each the farthest towards the origin from the best point so far, and the best point of what they
span is found by trying every face of the simplex. The method is by Gilbert, Johnson and Keerthi (1988). Solids that
touch or overlap by little are taken with their surface moved inwards, which leaves directions as they are but at edges,
and there changes them by little.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from hinge.arguments import Array
from hinge.contact.solids import Solid
from hinge.errors import NotCovered

CLOSE = 1e-4  # of the smaller solid: nearer than this, surfaces are moved inwards
PARED = 1e-2  # of the smaller solid: by how much
ROUNDS = 100


def nearest(a: Solid, b: Solid) -> tuple[Array, Array]:
    """A point of a's core and one of b's, nearest to each other; of round solids the core is a point or a line."""
    size = min(_thickness(a), _thickness(b))
    p, q = _nearest(a, b, 0.0)
    if np.linalg.norm(q - p) < CLOSE * size:
        p, q = _nearest(a, b, PARED * size)
    if np.linalg.norm(q - p) < 0.1 * PARED * size:
        raise NotCovered(f"{a} is deep inside {b}.\n  Contact geometry needs solids that touch; move them apart.")
    return p, q


def _thickness(solid: Solid) -> float:
    return min(solid.size) / 2 if solid.kind == "box" else solid.size[0]


def _farthest(solid: Solid, pared: float) -> Callable[[Array], Array]:
    """The farthest point of a solid's core in a direction."""
    shape = solid.geometry
    if pared and not shape.rounding:
        shape = type(shape)(*shape.from_mjcf([half - pared for half in shape.mjcf_size]))
    return lambda d: solid.p + solid.R @ shape.core(solid.R.T @ d)


def _nearest(a: Solid, b: Solid, pared: float) -> tuple[Array, Array]:
    d = b.p - a.p if np.any(b.p != a.p) else np.array([1.0, 0.0, 0.0])
    pairs: list[tuple[Array, Array]] = []
    p, q = a.p, b.p
    of_a, of_b = _farthest(a, pared), _farthest(b, pared)
    for _ in range(ROUNDS):
        new = of_a(d), of_b(-d)
        x = q - p
        if pairs and x @ x - x @ (new[1] - new[0]) <= 1e-15 * max(1.0, float(x @ x)):
            break
        pairs, shares = _least([*pairs, new])
        p, q = (sum(s * pair[k] for s, pair in zip(shares, pairs, strict=True)) for k in (0, 1))
        d = q - p
        if d @ d < 1e-30:
            break
    return p, q


def _least(pairs: list[tuple[Array, Array]]) -> tuple[list[tuple[Array, Array]], Array]:
    """The corners whose face has the point nearest to the origin, and its shares of them."""
    corners = np.array([q - p for p, q in pairs])
    best: tuple[float, tuple[int, ...], Array] | None = None
    for count in range(1, min(4, len(pairs)) + 1):
        for chosen in combinations(range(len(pairs)), count):
            first, rest = corners[chosen[0]], corners[list(chosen[1:])] - corners[chosen[0]]
            y = np.linalg.lstsq(rest.T, -first, rcond=1e-12)[0] if count > 1 else np.zeros(0)
            shares = np.array([1.0 - y.sum(), *y])
            size = float(np.linalg.norm(first + y @ rest))
            if shares.min() >= -1e-12 and (best is None or size < best[0] - 1e-16):
                best = size, chosen, shares
    assert best is not None  # a single corner always serves
    return [pairs[k] for k in best[1]], best[2]
