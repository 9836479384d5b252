"""Parameters that bodies can have: every pseudo-inertia positive definite, joint terms not negative.

Joint forces say what the base parameters β = B π = π_b + K π_d are, and nothing about how they are shared among bodies.
Of all π with these β the one nearest to the robot's own is taken, in units s of its own masses and lengths. Where
bodies cannot have these β at all, because they were measured with noise, β is moved as little as the measurements mind:

    least  ½ |R (B π - β̂)|² + ½ μ |(π - π₀) / s|²   with  P_i(π) ⪰ ε D_i  and  joint terms ≥ 0

R takes a change of β to standard deviations. A convex programme over cones of 4×4 matrices, solved by Clarabel.
"""

from __future__ import annotations

import numpy as np

from hinge.errors import NotCovered
from hinge.identify.base import Base
from hinge.identify.parameters import PSEUDO, Array, pseudo_inertia
from hinge.model.model import NUMBERS

FLOOR = 1e-6  # ε: a body is at least this share of what it was, so that no matrix is singular
NEAR = 1e-3  # μ: how much nearness to the robot counts beside a standard deviation
LIGHT, SHORT = 1e-3, 1e-2  # kg and m, the unit of a body that the robot says nothing of
SHARP = 1e6  # standard deviations that a unit of a body is, at most: no log is sharper
PAIRS = [(i, j) for j in range(4) for i in range(j + 1)]  # the upper triangle, column by column
ROOT2 = np.sqrt(2.0)


def units(own: Array, bodies: int) -> Array:
    """The size (p,) that a change of each parameter is measured in: of its own body, or of its joint's term."""
    made = np.maximum(np.abs(own), SHORT)
    for k in range(bodies):
        m, length = _measures(own[NUMBERS * k : NUMBERS * (k + 1)])
        made[NUMBERS * k : NUMBERS * (k + 1)] = [m, *[m * length] * 3, *[m * length**2] * 6]
    return made


def consistent(own: Array, base: Base, beta: Array, R: Array, bodies: int) -> tuple[Array, Array]:
    """The parameters (p,) that bodies can have, nearest to `own` among those that fit, and the β they have.

    R (rank, rank) takes a change of β to standard deviations.
    """
    s, count = units(own, bodies), len(own)
    kept, joined = list(base.independent), list(base.dependent)
    B = np.zeros((base.rank, count))
    B[:, kept], B[:, joined] = np.eye(base.rank), base.K

    # with these β: what is free are the dependent parameters
    start, A = own.copy(), np.zeros((count, len(joined)))
    start[kept] += beta - B @ own
    A[kept], A[joined] = -base.K * s[joined], np.diag(s[joined])
    near = A / s[:, None]
    values = _solve(start, A, near.T @ near, near.T @ ((start - own) / s), own, s, bodies)
    if values is not None:
        return values, beta

    # with other β
    R = R * min(1.0, SHARP / float(np.linalg.norm(R @ (B * s), 2)))
    felt = R @ (B * s)
    P, g = felt.T @ felt + NEAR * np.eye(count), -felt.T @ (R @ (beta - B @ own))
    values = _solve(own, np.diag(s), P, g, own, s, bodies)
    if values is None:
        raise NotCovered("fit: no bodies were found that fit the log.\n"
                         "  Ask with consistent=False for the best of any numbers.")  # fmt: skip
    return values, base.values(values)


def _solve(start: Array, A: Array, P: Array, g: Array, own: Array, s: Array, bodies: int) -> Array | None:
    """The π = start + A z of bodies that can be with the least ½ zᵀ P z + g z; None where there is none."""
    try:
        import clarabel
        from scipy import sparse
    except ImportError:
        raise NotCovered("fit: bodies that can be are found with Clarabel and SciPy, and one is not installed.\n"
                         "  pip install hinge[solve], or ask with consistent=False.") from None  # fmt: skip

    rows, bounds, cones = list[Array](), list[Array](), []
    for k in range(bodies):
        part = slice(NUMBERS * k, NUMBERS * (k + 1))
        unit, least = _cone(own[part])
        rows.append(-unit @ A[part])
        bounds.append(unit @ start[part] - least)
        cones.append(clarabel.PSDTriangleConeT(4))
    terms = slice(NUMBERS * bodies, len(own))
    rows.append(-A[terms] / s[terms, None])
    bounds.append(start[terms] / s[terms])
    cones.append(clarabel.NonnegativeConeT(len(own) - NUMBERS * bodies))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    done = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(P)), g, sparse.csc_matrix(np.vstack(rows)),
                                  np.concatenate(bounds), cones, settings).solve()  # fmt: skip
    values = start + A @ np.array(done.x)
    least = np.linalg.eigvalsh(pseudo_inertia(values[: NUMBERS * bodies].reshape(bodies, NUMBERS))).min(initial=0.0)
    return values if str(done.status) in ("Solved", "AlmostSolved") and least >= 0.0 else None


def _cone(ten: Array) -> tuple[Array, Array]:
    """The map (10, 10) from a body's numbers to its pseudo-inertia as the cone wants it, in the body's own units, and
    the least it has to be."""
    m, length = _measures(ten)
    T = np.diag([1.0 / length] * 3 + [1.0]) / np.sqrt(m)
    least = FLOOR * np.diag(np.maximum(np.diag(T @ pseudo_inertia(ten) @ T), 0.0))
    return np.array([_triangle(T @ one @ T) for one in PSEUDO]).T, _triangle(least)


def _triangle(matrix: Array) -> Array:
    return np.array([matrix[i, j] * (1.0 if i == j else ROOT2) for i, j in PAIRS])


def _measures(ten: Array) -> tuple[float, float]:
    """A mass and a length that a body's numbers are measured in."""
    m = ten[0] if ten[0] > 0.0 else LIGHT
    return float(m), float(max(np.sqrt(max(ten[4:7].sum(), 0.0) / (2.0 * m)), SHORT))
