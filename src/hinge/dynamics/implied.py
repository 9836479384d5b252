"""Derivatives of accelerations, as what inverse dynamics implies about them.

    r(q, qd, qdd) = tau        so        H dqdd = dtau - ∂r/∂q dq - ∂r/∂qd dqd

Accelerations that follow from forces are not differentiated as they were computed: inverse dynamics says how forces
change while they are held. Along many directions that is the recursion of inverse_derivatives.py and the factor of the
mass matrix. Along a few, and back from weights, inverse dynamics is differentiated, and the method that found the
accelerations answers once more, at rest, with the inertias it has.
Source: carpentier2018 for the identity; the walk back is its transpose.
Differs from the source: inverse dynamics runs on leaves of the graph, one for each of its inputs: coordinates,
velocities, accelerations, body forces, base motion, driven joints. Nodes simplify across what they are made of, as in
a + (b - a) = b, so an input that is a node could be neither held nor varied.
"""

from __future__ import annotations

from hinge.dynamics.composite import composite
from hinge.dynamics.inverse_derivatives import changes
from hinge.dynamics.inverse_derivatives import forces as inward
from hinge.dynamics.newton_euler import still
from hinge.dynamics.registry import FORCE, RULES
from hinge.dynamics.solve import LDL
from hinge.dynamics.turney import turney
from hinge.graph import Expr, columns, evaluated, inner, is_zero, pulled, ruled
from hinge.graph.ops import OPS
from hinge.model.driven import motion, put, stopped
from hinge.model.potentials import forceless
from hinge.spatial import Force, Motion, Vec3

STILL = (Motion(), Motion())
FEW = 3  # directions along which inverse dynamics is cheaper than the recursion for all of them


def follows(method, made, model, q, qd, tau, external, base_motion=STILL):
    """Say of the accelerations that a method made on a tree, which come first, that they follow from joint forces."""
    held = _nodes(made[0])
    if not held:
        return
    qdd, at, speed, asked = made[0], model.flat(q), model.flat(qd), model.generalised_forces(tau)
    alike = [list(x) for x in q] == model.joint_positions(at)  # joints that follow others are the nodes that say so
    if not alike or not _nodes([*at, *speed, *asked]).isdisjoint(held):
        return
    if any(x.op in OPS for x in _nodes(model.given)):  # varied numbers that are no leaves
        return
    nq, nv, n = len(at), len(speed), len(at) + len(speed)
    graph = next(iter(held)).graph
    symbols = [graph.input("(state)", k) for k in range(n + nv)]
    more = list(_nodes(x for part in (model.given, motion(model), *external, *base_motion) for x in part))
    leaf = {x: graph.input("(input)", k) for k, x in enumerate(more)} | {x: x for x in _nodes(model.given)}
    values = dict(zip([*symbols, *leaf.values()], [*at, *speed, *qdd, *leaf], strict=True))
    moving, unloaded = [*symbols[:n], *leaf.values()], [Force()] * len(q)

    def forces():
        here = model.joint_positions(symbols[:nq])
        rates = (model.joint_velocities(symbols[k : k + nv]) for k in (nq, n))
        loads, base = ([type(x)(*map(Vec3, _halves(leaf.get(e, e) for e in x))) for x in part]
                       for part in (external, base_motion))  # fmt: skip
        body = put(model, [leaf.get(x, x) for x in motion(model)])
        return model.generalised_forces(turney(body, here, *rates, loads, base))

    def solved(rows):
        if len(rows) > FEW:
            H = LDL(composite(model, q), model.joint_label())
            return [H.solve(row) for row in rows]
        rest = stopped(forceless(model, ["armature"]))
        return [method(rest, q, still(model), FORCE.take(model, row), unloaded, STILL)[0] for row in rows]

    def by_itself(every):
        made = columns(forces(), [dict(zip(moving, rates, strict=True)) for rates in every])
        return [evaluated(row, values) for row in made]

    def by_recursion(every):
        moved = changes(model, q, qd, model.joint_velocities(qdd), external, base_motion)
        over_q, over_qd, _ = inward(model, moved, q, qd, unloaded)  # loads have rates of their own
        made = by_itself([[*[0.0] * n, *rates[n:]] for rates in every]) if more else [[0.0] * nv for _ in every]
        for total, rates in zip(made, every, strict=True):
            v = [x for i in model.leaders for x in model.joint[i].velocities(q[i], rates[model.slices[i][0]])]
            for k in range(nv):
                total[k] = total[k] + inner(over_q[k], v) + inner(over_qd[k], rates[nq:n])
        return made

    def push(every):
        rates = [[*one[:n], *one[n + nv :]] for one in every]  # without those of tau
        many = sum(not all(map(is_zero, one)) for one in rates) > FEW
        tangent = all(joint.holonomic for joint in model.joint)  # all rates of q are those of velocities
        changed = by_recursion(rates) if many and tangent else by_itself(rates)
        given = [one[n : n + nv] for one in every]
        return solved([[a - b for a, b in zip(*pair, strict=True)] for pair in zip(given, changed, strict=True)])

    def pull(weights):
        (felt,) = solved([weights])
        found = evaluated(pulled(forces(), [-w for w in felt], moving), values)
        return [*found[:n], *felt, *found[n:]]

    ruled(qdd, [*at, *speed, *asked, *more], push, pull)


def _halves(entries):
    """The angular and the linear part of a spatial vector."""
    flat = tuple(entries)
    return flat[:3], flat[3:]


def _nodes(scalars):
    return dict.fromkeys(x for x in scalars if type(x) is Expr).keys()


RULES["forward_dynamics"] = follows
