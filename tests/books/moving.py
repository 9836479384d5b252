"""Things that move, on symbols: exact derivatives of whatever depends on coordinates, and their numbers.

A quantity is a scalar or a tuple of scalars (a vector, a matrix), in terms of q and qd; its rate has qdd in it.
"""

import numpy as np

from hinge.graph import OPS, Expr, Graph
from hinge.graph.diff import along
from hinge.graph.order import live
from hinge.spatial import Mat3, Vec3


class Moving:
    """n coordinates with rates and accelerations, each a symbol with a number behind it."""

    def __init__(self, rng, n):
        graph, numbers = Graph(), rng.normal(size=(3, n))
        self.q, self.qd, self.qdd = ([graph.input(name, k) for k in range(n)] for name in ("q", "qd", "qdd"))
        self.numbers = [row.copy() for row in numbers]
        self._known = dict(zip(self.q + self.qd + self.qdd, numbers.ravel().tolist(), strict=True))

    @property
    def per_joint(self):
        """Coordinates, rates and accelerations as the algorithms take them, for joints of one freedom each."""
        return [[[], *([x] for x in row)] for row in (self.q, self.qd, self.qdd)]

    def rate(self, x):
        """How x changes in time."""
        return self._changes(x, dict(zip(self.q + self.qd, self.qd + self.qdd, strict=True)))

    def by(self, x, symbol):
        """The derivative of x with respect to one symbol."""
        return self._changes(x, {symbol: 1.0})

    def _changes(self, x, rates):
        return type(x)(along(list(x), rates)) if isinstance(x, tuple) else along([x], rates)[0]

    def __call__(self, x):
        """The number, vector or matrix behind a quantity; of several, an array."""
        if isinstance(x, Mat3):
            return np.reshape([self(e) for e in x], (3, 3))
        if isinstance(x, Vec3 | list | tuple):
            return np.array([self(e) for e in x])
        for node in live([x]):
            if node not in self._known:
                args = (self._known[a] if type(a) is Expr else a for a in node.args)
                self._known[node] = float(OPS[node.op].meaning(*args))
        return self._known[x] if type(x) is Expr else float(x)


def close(a, b, tol=1e-12):
    """Assert that two arrays agree, to `tol` of the larger's size."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1.0, np.max(np.abs(b), initial=0.0)))


def cloud(rng, points=7):
    """A body as points with masses, and its mass, centre of mass, and inertias about it: ∫ r rᵀ and ∫ (r² 1 - r rᵀ)."""
    where, weights = rng.normal(size=(points, 3)), rng.uniform(0.2, 1.0, points)
    com = weights @ where / weights.sum()
    spread = where - com
    J = np.einsum("k,ki,kj->ij", weights, spread, spread)
    I = sum(w * (r @ r * np.eye(3) - np.outer(r, r)) for w, r in zip(weights, spread, strict=True))
    return where, weights, com, J, I


def cross_matrix(v):
    """The matrix of v ×."""
    return np.cross(np.eye(3), v)
