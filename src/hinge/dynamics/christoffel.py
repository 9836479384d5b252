"""Christoffel symbols of the mass matrix, and the connection they make, by a recursion over composite bodies.

    Γ_ijk = ⟨∇_j s_k, s_i⟩ = s_i · ( B(I, s_j) s_k + I ∂_j s_k )

Here s_j is what velocity j moves, in base coordinates, I the composite inertia beyond the outermost of the three
joints, and B the matrix of coriolis.py, with B v = v × I v for a body of velocity v. Three facts leave little to do:
an axis does not move with a joint further out; velocities of different joints commute, so that j and k may trade
places; and of two axes and an inertia that a joint turns alike the product is constant, so that
Γ_ijk + Γ_kji = ∂_j H_ik is nothing where j is inside both i and k.

    Γ_idm = s_i · B(I_d, s_d) s_m,      Γ_dmi = -Γ_idm     with m inside i, and both inside d

Where velocities are not rates of coordinates the first line still holds: what j and k then differ by is the part of
the structure constants, and Γ is what Koszul's formula gives.
Source: zefran2004 (13), (16); the parts are featherstone1987 (2.27), (3.7) and (5.7). The recursion is ours.
Differs from the source: symbols come from the motion of axes and inertias, not from derivatives of the mass matrix.
"""

from __future__ import annotations

from itertools import product

from hinge.dynamics.composite import composite
from hinge.dynamics.coriolis import Turning
from hinge.dynamics.energy import moving
from hinge.dynamics.kinematics import axes_in_base, poses, to_base
from hinge.dynamics.registry import ACCELERATION, POSITION, SCALAR, Quantity, algorithm
from hinge.dynamics.solve import LDL
from hinge.graph import units
from hinge.model.driven import driven
from hinge.spatial import Rigid, Transform, cross, dot

CUBE = Quantity(
    "a number for each three velocities",
    lambda m: (m.nv, m.nv, m.nv),
    give=lambda m, made: [x for matrix in made for row in matrix for x in row],
)


def no_rates(model):
    """Which joint has velocities that are not the rates of its coordinates, if any."""
    for i, _ in model.outward():
        joint, name = model.joint[i], model.joint_name[i]
        if not joint.rates_are_velocities:
            return f"joint {name!r} is {joint.kind}, and its velocities are not rates of coordinates"
    return driven(model)


def axis_changes(model, q, R, r):
    """For each joint, how its own velocities change its axes as its body sees them, in base coordinates: [j][k]."""
    made = model.per_body(1)[0]
    for i, _ in model.outward():
        joint = model.joint[i]
        made[i] = [[to_base(m, R[i], r[i]) for m in joint.axes_rate(q[i], unit)] for unit in units(joint.nv)]
    return made


def first_kind(model, q):
    """Γ, a number for each three velocities of the joints, by (body, freedom); those that are nothing are left out."""
    R, r = poses(model, q)
    S, A = axes_in_base(model, q, R, r), axis_changes(model, q, R, r)
    IC, made = model.per_body(1)[0], {}
    for i, _ in model.outward():
        IC[i] = Transform(Rigid(R[i].T, r[i])).T @ model.inertia[i]

    # inward: the outermost of the three is d; what is beyond it is one rigid body
    for d, p in model.inward():
        path = [d, *(k for _, k in model.toward_base(d))]
        inner = [(k, f) for k in path for f in range(len(S[k]))]
        for c, s in enumerate(S[d]):
            B = Turning.of(IC[d], s)  # featherstone1987 (3.7)
            for m, e in inner:
                f = B @ S[m][e]
                if m == d:
                    f = f + IC[d] @ (cross(s, S[d][e]) + A[d][c][e])  # featherstone1987 (2.27)
                for i, g in inner:
                    made[(i, g), (d, c), (m, e)] = dot(S[i][g], f)
                    if m != d:  # velocities of different joints commute
                        made[(i, g), (m, e), (d, c)] = made[(i, g), (d, c), (m, e)]
            _outermost_first(made, (d, c), [one for one in inner if one[0] != d], IC[d] @ s, A)
        if p:
            IC[p] = IC[p] + IC[d]  # featherstone1987 (5.7)
    return made


def _outermost_first(made, d, inner, momentum, A):
    """Γ with the outermost velocity d first, from those with it in the middle."""
    for m, e in inner:
        for i, g in inner:
            if m > i:  # m is further out: the two trade places
                made[d, (m, e), (i, g)] = -made[(m, e), d, (i, g)]
            else:
                rate = dot(A[m][e][g], momentum) if m == i else 0.0
                made[d, (m, e), (i, g)] = rate - made[(i, g), d, (m, e)]


