"""Slopes by differentiation, along the velocities of a robot: of what a recursion for derivatives does not know itself.

A joint's own functions of its coordinates, what joints take of their forces besides, and loads whose coordinates do not
move with their body. All is differentiated on symbols; where nothing depends on q, nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hinge.graph import Expr, Graph, Scalar, along, is_zero, units
from hinge.graph.scalars import evaluated
from hinge.model import Model
from hinge.model.joints import Joint
from hinge.spatial import Force, Motion, MotionSpace, Vec3

Numbers = Sequence[Scalar]
Matrix = list[list[Scalar]]


class JointSlopes(NamedTuple):
    """How a joint's axes, and the velocity and acceleration across it, change along one of its velocities.

    `c` is how the acceleration changes with that velocity itself.
    """

    axes: MotionSpace
    v: Motion
    a: Motion
    c: Motion


def joint_slopes(joint: Joint, q: Numbers, qd: Numbers, qdd: Numbers) -> list[JointSlopes]:
    """Those of each velocity of a joint: all zero where axes are constant and nothing is driven."""
    n, m = joint.nq, joint.nv

    def motions(x: Numbers) -> list[Scalar]:
        at, v, a = x[:n], x[n : n + m], x[n + m :]
        S = joint.axes(at)
        return [e for motion in (*S, joint.velocity(at, v), joint.bias(at, v) + S @ a) for e in motion]

    def ways(x: Numbers) -> list[list[Scalar]]:
        along_q = [[*joint.rate(x[:n], unit), *[0.0] * (2 * m)] for unit in units(m)]
        return along_q + [[*[0.0] * n, *unit, *[0.0] * m] for unit in units(m)]

    columns = [_motions(column) for column in rates(motions, [*q, *qd, *qdd], ways)]
    pairs = zip(columns[:m], columns[m:], strict=True)
    return [JointSlopes(MotionSpace(one[:m]), one[m], one[m + 1], other[m + 1]) for one, other in pairs]


def resistance_slopes(model: Model, q: Sequence[Numbers], qd: Sequence[Numbers]) -> tuple[Matrix, Matrix]:
    """How what joints take of their forces, by damping, friction, springs and potentials, changes with q and qd."""
    n = model.nq

    def forces(x: Numbers) -> list[Scalar]:
        at, v = model.joint_positions(x[:n]), model.joint_velocities(x[n:])
        taken = [model.resistance(i, at, v) if i else [] for i in range(len(model.parent))]
        return model.generalised_forces(taken)

    def ways(x: Numbers) -> list[list[Scalar]]:
        along_q = [[*way, *[0.0] * model.nv] for way in directions(model, x[:n])]
        return along_q + [[*[0.0] * n, *unit] for unit in units(model.nv)]

    columns = rates(forces, [*model.flat(q), *model.flat(qd)], ways)
    return _rows(columns[: model.nv]), _rows(columns[model.nv :])


def load_slopes(model, q, external, X, S) -> Matrix:
    """How the joint forces that loads ask for change with q, where a load changes in its body's coordinates."""
    at, loads = model.flat(q), [x for f in external for x in f]
    columns = []
    for way in directions(model, at):
        moved = along(loads, {x: r for x, r in zip(at, way, strict=True) if type(x) is Expr and not is_zero(r)})
        columns.append(_withstood(model, X, S, moved) if not all(map(is_zero, moved)) else [0.0] * model.nv)
    return _rows(columns)


def _withstood(model, X, S, loads) -> list[Scalar]:
    """The joint forces that hold loads on the bodies: -Jᵀ f."""
    f = [-Force(Vec3(loads[k : k + 3]), Vec3(loads[k + 3 : k + 6])) for k in range(0, len(loads), 6)]
    (tau,) = model.per_body(1)
    for i, p in model.inward():
        tau[i] = S[i].T @ f[i]
        f[p] = f[p] + X[i].T @ f[i]
    return model.generalised_forces(tau)


def directions(model: Model, q: Numbers) -> list[list[Scalar]]:
    """For each velocity of the robot the rates of its coordinates."""
    made = []
    for i in model.leaders:
        at, joint = model.slices[i][0], model.joint[i]
        for unit in units(joint.nv):
            rate: list[Scalar] = [0.0] * model.nq
            rate[at] = joint.rate(q[at], unit)
            made.append(rate)
    return made


def rates(function: Callable[[Numbers], list[Scalar]], at: Numbers,
          ways: Callable[[Numbers], list[list[Scalar]]]) -> list[list[Scalar]]:  # fmt: skip
    """The rates of scalars that are a function of others, along each of some ways to change those."""
    graph = next((x.graph for x in at if type(x) is Expr), Graph())
    x = [graph.input("at", k) for k in range(len(at))]
    made = function(x)
    columns = [along(made, {e: r for e, r in zip(x, way, strict=True) if not is_zero(r)}) for way in ways(x)]
    flat = evaluated([e for column in columns for e in column], dict(zip(x, at, strict=True)))
    return [flat[k * len(made) : (k + 1) * len(made)] for k in range(len(columns))]


def _motions(flat: Numbers) -> list[Motion]:
    return [Motion(Vec3(flat[k : k + 3]), Vec3(flat[k + 3 : k + 6])) for k in range(0, len(flat), 6)]


def _rows(columns: Sequence[Numbers]) -> Matrix:
    return [list(row) for row in zip(*columns, strict=True)]
