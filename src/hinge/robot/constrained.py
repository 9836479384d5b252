"""`constrain`: a robot under constraints A(q, t) qd = b(q, t) that are given as a function of Python.

    rolling = hinge.constrain(robot, function)
    qdd, multipliers = rolling.forward(q, qd, tau)

The function is traced like everything else, and each question becomes a kernel that is kept.
Source: zefran2004, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array, Vector
from hinge.backends.kernel import Kernel, Kernels
from hinge.backends.sympy_input import is_sympy, refuse_sympy
from hinge.calls.inputs import broken
from hinge.calls.request import on_paper
from hinge.constraints.actuation import actuated_columns, shared
from hinge.constraints.elimination import Elimination, choose
from hinge.constraints.general import Constraint, Function, trace
from hinge.constraints.multipliers import constrained
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.registry import ACCELERATION, FORCE, POSITION, VELOCITY, Algorithm, Quantity, rows
from hinge.dynamics.solve import LDL
from hinge.errors import NotCovered, SizeError
from hinge.geometry.distribution import KERNELS, Distributed
from hinge.geometry.fields import has_symbols, refused
from hinge.graph import Scalar
from hinge.graph.expr import NAMED
from hinge.graph.scalars import evaluated
from hinge.integrators.steps import TIME
from hinge.model import Model, unmoved
from hinge.model.driven import sizes
from hinge.robot import Robot
from hinge.spatial import Force, Motion


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
    if any(one.field != "symbol" for one in robot.target.vary) or any(sizes(robot.model)):
        raise NotCovered(f"robot {robot.name!r} has numbers that are given with each call. Constrain one without.")
    if robot.model.loops:
        raise NotCovered(f"robot {robot.name!r} has kinematic loops besides. Write them as part of the constraint.")
    return Constrained(robot, trace(robot.target.traced, function, holonomic), independent)


class Constrained(Distributed):
    """A robot under constraints; arrays have a batch before their last axes, as everywhere."""

    def __init__(self, robot: Robot, constraint: Constraint, independent: Sequence[int] | None = None) -> None:
        self.robot, self.constraint, self.m = robot, constraint, constraint.m
        self._kernels = Kernels()
        self.independent = self._chosen(independent)

    def __repr__(self) -> str:
        return f"<Constrained {self.robot.name!r}: nv = {self.robot.nv}, {self.m} constraints>"

    def matrix(self, q: Vector, t: Vector = 0.0, backend: str | None = None) -> tuple[Array, Array]:
        """A (m, nv) and b (m,)."""
        return self._call("matrix", backend, q, t)

    def forward(self, q: Vector, qd: Vector, tau: Vector, t: Vector = 0.0, backend: str | None = None
                ) -> tuple[Array, Array]:  # fmt: skip
        """Accelerations (nv) and multipliers (m) that follow from joint forces: zefran2004 (20)."""
        return self._call("forward", backend, q, qd, tau, t)

    def basis(self, q: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """S (nv, nv - m): the velocities that the constraints allow, a column a pseudo-velocity: zefran2004 (21)."""
        return self._call("basis", backend, q, t)

    def velocity(self, q: Vector, eta: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """qd (nv) with these pseudo-velocities (nv - m)."""
        return self._call("velocity", backend, q, eta, t)

    def reduced(self, q: Vector, eta: Vector, tau: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """The rates of the pseudo-velocities (nv - m) that follow from joint forces: zefran2004 (22)."""
        return self._call("reduced", backend, q, eta, tau, t)

    def inverse(self, q: Vector, qd: Vector, qdd: Vector, t: Vector = 0.0, actuated: Sequence[str] | None = None,
                backend: str | None = None) -> tuple[Array, Array]:  # fmt: skip
        """Joint forces (nv) and multipliers (m) for a given motion, which has to keep the constraints.

        Only the joints named in `actuated` push, all without it; of many ways the one with the least norm.
        """
        refuse_sympy("inverse", q, qd, qdd, t)
        columns = actuated_columns(self.robot.model, actuated)
        needed = self.robot.inverse_dynamics(q, qd, qdd, backend=backend)
        A, c = self._call("rates", backend, q, qd, t)
        off = broken(A, np.asarray(qdd, float), c)
        if off is not None:
            raise NotCovered(f"the motion breaks the constraints: A qdd + c is {off[0]:.3g}, not zero.\n"
                             "  Give accelerations that keep them; forward and reduced do.")  # fmt: skip
        A = np.broadcast_to(A, (*needed.shape[:-1], *A.shape[-2:]))
        return shared(A, needed, columns)

    def project(self, q: Vector, qd: Vector, t: Vector = 0.0, backend: str | None = None) -> Array:
        """The nearest velocity that keeps the constraints, measured by kinetic energy."""
        return self._call("project", backend, q, qd, t)

    # what the kernels compute

    def accelerated(self, model: Model, q: Any, v: list[Scalar], tau: Any, t: Scalar, *acting: Any
                    ) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:  # fmt: skip
        """Accelerations, multipliers and pivots, over scalars; forces on bodies and a moving base may act besides."""
        A, _, c = self.constraint.at(model.flat(q), v, t)
        needed, H = self._equations(model, q, v, tau, *acting)
        factors = LDL(H, model.blame())
        return *constrained(factors, needed, A, c), factors.pivots

    def _equations(self, model: Model, q: Any, v: list[Scalar], tau: Any, *acting: Any) -> tuple[list[Scalar], Any]:
        """tau - C, and H."""
        acting = acting or ([Force()] * len(model.parent), (Motion(), Motion()))
        C = model.generalised_forces(bias_force(model, q, model.joint_velocities(v), *acting))
        return [a - b for a, b in zip(model.generalised_forces(tau), C, strict=True)], composite(model, q)

    def _matrix(self, model: Model, q: Any, t: Any) -> Any:
        A, b, _ = self.constraint.at(model.flat(q), [0.0] * model.nv, t[0])
        return (A, b), []

    def _rates(self, model: Model, q: Any, qd: Any, t: Any) -> Any:
        A, _, c = self.constraint.at(model.flat(q), model.flat(qd), t[0])
        return (A, c), []

    def _forward(self, model: Model, q: Any, qd: Any, tau: Any, t: Any) -> Any:
        qdd, force, pivots = self.accelerated(model, q, model.flat(qd), tau, t[0])
        return (qdd, force), pivots

    def _eliminated(self, model: Model, q: Any, v: list[Scalar], t: Any) -> Elimination:
        return Elimination(*self.constraint.at(model.flat(q), v, t[0]), self.independent)

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

    def projected_state(self, model: Model, q: Any, v: list[Scalar], t: Scalar) -> tuple[Any, list[Scalar]]:
        """The state brought back, over scalars: the velocities, and of constraints on positions these first."""
        for _ in range(2 if self.constraint.values else 0):
            A, _, _ = self.constraint.at(model.flat(q), v, t)
            gap = self.constraint.gap(model.flat(q), t)
            change, _ = constrained(LDL(composite(model, q), model.blame()), [0.0] * model.nv, A, gap)
            moved = model.joint_velocities(change)
            q = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
        return q, self._project(model, q, model.joint_velocities(v), [t])[0]

    def _project(self, model: Model, q: Any, qd: Any, t: Any) -> Any:
        v = model.flat(qd)
        A, b, _ = self.constraint.at(model.flat(q), v, t[0])
        factors = LDL(composite(model, q), model.blame())
        left = [sum((a * x for a, x in zip(row, v, strict=True)), -y) for row, y in zip(A, b, strict=True)]
        change, _ = constrained(factors, [0.0] * model.nv, A, left)
        return [x + y for x, y in zip(v, change, strict=True)], factors.pivots

    def _call(self, name: str, backend: str | None, *given: Any) -> Any:
        if any(map(is_sympy, given)):
            algorithm = self._algorithm(name)
            return on_paper(algorithm, unmoved(self.robot.model), dict(zip(algorithm.inputs, given, strict=True)), {})

        def make() -> Kernel:
            refused(self.robot.model, name, has_symbols)
            return self.robot.target.compiled(self._algorithm(name), backend)

        return self._kernels((name, backend), make)(*given)

    def _algorithm(self, name: str) -> Algorithm:
        m, n = self.m, self.robot.nv
        matrix = Quantity("A", lambda model: (m, n), give=rows)
        each, free = Quantity("one a constraint", lambda model: (m,)), Quantity("η", lambda model: (n - m,))
        columns = Quantity("S", lambda model: (n, n - m), give=rows)
        takes, gives, function = {
            "matrix": ({}, {"A": matrix, "b": each}, self._matrix),
            "rates": ({"qd": VELOCITY}, {"A": matrix, "c": each}, self._rates),
            "forward": ({"qd": VELOCITY, "tau": FORCE}, {"qdd": ACCELERATION, "force": each}, self._forward),
            "basis": ({}, {"S": columns}, self._basis),
            "velocity": ({"eta": free}, {"qd": VELOCITY}, self._velocity),
            "reduced": ({"eta": free, "tau": FORCE}, {"rates": free}, self._reduced),
            "project": ({"qd": VELOCITY}, {"qd": VELOCITY}, self._project),
            **{name: (takes, gives, getattr(self, own)) for name, (takes, gives, own) in KERNELS.items()},
        }[name]
        called = f"constrained {name}"
        return Algorithm(called, called, function, {"q": POSITION} | takes | {"t": TIME}, gives, pivots=True)

    def _chosen(self, independent: Sequence[int] | None) -> list[int]:
        """The velocities that serve as pseudo-velocities."""
        n = self.robot.nv
        if independent is None:
            if self.m > n:
                raise NotCovered(f"{self.m} constraints on nv = {n} velocities of robot {self.robot.name!r}: too many.")
            return choose(self._tried(), self.m)
        given = sorted({int(k) if isinstance(k, int | np.integer) else -1 for k in independent})
        if len(given) != n - self.m or not all(0 <= k < n for k in given):
            raise SizeError(f"independent={independent!r} is not known. Robot {self.robot.name!r} has {n} velocities "
                            f"and {self.m} constraints: give {n - self.m} numbers below {n}.")  # fmt: skip
        return given

    def _tried(self) -> Array:
        """A at a few states, with any numbers for symbols."""
        rng = np.random.default_rng(0)
        known = {NAMED.input(name, 0): rng.uniform(0.5, 1.5) for name in self.robot.model.symbols}
        made = [self.constraint.at(q.tolist(), qd.tolist(), 0.0)[0]
                for q, qd in zip(*self.robot.random_state(rng, 8), strict=True)]  # fmt: skip
        return np.array([[evaluated(row, known) for row in A] for A in made], float)
