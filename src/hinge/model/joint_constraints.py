"""What joints use besides their own lines: rates of axes, and how far a pose is from those a joint allows.

A gap is a list of scalars that are zero where the pose of the outer frame in the inner one, axes R and origin p, is one
that the joint can have; there are as many as the joint has constraints. It holds for any turn of the joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hinge.graph.diff import along, units
from hinge.graph.expr import Expr, Graph, Scalar
from hinge.graph.functions import cos, sin
from hinge.graph.scalars import evaluated
from hinge.spatial.linear3 import Mat3, Vec3, cross3, dot3
from hinge.spatial.vectors import Force, ForceSpace, Motion, MotionSpace


def across(axis: Vec3) -> tuple[Vec3, Vec3]:
    """Two unit vectors that with the axis make right-handed axes."""
    k = min(range(3), key=lambda i: abs(axis[i]))
    start = cross3(axis, Vec3(tuple(1.0 if i == k else 0.0 for i in range(3))))
    first = start * (1.0 / dot3(start, start) ** 0.5)
    return first, cross3(axis, first)


def tilted(R: Mat3, axis: Vec3) -> list[Scalar]:
    """Zero where the axis has the same direction in both frames."""
    x, y = across(axis)
    seen = R.T @ axis
    return [dot3(y, seen), -dot3(x, seen)]


def turned(R: Mat3) -> list[Scalar]:
    """Zero where the axes of both frames are parallel: the sine of the angle, along its axis."""
    return [0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1])]


def beside(p: Vec3, axis: Vec3) -> list[Scalar]:
    """Zero where the origin lies on the axis."""
    return [dot3(e, p) for e in across(axis)]


def lag(R: Mat3, p: Vec3, axis: Vec3, pitch: float) -> Scalar:
    """How far a screw is behind its turn; the turn is known but for whole ones, so the sine of the lag is taken."""
    advance = dot3(axis, p)
    if not pitch:
        return advance
    x, y = across(axis)
    c, s, angle = dot3(x, R @ x), dot3(y, R @ x), advance / pitch
    return (sin(angle) * c - cos(angle) * s) * pitch


def random_quaternions(rng: np.random.Generator, n: int) -> np.ndarray:
    """n turns, all equally likely, of length one."""
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def withstood(gap: Callable[[Mat3, Vec3], list[Scalar]], R: Mat3, p: Vec3, v: Motion) -> tuple[ForceSpace, ForceSpace]:
    """The forces a joint withstands, a column a constraint, in outer coordinates; and how they change there.

    A gap grows at the power of its force on the motion across the joint, so the forces are its gradient. `v` is that
    motion, in outer coordinates.
    """
    graph = Graph()
    at = [graph.input("pose", k) for k in range(12)]
    motion = [graph.input("motion", k) for k in range(6)]
    made = gap(Mat3(at[:9]), Vec3(tuple(at[9:])))
    columns = [along(made, _moving(at, unit)) for unit in units(6)]
    rates = [along(column, _moving(at, motion)) for column in columns]
    known = dict(zip([*at, *motion], [*R, *p, *v], strict=True))
    flat = evaluated([x for column in [*columns, *rates] for x in column], known)
    rows = [flat[k :: len(made)] for k in range(len(made))]
    return (ForceSpace(_force(row[:6]) for row in rows), ForceSpace(_force(row[6:]) for row in rows))


def _force(row: Sequence[Scalar]) -> Force:
    return Force(Vec3(tuple(row[:3])), Vec3(tuple(row[3:])))


def _moving(at: Sequence[Expr], motion: Sequence[Scalar]) -> dict[Expr, Scalar]:
    """How a pose changes when the outer frame moves like that, in its own coordinates."""
    R, w, v = Mat3(at[:9]), Vec3(tuple(motion[:3])), Vec3(tuple(motion[3:]))
    turning = [x for i in range(3) for x in cross3(R.row(i), w)]  # rows of R ω ×
    return {node: x for node, x in zip(at, [*turning, *(R @ v)], strict=True) if type(x) is Expr or x}


def rates_of(
    axes: Callable[[Sequence[Scalar]], MotionSpace], q: Sequence[Scalar], rate: Sequence[Scalar]
) -> MotionSpace:
    """How axes that are a function of q change when q changes at that rate; runs on nodes, or numbers of any kind.

    The axes are differentiated on leaves of the graph: a coordinate that is a node could simplify away in them.
    """
    graph = next((x.graph for x in q if type(x) is Expr), Graph())
    at, moving = ([graph.input(name, k) for k in range(len(q))] for name in ("(coordinate)", "(rate)"))
    moves = {x: m if type(r) is not float else r for x, m, r in zip(at, moving, rate, strict=True)}
    flat = [x for motion in axes(at) for x in motion]
    rates = evaluated(along(flat, moves), dict(zip([*at, *moving], [*q, *rate], strict=True)))
    columns = [rates[k : k + 6] for k in range(0, len(rates), 6)]
    return MotionSpace(Motion(Vec3(tuple(c[:3])), Vec3(tuple(c[3:]))) for c in columns)


def met(
    difference: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]], q: Sequence[Scalar],
    rates: Sequence[Scalar],
) -> list[Scalar]:  # fmt: skip
    """The velocities at which coordinates change at these rates, from what leads from one position to another."""
    graph = next((x.graph for x in (*q, *rates) if type(x) is Expr), Graph())
    ahead = [graph.input("ahead", k) for k in range(len(q))]
    slopes = along(difference(q, ahead), dict(zip(ahead, rates, strict=True)))
    return evaluated(slopes, dict(zip(ahead, q, strict=True)))
