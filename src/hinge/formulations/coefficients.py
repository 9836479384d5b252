"""Coriolis coefficients: what multiplies each product of two rates in the joint forces.

    tau_i = Σ_j H_ij qdd_j + Σ_jk Γ_ijk qd_j qd_k + gravity

They are the Christoffel symbols of the mass matrix, here from its derivatives, or by "strobing": inverse dynamics is
run with one rate or two of them set to one and all else to nothing.
Source: turney1981, section 8; zefran2004 (13) for the derivatives.
Differs from the source: with two rates set to one, the force has both squares in it besides twice the product.
"""

from __future__ import annotations

from hinge.dynamics.christoffel import CUBE, no_rates
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import newton_euler, still
from hinge.dynamics.registry import POSITION, algorithm
from hinge.graph.diff import jacobian
from hinge.model.potentials import forceless
from hinge.spatial import Force, Motion


@algorithm("christoffel", method="differentiation", q=POSITION, returns=CUBE, refuses=no_rates, competes=True)
@algorithm("coriolis_coefficients", priority=1, method="differentiation", q=POSITION, returns=CUBE, refuses=no_rates)
def christoffel(model, q):
    """The Christoffel symbols Γ of the mass matrix: Σ_jk Γ[i, j, k] qd[j] qd[k] is what the velocities ask of joint i.

    Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "differentiation" of the mass matrix and
    "strobe", which sets rates to one in inverse dynamics.

    >>> hinge.samples.planar_2r().coriolis_coefficients([0.0, 0.5]).shape
    (2, 2, 2)
    """
    H, at, n = composite(model, q), model.flat(q), range(model.nv)
    dH = [jacobian(row, at) for row in H]  # dH[i][j][k] is ∂H_ij/∂q_k
    return [[[0.5 * (dH[i][j][k] + dH[i][k][j] - dH[j][k][i]) for k in n] for j in n] for i in n]  # zefran2004 (13)


@algorithm("christoffel", method="strobe", q=POSITION, returns=CUBE, refuses=no_rates)
@algorithm("coriolis_coefficients", method="strobe", q=POSITION, returns=CUBE, refuses=no_rates)
def strobe_coefficients(model, q):
    """Coriolis coefficients from inverse dynamics with single rates and pairs of them."""
    n = range(model.nv)
    alone = [velocity_force(model, q, [float(k == j) for k in n]) for j in n]
    made = [[[0.0 for _ in n] for _ in n] for _ in n]
    for j in n:
        for k in range(j, model.nv):
            both = alone[j] if j == k else velocity_force(model, q, [float(x in (j, k)) for x in n])
            for i in n:
                twice = both[i] - alone[j][i] - alone[k][i]
                made[i][j][k] = made[i][k][j] = alone[j][i] if j == k else 0.5 * twice
    return made


def velocity_force(model, q, qd):
    """The joint forces that rates alone need, without gravity: an entry a coordinate of the user's, as `qd` has."""
    nothing = [Force()] * len(model.parent)
    tau = newton_euler(forceless(model), q, model.joint_velocities(qd), still(model), nothing, (Motion(), Motion()))
    return model.generalised_forces(tau)
