"""Contact forces: from C and d to forces that hold bodies apart and never pull.

    diag(α) (C α + d) = 0 (9.50),  (C + 1) α + d ≥ 0 (9.51)

Source: featherstone1987, sections 9.7 and 9.8. A bare number in the margin is an equation there.
Methods: "lemke" (any C, the default); "even", the same with the force shared as evenly as can be where it is
indeterminate; "pruning" and "patterns" are the text's own; "qp" hands ½ αᵀ C α + dᵀ α, α ≥ 0 to a QP solver.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from math import prod
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from hinge.arguments import Array, real
from hinge.contact.complementarity import lemke
from hinge.contact.pruning import Tally, guided, patterns
from hinge.errors import NotCovered, SizeError, one_of
from hinge.status import Status
from hinge.typing import Flags, Numbers, Statuses, Whole

SLACK = 1e-9  # what complementarity may be off, relative to the sizes that make it up
ROUNDING = 1e-5  # of large forces that all but cancel, a hundred thousandth of SLACK: some units in the last place
Method = Literal["lemke", "even", "pruning", "patterns", "qp"]
METHODS: tuple[Method, ...] = get_args(Method)


class ContactState(IntEnum):
    """What a contact does: it breaks, it remains, or neither force nor acceleration says which."""

    BREAKING = 0
    REMAINING = 1
    INACTIVE = 2


class ContactForces(NamedTuple):
    """Forces and accelerations along the normals, what each contact does, statuses, and patterns or pivots tried."""

    force: Array
    acceleration: Array
    state: Statuses
    status: Statuses
    tried: Whole


def contact_forces(C: Numbers, d: Numbers, method: Method = "lemke") -> ContactForces:
    """Forces α ≥ 0 with C α + d ≥ 0, one of each pair zero: C (…, n, n) and d (…, n), leading axes a batch.

    C = F I⁻¹ Fᵀ (N⁻¹ m/s²) is symmetric and positive semi-definite, d (m/s²) the acceleration of the gaps without
    contact forces. Where no forces will do (a second-order collision) the row is NaN with Status.NO_SOLUTION.

    >>> hinge.contact_forces([[2.0, 1.0], [1.0, 2.0]], [-2.0, 1.0]).force
    array([1., 0.])
    """
    C, d = complementarity_problem(C, d)
    one_of("contact_forces: method", method, METHODS)
    batch, n = d.shape[:-1], d.shape[-1]
    rows, sides = C.reshape(prod(batch), n, n), d.reshape(prod(batch), n)
    if method in ("lemke", "even"):
        force, status, tried = complementary(rows, sides)
        if method == "even":
            force = _even(rows, sides, force, status)
    else:
        force, status, tried = _one_by_one(rows, sides, {"pruning": _pruning, "patterns": _patterns, "qp": _qp}[method])
    w = np.einsum("mij,mj->mi", rows, force) + sides
    made = ContactForces(force, w, _states(rows, sides, force, w), status, tried)
    return ContactForces(*(x.reshape((*batch, *x.shape[1:])) for x in made))


def complementarity_problem(C: Any, d: Any) -> tuple[Array, Array]:
    """C and d as arrays of one batch shape; refuses what cannot be a contact problem."""
    C, d = real("contact_forces: C", C).astype(float), real("contact_forces: d", d).astype(float)
    if C.ndim < 2 or C.shape[-1] != C.shape[-2]:
        raise SizeError(f"contact_forces: C has shape {C.shape}; it has to be square, (…, n, n).")
    if d.ndim < 1 or d.shape[-1] != C.shape[-1]:
        raise SizeError(f"contact_forces: d has shape {d.shape}, C is for {C.shape[-1]} contacts.")
    try:
        batch = np.broadcast_shapes(C.shape[:-2], d.shape[:-1])
    except ValueError:
        raise SizeError(
            f"contact_forces: the batches do not fit together: C {C.shape[:-2]}, d {d.shape[:-1]}."
        ) from None
    size = np.abs(C).max(axis=(-1, -2), keepdims=True, initial=0.0)
    off = np.argwhere(np.abs(C - np.swapaxes(C, -1, -2)) > 1e-9 * size)
    if len(off):
        *state, i, j = (int(k) for k in off[0])
        where = f" of state {tuple(state)}" if state else ""
        raise SizeError(
            f"contact_forces: C{where} is not symmetric: C[{i}, {j}] is {C[(*state, i, j)]:g}, "
            f"C[{j}, {i}] is {C[(*state, j, i)]:g}.\n  C = F I⁻¹ Fᵀ has to be symmetric; look for a wrong row of F."
        )
    negative = np.argwhere(np.diagonal(C, axis1=-2, axis2=-1) < 0.0)
    if len(negative):
        *state, i = (int(k) for k in negative[0])
        raise SizeError(f"contact_forces: C[{i}, {i}] is {C[(*state, i, i)]:g}. C has to be positive semi-definite.")
    n = C.shape[-1]
    return np.broadcast_to(C, (*batch, n, n)), np.broadcast_to(d, (*batch, n))


def complementary(C: Array, d: Array) -> tuple[Array, Statuses, Whole]:
    """Forces, statuses and pivots of a batch of problems, each checked before it is called good."""
    made = lemke(C, d)
    force, good = _polished(C, d, made.z)
    status = np.where(good, Status.OK, Status.SINGULAR)  # also where rounding hid the last pivot
    refused = ~made.found & _proves_none(C, d, made.ray)
    status = np.where(refused, Status.NO_SOLUTION, status)
    again = np.flatnonzero((status == Status.SINGULAR) & np.isfinite(C).all(axis=(1, 2)) & np.isfinite(d).all(axis=1))
    if len(again):  # rounding has made dependent normals look inconsistent: take them as all but dependent
        force[again], status[again] = _nearly(C[again], d[again])
    status = np.where(np.isfinite(C).all(axis=(1, 2)) & np.isfinite(d).all(axis=1), status, Status.NONFINITE)
    force[status != Status.OK] = np.nan
    return force, status.astype(np.uint8), made.pivots


def _polished(C: Array, d: Array, z: Array) -> tuple[Array, Flags]:
    """The same pattern solved once more from C and d themselves, and whether it meets the conditions."""
    rough = good_to(C, d, z)
    remaining = z > 0.0
    both = remaining[:, :, None] & remaining[:, None, :]
    block = np.where(both, C, np.eye(C.shape[-1]))
    block[~np.isfinite(block).all(axis=(1, 2))] = np.eye(C.shape[-1])
    try:
        w = np.einsum("mij,mj->mi", C, z) + d
        fine = z - np.where(remaining, np.linalg.solve(block, np.where(remaining, w, 0.0)[:, :, None])[:, :, 0], 0.0)
    except np.linalg.LinAlgError:
        return z, rough <= SLACK
    fine = np.maximum(fine, 0.0)
    after = good_to(C, d, fine)
    better = after < rough
    return np.where(better[:, None], fine, z), np.minimum(rough, after) <= SLACK


def good_to(C: Array, d: Array, force: Array) -> Array:
    """How far forces are from meeting the conditions, relative to the sizes that make them up."""
    w = np.einsum("mij,mj->mi", C, force) + d
    terms = np.einsum("mij,mj->mi", np.abs(C), np.abs(force)).max(axis=1, initial=0.0)
    size = np.maximum(np.abs(d).max(axis=1, initial=0.0) + ROUNDING * terms, 1e-300)
    diagonal = np.maximum(np.einsum("mii->mi", C), 1e-300)
    off = np.abs(np.minimum(force * diagonal, w)).max(axis=1, initial=0.0) / size
    return np.where(np.isfinite(off), off, np.inf)


def _proves_none(C: Array, d: Array, ray: Array) -> Flags:
    """Whether z ≥ 0 with C z = 0 and dᵀ z < 0 is at hand: then no forces can satisfy the conditions."""
    length = np.sqrt(np.einsum("mi,mi->m", ray, ray))
    z = ray / np.where(length > 0.0, length, 1.0)[:, None]
    left = np.abs(np.einsum("mij,mj->mi", C, z)).max(axis=1, initial=0.0)
    down = np.einsum("mi,mi->m", d, z)
    small = left <= 1e-9 * np.abs(C).max(axis=(1, 2), initial=0.0)
    return (length > 0.0) & small & (down < -1e-9 * np.abs(d).max(axis=1, initial=0.0))


def _nearly(C: Array, d: Array) -> tuple[Array, Whole]:
    """Forces of C + ε, which is positive definite, made good for C itself; by the first ε that will do."""
    n = C.shape[-1]
    size = np.einsum("mii->m", C)[:, None, None] / max(n, 1) * np.eye(n)
    force, status = np.zeros(d.shape), np.full(len(d), Status.SINGULAR)
    for little in (1e-9, 1e-7, 1e-11, 1e-5):
        at = np.flatnonzero(status != Status.OK)
        if not len(at):
            break
        force[at] = _least(C[at], d[at], lemke(C[at] + little * size[at], d[at]).z > 0.0)
        status[at] = np.where(good_to(C[at], d[at], force[at]) <= SLACK, Status.OK, Status.SINGULAR)
    return force, status


def _least(C: Array, d: Array, remaining: Flags) -> Array:
    """The least forces of the remaining contacts that keep them closed."""
    block = np.where(remaining[:, :, None] & remaining[:, None, :], C, 0.0)
    inverse = np.linalg.pinv(block, rcond=1e-10, hermitian=True)
    force = -np.einsum("mij,mj->mi", inverse, np.where(remaining, d, 0.0))  # (9.61)
    return np.where(remaining, np.maximum(force, 0.0), 0.0)


def _even(C: Array, d: Array, force: Array, status: Statuses) -> Array:
    """Forces of least sum of squares among those that make the same motion."""
    good = np.flatnonzero(status == Status.OK)
    if not len(good):
        return force
    block, side = C[good], d[good]
    spread, _ = _nearly(block, side)
    off, small = (
        good_to(block, side, spread) <= SLACK,
        np.square(spread).sum(axis=1) < np.square(force[good]).sum(axis=1),
    )
    force = force.copy()
    force[good[off & small]] = spread[off & small]
    return force


def _states(C: Array, d: Array, force: Array, w: Array) -> Statuses:
    size = np.abs(d).max(axis=1, keepdims=True, initial=1e-300)
    most = np.abs(force).max(axis=1, keepdims=True, initial=1e-300)
    pushed, apart = force > SLACK * most, w > SLACK * size
    state = np.where(pushed, ContactState.REMAINING, np.where(apart, ContactState.BREAKING, ContactState.INACTIVE))
    return state.astype(np.uint8)


# the text's own methods, one problem at a time


def _one_by_one(C: Array, d: Array, solve: Callable[..., Any]) -> tuple[Array, Statuses, Whole]:
    force, status, tried = np.full(d.shape, np.nan), np.zeros(len(d), np.uint8), np.zeros(len(d), int)
    for k in range(len(d)):
        if not (np.isfinite(C[k]).all() and np.isfinite(d[k]).all()):
            status[k] = Status.NONFINITE
            continue
        tally = Tally()
        made, status[k] = solve(C[k], d[k], tally)
        tried[k] = tally.patterns
        if made is not None:
            force[k] = made
    return force, status, tried


def _pruning(C: Array, d: Array, tally: Tally) -> tuple[Array | None, int]:
    values = np.linalg.eigvalsh(C)
    if len(d) and not values[0] > 1e-13 * values[-1]:
        return None, Status.SINGULAR  # the method needs independent normals
    return guided(C, d, tally), Status.OK


def _patterns(C: Array, d: Array, tally: Tally) -> tuple[Array | None, int]:
    made = patterns(C, d, tally)
    return made, Status.OK if made is not None else Status.NO_SOLUTION


def _qp(C: Array, d: Array, tally: Tally) -> tuple[Array | None, int]:
    """min ½ αᵀ C α + dᵀ α over α ≥ 0, as non-negative least squares ‖Lᵀ α + y‖ with C = L Lᵀ, d = L y."""
    try:
        from scipy.optimize import minimize, nnls
    except ImportError:
        raise NotCovered(
            "contact_forces: method='qp' is solved with SciPy, which is not installed.\n"
            "  pip install \"hinge[solve]\", or take method='lemke'."
        ) from None

    values, vectors = np.linalg.eigh(C)
    keep = values > 1e-12 * max(values.max(initial=0.0), 1e-300)
    root = np.sqrt(values[keep])
    L = vectors[:, keep] * root
    y = (vectors[:, keep].T @ d) / root
    outside = d - L @ y  # the part of d that no contact force can reach
    if np.abs(outside).max(initial=0.0) <= 1e-9 * np.abs(d).max(initial=1.0):
        return (nnls(L.T, -y)[0] if keep.any() else np.zeros(len(d))), Status.OK
    tally.patterns += 1
    found = minimize(lambda a: 0.5 * a @ C @ a + d @ a, np.zeros(len(d)), jac=lambda a: C @ a + d,
                     bounds=[(0, None)] * len(d), method="L-BFGS-B",
                     options={"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-12})  # fmt: skip
    bounded = (
        np.abs(found.x).max() < 1e8 * max(1.0, np.abs(d).max()) and good_to(C[None], d[None], found.x[None])[0] < 1e-6
    )
    return (found.x, Status.OK) if bounded else (None, Status.NO_SOLUTION)
