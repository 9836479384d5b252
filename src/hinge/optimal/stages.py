"""One stage of a problem over scalars: where a step leads, what it costs, and how both change with state and forces.

Displacements of a state are along `integrate` for positions, so that quaternions have three; with those of u they are
z = (δq, δqd, δu).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from hinge.contact.contact_slopes import jacobian
from hinge.dynamics.coordinates import difference, integrate
from hinge.dynamics.slopes import Slope, Variable, pulled_back
from hinge.graph import (
    OPS,
    Expr,
    Graph,
    Scalar,
    absolute,
    evaluated,
    held,
    inner,
    less,
    maximum,
    minimum,
    select,
    sqrt,
    total,
)
from hinge.model import Model
from hinge.optimal.problem import Problem, Term
from hinge.steps import step as one_step
from hinge.steps.inputs import Acts, Outside

Flat = list[Scalar]
Rows = list[Flat]


class Point(NamedTuple):
    """A state and forces at a time; at the end there are no forces."""

    t: Scalar
    q: Flat
    qd: Flat
    u: Flat | None = None

    @property
    def forces(self) -> Flat:
        """The forces, none at the end."""
        return self.u or []


class Charged(NamedTuple):
    """What a stage costs: numbers, residuals, and constraints as such.

    `off` is how far each that pushes is from zero: those that do not push are kept.
    """

    plain: Flat
    residuals: Flat
    off: Flat
    penalties: Flat

    @property
    def cost(self) -> Scalar:
        return total(self.plain) + 0.5 * total(r * r for r in self.residuals)

    @property
    def merit(self) -> Scalar:
        """The cost with what the multipliers make of constraints."""
        return self.cost + 0.5 * total(r * r for r in self.penalties)


class Step(NamedTuple):
    """A step: the state after it, how it fared, and the derivatives G F of that state by z.

    Where positions are carried on by the velocities after the step, F are the derivatives of the positions before and
    the velocities after it, most of which are known to be zero and one; elsewhere G is one.
    """

    after: tuple[Flat, Flat]
    status: Scalar
    F: Rows
    G: Rows | None = None

    def pulled(self, gradient: Flat) -> Flat:
        """Gᵀ v of a slope by the state after the step."""
        return gradient if self.G is None else [inner(column, gradient) for column in zip(*self.G, strict=True)]

    def weighed(self, hessian: Rows) -> Rows:
        """Gᵀ V G of a Hessian by the state after the step."""
        if self.G is None:
            return hessian
        columns, n = list(zip(*self.G, strict=True)), len(hessian)
        half = list(zip(*([inner(row, column) for column in columns] for row in hessian), strict=True))
        lower = [[inner(columns[i], half[j]) for j in range(i + 1)] for i in range(n)]
        return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


class Quadratic(NamedTuple):
    """A stage near a point: its gradient and Hessian by z."""

    gradient: Flat
    hessian: Rows


@dataclass(frozen=True)
class Stages:
    """The stages of a problem in one graph: `given` are what functions are given besides the state, by name."""

    problem: Problem
    graph: Graph
    model: Model
    given: Callable[[Scalar], Mapping[str, Flat]]
    exact: bool = False
    simulated: one_step.Step | None = None  # one step, with what varies as inputs; none where no step is taken

    @classmethod
    def of(cls, problem: Problem, graph: Graph, outside: Outside, given: Callable[[Scalar], Mapping[str, Flat]],
           exact: bool = False) -> Stages:  # fmt: skip
        step = one_step.Step.of(graph, problem.robot.target, problem.physics, outside)
        return cls(problem, graph, step.model, given, exact, step)

    def moved(self, at: Point, ahead: Sequence[Scalar] = ()) -> tuple[Flat, Flat, Scalar]:
        """The state a step later, and how it fared; `ahead` are velocities to expect there, where they are searched.

        The forces are inputs of the step. A search computes them from the state, by gains; a method that is implicit
        in the forces of a controller must not take these gains for damping, so that dependence is hidden from it.
        """
        forces = [held(x) if type(x) is Expr and x.op in OPS else x for x in at.forces]
        return self._moved(at._replace(u=forces), ahead)

    def _moved(self, at: Point, ahead: Sequence[Scalar]) -> tuple[Flat, Flat, Scalar]:
        problem, model, step = self.problem, self.model, self.simulated
        assert step is not None
        tau: Flat = [0.0] * model.nv
        for k, x in zip(problem.drives, at.forces, strict=True):
            tau[k] = x
        acts = Acts.of_forces(model, tau)
        expected = [(b - a) / problem.step for a, b in zip(at.qd, ahead, strict=False)]
        memory = expected[: step.law.memory(model)]
        made = step.advance(acts, at.t, problem.step, model.joint_positions(at.q), at.qd, memory)
        return model.flat(made.q), list(made.v), made.status

    def apart(self, before: Sequence[Flat], after: Sequence[Flat]) -> Flat:
        """The displacement from one state to another."""
        turn = difference(self.model, *(self.model.joint_positions(q) for q in (before[0], after[0])))
        return [*turn, *(b - a for a, b in zip(before[1], after[1], strict=True))]

    def displaced(self, state: Sequence[Flat], by: Flat) -> tuple[Flat, Flat]:
        """A state moved by a displacement."""
        model, n = self.model, self.model.nv
        q = integrate(model, model.joint_positions(state[0]), model.joint_velocities(by[:n]))
        return model.flat(q), [a + b for a, b in zip(state[1], by[n:], strict=True)]

    def charged(self, k: Scalar, at: Point, multipliers: Flat, weight: Scalar) -> Charged:
        """What a stage costs, with the multipliers of its constraints and what these weigh."""
        problem, end = self.problem, at.u is None
        known = problem.known(at.t, at.q, at.qd, at.u, self.given(k))
        made = [term(known) for term in (problem.final if end else problem.running)]
        plain = [x for x in made if not isinstance(x, list)]
        residuals = [x for row in made if isinstance(row, list) for x in row]
        equal, below = self.constrained(k, at)
        off, penalties = [], []
        for j, c in enumerate([*equal, *below]):
            pushed = c + multipliers[j] / weight
            pushes = 1.0 if j < len(equal) else less(0.0, pushed)
            off.append(select(pushes, absolute(c), 0.0))
            penalties.append(sqrt(weight) * select(pushes, pushed, 0.0))
        return Charged(plain, residuals, off, penalties)

    def constrained(self, k: Scalar, at: Point) -> tuple[Flat, Flat]:
        """What is to be zero, and what is to be at most zero."""
        problem, end = self.problem, at.u is None
        known = problem.known(at.t, at.q, at.qd, at.u, self.given(k))
        return (_values(problem.final_equal if end else problem.equal, known),
                _values(problem.final_below if end else problem.below, known))  # fmt: skip

    def slopes(self, at: Point, outputs: Sequence[Variable]) -> list[Rows]:
        """The derivatives of outputs by z, a row for each of their displacements."""
        taken = self._taken(at)
        _, made = Slope("columns", tuple(taken)).of(self.graph, self.model, taken, outputs)
        return [_rows(one.entries, one.shape[-1]) for one in made]

    def stepped(self, at: Point, ahead: Sequence[Scalar] = ()) -> Step:
        """A step and its derivatives: forward, or back over it where contacts are. State and forces are leaves."""
        q, v, status = self._moved(at, ahead)
        if self.problem.physics.touch.active:
            q, v, flat = jacobian(self.model, self.model.joint_positions(q), v, [*at.q, *at.qd, *at.forces], [at.t])
            return Step((q, v), status, _rows(flat, self._width(at)))
        rates = Variable("qd", (len(v),), False, v)
        if all(a is b for a, b in zip(self._carried(at.q, v), q, strict=True)):
            (by_v,) = self.slopes(at, [rates])
            n = self.model.nv
            return Step((q, v), status, [*_unit(n, self._width(at)), *by_v], self._carrying(at, v))
        by_q, by_v = self.slopes(at, [Variable("q", (len(q),), True, q), rates])
        return Step((q, v), status, [*by_q, *by_v])

    def _carried(self, q: Flat, v: Flat) -> Flat:
        """Where velocities lead in a step."""
        along = self.model.joint_velocities([self.problem.step * x for x in v])
        return self.model.flat(integrate(self.model, self.model.joint_positions(q), along))

    def _carrying(self, at: Point, v: Flat) -> Rows:
        """How the state after a step changes with the positions before it and the velocities after it."""
        n = self.model.nv
        rates = [self.graph.input("velocity after", k) for k in range(n)]
        q = self._carried(at.q, rates)
        taken = {"q": Variable("q", (len(q),), True, at.q), "qd": Variable("qd", (n,), False, rates)}
        _, (by,) = Slope("columns", ("q", "qd")).of(self.graph, self.model, taken, [Variable("q'", (len(q),), True, q)])
        rows = _rows(evaluated(by.entries, dict(zip(rates, v, strict=True))), 2 * n)
        return [*rows, *([0.0] * n + row for row in _unit(n, n))]

    def quadratic(
        self, at: Point, charged: Charged, pull: Sequence[Scalar] = (), after: Sequence[Flat] = ()
    ) -> Quadratic:
        """The cost near a point. With exact Hessians, `pull` are the weights of the state after the step."""
        n = self._width(at)
        squares = [*charged.residuals, *charged.penalties]
        (J,) = self.slopes(at, [Variable("r", (len(squares),), False, squares)]) if squares else [[]]
        columns = [[row[j] for row in J] for j in range(n)]
        gradient = [inner(column, squares) for column in columns]
        hessian = [[inner(columns[i], columns[j]) if j <= i else 0.0 for j in range(n)] for i in range(n)]
        parts: list[tuple[Variable, Flat]] = []
        if charged.plain:
            parts.append((Variable("plain", (), False, [total(charged.plain)]), [1.0]))
            gradient = [a + b for a, b in zip(gradient, self._pulled(at, parts), strict=True)]
        if self.exact:
            parts.append((Variable("r", (len(squares),), False, squares), squares))
            for name, x, w in zip(("q", "qd"), after, (pull[: self.model.nv], pull[self.model.nv :]), strict=False):
                parts.append((Variable(name, (len(x),), name == "q", x), list(w)))
        if parts:
            curved = self._curved(at, parts)
            hessian = [
                [hessian[i][j] + 0.5 * (curved[i][j] + curved[j][i]) if j <= i else 0.0 for j in range(n)]
                for i in range(n)
            ]
        return Quadratic(gradient, [[hessian[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)])

    def _pulled(self, at: Point, parts: Sequence[tuple[Variable, Flat]]) -> Flat:
        """The slope by z of a sum of outputs, each with its weights."""
        outputs, weights = zip(*parts, strict=True)
        return [x for row in pulled_back(self.model, list(self._taken(at).values()), outputs, weights) for x in row]

    def _curved(self, at: Point, parts: Sequence[tuple[Variable, Flat]]) -> Rows:
        """The second derivatives by z of a sum of outputs, whose weights stay as they are."""
        names = [(one, [self.graph.input(f"weight of {one.name}", k) for k in range(len(w))]) for one, w in parts]
        (made,) = self.slopes(at, [Variable("slope", (self._width(at),), False, self._pulled(at, names))])
        known = {a: b for (_, own), (_, w) in zip(names, parts, strict=True) for a, b in zip(own, w, strict=True)}
        return _rows(evaluated([x for row in made for x in row], known), self._width(at))

    def _taken(self, at: Point) -> dict[str, Variable]:
        parts = {"q": (at.q, True), "qd": (at.qd, False)} | ({} if at.u is None else {"u": (at.u, False)})
        return {name: Variable(name, (len(x),), position, x) for name, (x, position) in parts.items()}

    def _width(self, at: Point) -> int:
        return 2 * self.model.nv + len(at.forces)


def within_bounds(problem: Problem, forces: Sequence[Scalar]) -> Flat:
    """Forces within those bounds that there are."""
    sides = (side.tolist() for side in problem.bounds)
    return [
        maximum(minimum(u, high), low) if isfinite(high) else u for low, high, u in zip(*sides, forces, strict=True)
    ]


def _values(terms: Sequence[Term], known: Mapping[str, object]) -> Flat:
    made = [term(known) for term in terms]
    return [x for row in made for x in (row if isinstance(row, list) else [row])]


def _unit(n: int, width: int) -> Rows:
    """The first n displacements of several."""
    return [[1.0 if i == j else 0.0 for j in range(width)] for i in range(n)]


def _rows(entries: Sequence[Scalar], width: int) -> Rows:
    return [list(entries[k : k + width]) for k in range(0, len(entries), width)]
