"""`ddp`: paths that cost least, by differential dynamic programming, one problem or many at once.

The iteration is one kernel (iteration.py). It is called again and again: what did not get better is tried with
more weight on small steps, constraints get their multipliers, and problems that are solved leave the batch.
Source: nocedal2006, section 17.4 for multipliers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends import alone, backend_name
from hinge.backends.kernel import ROWS, Kernel
from hinge.backends.places import place_of_backend
from hinge.errors import one_of
from hinge.optimal.iteration import SAID, TOLD, Layout, constraints, program
from hinge.optimal.problem import Problem
from hinge.optimal.solution import Solution
from hinge.optimal.start import Start, flat, start
from hinge.status import DIVERGED, NONFINITE, OK, UNCONVERGED
from hinge.typing import Flags, Numbers, Whole

Hessians = Literal["gauss_newton", "exact"]
LEAST, SECOND, MOST = 1e-9, 1e-5, 1e10  # what is added to Q_uu: at first, after a first failure, at the most
GROWS, FALLS = 4.0, 0.5
EASY, HARD = 0.5, 0.05  # shares of a step: with one that long less is added, with a shorter one more
WEIGHT, HEAVIER, HEAVIEST, BETTER = 10.0, 10.0, 1e8, 0.25  # of constraints; the part left with which they weigh no more
LOOSE = 1e-2  # optimality with which multipliers may change
BENT = 1e-9  # of 1 + |cost|: less than this below zero is no negative curvature
KICK, KICKS = 1e-3, 5  # of the bounds of forces, or of their size: how far a path leaves a maximum; how often


def ddp(problem: Problem, q: Numbers, qd: Numbers | None = None, u: Numbers | None = None,
        path: tuple[Numbers, Numbers] | None = None, iterations: int = 100, tolerance: float = 1e-6,
        hessians: Hessians = "gauss_newton", given: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None, backend: str | None = None) -> Solution:  # fmt: skip
    """The motion from q (…, nq) and qd (…, nv) that costs least near a first guess, and the forces that make it.

    `u` (…, horizon, nu) are the forces to begin with, those against gravity unless given; `path`, (…, horizon + 1, nq)
    and (…, horizon + 1, nv), the states, which need not follow from the forces: by default they do. `given` are arrays
    by name, one for all problems, one for each, or with a row for each of the horizon + 1 stages; `parameters` those of
    a varied robot. With "exact" Hessians those of the dynamics and of residuals count.
    A problem is solved, and its status OK, where the slope of the cost by the forces, within bounds, is at most
    tolerance × (1 + |cost|), with the cost of the first guess where that is smaller; where gaps and violations of
    constraints are at most the tolerance, every step went well, and the cost has no negative curvature by the forces.
    From a maximum or a saddle the search goes on with other forces nearby, and the status is UNCONVERGED where none of
    them leads to a minimum.

    >>> arm = hinge.samples.planar_2r()
    >>> reach = lambda q: 30.0 * (arm.pose(q, "hand")[[0, 2], 3] - np.array([0.5, 1.0]))
    >>> problem = hinge.optimal.Problem(arm, 50, 0.02, running=[lambda u: 0.01 * u], final=[reach, lambda qd: qd])
    >>> solution = hinge.optimal.ddp(problem, [0.1, 0.2])
    >>> hinge.Status(solution.status).name, arm.pose(solution.q[-1], "hand")[[0, 2], 3].round(2)
    ('OK', array([0.5, 1. ]))
    """
    one_of("hessians", hessians, get_args(Hessians))
    tolerance, iterations = arguments.positive("tolerance", tolerance), arguments.count("iterations", iterations, 0)
    begun = start(problem, q, qd, u, path, given, parameters)
    search = Search(problem, begun, hessians == "exact", backend)
    search.run(iterations, tolerance)
    return search.solution()


def iteration_kernel(problem: Problem, layout: Layout, exact: bool, backend: str | None) -> Kernel:
    """An iteration as a kernel; problems keep theirs."""
    trace = partial(program, problem, layout, exact)
    return problem.kernel(("ddp", exact), layout.inputs(problem), layout.outputs(problem), trace, backend)


class Search:
    """Problems on their way: paths, what is told of them, and a kernel that makes better ones.

    `rows` are the problems that still go on; those that are done have left the kernel's arrays.
    """

    def __init__(self, problem: Problem, begun: Start, exact: bool, backend: str | None):
        self.problem, self.batch = problem, begun.batch
        self.layout = Layout(constraints(problem), begun.outside)
        backend = backend_name(backend)
        backend = alone(backend) if len(begun.q) == 1 else backend
        self.kernel, self.place = iteration_kernel(problem, self.layout, exact, backend), place_of_backend(backend)
        n, N, nx = len(begun.q), problem.horizon, 2 * problem.robot.nv
        self.path = {"q": begun.q, "qd": begun.qd, "u": np.ascontiguousarray(begun.u)}
        if self.layout.constraints:
            self.path["multipliers"] = np.zeros((n, N + 1, self.layout.constraints))
        self.gains = np.zeros((n, N, problem.nu, nx))
        self.said = np.tile([0.0, LEAST, WEIGHT], (n, 1))
        self.told = np.full((n, len(TOLD)), np.nan)
        self.status = np.full(n, UNCONVERGED)
        self.falls = np.ones(n)  # what was added falls by this share, ever faster while steps are easy
        self.violation = np.full(n, np.inf)  # when multipliers changed last
        self.first = np.full(n, np.inf)  # the size of the cost of the first path
        self.kicks = np.zeros(n, int)  # how often a path has been moved from a maximum
        self.history: list[Array] = []
        self._take(np.arange(n))

    def run(self, iterations: int, tolerance: float) -> None:
        """Iterate, at the most so often; a last time only to see how things stand."""
        for k in range(iterations + 1):
            if not len(self.rows):
                return
            self.call()
            self._kept(tolerance, last=k == iterations)

    def _take(self, rows: Whole) -> None:
        """Go on with these problems alone."""
        problem, outside = self.problem, self.layout.outside
        self.rows = rows
        self.now = {name: np.ascontiguousarray(a[rows]) for name, a in self.path.items()}
        self.asked = np.ascontiguousarray(self.said[rows])
        given = [
            a if name in outside.shared else np.ascontiguousarray(a[rows])
            for name, a in zip(outside.arrays, flat(outside), strict=True)
        ]
        sizes = [[len(rows), *(self._rows(k) if s == ROWS else s for s in shape)]
                 for k, shape in enumerate(self.layout.outputs(problem))]  # fmt: skip
        self.made = [np.full(size, np.nan) for size in sizes]
        self.call = self.place.bind(self.kernel, [self.asked, *self.now.values(), *given], self.made)

    def _rows(self, output: int) -> int:
        return self.problem.horizon + int(output not in (3, 4))

    def _kept(self, tolerance: float, last: bool) -> None:
        """What an iteration found, taken or not; problems that are done leave."""
        told, q, qd, u, gains, *multiplied = self.made
        say = {name: told[:, k] for k, name in enumerate(TOLD)}
        rows, extra, weight = self.rows, self.asked[:, SAID.index("extra")], self.asked[:, SAID.index("weight")]
        self.history.append(np.column_stack([rows, told, extra]))
        self.told[rows] = told
        self.gains[rows] = gains.reshape(len(rows), *self.gains.shape[1:])
        wrong = ~np.isfinite(say["merit"] + say["optimality"])
        self.first[rows] = np.where(np.isinf(self.first[rows]), np.abs(say["cost"]), self.first[rows])
        size = 1.0 + np.minimum(np.abs(say["cost"]), self.first[rows])  # a cost without a least one grows and grows
        settled = (say["optimality"] <= tolerance * size) & (say["gap"] <= tolerance)
        good = settled & (say["violation"] <= tolerance) & (say["status"] == OK) & ~wrong
        known = extra <= 1.0  # more hides the curvature of the cost, or that a force is held at a bound
        bent = say["pivot"] < (1.0 - 1e-6) * extra - BENT * (1.0 + np.abs(say["cost"]))
        solved = good & known & ~bent
        lost = good & known & bent & (self.kicks[rows] >= KICKS)
        taken = (say["alpha"] > 0.0) & ~good & (not last)
        for name, new in zip(self.now, (q, qd, u), strict=False):
            self.now[name][taken] = new[taken]
            self.path[name][rows[taken]] = new[taken]
        easily, hardly = taken & (say["alpha"] >= EASY), taken & (say["alpha"] < HARD)
        self.falls[rows] = falls = np.where(easily, FALLS * self.falls[rows], 1.0)
        lighter, heavier = falls * extra, np.maximum(GROWS * extra, SECOND)
        lighter[lighter < SECOND] = LEAST
        extra[...] = np.select([good, easily, taken & ~hardly], [LEAST, lighter, extra], heavier)
        if not last:
            self._kick(good & known & bent & ~lost)
        stuck = ~taken & (extra > MOST) & ~good
        if multiplied:
            stuck &= ~self._priced(tolerance, say, taken, stuck, multiplied[0], weight)
        self.said[rows] = self.asked
        self.status[rows[solved]] = OK
        self.status[rows[wrong]] = NONFINITE
        self.status[rows[stuck & ~np.isfinite(say["new merit"])]] = DIVERGED
        ended = solved | wrong | stuck | lost
        if ended.any() and not last:
            self._take(rows[~ended])

    def _kick(self, saddles: Flags) -> None:
        """Move the forces of paths whose cost is at a maximum along some force, in a direction of chance."""
        low, high = self.problem.bounds
        for k in np.flatnonzero(saddles):
            u, row = self.now["u"][k], self.rows[k]
            size = np.where(np.isfinite(high - low), 0.5 * (high - low), 1.0 + np.abs(u).max(initial=0.0))
            chance = np.random.default_rng(int(self.kicks[row])).normal(size=u.shape)
            u[...] = np.clip(u + KICK * size * chance, low, high)
            self.path["u"][row] = u
            self.kicks[row] += 1

    def _priced(self, tolerance: float, say: Mapping[str, Array], taken: Flags, stuck: Flags, new: Array,
                weight: Array) -> Flags:  # fmt: skip
        """Give constraints new multipliers where paths are good but for them; which problems that were."""
        rows = self.rows
        ready = say["optimality"] <= max(LOOSE, tolerance) * (1.0 + np.abs(say["cost"]))
        left = np.where(taken, say["new violation"], say["violation"])
        due = (taken & ready | stuck) & (left > tolerance) & np.isfinite(new).all((-1, -2)) & (weight < HEAVIEST)
        heavier = due & (left > BETTER * self.violation[rows])
        self.now["multipliers"][due] = new[due]
        self.path["multipliers"][rows[due]] = new[due]
        weight[heavier] *= HEAVIER
        self.asked[due & stuck, SAID.index("extra")] = LEAST
        self.violation[rows[due]] = left[due]
        return due

    def solution(self) -> Solution:
        """What was found."""
        say = {name: self.told[:, k] for k, name in enumerate(TOLD)}
        shown = {name: self._shaped(a) for name, a in self.path.items() if name != "multipliers"}
        told = {name: self._shaped(say[name]) for name in ("cost", "optimality", "gap", "violation")}
        return Solution(
            self.problem, **shown, **told, gains=self._shaped(self.gains), status=self._shaped(self.status),
            history=self.history, told=(*TOLD, "added"),
        )  # fmt: skip

    def _shaped(self, a: Array) -> Any:
        made = a.reshape((*self.batch, *a.shape[1:]))
        return made if made.ndim else made[()]
