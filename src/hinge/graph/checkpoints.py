"""Loops that keep their states: run forward, and walked back over.

A trip is walked back over by itself, from the state at its beginning. Of a short loop all these states are kept. A long
one becomes a loop over segments, about as many as a segment has trips: the states at their beginnings are kept, and a
segment is run and kept once more when its turn comes. A state of a batch that stops early is walked back over the trips
that it took.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from hinge.errors import NotCovered
from hinge.graph.expr import Expr, Scalar
from hinge.graph.loops import Scratch, reach, traced
from hinge.graph.ops import less, minimum, select

MOST_KEPT = 1 << 18  # numbers a loop keeps of a state, some 16 MB a block, before it computes some of them again

State = Sequence[Scalar]
Back = Callable[[State], State]  # what is pulled back to the beginning of a loop, of what is at its end


@dataclass(frozen=True)
class Trips:
    """A loop: how many trips it has, which at the most, and what one does forward and back."""

    like: Expr  # any node of the graph it is in
    count: Scalar
    most: int
    run: Callable[..., State]  # of the number of a trip and the state at its beginning
    pull: Callable[[Scalar, State, State], State]  # of these, and of what is pulled back to its end
    stop: Callable[..., Scalar] | None  # whether a state, after so many trips, takes no more
    again: Callable[[], AbstractContextManager[None]]  # while trips run that have run before
    once: bool = False

    @property
    def bounded(self) -> bool:
        """Whether there can be no more trips than are said."""
        return reach(self.count) is not None

    def counted(self) -> Trips:
        """The same loop with the number of its trips as the last of its state."""
        run, pull, stop = self.run, self.pull, self.stop
        assert stop is not None
        return replace(
            self, run=lambda k, *now: [*run(k, *now[:-1]), now[-1] + 1.0],
            pull=lambda k, state, now: pull(k, state[:-1], now), stop=lambda k, *now: stop(now[-1], *now[:-1]),
        )  # fmt: skip


def forward(trips: Trips, begun: State, before: Callable[[Scalar, State], None] | None = None) -> tuple[State, Scalar]:
    """The state that is left when a loop has run, and how many trips it took; `before` each of them is called."""

    def run(k: Scalar, *state: Scalar) -> State:
        if before is not None:
            before(k, state)
        return list(trips.run(k, *state))

    stop = trips.stop
    if stop is None:
        return traced(trips.like.graph, trips.count, 0, tuple(begun), run, None, trips.once), trips.count
    if trips.most == 1:
        return traced(
            trips.like.graph, trips.count, 0, tuple(begun), run, lambda *now: stop(0.0, *now), trips.once
        ), 1.0
    body = lambda k, *now: [*run(k, *now[:-1]), now[-1] + 1.0]
    *left, made = traced(trips.like.graph, trips.count, 0, (*begun, 0.0), body, lambda *now: stop(now[-1], *now[:-1]))
    return left, made


def recorded(trips: Trips, begun: State) -> tuple[State, Back]:
    """The state that is left when a loop has run, and how it is walked back over."""
    if not trips.bounded and not trips.most:
        raise NotCovered(
            "the reverse derivative of a loop needs to know how many trips it has at the most.\n"
            "  Give repeat a number for count, or say with rows= how many."
        )
    if trips.most == 1:
        return _recorded_once(trips, begun)
    if trips.most * len(begun) <= MOST_KEPT or trips.most < 4:
        return _kept(trips, begun)
    if trips.stop is None:
        return _kept(_in_segments(trips), begun)
    if not trips.bounded:
        return _kept(trips, begun)
    left, back = _kept(_in_segments(trips.counted()), [*begun, 0.0])
    return left[:-1], back


def _recorded_once(trips: Trips, begun: State) -> tuple[State, Back]:
    """A loop that is taken once or not at all: it begins where it begins."""
    stop = trips.stop

    def back(now: State) -> State:
        stopped = None if stop is None else lambda *now: stop(0.0, *begun)
        pull = lambda k, *now: list(trips.pull(0.0, begun, now))
        return traced(trips.like.graph, trips.count, 0, tuple(now), pull, stopped, trips.once)

    return forward(trips, begun)[0], back


def _kept(trips: Trips, begun: State) -> tuple[State, Back]:
    """A loop that keeps the state at the beginning of every trip."""
    n = len(begun)
    room = Scratch(max(1, trips.most * n), like=trips.like, zeros=False)

    def place(k: Scalar, j: int) -> Scalar:
        return k * float(n) + float(j)

    def keep(k: Scalar, state: State) -> None:
        for j, x in enumerate(state):
            room[place(k, j)] = x

    def trip(k: Scalar, now: State) -> list[Scalar]:
        return list(trips.pull(k, [room[place(k, j)] for j in range(n)], now))

    def back(now: State) -> State:
        if trips.stop is None:
            return traced(trips.like.graph, trips.count, 0, tuple(now), lambda k, *now: trip(made - 1.0 - k, now), None)
        body = lambda k, left, *now: [left - 1.0, *trip(left - 1.0, now)]
        return traced(trips.like.graph, trips.count, 0, (made, *now), body, lambda left, *now: less(left, 0.5))[1:]

    left, made = forward(trips, begun, keep)
    return left, back


def _in_segments(trips: Trips) -> Trips:
    """The same loop as a loop over segments of it."""
    root = math.isqrt(trips.most - 1) + 1
    length = next((n for n in range(root, min(2 * root, trips.most)) if trips.most % n == 0), root)
    segments, stop = -(-trips.most // length), trips.stop
    whole = trips.count == segments * length

    def count(s: Scalar) -> Scalar:
        """The trips of a segment; the last has all that are left. Where states stop by themselves, they stop there."""
        if whole or stop is not None:
            return float(length)
        rest = trips.count - s * float(length)
        fewer = minimum(float(length), rest)
        return fewer if trips.bounded else select(less(s, segments - 1.5), fewer, rest)

    def stopped(k: Scalar, *now: Scalar) -> Scalar:
        return stop(k, *now) if whole else select(less(now[-1], trips.count), stop(k, *now), 1.0)  # type: ignore[misc]

    def segment(s: Scalar) -> Trips:
        first = s * float(length)

        def at(k: Scalar) -> Scalar:
            return first + k if whole or stop is None else minimum(first + k, trips.count - 1.0)

        return replace(
            trips, count=count(s), most=length, run=lambda k, *now: trips.run(at(k), *now),
            pull=lambda k, state, now: trips.pull(at(k), state, now), stop=None if stop is None else stopped,
        )  # fmt: skip

    def pull(s: Scalar, state: State, now: State) -> State:
        with trips.again():
            return recorded(segment(s), state)[1](now)

    run = lambda s, *now: forward(segment(s), now)[0]
    return replace(
        trips, count=float(segments), most=segments, run=run, pull=pull, stop=None if stop is None else stopped
    )
