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
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hinge.arguments import Array, real
from hinge.backends import interpret
from hinge.backends.kernel import ROWS
from hinge.dynamics.slopes import weights_of_coordinates, weights_of_velocities
from hinge.errors import SizeError, UnknownName, did_you_mean
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
    minimum,
    order,
    pulled,
    repeat,
    select,
)
from hinge.graph.collector import uncollected
from hinge.model import Model
from hinge.robot import Robot
from hinge.sim.rollouts import CLOCK, Outside, Rolling, cheapest, compiled, flat_rows, specialised
from hinge.sim.step import Physics
from hinge.sim.turns import Pace, fates

ROOM = 256 << 20  # bytes of states that are run again at once
SEVERAL = ("inputs", "base_motion", "prescribed")  # what is given as several arrays
ROWS_TAKEN = ("q", "qd", "weight of q", "weight of qd")  # by step: states, and weights of those that were recorded


@uncollected()
def program(robot: Robot, physics: Physics, outside: Outside, by: Sequence[str]) -> Program:
    """The program that takes weights from the end of `steps` steps to their beginning.

    It adds up what they become as weights of the arrays that `by` names, and writes those of `taus` by step.
    """
    graph = Graph()
    forward, model = cheapest(robot.target, physics), specialised(graph, robot.target, physics, outside)
    nq, nv = model.nq, model.nv
    n = nq + nv
    held = [x for name in by if name not in outside.streams for x in outside.flat(graph, name)]
    start, first, done, h, steps, every, row, last = (graph.input("clock", k) for k in range(len(CLOCK)))
    positions, speeds, *weights = (Rows(graph, name, k) for name, k in zip(ROWS_TAKEN, (nq, nv) * 2, strict=True))
    record = Record(graph, "weights of taus", nv) if "taus" in by else None

    def recorded(step: Scalar) -> list[Scalar]:
        """The weights of the state that a step begins with; none where it was not recorded."""
        at = floor(step / every)
        there = less(absolute(at * every - step), 0.5)
        return [select(there, x, 0.0) for rows in weights for x in rows[at]]

    def back(k: Scalar, *now: Scalar) -> list[Scalar]:
        step = done + (steps - 1.0 - k)
        state = [*positions[step - row], *speeds[step - row]]
        acts, t = outside.acts(graph, model, step), start + (first + step) * h
        *end, _ = outside.stepped(graph, model, physics, acts, forward, step, t, h, state)
        streamed = Rows(graph, "taus", nv)[minimum(step, last)] if record else []
        ahead = [a + w for a, w in zip(now[:n], recorded(step + 1.0), strict=True)]
        *slopes, _ = pulled(end, ahead, [*state, *streamed, *held, t])  # t, so that nobody asks what it is made of
        went = less(absolute(positions[step + 1.0 - row][0]), math.inf)  # all of a state that was lost is NaN
        if record:
            record[step] = [select(went, x, 0.0) for x in slopes[n : n + nv]]
        more = slopes[n + len(streamed) :]
        return [
            *(select(went, x, y) for x, y in zip(slopes[:n], ahead, strict=True)),
            *(x + select(went, y, 0.0) for x, y in zip(now[n:], more, strict=True)),
        ]

    made = repeat(steps, [graph.input("weights", k) for k in range(n + len(held))], back)
    graph.let_go()
    outputs: list[Any] = [("weights", (len(made),), list(made)), *([record] if record else [])]
    return order([*_takes(robot, len(made)), *outside.inputs()], outputs)


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
    or arrays by their names or numbers.
    """

    robot: Robot
    physics: Physics
    outside: Outside
    batch: tuple[int, ...]
    states: Sequence[Array]
    steps: int
    h: float
    record: int
    start: float
    first: int
    backend: str | None
    given: Mapping[str, Any]

    def pulled(self, dq: Any, dqd: Any, by: str | Sequence[str] | None, flat: bool) -> dict[str, Any]:
        """What weights of the recorded states become as weights of what was given."""
        wanted, (weights, failed) = self._by(by), self._weights(dq, dqd, flat)
        found = _Back(self, [key for name in wanted for key in self._arrays(name)], weights).found()
        for part in found.values():
            part[failed] = np.nan
        return {name: self._told(name, found, flat) for name in wanted}

    def _by(self, by: str | Sequence[str] | None) -> list[str]:
        names = list(self.given) if by is None else [by] if isinstance(by, str) else list(by)
        for name in names:
            if name not in self.given:
                hint = did_you_mean(str(name), self.given)
                raise UnknownName(f"rollout: derivatives by {name!r} are asked for, which it was not given. {hint}")
        return names

    def _weights(self, dq: Any, dqd: Any, flat: bool) -> tuple[list[Array], Array]:
        """Weights of the recorded rows, by coordinates and velocities, and which rollouts have some of lost states."""
        model, q, made = self.robot.model, self.states[0], []
        for name, given, width in (("dq", dq, model.nq if flat else model.nv), ("dqd", dqd, model.nv)):
            shape = (*self.batch, q.shape[1], width)
            weight = real(f"pulled: {name}", 0.0 if given is None else given)
            if weight.shape not in ((), shape, shape[-2:]):
                raise SizeError(
                    f"pulled: {name} has shape {weight.shape}; give {shape}, a row for each recorded state."
                )
            made.append(np.ascontiguousarray(np.broadcast_to(weight, shape), float).reshape(-1, *shape[-2:]))
        lost = np.isnan(q[:, -1:, 0])
        failed = lost[:, 0]
        if failed.any():
            lost = np.isnan(q[..., 0])
            failed = np.any(lost & (np.any(made[0] != 0.0, -1) | np.any(made[1] != 0.0, -1)), -1)
        if not flat:
            made[0] = np.zeros_like(q) if dq is None else _rewritten(model, weights_of_coordinates, q, made[0])
        return [np.where(lost[..., None], 0.0, one) if lost.any() else one for one in made], failed

    def _told(self, name: str, found: Mapping[str, Array], flat: bool) -> Any:
        """The weights of what was given by a name, in the form and the shapes that it was given in."""
        given, model = self.given[name], self.robot.model
        if name == "q0":
            raw = np.broadcast_to(np.asarray(given, float), (*self.batch, model.nq)).reshape(-1, model.nq)
            change, q = (_before_normal, raw) if flat else (weights_of_velocities, self.states[0][:, 0])
            return self._summed(_rewritten(model, change, q, found[name]), given, 1)
        if not isinstance(given, Mapping):
            return self._summed(found[name], given, found[name].ndim - 1)
        whole = np.hstack([found[key] for key in self._arrays(name)])
        shapes = self._shapes(name)
        ends = np.cumsum([math.prod(own) for own in shapes.values()])
        made = {
            key: self._summed(whole[:, end - math.prod(own) : end].reshape(-1, *own), given[key], len(own))
            for (key, own), end in zip(shapes.items(), ends, strict=True)
            if key in given
        }
        return tuple(made.values()) if 0 in given else made

    def _arrays(self, name: str) -> Sequence[str]:
        """The arrays that hold what was given by a name."""
        if name == "inputs":  # a controller may have some of its own after them
            return self.outside.fed[: len(self.given[name])]
        return (name,) if name in self.outside.arrays else ()

    def _shapes(self, name: str) -> dict[Any, tuple[int, ...]]:
        """The shapes of what stands side by side in those arrays, for one rollout."""
        if name == "inputs":
            return {k: self.outside.shape(key) for k, key in enumerate(self._arrays(name))}
        if name == "parameters":
            return {one.name: one.shape for one in self.robot.target.vary}
        given = self.given[name]
        return {key: np.shape(given[key])[-1:] for key in (self.outside.loaded.names if name == "external" else given)}

    def _summed(self, whole: Array, given: Any, own: int) -> Array:
        """Weights with a row a rollout as those of an array that may serve several; its last `own` axes are one's."""
        made = whole.reshape((*self.batch, *whole.shape[1:]))
        lead = np.shape(given)[: np.ndim(given) - own]
        made = made.sum(axis=tuple(range(len(self.batch) - len(lead))))
        return made.sum(axis=tuple(k for k, n in enumerate(lead) if n == 1), keepdims=True)


