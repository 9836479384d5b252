"""`constrain`: a robot under constraints A(q, t) qd = b(q, t) that are given as a function of Python.

    rolling = hinge.constrain(robot, function)
    qdd, multipliers = rolling.forward(q, qd, tau)

The function is traced like everything else, and each question becomes a kernel that is kept.
Source: zefran2004, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends.sympy_input import is_sympy, refuse_sympy
from hinge.calls import derivatives
from hinge.calls.call import Call
from hinge.calls.inputs import broken
from hinge.calls.sympy_calls import evaluate_with_sympy
from hinge.constraints.actuation import actuated_columns, shared
from hinge.constraints.elimination import Elimination, choose
from hinge.constraints.general import Constraint, Function, stabilised, trace
from hinge.constraints.multipliers import Held, Keeping, State, constrained, independent_rows, met, square
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.registry import ACCELERATION, FORCE, POSITION, SCALAR, VELOCITY, Algorithm, Quantity, rows
from hinge.dynamics.slopes import Slope
from hinge.dynamics.solve import LDL
from hinge.errors import ModelError, NotCovered, SizeError, one_of
from hinge.geometry.distribution import KERNELS, Distributed
from hinge.geometry.fields import has_symbols, refused
from hinge.graph import Scalar, inner, total
from hinge.graph.scalars import evaluated, largest
from hinge.integrators.steps import TIME
from hinge.loops.assembly import Assembly, Gaps, assembled
from hinge.loops.kinematics import closing
from hinge.model import Model, unmoved
from hinge.model.driven import sizes
from hinge.model.loops import names
from hinge.model.symbols import symbols_of
from hinge.robot import Robot
from hinge.spatial import Force, Motion
from hinge.typing import Backend, Numbers


def constrain(
    robot: Robot, function: Function, holonomic: bool = False, independent: Sequence[int] | None = None
) -> Constrained:
    """A robot under A(q, t) qd = b(q, t).

    `function(q, t)` or `function(q, t, at)` runs on symbols and returns A (m, nv), or A and b (m,); with `holonomic` it
    returns values (m,) that stay zero. `at(name)` has the rotation `.R`, origin `.p` and Jacobian `.J` (6, nv, base
    axes) of a link or frame, and the velocity `.drift` (6,) that driven joints alone give it. `independent` names the
    velocities, by number, that serve as pseudo-velocities. Of a robot with loops, these are constraints besides.

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
    if robot.model.loops and any(sizes(robot.model)):
        raise NotCovered(f"robot {robot.name!r} has loops, which do not go with driven joints under constraints.")
    vary = [one for one in robot.target.vary if one.field != "symbol"]
    return Constrained(robot, trace(robot.target.traced, function, holonomic, vary), independent)


