"""Events with steps of one length: where a function of (t, q, qd) changes sign in a step, the step is taken again.

The states after every step are looked at. Where a sign has changed, the rollout goes back to the beginning of that step
and takes a shorter one, whose length is found by bisection, so an event is as exact as the method itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.errors import CannotWrite, SizeError
from hinge.sim.record import Bar
from hinge.sim.recording import Event
from hinge.sim.rollouts import Rolling
from hinge.typing import Flags

Function = Callable[..., Any]
LOOK = 64  # steps at a time


def value(function: Function, t: float, q: Array, qd: Array) -> float:
    """An event function at a state."""
    made = np.asarray(function(t, q, qd))
    if made.size != 1:
        raise SizeError(f"an event function gives {made.shape}; it has to give one number.")
    return float(made.item())


def crossed(function: Function, before: Array, after: Array) -> Flags:
    """Where a function has changed sign in the direction it is asked for."""
    direction = getattr(function, "direction", 0.0)
    rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
    return rising & (direction >= 0.0) | falling & (direction <= 0.0)


def changes_at(low: float, high: float, same: Callable[[float], bool]) -> float:
    """Where something that is the same at `low` changes before `high`, down to the spacing of numbers."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if same(middle) else (low, middle)
    return high


class Watch:
    """A run whose states are looked at after every step."""

    def __init__(self, turns: Any, functions: Sequence[Function]) -> None:
        self.turns, self.functions, run = turns, functions, turns.run
        rows = len(run.q)
        widths = {"q": run.robot.nq, "qd": run.robot.nv, "tau": run.robot.nv}
        self.seen = {name: np.full((rows, LOOK + 1, width), np.nan) for name, width in widths.items()}
        clock = turns.clock
        self.rolling = Rolling(run.robot, run.physics, run.outside, run.q, run.qd, run.fate, clock.h, 1, self.seen,
                               clock.start, clock.first, turns.backend)  # fmt: skip
        self.ended = np.full(rows, np.inf)
        self.events: list[Event] = []
        self.before = turns.recorder.events
        self.values = [self._values(f, run.t, run.q, run.qd) for f in functions]

    def _values(self, function: Function, t: float, q: Array, qd: Array) -> Array:
        return np.array([value(function, t, a, b) for a, b in zip(q, qd, strict=True)])

    def go(self, progress: bool | None) -> None:
        """Run to the end, or until every rollout has come to an event that ends it."""
        turns, run, steps = self.turns, self.turns.run, self.turns.clock.steps
        n = 0
        try:
            with Bar(steps, progress) as bar:
                while n < steps and (self.ended == np.inf).any():
                    count = min(LOOK, turns.clock.together(n))
                    if turns.source.control is not None:
                        count = min(count, turns.source.sample - n % turns.source.sample)
                    self._looked(n, count)
                    self._recorded(n, count, n + count == steps)
                    n += count
                    bar.at(n)
        except KeyboardInterrupt:
            run.stopped = f"interrupted at t = {run.t:g} s"
        except CannotWrite as problem:
            run.stopped = f"{problem} at t = {run.t:g} s"
        self._noted()

    def _looked(self, n: int, count: int) -> None:
        """Take steps, and find the events in them."""
        turns, run, seen = self.turns, self.turns.run, self.seen
        held = self.rolling.given.get("tau", np.empty(0))
        turns.source.ask(n, turns.clock.time(n), held)
        turns.on_time(self.rolling, n)
        seen["q"][:, 0], seen["qd"][:, 0] = self.rolling.q, self.rolling.qd
        self.rolling.run(n, count, n)
        turns.on_time(self.rolling, n + count)
        self.rolling.look(n + count, count)
        run.moved(turns.clock.time(n + count), self.rolling)
        for k in range(1, count + 1):
            t = turns.clock.time(n + k)
            for which, function in enumerate(self.functions):
                after = self._values(function, t, seen["q"][:, k], seen["qd"][:, k])
                for row in np.flatnonzero(crossed(function, self.values[which], after) & (self.ended == np.inf)):
                    self._found(which, int(row), n + k - 1, k - 1)
                self.values[which] = after
            for row in np.flatnonzero(self.ended < t):
                for array in seen.values():
                    array[row, k] = np.nan
        self.events = [e for e in self.events if e.t <= self.ended[self._row(e)]]

    def _noted(self) -> None:
        """Hand on the events, those of the record's beginning first."""
        self.turns.recorder.events = [*self.before, *sorted(self.events, key=lambda e: (e.t, e.rollout, e.which))]

    def _row(self, event: Event) -> int:
        batch = self.turns.run.batch
        return int(np.ravel_multi_index(event.rollout, batch)) if batch else 0

    def _found(self, which: int, row: int, n: int, k: int) -> None:
        """Locate an event in step n of a rollout, which began at row k of what was seen."""
        function, turns, run = self.functions[which], self.turns, self.turns.run
        state, t = (self.seen["q"][row, k], self.seen["qd"][row, k]), turns.clock.time(n)
        before = value(function, t, *state)

        def after(h: float) -> tuple[Array, Array]:
            q, qd, _ = self.rolling.elsewhere(
                state[0][None], state[1][None], row, start=t, first=-n, done=n, h=h, every=1
            )
            return q[0], qd[0]

        at = changes_at(0.0, turns.clock.length(n), lambda h: value(function, t + h, *after(h)) * before > 0.0)
        q, qd = after(at)
        place = tuple(int(x) for x in np.unravel_index(row, run.batch)) if run.batch else ()
        self.events.append(Event(which, place, t + at, q, qd))
        if getattr(function, "terminal", False):
            self.ended[row] = min(self.ended[row], t + at)

    def _recorded(self, n: int, count: int, last: bool) -> None:
        """Hand on the states that are asked for."""
        turns, recorder, every = self.turns, self.turns.recorder, self.turns.every
        self._noted()
        due = [m for m in range(n, n + count) if every and m % every == 0] + [n + count] * last
        for m in due:
            t = turns.clock.time(m)
            if not (self.ended >= t).any():
                break
            for name, array in recorder.arrays.items():
                array[:, recorder.count - recorder.row] = self.seen[name][:, m - n]
            recorder.fill(np.array([t]))
