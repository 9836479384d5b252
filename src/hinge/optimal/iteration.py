"""One iteration of DDP as a program: backward over the stages, then forward with ever shorter steps.

A path is given as rows (q, qd, u), which need not follow one another: what a step leads to and what stands in the next
row may differ by a gap. Forward, a share `alpha` of the forces' change is taken, and that share of the gaps is closed:

    u = u_k + alpha k_k + K_k (x - x_k)        x_{k+1} = f(x, u) - (1 - alpha) gap_k

It is taken where what the path costs, with a price on gaps, falls by a share of what is promised.
Source: mastalli2020 for closing gaps in step with forces; nocedal2006, section 17.2 for the price on gaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hinge.backends.kernel import ROWS
from hinge.graph import (
    Graph,
    Input,
    Program,
    Record,
    Scalar,
    Scratch,
    absolute,
    inner,
    less,
    maximum,
    minimum,
    order,
    repeat,
    select,
    sqrt,
    total,
)  # fmt: skip
from hinge.graph import Rows as Streams
from hinge.graph.arrays import both
from hinge.graph.collector import uncollected
from hinge.graph.scalars import largest
from hinge.optimal.problem import Problem
from hinge.optimal.riccati import backed, triangle, whole
from hinge.optimal.stages import Flat, Point, Rows, Stages, within_bounds
from hinge.steps.inputs import Outside

TRIES, SHORTER = 10, 0.5  # how often a step is shortened, and to what share
ENOUGH = 0.1  # of what the quadratic promises: what a step has to bring
ROUNDING = 1e-14  # of the cost: a change that is none
HUGE = 1e300
GOES_ON = 7.5  # a status above this is one with which a run goes on
TOLD = (
    "cost", "merit", "gap", "optimality", "violation", "status", "pivot", "promised", "alpha", "new cost", "new merit",
    "new gap", "new violation",
)  # fmt: skip
SAID = ("t", "extra", "weight")  # of a problem: when it begins, what is added to Q_uu, what constraints weigh


class Layout(NamedTuple):
    """What an iteration is given: the width of the multipliers, and by name the arrays that functions take."""

    constraints: int
    outside: Outside

    def inputs(self, problem: Problem) -> list[Input]:
        robot = problem.robot
        widths = {"q": robot.nq, "qd": robot.nv, "u": problem.nu, "multipliers": self.constraints}
        streams = [Input(name, width, stream=True) for name, width in widths.items() if width]
        return [Input("said", len(SAID)), *streams, *self.outside.inputs()]

    def outputs(self, problem: Problem) -> list[tuple[int, ...]]:
        robot, nx = problem.robot, 2 * problem.robot.nv
        rows = [robot.nq, robot.nv, problem.nu, problem.nu * nx]
        return [(len(TOLD),), *((ROWS, n) for n in rows), *([(ROWS, self.constraints)] if self.constraints else [])]


def constraints(problem: Problem) -> int:
    """How many constraints a stage has at the most."""
    if not any((problem.equal, problem.below, problem.final_equal, problem.final_below)):
        return 0
    graph = Graph()
    stages = Stages(problem, graph, problem.robot.target.traced, lambda k: {
        name: [graph.input(name, j) for j in range(a.size)] for name, a in problem.given.items()
    })  # fmt: skip
    q, qd, u = ([graph.input(name, k) for k in range(n)]
                for name, n in (("q", problem.robot.nq), ("qd", problem.robot.nv), ("u", problem.nu)))  # fmt: skip
    t = graph.input("t", 0)
    return max(len(stages.constrained(0.0, at)[0]) + len(stages.constrained(0.0, at)[1])
               for at in (Point(t, q, qd, u), Point(t, q, qd)))  # fmt: skip


def given_at(problem: Problem, graph: Graph, outside: Outside, k: Scalar) -> Mapping[str, Flat]:
    """What functions are given at stage k, by name."""
    made = {}
    for name in problem.given:
        width = max(1, problem.given[name].size)
        made[name] = Streams(graph, name, width)[k] if name in outside.streams else outside.flat(graph, name)
    return made


@uncollected()
def program(problem: Problem, layout: Layout, exact: bool = False) -> Program:
    """The program of an iteration: from a path to a better one, its gains, and what there is to tell of both."""
    graph, robot = Graph(), problem.robot
    nq, nv, nu, N, nc = robot.nq, robot.nv, problem.nu, problem.horizon, layout.constraints
    nx = 2 * nv
    start, extra, weight = (graph.input("said", k) for k in range(len(SAID)))
    q, qd, u = (Streams(graph, name, n) for name, n in (("q", nq), ("qd", nv), ("u", nu)))
    multipliers = Streams(graph, "multipliers", nc)
    stages = Stages.of(problem, graph, layout.outside, lambda k: given_at(problem, graph, layout.outside, k), exact)
    gains = Scratch(N * nu * (nx + 1), like=start, zeros=False)
    gaps = Scratch(N * nx, like=start, zeros=False)
    logs = [Record(graph, f"new {name}", n) for name, n in (("q", nq), ("qd", nv), ("u", nu), ("gains", nu * nx))]
    log_q, log_qd, log_u, log_K = logs
    log_c = Record(graph, "multiplied", nc) if nc else None
    low, high = ([float(x) for x in side] for side in problem.bounds)
    bounds = any(x < HUGE for x in high)

    def when(k: Scalar) -> Scalar:
        return start + k * problem.step

    def pushed(k: Scalar) -> Flat:
        return multipliers[k] if nc else []

    last = Point(when(float(N)), q[float(N)], qd[float(N)])
    ending = stages.charged(float(N), last, pushed(float(N)), weight)
    at_end = stages.quadratic(last, ending)

    def backward(trip: Scalar, *now: Scalar) -> Flat:
        V_x, V, adjoint, so_far = _apart(now, nx)
        k = float(N - 1) - trip
        at = Point(when(k), q[k], qd[k], u[k])
        step = stages.stepped(at, qd[k + 1.0])
        gap = stages.apart((q[k + 1.0], qd[k + 1.0]), step.after)
        charged = stages.charged(k, at, pushed(k), weight)
        v = [a + inner(row, gap) for a, row in zip(V_x, V, strict=True)]
        stage = stages.quadratic(at, charged, v, step.after)
        room = [[a - b for a, b in zip(side, at.forces, strict=True)] for side in (low, high)] if bounds else None
        made = backed(graph, step.F, stage, step.pulled(v), step.weighed(V), extra, room)
        for i in range(nu):
            for j, x in enumerate((made.k[i], *made.K[i])):
                gains[k * (nu * (nx + 1)) + (i * (nx + 1) + j)] = x
        for j, x in enumerate(gap):
            gaps[k * nx + j] = x
        log_K[k] = [x for row in made.K for x in row]
        adjoint = step.pulled(adjoint)
        slope = [
            a + inner(column, adjoint) for a, column in zip(stage.gradient, zip(*step.F, strict=True), strict=True)
        ]
        told = SoFar(
            so_far.cost + charged.cost,
            so_far.merit + charged.merit,
            so_far.gap + total(absolute(x) for x in gap),
            maximum(so_far.price, largest(made.gradient)),
            maximum(so_far.optimality, largest(_steep(slope[nx:], room))),
            maximum(so_far.violation, largest([0.0, *charged.off])),
            maximum(so_far.status, step.status),
            so_far.promised + made.promised,
            select(less(0.0, so_far.pivot), minimum(so_far.pivot, made.pivot), so_far.pivot),
        )
        return [*made.gradient, *made.hessian, *slope[:nx], *told]

    begun = SoFar(ending.cost, ending.merit, 0.0, largest(at_end.gradient), 0.0, largest([0.0, *ending.off]), 0.0, 0.0,
                  HUGE)  # fmt: skip
    worth = [at_end.hessian[i][j] for i, j in triangle(nx)]
    came = repeat(N, (*at_end.gradient, *worth, *at_end.gradient, *begun), backward)
    found = SoFar(*came[-len(begun) :])
    price = 2.0 * found.price
    before = found.merit + price * found.gap
    promise = found.promised - 0.5 * price * found.gap
    touches = problem.physics.touch.active

    def tried(_: Scalar, alpha: Scalar, *__: Scalar) -> Flat:
        def forward(k: Scalar, *now: Scalar) -> Flat:
            state, (cost, merit, violation, worst) = (list(now[:nq]), list(now[nq : nq + nv])), now[nq + nv :]
            off = stages.apart((q[k], qd[k]), state)
            forces = []
            for i, x in enumerate(u[k]):
                row = [gains[k * (nu * (nx + 1)) + (i * (nx + 1) + j)] for j in range(nx + 1)]
                forces.append(x + alpha * row[0] + inner(row[1:], off))
            forces = within_bounds(problem, forces)
            at = Point(when(k), *state, forces)
            charged = stages.charged(k, at, pushed(k), weight)
            log_q[k], log_qd[k], log_u[k] = at.q, at.qd, forces
            if log_c is not None:
                log_c[k] = _multiplied(charged.penalties, weight, nc)
            *after, status = stages.moved(at, qd[k + 1.0])
            there = stages.displaced(after, [(alpha - 1.0) * gaps[k * nx + j] for j in range(nx)])
            wrong = select(less(0.5, status), less(status, GOES_ON) if touches else 1.0, 0.0)
            violation = maximum(violation, largest([0.0, *charged.off]))
            return [*there[0], *there[1], cost + charged.cost, merit + charged.merit, violation, maximum(worst, wrong)]

        *ends, cost, merit, violation, worst = repeat(N, (*q[0.0], *qd[0.0], 0.0, 0.0, 0.0, 0.0), forward)
        end = Point(when(float(N)), list(ends[:nq]), list(ends[nq:]))
        charged = stages.charged(float(N), end, pushed(float(N)), weight)
        log_q[float(N)], log_qd[float(N)] = end.q, end.qd
        if log_c is not None:
            log_c[float(N)] = _multiplied(charged.penalties, weight, nc)
        merit, gap = merit + charged.merit, (1.0 - alpha) * found.gap
        enough = before + ENOUGH * alpha * (1.0 - 0.5 * alpha) * promise + ROUNDING * absolute(before)
        good = both(less(merit + price * gap, enough), less(worst, 0.5))
        shorter = select(good, alpha, SHORTER * alpha)
        return [shorter, good, cost + charged.cost, merit, gap, maximum(violation, largest([0.0, *charged.off]))]

    lost = select(less(0.0, found.pivot), 0.0, 1.0)
    first = (1.0, lost, *(0.0 * x for x in (found.cost, found.cost, found.cost, found.cost)))
    alpha, taken, *new = repeat(TRIES, first, tried, lambda alpha, taken, *_: taken)
    alpha = select(both(taken, less(lost, 0.5)), alpha, 0.0)
    told = [found.cost, found.merit, found.gap, found.optimality, found.violation, found.status, found.pivot,
            found.promised, alpha, *new]  # fmt: skip
    graph.let_go()
    records = [*logs, *([log_c] if log_c is not None else [])]
    return order(layout.inputs(problem), [("told", (len(TOLD),), told), *records])


class SoFar(NamedTuple):
    """What is told of a path, from its end to some stage; `price` is the largest slope of what states are worth."""

    cost: Scalar
    merit: Scalar
    gap: Scalar
    price: Scalar
    optimality: Scalar
    violation: Scalar
    status: Scalar
    promised: Scalar
    pivot: Scalar


def _apart(now: Sequence[Scalar], nx: int) -> tuple[Flat, Rows, Flat, SoFar]:
    """What a state is worth, as gradient and Hessian, the slope of the cost by it, and what is told."""
    size = len(triangle(nx))
    return (
        list(now[:nx]),
        whole(now[nx : nx + size], nx),
        list(now[nx + size : nx + size + nx]),
        SoFar(*now[nx + size + nx :]),
    )


def _steep(slope: Flat, room: Rows | None) -> Flat:
    """The slope by forces, but for those at a bound that are pushed against it."""
    if room is None:
        return slope
    return [
        select(less(lo, 0.0), select(less(0.0, hi), g, maximum(g, 0.0)), minimum(g, 0.0))
        for g, lo, hi in zip(slope, *room, strict=True)
    ]


def _multiplied(penalties: Flat, weight: Scalar, width: int) -> Flat:
    """The next multipliers of constraints: what their penalties push with."""
    return [*(sqrt(weight) * x for x in penalties), *[0.0] * (width - len(penalties))]
