"""What is done to a plan from one control period to the next besides iterations of DDP, as programs over scalars.

A plan is a path (q, qd, u) that begins at t0, with gains. `standing` is a first one, `shifted` moves it on to the time and
the state that are measured, `judged` says what an iteration was worth, and `answered` is the force a plan asks for:

    u = u_j + K_j (x - x(t))        t in stage j of the plan

Between two stages the state is on the way that `integrate` takes from one to the other, and the force of a stage that
begins there is the mean of the plan's over it. After its end a plan goes on with the last force, at the last velocity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from hinge.backends.kernel import ROWS, Kernel, Plan
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
from hinge.optimal.iteration import HUGE, SAID, TOLD
from hinge.optimal.problem import Problem
from hinge.optimal.stages import Flat, Stages
from hinge.status import NONFINITE, OK, UNCONVERGED

WHEN = ("t", "t0")  # now, and when the plan begins
VERDICT = ("taken", "priced", "good", "settled", "status", "extra")
NEAR = 1e-9  # of a stage: times so near its beginning are in it
SETTLED = 1e-6  # slopes beside the cost, and gaps, with which there is nothing left to do


def widths(problem: Problem, constraints: int) -> dict[str, int]:
    """How many numbers a row of a path has, by name."""
    made = {"q": problem.robot.nq, "qd": problem.robot.nv, "u": problem.nu, "multipliers": constraints}
    return {name: width for name, width in made.items() if width}


def programs(problem: Problem, constraints: int) -> dict[str, Callable[[], Program]]:
    """What makes the programs of this file, by name."""
    return {
        "standing": partial(standing, problem, constraints),
        "shifted": partial(shifted, problem, constraints),
        "judged": judged,
        "answered": partial(answered, problem),
    }


def kernels(problem: Problem, constraints: int, backend: str) -> dict[str, Kernel]:
    """The programs of this file as kernels, by name; problems keep theirs."""

    def compiled(name: str, make: Callable[[], Program]) -> Kernel:
        program = make()
        takes = program.inputs
        return Kernel(
            Plan(
                problem.robot.name, name, takes,
                tuple((ROWS, one.size) if one.stream else (one.size,) for one in takes),
                tuple(one.name for one in takes),
                tuple((ROWS, *one.shape) if one.stream else one.shape for one in program.outputs),
                lambda: program, lambda: ("program", repr(program)),
            ),
            backend,
        )  # fmt: skip

    return {
        name: problem.kernels((name, constraints, backend), partial(compiled, name, make))
        for name, make in programs(problem, constraints).items()
    }


def standing(problem: Problem, constraints: int) -> Program:
    """A robot that stands where it is from now on, with the forces that carry the weight of its driven joints."""
    graph = Graph()
    q, qd = _measured(problem, graph)
    weight = np.asarray(problem.robot.gravity_force(symbols(q)), dtype=object).reshape(-1)
    bounds = (side.tolist() for side in problem.bounds)
    u = [maximum(minimum(weight[k], b), a) for k, a, b in zip(problem.drives, *bounds, strict=True)]
    logs = _logs(graph, problem, constraints)
    still = {"q": q, "qd": [0.0] * len(qd), "u": u, "multipliers": [0.0] * constraints}

    def stand(k: Scalar) -> tuple[()]:
        for name, log in logs.items():
            log[k] = still[name]
        return ()

    traced(graph, problem.horizon + 1, 0, (), stand, None)
    logs["qd"][0.0] = qd
    return order(_measured_inputs(problem), list(logs.values()))


def shifted(problem: Problem, constraints: int) -> Program:
    """A plan moved on to now, where it begins with the state that is measured."""
    graph, N = Graph(), problem.horizon
    q, qd = _measured(problem, graph)
    logs, path = _logs(graph, problem, constraints), _Path(problem, graph, constraints)
    passed = _passed(problem, graph)

    def states(k: Scalar) -> tuple[()]:
        logs["q"][k + 1.0], logs["qd"][k + 1.0] = path.state(k + 1.0 + passed)
        return ()

    def forces(k: Scalar) -> tuple[()]:
        for name in ("u", "multipliers"):
            if name in logs:
                logs[name][k] = path.mean(name, k + passed)
        return ()

    traced(graph, N, 0, (), states, None)
    traced(graph, N, 0, (), forces, None)
    logs["q"][0.0], logs["qd"][0.0] = q, qd
    if constraints:
        logs["multipliers"][float(N)] = path.rows["multipliers"][float(N)]
    return order([_when(), *_measured_inputs(problem), *path.inputs], list(logs.values()))


def answered(problem: Problem) -> Program:
    """The joint forces that a plan asks for now, in the state that is measured: within bounds, and always numbers."""
    graph, nx, N = Graph(), 2 * problem.robot.nv, problem.horizon
    path = _Path(problem, graph, 0)
    at = minimum(_passed(problem, graph), float(N))
    stage = minimum(floor(at + NEAR), float(N - 1))
    off = path.stages.apart(path.state(at), _measured(problem, graph))
    flat = Streams(graph, "gains", problem.nu * nx)[stage]
    tau: Flat = [0.0] * problem.robot.nv
    bounds = (side.tolist() for side in problem.bounds)
    for i, (k, low, high, u) in enumerate(zip(problem.drives, *bounds, path.rows["u"][stage], strict=True)):
        pull = inner(flat[i * nx : (i + 1) * nx], off)
        tau[k] = maximum(minimum(u + select(less(absolute(pull), HUGE), pull, 0.0), high), low)
    inputs = [_when(), *_measured_inputs(problem), *path.inputs, Input("gains", problem.nu * nx, stream=True)]
    return order(inputs, [("tau", (problem.robot.nv,), tau)])


def judged() -> Program:
    """What an iteration was worth: whether its path is taken, and its multipliers; whether the path is good that is left
    then, and there is nothing left to do; how that fared; and what the next one adds to Q_uu."""
    graph = Graph()
    say = {name: graph.input("told", k) for k, name in enumerate(TOLD)}
    extra = graph.input("said", SAID.index("extra"))
    known = less(absolute(say["merit"]), HUGE)
    taken = both(less(0.0, say["alpha"]), less(absolute(say["new merit"]), HUGE))
    scale = 1.0 + absolute(say["cost"])
    settled = both(less(say["optimality"], SETTLED * scale), less(say["gap"], SETTLED))
    priced = both(taken, less(say["optimality"], LOOSE * scale))
    good = either(taken, settled)
    status = select(good, float(OK), select(known, float(UNCONVERGED), float(NONFINITE)))
    lighter, heavier = maximum(FALLS * extra, LEAST), minimum(maximum(GROWS * extra, SECOND), MOST)
    easily, hardly = less(EASY, say["alpha"]), less(say["alpha"], HARD)
    following = select(known, select(settled, extra, select(easily, lighter, select(hardly, heavier, extra))), extra)
    verdict = [taken, priced, good, settled, status, following]
    return order([Input("told", len(TOLD)), Input("said", len(SAID))], [("verdict", (len(VERDICT),), verdict)])


class _Path:
    """The rows of a plan in a program, read at any stage, also between two."""

    def __init__(self, problem: Problem, graph: Graph, constraints: int):
        self.problem, self.last = problem, float(problem.horizon)
        self.stages = Stages(problem, graph, problem.robot.target.traced, lambda k: {})
        self.rows = {name: Streams(graph, name, n) for name, n in widths(problem, constraints).items()}
        self.inputs = [Input(name, n, stream=True) for name, n in widths(problem, constraints).items()]

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


def _logs(graph: Graph, problem: Problem, constraints: int) -> dict[str, Record]:
    return {name: Record(graph, f"new {name}", n) for name, n in widths(problem, constraints).items()}


def _passed(problem: Problem, graph: Graph) -> Scalar:
    """How many stages have passed since the plan began."""
    now, begun = (graph.input("when", k) for k in range(len(WHEN)))
    return maximum((now - begun) * (1.0 / problem.step), 0.0)


def _when() -> Input:
    return Input("when", len(WHEN))


def _measured(problem: Problem, graph: Graph) -> tuple[Flat, Flat]:
    nq, nv = problem.robot.nq, problem.robot.nv
    return [graph.input("measured q", k) for k in range(nq)], [graph.input("measured qd", k) for k in range(nv)]


def _measured_inputs(problem: Problem) -> list[Input]:
    return [Input("measured q", problem.robot.nq), Input("measured qd", problem.robot.nv)]
