"""What forces cost from where problems begin: steps and costs in one kernel, for many forces at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends.kernel import ROWS, Kernel
from hinge.graph import Graph, Input, Program, Record, Scalar, less, maximum, order, repeat, select
from hinge.graph import Rows as Streams
from hinge.graph.collector import uncollected
from hinge.graph.scalars import largest
from hinge.optimal.iteration import GOES_ON, given_at
from hinge.optimal.problem import Problem
from hinge.optimal.stages import Flat, Point, Stages
from hinge.optimal.start import axes, flat, laid, outside
from hinge.sim import setup
from hinge.steps.inputs import Outside
from hinge.typing import Numbers

SAID = ("t", "weight")  # when a problem begins, and what constraints weigh
TOLD = ("cost", "merit", "violation", "status")


class Rolled(NamedTuple):
    """Where forces lead, q (…, horizon + 1, nq) and qd (…, horizon + 1, nv), and what that costs, (…)."""

    q: Array
    qd: Array
    cost: Any
    violation: Any
    status: Any


def rolled(problem: Problem, q: Numbers, qd: Numbers | None, u: Numbers, given: Mapping[str, Any] | None = None,
           parameters: Mapping[str, Any] | None = None, backend: str | None = None) -> Rolled:  # fmt: skip
    """Where forces u (…, horizon, nu) lead from q (…, nq) and qd (…, nv), and what that costs.

    >>> arm = hinge.samples.planar_2r()
    >>> problem = hinge.optimal.Problem(arm, 50, 0.02, running=[hinge.optimal.effort()], driven=["elbow"])
    >>> float(hinge.optimal.rolled(problem, [0.0, 0.0], None, np.ones((50, 1))).cost)
    25.0
    """
    forces = arguments.finite("u", u, (problem.horizon, problem.nu)).astype(float)
    varied = problem.parameters(parameters)
    shapes = axes(problem, given, varied, np.asarray(q).shape[:-1])
    at, speed, batch = setup.start(problem.robot, q, qd, forces.shape[:-2], *shapes)
    problem.physics_from(at, speed, setup.own_numbers(problem.robot, varied, batch))
    acts = outside(problem, given, varied, batch)
    kernel = rolled_kernel(problem, acts, True, backend)
    said = np.tile([0.0, 1.0], (len(at), 1))
    told, path, speeds = kernel(said, at, speed, laid(forces, batch), *flat(acts), rows=problem.horizon + 1)
    say = {name: told[:, k].reshape(batch)[()] for k, name in enumerate(TOLD)}
    path, speeds = (a.reshape((*batch, *a.shape[1:])) for a in (path, speeds))
    return Rolled(path, speeds, say["cost"], say["violation"], np.asarray(say["status"]).astype(int)[()])


def rolled_kernel(problem: Problem, acts: Outside, path: bool, backend: str | None) -> Kernel:
    """Steps and costs as a kernel, with the path or without; problems keep theirs."""
    robot = problem.robot
    takes = (Input("said", len(SAID)), Input("q", robot.nq), Input("qd", robot.nv),
             Input("u", problem.nu, stream=True), *acts.inputs())  # fmt: skip
    gives = [(len(TOLD),), *([(ROWS, robot.nq), (ROWS, robot.nv)] if path else [])]
    return problem.kernel(("rolled", path), takes, gives, partial(program, problem, acts, path, takes), backend)


@uncollected()
def program(problem: Problem, acts: Outside, path: bool, takes: tuple[Input, ...]) -> Program:
    """The program: it tells what forces cost, and writes the path."""
    graph, robot, N = Graph(), problem.robot, problem.horizon
    nq, nv = robot.nq, robot.nv
    start, weight = (graph.input("said", k) for k in range(len(SAID)))
    u = Streams(graph, "u", problem.nu)
    stages = Stages.of(problem, graph, acts, lambda k: given_at(problem, graph, acts, k))
    logs = [Record(graph, f"path {name}", n) for name, n in (("q", nq), ("qd", nv))] if path else []

    def charged(k: Scalar, at: Point, now: Flat) -> Flat:
        """What is told so far, with a stage more."""
        for log, x in zip(logs, (at.q, at.qd), strict=False):
            log[k] = x
        made = stages.charged(k, at, [0.0] * sum(map(len, stages.constrained(k, at))), weight)
        return [now[0] + made.cost, now[1] + made.merit, maximum(now[2], largest([0.0, *made.off])), now[3]]

    def step(k: Scalar, *now: Scalar) -> Flat:
        at = Point(start + k * problem.step, list(now[:nq]), list(now[nq : nq + nv]), u[k])
        told = charged(k, at, list(now[nq + nv :]))
        q, qd, status = stages.moved(at, at.qd)
        first = select(less(told[3], 0.5), status, told[3])
        worst = select(less(0.5, status), select(less(status, GOES_ON), status, first), told[3])
        return [*q, *qd, *told[:3], worst]

    begun = [graph.input(name, k) for name, n in (("q", nq), ("qd", nv)) for k in range(n)]
    *ends, cost, merit, violation, status = repeat(N, (*begun, 0.0, 0.0, 0.0, 0.0), step)
    last = Point(start + N * problem.step, list(ends[:nq]), list(ends[nq:]))
    told = charged(float(N), last, [cost, merit, violation, status])
    graph.let_go()
    return order(takes, [("told", (len(TOLD),), told), *logs])
