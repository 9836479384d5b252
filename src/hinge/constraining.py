"""`constrain`: a robot under constraints A(q, t) qd = b(q, t) that are given as a function of Python.

    rolling = hinge.constrain(robot, function)
    qdd, multipliers = rolling.forward(q, qd, tau)

The function is traced like everything else, and each question becomes a kernel that is kept.
Source: zefran2004, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinge.backends.kernel import Kernel
from hinge.constraints.actuation import actuated_columns, shared
from hinge.constraints.elimination import Elimination, choose
from hinge.constraints.general import Constraint, Function, trace
from hinge.constraints.multipliers import constrained
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.registry import ACCELERATION, FORCE, POSITION, VELOCITY, Quantity
from hinge.dynamics.solve import LDL
from hinge.errors import NotCovered, SizeError
from hinge.graph import Scalar
from hinge.integrators.steps import TIME
from hinge.model import Model
from hinge.model.driven import sizes
from hinge.programs import compiled
from hinge.robot import Robot, Vector
from hinge.spatial import Force, Motion

Array = np.ndarray[Any, np.dtype[Any]]


def constrain(robot: Robot, function: Function, holonomic: bool = False,
              independent: Sequence[int] | None = None) -> Constrained:  # fmt: skip
    """A robot under A(q, t) qd = b(q, t).

    `function(q, t)` or `function(q, t, at)` runs on symbols and returns A (m, nv), or A and b (m,); with `holonomic` it
    returns values (m,) that stay zero. `at(name)` has the rotation `.R`, origin `.p` and Jacobian `.J` (6, nv, base
    axes) of a link or frame. `independent` names the velocities, by number, that serve as pseudo-velocities.

    >>> arm = hinge.samples.planar_2r()
    >>> held = hinge.constrain(arm, lambda q, t: [[1.0, 1.0]])  # the lower link keeps its direction
    >>> qdd, force = held.forward([0.1, 0.2], [0.3, -0.3], [0.0, 0.0])
    >>> round(float(qdd.sum()), 9), force.shape
    (0.0, (1,))
    """
    if not isinstance(robot, Robot):
        raise SizeError(f"constrain takes a robot first; a {type(robot).__name__} was given.")
    if not callable(function):
        raise SizeError(f"constrain takes a function second; a {type(function).__name__} was given.")
    if robot.subject.vary or any(sizes(robot.model)):
        raise NotCovered(f"robot {robot.name!r} has numbers that are given with each call. Constrain one without.")
    if robot.model.loops:
        raise NotCovered(f"robot {robot.name!r} has kinematic loops besides. Write them as part of the constraint.")
    return Constrained(robot, trace(robot.subject.traced, function, holonomic), independent)


class Constrained:
    """A robot under constraints; arrays have a batch before their last axes, as everywhere."""

    def __init__(self, robot: Robot, constraint: Constraint, independent: Sequence[int] | None = None) -> None:
        self.robot, self.constraint, self.m = robot, constraint, constraint.m
        self._kernels: dict[tuple[str, str | None], Kernel] = {}
        self.independent = self._chosen(independent)

    def __repr__(self) -> str:
        return f"<Constrained {self.robot.name!r}: nv = {self.robot.nv}, {self.m} constraints>"

    def matrix(self, q: Vector, t: Vector = 0.0, backend: str | None = None) -> tuple[Array, Array]:
        """A (m, nv) and b (m,)."""
        return self._kernel("matrix", backend)(q, t)  # type: ignore[no-any-return]

    def forward(self, q: Vector, qd: Vector, tau: Vector, t: Vector = 0.0, backend: str | None = None
                ) -> tuple[Array, Array]:  # fmt: skip
        """Accelerations (nv) and multipliers (m) that follow from joint forces: zefran2004 (20)."""
        return self._kernel("forward", backend)(q, qd, tau, t)  # type: ignore[no-any-return]

    def basis(self, q: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """S (nv, nv - m): the velocities that the constraints allow, a column a pseudo-velocity: zefran2004 (21)."""
        return self._kernel("basis", backend)(q, t)  # type: ignore[no-any-return]

    def velocity(self, q: Vector, eta: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """qd (nv) with these pseudo-velocities (nv - m)."""
        return self._kernel("velocity", backend)(q, eta, t)  # type: ignore[no-any-return]

    def reduced(self, q: Vector, eta: Vector, tau: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """The rates of the pseudo-velocities (nv - m) that follow from joint forces: zefran2004 (22)."""
        return self._kernel("reduced", backend)(q, eta, tau, t)  # type: ignore[no-any-return]

    def inverse(self, q: Vector, qd: Vector, qdd: Vector, t: Vector = 0.0, actuated: Sequence[str] | None = None,
                backend: str | None = None) -> tuple[Array, Array]:  # fmt: skip
        """Joint forces (nv) and multipliers (m) for a given motion, which has to keep the constraints.

        Only the joints named in `actuated` push, all without it; of many ways the one with the least norm.
        """
        columns = actuated_columns(self.robot, actuated)
        A, c = self._kernel("rates", backend)(q, qd, t)
        qdd = np.asarray(qdd, float)
        off = np.abs(np.einsum("...mk,...k->...m", A, qdd) + c).max(initial=0.0)
        if off > 1e-6 * (1.0 + np.abs(qdd).max(initial=0.0)):
            raise NotCovered(f"the motion breaks the constraints: A qdd + c is {off:.3g}, not zero.\n"
                             "  Give accelerations that keep them; forward and reduced do.")  # fmt: skip
        needed = self.robot.inverse_dynamics(q, qd, qdd, backend=backend)
        A = np.broadcast_to(A, (*needed.shape[:-1], *A.shape[-2:]))
        return shared(A, needed, columns)

    def project(self, q: Vector, qd: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """The nearest velocity that keeps the constraints, measured by kinetic energy."""
        return self._kernel("project", backend)(q, qd, t)  # type: ignore[no-any-return]

    # what the kernels compute

    def accelerated(self, model: Model, q: Any, v: list[Scalar], tau: Any, t: Scalar
                    ) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:  # fmt: skip
        """Accelerations, multipliers and pivots, over scalars."""
        A, _, c = self.constraint.at(_flat(model, q), v, t)
        needed, H = self._equations(model, q, v, tau)
        factors = LDL(H, model.blame())
        return *constrained(factors, needed, A, c), factors.pivots

    def _equations(self, model: Model, q: Any, v: list[Scalar], tau: Any) -> tuple[list[Scalar], Any]:
        """tau - C, and H."""
        none = [Force()] * len(model.parent), (Motion(), Motion())
        C = model.generalised_forces(bias_force(model, q, model.joint_velocities(v), *none))
        return [a - b for a, b in zip(model.generalised_forces(tau), C, strict=True)], composite(model, q)

    def _matrix(self, model: Model, q: Any, t: Any) -> Any:
        A, b, _ = self.constraint.at(_flat(model, q), [0.0] * model.nv, t[0])
        return (A, b), []

    def _rates(self, model: Model, q: Any, qd: Any, t: Any) -> Any:
        A, _, c = self.constraint.at(_flat(model, q), _flat(model, qd), t[0])
        return (A, c), []

    def _forward(self, model: Model, q: Any, qd: Any, tau: Any, t: Any) -> Any:
        qdd, force, pivots = self.accelerated(model, q, _flat(model, qd), tau, t[0])
        return (qdd, force), pivots

    def _eliminated(self, model: Model, q: Any, v: list[Scalar], t: Any) -> Elimination:
        return Elimination(*self.constraint.at(_flat(model, q), v, t[0]), self.independent)

    def _basis(self, model: Model, q: Any, t: Any) -> Any:
        made = self._eliminated(model, q, [0.0] * model.nv, t)
        return made.S, made.pivots

    def _velocity(self, model: Model, q: Any, eta: Any, t: Any) -> Any:
        made = self._eliminated(model, q, [0.0] * model.nv, t)
        return made.velocity(eta), made.pivots

    def _reduced(self, model: Model, q: Any, eta: Any, tau: Any, t: Any) -> Any:
        v = self._eliminated(model, q, [0.0] * model.nv, t).velocity(eta)
        made = self._eliminated(model, q, v, t)
        needed, H = self._equations(model, q, v, tau)
        factors = LDL(made.reduced(H), lambda k: f"pseudo-velocity {k}")
        return factors.solve(made.forces(H, needed)), [*made.pivots, *factors.pivots]

    def _project(self, model: Model, q: Any, qd: Any, t: Any) -> Any:
        v = _flat(model, qd)
        A, b, _ = self.constraint.at(_flat(model, q), v, t[0])
        factors = LDL(composite(model, q), model.blame())
        left = [sum((a * x for a, x in zip(row, v, strict=True)), -y) for row, y in zip(A, b, strict=True)]
        change, _ = constrained(factors, [0.0] * model.nv, A, left)
        return [x + y for x, y in zip(v, change, strict=True)], factors.pivots

    def _kernel(self, name: str, backend: str | None) -> Kernel:
        found = self._kernels.get((name, backend))
        if found is None:
            found = self._kernels[name, backend] = self._made(name, backend)
        return found

    def _made(self, name: str, backend: str | None) -> Kernel:
        m, n = self.m, self.robot.nv
        rows: Callable[[Model, Any], Any] = lambda model, made: [x for row in made for x in row]
        matrix = Quantity("A", lambda model: (m, n), give=rows)
        each, free = Quantity("one a constraint", lambda model: (m,)), Quantity("η", lambda model: (n - m,))
        columns = Quantity("S", lambda model: (n, n - m), give=rows)
        state: dict[str, Quantity] = {"q": POSITION}
        takes, gives, function = {
            "matrix": ({}, {"A": matrix, "b": each}, self._matrix),
            "rates": ({"qd": VELOCITY}, {"A": matrix, "c": each}, self._rates),
            "forward": ({"qd": VELOCITY, "tau": FORCE}, {"qdd": ACCELERATION, "force": each}, self._forward),
            "basis": ({}, {"S": columns}, self._basis),
            "velocity": ({"eta": free}, {"qd": VELOCITY}, self._velocity),
            "reduced": ({"eta": free, "tau": FORCE}, {"rates": free}, self._reduced),
            "project": ({"qd": VELOCITY}, {"qd": VELOCITY}, self._project),
        }[name]

        def traced(model: Model, **given: Any) -> Any:
            return function(model, **given)  # type: ignore[operator]

        return compiled(self.robot.subject, self.robot.name, f"constrained {name}", traced,
                        state | takes | {"t": TIME}, gives, backend, pivots=True)  # fmt: skip

    def _chosen(self, independent: Sequence[int] | None) -> list[int]:
        """The velocities that serve as pseudo-velocities."""
        n = self.robot.nv
        if independent is None:
            q, _ = self.robot.random_state(np.random.default_rng(0), 8)
            A = np.asarray(self.matrix(q, backend="interpret")[0])
            if self.m > n:
                raise NotCovered(f"{self.m} constraints on nv = {n} velocities of robot {self.robot.name!r}: too many.")
            return choose(A, self.m)
        given = sorted({int(k) for k in independent})
        if len(given) != n - self.m or not all(0 <= k < n for k in given):
            raise SizeError(f"independent={independent!r} is not known. Robot {self.robot.name!r} has {n} velocities "
                            f"and {self.m} constraints: give {n - self.m} numbers below {n}.")  # fmt: skip
        return given


def _flat(model: Model, per_joint: Any) -> list[Scalar]:
    return [x for i in model.leaders for x in per_joint[i]]
