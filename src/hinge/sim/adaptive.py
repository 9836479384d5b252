"""Dormand and Prince's method with steps of its own choice, for every rollout by itself.

The error of a step is the difference of its fifth- and fourth-order results against atol + rtol |y|; the next step is
chosen from it (Hairer, Nørsett and Wanner, II.4). Recorded states lie on an even grid in time and come from the
fourth-order polynomial through each step, and so do the places where event functions change sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.errors import SizeError
from hinge.integrators import TABLEAUS
from hinge.sim import forces
from hinge.sim.kernels import step_kernel
from hinge.sim.record import Memory
from hinge.sim.trajectory import Event
from hinge.status import NONFINITE, OK, SINGULAR

Array = np.ndarray[Any, np.dtype[Any]]
MAX_STEPS = 10_000_000


def adaptive(run: Any, duration: float, control: Any, spacing: float, widths: dict[str, int],
             events: Sequence[Callable[..., Any]], rtol: float, atol: float, backend: str | None) -> Any:  # fmt: skip
    """Run to the end; states are recorded every `spacing` seconds and at the end, or there alone if it is zero."""
    if not (rtol > 0.0 and atol > 0.0):
        raise SizeError(f"rtol={rtol!r} and atol={atol!r} have to be positive.")
    traced, held = _force(run, control)
    kernel = step_kernel(run.robot, TABLEAUS["dopri5"], run.physics, traced, backend, adaptive=True)
    grid = np.array([duration])
    if spacing:
        grid = np.append(np.arange(0.0, duration - 1e-9 * spacing, spacing), duration)
    memory = Memory(len(grid), run.batch, widths)
    memory.count, memory.t[:] = len(grid), grid
    for array in memory.arrays.values():
        array[:] = np.nan
    run.info |= {"rtol": rtol, "atol": atol}
    force = None if traced is None else forces.on_numbers(run.robot, traced, run.physics.effort)
    state = _Adaptive(run, kernel, force, held, grid, memory, events, duration, (rtol, atol))
    try:
        state.go()
    except KeyboardInterrupt:
        run.stopped = f"interrupted at t = {state.t.min():g} s"
    if run.stopped or events:  # nothing is known beyond
        memory.count = state.filled
    return run.kept(memory, "dopri5", sorted(state.events, key=lambda event: (event.t, event.rollout, event.which)))


def _force(run: Any, control: Any) -> tuple[Any, Array | None]:
    if control is None or not callable(control):
        held = np.zeros_like(run.qd)
        if control is not None:
            tau, _ = forces.given_forces(run.robot, control, run.batch, 0)
            held = np.ascontiguousarray(tau.reshape(len(run.q), -1))
        return None, held
    try:
        return forces.trace_control(run.robot, control), None
    except forces.Untraceable as why:
        raise SizeError(f"dopri5 needs a controller that can be traced, and this one cannot: {str(why).rstrip('.')}.\n"
                        "  Use method='rk4', which runs it in Python once a step.") from None  # fmt: skip


class _Adaptive:
    """All rollouts, each at its own time with its own step; one that has arrived stays where it is."""

    def __init__(self, run: Any, kernel: Any, force: Any, held: Array | None, grid: Array, memory: Memory,
                 functions: Sequence[Callable[..., Any]], duration: float,
                 tolerance: tuple[float, float]) -> None:  # fmt: skip
        self.run, self.grid, self.memory, self.force = run, grid, memory, force
        self.functions, self.duration = functions, duration
        n, nq, nv = len(run.q), run.robot.nq, run.robot.nv
        here = [run.q.copy(), run.qd.copy(), np.zeros(n), np.full(n, min(1e-3, duration))]
        there = [np.empty_like(a) for a in here]
        self.until = np.full(n, duration)
        self.extras = [np.empty((n, nv)), *(np.empty((n, k)) for _ in range(3) for k in (nq, nv)), np.empty(n)]
        inputs = [self.until, *(np.full(n, x) for x in tolerance), *([] if held is None else [held])]
        self.sides = [(kernel.bind(*a, *inputs, *b, *self.extras), a, b) for a, b in ((here, there), (there, here))]
        self.t = here[2]
        self.next = np.zeros(n, int)  # the first point of the grid that is not filled
        self.filled, self.due = 0, 0.0  # how many any rollout has filled; the earliest that is not
        self.events: list[Event] = []
        self.values = [self._value(f, self.t, run.q, run.qd) for f in functions]

    def go(self) -> None:
        side, every = 0, bool(self.functions)
        self._look_ahead()
        for count in range(MAX_STEPS):
            if self.due > self.duration:
                return
            call, start, end = self.sides[side]
            call()
            side = 1 - side
            self.t = end[2]
            if every or np.fmax.reduce(end[2]) >= self.due:
                self._passed(start, end)
            if count & 63 == 63:
                self._stuck(end)
        self.run.stopped = f"more than {MAX_STEPS} steps"

    def _stuck(self, end: list[Array]) -> None:
        """A step so small that time stands still means that there is no going on."""
        going = ~(end[2] >= self.until) & (self.run.status == OK)
        lost = going & ~(end[3] > 1e-13 * np.maximum(1.0, end[2]))
        if lost.any():
            self.run.status[lost] = np.where(self.extras[-1][lost] <= 0.0, SINGULAR, NONFINITE)
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

    def _recorded(self, rows: Array, part: _Piece, ends: Array) -> None:
        """Fill the points of the grid that the steps have passed."""
        while True:
            due = np.minimum(self.next[rows], len(self.grid) - 1)
            todo = (self.next[rows] < len(self.grid)) & (self.grid[due] <= ends)
            if not todo.any():
                return
            k, which = due[todo], rows[todo]
            q, qd = part.only(todo).at(self.grid[k])
            q, arrays = self._normal(q), self.memory.arrays
            for name, value in (("q", q), ("qd", qd)):
                if name in arrays:
                    arrays[name][k, which] = value
            if "tau" in arrays:
                arrays["tau"][k, which] = self.force(self.grid[k], q, qd) if self.force else self.extras[0][which]
            self.next[which] += 1
            self.filled = max(self.filled, int(k.max()) + 1)

    def _normal(self, q: Array) -> Array:
        """Quaternions of length one."""
        model = self.run.robot.model
        if model.nq == model.nv:
            return q
        return self.run.robot.integrate(q, np.zeros((len(q), model.nv)))

    # events

    def _value(self, function: Callable[..., Any], t: Array, q: Array, qd: Array) -> Array:
        return np.array([float(np.asarray(function(a, b, c))) for a, b, c in zip(t, q, qd, strict=True)])

    def _located(self, rows: Array, part: _Piece, ends: Array) -> Array:
        """Find changes of sign in the steps; when each rollout has to stop, or infinity."""
        stop, found = np.full(len(rows), np.inf), []
        for which, function in enumerate(self.functions):
            direction = getattr(function, "direction", 0.0)
            after = self._value(function, ends, part.end[0], part.end[1])
            before = self.values[which][rows]
            rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
            hit = rising & (direction >= 0.0) | falling & (direction <= 0.0)
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

    def only(self, rows: Array) -> _Piece:
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
