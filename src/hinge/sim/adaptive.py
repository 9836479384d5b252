"""Methods with steps of their own choice, for every rollout by itself.

The error of a step is the difference of its two results, of higher and lower order, against atol + rtol |y|; the next
step is chosen from it (Hairer, Nørsett and Wanner, II.4). Recorded states lie on an even grid in time and come from the
polynomial through each step, and so do the places where event functions change sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.backends.kernel import Kernel
from hinge.calls.controllers import Untraceable, on_numbers
from hinge.contact.joint_impulses import joint_bounds
from hinge.errors import SizeError
from hinge.graph import Graph, Input, Program, Scalar, absolute, less, maximum, minimum, order, select, sqrt, total
from hinge.graph.collector import uncollected
from hinge.graph.scalars import power
from hinge.integrators import METHODS, Tableau
from hinge.integrators.steps import Made
from hinge.sim import setup
from hinge.sim.events import changes_at, crossed, value
from hinge.sim.record import Memory
from hinge.sim.recording import Event
from hinge.sim.rollouts import step_kernel
from hinge.status import DIVERGED, SINGULAR
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, Step
from hinge.typing import Flags, Whole

MAX_STEPS = 10_000_000
TIMES = ("t", "h", "until", "rtol", "atol", "longest")


def adaptive(run: Any, t0: float, duration: float, control: Any, inputs: Sequence[Any], spacing: float, longest: float,
             widths: dict[str, int], events: Sequence[Callable[..., Any]], rtol: float, atol: float,
             backend: str | None) -> Any:  # fmt: skip
    """Run to the end; states are recorded every `spacing` seconds and at the end, or there alone if it is zero.

    Where friction or stops strike, which no polynomial shows, steps are `longest` at most.
    """
    if not (rtol > 0.0 and atol > 0.0):
        raise SizeError(f"rtol={rtol!r} and atol={atol!r} have to be positive.")
    _force(run, control, inputs)
    end = t0 + duration
    kernel = _kernel(run.robot, run.physics, run.outside, backend)
    grid = np.array([end])
    if spacing:
        grid = np.append(t0 + np.arange(0.0, duration - 1e-9 * spacing, spacing), end)
    memory = Memory(len(grid), run.batch, widths)
    memory.fill(grid)
    run.info |= {"rtol": rtol, "atol": atol}
    state = _Adaptive(
        run, kernel, grid, memory, events, (t0, end), (rtol, atol, longest if strikes(run.physics) else np.inf)
    )
    try:
        state.go()
    except KeyboardInterrupt:
        run.stopped = f"interrupted at t = {state.t.min():g} s"
        if not spacing and not state.filled:
            state.end_here()
    if run.stopped or events:  # nothing is known beyond
        memory.count = state.filled
    memory.events = sorted(state.events, key=lambda event: (event.t, event.rollout, event.which))
    return run.kept(memory)


def _force(run: Any, control: Any, inputs: Sequence[Any]) -> None:
    if control is None:
        return
    if not callable(control):
        setup.pushed_by(run.outside, run.robot, control, run.batch, None)
        return
    try:
        setup.driven_by(run.outside, run.robot, control, inputs, run.batch)
    except Untraceable as why:
        raise SizeError(
            f"{run.physics.method} needs a controller that can be traced, and this one cannot: "
            f"{str(why).rstrip('.')}.\n  Use method='rk4', which runs it in Python once a step."
        ) from None


def _kernel(robot: Any, physics: Physics, outside: Outside, backend: str | None) -> Kernel:
    """A kernel from q, qd and times to the same at the end of a step, which is taken only if its error is small enough.

    It gives q, qd, t and h, the joint forces at the start, what the polynomial through the step needs (rates at both
    ends, and its last term, each for q and for qd), a pivot, and what the controller says of itself at the start.
    """
    nq, nv = robot.nq, robot.nv
    takes = (Input("q", nq), Input("qd", nv), *(Input(name, 1, False, ()) for name in TIMES))
    outputs = [(nq,), (nv,), (), (), (nv,), *[(nq,), (nv,)] * 3, (), ()]
    inputs = *takes, *outside.inputs()
    return step_kernel(robot, physics, outside, ("adaptive", None), takes, outputs,
                       lambda: _program(robot.target, physics, outside, inputs), backend)  # fmt: skip


@uncollected()
def _program(target: Any, physics: Physics, outside: Outside, takes: Sequence[Input]) -> Program:
    graph, tableau = Graph(), METHODS[physics.method].tableau
    assert tableau is not None
    step = Step.of(graph, target, physics, outside)
    model, physics = step.model, step.physics
    nq, nv = model.nq, model.nv
    before, v = ([graph.input(name, k) for k in range(n)] for name, n in (("q", nq), ("qd", nv)))
    t, h, until, rtol, atol, longest = (graph.input(name, 0) for name in TIMES)
    length = minimum(minimum(h, longest), until - t)
    acts = step.acts(0.0)
    first = step.commanded(acts, t, before, v)
    moved = step.advance(acts, t, length, model.joint_positions(before), v)
    made, after = moved.met.made, model.flat(moved.q)
    assert made is not None
    error, *bends = _mixed(tableau, made)
    size = _error((rtol, atol), length, (before, v), (model.flat(made.q), made.v), error)
    size = select(less(0.0, made.pivot), size, np.nan)  # equations that cannot be solved: the step is too long
    taken = less(size, 1.0)
    # the error of a fourth-order result goes with the fifth power; its fourth root is a little bolder
    factor = maximum(minimum(0.9 / _root(maximum(size, 1e-8), tableau.order - 1), 5.0), 0.2)
    following = select(less(size, 1e300), factor, 0.1) * length
    # a step that was cut at the end says nothing against the length it would have had
    following = select(less(length, h), select(taken, maximum(following, h), following), following)
    now = select(taken, select(less(minimum(h, longest), until - t), t + length, until), t)
    kept = [[select(taken, a, b) for a, b in zip(*pair, strict=True)] for pair in ((after, before), (moved.v, v))]
    ends = [("q", (nq,), kept[0]), ("qd", (nv,), kept[1]), ("t", (), [now]), ("h", (), [following])]
    names = [(f"{name}_{of}", n) for name in ("start", "end", "bend") for of, n in (("q", nq), ("v", nv))]
    if strikes(physics):
        leans = [
            minimum(before[one.q] - one.lower, one.upper - before[one.q])
            for one in joint_bounds(model, False, physics.stops)
        ]
        bends = _straight(length, (before, v), (after, moved.v), (model.flat(made.q), made.v), bends, leans)
    parts = [(name, (n,), x) for (name, n), x in zip(names, (x for pair in bends for x in pair), strict=True)]
    ends += [("tau", (nv,), first), *parts, ("pivot", (), [made.pivots[0]]), ("said", (), [acts.status(t, before, v)])]
    graph.let_go()
    return order(list(takes), ends)


def _mixed(tableau: Tableau, made: Made) -> list[tuple[list[Scalar], list[Scalar]]]:
    """Σ (b - low) k, the first and the last k, and Σ dense k, for rates of q and for accelerations."""

    def mix(weights: Sequence[float], part: int) -> list[Scalar]:
        rows = [k[part] for k in made.stages]
        return [total(w * x for w, x in zip(weights, column, strict=True) if w) for column in zip(*rows, strict=True)]

    difference = [b - low for b, low in zip(tableau.b, tableau.low, strict=True)]
    ends = [[1.0 if k == at else 0.0 for k in range(tableau.stages)] for at in (0, tableau.stages - 1)]
    dense = tableau.dense or [0.0] * tableau.stages
    return [(mix(weights, 0), mix(weights, 1)) for weights in (difference, *ends, dense)]


def _root(x: Scalar, n: int) -> Scalar:
    """The n-th root, of square roots where n is even."""
    return sqrt(_root(x, n // 2)) if n % 2 == 0 else x if n == 1 else power(x, 1.0 / n)


def strikes(physics: Physics) -> bool:
    """Whether friction or stops may strike at the end of a step."""
    return physics.stops or "friction" in physics.terms


def _straight(h: Scalar, before: Any, after: Any, without: Any, bends: Any, leans: Sequence[Scalar]) -> list[Any]:
    """What polynomials need: straight lines in steps at whose end something struck, or that begin at a stop.

    `leans` are distances from stops.
    """
    apart = total(
        [absolute(a - b) for one, other in zip(after, without, strict=True) for a, b in zip(one, other, strict=True)]
    )
    struck = less(0.0, apart)
    for distance in leans:
        struck = select(less(0.0, distance), struck, 1.0)
    lines = [[(b - a) / h for a, b in zip(*pair, strict=True)] for pair in zip(before, after, strict=True)]
    straight = [lines, lines, [[0.0] * len(line) for line in lines]]
    return [
        [[select(struck, a, b) for a, b in zip(*pair, strict=True)] for pair in zip(line, bend, strict=True)]
        for line, bend in zip(straight, bends, strict=True)
    ]


def _error(tolerance: tuple[Scalar, Scalar], h: Scalar, before: Any, after: Any, error: Any) -> Scalar:
    """The root of the mean square of the errors, each against absolute and relative tolerance."""
    relative, absolute = tolerance
    squares: list[Scalar] = []
    for start, end, wrong in zip(before, after, error, strict=True):
        for a, b, e in zip(start, end, wrong, strict=True):
            scale = absolute + relative * maximum(maximum(a, -a), maximum(b, -b))
            squares.append((h * e / scale) * (h * e / scale))
    return sqrt(total(squares) / len(squares))


class _Adaptive:
    """All rollouts, each at its own time with its own step; one that has arrived stays where it is."""

    def __init__(self, run: Any, kernel: Kernel, grid: Array, memory: Memory, functions: Sequence[Callable[..., Any]],
                 span: tuple[float, float], tolerance: tuple[float, float, float]) -> None:  # fmt: skip
        self.run, self.grid, self.memory = run, grid, memory
        law, outside = run.outside.law, run.outside
        self.fed = [outside.arrays[name] for name in outside.fed]
        self.own = [name not in outside.shared for name in outside.fed]
        self.force = None if law is None else on_numbers(run.robot.target, law, run.physics.effort, self._fed(0, 1))
        self.functions, (start, self.end) = functions, span
        n, nq, nv = len(run.q), run.robot.nq, run.robot.nv
        here = [run.q.copy(), run.qd.copy(), np.full(n, start), np.full(n, min(1e-3, self.end - start))]
        there = [np.empty_like(a) for a in here]
        self.until = np.full(n, self.end)
        widths = [(nv,), *[(nq,), (nv,)] * 3, (), ()]
        self.extras = [np.empty((n, *width)) for width in widths]
        inputs = [self.until, *(np.full(n, x) for x in tolerance)]
        inputs += [
            np.ascontiguousarray(outside.arrays[one.name]).reshape(*[n] * (not one.uniform), one.size)
            for one in outside.inputs()
        ]
        self.sides = [(kernel.bind(*a, *inputs, *b, *self.extras), a, b) for a, b in ((here, there), (there, here))]
        self.t = here[2]
        self.next = np.zeros(n, int)  # the first point of the grid that is not filled
        self.filled, self.due = 0, start  # how many any rollout has filled; the earliest that is not
        self.events: list[Event] = []
        self.side = 0
        self.values = [self._value(f, self.t, run.q, run.qd) for f in functions]

    def _fed(self, rows: Any, count: int) -> list[Array]:
        """What a controller is given besides the state, for some rollouts."""
        return [
            np.broadcast_to(a[rows], (count, *a.shape[1:])) if own else np.broadcast_to(a, (count, *a.shape))
            for a, own in zip(self.fed, self.own, strict=True)
        ]

    def go(self) -> None:
        every = bool(self.functions)
        self._look_ahead()
        for count in range(MAX_STEPS):
            if self.due > self.end:
                return
            call, start, end = self.sides[self.side]
            call()
            if self.run.outside.says is not None:
                self.run.said(start[2], self.extras[-1])
            self.side = 1 - self.side
            self.t = end[2]
            if every or np.fmax.reduce(end[2]) >= self.due:
                self._passed(start, end)
            if count & 63 == 63:
                self._stuck(end)
        self.run.stopped = f"more than {MAX_STEPS} steps"

    def end_here(self) -> None:
        """Record the only row at the time of the rollout that has come farthest; the others go on until then."""
        _, here, _ = self.sides[self.side]
        going = self.next < len(self.grid)
        self.end = float(here[2][going].max())
        self.grid[:] = self.memory.t[: len(self.grid)] = self.end
        self.until[going] = self.end
        there = np.flatnonzero(going & (here[2] >= self.end))
        self._write(there, np.zeros(len(there), int), here[0][there], here[1][there])
        self.go()

    def _stuck(self, end: list[Array]) -> None:
        """A step so small that time stands still means that there is no going on."""
        going = ~(end[2] >= self.until) & self.run.going
        lost = going & ~(end[3] > 1e-13 * np.maximum(1.0, end[2]))
        if lost.any():
            self.run.fate[lost, 0] = np.where(self.extras[-2][lost] <= 0.0, SINGULAR, DIVERGED)
            self.run.fate[lost, 1] = end[2][lost]
            self.until[lost] = end[2][lost]
            self.next[lost] = len(self.grid)
            self._look_ahead()

    def _passed(self, start: list[Array], end: list[Array]) -> None:
        """Record what the steps just taken have passed, and find the events in them."""
        rows = np.flatnonzero(end[2] > start[2])
        if not len(rows):
            return
        first, final, bend = ((self.extras[k][rows], self.extras[k + 1][rows]) for k in (1, 3, 5))
        part = _Piece(start[2][rows], end[2][rows] - start[2][rows], (start[0][rows], start[1][rows]),
                      (end[0][rows], end[1][rows]), first, final, bend)  # fmt: skip
        stop = self._located(rows, part, end[2][rows]) if self.functions else np.full(len(rows), np.inf)
        self._recorded(rows, part, np.minimum(end[2][rows], stop))
        ended = rows[np.isfinite(stop)]
        self.until[ended], self.next[ended] = end[2][ended], len(self.grid)
        self._look_ahead()

    def _look_ahead(self) -> None:
        waiting = self.next[self.next < len(self.grid)]
        self.due = float(self.grid[waiting.min()]) if len(waiting) else np.inf

    def _recorded(self, rows: Whole, part: _Piece, ends: Array) -> None:
        """Fill the points of the grid that the steps have passed."""
        while True:
            due = np.minimum(self.next[rows], len(self.grid) - 1)
            todo = (self.next[rows] < len(self.grid)) & (self.grid[due] <= ends)
            if not todo.any():
                return
            self._write(rows[todo], due[todo], *part.only(todo).at(self.grid[due[todo]]))

    def _write(self, which: Whole, k: Whole, q: Array, qd: Array) -> None:
        """Put states of some rollouts into rows k of the record."""
        q, arrays = self._normal(q), self.memory.arrays
        for name, made in (("q", q), ("qd", qd)):
            if name in arrays:
                arrays[name][which, k] = made
        if "tau" in arrays:
            fed = self._fed(which, len(which))
            arrays["tau"][which, k] = self.force(self.grid[k], q, qd, *fed) if self.force else self.extras[0][which]
        self.next[which] += 1
        self.filled = max(self.filled, int(k.max()) + 1)

    def _normal(self, q: Array) -> Array:
        """Quaternions of length one."""
        return q if self.run.robot.nq == self.run.robot.nv else setup.unit(self.run.robot, q, tolerance=0.0)

    # events

    def _value(self, function: Callable[..., Any], t: Array, q: Array, qd: Array) -> Array:
        return np.array([value(function, a, b, c) for a, b, c in zip(t, q, qd, strict=True)])

    def _located(self, rows: Whole, part: _Piece, ends: Array) -> Array:
        """Find changes of sign in the steps; when each rollout has to stop, or infinity."""
        stop, found = np.full(len(rows), np.inf), []
        for which, function in enumerate(self.functions):
            after = self._value(function, ends, part.end[0], part.end[1])
            before = self.values[which][rows]
            hit = crossed(function, before, after)
            self.values[which][rows] = after
            for k in np.flatnonzero(hit):
                one = part.only(np.arange(len(rows)) == k)
                at = self._root(function, one, float(before[k]))
                q, qd = one.at(np.array([at]))
                place = np.unravel_index(int(rows[k]), self.run.batch) if self.run.batch else ()
                found.append((k, Event(which, tuple(int(x) for x in place), at, self._normal(q)[0], qd[0])))
                if getattr(function, "terminal", False):
                    stop[k] = min(stop[k], at)
        self.events += [event for k, event in found if event.t <= stop[k]]
        return stop

    def _root(self, function: Callable[..., Any], one: _Piece, before: float) -> float:
        """Where the function changes sign in a step."""

        def same(t: float) -> bool:
            q, qd = one.at(np.array([t]))
            return value(function, t, q[0], qd[0]) * before > 0.0

        return changes_at(float(one.t[0]), float(one.t[0] + one.h[0]), same)


class _Piece(NamedTuple):
    """Steps that were taken, a row each, with what their polynomials need; pairs are for q and for qd."""

    t: Array
    h: Array
    start: tuple[Array, Array]
    end: tuple[Array, Array]
    first: tuple[Array, Array]
    final: tuple[Array, Array]
    bend: tuple[Array, Array]

    def only(self, rows: Flags) -> _Piece:
        pairs = ((x[0][rows], x[1][rows]) for x in (self.start, self.end, self.first, self.final, self.bend))
        return _Piece(self.t[rows], self.h[rows], *pairs)

    def at(self, t: Array) -> tuple[Array, Array]:
        """The states at times within the steps."""
        s = ((t - self.t) / self.h)[:, None]
        h, r = self.h[:, None], 1.0 - s
        made = []
        for k in (0, 1):
            rise = self.end[k] - self.start[k]
            slope = h * self.first[k] - rise
            curve = rise - h * self.final[k] - slope
            made.append(self.start[k] + s * (rise + r * (slope + s * (curve + r * (h * self.bend[k])))))
        return made[0], made[1]
