"""One number per stage of a step, from which a run sees whether its method is stable.

The number is a weighted sum of the accelerations. An unstable mode grows until it dominates every such sum, and the
weights have no common factor, so that modes of equal and opposite accelerations do not cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.graph import Scalar
from hinge.graph.scalars import inner

GOLDEN = 0.6180339887498949


class Probe(NamedTuple):
    """Weighted sums of accelerations in a step: the mean, that of the first stage, and how much a stage changes it.

    For a mode of eigenvalue λ, `change` is (hλ)²/4 times `first` in the classic Runge-Kutta method.
    """

    mean: Scalar
    first: Scalar = 0.0
    change: Scalar = 0.0


def projected(accelerations: Sequence[Scalar]) -> Scalar:
    """Return the weighted sum of accelerations."""
    return inner([0.5 + (GOLDEN * k) % 1.0 for k in range(1, len(accelerations) + 1)], accelerations)


def stage_weights(stages: int) -> tuple[float, ...]:
    """Return the weights by which the numbers of the stages add up to `change`."""
    later = min(2, stages - 1)
    return tuple(float(k == later) - float(k == later - 1) if stages > 1 else 0.0 for k in range(stages))
