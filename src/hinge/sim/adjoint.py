"""Derivatives through a rollout: what weights of its states become as weights of all that it was given.

    run = hinge.rollout(robot, q0, qd0, 1000, 1e-3, taus=taus)
    slopes = run.pulled(dq, dqd)

They are those of the steps as they were taken. One kernel goes from the last step to the first: it takes each step
again from the state that it began with, and pulls the weights of its end back through it (graph/reverse.py). Where
not every state was recorded, steps are run once more from one that was, as many at a time as there is room for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hinge.backends.kernel import DOUBLE, ROWS, Plan
from hinge.backends.places import HostArrays
from hinge.contact.contact_slopes import refuse_curved, within_reach
from hinge.dynamics.slopes import weights_of_coordinates, weights_of_velocities
from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean
from hinge.graph import (
    Graph,
    Input,
    Program,
    Record,
    Rows,
    Scalar,
    absolute,
    floor,
    less,
    maximum,
    minimum,
    order,
    pulled,
    repeat,
    select,
    total,
)
from hinge.graph.collector import uncollected
from hinge.model import Model
from hinge.robot import Robot
from hinge.sim.rollouts import Rolling, fates, step_kernel
from hinge.steps.clock import CLOCK
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, Step

ROOM = 256 << 20  # bytes of states that are run again at once
SEVERAL = ("inputs", "base_motion", "prescribed")  # what is given as several arrays
STATUS = "status of derivatives"
ROWS_TAKEN = ("q", "qd", "weight of q", "weight of qd")  # by step: states, and weights of those that were recorded


@uncollected()
def program(robot: Robot, physics: Physics, outside: Outside, by: Sequence[str]) -> Program:
    """The program that takes weights from the end of `steps` steps to their beginning.

    It adds up what they become as weights of the arrays that `by` names, and writes those of arrays by step by step.
    The last of the weights is a status: the worst of the steps that have weights at their end.
    """
    graph, physics = Graph(), _differentiable(robot, physics)
    one = Step.of(graph, robot.target, physics, outside)
    model = one.model
    nq, nv = model.nq, model.nv
    n, remembers = nq + nv, one.law.memory(model)
    held = [x for name in by if name not in outside.streams for x in outside.flat(graph, name)]
    start, first, done, h, steps, every, row, last = (graph.input("clock", k) for k in range(len(CLOCK)))
    positions, speeds, *weights = (Rows(graph, name, k) for name, k in zip(ROWS_TAKEN, (nq, nv) * 2, strict=True))
    streams = [name for name in by if name in outside.streams]
    records = [Record(graph, f"weights of {name}", *outside.shape(name)) for name in streams]

    def recorded(step: Scalar) -> list[Scalar]:
        """The weights of the state that a step begins with; none where it was not recorded."""
        at = floor(step / every)
        there = less(absolute(at * every - step), 0.5)
        return [select(there, x, 0.0) for rows in weights for x in rows[at]]

    def back(k: Scalar, *now: Scalar) -> list[Scalar]:
        step = done + (steps - 1.0 - k)
        state = [*positions[step - row], *speeds[step - row]]
        acts, t = one.acts(step), start + (first + step) * h
        there = speeds[step + 1.0 - row] if remembers else []  # what is begun from does not matter to the answer
        guess = [(b - a) / h for a, b in zip(state[nq:], there, strict=False)]
        *end, smooth, status = one.advance_in_parts(step, acts, t, h, [*state, *guess], smooth=True)
        end = end[:n]
        rows = [Rows(graph, name, one.width)[minimum(step, last)] for name, one in zip(streams, records, strict=True)]
        ahead = [a + w for a, w in zip(now[:n], recorded(step + 1.0), strict=True)]
        leaves = [*state, *(x for part in rows for x in part), *held]
        *slopes, _ = pulled(end, ahead, [*leaves, t])  # t, so that nobody asks what it is made of
        went = less(absolute(positions[step + 1.0 - row][0]), math.inf)  # all of a state that was lost is NaN
        weighted = less(0.0, total(absolute(x) for x in ahead))
        status = select(weighted, select(went, maximum(status, smooth), 0.0), 0.0)
        more = slopes[n:]
        for record in records:
            record[step] = [select(went, x, 0.0) for x in more[: record.width]]
            more = more[record.width :]
        return [
            *(select(went, x, y) for x, y in zip(slopes[:n], ahead, strict=True)),
            *(x + select(went, y, 0.0) for x, y in zip(now[n:-1], more, strict=True)),
            maximum(now[-1], status),
        ]

    made = repeat(steps, [graph.input("weights", k) for k in range(n + len(held) + 1)], back)
    graph.let_go()
    outputs: list[Any] = [("weights", (len(made),), list(made)), *records]
    return order([*_takes(robot, len(made)), *outside.inputs()], outputs)


def _differentiable(robot: Robot, physics: Physics) -> Physics:
    """Physics whose steps have derivatives; contacts that are just not touching are found, to know of them."""
    return replace(physics, slopes=True, touch=within_reach(physics.touch, robot.model))


def _takes(robot: Robot, wide: int) -> list[Input]:
    sizes = zip(ROWS_TAKEN, (robot.nq, robot.nv) * 2, strict=True)
    return [
        Input("weights", wide),
        *(Input(name, k, stream=True) for name, k in sizes),
        Input("clock", len(CLOCK), True),
    ]


def by_name(**given: Any) -> dict[str, Any]:
    """What a rollout was given as numbers, with arrays by their names or numbers where there are several."""
    made = {name: one for name, one in given.items() if one is not None and not callable(one)}
    made |= {name: {str(key): x for key, x in one.items()} for name, one in made.items() if isinstance(one, Mapping)}
    made |= {name: dict(enumerate(made[name])) for name in SEVERAL if name in made}
    return {name: one for name, one in made.items() if not isinstance(one, Mapping) or one}


@dataclass
class Course:
    """A rollout that was taken, with all that is needed to take it again.

    `states` are its records of q and qd, (rollouts, rows, width), and `given` is what it was given, by name: an array,
    or arrays by their names or numbers. All its arrays are at one `place`.
    """

    robot: Robot
    physics: Physics
    outside: Outside
    batch: tuple[int, ...]
    states: Sequence[Any]
    steps: int
    h: float
    record: int
    start: float
    first: int
    backend: str | None
    given: Mapping[str, Any]
    place: HostArrays

    @property
    def times(self) -> Any:
        """When the recorded states are, (rows,) s."""
        return self.start + (self.first + self.record * np.arange(self.steps // self.record + 1)) * self.h

    def pulled(self, dq: Any, dqd: Any, by: str | Sequence[str] | None, flat: bool) -> tuple[dict[str, Any], Any]:
        """What weights of the recorded states become as weights of what was given, and a status of each rollout."""
        if self.physics.touch.active:
            refuse_curved(self.physics.touch, self.robot.model)
            if self.place.dtype != DOUBLE:
                raise NotCovered(
                    "rollout: derivatives through contacts are of double precision.\n  Give arrays of float64."
                )
        wanted, (weights, failed) = self._by(by), self._weights(dq, dqd, flat)
        found = _Back(self, [key for name in wanted for key in self._arrays(name)], weights).found()
        for part in found.values() if failed is not None else ():
            part[failed] = np.nan
        status = self.place.status(found[STATUS], self.batch)
        return {name: self._told(name, found, flat) for name in wanted}, status

    def _by(self, by: str | Sequence[str] | None) -> list[str]:
        names = list(self.given) if by is None else [by] if isinstance(by, str) else list(by)
        for name in names:
            if name not in self.given:
                hint = did_you_mean(str(name), self.given)
                raise UnknownName(f"rollout: derivatives by {name!r} are asked for, which it was not given. {hint}")
        return names

    def _weights(self, dq: Any, dqd: Any, flat: bool) -> tuple[list[Any], Any]:
        """Weights of the recorded rows, by coordinates and velocities, and which rollouts have some of lost states."""
        model, q, made = self.robot.model, self.states[0], []
        for name, given, width in (("dq", dq, model.nq if flat else model.nv), ("dqd", dqd, model.nv)):
            shape = (*self.batch, q.shape[1], width)
            weight = self.place.asarray(f"pulled: {name}", 0.0 if given is None else given)
            if tuple(weight.shape) not in ((), shape, shape[-2:]):
                raise SizeError(
                    f"pulled: {name} has shape {weight.shape}; give {shape}, a row for each recorded state."
                )
            made.append(self.place.rows(weight, shape).reshape(-1, *shape[-2:]))
        lost = self.place.lost(q)
        failed = lost if lost is None else (lost & ((made[0] != 0.0).any(-1) | (made[1] != 0.0).any(-1))).any(-1)
        if not flat:
            zero = self.place.full(tuple(q.shape), 0.0)
            made[0] = zero if dq is None else self._rewritten(weights_of_coordinates, q, made[0])
        for one in made if lost is not None else ():
            one[lost] = 0.0
        return made, failed

    def _told(self, name: str, found: Mapping[str, Any], flat: bool) -> Any:
        """The weights of what was given by a name, in the form and the shapes that it was given in."""
        given, model = self.given[name], self.robot.model
        if name == "q0":
            raw = self.place.rows(self.place.asarray(name, given), (*self.batch, model.nq)).reshape(-1, model.nq)
            change, q = (_before_normal, raw) if flat else (weights_of_velocities, self.states[0][:, 0])
            return self._summed(self._rewritten(change, q, found[name]), given, 1)
        if not isinstance(given, Mapping):
            whole = found[next(iter(self._arrays(name)), name)]
            held = name == "ctrl" and whole.ndim == 2 and np.ndim(given) > 1  # a row for all steps
            made = self._summed(whole, given[..., 0, :] if held else given, whole.ndim - 1)
            return made.reshape(np.shape(given)) if held else made
        wholes = [found[key] for key in self._arrays(name)]
        made, at = {}, 0
        for key, own in self._shapes(name).items():
            size = math.prod(own)
            if size and at == wholes[0].shape[1]:
                wholes, at = wholes[1:], 0
            if key in given:
                own_rows = (math.prod(self.batch), *own)
                part = wholes[0][:, at : at + size].reshape(own_rows) if size else self.place.full(own_rows, 0.0)
                made[key] = self._summed(part, given[key], len(own))
            at += size
        return tuple(made.values()) if 0 in given else made

    def _arrays(self, name: str) -> Sequence[str]:
        """The arrays that hold what was given by a name."""
        if name == "inputs":  # a controller may have some of its own after them
            return self.outside.fed[: len(self.given[name])]
        streamed = f"{name}s"  # what may be held, or have a row a step
        return tuple(key for key in (name, streamed) if key in self.outside.arrays)

    def _shapes(self, name: str) -> dict[Any, tuple[int, ...]]:
        """The shapes of what stands side by side in those arrays, for one rollout."""
        if name == "inputs":
            return {k: self.outside.shape(key) for k, key in enumerate(self._arrays(name))}
        if name == "parameters":
            return {one.name: one.shape for one in self.physics.numbers(self.robot.target)}
        given = self.given[name]
        return {key: np.shape(given[key])[-1:] for key in (self.outside.loaded.names if name == "external" else given)}

    def _summed(self, whole: Any, given: Any, own: int) -> Any:
        """Weights with a row a rollout as those of an array that may serve several; its last `own` axes are one's."""
        made = whole.reshape((*self.batch, *whole.shape[1:]))
        lead = np.shape(given)[: np.ndim(given) - own]
        shared = tuple(range(len(self.batch) - len(lead)))
        made = made.sum(shared) if shared else made
        once = tuple(k for k, n in enumerate(lead) if n == 1)
        return made.sum(once).reshape((*lead, *made.shape[len(lead) :])) if once else made

    def _rewritten(self, change: Any, q: Any, weights: Any) -> Any:
        """Weights of positions in another form: change(model, q, weights) over scalars, on every row."""
        model, inputs = self.robot.model, (Input("q", self.robot.nq), Input("weights", weights.shape[-1]))
        graph = Graph()
        given = [[graph.input(one.name, k) for k in range(one.size)] for one in inputs]
        made = change(model, *given)
        if made == given[1]:
            return weights
        target = self.robot.target
        plan = Plan(model.name, change.__name__, inputs, ((len(made),),),
                    lambda backend: order(inputs, [("made", (len(made),), made)], False),
                    (change, inputs, target), target.memo)  # fmt: skip
        return self.place.call(plan, q, weights)