class Constrained(Distributed):
    """A robot under constraints; arrays have a batch before their last axes, as everywhere.

    Calls take `backend=`, `return_status=`, `parameters=` and `prescribed=` as those of a robot do. The constraints of
    loops come after the others.
    """

    def __init__(self, robot: Robot, constraint: Constraint, independent: Sequence[int] | None = None) -> None:
        self.robot, self.constraint = robot, constraint
        self.m = constraint.m + robot.model.loop_rows
        self._target = robot.target.apart()
        self.independent = [] if robot.model.loops else self._chosen(independent)

    def __repr__(self) -> str:
        return f"<Constrained {self.robot.name!r}: nv = {self.robot.nv}, {self.m} constraints>"

    def matrix(self, q: Numbers, t: Numbers = 0.0, **how: Any) -> tuple[Array, Array]:
        """A (m, nv) and b (m,)."""
        return self._call("matrix", q, t, **how)

    def forward(self, q: Numbers, qd: Numbers, tau: Numbers, t: Numbers = 0.0, **how: Any) -> tuple[Array, Array]:
        """Accelerations (nv) and multipliers (m) that follow from joint forces: zefran2004 (20)."""
        return self._call("forward", q, qd, tau, t, **how)

    def basis(self, q: Numbers, t: Numbers = 0.0, **how: Any) -> Array:
        """S (nv, nv - m): the velocities that the constraints allow, a column a pseudo-velocity: zefran2004 (21)."""
        return self._call("basis", q, t, **how)

    def velocity(self, q: Numbers, eta: Numbers, t: Numbers = 0.0, **how: Any) -> Array:
        """qd (nv) with these pseudo-velocities (nv - m)."""
        return self._call("velocity", q, eta, t, **how)

    def reduced(self, q: Numbers, eta: Numbers, tau: Numbers, t: Numbers = 0.0, **how: Any) -> Array:
        """The rates of the pseudo-velocities (nv - m) that follow from joint forces: zefran2004 (22)."""
        return self._call("reduced", q, eta, tau, t, **how)

    def inverse(self, q: Numbers, qd: Numbers, qdd: Numbers, t: Numbers = 0.0, actuated: Sequence[str] | None = None,
                backend: Backend | None = None, parameters: Any = None, prescribed: Any = None
                ) -> tuple[Array, Array]:  # fmt: skip
        """Joint forces (nv) and multipliers (m) for a given motion, which has to keep the constraints.

        Only the joints named in `actuated` push, all without it; of many ways the one with the least norm.
        """
        refuse_sympy("inverse", q, qd, qdd, t)
        columns = actuated_columns(self.robot.model, actuated)
        how = {"backend": backend, "parameters": parameters, "prescribed": prescribed}
        needed = self.robot.inverse_dynamics(q, qd, qdd, **how)
        A, c = self._call("rates", q, qd, t, **how)
        off = broken(A, np.asarray(qdd, float), c)
        if off is not None:
            raise NotCovered(
                f"the motion breaks the constraints: A qdd + c is {off[0]:.3g}, not zero.\n"
                "  Give accelerations that keep them; forward and reduced do."
            )
        A = np.broadcast_to(A, (*needed.shape[:-1], *A.shape[-2:]))
        return shared(A, needed, columns, self._call("rank", q, np.ones(self.robot.nv), t, **how))

    def derivatives(self, name: str, *given: Any, by: str | Sequence[str] | None = None, **how: Any) -> Any:
        """The derivatives of what a call of that name gives, as those of `robot.derivatives`; the time is given too.

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [q[0] + q[1] - 0.3], holonomic=True)
        >>> by_q, by_qd, by_tau, by_t = held.derivatives("forward", [0.1, 0.2], [0.0, 0.0], [1.0, 0.0], 0.0)[0]
        >>> by_tau.shape
        (2, 2)
        """
        algorithm = self._algorithm(name)
        wanted = derivatives.names(self.robot.target, algorithm, by, {})
        made = self._call(name, *given, slopes=(Slope("columns", wanted),), **how)
        return derivatives.shown(
            made, derivatives.widths_of(self.robot.target, algorithm, wanted, {}), how.get("return_status", False)
        )

    def project(self, q: Numbers, qd: Numbers, t: Numbers = 0.0, **how: Any) -> Array:
        """The nearest velocity that keeps the constraints, measured by kinetic energy."""
        return self._call("project", q, qd, t, **how)

    def gap(self, q: Numbers, t: Numbers = 0.0, **how: Any) -> Array:
        """How far q is off the constraints on positions and the loops: a value each, zero where it is kept.

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [q[0] + q[1] - 0.3], holonomic=True)
        >>> held.gap([0.1, 0.1]).round(12)
        array([-0.1])
        """
        self._on_positions("gap")
        return self._call("gap", q, t, **how)

    def assemble(self, q: Numbers, t: float = 0.0, hold: Sequence[str] = (), tolerance: float = 1e-12,
                 iterations: int = 100, strict: bool = False, parameters: Any = None, prescribed: Any = None
                 ) -> Assembly:  # fmt: skip
        """The nearest configuration to q (…, nq) that keeps the constraints on positions: (q, residual, status).

        As `robot.assemble`, which closes loops; those of the robot are closed too. Time, parameters and what is
        prescribed are one for all states.

        >>> held = hinge.constrain(hinge.samples.planar_2r(), lambda q, t: [q[0] + q[1] - 0.3], holonomic=True)
        >>> held.assemble([0.1, 0.1]).q.round(12)
        array([0.15, 0.15])
        """
        self._on_positions("assemble")
        given = {"parameters": parameters, "prescribed": prescribed}
        first = self.m - len(self.gap(self.robot.neutral(), t, **given))
        return assembled(Gaps(
            lambda at: self.gap(at, t, **given),
            lambda at: self.matrix(at, t, **given)[0][..., first:, :],
            lambda at, v: self.robot.integrate(at, v, **given),
            lambda a, b: self.robot.difference(a, b, **given),
            lambda at, free: self._call("position rank", at, free.astype(float), t, **given),
            self._named,
        ), self.robot.model, q, hold, tolerance, iterations, strict)  # fmt: skip

    def refuse_violated(self, q: Array, qd: Array, t: float, tolerance: float, further: Sequence[Array]) -> None:
        """Raise where states (n, nq) and (n, nv) break the constraints by more than the tolerance, with the amount.

        `further` are the rows that varied numbers and driven joints have.
        """
        if self._positions:
            self._refuse("q0", self.gap(q, t, further=further), tolerance, "assemble(q0)")
        A, b = self.matrix(q, t, further=further)
        slack = tolerance * (1.0 + np.abs(qd).max(axis=-1, initial=0.0, keepdims=True))
        self._refuse("qd0", np.einsum("...mk,...k->...m", A, qd) - b, slack, "project(q0, qd0)")

    def _refuse(self, what: str, off: Array, slack: Any, way: str) -> None:
        over = np.where(np.abs(off) <= slack, 0.0, np.abs(off))
        if over.any():
            row = int(np.unravel_index(int(np.argmax(over)), over.shape)[-1])
            name = self._named(self.m - off.shape[-1] + row)
            what = f"robot {self.robot.name!r}: {what} breaks {name}, by {over.max():.3g}."
            raise ModelError("constraint", what, f"Start with what {way} of the constraint gives.")

    def _named(self, row: int) -> str:
        """A row of the matrix, in words."""
        own = row - self.constraint.m
        return f"constraint {row + 1}" if own < 0 else f"loop {names(self.robot.model)[own]!r}"

    @property
    def _positions(self) -> bool:
        """Whether there are constraints on positions."""
        return bool(self.constraint.values or self.robot.model.loops)

    def _on_positions(self, name: str) -> None:
        if not self._positions:
            raise NotCovered(
                f"{name}: the constraints are on velocities, and any position keeps them.\n"
                "  Those on positions are made with holonomic=True; project is for velocities."
            )

    # what the kernels compute

    def rows(
        self, model: Model, q: Any, v: list[Scalar], t: Scalar, time: float = 0.0
    ) -> tuple[Any, list[Scalar], list[Scalar]]:
        """A, b and c with A qd = b and A qdd + c = 0, over scalars: the constraints', then the loops'.

        With a `time` constant (s) accelerations bring back what is off.
        """
        A, b, c = self.constraint.at(model, model.flat(q), v, t)
        if model.loops:
            loops = closing(model, q, model.joint_velocities(v))
            A, b, c = [*A, *loops.A], [*b, *[0.0] * len(loops.A)], [*c, *loops.c]
        return A, b, stabilised(A, b, c, self.gaps(model, q, t), v, time) if time else c

    def gaps(self, model: Model, q: Any, t: Scalar) -> list[Scalar]:
        """What is zero where positions keep the constraints, one for each of the last rows."""
        loops = closing(model, q).gap if model.loops else []
        return [*self.constraint.gap(model, model.flat(q), t), *loops]

    def accelerated(
        self, model: Model, q: Any, v: list[Scalar], tau: Numbers, t: Scalar, *acting: Any, time: float = 0.0
    ) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        """Accelerations, multipliers and pivots, over scalars; forces on bodies and a moving base may act besides."""
        A, b, c = self.rows(model, q, v, t, time)
        needed, H = self._equations(model, q, v, tau, *acting)
        factors, state = LDL(H, model.joint_label()), self._state(model, q, v, t, A, b)
        free, keeping = factors.solve(needed), Keeping(factors, A, state)
        qdd, forces = keeping.kept(free, c)
        sure = met(Held(A, c, state), keeping.factors, free, qdd, 1.0 / time if time else 0.0)
        return qdd, forces, [*factors.pivots, sure]

    def _state(self, model: Model, q: Any, v: list[Scalar], t: Scalar, A: Any, b: list[Scalar]) -> State:
        """How far positions are off the constraints, and how fast they go off."""
        levers = [1.0] * len(A)
        off = total([g * g for g in self.gaps(model, q, t)])
        return State(off, levers, square([inner(row, v) - x for row, x in zip(A, b, strict=True)], levers), largest(v))

    def _equations(self, model: Model, q: Any, v: list[Scalar], tau: Any, *acting: Any) -> tuple[list[Scalar], Any]:
        """tau - C, and H."""
        acting = acting or ([Force()] * len(model.parent), (Motion(), Motion()))
        C = model.generalised_forces(bias_force(model, q, model.joint_velocities(v), *acting))
        return [a - b for a, b in zip(model.generalised_forces(tau), C, strict=True)], composite(model, q)

    def _matrix(self, model: Model, q: Any, t: Any) -> Any:
        A, b, _ = self.rows(model, q, [0.0] * model.nv, t[0])
        return (A, b), []

    def _gap(self, model: Model, q: Any, t: Any) -> Any:
        return self.gaps(model, q, t[0]), []

    def _rates(self, model: Model, q: Any, qd: Any, t: Any) -> Any:
        A, _, c = self.rows(model, q, model.flat(qd), t[0])
        return (A, c), []

    def _forward(self, model: Model, q: Any, qd: Any, tau: Any, t: Any) -> Any:
        qdd, force, pivots = self.accelerated(model, q, model.flat(qd), tau, t[0])
        return (qdd, force), pivots

    def _eliminated(self, model: Model, q: Any, v: list[Scalar], t: Any) -> Elimination:
        return Elimination(*self.constraint.at(model, model.flat(q), v, t[0]), self.independent)

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
        for _ in range(2 if self._positions else 0):
            A, gap = self.rows(model, q, v, t)[0], self.gaps(model, q, t)
            H = LDL(composite(model, q), model.joint_label())
            change, _ = constrained(H, [0.0] * model.nv, A[len(A) - len(gap) :], gap)
            moved = model.joint_velocities(change)
            q = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
        return q, self._project(model, q, model.joint_velocities(v), [t])[0]

    def _project(self, model: Model, q: Any, qd: Any, t: Any) -> Any:
        v = model.flat(qd)
        A, b, _ = self.rows(model, q, v, t[0])
        factors = LDL(composite(model, q), model.joint_label())
        left = [sum((a * x for a, x in zip(row, v, strict=True)), -y) for row, y in zip(A, b, strict=True)]
        state = self._state(model, q, [0.0] * model.nv, t[0], A, [0.0] * len(A))
        keeping = Keeping(factors, A, state)
        change, _ = keeping.kept([0.0] * model.nv, left)
        sure = met(Held(A, left, state), keeping.factors, v, change)
        return [x + y for x, y in zip(v, change, strict=True)], [*factors.pivots, sure]

    def _rank(self, model: Model, q: Any, free: Any, t: Any, on_positions: bool = False) -> Any:
        """How many rows count, of all or of those on positions, which come last."""
        still = [0.0] * model.nv
        A, b, _ = self.rows(model, q, still, t[0])
        first = len(A) - len(self.gaps(model, q, t[0])) if on_positions else 0
        A, b = A[first:], b[first:]
        return independent_rows(A, self._state(model, q, still, t[0], A, b), model.flat(free)), []

    def _call(self, name: str, *given: Any, backend: str | None = None, return_status: bool = False,
              parameters: Any = None, prescribed: Any = None, further: Sequence[Array] | None = None,
              slopes: tuple[Slope, ...] = ()) -> Any:  # fmt: skip
        if name in ("basis", "velocity", "reduced", *KERNELS):
            self._bare()
        if any(map(is_sympy, given)):
            algorithm, model = self._algorithm(name), unmoved(self.robot.model)
            return evaluate_with_sympy(algorithm, model, dict(zip(algorithm.inputs, given, strict=True)), {})

        refused(self.robot.model, name, has_symbols)
        if further is None:
            further = self.robot.target.parameter_rows(f"constrained {name}", parameters, prescribed)
        words = {"status": return_status, "derivatives": slopes}
        return Call.outside_registry(self._target, (self._algorithm, name), backend, **words).kernel(*given, *further)

    def _algorithm(self, name: str) -> Algorithm:
        m, n = self.m, self.robot.nv
        matrix = Quantity("A", lambda model: (m, n), give=rows)
        each, free = Quantity("one a constraint", lambda model: (m,)), Quantity("η", lambda model: (n - m,))
        columns = Quantity("S", lambda model: (n, n - m), give=rows)
        known = {
            "matrix": ({}, {"A": matrix, "b": each}, self._matrix),
            "gap": (
                {},
                {"gap": Quantity("gaps", lambda model: (len(self.constraint.values) + model.loop_rows,))},
                self._gap,
            ),
            "rates": ({"qd": VELOCITY}, {"A": matrix, "c": each}, self._rates),
            "forward": ({"qd": VELOCITY, "tau": FORCE}, {"qdd": ACCELERATION, "force": each}, self._forward),
            "basis": ({}, {"S": columns}, self._basis),
            "velocity": ({"eta": free}, {"qd": VELOCITY}, self._velocity),
            "reduced": ({"eta": free, "tau": FORCE}, {"rates": free}, self._reduced),
            "project": ({"qd": VELOCITY}, {"qd": VELOCITY}, self._project),
            "rank": ({"free": VELOCITY}, {"rank": SCALAR}, self._rank),
            "position rank": ({"free": VELOCITY}, {"rank": SCALAR}, partial(self._rank, on_positions=True)),
            **{name: (takes, gives, getattr(self, own)) for name, (takes, gives, own) in KERNELS.items()},
        }
        one_of("constrained: name", name, known)
        takes, gives, function = known[name]
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
            raise SizeError(
                f"independent={independent!r} is not known. Robot {self.robot.name!r} has {n} velocities "
                f"and {self.m} constraints: give {n - self.m} numbers below {n}."
            )
        return given

    def _tried(self) -> Array:
        """A at a few states, with any numbers for symbols."""
        rng = np.random.default_rng(0)
        known = {node: rng.uniform(0.5, 1.5) for node in symbols_of(self.robot.model).values()}
        given = rng.uniform(0.5, 1.5, len(self.constraint.given)).tolist()
        made = [
            self.constraint.with_numbers(given, q.tolist(), qd.tolist(), 0.0)[0]
            for q, qd in zip(*self.robot.random_state(rng, 8), strict=True)
        ]
        return np.array([[evaluated(row, known) for row in A] for A in made], float)
