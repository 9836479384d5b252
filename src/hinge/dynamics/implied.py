"""Derivatives of accelerations, as what inverse dynamics implies about them.

    r(q, qd, qdd) = tau        so        H dqdd = dtau - ∂r/∂q dq - ∂r/∂qd dqd

Accelerations that follow from forces are not differentiated as they were computed: inverse dynamics says how forces
change while they are held, by the recursion of inverse_derivatives.py, along a few directions by itself, and for
weights in one walk back; the factor of the mass matrix does the rest.
Source: carpentier2018 for the identity; the walk back is its transpose.
"""

from __future__ import annotations

from hinge.dynamics.composite import composite
from hinge.dynamics.inverse_derivatives import slopes
from hinge.dynamics.registry import RULES
from hinge.dynamics.solve import LDL
from hinge.dynamics.turney import turney
from hinge.graph import Expr, columns, inner, live, pulled, ruled
from hinge.spatial import Motion

STILL = (Motion(), Motion())
FEW = 3  # directions along which inverse dynamics is cheaper than the recursion for all of them


def follows(made, model, q, qd, tau, external, base_motion=STILL, **loops):
    """Say of accelerations, which come first of what was made, that they follow from joint forces on a tree."""
    qdd = made[0]
    if model.loops or not _nodes(qdd):
        return
    at, speed, asked = model.flat(q), model.flat(qd), model.generalised_forces(tau)
    known, held = _nodes([*at, *speed, *asked]), _nodes(qdd)
    if not known.isdisjoint(held) or [list(x) for x in q] != model.joint_positions(at):
        return  # not all accelerations are values of their own, or joints that follow are other nodes than say so
    more = [x for x in live(qdd, leaves=known) if x.op == "input" and x not in known]
    moving = [*at, *speed, *more]
    n, m = len(at), len(speed)

    def forces():
        return model.generalised_forces(turney(model, q, qd, model.joint_velocities(qdd), external, base_motion))

    def solved(rows):
        H = LDL(composite(model, q), model.joint_label())
        return [H.solve(row) for row in rows]

    def by_itself(every):
        still = dict.fromkeys(held, 0.0)
        return columns(
            forces(), [still | {x: r for x, r in zip(moving, rates, strict=True) if _some(r)} for rates in every]
        )

    def by_recursion(every):
        over_q, over_qd, _ = slopes(model, q, qd, model.joint_velocities(qdd), external, base_motion)
        made = (
            by_itself([[*[0.0] * (n + m), *rates[n + m :]] for rates in every]) if more else [[0.0] * m for _ in every]
        )
        for total, rates in zip(made, every, strict=True):
            v = [x for i in model.leaders for x in model.joint[i].velocities(q[i], rates[model.slices[i][0]])]
            for k in range(m):
                total[k] = total[k] + inner(over_q[k], v) + inner(over_qd[k], rates[n : n + m])
        return made

    def push(every):
        rates = [[*one[: n + m], *one[n + 2 * m :]] for one in every]  # without those of tau
        few = sum(any(map(_some, one)) for one in rates) <= FEW
        changes = by_itself(rates) if few else by_recursion(rates)
        given = [one[n + m : n + 2 * m] for one in every]
        return solved([[a - b for a, b in zip(*pair, strict=True)] for pair in zip(given, changes, strict=True)])

    def pull(weights):
        (felt,) = solved([weights])
        leaves = _nodes(moving)
        weighed = dict(zip(leaves, pulled(forces(), [-w for w in felt], [*leaves, *held]), strict=False))
        found = [weighed.get(x, 0.0) for x in moving]
        return [*found[: n + m], *felt, *found[n + m :]]

    ruled(qdd, [*at, *speed, *asked, *more], push, pull)


def _nodes(scalars):
    return dict.fromkeys(x for x in scalars if type(x) is Expr).keys()


def _some(x):
    return type(x) is Expr or x != 0.0


RULES["forward_dynamics"] = follows
