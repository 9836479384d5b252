"""Kinematic loops as constraints on the velocities of the tree.

    A qd = 0        A qdd + c = 0        A = Rᵀ J, a row a constraint

A loop joint withstands forces R between two bodies; what they cannot do work on is what the joint forbids. The gap of
a loop is zero where it is closed, and its rate is A qd, closed or not.
Source: featherstone1987, sections 9.2, 9.3 and 9.4. A bare number in the margin is an equation there.
Differs from the source: R is the gradient of the gap, so that gap, A and c agree where a loop has come open. All is in
absolute coordinates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hinge.constraints.multipliers import State, square
from hinge.dynamics.kinematics import (
    axes_in_base,
    bias_accelerations_in_base,
    joint_velocities_in_base,
    poses,
    velocities_in_base,
)
from hinge.dynamics.registry import POSITION, VELOCITY, Quantity, algorithm
from hinge.graph import Expr, Scalar, inner, total
from hinge.graph.scalars import largest
from hinge.model.joint_constraints import withstood
from hinge.model.loops import Loop, passed
from hinge.spatial import Force, Motion, cross, cross3, dot

ROWS = Quantity("one a constraint", lambda m: (m.loop_rows,))
MATRIX = Quantity(
    "a row a constraint", lambda m: (m.loop_rows, m.nv), give=lambda m, rows: [x for r in rows for x in r]
)
LOOP_FORCE = Quantity(
    "forces of the powered loop joints",
    lambda m: (sum(loop.joint.nv for loop in m.powered),),
    absent=lambda m: [0.0] * sum(loop.joint.nv for loop in m.powered),
)


FINEST = 1e-6  # m: levers are not taken to be shorter
OPEN = 1e-6  # rad, or a length as a share of its lever: what loops that were closed by projection may be open


class Closing(NamedTuple):
    """The loops at one state: gaps, the matrix A and c, a row a constraint; and Jᵀ f of the powered loop joints."""

    gap: list[Scalar]
    A: list[list[Scalar]]
    c: list[Scalar]
    driven: list[Scalar]
    forces: list[tuple[int, int, Force]]  # predecessor, successor and R of each row, in base coordinates
    state: State


def open_tree(model):
    return "" if model.loops else "it has no kinematic loops"


def closing(model, q, qd=None, loop_tau=None):
    """All the loops say at a state; at rest where no velocities are given."""
    qd = [[0.0] * joint.nv for joint in model.joint] if qd is None else qd
    R, r = poses(model, q)
    S = axes_in_base(model, q, R, r)
    vJ = joint_velocities_in_base(model, q, qd, S, R, r)
    v = velocities_in_base(model, vJ)
    avp = bias_accelerations_in_base(model, q, qd, vJ, v, R, r)  # (9.10)

    gap, A, c, forces, lengths = [], [], [], [], []
    driven, given = [0.0] * model.nv, iter(loop_tau or ())
    for loop in model.loops:
        if not isinstance(loop, Loop):
            _tied(model, loop, q, qd, gap, A, c)
            forces.append((0, 0, Force()))
            lengths.append(False)
            continue
        a, b = model.frame(loop.a), model.frame(loop.b)
        Ra, pa = R[a.body].times(a.R), r[a.body] + R[a.body] @ a.p
        Rb, pb = R[b.body].times(b.R), r[b.body] + R[b.body] @ b.p
        pose = Ra.T.times(Rb), Ra.T @ (pb - pa)
        vk, ak = v[b.body] - v[a.body], avp[b.body] - avp[a.body]
        across = Motion(Rb.T @ vk.ang, Rb.T @ (vk.lin + cross3(vk.ang, pb)))
        reactions, rates = withstood(loop.joint.gap, *pose, across)
        E = passed(model, a.body, b.body)
        gap += loop.joint.gap(*pose)
        for own, rate in zip(reactions, rates, strict=True):
            force = _to_base(own, Rb, pb)
            force_rate = _to_base(rate, Rb, pb) + cross(v[b.body], force)  # the absolute rate of R
            A.append(row(model, S, E, force))  # Rᵀ J
            c.append(dot(ak, force) + dot(vk, force_rate))  # (9.12)
            forces.append((a.body, b.body, force))
            lengths.append(any(type(x) is Expr or x for x in own.lin))
        if loop.powered and loop_tau is not None:
            pushed = loop.joint.actuation(loop.joint.neutral()) @ [next(given) for _ in range(loop.joint.nv)]
            driven = [x + y for x, y in zip(driven, row(model, S, E, _to_base(pushed, Rb, pb)), strict=True)]  # (9.15)
    return Closing(gap, A, c, driven, forces, _state(gap, A, lengths, model.flat(qd)))


def _state(gap, A, lengths, v):
    """How far the loops are open, and how fast they open."""
    rows = [inner(row, row) for row, length in zip(A, lengths, strict=True) if length]
    lever = total(rows) / max(1, len(rows)) + FINEST * FINEST
    levers = [lever if length else 1.0 for length in lengths]
    off = total([g * g / x for g, x in zip(gap, levers, strict=True)])
    return State(off, levers, square([inner(row, v) for row in A], levers), largest(v))


def row(model, S, E, force):
    """Jᵀ f over the user's velocities, of a force that acts on one body and against another."""
    return model.generalised_forces([[dot(s, force) * E[i] if E[i] else 0.0 for s in S[i]] for i in range(len(S))])


