"""Parameters that bodies can have, near the robot given: every pseudo-inertia positive definite, joint terms positive.

Joint forces say what the base parameters β = B π are, some of them badly, and nothing about how they are shared among
bodies. The robot that was given says the rest, as one more measurement:

    least  ½ |R (B π - β̂)|² + μ D(π),   D = Σ tr(P₀⁻¹ P) - log det(P₀⁻¹ P) - n

R takes a change of β to standard deviations, P is the pseudo-inertia of a body, 4×4, or the number of a joint's term,
1×1, and P₀ the same of the robot given. D, the log-determinant divergence, is convex, the same in every frame and every
unit, zero at the robot given and infinite where a body can no longer be; a number that is off by its own size counts as
one that is measured a standard deviation off, for μ = 1. What was measured well wins by as many orders of magnitude.
D is its own barrier: Newton's method for a large μ, from a robot like the one given and much heavier, on to the μ that
is asked for. Heavier, because trace(P₀⁻¹ P) is steep where bodies grow, and steps along a steep wall are short.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hinge.identify.parameters import PSEUDO, Array, pseudo_inertia
from hinge.model.model import NUMBERS

ROOT2 = np.sqrt(2.0)
TEN = np.linalg.pinv(PSEUDO.reshape(NUMBERS, 16)).reshape(4, 4, NUMBERS)  # a pseudo-inertia's numbers
UNIT = np.eye(4)
SIDES = np.array(
    [
        (np.outer(UNIT[i], UNIT[j]) + np.outer(UNIT[j], UNIT[i])) / (2.0 if i == j else ROOT2)
        for j in range(4)
        for i in range(j + 1)
    ]
)  # symmetric matrices at right angles, of length one
LIGHT, SHORT = 1e-3, 1e-2  # kg and m, of a body that the robot says nothing of
THIN = 1e-3  # of a body's second moment: no less is given to any direction, or a rod would have to stay a line
SLIGHT = 1e-3  # of the unit of a joint's term: what it is where the robot has none
HEAVY = 1e4  # times as heavy as the robot given is the first
LESS = 0.03  # μ from one round to the next
BETTER = 0.9  # of the misfit: as much has to be left at most for a smaller μ to be worth it
STEPS = 60  # of Newton in a round, at most
ROUGH, CLOSE = 1.0, 1e-12  # the decrease, in μ, that ends a round, and the last
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
        (G0, terms0, free0), (P, terms, free) = self._own, self._parts(x)
        if np.any(terms <= 0.0):
            return np.inf
        try:
            G = np.linalg.cholesky(P)
        except np.linalg.LinAlgError:
            return np.inf
        ratio, part = np.linalg.solve(G0, G), terms / terms0  # det(P₀⁻¹ P) = det(ratio)², and ratio is triangular
        D = np.sum(ratio**2) - 2.0 * np.log(np.einsum("nii->ni", ratio)).sum() - 4 * self.bodies
        D += np.sum(terms0 / self.unit * (part - np.log(part) - 1.0))
        return float(D + 0.5 * np.sum(((free - free0) / self.size) ** 2))

    def slope(self, x: Array) -> tuple[Array, Array]:
        """W (p, p), whose columns are steps from x of length one in the metric of D, and the slope of D along them.

        A step of a body is P = G (1 + S) Gᵀ with S symmetric, where P = G Gᵀ at x: D is curved by 1 along every S.
        """
        (G0, terms0, free0), (P, terms, free) = self._own, self._parts(x)
        G = np.linalg.cholesky(P)
        ratio = np.linalg.solve(G0, G)
        g = np.tensordot(ratio.swapaxes(1, 2) @ ratio - UNIT, SIDES, ([1, 2], [1, 2]))
        root = np.sqrt(terms0 * self.unit)
        W = np.diag(np.concatenate([np.ones(g.size), terms * self.unit / root, self.size]))
        for k, block in enumerate(np.tensordot(G[:, None] @ SIDES @ G[:, None].swapaxes(2, 3), TEN, 2)):
            W[NUMBERS * k : NUMBERS * (k + 1), NUMBERS * k : NUMBERS * (k + 1)] = block.T
        return W, np.concatenate([g.ravel(), (terms - terms0) / root, (free - free0) / self.size])

    def heavier(self, factor: float) -> Prior:
        """The same of a robot whose bodies and terms are so many times as large."""
        count = len(self.at) - len(self.size)
        return replace(self, at=np.append(factor * self.at[:count], self.at[count:]), unit=factor * self.unit)

    @cached_property
    def _own(self) -> tuple[Array, Array, Array]:
        P, terms, free = self._parts(self.at)
        return np.linalg.cholesky(P).astype(float), terms, free

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
    x = near.heavier(HEAVY).at
    mu = max(nearness, _misfit(x, B, beta, R))
    while mu > nearness:
        x = _newton(near.heavier(min(HEAVY, mu / nearness)), x, B, beta, R, mu, ROUGH)
        mu = max(LESS * mu, nearness)
    return _newton(near, x, B, beta, R, mu, CLOSE)


def chosen(near: Prior, B: Array, beta: Array, R: Array) -> Array:
    """The same with nearness 1, or less where the robot given is so far off that noise does not account for the misfit.

    Noise makes the squared misfit of the truth as large as there are base parameters.
    """
    x, mu = nearest(near, B, beta, R, 1.0), 1.0
    misfit = _misfit(x, B, beta, R)
    while misfit > len(beta):
        mu *= LESS
        x = nearest(near, B, beta, R, mu)
        before, misfit = misfit, _misfit(x, B, beta, R)
        if misfit > BETTER * before:
            break
    return x


def _newton(near: Prior, x: Array, B: Array, beta: Array, R: Array, mu: float, close: float) -> Array:
    """The least of ½ |R (B x - β)|² + μ D, from x on."""
    M, root = R @ B, np.sqrt(mu)

    def cost(x: Array) -> float:
        return 0.5 * _misfit(x, B, beta, R) + mu * near.divergence(x)

    for _ in range(STEPS):
        # least squares, not normal equations, so that what was measured sharply and what was not are both exact
        W, g = near.slope(x)
        Q, T = np.linalg.qr(np.vstack([M @ W, root * np.eye(len(x))]))
        b = Q.T @ np.concatenate([R @ (beta - B @ x), -root * g])
        step, gain, now, share = W @ np.linalg.solve(T, b), float(b @ b), cost(x), 1.0
        while cost(x + share * step) > now - SURE * share * gain + ROUNDING * abs(now) and share > LEAST:
            share *= 0.5
        x = x + share * step if share > LEAST else x
        if gain <= close * mu or share <= LEAST:
            break
    return x


def _misfit(x: Array, B: Array, beta: Array, R: Array) -> float:
    return float(np.sum((R @ (B @ x - beta)) ** 2))


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
