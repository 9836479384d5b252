"""The implicit midpoint rule in positions and momenta: symplectic, of second order, for long runs true in energy.

    q' = q + h v_m        p' = p + h (tau + ∂L/∂q (q_m, v_m))        q_m = ½ (q + q'), M(q_m) v_m = ½ (p + p')

p = M(q) v. The equations are solved from the velocity at the start by Newton's method, in which the mass matrix stands
as it is and what a controller and damping make of positions and velocities is differentiated: without these it is a
plain repetition. Every state stops by itself; one that does not come to rest has no answer.
"""

from __future__ import annotations

from typing import Any

from hinge.dynamics.composite import composite
from hinge.dynamics.energy import potential_energy
from hinge.dynamics.faring import lowest
from hinge.dynamics.solve import LDL, LU
from hinge.graph import Scalar, absolute, inner, jacobian, less, maximum, minimum, repeat, select, total
from hinge.integrators.implicit import added, damping, slopes
from hinge.integrators.steps import Flat, Made, PerJoint, System
from hinge.model import Model
from hinge.model.driven import driven

TURNS = 60
SMALL = 4e-16  # what a turn may still change, relative
CONVERGED = 1e-9  # what changes more in the end has no solution here
FARTHEST = 1e8  # rad/s, m/s: a guess that is faster is on its way to nowhere
NEVER = 1e300  # the change before the first turn


def refused(model: Model) -> str:
    """Which joint is driven, or has velocities that are no rates of coordinates, if any."""
    if driven(model):
        return driven(model)
    for i, _ in model.outward():
        if not model.joint[i].rates_are_velocities:
            return f"joint {model.joint_name[i]!r} is {model.joint[i].kind}"
    return ""


def midpoint(model: Model, system: System, q: PerJoint, v: Flat, h: Scalar) -> Made:
    """A step of h seconds from q and v."""
    start, momentum = model.flat(q), _momentum(model, q, v)

    def turn(k: Scalar, *now: Scalar) -> list[Scalar]:
        """A better velocity in the middle, and by how much, relative to the largest.

        What no longer gets closer, which rounding forbids, has arrived: its change is negative.
        """
        guess, (last, least) = list(now[:-2]), now[-2:]
        p, H, K = _middle(model, system, start, momentum, guess, h)
        left = [a - inner(row, guess) for a, row in zip(p, H, strict=True)]
        if K is None:
            even = LDL(H, model.joint_label())
            step, pivots = even.solve(left), even.pivots
        else:
            uneven = LU(added(H, K, -1.0))
            step, pivots = uneven.solve(left), uneven.sizes
        better = [a + b for a, b in zip(guess, step, strict=True)]
        change: Scalar = 0.0
        size: Scalar = 1.0
        for a, b in zip(step, better, strict=True):
            change, size = maximum(change, absolute(a)), maximum(size, absolute(b))
        change = change / size
        ended = select(less(CONVERGED, change), change, -change)
        far = less(FARTHEST, size)
        better = [select(far, a, b) for a, b in zip(guess, better, strict=True)]
        pivot = select(less(0.0, least), minimum(least, lowest(pivots)), least)
        return [*better, select(far, -1.0, select(less(change, last), change, ended)), pivot]

    *middle, last, least = repeat(TURNS, [*v, NEVER, 1e300], turn, lambda *now: less(now[-2], SMALL))
    settled = select(less(absolute(last), CONVERGED), 1.0, 0.0)
    p, _, _ = _middle(model, system, start, momentum, middle, h)
    end = model.joint_positions([a + h * b for a, b in zip(start, middle, strict=True)])
    factor = LDL(composite(model, end), model.joint_label())
    after = factor.solve([2.0 * b - a for a, b in zip(momentum, p, strict=True)])
    return Made(end, after, [], [least, lowest(factor.pivots)], settled)


def _momentum(model: Model, q: PerJoint, v: Flat) -> Flat:
    return [inner(row, v) for row in composite(model, q)]


def _middle(model: Model, system: System, q: Flat, momentum: Flat, guess: Flat, h: Scalar) -> Any:
    """Momentum in the middle of the step by a guess of the velocity there, the mass matrix, and what the momentum
    changes with the guess by way of forces and damping, or None where it does not."""
    at = [a + 0.5 * h * b for a, b in zip(q, guess, strict=True)]
    joints = model.joint_positions(at)
    H = composite(model, joints)
    kinetic = 0.5 * total(H[i][j] * guess[i] * guess[j] for i in range(model.nv) for j in range(model.nv))
    (slope,) = jacobian([kinetic - potential_energy(model, joints)], at)
    tau, lost = system.forces(0.5, joints, guess), damping(model)
    felt = [a + b - inner(row, guess) for a, b, row in zip(slope, tau, lost, strict=True)]
    p = [a + 0.5 * h * f for a, f in zip(momentum, felt, strict=True)]
    by_v, by_q = slopes(tau, guess), slopes(tau, at)
    K = [
        [0.5 * h * (a + 0.5 * h * b - c) for a, b, c in zip(*rows, strict=True)]
        for rows in zip(by_v, by_q, lost, strict=True)
    ]
    return p, H, K if any(type(x) is not float or x for row in K for x in row) else None
