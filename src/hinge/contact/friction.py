"""Coulomb friction: forces in elliptic cones, by an iterative solver.

    w = (C + compliance) f + d,  f ∈ K,  ŵ ∈ K*,  fᵀ ŵ = 0,  K: (f₁/μ₁)² + (f₂/μ₂)² ≤ fₙ², fₙ ≥ 0

With law="convex" ŵ = w, the condition of least ½ fᵀ C f + dᵀ f over the cones: one conic problem, in which a contact
that slides also opens, with μ times the speed of sliding. With law="coulomb" ŵ = w + |μ w_t| n, and it does not.
The convex problem is solved by projected gradients with momentum, which starts afresh whenever it overshoots; Coulomb's
law by a sequence of them, each with the speeds of sliding of the last (De Saxcé's change of variable).
Source: none of the texts; featherstone1987, section 9.6 assumes that there is no friction.
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from hinge.arguments import Array, real
from hinge.errors import SizeError, one_of
from hinge.status import Status
from hinge.typing import Numbers, Statuses, Whole

FrictionLaw = Literal["convex", "coulomb"]
LAWS: tuple[FrictionLaw, ...] = get_args(FrictionLaw)
ROUNDS = 200  # of convex problems for Coulomb's law


class FrictionForces(NamedTuple):
    """Forces (…, n, 3), normal first; how far the conditions are from being met; iterations; status."""

    force: Array
    residual: Array
    iterations: Whole
    status: Statuses


def friction_forces(
    C: Numbers,
    d: Numbers,
    friction: Numbers,
    compliance: Numbers = 0.0,
    law: str = "convex",
    tolerance: float = 1e-10,
    iterations: int = 20_000,
) -> FrictionForces:
    """Forces of n contacts with friction: C (…, 3 n, 3 n), d (…, 3 n), each contact's normal first, then two tangents.

    `friction` is one number, n, or (n, 2) for cones that differ along the tangents; `compliance` (one, or n) is added
    to the diagonal at the normals. Iterates until `residual`, relative to d, is at most `tolerance`; where it is not
    reached the status is SINGULAR and the forces are the best found.

    >>> hinge.friction_forces(np.eye(3), [-1.0, -0.2, 0.0], 0.5).force.round(6)
    array([[1. , 0.2, 0. ]])
    """
    C, d = real("friction_forces: C", C), real("friction_forces: d", d)
    size = d.shape[-1] if d.ndim else 0
    if size % 3 or C.shape[-2:] != (size, size):
        raise SizeError(f"friction_forces: C has shape {C.shape} and d {d.shape}; give (…, 3 n, 3 n) and (…, 3 n).")
    one_of("friction_forces: law", law, LAWS)
    n = size // 3
    mu, soft = _each("friction", friction, n, 2), _each("compliance", compliance, n, 1)[:, 0]
    batch = np.broadcast_shapes(C.shape[:-2], d.shape[:-1])
    off = np.abs(C - np.swapaxes(C, -1, -2)) > 1e-9 * np.abs(C).max(axis=(-1, -2), keepdims=True, initial=0.0)
    if off.any():
        raise SizeError("friction_forces: C is not symmetric. C = F I⁻¹ Fᵀ has to be; look for a wrong row of F.")
    S = np.concatenate([np.ones((n, 1)), mu], axis=1).reshape(-1)  # tangents in units that make the cones round
    rows = np.broadcast_to(C, (*batch, size, size)).reshape(prod(batch), size, size)
    rows = rows * S[:, None] * S + np.diag(np.stack([soft, 0 * soft, 0 * soft], axis=1).reshape(-1))
    sides = np.broadcast_to(d, (*batch, size)).reshape(prod(batch), size) * S
    good = np.isfinite(rows).all(axis=(1, 2)) & np.isfinite(sides).all(axis=1)
    f, left, count = np.full(sides.shape, np.nan), np.full(len(sides), np.inf), np.zeros(len(sides), int)
    solve = _convex if law == "convex" else _coulomb
    if good.any() and n:
        f[good], left[good], count[good] = solve(rows[good], sides[good], tolerance, iterations)
    elif n == 0:
        left[:] = 0.0
    status = np.where(good, np.where(left <= tolerance, Status.OK, Status.SINGULAR), Status.NONFINITE).astype(np.uint8)
    return FrictionForces(
        (f * S).reshape(*batch, n, 3), left.reshape(batch), count.reshape(batch), status.reshape(batch)
    )


def _each(what: str, given: Any, n: int, wide: int) -> Array:
    """Numbers from 0 up, `wide` for each contact."""
    a = real(f"friction_forces: {what}", given).astype(float)
    bad = np.argwhere(~((a >= 0.0) & (a < np.inf)))
    if len(bad):
        raise SizeError(f"friction_forces: {what} has {float(a[tuple(bad[0])]):g}. Give finite numbers from 0 up.")
    if a.ndim == 1 and a.shape == (n,):
        a = a[:, None]
    try:
        return np.broadcast_to(a, (n, wide))
    except ValueError:
        raise SizeError(
            f"friction_forces: {what} has shape {a.shape}; give one number, or one for each of {n}."
        ) from None


def _onto_cones(f: Array) -> Array:
    """The nearest forces in the round cones fₙ ≥ |f_t|, contact by contact."""
    g = f.reshape(len(f), -1, 3)
    normal, slide = g[..., 0], np.hypot(g[..., 1], g[..., 2])
    middle = 0.5 * (normal + slide)
    inside, below = slide <= normal, slide <= -normal
    share = np.where(slide > 0.0, middle / np.where(slide > 0.0, slide, 1.0), 0.0)
    made = np.stack([middle, share * g[..., 1], share * g[..., 2]], axis=-1)
    return np.where(inside[..., None], g, np.where(below[..., None], 0.0, made)).reshape(f.shape)


def _convex(C: Array, d: Array, tolerance: float, most: int, start: Array | None = None) -> tuple[Array, Array, Array]:
    """Projected gradients with momentum; a row that has arrived stays as it is."""
    step = 1.0 / np.maximum(np.linalg.eigvalsh(C)[:, -1], 1e-300)
    size = np.maximum(np.abs(d).max(axis=1), 1e-300)
    f = np.zeros_like(d) if start is None else start.copy()
    ahead, speed = f.copy(), np.ones(len(d))
    left, count = np.full(len(d), np.inf), np.zeros(len(d), int)
    active = np.arange(len(d))
    for _ in range(most):
        y, h = ahead[active], step[active][:, None]
        new = _onto_cones(y - h * (np.einsum("mij,mj->mi", C[active], y) + d[active]))
        moved = new - f[active]
        again = np.einsum("mi,mi->m", y - new, moved) > 0.0  # overshot: forget the momentum
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * speed[active] ** 2))
        push = np.where(again, 0.0, (speed[active] - 1.0) / following)
        ahead[active], f[active] = new + push[:, None] * moved, new
        speed[active] = np.where(again, 1.0, following)
        count[active] += 1
        left[active] = np.abs(y - new).max(axis=1) / (h[:, 0] * size[active])
        active = active[left[active] > tolerance]
        if not len(active):
            break
    check = _onto_cones(f - step[:, None] * (np.einsum("mij,mj->mi", C, f) + d))
    return f, np.abs(f - check).max(axis=1) / (step * size), count


def _coulomb(C: Array, d: Array, tolerance: float, most: int) -> tuple[Array, Array, Array]:
    """Convex problems in turn, the normals of each raised by the speeds of sliding of the last."""
    f, count = np.zeros_like(d), np.zeros(len(d), int)
    raised = d.copy()
    size = np.maximum(np.abs(d).max(axis=1), 1e-300)
    left = np.full(len(d), np.inf)
    for _ in range(ROUNDS):
        f, inner, more = _convex(C, raised, 0.1 * tolerance, most, f)
        count += more
        w = (np.einsum("mij,mj->mi", C, f) + d).reshape(len(d), -1, 3)
        new = d.copy().reshape(w.shape)
        new[..., 0] += np.hypot(w[..., 1], w[..., 2])
        new = new.reshape(d.shape)
        left = np.maximum(np.abs(new - raised).max(axis=1) / size, inner)
        raised = new
        if (left <= tolerance).all() or count.max() >= most:
            break
    return f, left, count
