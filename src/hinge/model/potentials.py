"""Potentials of forces besides gravity: V of the coordinates, or of a frame's pose, given as a function of Python.

    tau = H qdd + C + ∂V/∂q

The function runs once on symbols, and its derivatives with it; joints then take of their forces what it asks of them,
as they do for springs. Along the velocities of a ball the derivative is that of the turning it makes.
Source: zefran2004, section 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.errors import NotCovered, SizeError, TraceError
from hinge.graph.arrays import on_symbols, symbols
from hinge.graph.diff import jacobian
from hinge.graph.expr import Expr, Graph, Scalar
from hinge.graph.order import Input, Program, order
from hinge.graph.scalars import inner, replay
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Vec3, cross3, dot3

if TYPE_CHECKING:
    from hinge.model.joints import Joint
    from hinge.model.model import Model

PerJoint = Sequence[Sequence[Scalar]]
Pose = tuple[Mat3, Vec3]


@dataclass(frozen=True)
class Potential:
    """A traced potential: V, and its derivatives by the coordinates of some joints, or by the entries of a pose."""

    name: str
    program: Program
    frame: str = ""  # the frame whose axes and origin it depends on
    joints: tuple[str, ...] = ()  # or the joints whose coordinates
    held: Mapping[str, Sequence[float]] = field(default_factory=dict)  # those that were locked, and where

    def energy(self, model: Model, q: PerJoint) -> Scalar:
        """V, in J."""
        return self._at(model, q)[0]

    def force(self, model: Model, i: int, q: PerJoint) -> list[Scalar]:
        """What it takes of the force of joint i: the derivative of V along each velocity."""
        joint = model.joint[i]
        if self.frame:
            return self._through(model, i, q)
        if model.joint_name[i] not in self.joints:
            return [0.0] * joint.nv
        slopes, at = self._at(model, q)[1], 0
        for name in self.joints[: self.joints.index(model.joint_name[i])]:
            at += len(self._coordinates(model, name, q))
        own, rate = slopes[at : at + len(_full(joint, q[i]))], getattr(joint, "full_rate", joint.rate)
        return [inner(own, rate(q[i], unit)) for unit in np.eye(joint.nv).tolist()]

    def _at(self, model: Model, q: PerJoint) -> tuple[Scalar, list[Scalar]]:
        """V and its derivatives."""
        if self.frame:
            R, p = self._seats(model, q)[1]
            given = [*R, *p]
        else:
            given = [x for name in self.joints for x in self._coordinates(model, name, q)]
        (value,), slopes = replay(self.program, [given])
        return value, slopes

    def _coordinates(self, model: Model, name: str, q: PerJoint) -> Sequence[Scalar]:
        if name in self.held:
            return self.held[name]
        i = model.joint_number(name)
        return _full(model.joint[i], q[i])

    def _seats(self, model: Model, q: PerJoint) -> tuple[dict[int, Pose], Pose]:
        """Where the bodies between the base and the frame stand, and the frame."""
        frame, path = model.frame(self.frame), list[int]()
        i = frame.body
        while i > 0:
            path.insert(0, i)
            i = model.parent[i]
        seats, (R, r) = dict[int, Pose](), (IDENTITY, ZERO)
        for i in path:
            seats[i] = R, r = (model.joint[i].transform(q[i]) @ model.placement[i]).pose(R, r)
        return seats, (R.times(frame.R), r + R @ frame.p)

    def _through(self, model: Model, i: int, q: PerJoint) -> list[Scalar]:
        """The derivatives of V of a pose along the velocities of joint i, which turns and shifts the frame."""
        seats, (R, p) = self._seats(model, q)
        if i not in seats:
            return [0.0] * model.joint[i].nv
        slopes = self._at(model, q)[1]
        by_axes, pull = Mat3(slopes[:9]), Vec3(slopes[9:])
        couple = ZERO
        for k in range(3):
            couple = couple + cross3(R.column(k), by_axes.column(k))
        (turned, seat), made = seats[i], []
        for s in model.joint[i].axes(q[i]):
            w = turned @ s.ang
            made.append(dot3(couple, w) + dot3(pull, turned @ s.lin + cross3(w, p - seat)))
        return made

    def locked(self, joints: Mapping[str, Sequence[float]]) -> Potential:
        """The same of a robot with joints that stand still."""
        held = {name: tuple(at) for name, at in joints.items() if name in self.joints}
        return replace(self, held={**self.held, **held})

    def told(self, model: Model) -> tuple[Any, ...]:
        """All that its forces depend on besides the tree."""
        numbers = [0 if name in self.held else model.joint_number(name) for name in self.joints]
        return self.program, self.frame and model.frame(self.frame), numbers, sorted(self.held.items())


def _full(joint: Joint, q: Sequence[Scalar]) -> Sequence[Scalar]:
    """All coordinates of a joint, with those that are driven."""
    return getattr(joint, "full", list)(q)


def traced(model: Model, function: Callable[[Any], Any], at: str | None) -> Potential:
    """Run a potential on symbols: of q (nq), or of the pose (4, 4) of the frame `at`."""
    if not callable(function):
        raise SizeError(f"with_potential takes a function; a {type(function).__name__} was given.")
    name = getattr(function, "__name__", type(function).__name__)
    graph, what = Graph(), f"potential {name!r}"
    if at is None:
        x = [graph.input("q", k) for k in range(model.nq)]
        array = symbols(list(x))
    else:
        model.frame(at)
        x = [graph.input("pose", k) for k in range(12)]
        array = symbols([[*x[3 * k : 3 * k + 3], x[9 + k]] for k in range(3)] + [[0.0, 0.0, 0.0, 1.0]])
    made = np.asarray(on_symbols(what, function, array), dtype=object)
    if made.size != 1:
        raise SizeError(f"{what} returned shape {made.shape}; a potential is one number, in J.")
    value = made.reshape(-1)[0]
    value = value.item() if isinstance(value, np.ndarray) else value
    try:
        value = value if type(value) is Expr else float(value)
    except (TypeError, ValueError):
        raise TraceError(f"{what} returned {value!r}, which is neither a number nor made of its symbols.") from None
    (slopes,) = jacobian([value], x)
    inputs = [Input("pose" if at else "q", len(x))]
    program = order(inputs, [("V", (), [value]), ("slopes", (len(x),), slopes)], contract=False)
    return Potential(name, program, at or "", () if at else tuple(model.joint_name[i] for i in model.leaders))


def unsayable(model: Model) -> str:
    """Which potential, if any, a robot has: a function, which no table, file or other library holds."""
    return f"it has the potential {model.potentials[0].name!r}, which is a function" if model.potentials else ""


def refuse(model: Model, what: str) -> None:
    """Say that something cannot hold a robot's potential, where it has one."""
    if model.potentials:
        raise NotCovered(
            f"{what} cannot hold robot {model.name!r}: {unsayable(model)}.\n"
            "  Give it the robot that the potential was added to."
        )


def forceless(model: Model, terms: Sequence[str] = ()) -> Model:
    """The same tree without gravity and potentials, and of its joint terms only these."""
    return replace(model, gravity=(0.0, 0.0, 0.0), terms=model.terms & set(terms), potentials=())
