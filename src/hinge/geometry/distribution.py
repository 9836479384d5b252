"""Constraints as geometry: the velocities they allow, projections on them, and the connection they leave.

    P = 1 - M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁻¹ A,      P⊥ = 1 - P
    ∇̃_X Y = ∇_X Y + ∇_X (P⊥ Y) - P⊥ (∇_X Y),      ∇̃_q̇ q̇ = P (M⁻¹ Y)

The velocities with A(q) qd = 0 are the constraint distribution, and P is the projection on it that is orthogonal by the
mass matrix. By ∇̃ a robot under constraints moves as one without them does by ∇.
Source: zefran2004, section 3.1.
Differs from the source: the distribution is the null space of A, and P in (25) takes a force raised to a velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends.sympy_input import is_sympy
from hinge.calls.inputs import broken
from hinge.constraints.general import Constraint
from hinge.constraints.multipliers import Keeping
from hinge.dynamics.christoffel import CUBE, unlike_rotors
from hinge.dynamics.newton_euler import gravity_force
from hinge.dynamics.registry import ACCELERATION, FORCE, MATRIX, VELOCITY, Quantity
from hinge.errors import NotCovered
from hinge.geometry.fields import Field, Function, LeviCivita, components, refused
from hinge.graph import Scalar, live, units
from hinge.model import Model


class Split:
    """Velocities at one configuration: what the constraints allow, what is orthogonal to that, how both change."""

    def __init__(self, model: Model, constraint: Constraint, q: list[Scalar], t: Scalar = 0.0):
        self.nabla = LeviCivita(model, q)
        self.keeping = Keeping(self.nabla.H, constraint.at(model, q, [0.0] * model.nv, t)[0])

    def along(self, y: Sequence[Scalar]) -> list[Scalar]:
        """P y."""
        return self.keeping.kept(y)[0]

    def across(self, y: Sequence[Scalar]) -> list[Scalar]:
        """P⊥ y."""
        return [a - b for a, b in zip(y, self.along(y), strict=True)]

    def derivative(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        """∇̃_X Y, with ∇_X Y - P⊥ ∇_X Y as P ∇_X Y."""
        inside, turned = self.along(self.nabla(x, y)), self.nabla(x, self.across(y))
        return [a + b for a, b in zip(inside, turned, strict=True)]  # zefran2004 (26)


class Distributed:
    """What a robot under constraints is as geometry."""

    robot: Any
    constraint: Constraint
    _call: Any

    def projection(self, q: Any, t: Any = 0.0, **how: Any) -> Array:
        """P (nv, nv): on the velocities that the constraints allow, orthogonal by the mass matrix.

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [[1.0, 1.0]])
        >>> (held.projection([0.1, 0.2]) @ [1.0, -1.0]).round(12)
        array([ 1., -1.])
        """
        return self._call("projection", q, t, **how)

    def complement(self, q: Any, t: Any = 0.0, **how: Any) -> Array:
        """P⊥ = 1 - P (nv, nv).

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [[1.0, 1.0]])
        >>> (held.complement([0.1, 0.2]) @ [1.0, -1.0]).round(12) + 0.0
        array([0., 0.])
        """
        return self._call("complement", q, t, **how)

    def projected(self, X: Function) -> Field:
        """P X of a field X: a field of velocities that the constraints allow.

        Of `robot.covariant_derivative(X, Y)` with such a Y it is the short form of `covariant_derivative`:
        zefran2004 (27).

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [[1.0, 1.0]])
        >>> held.projected(lambda q: [q[0], 2.0])([0.1, 0.2]).sum().round(12) + 0.0
        np.float64(0.0)
        """
        self._still("projected")
        return self._field("P X", lambda model, q: self._split(model, q).along(components(X, model, q, "X")))

    def covariant_derivative(self, X: Function, Y: Function) -> Field:
        """The derivative of a field Y along X by the constraint connection: zefran2004 (26).

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [[1.0, 1.0]])
        >>> held.covariant_derivative(lambda q: [1.0, 0.0], lambda q: [q[1], -q[1]])([0.1, 0.2]).sum().round(12) + 0.0
        np.float64(0.0)
        """
        self._still("covariant_derivative")
        return self._field("∇̃_X Y", lambda model, q: self._split(model, q).derivative(
            components(X, model, q, "X"), components(Y, model, q, "Y")))  # fmt: skip

    def _field(self, says: str, over: Any) -> Field:
        return Field(self.robot.target, over, says)

    def connection(self, q: Any, **how: Any) -> Array:
        """The components (nv, nv, nv) of the constraint connection: [i, j, k] is i of the derivative along j of k."""
        self._still("connection")
        return self._call("connection", q, 0.0, **how)

    def geometric(self, q: Any, qd: Any, tau: Any, **how: Any) -> Array:
        """Accelerations (nv) by the constraint connection, for a qd that keeps the constraints: zefran2004 (25)."""
        self._still("geometric")
        if any(map(is_sympy, (q, qd, tau))):
            return self._call("geometric", q, qd, tau, 0.0, **how)
        made = self._call("geometric", q, qd, tau, 0.0, **how)
        off = broken(self._call("matrix", q, 0.0, **how)[0], np.asarray(qd, float))
        if off is not None:
            raise NotCovered(
                f"the velocity breaks the constraints: A qd is {off[0]:.3g}, not zero.\n"
                "  Bring it back with project, or make one with velocity."
            )
        return made

    # over scalars

    def _bare(self) -> None:
        """Refuse loops, whose constraints may depend on each other."""
        if self.robot.model.loops:
            raise NotCovered(
                f"robot {self.robot.name!r} has loops besides its constraints: pseudo-velocities and the "
                "geometry of constraints are of robots without.\n  forward, inverse, project, gap and "
                "assemble keep both."
            )

    def _split(self, model: Model, q: list[Scalar], t: Scalar = 0.0) -> Split:
        self._bare()
        return Split(model, self.constraint, q, t)

    def _projection(self, model: Model, q: Any, t: Any) -> Any:
        split = self._split(model, model.flat(q), t[0])
        return list(zip(*map(split.along, units(model.nv)), strict=True)), split.nabla.H.pivots

    def _complement(self, model: Model, q: Any, t: Any) -> Any:
        split = self._split(model, model.flat(q), t[0])
        return list(zip(*map(split.across, units(model.nv)), strict=True)), split.nabla.H.pivots

    def _connection(self, model: Model, q: Any, t: Any) -> Any:
        split, n = self._split(model, model.flat(q)), range(model.nv)
        by = [[split.derivative(a, b) for b in units(model.nv)] for a in units(model.nv)]
        return [[[by[j][k][i] for k in n] for j in n] for i in n], split.nabla.H.pivots

    def _geometric(self, model: Model, q: Any, qd: Any, tau: Any, t: Any) -> Any:
        split, v = self._split(model, model.flat(q)), model.flat(qd)
        G = model.generalised_forces(gravity_force(model, q))
        Y = [a - b for a, b in zip(model.generalised_forces(tau), G, strict=True)]
        pushed, bent = split.along(split.nabla.H.solve(Y)), split.derivative(v, v)
        return [a - b for a, b in zip(pushed, bent, strict=True)], split.nabla.H.pivots  # zefran2004 (25)

    def _still(self, name: str) -> None:
        """Refuse constraints that are not A(q) qd = 0, and metrics that are none."""
        entries = [x for row in self.constraint.A for x in row]
        if self.constraint.t in live(entries) or any(type(x) is not float or x for x in self.constraint.b):
            raise NotCovered(
                f"{name}: the constraint of robot {self.robot.name!r} has b, or moves with time, and so has no "
                "connection.\n  forward and reduced cover it; projection does, at a time."
            )
        refused(self.robot.model, name, unlike_rotors)


KERNELS: dict[str, tuple[dict[str, Quantity], dict[str, Quantity], str]] = {
    "projection": ({}, {"P": MATRIX}, "_projection"),
    "complement": ({}, {"P": MATRIX}, "_complement"),
    "connection": ({}, {"connection": CUBE}, "_connection"),
    "geometric": ({"qd": VELOCITY, "tau": FORCE}, {"qdd": ACCELERATION}, "_geometric"),
}
