"""A linearly implicit method of second order, for robots with stiff springs, dampers or gains.

    W k1 = f(t, y)        W k2 = f(t + γ h, y + γ h k1) - 2 γ (k1 - f)        y' = y + h ((1 - b) k1 + b k2)

W = 1 - γ h A, b = 1/(2 γ) and γ = 1 - 1/√2, for which the method is L-stable. The order does not depend on the matrix
A (a W-method), so A has only those derivatives of the forces that can be stiff: of springs, dampers, the controller by
positions and velocities, and of gyroscopic forces. In positions and velocities y = (q, v) an equation W k = f is

    (H + γ h D + (γ h)² K) (k_v - f_v) = -γ h (K (f_q + γ h f_v) + D f_v)        k_q = f_q + γ h k_v

with K and D, how joint forces fall with positions and velocities. Where loops or constraints hold, K and D are taken by
their symmetric part, without gyroscopic forces, and k_v - f_v keeps the constraints.
Source: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7; the second stage is at the end of an
implicit Euler step of γ h, where stiff springs are at rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hinge.constraints.multipliers import Keeping, factored
from hinge.dynamics.composite import composite
from hinge.dynamics.coriolis import coriolis
from hinge.dynamics.faring import lowest
from hinge.dynamics.solve import LU, is_zero
from hinge.graph import Expr, Scalar, inner, jacobian
from hinge.integrators.floating import translations
from hinge.integrators.steps import Carried, Flat, Made, PerJoint, System
from hinge.model import Model
from hinge.model.driven import driven

Rows = list[Flat]
Rate = Sequence[Flat]  # of positions, as velocities, and of velocities
GAMMA = 1.0 - math.sqrt(0.5)
SECOND = 0.5 / GAMMA  # the weight of the second stage


def implicit(model: Model, system: System, q: PerJoint, v: Flat, h: Scalar) -> Made:
    """A step of h seconds from q and v."""
    velocities, stiff = Carried(system, q), _Stiff(model, system, q, v, GAMMA * h)

    def state(c: Scalar, rate: Rate, h: Scalar) -> tuple[PerJoint, Flat]:
        moves = model.joint_velocities([h * x for x in rate[0]])
        at = [joint.integrate(q[i], moves[i]) for i, joint in enumerate(model.joint)]
        return at, velocities.at(c, at, _sum(v, rate[1], h))

    def rate(c: Scalar, at: PerJoint, speed: Flat) -> tuple[Rate, Scalar]:
        gain, pivots = system.acceleration(c, at, speed)
        return (speed, velocities.rate(c, at, speed, gain)), lowest(pivots)

    f, pivot = rate(0.0, q, v)
    k1 = stiff.solve(f)
    g, other = rate(GAMMA, *state(GAMMA, k1, GAMMA * h))
    k2 = stiff.solve([_sum(x, _sum(y, z, -1.0), -2.0 * GAMMA) for x, y, z in zip(g, k1, f, strict=True)])
    end = state(1.0, [_sum(x, _sum(y, x, -1.0), SECOND) for x, y in zip(k1, k2, strict=True)], h)
    return Made(*end, [], [pivot, *stiff.pivots, other])


class _Stiff:
    """The equations W k = f of the state where a step starts, for γ h = `reach`."""

    def __init__(self, model: Model, system: System, q: PerJoint, v: Flat, reach: Scalar) -> None:
        self.reach, self.pivots = reach, []
        self.K, self.D = _falls(system.body(0.0), system.forces(0.0, q, v), q, v)
        held = None if system.held is None else system.held(0.0, q, v)
        if held is None and not driven(model):
            self.D = added(self.D, _gyroscopic(model, q, v), 1.0)
        elif held is not None:
            self.K, self.D = _symmetric(self.K), _symmetric(self.D)
        if all(is_zero(x) for rows in (self.K, self.D) for row in rows for x in row):
            self._answer = None
            return
        matrix = added(added(composite(system.body(0.0), q), self.D, reach), self.K, reach * reach)
        if held is None:
            uneven = LU(matrix)
            self._answer, self.pivots = uneven.solve, [lowest(uneven.sizes)]
        else:
            factors = factored(model, matrix, held.A)
            keeping = Keeping(factors, held.A, held.state)
            self._answer, self.pivots = lambda b: keeping.kept(factors.solve(b))[0], [lowest(factors.pivots)]

    def solve(self, f: Rate) -> Rate:
        """Return k."""
        gain = f[1]
        if self._answer is not None:
            ahead = _sum(f[0], gain, self.reach)
            force = [-self.reach * (inner(k, ahead) + inner(d, gain)) for k, d in zip(self.K, self.D, strict=True)]
            gain = _sum(gain, self._answer(force), 1.0)
        return _sum(f[0], gain, self.reach), gain


def _falls(model: Model, tau: Flat, q: PerJoint, v: Flat) -> tuple[Rows, Rows]:
    """How joint forces, those of springs and dampers among them, fall with displacements and with velocities."""
    taken = [model.resistance(i, q, model.joint_velocities(v)) for i in range(len(model.parent))]
    force = _sum(tau, model.generalised_forces(taken), -1.0)
    by_q, by_v = slopes(force, model.flat(q)), slopes(force, v)
    K: Rows = [[] for _ in force]
    for i in model.leaders:
        joint, own = model.joint[i], model.slices[i][0]
        for k in range(joint.nv):
            rates = joint.rate(q[i], [1.0 if j == k else 0.0 for j in range(joint.nv)])
            for row, entries in zip(K, by_q, strict=True):
                row.append(-inner(entries[own], rates))
    return K, [[-x for x in row] for row in by_v]


def _gyroscopic(model: Model, q: PerJoint, v: Flat) -> Rows:
    """How gyroscopic forces fall with velocities; they do not change the momentum of what floats."""
    free = translations(model, q)
    rows = coriolis(model, q, model.joint_velocities(v))
    return [[0.0 if i in free else 2.0 * x for x in row] for i, row in enumerate(rows)]


def _symmetric(rows: Rows) -> Rows:
    return [[0.5 * (x + rows[j][i]) for j, x in enumerate(row)] for i, row in enumerate(rows)]


def _sum(a: Flat, b: Flat, h: Scalar) -> Flat:
    """a + h b."""
    return [x + h * y for x, y in zip(a, b, strict=True)]


def damping(model: Model) -> Rows:
    """The matrix of the joints' damping over the user's velocities, where the model's terms have it."""
    blocks = {}
    for i, _ in model.outward():
        d = model.data[i].damping if "damping" in model.terms else ()
        blocks[i, i] = [[x if r == c else 0.0 for c in range(len(d))] for r, x in enumerate(d)]
    return model.generalised_matrix(blocks)


def slopes(values: Flat, by: Flat) -> Rows:
    """The derivatives of scalars by others, which are nodes; of numbers they are zero."""
    if not any(type(x) is Expr for x in values) or not all(type(x) is Expr for x in by):
        return [[0.0] * len(by) for _ in values]
    return jacobian(values, by)


def added(H: Rows, D: Rows, h: Scalar) -> Rows:
    """H + h D."""
    return [[x + h * y for x, y in zip(a, b, strict=True)] for a, b in zip(H, D, strict=True)]
