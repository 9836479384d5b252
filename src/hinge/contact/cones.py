"""Friction cones of the soft law: how stiff a contact is at a state.

Coordinates of a contact are x = (normal, tangents…), tangents times their friction. Its cost is homogeneous of degree
two, so one map says all: the force is -K x, the cost ½ xᵀ K x, and K is the Hessian. Each cone gives K at x as a map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.graph import Scalar, inner, less, select, sqrt, total

Map = Callable[[Sequence[Scalar]], list[Scalar]]
Switch = tuple[Scalar, Scalar]  # what is zero where a cone changes its law, and if the contact is stiff on this side
FAR = 1e30


def elliptic(D: Scalar, square: Scalar, edges: Sequence[Scalar], x: Sequence[Scalar]) -> Map:
    """K of a round cone; `square` is that of its slope.

    With T the length of the tangents: nothing where normal ≥ T, ½ D (normal² + T² / square) where all sticks, that is
    where square · normal ≤ -T, and between them ½ D / (1 + square) (normal - T)².
    """
    normal, *tangents = x
    if not tangents:
        return lambda d: [select(less(normal, 0.0), D, 0.0) * d[0]]
    square_T = inner(tangents, tangents)
    some = less(0.0, square_T)
    length = sqrt(select(some, square_T, 1.0))  # has a derivative where nothing slides, too
    T = select(some, length, 0.0)
    apart, sticks = select(less(normal, T), 0.0, 1.0), select(less(0.0, square * normal + T), 0.0, 1.0)
    slides = select(apart, 0.0, select(sticks, 0.0, 1.0))
    sliding = D / (1.0 + square)
    stiff = select(apart, 0.0, select(sticks, D, sliding))
    across = select(apart, 0.0, select(sticks, D / square, sliding * (1.0 - normal / length)))
    along = [select(slides, y / length, 0.0) for y in tangents]

    def stiffness(d: Sequence[Scalar]) -> list[Scalar]:
        p = inner(along, d[1:])
        push = stiff * (d[0] - p)
        turn = push + across * p
        return [push, *(across * y - u * turn for y, u in zip(d[1:], along, strict=True))]

    return stiffness


def pyramidal(D: Scalar, square: Scalar, edges: Sequence[Scalar], x: Sequence[Scalar]) -> Map:
    """K of a pyramid: ½ D (normal ± tangent)² for each of its edges where that is negative.

    `edges` is 1 for each tangent that has two, first 1 where the normal stands alone.
    """
    normal, *tangents = x
    alone = select(less(normal, 0.0), D * edges[0], 0.0)
    up = [select(less(normal + y, 0.0), D * e, 0.0) for y, e in zip(tangents, edges[1:], strict=True)]
    down = [select(less(normal - y, 0.0), D * e, 0.0) for y, e in zip(tangents, edges[1:], strict=True)]
    both, odd = [a + b for a, b in zip(up, down, strict=True)], [a - b for a, b in zip(up, down, strict=True)]
    whole = total([alone, *both])

    def stiffness(d: Sequence[Scalar]) -> list[Scalar]:
        rest = [b * y + o * d[0] for b, o, y in zip(both, odd, d[1:], strict=True)]
        return [whole * d[0] + inner(odd, d[1:]), *rest]

    return stiffness


def elliptic_switches(square: Scalar, edges: Sequence[Scalar], x: Sequence[Scalar]) -> list[Switch]:
    """Where a round cone opens, and where it begins to slide."""
    normal, *tangents = x
    T = sqrt(inner(tangents, tangents)) if tangents else 0.0
    opens, slides = normal - T, square * normal + T
    return [(opens, less(opens, 0.0)), (slides, less(slides, 0.0))]


def pyramidal_switches(square: Scalar, edges: Sequence[Scalar], x: Sequence[Scalar]) -> list[Switch]:
    """Where each edge of a pyramid lets go."""
    normal, *tangents = x
    ends = [(normal, edges[0])]
    ends += [(end, e) for y, e in zip(tangents, edges[1:], strict=True) for end in (normal + y, normal - y)]
    return [(select(less(0.5, e), end, FAR), less(end, 0.0)) for end, e in ends]


CONES = {"elliptic": elliptic, "pyramidal": pyramidal}
SWITCHES = {"elliptic": elliptic_switches, "pyramidal": pyramidal_switches}
