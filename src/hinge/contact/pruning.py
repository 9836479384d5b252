"""Contact forces by choosing a root for each contact: the pruning algorithm, and all patterns in turn.

    diag(α) (C α + d) = 0,  (C + 1) α + d ≥ 0

Each contact either breaks, α_i = 0, or remains, C_i α + d_i = 0. The pruning algorithm eliminates one contact after
another and drops a branch as soon as its choice proves right; it needs a positive definite C, whose problems have one
solution each. With the heuristic the contact with the most negative d is taken first, and taken to remain.
Source: featherstone1987, sections 9.8 and 9.8.1, Figure 9-6. A bare number in the margin is an equation there.
Differs from the source: (9.58), (9.59) with "all but i" where the scan has lost the hats.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hinge.arguments import Array


@dataclass
class Tally:
    """How a search went: root patterns tried, and how often the heuristic's choice was right."""

    patterns: int = 0
    choices: int = 0
    right: int = 0


def pruned(C: Array, d: Array, tally: Tally) -> Array:
    """α by Figure 9-6, each contact first taken to break, in the order given."""
    if len(d) == 1:
        tally.patterns += 1
        return np.maximum(-d / C[0], 0.0)
    rest = slice(1, None)
    beyond = pruned(C[rest, rest], d[rest], tally)  # (9.58)
    first = 0.0
    if C[0, rest] @ beyond + d[0] < 0.0:
        beyond = pruned(*_eliminated(C, d, 0), tally)  # (9.59)
        first = -(C[0, rest] @ beyond + d[0]) / C[0, 0]  # (9.56)
    return np.concatenate([[first], beyond])


def guided(C: Array, d: Array, tally: Tally) -> Array:
    """α by the same search, the contact with the most negative d first and taken to remain."""
    if not len(d) or d.min() >= 0.0:
        tally.patterns += 1
        return np.zeros(len(d))
    i = int(d.argmin())
    others = np.arange(len(d)) != i
    tally.choices += 1
    beyond = guided(*_eliminated(C, d, i), tally)  # (9.59)
    chosen = -(C[i, others] @ beyond + d[i]) / C[i, i]  # (9.56)
    if chosen < 0.0:
        chosen = 0.0
        beyond = guided(C[np.ix_(others, others)], d[others], tally)  # (9.58)
    else:
        tally.right += 1
    force = np.empty(len(d))
    force[i], force[others] = chosen, beyond
    return force


def _eliminated(C: Array, d: Array, i: int) -> tuple[Array, Array]:
    """The problem of the other contacts when contact i remains."""
    others = np.arange(len(d)) != i
    column = C[others, i] / C[i, i]
    return C[np.ix_(others, others)] - np.outer(column, C[i, others]), d[others] - column * d[i]  # (9.59)


def patterns(C: Array, d: Array, tally: Tally, slack: float = 1e-9) -> Array | None:
    """α by trying every pattern whose remaining contacts are independent, fewest first; None where none will do."""
    n = len(d)
    scale = max(1.0, float(np.abs(d).max(initial=0.0)))
    for size in range(n + 1):
        for remaining in combinations(range(n), size):
            J = list(remaining)
            block = C[np.ix_(J, J)]
            if size and np.linalg.cond(block) > 1e12:
                continue
            tally.patterns += 1
            force = np.zeros(n)
            force[J] = np.linalg.solve(block, -d[J])  # (9.61)
            stiff = slack * max(scale, float(np.abs(C).max()) * float(np.abs(force).max()))
            if force.min() >= 0.0 and (C @ force + d).min() >= -stiff:  # (9.51)
                return force
    return None
