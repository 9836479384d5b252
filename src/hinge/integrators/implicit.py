"""Euler's method, implicit in the velocities: what damps may be stiff.

    (H + h D) Δv = h (tau - C)        D = ∂(C - tau)/∂v        q' = q + h v'

D has the joints' damping, the gains of a controller on velocities, and the gyroscopic terms; stiffness is met where it
is. Where loops or constraints hold, D is taken by its symmetric part, without the gyroscopic terms.
Source: ours; one step of Newton's method for the implicit rule, as simulators of contact have it.
"""

from __future__ import annotations

from hinge.constraints.multipliers import Keeping, factored, met
from hinge.dynamics.composite import composite
from hinge.dynamics.coriolis import coriolis
from hinge.dynamics.faring import lowest
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.solve import LU
from hinge.graph import Expr, Scalar, jacobian
from hinge.integrators.steps import Flat, Made, PerJoint, System
from hinge.model import Model
from hinge.model.driven import driven

Rows = list[Flat]


def implicit(model: Model, system: System, q: PerJoint, v: Flat, h: Scalar) -> Made:
    """A step of h seconds from q and v."""
    body, speeds = system.body(0.0), model.joint_velocities(v)
    tau = system.forces(0.0, q, v)
    C = model.generalised_forces(bias_force(body, q, speeds, system.external(q), system.base(0.0)))
    H, push = composite(body, q), [h * (t - c) for t, c in zip(tau, C, strict=True)]
    D = added(damping(model), slopes(tau, v), -1.0)
    if system.held is None:
        if not driven(model):
            D = added(D, coriolis(model, q, speeds), 2.0)
        uneven = LU(added(H, D, h))
        change, pivots = uneven.solve(push), uneven.sizes
    else:
        even = [[0.5 * (D[i][j] + D[j][i]) for j in range(model.nv)] for i in range(model.nv)]
        held = system.held(0.0, q, v)
        factors = factored(model, added(H, even, h), held.A)
        free = factors.solve(push)
        change, _ = Keeping(factors, held.A, held.state).kept(free, [h * x for x in held.c])
        pivots = [*factors.pivots, met(held, [x / h for x in free], [x / h for x in change])]
    end = [a + b for a, b in zip(v, change, strict=True)]
    moves = model.joint_velocities([h * x for x in end])
    placed = [joint.integrate(q[i], moves[i]) for i, joint in enumerate(model.joint)]
    return Made(placed, end, [], [lowest(pivots)])


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