class _Back:
    """The way back over a rollout's steps, with the weights of a state and of what was given up to there."""

    def __init__(self, course: Course, by: Sequence[str], weights: Sequence[Any]) -> None:
        robot, outside = course.robot, course.outside
        self.course, self.weights = course, weights
        sizes = {name: math.prod(outside.shape(name)) for name in by if name not in outside.streams}
        self.widths = {"q0": robot.nq, "qd0": robot.nv} | sizes | {STATUS: 1}
        rollouts, wide = len(weights[0]), sum(self.widths.values())
        self.now, self.next = (course.place.full((rollouts, wide), 0.0) for _ in range(2))
        self.streams = {name: course.place.record((rollouts, course.steps, *outside.shape(name)))
                        for name in by if name in outside.streams}  # fmt: skip
        for record in self.streams.values():
            record[...] = 0.0
        self.room = max(2, ROOM // (8 * (robot.nq + robot.nv) * max(1, rollouts)))  # steps
        self.given = [course.place.flat(outside.arrays[one.name], one) for one in outside.inputs()]
        self.last = course.steps - 1
        self.kernel = step_kernel(
            robot, course.physics, outside, ("rollout backward", tuple(by)), _takes(robot, wide),
            [(wide,), *((ROWS, a.shape[-1]) for a in self.streams.values())],
            partial(program, robot, course.physics, outside, by), course.backend,
        )  # fmt: skip

    def found(self) -> dict[str, Any]:
        """The weights of the start, and of what was given, a row a rollout."""
        self.over(self.course.states, self.course.record, 0, self.course.steps)
        ends = np.cumsum(list(self.widths.values()))
        made = {name: self.now[:, end - n : end] for (name, n), end in zip(self.widths.items(), ends, strict=True)}
        for name, weight in zip(("q0", "qd0"), self.weights, strict=True):
            made[name] += weight[:, 0]
        return made | self.streams

    def over(self, states: Sequence[Any], every: int, done: int, steps: int) -> None:
        """Go back over steps after `done` of them; every so many states from there are known."""
        if every == 1:
            self.pull(states, done, steps)
            return
        part = max(every, self.room // every * every)
        for begin in reversed(range(0, steps, part)):
            count = min(part, steps - begin)
            finer = 1 if count <= self.room else math.isqrt(count - 1) + 1
            again = self.again([a[:, begin // every] for a in states], done + begin, count, finer)
            self.over(again, finer, done + begin, count)

    def again(self, state: Sequence[Any], done: int, steps: int, every: int) -> list[Any]:
        """Every so many states of steps that are taken once more, the one they begin with first."""
        course, place, rows = self.course, self.course.place, steps // every + 1
        made = [place.record((len(a), rows, a.shape[1])) for a in state]
        for a, b in zip(made, state, strict=True):
            a[:, 0] = b
        logs = made if every == 1 else [place.record((len(a), 0, a.shape[1])) for a in state]
        fate = fates(len(self.now), course.physics, course.robot.model, place)
        q, qd = (place.rows(a, tuple(a.shape)) for a in state)
        rolling = Rolling(course.robot, course.physics, course.outside, q, qd, fate, course.h, 1,
                          dict(zip(("q", "qd"), logs, strict=True)), course.start, course.first, course.backend,
                          place)  # fmt: skip
        if every == 1:
            for at, count in place.chunks(len(fate), steps):
                rolling.run(done + at, count, done)
            return made
        for row in range(1, rows):
            rolling.run(done + (row - 1) * every, every)
            made[0][:, row], made[1][:, row] = rolling.q, rolling.qd
        return made

    def pull(self, states: Sequence[Any], done: int, steps: int) -> None:
        """Go back over steps of which all states are known."""
        course = self.course
        for at, count in course.place.chunks(len(self.now), steps):
            from_here = done + steps - at - count
            clock = np.array(
                [course.start, course.first, from_here, course.h, count, course.record, done, self.last], float
            )
            given = [self.now, *states, *self.weights, clock, *self.given]
            course.place.bind(self.kernel, given, [self.next, *self.streams.values()])()
            self.now, self.next = self.next, self.now


def _before_normal(model: Model, q: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
    """Weights of coordinates that were brought to length one, as weights of those before."""
    normal = [x for i in model.leaders for x in model.joint[i].normal(q[model.slices[i][0]])]
    return pulled(normal, weights, q)
