"""The pruning algorithm of Figure 9-6 over scalars: both branches are computed, and the right one is taken.

Straight-line code, so that contact dynamics with few contacts is one program; its length doubles with each contact.
Source: featherstone1987, section 9.8.1, Figure 9-6.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.graph import Scalar, less, maximum, select

DEPENDENT = 1e-11  # a pivot this small against its diagonal entry is the rounding of zero


def traced_forces(C: Sequence[Sequence[Scalar]], d: Sequence[Scalar]) -> list[Scalar]:
    """α for a positive definite C."""
    first, rest = C[0][0], C[0][1:]
    if len(d) == 1:
        return [maximum(-d[0] / first, 0.0)]
    block = [row[1:] for row in C[1:]]
    breaking = traced_forces(block, d[1:])  # (9.58)
    left = _plus(rest, breaking, d[0])
    over = 1.0 / first
    scaled = [x * over for x in rest]
    size = range(len(rest))
    lower = [[block[i][j] - scaled[i] * rest[j] if j <= i else 0.0 for j in size] for i in size]
    reduced = [[lower[max(i, j)][min(i, j)] for j in size] for i in size]  # (9.59)
    staying = traced_forces(reduced, [b - s * d[0] for b, s in zip(d[1:], scaled, strict=True)])
    force = -_plus(rest, staying, d[0]) * over  # (9.56)
    held = less(left, 0.0)
    return [select(held, force, 0.0), *(select(held, a, b) for a, b in zip(staying, breaking, strict=True))]


def independence(C: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """Numbers that are positive where the normals are independent: what elimination leaves of the diagonal of C."""
    rows, made = [list(row) for row in C], []
    for k in range(len(C)):
        made.append(rows[k][k] - DEPENDENT * C[k][k])
        over = 1.0 / rows[k][k]
        for i in range(k + 1, len(C)):
            factor = rows[i][k] * over
            for j in range(k + 1, len(C)):
                rows[i][j] = rows[i][j] - factor * rows[k][j]
    return made


def _plus(a: Sequence[Scalar], b: Sequence[Scalar], c: Scalar) -> Scalar:
    total = c
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total
