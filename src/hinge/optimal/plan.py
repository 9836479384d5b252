"""What is done to a plan from one control period to the next besides iterations of DDP, as programs over scalars.

A plan is a path (q, qd, u) that begins at t0, with gains. `standing` is a first one, `judged` says what an iteration
was worth, and `answered` is the force that a plan asks for at a time in its stage j:

    u = u_j + K_j (x - x(t))

`shifted` moves a plan on to now: it takes the steps again from the state that is measured, with the forces and gains of
the old plan, so that all of the new one can be done. Between two stages the state x(t) is on the way that `integrate`
takes from one to the other, and the force of a step that begins there is the mean of the plan's over it. After its end
a plan goes on with the last force, at the last velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from hinge.backends.kernel import ROWS, Kernel
from hinge.graph import (
    Graph,
    Input,
    Program,
    Record,
    Scalar,
    absolute,
    floor,
    inner,
    less,
    maximum,
    minimum,
    order,
    repeat,
    select,
)
from hinge.graph import Rows as Streams
from hinge.graph.arrays import both, either, symbols
from hinge.graph.loops import traced
from hinge.optimal.ddp import EASY, FALLS, GROWS, HARD, LEAST, LOOSE, MOST, SECOND
from hinge.optimal.iteration import HUGE, SAID, TOLD, Layout
from hinge.optimal.problem import Problem
from hinge.optimal.stages import Flat, Point, Stages, within_bounds
from hinge.status import NONFINITE, OK, UNCONVERGED

WHEN = ("t", "t0")  # now, and when the plan begins
JUDGED_INPUTS = [Input("told", len(TOLD)), Input("said", len(SAID))]
VERDICT = ("taken", "priced", "good", "done", "status", "extra")
WEIGHT = 100.0  # of constraints: more than a search begins with, as there is no time to raise it
NEAR = 1e-9  # of a stage: times so near its beginning are in it
SETTLED = 1e-7  # slopes beside the cost, and gaps, with which there is nothing left to do


def widths(problem: Problem, layout: Layout) -> dict[str, int]:
    """How many numbers a row of a path has, by name."""
    made = {"q": problem.robot.nq, "qd": problem.robot.nv, "u": problem.nu, "multipliers": layout.constraints}
    return {name: width for name, width in made.items() if width}


def programs(problem: Problem, layout: Layout) -> dict[str, Callable[[], Program]]:
    """Return the functions that make the programs of this file, by name."""
    return {
        "standing": partial(standing, problem, layout),
        "shifted": partial(shifted, problem, layout),
        "judged": judged,
        "answered": partial(answered, problem, layout),
    }


def kernels(problem: Problem, layout: Layout, backend: str) -> dict[str, Kernel]:
    """Return the programs of this file as kernels, by name; problems keep theirs."""
    measured, plan = _measured_inputs(problem), _plan_inputs(problem, layout)
    path: list[tuple[int, ...]] = [(ROWS, width) for width in widths(problem, layout).values()]
    arrays: dict[str, tuple[list[Input], list[tuple[int, ...]]]] = {
        "standing": (measured, path),
        "shifted": (plan, path),
        "judged": (JUDGED_INPUTS, [(len(VERDICT),)]),
        "answered": (plan, [(problem.robot.nv,)]),
    }
    known = layout.constraints, tuple(layout.outside.inputs())
    return {name: problem.kernel((name, known), *arrays[name], trace, backend)
            for name, trace in programs(problem, layout).items()}  # fmt: skip


def standing(problem: Problem, layout: Layout) -> Program:
    """A robot that stands where it is from now on, with the forces that carry the weight of its driven joints."""
    graph = Graph()
    q, qd = _measured(problem, graph)
    weight = np.asarray(problem.robot.gravity_force(symbols(q)), dtype=object).reshape(-1)
    u = within_bounds(problem, [weight[k] for k in problem.drives])
    logs = _logs(graph, problem, layout)
    still = {"q": q, "qd": [0.0] * len(qd), "u": u, "multipliers": [0.0] * layout.constraints}

    def stand(k: Scalar) -> tuple[()]:
        for name, log in logs.items():
            log[k] = still[name]
        return ()

    traced(graph, problem.horizon + 1, 0, (), stand, None)
    logs["qd"][0.0] = qd
    return order(_measured_inputs(problem), list(logs.values()))


def shifted(problem: Problem, layout: Layout) -> Program:
    """A plan moved on to now: from the state that is measured, with its forces, and its gains on what that is off."""
    graph, N = Graph(), problem.horizon
    logs, path = _logs(graph, problem, layout), _Path(problem, graph, layout)
    passed = _passed(problem, graph)

    def moved(k: Scalar, *now: Scalar) -> Flat:
        state = list(now[: problem.robot.nq]), list(now[problem.robot.nq :])
        u = path.answer(k + passed, path.mean("u", k + passed), state)
        logs["q"][k], logs["qd"][k], logs["u"][k] = *state, u
        if "multipliers" in logs:
            logs["multipliers"][k] = path.mean("multipliers", k + passed)
        _, ahead = path.state(k + 1.0 + passed)
        q, qd, _ = path.stages.moved(Point(graph.input("when", 0) + k * problem.step, *state, u), ahead)
        return [*q, *qd]

    begins = _measured(problem, graph)
    end = repeat(N, (*begins[0], *begins[1]), moved)
    logs["q"][float(N)], logs["qd"][float(N)] = end[: problem.robot.nq], end[problem.robot.nq :]
    if "multipliers" in logs:  # what the state that is measured is beyond, no force changes
        first = path.mean("multipliers", passed)
        logs["multipliers"][0.0] = [
            x if acts else 0.0 for x, acts in zip(first, _by_forces(problem, first), strict=True)
        ]
        logs["multipliers"][float(N)] = path.rows["multipliers"][float(N)]
    return order(_plan_inputs(problem, layout), list(logs.values()))


def answered(problem: Problem, layout: Layout) -> Program:
    """The joint forces that a plan asks for now, in the state that is measured: within bounds, and always numbers."""
    graph = Graph()
    path = _Path(problem, graph, layout)
    at = minimum(_passed(problem, graph), float(problem.horizon))
    u = path.answer(at, path.rows["u"][path.stage(at)], _measured(problem, graph))
    tau: Flat = [0.0] * problem.robot.nv
    for k, x in zip(problem.drives, u, strict=True):
        tau[k] = x
    return order(_plan_inputs(problem, layout), [("tau", (problem.robot.nv,), tau)])


def judged() -> Program:
    """What an iteration was worth.

    Whether its path is taken, and its multipliers; whether the path that is left is good, and there is nothing left to
    do; the status of that, and what the next iteration adds to Q_uu.
    """
    graph = Graph()
    say = {name: graph.input("told", k) for k, name in enumerate(TOLD)}
    extra = graph.input("said", SAID.index("extra"))
    known = less(absolute(say["merit"]), HUGE)
    taken = both(both(known, less(0.0, say["alpha"])), less(absolute(say["new merit"]), HUGE))
    scale = 1.0 + absolute(say["cost"])
    settled = both(known, both(less(say["optimality"], SETTLED * scale), less(say["gap"], SETTLED)))
    priced = both(taken, less(say["optimality"], LOOSE * scale))
    good = either(taken, settled)
    status = select(good, float(OK), select(known, float(UNCONVERGED), float(NONFINITE)))
    lighter, heavier = maximum(FALLS * extra, LEAST), minimum(maximum(GROWS * extra, SECOND), MOST)
    easily, hardly = less(EASY, say["alpha"]), less(say["alpha"], HARD)
    following = select(known, select(settled, extra, select(easily, lighter, select(hardly, heavier, extra))), extra)
    done = both(settled, less(say["violation"], SETTLED))
    verdict = [taken, priced, good, done, status, following]
    return order(JUDGED_INPUTS, [("verdict", (len(VERDICT),), verdict)])


class _Path:
    """The rows of a plan in a program, read at any stage, also between two."""

    def __init__(self, problem: Problem, graph: Graph, layout: Layout):
        self.problem, self.last, nx = problem, float(problem.horizon), 2 * problem.robot.nv
        self.stages = Stages.of(problem, graph, layout.outside, lambda k: {})
        sizes = widths(problem, layout) | {"gains": problem.nu * nx}
        self.rows = {name: Streams(graph, name, n) for name, n in sizes.items()}

    def answer(self, at: Scalar, forces: Flat, state: tuple[Flat, Flat]) -> Flat:
        """Forces of a stage with its gains on what a state is off: within bounds, and numbers where the forces are."""
        off = self.stages.apart(self.state(at), state)
        gains, n = self.rows["gains"][self.stage(at)], len(off)
        pulls = [inner(gains[i * n : (i + 1) * n], off) for i in range(len(forces))]
        made = [u + select(less(absolute(pull), HUGE), pull, 0.0) for u, pull in zip(forces, pulls, strict=True)]
        return within_bounds(self.problem, made)

    def stage(self, at: Scalar) -> Scalar:
        """The number of the stage that a time is in."""
        return minimum(floor(at + NEAR), self.last - 1.0)

    def state(self, at: Scalar) -> tuple[Flat, Flat]:
        """The state at a stage."""
        k = minimum(floor(at), self.last - 1.0)
        before, after = ([self.rows[name][j] for name in ("q", "qd")] for j in (k, k + 1.0))
        share = minimum(at - k, 1.0)
        there = self.stages.displaced(before, [share * x for x in self.stages.apart(before, after)])
        beyond = self.problem.step * maximum(at - self.last, 0.0)
        return self.stages.displaced(there, [*(beyond * x for x in there[1]), *(0.0 for _ in there[1])])

    def mean(self, name: str, at: Scalar) -> Flat:
        """What acts on average from a stage to one later."""
        k = minimum(floor(at), self.last - 1.0)
        share = minimum(at - k, 1.0)
        before, after = self.rows[name][k], self.rows[name][minimum(k + 1.0, self.last - 1.0)]
        return [a + share * (b - a) for a, b in zip(before, after, strict=True)]


def _by_forces(problem: Problem, multipliers: Flat) -> list[bool]:
    """For each multiplier of a stage, whether forces have a part in its constraint."""
    graph, sizes = Graph(), {"q": problem.robot.nq, "qd": problem.robot.nv, "u": problem.nu}
    q, qd, u = ([graph.input(name, k) for k in range(n)] for name, n in sizes.items())
    given = {name: [graph.input(name, k) for k in range(a.size)] for name, a in problem.given.items()}
    known = problem.known(graph.input("t", 0), q, qd, u, given)
    made = [acts for term in [*problem.equal, *problem.below] for acts in np.size(term(known)) * ["u" in term.takes]]
    return [*made, *[False] * (len(multipliers) - len(made))]


def _logs(graph: Graph, problem: Problem, layout: Layout) -> dict[str, Record]:
    return {name: Record(graph, f"new {name}", n) for name, n in widths(problem, layout).items()}


def _passed(problem: Problem, graph: Graph) -> Scalar:
    """How many stages have passed since the plan began."""
    now, begun = (graph.input("when", k) for k in range(len(WHEN)))
    return maximum((now - begun) * (1.0 / problem.step), 0.0)


def _measured(problem: Problem, graph: Graph) -> tuple[Flat, Flat]:
    nq, nv = problem.robot.nq, problem.robot.nv
    return [graph.input("measured q", k) for k in range(nq)], [graph.input("measured qd", k) for k in range(nv)]


def _measured_inputs(problem: Problem) -> list[Input]:
    return [Input("measured q", problem.robot.nq), Input("measured qd", problem.robot.nv)]


def _plan_inputs(problem: Problem, layout: Layout) -> list[Input]:
    """Return the inputs of a program about a plan: times, what is measured, its rows, and numbers that vary."""
    sizes = widths(problem, layout) | {"gains": problem.nu * 2 * problem.robot.nv}
    rows = [Input(name, n, stream=True) for name, n in sizes.items()]
    numbers = [one for one in layout.outside.inputs() if one.name == "parameters"]
    return [Input("when", len(WHEN)), *_measured_inputs(problem), *rows, *numbers]