def _to_base(f, R, p):
    lin = R @ f.lin
    return Force(R @ f.ang + cross3(p, lin), lin)


def _tied(model, tie, q, qd, gap, A, c):
    """Gap, rows and bias of two joints kept in step."""
    i = model.joint_number(tie.joint)
    rows = [[0.0] * joint.nv for joint in model.joint]
    rows[i][0] = 1.0
    held, slope, bend = tie.coefficients[0] if tie.coefficients else 0.0, 0.0, 0.0
    speed: Any = 0.0
    if tie.other:
        j = model.joint_number(tie.other)
        x, speed, power = q[j][0] - tie.rest[1], qd[j][0], [1.0]
        for _ in tie.coefficients:
            power.append(power[-1] * x)
        held = total([a * power[k] for k, a in enumerate(tie.coefficients)])
        slope = total([k * a * power[k - 1] for k, a in enumerate(tie.coefficients) if k])
        bend = total([k * (k - 1) * a * power[k - 2] for k, a in enumerate(tie.coefficients) if k > 1])
        rows[j][0] = rows[j][0] - slope
    gap.append(q[i][0] - tie.rest[0] - held)
    A.append(model.generalised_forces(rows))
    c.append(-(bend * speed * speed))


@algorithm("loop_gap", q=POSITION, returns=ROWS, refuses=open_tree)
def loop_gap(model, q):
    """How far the loops are from being closed: (r,), lengths in m and sines of angles, zero where they are.

    >>> linkage = hinge.samples.four_bar()
    >>> bool(np.abs(linkage.loop_gap(linkage.assemble([0.5, 0.5, 1.5]).q)).max() < 1e-12)
    True
    """
    return closing(model, q).gap


@algorithm("loop_jacobian", q=POSITION, returns=MATRIX, refuses=open_tree)
def loop_jacobian(model, q):
    """The rates of the loops' gaps for each velocity: A (r, nv), with A qd = 0 where they stay closed.

    >>> hinge.samples.four_bar().loop_jacobian([0.5, 0.1, 0.2]).shape
    (5, 3)
    """
    return closing(model, q).A


@algorithm("loop_bias", q=POSITION, qd=VELOCITY, returns=ROWS, refuses=open_tree)
def loop_bias(model, q, qd):
    """The accelerations of the loops' gaps that velocities alone make: c (r,) in A qdd + c.

    >>> hinge.samples.four_bar().loop_bias([0.5, 0.1, 0.2], [0.0, 0.0, 0.0]).any()
    np.False_
    """
    return closing(model, q, qd).c