def gathered(model, made):
    """The numbers over the user's velocities: each joint's own, times how fast it goes with them."""
    n = model.nv
    total = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for key, x in made.items():
        a, b, c = (model.slices[i][1].start + f for i, f in key)
        ratio = model.ratio(key[0][0]) * model.ratio(key[1][0]) * model.ratio(key[2][0])
        total[a][b][c] = total[a][b][c] + ratio * x
    return total


def rotors(model):
    """What armature adds where velocities do not commute, by (body, freedom): Koszul's formula, constant metric."""
    made = {}
    for i in model.leaders:
        joint, J = model.joint[i], model.armature(i)
        c = [[joint.bracket(a, b) for b in units(joint.nv)] for a in units(joint.nv)]
        for a, b, k in product(range(joint.nv), repeat=3):
            twice = c[b][k][a] * J[a] - c[b][a][k] * J[k] - c[k][a][b] * J[b]
            if type(twice) is not float or twice != 0.0:
                made[(i, a), (i, b), (i, k)] = 0.5 * twice
    return made


def unlike_rotors(model):
    """Which joint has an armature that would ask for velocity forces, which the equations of motion do not have."""
    made = rotors(model)
    for ((i, a), (_, b), (_, k)), x in made.items():
        both = x + made.get(((i, a), (i, k), (i, b)), 0.0)
        if type(both) is float and abs(both) > 0.0:
            return (
                f"joint {model.joint_name[i]!r} is {model.joint[i].kind} and has an armature, which is no metric there"
            )
    return driven(model)


def of_metric(model, q):
    """Γ of the whole mass matrix over the user's velocities."""
    made = first_kind(model, q)
    for key, x in rotors(model).items():
        made[key] = made[key] + x
    return gathered(model, made)


@algorithm("christoffel", priority=1, q=POSITION, returns=CUBE, refuses=no_rates, competes=True)
def recursive(model, q):
    """The Christoffel symbols Γ of the mass matrix, of the first kind: (C qd)_i = Σ_jk Γ[i, j, k] qd[j] qd[k].

    Takes q (nq); gives (nv, nv, nv), symmetric in the last two. Methods are "recursive", "differentiation" of the mass
    matrix, and "strobe", which sets rates to one in inverse dynamics. A joint whose velocities are not the rates of its
    coordinates is refused by name; `connection` covers it.

    >>> hinge.samples.planar_2r().christoffel([0.0, np.pi / 2]).round(3)[0]
    array([[ 0. , -0.5],
           [-0.5, -0.5]])
    """
    G, n = gathered(model, first_kind(model, q)), range(model.nv)
    return [[[G[i][min(j, k)][max(j, k)] for k in n] for j in n] for i in n]


@algorithm("connection", q=POSITION, returns=CUBE, pivots=True, refuses=unlike_rotors)
def levi_civita(model, q):
    """The connection of the mass matrix: Γ̂[i, j, k] is component i of the derivative along velocity j of velocity k.

    Takes q (nq); gives (nv, nv, nv). Where velocities are rates of coordinates these are the Christoffel symbols of
    the second kind, symmetric in the last two; else what they lack in symmetry are the structure constants.

    >>> hinge.samples.planar_2r().connection([0.0, 0.5]).shape
    (2, 2, 2)
    """
    G = of_metric(model, q)
    H = LDL(composite(model, q), model.joint_label())
    return raised(H, G), H.pivots


def raised(H, G):
    """The first index of a cube by the inverse of H: zefran2004 (16)."""
    n = range(len(G))
    columns = [[H.solve([G[i][j][k] for i in n]) for k in n] for j in n]  # zefran2004 (16)
    return [[[columns[j][k][i] for k in n] for j in n] for i in n]


@algorithm("inner_product", q=POSITION, u=ACCELERATION, v=ACCELERATION, returns=SCALAR, refuses=driven)
def inner_product(model, q, u, v):
    """uᵀ H(q) v: the inner product of two velocities, armature in; of one with itself, twice its kinetic energy.

    Takes q (nq), u and v (nv); gives a number.

    >>> float(hinge.samples.pendulum(1).inner_product([0.0], [1.0], [3.0]))
    1.0
    """
    seen = [moving(model, q, x)[1] for x in (u, v)]
    total = 0.0
    for i, _ in model.outward():
        total = total + dot(seen[0][i], model.inertia[i] @ seen[1][i])
        for J, a, b in zip(model.armature(i), u[i], v[i], strict=True):
            total = total + J * (a * b)
    return total
