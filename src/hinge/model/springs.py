"""Springs of joints: the energy they store, and the joint forces that are its gradient.

    V = Σ ½ k s²        τ = (∂s/∂v)ᵀ k s

s is how far a joint is from where its springs are slack, and ∂s/∂v its change along the joint's velocities: one, where
those are the rates of the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.graph.diff import along, units
from hinge.graph.expr import Expr, Graph, Scalar
from hinge.graph.scalars import evaluated, inner
from hinge.spatial.linear3 import Mat3, Vec3
from hinge.spatial.rotation import shift_log

Spring = tuple[Scalar, list[Scalar]]  # an energy, and its gradient


def springs(k: Sequence[Scalar], stretch: Sequence[Scalar]) -> Spring:
    """The energy in springs of stiffness k that are stretched so far, and the forces that hold them."""
    energy: Scalar = 0.0
    for a, s in zip(k, stretch, strict=True):
        energy = energy + 0.5 * a * s * s
    return energy, [a * s for a, s in zip(k, stretch, strict=True)]


def felt(
    difference: Callable[..., list[Scalar]],
    rate: Callable[..., list[Scalar]],
    rest: Sequence[Scalar],
    q: Sequence[Scalar],
    plain: Spring,
) -> Spring:
    """The same, as velocities feel them that are no rates of coordinates: by differentiation, once on symbols."""
    energy, forces = plain
    graph = Graph()
    here, slack = ([graph.input(name, k) for k in range(len(q))] for name in ("q", "rest"))
    stretch, known = difference(slack, here), dict(zip([*here, *slack], [*q, *rest], strict=True))

    def along_one(unit: Sequence[float]) -> list[Scalar]:
        moving = zip(here, rate(here, unit), strict=True)
        return evaluated(along(stretch, {x: r for x, r in moving if type(r) is Expr or r}), known)

    return energy, [inner(along_one(unit), forces) for unit in units(len(forces))]


def turn_springs(k: Sequence[Scalar], turn: Sequence[Scalar]) -> Spring:
    """The same of springs along the components of a turn φ: the gradient by angular velocities of the turned body.

    φ̇ = J⁻¹ ω, and J⁻ᵀ is the map from a shift to its logarithm. It leaves φ alone, and so all springs that are alike.
    """
    uneven = Vec3(tuple((a - k[0]) * s for a, s in zip(k, turn, strict=True)))
    couple = shift_log(Vec3(tuple(turn)), uneven)
    return springs(k, turn)[0], [k[0] * s + c for s, c in zip(turn, couple, strict=True)]


def pose_springs(k: Sequence[Scalar], turn: Sequence[Scalar], shift: Vec3, R: Mat3) -> Spring:
    """The same of springs along a turn and a shift: the gradient by the velocity of a body whose axes are R."""
    (a, couple), (b, force) = turn_springs(k[:3], turn), springs(k[3:], shift)
    return a + b, [*couple, *(R.T @ Vec3(tuple(force)))]
