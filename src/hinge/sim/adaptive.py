"""Dormand and Prince's method with steps of its own choice, for every rollout by itself.

The error of a step is the difference of its fifth- and fourth-order results against atol + rtol |y|; the next step is
chosen from it (Hairer, Nørsett and Wanner, II.4). Recorded states lie on an even grid in time and come from the
fourth-order polynomial through each step, and so do the places where event functions change sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import hinge
from hinge.backends.kernel import Status
from hinge.errors import SizeError
from hinge.integrators import TABLEAUS
from hinge.sim import forces
from hinge.sim.kernels import step_kernel
from hinge.sim.record import Memory

Array = np.ndarray[Any, np.dtype[Any]]
SAFETY, LEAST, MOST = 0.9, 0.2, 5.0
MAX_STEPS = 10_000_000


class Event(NamedTuple):
    """A place where an event function changed sign: which function, which rollout, when, and the state."""

    which: int
    rollout: tuple[int, ...]
    t: float
    q: Array
    qd: Array


def adaptive(run: Any, duration: float, control: Any, record: Any, fields: Sequence[str],
             events: Sequence[Callable[..., Any]], rtol: float, atol: float, step: Any, backend: str | None,
             sample: int) -> Any:  # fmt: skip
    """Run to the end; `record` is how many states an even grid has per 1e-3 s of `step`, as for fixed steps."""
    if sample:
        raise SizeError("sample= goes with fixed steps: dopri5 chooses its own.")
    if not (rtol > 0.0 and atol > 0.0):
        raise SizeError(f"rtol={rtol!r} and atol={atol!r} have to be positive.")
    robot, rows = run.robot, len(run.q)
    traced, held = _force(run, control)
    kernel = step_kernel(robot, TABLEAUS["dopri5"], run.physics, traced, backend, stages=True)
    grid = np.array([duration])
    if record != "last":
        spacing = (1e-3 if step == "auto" else float(step)) * int(record)
        grid = np.append(np.arange(0.0, duration - 1e-9 * spacing, spacing), duration)
    widths = {n: robot.nq if n == "q" else robot.nv for n in ("q", "qd", "tau") if n in fields}
    memory = Memory(len(grid), rows, widths)
    memory.count, memory.t[:] = len(grid), grid
    for array in memory.arrays.values():
        array[:] = np.nan
    run.info |= {"rtol": rtol, "atol": atol, "hinge": hinge.__version__, "numpy": np.__version__, "robot": robot.name}
    state = _Adaptive(run, kernel, held, grid, memory, events, duration, rtol, atol)
    try:
        state.go()
    except KeyboardInterrupt:
        run.stopped = f"interrupted at t = {state.t.min():g} s"
    run.info |= {"steps": int(state.taken), "rejected": int(state.rejected)}
    return run.kept(memory, "dopri5", fields, state.events)


def _force(run: Any, control: Any) -> tuple[Any, Array | None]:
    if control is None or not callable(control):
        held = np.zeros_like(run.qd)
        if control is not None:
            tau, _ = forces.given_forces(run.robot, control, run.batch, -1)
            held = np.ascontiguousarray(tau.reshape(len(run.q), -1))
        return None, held
    try:
        return forces.trace_control(run.robot, control), None
    except forces.Untraceable as why:
        raise SizeError(f"dopri5 needs a controller that can be traced, and this one cannot: {why}.\n  Use method='rk4', "
                        "which runs it in Python once a step.") from None  # fmt: skip


class _Adaptive:
    """The rollouts that are still on their way, each at its own time with its own step."""

    def __init__(self, run: Any, kernel: Any, held: Array | None, grid: Array, memory: Memory,
                 functions: Sequence[Callable[..., Any]], duration: float, rtol: float, atol: float) -> None:  # fmt: skip
        self.run, self.kernel, self.held, self.grid, self.memory = run, kernel, held, grid, memory
        self.functions, self.duration, self.rtol, self.atol = functions, duration, rtol, atol
        n = len(run.q)
        self.t, self.h = np.zeros(n), np.full(n, min(1e-3, duration))
        self.next = np.zeros(n, int)  # the first point of the grid that is not filled
        self.ended = np.zeros(n, bool)
        self.events: list[Event] = []
        self.values = [self._value(f, self.t, run.q, run.qd, np.arange(n)) for f in functions]
        self.taken = self.rejected = 0

    def go(self) -> None:
        for _ in range(MAX_STEPS):
            active = np.flatnonzero(~self.ended)
            if not len(active):
                return
            self._step(active)
        self.run.stopped = f"more than {MAX_STEPS} steps"

    def _step(self, rows: Array) -> None:
        run = self.run
        t, q, qd = self.t[rows], run.q[rows], run.qd[rows]
        h = np.minimum(self.h[rows], self.duration - t)
        last = t + h >= self.duration * (1 - 1e-15)
        held = () if self.held is None else (self.held[rows],)
        q1, v1, tau, eq, ev, sq, sv, nq_, nv_, bq, bv, pivot = self.kernel(q, qd, t, h, *held)
        with np.errstate(all="ignore"):
            scale = [self.atol + self.rtol * np.maximum(np.abs(a), np.abs(b)) for a, b in ((q, q1), (qd, v1))]
            parts = np.concatenate([h[:, None] * eq / scale[0], h[:, None] * ev / scale[1]], axis=1)
            error = np.sqrt(np.mean(parts * parts, axis=1))
            factor = np.clip(SAFETY * np.maximum(error, 1e-10) ** -0.2, LEAST, MOST)
        bad = ~np.isfinite(error)
        taken = (error <= 1.0) & ~bad
        self.h[rows] = np.where(bad, 0.1 * h, np.where(taken, np.where(last, self.h[rows], factor * h), factor * h))
        self.taken += int(taken.sum())
        self.rejected += int((~taken).sum())
        # a step so small that time stands still means that there is no going on
        stuck = ~taken & (self.h[rows] < 1e-13 * np.maximum(1.0, t))
        if stuck.any():
            run.status[rows[stuck]] = np.where(pivot[stuck] <= 0.0, Status.SINGULAR, Status.NONFINITE)
            self.ended[rows[stuck]] = True
        if not taken.any():
            return
        part = _Piece(t, h, (q, qd), (q1, v1), (sq, sv), (nq_, nv_), (bq, bv), tau).only(taken)
        done = rows[taken]
        ends = np.where(last[taken], self.duration, part.t + part.h)
        stop = self._located(done, part, ends) if self.functions else np.full(len(done), np.inf)
        self._recorded(done, part, np.minimum(ends, stop))
        run.q[done], run.qd[done] = self._normal(part.end[0]), part.end[1]
        self.t[done] = ends
        self.ended[done] |= last[taken] | np.isfinite(stop)

    def _recorded(self, rows: Array, part: _Piece, ends: Array) -> None:
        """Fill the points of the grid that the steps have passed."""
        while True:
            due = np.minimum(self.next[rows], len(self.grid) - 1)
            todo = (self.next[rows] < len(self.grid)) & (self.grid[due] <= ends)
            if not todo.any():
                return
            k, which = due[todo], rows[todo]
            q, qd = part.only(todo).at(self.grid[k])
            for name, value in (("q", self._normal(q)), ("qd", qd), ("tau", part.tau[todo])):
                if name in self.memory.arrays:
                    self.memory.arrays[name][k, which] = value
            self.next[which] += 1

    def _normal(self, q: Array) -> Array:
        """Quaternions of length one."""
        model = self.run.robot.model
        if model.nq == model.nv:
            return q
        return self.run.robot.integrate(q, np.zeros((len(q), model.nv)))  # type: ignore[no-any-return]

    # events

    def _value(self, function: Callable[..., Any], t: Array, q: Array, qd: Array, rows: Array) -> Array:
        return np.array([float(np.asarray(function(a, b, c))) for a, b, c in zip(t, q, qd, strict=True)])

    def _located(self, rows: Array, part: _Piece, ends: Array) -> Array:
        """Find changes of sign in the steps; when each rollout has to stop, or infinity."""
        stop = np.full(len(rows), np.inf)
        for which, function in enumerate(self.functions):
            direction = getattr(function, "direction", 0.0)
            after = self._value(function, ends, part.end[0], part.end[1], rows)
            before = self.values[which][rows]
            rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
            hit = rising & (direction >= 0.0) | falling & (direction <= 0.0)
            self.values[which][rows] = after
            for k in np.flatnonzero(hit):
                one = part.only(np.arange(len(rows)) == k)
                at = self._root(function, one, float(before[k]))
                q, qd = one.at(np.array([at]))
                place = np.unravel_index(int(rows[k]), self.run.batch) if self.run.batch else ()
                self.events.append(Event(which, tuple(int(x) for x in place), at, self._normal(q)[0], qd[0]))
                if getattr(function, "terminal", False):
                    stop[k] = min(stop[k], at)
        return stop

    def _root(self, function: Callable[..., Any], one: _Piece, before: float) -> float:
        """Where the function changes sign in a step, by bisection down to the spacing of numbers."""
        low, high = float(one.t[0]), float(one.t[0] + one.h[0])
        for _ in range(80):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            q, qd = one.at(np.array([middle]))
            same = float(np.asarray(function(middle, q[0], qd[0]))) * before > 0.0
            low, high = (middle, high) if same else (low, middle)
        return high


class _Piece(NamedTuple):
    """Steps that were taken, a row each, with what their polynomials need; pairs are for q and for qd."""

    t: Array
    h: Array
    start: tuple[Array, Array]
    end: tuple[Array, Array]
    first: tuple[Array, Array]
    final: tuple[Array, Array]
    bend: tuple[Array, Array]
    tau: Array

    def only(self, rows: Array) -> _Piece:
        return _Piece(*((x[0][rows], x[1][rows]) if isinstance(x, tuple) else x[rows] for x in self))

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
