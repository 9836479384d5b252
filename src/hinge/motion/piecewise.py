"""Polynomials of time, one after another: what every motion is made of.

A motion method is only a way to find coefficients. Times are numbers, arrays of them, or the `t` of a controller that
is being traced: then the piece is chosen by comparisons that become part of its graph.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from hinge.arguments import Array, real
from hinge.graph.arrays import Symbols
from hinge.motion.pieces import Pieces


class Piecewise:
    """Vectors that are polynomials of the time since knot k, up to knot k + 1; at rest before and after.

    `knots` is (k + 1,) and begins at zero, `coefficients` (k, powers, n), the constants first.
    """

    def __init__(self, knots: Any, coefficients: Any) -> None:
        self.knots, self.coefficients = np.asarray(knots, float), np.asarray(coefficients, float)
        self._pieces = Pieces(self.knots[:-1], self.knots[:-1], self.coefficients)

    @property
    def duration(self) -> float:
        return float(self.knots[-1])

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        """Value, rate and second derivative, (…, n) each, at times (…,)."""
        t = t if isinstance(t, Symbols) else real("t", t).astype(float)
        within = np.clip(t, 0.0, self.duration)
        begin, powers = self._pieces.at(within)
        u = (within - begin)[..., None]
        value = rate = bend = np.zeros(self.coefficients.shape[2])
        for k in reversed(range(self.coefficients.shape[1])):  # Horner's rule, and its derivatives
            bend = bend * u + 2.0 * rate
            rate = rate * u + value
            value = value * u + powers[..., k, :]
        before, after = (t < 0.0)[..., None], (self.duration < t)[..., None]
        rate, bend = (np.where(before, 0.0, np.where(after, 0.0, x)) for x in (rate, bend))
        return value, rate, bend

    def peak(self, derivative: int) -> Array:
        """The largest size of a derivative, (n,): at the ends of a piece, or where the next derivative is zero."""
        polynomial = np.polynomial.polynomial
        found = np.zeros(self.coefficients.shape[2])
        for length, piece in zip(np.diff(self.knots), self.coefficients, strict=True):
            for j, column in enumerate(polynomial.polyder(piece, derivative).T):
                turns = polynomial.polyroots(polynomial.polyder(column))
                inside = turns.real[(abs(turns.imag) < 1e-9 * length) & (turns.real > 0.0) & (turns.real < length)]
                at = [0.0, length, *inside]
                found[j] = max(found[j], np.abs(polynomial.polyval(at, column)).max())
        return found

    @property
    def jumps(self) -> Array:
        """The times at which the second derivative jumps; at rest it is zero."""
        lengths, two = np.diff(self.knots), self.coefficients[:, 2:]
        weights = np.array([(k + 1.0) * (k + 2.0) for k in range(two.shape[1])])
        powers = lengths[:, None] ** np.arange(two.shape[1])
        none = np.zeros((1, self.coefficients.shape[2]))
        starts = 2.0 * two[:, 0] if two.shape[1] else np.zeros_like(self.coefficients[:, 0])
        ends, size = (np.einsum("kp,kpn->kn", weights * powers, x) for x in (two, np.abs(two)))
        apart = np.abs(np.concatenate([none, ends]) - np.concatenate([starts, none])).max(axis=1)
        return self.knots[apart > 1e-9 * size.max()]

    def slower(self, factor: float) -> Piecewise:
        """The same path in so many times the time."""
        powers = np.arange(self.coefficients.shape[1])[:, None]
        return Piecewise(self.knots * factor, self.coefficients / factor**powers)

    def times(self, direction: Array) -> Piecewise:
        """A number that changes with time, times a vector that does not."""
        return Piecewise(self.knots, self.coefficients * direction)


def quintic_law() -> Piecewise:
    """From zero to one in one second, velocity and acceleration zero at both ends."""
    return hermite(np.array([0.0, 1.0]), np.array([[[0.0], [0.0], [0.0]], [[1.0], [0.0], [0.0]]]))


def trapezoidal_law(ramp: float) -> Piecewise:
    """From zero to one in one second, speeding up for the share `ramp` of it, at most a half, and slowing down so."""
    speed = 1.0 / (1.0 - ramp)
    a = 0.5 * speed / ramp
    pieces = [[0.0, 0.0, a], [a * ramp**2, speed, 0.0], [1.0 - a * ramp**2, speed, -a]]
    knots = [0.0, ramp, 1.0 - ramp, 1.0]
    keep = [0, 2] if ramp == 0.5 else [0, 1, 2]  # without a middle where it is all ramps
    return Piecewise([knots[k] for k in (*keep, 3)], np.array(pieces)[keep][..., None])


def hermite(knots: Array, states: Array) -> Piecewise:
    """The polynomials through states (k + 1, m, n): values at the knots and their first m - 1 derivatives."""
    m = states.shape[1]
    inverse, powers = np.linalg.inv(_ends(m)[0]), []
    for h, first, last in zip(np.diff(knots), states[:-1], states[1:], strict=True):
        scale = h ** np.arange(2 * m)[:, None]
        powers.append(inverse @ np.concatenate([first * scale[:m], last * scale[:m]]) / scale)
    return Piecewise(knots, powers)


def spline(knots: Array, points: Array, m: int, natural: bool = False) -> Piecewise:
    """The spline of degree 2m - 1 through points (k + 1, n): its derivatives up to 2m - 2 have no jump.

    At the ends the first m - 1 derivatives are zero, or with `natural` those from m on. The unknowns are the first
    m - 1 derivatives at each knot; that each of the next m - 1 has no jump there is as many equations.
    """
    known, every = _ends(m)
    higher = every[:, m : 2 * m - 1] @ np.linalg.inv(known)  # at both ends of a piece, out of what is known at them
    count, low, high = len(knots), np.arange(1, m), np.arange(m, 2 * m - 1)[:, None]
    lhs, rhs = np.zeros((count, m - 1, count, m - 1)), np.zeros((count, m - 1, points.shape[1]))
    for piece, h in enumerate(np.diff(knots)):
        for end, sign in enumerate((-1.0, 1.0)):  # it begins at one knot and ends at the next
            for side, block in enumerate(np.split(sign * higher[end] / h**high, 2, axis=1)):
                lhs[piece + end, :, piece + side] += block[:, 1:] * h**low
                rhs[piece + end] -= block[:, :1] * points[piece + side]
    for k in () if natural else (0, -1):
        lhs[k], rhs[k] = 0.0, 0.0
        lhs[k, :, k] = np.eye(m - 1)
    size = count * (m - 1)
    rates = np.linalg.solve(lhs.reshape(size, size), rhs.reshape(size, -1)).reshape(rhs.shape)
    return hermite(knots, np.concatenate([points[:, None], rates], axis=1))


def _ends(m: int) -> tuple[Array, Array]:
    """What takes 2m coefficients to derivatives at 0 and at 1: those below m, (2m, 2m), and all, (2, 2m, 2m)."""
    every = np.zeros((2, 2 * m, 2 * m))
    for order in range(2 * m):
        for power in range(order, 2 * m):
            every[1, order, power] = factorial(power) / factorial(power - order)
        every[0, order, order] = factorial(order)
    return np.concatenate(every[:, :m]), every
