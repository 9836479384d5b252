"""Spaces of motions and of forces: complements, resolution into parts, reciprocal and orthogonal bases, dyads.

A space is a matrix (…, 6, r) whose columns span it. The space orthogonal to one of motions is one of forces.
Source: featherstone1987, section 3.10. A bare number in the margin is an equation there.
Differs from the source: a plain transpose stands for the spatial one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.errors import GeometryError, SizeError
from hinge.geometry.arrays import Array, numbers
from hinge.typing import AnyArray


def _space(name: str, one: str, given: Any) -> Array:
    a = numbers(f"geometry.spaces.{name}", one, given, ()).astype(float)
    if a.ndim < 2 or a.shape[-2] != 6 or a.shape[-1] > 6:
        raise SizeError(f"geometry.spaces.{name}: {one} has shape {a.shape}; wanted (…, 6, r) with r at most 6.")
    if not np.isfinite(a).all():
        raise GeometryError(f"geometry.spaces.{name}: {one} has entries that are not finite.")
    return a


def _T(a: AnyArray) -> AnyArray:
    return np.swapaxes(a, -1, -2)


def _independent(name: str, one: str, S: Array) -> Array:
    sizes = np.linalg.svd(S, compute_uv=False)
    if S.shape[-1] and not (sizes[..., -1] > 1e-12 * sizes[..., 0]).all():
        raise GeometryError(
            f"geometry.spaces.{name}: the columns of {one} are not independent.\n"
            "  Leave out those that the others span."
        )
    return S


def complement(S: Any) -> Array:
    """S⊥ (…, 6, 6 - r): a basis of all that does no work on S; its columns are orthonormal.

    >>> hinge.geometry.spaces.complement(np.eye(6)[:, :1]).shape
    (6, 5)
    """
    S = _independent("complement", "S", _space("complement", "S", S))
    Q, _ = np.linalg.qr(S, mode="complete")
    return Q[..., S.shape[-1] :]  # (3.25)


def resolve(a: Any, S: Any, T: Any) -> tuple[Array, Array, Array]:
    """A vector as the sum of a part in S and one that T does not feel: the two parts (…, 6), and α (…, r) with S α.

    >>> hinge.geometry.spaces.resolve(np.ones(6), np.eye(6)[:, :1], np.eye(6)[:, :1])[1]
    array([0., 1., 1., 1., 1., 1.])
    """
    a = numbers("geometry.spaces.resolve", "a", a, (6,))
    S, T = _space("resolve", "S", S), _space("resolve", "T", T)
    if S.shape[-1] != T.shape[-1]:
        raise SizeError(f"geometry.spaces.resolve: S has {S.shape[-1]} columns and T has {T.shape[-1]}.")
    K = _T(T) @ S
    if K.shape[-1] and not (np.linalg.cond(K) < 1e12).all():
        raise GeometryError(
            "geometry.spaces.resolve: part of S is not felt by T, so there is no unique resolution.\n"
            "  Choose a T for which Tᵀ S is not singular."
        )
    alpha = np.linalg.solve(K, _T(T) @ a[..., None])  # (3.26), (3.27)
    inside = (S @ alpha)[..., 0]
    return inside, a - inside, alpha[..., 0]


def reciprocal_basis(E: Any) -> Array:
    """F (…, 6, r) in the span of E's numbers with Eᵀ F = 1: component i of a vector on E is F_i · v.

    >>> hinge.geometry.spaces.reciprocal_basis(2 * np.eye(6))[0, 0]
    np.float64(0.5)
    """
    E = _independent("reciprocal_basis", "E", _space("reciprocal_basis", "E", E))
    return E @ np.linalg.inv(_T(E) @ E)  # (3.28)


def orthogonal_basis(S: Any, inertia: Any) -> Array:
    """A basis (…, 6, r) of the same space whose motions are orthonormal by an inertia: sᵢᵀ I sⱼ is 1 or 0.

    >>> hinge.geometry.spaces.orthogonal_basis(np.eye(6), 4 * np.eye(6))[0, 0]
    np.float64(0.5)
    """
    S = _independent("orthogonal_basis", "S", _space("orthogonal_basis", "S", S))
    I = numbers("geometry.spaces.orthogonal_basis", "inertia", inertia, (6, 6))
    try:
        L = np.linalg.cholesky(_T(S) @ I @ S)
    except np.linalg.LinAlgError:
        raise GeometryError(
            "geometry.spaces.orthogonal_basis: the inertia is not positive on S.\n"
            "  Give the body a mass and an inertia, or leave out what has none."
        ) from None
    return _T(np.linalg.solve(L, _T(S)))


def dyad(a: Any, b: Any) -> Array:
    """a bᵀ, the tensor product: applied to c it is a times b · c.

    >>> hinge.geometry.spaces.dyad(np.ones(6), np.ones(6)).shape
    (6, 6)
    """
    a, b = (numbers("geometry.spaces.dyad", n, x, (6,)) for n, x in (("a", a), ("b", b)))
    return a[..., :, None] * b[..., None, :]  # (3.30)


def dyads(S: Any, inertia: Any) -> tuple[Array, Array]:
    """The inertia and the inverse inertia (…, 6, 6) as sums of dyads of a basis that is orthogonal by it.

    With fewer than six columns these are what a body has that can move in S only.

    >>> hinge.geometry.spaces.dyads(np.eye(6), np.diag([1.0, 2, 3, 4, 4, 4]))[1].diagonal()[:3].round(3)
    array([1.   , 0.5  , 0.333])
    """
    S = orthogonal_basis(S, inertia)
    IS = np.asarray(inertia, float) @ S
    return IS @ _T(IS), S @ _T(S)  # (3.31), (3.32)


def apparent_inverse_inertia(S: Any, inertia: Any) -> Array:
    """S (Sᵀ I S)⁻¹ Sᵀ: the acceleration for each force of a body at rest that can move in S only: section 3.10.2.

    >>> hinge.geometry.spaces.apparent_inverse_inertia(np.eye(6)[:, :1], 2 * np.eye(6))[0, 0].round(12)
    np.float64(0.5)
    """
    return dyads(S, inertia)[1]
