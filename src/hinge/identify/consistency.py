"""Parameters that bodies can have, near the robot given: every pseudo-inertia positive definite, joint terms positive.

Joint forces say what the base parameters β = B π are, some of them badly, and nothing about how they are shared among
bodies. The robot that was given says the rest, as one more measurement:

    least  ½ |R (B π - β̂)|² + μ D(π),   D = Σ tr(P₀⁻¹ P) - log det(P₀⁻¹ P) - n

R takes a change of β to standard deviations, P is the pseudo-inertia of a body, 4×4, or the number of a joint's term,
1×1, and P₀ the same of the robot given. D, the log-determinant divergence, is convex, the same in every frame and every
unit, zero at the robot given and infinite where a body can no longer be; a number that is off by its own size counts as
one that is measured a standard deviation off, for μ = 1. What was measured well wins by as many orders of magnitude.
Newton's method, from the robot given (μ infinite) towards the measurements: D is its own barrier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hinge.identify.parameters import PSEUDO, Array, pseudo_inertia
from hinge.model.model import NUMBERS

TEN = np.linalg.pinv(PSEUDO.reshape(NUMBERS, 16)).reshape(4, 4, NUMBERS)  # a pseudo-inertia's numbers
LIGHT, SHORT = 1e-3, 1e-2  # kg and m, of a body that the robot says nothing of
THIN = 1e-3  # of a body's second moment: no less is given to any direction, or a rod would have to stay a line
SLIGHT = 1e-3  # of the unit of a joint's term: what it is where the robot has none
LESS = 0.1  # μ from one round to the next
STEPS = 60  # of Newton in a round, at most
ROUGH, CLOSE = 0.1, 1e-12  # the decrease, in μ, that ends a round, and the last
SURE, LEAST, ROUNDING = 0.1, 1e-9, 1e-13  # of the decrease of a step, of the step, and of what decreases


@dataclass(frozen=True, eq=False)
class Prior:
    """The robot given, as what a fit stays near to: bodies, then terms above zero, then terms of any sign."""

    at: Array  # (p,)
    bodies: int
    unit: Array  # of each term above zero, no smaller than the term
    size: Array  # of each term of any sign

    def divergence(self, x: Array) -> float:
        """D from here to x; infinite where there are no such bodies."""
        P, terms, free = self._parts(x)
        P0, terms0, free0 = self._parts(self.at)
        if np.any(terms <= 0.0) or np.any(np.linalg.eigvalsh(P) <= 0.0):
            return np.inf
        ratio, part = np.linalg.solve(P0, P), terms / terms0
        more = terms0 / self.unit * (part - np.log(part) - 1.0)
        D = np.trace(ratio, axis1=1, axis2=2).sum() - np.linalg.slogdet(ratio)[1].sum() - 4 * self.bodies
        return float(D + more.sum() + 0.5 * (((free - free0) / self.size) ** 2).sum())

    def slope(self, x: Array) -> tuple[Array, Array]:
        """The gradient of D at x, and L (p, p), lower triangular, with L Lᵀ its second derivative."""
        P, terms, free = self._parts(x)
        P0, terms0, free0 = self._parts(self.at)
        inverse = np.linalg.inv(P)
        g = np.einsum("aij,nji->na", PSEUDO, np.linalg.inv(P0) - inverse).ravel()
        turned = np.einsum("nij,ajk->naik", inverse, PSEUDO)
        blocks = np.linalg.cholesky(np.einsum("naij,nbji->nab", turned, turned))
        L = np.diag(np.concatenate([np.ones(len(g)), np.sqrt(terms0 / self.unit) / terms, 1.0 / self.size]))
        for k, block in enumerate(blocks):
            L[NUMBERS * k : NUMBERS * (k + 1), NUMBERS * k : NUMBERS * (k + 1)] = block
        return np.concatenate([g, (1.0 - terms0 / terms) / self.unit, (free - free0) / self.size**2]), L

    def _parts(self, x: Array) -> tuple[Array, Array, Array]:
        ten, terms, free = np.split(x, np.cumsum([NUMBERS * self.bodies, len(self.unit)]))
        return pseudo_inertia(ten.reshape(self.bodies, NUMBERS)), terms, free


def prior(own: Array, bodies: int, unit: Array, size: Array) -> Prior:
    """The prior of parameters `own`. A term above zero counts in its own size, or in `unit` where that is larger."""
    at, count = own.copy(), NUMBERS * bodies
    for k in range(bodies):
        at[NUMBERS * k : NUMBERS * (k + 1)] = _with_substance(own[NUMBERS * k : NUMBERS * (k + 1)])
    terms = slice(count, count + len(unit))
    at[terms] = np.maximum(own[terms], SLIGHT * unit)
    return Prior(at, bodies, np.maximum(own[terms], unit), size)


def nearest(near: Prior, B: Array, beta: Array, R: Array, nearness: float) -> Array:
    """The parameters (p,) of bodies that can be with the least ½ |R (B π - β)|² + nearness D."""
    x = near.at
    mu = max(nearness, float(np.sum((R @ (B @ x - beta)) ** 2)))
    while mu > nearness:
        x = _newton(near, x, B, beta, R, mu, ROUGH)
        mu = max(LESS * mu, nearness)
    return _newton(near, x, B, beta, R, mu, CLOSE)


def _newton(near: Prior, x: Array, B: Array, beta: Array, R: Array, mu: float, close: float) -> Array:
    """The least of ½ |R (B x - β)|² + μ D, from x on."""
    M, root = R @ B, np.sqrt(mu)

    def cost(x: Array) -> float:
        return 0.5 * float(np.sum((R @ (B @ x - beta)) ** 2)) + mu * near.divergence(x)

    for _ in range(STEPS):
        g, L = near.slope(x)
        # in the metric of D, in which steps have a size: least squares, so that sharp and dull directions both are exact
        A = np.vstack([np.linalg.solve(L, M.T).T, root * np.eye(len(x))])
        Q, T = np.linalg.qr(A)
        b = Q.T @ np.concatenate([R @ (beta - B @ x), -root * np.linalg.solve(L, g)])
        step, gain, now, share = np.linalg.solve(L.T, np.linalg.solve(T, b)), float(b @ b), cost(x), 1.0
        while cost(x + share * step) > now - SURE * share * gain + ROUNDING * abs(now) and share > LEAST:
            share *= 0.5
        x = x + share * step if share > LEAST else x
        if gain <= close * mu or share <= LEAST:
            break
    return x


def _with_substance(ten: Array) -> Array:
    """The ten numbers of a body with at least a little mass, and a little of it to every side."""
    if ten[0] <= 0.0:
        return np.array([LIGHT, 0.0, 0.0, 0.0, *[2.0 * LIGHT * SHORT**2] * 3, 0.0, 0.0, 0.0])
    P = pseudo_inertia(ten)
    h, m = P[:3, 3], P[3, 3]
    size, axes = np.linalg.eigh(P[:3, :3] - np.outer(h, h) / m)
    least = max(THIN * float(np.trace(P[:3, :3])), m * SHORT**2 * THIN)
    P[:3, :3] += (axes * np.maximum(least - size, 0.0)) @ axes.T
    return np.tensordot(P, TEN, 2)
