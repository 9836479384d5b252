"""Impact: velocities that change at once.

    H δqd = generalised impulses (9.62)

A system with contacts goes through a compression, after which no gap closes, and a decompression that gives back e of
each impulse and no gap closes either. Both are contact problems. Where every contact takes part, plastic and elastic
impact are projections in the metric of kinetic energy.
Source: featherstone1987, section 9.9. A bare number in the margin is an equation there.
Differs from the source: F has a row a contact. Equal e make the further impulse γˣ vanish only where no contact
separates before the impact (Fᵀ qd ≤ 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, joined, number, real
from hinge.calls.target import Target
from hinge.contact.contacts import Contact
from hinge.contact.dynamics import contact_system
from hinge.contact.faces import off_faces
from hinge.contact.forces import contact_forces
from hinge.errors import SizeError
from hinge.typing import Backend, Numbers, Statuses


class Impact(NamedTuple):
    """Velocities after it; whole impulses, those of compression, and what decompression needs beyond e of them."""

    qd: Array
    impulse: Array
    compression: Array
    extra: Array
    status: Statuses | np.uint8


class TwoBodyImpact(NamedTuple):
    """Spatial velocities after it, and the impulse along the normal."""

    v1: Array
    v2: Array
    impulse: Array | np.float64


def impact(target: Target, q: Numbers, qd: Numbers, contacts: Sequence[Contact], restitution: Numbers | None = None,
           touch: float | None = 1e-6, backend: Backend | None = None, hold: Any = None,
           parameters: Mapping[str, Numbers] | None = None,
           prescribed: Sequence[Numbers] | None = None) -> Impact:  # fmt: skip
    """The velocities of a robot after an impact at contacts, with Newton's hypothesis replaced by Poisson's.

    Takes q (nq), qd (nv) and n contacts; `restitution`, one number or n, stands for what the contacts say. Contacts
    with a gap above `touch` (m) take no part. Kinematic loops stay closed, (9.63); `hold` (r, nv) has rows A with A
    qd = 0 before and after besides. `parameters` and `prescribed` are as for `forward_dynamics`; prescribed joints keep
    their rates. Gives qd (nv), and impulses (n) in N s.

    >>> arm = hinge.samples.planar_2r()
    >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), restitution=0.5)
    >>> arm.impact([0.0, 0.0], [-1.0, 0.0], [tip]).qd.round(3)
    array([-1.75,  4.5 ])
    """
    nothing = np.zeros(target.model.nv)
    rows = None if hold is None else real("hold", hold)
    both_ways = None if rows is None else (rows, np.zeros(rows.shape[:-1]))
    made = contact_system(
        target, q, qd, nothing, contacts, backend, hold=both_ways, parameters=parameters, prescribed=prescribed
    )
    listed = [contacts] if isinstance(contacts, Contact) else list(contacts)
    e = (
        np.array([c.restitution for c in listed])
        if restitution is None
        else checked_restitution(restitution, len(listed))
    )
    apart = np.zeros(made.gap.shape, bool)
    if touch is not None:
        apart = (made.gap > touch) | off_faces(target, q, listed, parameters, prescribed)
    both = ~apart[..., :, None] & ~apart[..., None, :]
    C = np.where(both, made.C, np.where(np.eye(len(listed), dtype=bool), 1.0, 0.0))
    return _two_phases(C, np.where(apart, 1.0, made.speed), made.response, np.asarray(qd, float), e)


def _two_phases(C: Array, speed: Array, response: Array, qd: Array, e: Array) -> Impact:
    """Compression and decompression."""
    squeezed = contact_forces(C, speed, "even")  # (9.75), (9.76)
    compression = squeezed.force
    back = speed + np.einsum("...ij,...j->...i", C, (1.0 + e) * compression)  # (9.83)
    further = contact_forces(C, _cleaned(back, speed), "even")  # (9.81), (9.82)
    impulse = (1.0 + e) * compression + further.force  # (9.77)
    after = qd + np.einsum("...n,...nv->...v", impulse, response)  # (9.74), (9.80)
    status = np.maximum(squeezed.status, further.status)
    return Impact(after, impulse, compression, further.force, status)


def _cleaned(back: Array, speed: Array) -> Array:
    """Speeds that are the rounding of zero are zero, so that they ask for no further impulse."""
    size = np.abs(speed).max(axis=-1, keepdims=True, initial=0.0)
    return np.where(np.abs(back) <= 1e-12 * size, 0.0, back)


def checked_restitution(given: Any, n: int | None = None) -> Array:
    """Restitution as an array, one number or one a contact, each from 0 to 1."""
    e = real("restitution", given).astype(float)
    bad = np.argwhere(~((e >= 0.0) & (e <= 1.0)))
    if len(bad):
        at = tuple(int(k) for k in bad[0])
        where = f"[{', '.join(map(str, at))}]" if at else ""
        raise SizeError(f"restitution{where} is {float(e[at]):g}. Give a number from 0 (plastic) to 1 (elastic).")
    if n is not None and e.shape not in ((), (n,)):
        raise SizeError(f"restitution has shape {e.shape}; there are {n} contacts. Give one number, or one each.")
    return e if n is None else np.broadcast_to(e, (n,))


def two_body_impact(
    I1: Numbers, I2: Numbers, normal: Numbers, v1: Numbers, v2: Numbers, restitution: Numbers = 0.0
) -> TwoBodyImpact:
    """Two free bodies collide: inertias (6, 6), spatial normal (6) from 1 to 2 as a force, velocities (6), one e.

    All in one frame, angular first. Bodies that do not approach are left as they are.

    >>> ball, n = np.diag([1.0, 1, 1, 2, 2, 2]), [0.0, 0, 0, 1, 0, 0]
    >>> hinge.two_body_impact(ball, ball, n, [0.0, 0, 0, 1, 0, 0], np.zeros(6), 1.0).v2[3]
    np.float64(1.0)
    """
    first, second = (_definite(f"two_body_impact: {w}", x, 6) for w, x in (("I1", I1), ("I2", I2)))
    n, u1, u2 = (real(f"two_body_impact: {w}", x, (6,)) for w, x in (("normal", normal), ("v1", v1), ("v2", v2)))
    e = checked_restitution(restitution)
    _fitting(
        "two_body_impact", first.shape[:-2], second.shape[:-2], n.shape[:-1], u1.shape[:-1], u2.shape[:-1], e.shape
    )
    moves1, moves2 = (np.linalg.solve(I, n[..., None])[..., 0] for I in (first, second))
    closing = -np.einsum("...i,...i->...", n, u2 - u1)
    compression = np.maximum(closing, 0.0) / np.einsum("...i,...i->...", n, moves1 + moves2)  # (9.67)
    gamma = (1.0 + e) * compression  # (9.68), (9.69)
    return TwoBodyImpact(u1 - moves1 * gamma[..., None], u2 + moves2 * gamma[..., None], gamma)  # (9.65), (9.66)


def impact_projection(
    H: Numbers, qd: Numbers, on: Numbers, after: Numbers | None = None, restitution: float = 0.0
) -> Array:
    """Velocities after an impact, as projections in the metric of kinetic energy H (nv, nv).

    Momentum changes along the rows of `on` (p, nv) only, which are the differentials of what vanishes at the impact.
    The rows of `after` vanish from then on: all of `on` in a plastic impact (None with restitution 0), none in a bounce
    (None else), or those of a manifold that contains the place of the impact. What is left of the normal velocity comes
    back reversed, `restitution` times: zefran2004 (30) and zefran2004 (31).

    >>> hinge.impact_projection(np.eye(2), [1.0, -2.0], [[0.0, 1.0]], restitution=0.5)
    array([1., 1.])
    """
    rates, e = real("impact_projection: qd", qd), float(checked_restitution(number("restitution", restitution)))
    if not rates.ndim:
        raise SizeError("impact_projection: qd is one number. Give (…, nv).")
    H, rows = _definite("impact_projection: H", H, rates.shape[-1]), _rows("on", on, rates)
    _fitting("impact_projection", H.shape[:-2], rates.shape[:-1], rows.shape[:-2])
    flat = _along(H, rates, rows)
    if after is None:
        free = rates if e else flat
    else:
        kept = _rows("after", after, rates)
        _fitting("impact_projection", H.shape[:-2], rates.shape[:-1], rows.shape[:-2], kept.shape[:-2])
        _within(rows, kept)
        free = _along(H, rates, kept)
    return flat - e * (free - flat)


def _rows(what: str, given: Any, qd: Array) -> Array:
    """Rows over velocities, (…, p, nv)."""
    rows = real(f"impact_projection: {what}", given)
    if rows.ndim < 2 or rows.shape[-1] != qd.shape[-1]:
        raise SizeError(f"impact_projection: {what} has shape {rows.shape}. Give rows, (…, p, {qd.shape[-1]}).")
    return rows


def _fitting(call: str, *batches: tuple[int, ...]) -> None:
    """Refuse batches that do not broadcast."""
    joined(call, [np.empty((*batch, 0)) for batch in batches])


def _definite(what: str, given: Any, n: int) -> Array:
    """Inertia matrices (…, n, n), which no motion escapes; one that is not finite is passed, for its row to be NaN."""
    I = real(what, given, (n, n))
    whole = np.isfinite(I).all(axis=(-1, -2), keepdims=True)
    size = np.sqrt(np.maximum(np.diagonal(I, axis1=-2, axis2=-1), 0.0))
    unit = np.where(size > 0.0, size, 1.0)  # in units that make its diagonal one
    even = np.where(whole, I / (unit[..., :, None] * unit[..., None, :]), np.eye(n))
    low = np.linalg.eigvalsh(0.5 * (even + np.swapaxes(even, -1, -2))).min(axis=-1, initial=1.0)
    bad = np.argwhere(~(low > n * np.finfo(I.dtype).eps))
    if len(bad):
        state = tuple(int(k) for k in bad[0])
        where = f" of state {state}" if state else ""
        raise SizeError(
            f"{what}{where} is not positive definite: some motion has no kinetic energy.\n"
            "  Give each body a mass and moments of inertia, or leave out what does not move."
        )
    return I


def _along(H: Array, qd: Array, rows: Array) -> Array:
    """qd projected, orthogonally in the metric H, onto the velocities for which the rows vanish."""
    if not rows.shape[-2]:
        return qd + 0.0
    X = np.swapaxes(np.linalg.solve(H, np.swapaxes(rows, -1, -2)), -1, -2)
    A = np.einsum("...iv,...jv->...ij", rows, X)
    A = np.where(np.isfinite(A).all(axis=(-1, -2), keepdims=True), A, 0.0)  # the state is NaN by X, or by its rows
    gamma = np.einsum(
        "...ij,...j->...i", np.linalg.pinv(A, rcond=1e-11, hermitian=True), np.einsum("...iv,...v->...i", rows, qd)
    )
    return qd - np.einsum("...i,...iv->...v", gamma, X)


def _within(on: Array, rows: Array) -> None:
    """Refuse rows that the impact does not act along: it could not make them vanish."""
    batch = np.broadcast_shapes(on.shape[:-2], rows.shape[:-2])
    on, rows = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (on, rows))
    for at in np.ndindex(batch):
        basis = on[at]
        if not np.isfinite(basis).all():
            continue
        left = rows[at] - rows[at] @ np.linalg.pinv(basis) @ basis
        for k, row in enumerate(left):
            if np.abs(row).max(initial=0.0) > 1e-9 * max(np.abs(rows[at]).max(initial=0.0), 1e-300):
                raise SizeError(
                    f"impact_projection: row {k} of after is no combination of the rows of on.\n"
                    "  The manifold after an impact has to contain its place."
                )