class _Back:
    """The way back over a rollout's steps, with the weights of a state and of what was given up to there."""

    def __init__(self, course: Course, by: Sequence[str], weights: Sequence[Array]) -> None:
        robot, outside = course.robot, course.outside
        self.course, self.weights = course, weights
        sizes = {name: math.prod(outside.shape(name)) for name in by if name not in outside.streams}
        self.widths = {"q0": robot.nq, "qd0": robot.nv} | sizes
        rollouts, wide = len(weights[0]), sum(self.widths.values())
        self.now, self.next = np.zeros((2, rollouts, wide))
        self.taus = [np.zeros((rollouts, course.steps, robot.nv))] if "taus" in by else []
        self.room = max(2, ROOM // (8 * (robot.nq + robot.nv) * max(1, rollouts)))  # steps
        self.given = [flat_rows(outside.arrays[one.name], one) for one in outside.inputs()]
        self.last = course.steps - 1
        self.kernel = compiled(
            robot, course.physics, outside, ("rollout backward", tuple(by)), _takes(robot, wide),
            [(wide,), *((ROWS, robot.nv) for _ in self.taus)], partial(program, robot, course.physics, outside, by),
            course.backend,
        )  # fmt: skip

    def found(self) -> dict[str, Array]:
        """The weights of the start, and of what was given, a row a rollout."""
        self.over(self.course.states, self.course.record, 0, self.course.steps)
        ends = np.cumsum(list(self.widths.values()))
        made = {name: self.now[:, end - n : end] for (name, n), end in zip(self.widths.items(), ends, strict=True)}
        for name, weight in zip(("q0", "qd0"), self.weights, strict=True):
            made[name] += weight[:, 0]
        return made | dict(zip(("taus",), self.taus, strict=False))

    def over(self, states: Sequence[Array], every: int, done: int, steps: int) -> None:
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

    def again(self, state: Sequence[Array], done: int, steps: int, every: int) -> list[Array]:
        """Every so many states of steps that are taken once more, the one they begin with first."""
        course, rows = self.course, steps // every + 1
        made = [np.full((len(a), rows, a.shape[1]), np.nan) for a in state]
        for a, b in zip(made, state, strict=True):
            a[:, 0] = b
        logs = dict(zip(("q", "qd"), made if every == 1 else (a[:, :0].copy() for a in made), strict=True))
        fate = fates(len(self.now), course.physics, course.robot.nv)
        q, qd = (np.array(a, order="C") for a in state)
        rolling = Rolling(course.robot, course.physics, course.outside, q, qd, fate, course.h, 1, logs, course.start,
                          course.first, course.backend)  # fmt: skip
        if every == 1:
            for at, count in Pace(len(fate)).parts(steps):
                rolling.run(done + at, count, done)
            return made
        for row in range(1, rows):
            rolling.run(done + (row - 1) * every, every)
            made[0][:, row], made[1][:, row] = rolling.q, rolling.qd
        return made

    def pull(self, states: Sequence[Array], done: int, steps: int) -> None:
        """Go back over steps of which all states are known."""
        course, pace = self.course, Pace(len(self.now))
        for at, count in pace.parts(steps):
            from_here = done + steps - at - count
            clock = np.array(
                [course.start, course.first, from_here, course.h, count, course.record, done, self.last], float
            )
            self.kernel.bind(self.now, *states, *self.weights, clock, *self.given, self.next, *self.taus)()
            self.now, self.next = self.next, self.now


def _rewritten(model: Model, change: Any, q: Array, weights: Array) -> Array:
    """Weights of positions in another form: change(model, q, weights) over scalars, on every row."""
    graph = Graph()
    inputs = [Input("q", model.nq), Input("weights", weights.shape[-1])]
    made = change(model, *([graph.input(one.name, k) for k in range(one.size)] for one in inputs))
    if made == [graph.input("weights", k) for k in range(weights.shape[-1])]:
        return weights
    out = np.empty((q[..., 0].size, len(made)))
    rows = [a.reshape(len(out), a.shape[-1]) for a in (q, weights)]
    interpret.run(order(inputs, [("made", (len(made),), made)], False), rows, [out])
    return out.reshape(*q.shape[:-1], len(made))


def _before_normal(model: Model, q: Sequence[Scalar], weights: Sequence[Scalar]) -> list[Scalar]:
    """Weights of coordinates that were brought to length one, as weights of those before."""
    normal = [x for i in model.leaders for x in model.joint[i].normal(q[model.slices[i][0]])]
    return pulled(normal, weights, q)
