"""`mpc`: a controller that plans again from every state that is measured, beginning with the plan it has.

Every 1/rate seconds the plan is moved on to now (plan.py) and made better by some iterations of DDP, by the kernel of
`ddp`. In between, and where no better plan is found, forces are those of the plan, with its gains on what the state is
off.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends import alone, default_backend
from hinge.errors import NotCovered, SizeError
from hinge.optimal.ddp import LEAST, iteration_kernel
from hinge.optimal.iteration import SAID, TOLD, Layout, constraints
from hinge.optimal.mpc_c import c_code
from hinge.optimal.plan import VERDICT, WEIGHT, WHEN, kernels, widths
from hinge.optimal.problem import Problem
from hinge.optimal.solution import Solution
from hinge.optimal.start import outside, refuse_unknown
from hinge.status import OK
from hinge.typing import AnyArray, Numbers

FIRST = 100  # iterations for a first plan
EARLY = 1e-6  # of a period: what a call may come too early by


def mpc(
    problem: Problem, rate: float, iterations: int = 1, budget: float | None = None,
    given: Mapping[str, Any] | None = None
) -> Controller:  # fmt: skip
    """A controller `(t, q, qd)` → tau (nv) that solves a problem again `rate` times a second, from where the robot is.

    A call that comes 1/rate seconds after the last plan or later plans again, by at most `iterations` of DDP and for at
    most `budget` seconds, though by one at least; those between follow the plan with its gains. Costs see the time t.
    `given` are arrays by name for the problem, with a row for each of the horizon + 1 stages where they have one axis
    more; or functions of time, called with all stages' times (horizon + 1,) whenever it plans.
    The first call, and one whose time is before the last plan's, makes a plan from nothing, and takes its time.

    >>> arm = hinge.samples.planar_2r()
    >>> track = hinge.optimal.posture(arm, "target", weight=100.0)
    >>> costs = [track, hinge.optimal.effort(1e-4)]
    >>> problem = hinge.optimal.Problem(arm, 20, 0.02, costs, given={"target": np.zeros(2)})
    >>> control = hinge.optimal.mpc(problem, rate=100, given={"target": lambda t: np.stack([np.sin(t), 0.0 * t], -1)})
    >>> run = hinge.simulate(arm, 1.0, step=0.01, control=control)
    >>> abs(run.q[-1, 0] - np.sin(1.0)).round(3), hinge.Status(control.stats.status).name
    (np.float64(0.001), 'OK')
    """
    if not isinstance(problem, Problem):
        raise SizeError(f"mpc takes a problem first; a {type(problem).__name__} was given.")
    return Controller(
        problem,
        arguments.positive("rate", rate),
        arguments.count("iterations", iterations),
        None if budget is None else arguments.duration("budget", budget),
        given,
    )


@dataclass
class Stats:
    """How planning fared last: when (s), status (…), how many iterations, how long (s), and whether `budget` ended it.

    The status is OK where a better plan was found, or the plan was the best already. Where there is none, UNCONVERGED
    or, because some number was not one, NONFINITE, the last good plan is followed. `cost`, `gap` and `violation` (…)
    are those of `Solution` after the last iteration, `optimality` that before it.
    """

    t: float
    status: Any
    iterations: int
    seconds: float
    cut: bool
    cost: Any
    optimality: Any
    gap: Any
    violation: Any


class Controller:
    """A controller with its plan; made by `mpc`.

    Arrays of `given` may be written to at any time, in place. `stats` say how the last plan came about, and `slowest`
    how long the slowest took (s), but for those made from nothing.
    """

    sample = 1  # it remembers, so it runs in Python, every step

    def __init__(self, problem: Problem, rate: float, iterations: int, budget: float | None,
                 given: Mapping[str, Any] | None):  # fmt: skip
        self.problem, self.rate, self.iterations, self.budget = problem, rate, iterations, budget
        self._times: Array = problem.step * np.arange(problem.horizon + 1.0)
        self._moving = {name: x for name, x in (given or {}).items() if callable(x)}
        shown = _given(problem, given or {}, self._times)
        held = outside(problem, shown, problem.parameters(None), ())
        self.given = {name: held.arrays[name].reshape(a.shape) for name, a in shown.items()}
        self._layout = Layout(constraints(problem), held)
        self._clock = time.perf_counter
        self._planned: float | None = None
        self._stats: Stats | None = None
        self.slowest = 0.0
        self._begin(())

    def __repr__(self) -> str:
        return f"<Controller by {self.problem!r}, {self.rate:g} times a second>"

    def __call__(self, t: float, q: Numbers, qd: Numbers) -> Array:
        """Joint forces (…, nv) at a time for states (…, nq) and (…, nv), each with a plan of its own."""
        robot = self.problem.robot
        q, qd = arguments.real("q", q, (robot.nq,)), arguments.real("qd", qd, (robot.nv,))
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
        if batch != self._batch:
            self._begin(batch)
        self._tick(t, q.astype(float), qd.astype(float))
        return self._plans.tau.reshape(*batch, robot.nv).copy()

    def bind(self, t: Array, q: Array, qd: Array, tau: Array) -> Callable[[], None]:
        """A call without arguments, for control loops: reads the arrays t (), q (nq) and qd (nv), and writes tau (nv).

        >>> arm = hinge.samples.planar_2r()
        >>> problem = hinge.optimal.Problem(arm, 10, 0.02, [hinge.optimal.posture(arm, [0.1, 0.0])])
        >>> t, q, qd, tau = np.zeros(()), np.zeros(2), np.zeros(2), np.empty(2)
        >>> step = hinge.optimal.mpc(problem, rate=50).bind(t, q, qd, tau)
        >>> step()
        """
        robot = self.problem.robot
        wanted = {"t": (t, ()), "q": (q, (robot.nq,)), "qd": (qd, (robot.nv,)), "tau": (tau, (robot.nv,))}
        for name, (array, shape) in wanted.items():
            if type(array) is not np.ndarray or array.shape != shape or array.dtype != np.float64:
                raise SizeError(f"mpc: bind needs {name} as an array of float64 of shape {shape}.")
        if self._batch:
            self._begin(())
        plans, tick = self._plans, self._tick

        def step() -> None:
            tick(t, q, qd)
            tau[...] = plans.tau[0]

        return step

    def status(self, t: Any = None, q: Any = None, qd: Any = None) -> Any:
        """The status (…) of the last plan: OK, or why the one before it is followed."""
        return OK if self._stats is None else self._stats.status

    def c_code(self, scalar: str = "double") -> str:
        """C functions ROBOT_mpc_plan, which plans again, and ROBOT_mpc_force, which asks the plan, with all they need.

        >>> arm = hinge.samples.planar_2r()
        >>> control = hinge.optimal.mpc(hinge.optimal.Problem(arm, 10, 0.02, [hinge.optimal.speed()]), rate=50)
        >>> "int planar_2r_mpc_plan(planar_2r_plan *plan, double t" in control.c_code()
        True
        """
        return c_code(self.problem, self._layout, scalar)

    @property
    def stats(self) -> Stats:
        """How the last plan came about."""
        if self._stats is None:
            raise NotCovered("mpc: there is no plan before the first call.")
        return self._stats

    @property
    def plan(self) -> Solution:
        """What is planned from t0 on; cost and the like are as they were told of it last.

        >>> arm = hinge.samples.planar_2r()
        >>> control = hinge.optimal.mpc(hinge.optimal.Problem(arm, 10, 0.02, [hinge.optimal.speed()]), rate=50)
        >>> control(0.0, np.zeros(2), np.zeros(2)).shape, control.plan.q.shape
        ((2,), (11, 2))
        """
        stats, plans, nx = self.stats, self._plans, 2 * self.problem.robot.nv
        path = {name: self._shaped(plans.plan[name]).copy() for name in ("q", "qd", "u")}
        gains = self._shaped(plans.gains.reshape(*plans.gains.shape[:2], -1, nx)).copy()
        told = {name: getattr(stats, name) for name in ("cost", "optimality", "gap", "violation", "status")}
        return Solution(self.problem, **path, **told, gains=gains, t0=self._shaped(plans.when[:, 1]).copy())

    def _begin(self, batch: tuple[int, ...]) -> None:
        """Have room for plans of so many states, and none yet."""
        self._batch, self._planned = batch, None
        self._plans = Plans(self.problem, self._layout, int(np.prod(batch)))

    def _tick(self, t: Any, q: AnyArray, qd: AnyArray) -> None:
        """Plan where it is time to, and answer to the state that is measured."""
        plans, t = self._plans, float(t)
        if not math.isfinite(t):
            raise SizeError(f"mpc: t is {t}. Give a time in seconds.")
        plans.q[...], plans.qd[...], plans.when[:, 0] = q.reshape(plans.q.shape), qd.reshape(plans.qd.shape), t
        first = self._planned is None or t < self._planned
        if first or t - self._planned >= (1.0 - EARLY) / self.rate:
            self._plan(t, first)
        plans.answer()

    def _plan(self, t: float, first: bool) -> None:
        plans, began, most = self._plans, self._clock(), FIRST if first else self.iterations
        if first:
            arguments.finite("q", plans.q), arguments.finite("qd", plans.qd)
        for name, function in self._moving.items():
            self.given[name][...] = function(t + self._times)
        plans.begin(t, first)
        before, longest, cut, count = self._clock(), 0.0, False, 0
        while count < most and not cut:
            plans.improve()
            count, now = count + 1, self._clock()
            longest, before = max(longest, now - before), now
            if plans.done:
                break
            cut = self.budget is not None and not first and count < most and now - began + longest > self.budget
        plans.keep(t, first)
        self._planned, seconds = t, self._clock() - began
        self.slowest = self.slowest if first else max(self.slowest, seconds)
        told = {name: self._shaped(a) for name, a in plans.figures().items()}
        self._stats = Stats(t, self._shaped(plans.status.copy()), count, seconds, cut, **told)

    def _shaped(self, a: Array) -> Any:
        made = a.reshape((*self._batch, *a.shape[1:]))
        return made if made.ndim else made[()]


class Plans:
    """The plans of n states, and the calls that make them: arrays have a row for each.

    `plan` is the last good one, `now` that one moved on, on the way to a better one, and `new` what an iteration made.
    """

    def __init__(self, problem: Problem, layout: Layout, n: int):
        robot, N, name = problem.robot, problem.horizon, default_backend()
        backend = alone(name) if n == 1 else name
        rows = {name: (n, N + (name != "u"), width) for name, width in widths(problem, layout).items()}
        self.when, self.q, self.qd = np.zeros((n, len(WHEN))), np.zeros((n, robot.nq)), np.zeros((n, robot.nv))
        self.said = np.tile([0.0, LEAST, WEIGHT], (n, 1))
        self.plan, self.now, self.new = ({name: np.zeros(size) for name, size in rows.items()} for _ in range(3))
        self.gains, self.new_gains, self.now_gains = (np.zeros((n, N, problem.nu * 2 * robot.nv)) for _ in range(3))
        self.told, self.verdict, self.tau = (
            np.zeros((n, len(TOLD))),
            np.zeros((n, len(VERDICT))),
            np.zeros((n, robot.nv)),
        )
        self.good, self.status = np.zeros(n, bool), np.zeros(n, int)
        made = kernels(problem, layout, backend)
        measured, now, new = (self.q, self.qd), self.now.values(), list(self.new.values())
        numbers = [a for name, a in layout.outside.arrays.items() if name == "parameters"]
        path = [*self.plan.values(), self.gains, *numbers]
        iteration = iteration_kernel(problem, layout, False, backend)
        self._stand = made["standing"].bind(*measured, *now)
        self._shift = made["shifted"].bind(self.when, *measured, *path, *now)
        self._iterate = iteration.bind(
            self.said, *now, *layout.outside.arrays.values(), self.told, *new[:3], self.new_gains, *new[3:]
        )
        self._judge = made["judged"].bind(self.told, self.said, self.verdict)
        self.answer = made["answered"].bind(self.when, *measured, *path, self.tau)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do for any."""
        return bool((self.verdict[:, VERDICT.index("done")] > 0.0).all())

    def figures(self) -> dict[str, Array]:
        """What is told of the paths that are left now, and the optimality of those before."""
        say = {name: self.told[:, k] for k, name in enumerate(TOLD)}
        taken = self.verdict[:, VERDICT.index("taken")] > 0.0
        left = {name: np.where(taken, say[f"new {name}"], say[name]) for name in ("cost", "gap", "violation")}
        return left | {"optimality": say["optimality"].copy()}

    def begin(self, t: float, first: bool) -> None:
        """Begin from the plan there is, moved on to now, or from a robot at rest."""
        if first:
            self.said[:] = 0.0, LEAST, WEIGHT
        self.said[:, SAID.index("t")] = t
        (self._stand if first else self._shift)()
        self.good[:] = False

    def improve(self) -> None:
        """An iteration, taken where it is worth it."""
        self._iterate()
        self._judge()
        say = {name: self.verdict[:, k] for k, name in enumerate(VERDICT)}
        taken, priced, good = (say[name][:, None, None] > 0.0 for name in ("taken", "priced", "good"))
        for name, path in self.now.items():
            np.copyto(path, self.new[name], where=priced if name == "multipliers" else taken)
        np.copyto(self.now_gains, self.new_gains, where=good)
        self.said[:, SAID.index("extra")] = say["extra"]
        self.good |= good[:, 0, 0]
        self.status[:] = np.where(self.good, OK, say["status"])

    def keep(self, t: float, first: bool) -> None:
        """Take what is good now, or all that there is, for the plan."""
        kept = self.good | first
        for name, path in self.plan.items():
            np.copyto(path, self.now[name], where=kept[:, None, None])
        np.copyto(self.gains, self.now_gains, where=self.good[:, None, None])
        self.when[kept, WHEN.index("t0")] = t


def _given(problem: Problem, given: Mapping[str, Any], times: AnyArray) -> dict[str, Array]:
    """The arrays that costs take, by name, as the problem has them or with a row for each stage."""
    refuse_unknown(problem, given)
    made = {}
    for name, usual in problem.given.items():
        shape, rows = usual.shape, (len(times), *usual.shape)
        value = given.get(name, usual)
        array = arguments.finite(f"given[{name!r}]", value(times) if callable(value) else value).astype(float)
        if array.shape not in (shape, rows):
            said = " for the times of all stages" if callable(value) else ""
            raise SizeError(f"given[{name!r}] has shape {array.shape}{said}; give {shape}, or {rows}, a row a stage.")
        made[name] = np.broadcast_to(array, rows).copy() if callable(value) else array.copy()
    return made
