"""Inverse dynamics by Lagrange's equation as it stands: the derivatives are those of the graph.

    tau_i = Σ_j H_ij qdd_j + Σ_jk Γ_ijk qd_j qd_k + ∂P/∂q_i

H is the mass matrix, Γ its Christoffel symbols, P the potential energy, with that of springs where they are in.
Source: silver1981 (1.1), written out as zefran2004 (14) does. Any joint will do whose velocities are the rates of its
coordinates.
"""

from __future__ import annotations

from dataclasses import replace

from hinge.dynamics.christoffel import no_rates
from hinge.dynamics.composite import composite
from hinge.dynamics.energy import moving, potential_energy
from hinge.dynamics.registry import ACCELERATION, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.coefficients import christoffel
from hinge.graph import total
from hinge.graph.diff import jacobian
from hinge.spatial import dot


@algorithm("inverse_dynamics", method="euler_lagrange", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL,
           returns=FORCE, refuses=no_rates)  # fmt: skip
def euler_lagrange(model, q, qd, qdd, external):
    """Joint forces for a given motion, from derivatives of the mass matrix and of the potential energy."""
    n, rate, acceleration = range(model.nv), model.flat(qd), model.flat(qdd)
    H, G = composite(model, q), christoffel(model, q)
    (slope,) = jacobian([potential_energy(model, q)], model.flat(q))
    (given,) = jacobian([power(model, q, qd, external)], rate)
    damped = replace(model, terms=model.terms - {"stiffness"}, potentials=())  # what has a potential is in the slope
    lost = model.generalised_forces([damped.resistance(i, q, qd) for i in range(len(model.parent))])
    tau = []
    for i in n:
        inertial = total(H[i][j] * acceleration[j] for j in n)
        velocities = total(G[i][j][k] * (rate[j] * rate[k]) for j in n for k in n)
        tau.append(inertial + velocities + slope[i] + lost[i] - given[i])  # (14)
    return FORCE.take(model, tau)


def power(model, q, qd, external):
    """What forces on the bodies do: its derivative with respect to a rate is the force they exert along it."""
    _, v = moving(model, q, qd)
    return total(dot(v[i], external[i]) for i, _ in model.outward())
