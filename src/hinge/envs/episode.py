"""The life of an environment over scalars: a step of it, its end, and a new beginning, as programs.

An environment is numbers by name. A step is some steps of the physics (sim/step.py) with an action held, what a task
makes of them, and where an episode is over the beginning of the next: one program, which runs for all environments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from math import prod
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from hinge.contact.link_forces import SUMMED, link_forces
from hinge.envs.draws import APART, Draw, keys
from hinge.envs.task import State, Task
from hinge.errors import SizeError, one_of
from hinge.graph import Expr, Graph, Input, Program, Scalar, less, maximum, minimum, order, repeat, select, when
from hinge.graph.arrays import on_symbols, symbols
from hinge.graph.collector import uncollected
from hinge.graph.scalars import largest
from hinge.model.vary import Parameter
from hinge.robot import Robot
from hinge.sim import setup
from hinge.sim.simulation import rollout
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, Step

Shape = tuple[int, ...]
Values = dict[str, list[Scalar]]  # numbers of an environment by name
EPISODE = ("number", "count", "step", "over", "seed", "more")  # which environment, which episode, how far, two words
RESERVED = (
    "parameters", "memory", "episode", "links", "mask", "step", "wanted", "most", "observation", "status", "final_obs",
)  # fmt: skip
SEEN = ("q", "qd", "action", "qdd", "tau")
OPTIONS = ("method", "joint_terms", "effort", "limits", "constraint", "loops", "loop_time", "contacts", "ground", "law")


def acting(task: Task, robot: Robot, surfaces: Sequence[Parameter]) -> tuple[Physics, Outside]:
    """What acts in a step, by the options of `hinge.rollout` that a task names; friction and restitution may vary."""
    for name in task.physics:
        one_of("physics", name, OPTIONS)
    usual = {name: one.default for name, one in signature(rollout).parameters.items() if one.default is not one.empty}
    none = {"q": np.empty((0, robot.nq)), "qd": np.empty((0, robot.nv)), "batch": (), "steps": 1}
    size = sum(one.size for one in (*robot.target.vary, *surfaces))
    varied = {"parameters": np.zeros(size) if size else None, "surfaces": tuple(surfaces)}
    return setup.acting(robot, **usual | dict(task.physics) | none | varied)


class Life:
    """A task as programs over the numbers of an environment."""

    def __init__(
        self, task: Task, robot: Robot, spreads: Mapping[str, Any], surfaces: Sequence[Parameter] = ()
    ) -> None:
        self.task, self.robot, self.spreads = task, robot, spreads
        self.physics, self.outside = acting(task, robot, surfaces)
        self.numbers = self.physics.numbers(robot.target)
        self.own: dict[str, Shape] = {}
        graph = Graph()
        begun = self._initial(Draw([graph.input("key", k) for k in range(2)]))
        self.own = {name: np.shape(x) for name, x in begun.items() if name not in ("q", "qd")}
        if taken := sorted(set(self.own) & {*RESERVED, *State.__dataclass_fields__}):
            raise SizeError(f"initial of {type(task).__name__} has {taken[0]!r}, which means another thing. Rename it.")
        sizes = {"q": robot.nq, "qd": robot.nv, "action": task.actions} | {n: prod(s) for n, s in self.own.items()}
        sizes |= {"parameters": sum(one.size for one in self.numbers)}
        sizes |= {"memory": self.physics.touch.law.memory(robot.model), "episode": len(EPISODE)}
        self.kept = {name: size for name, size in sizes.items() if size}  # from step to step
        touch, feels = self.physics.touch, f"feels of {type(task).__name__}"
        for link in task.feels:
            one_of(feels, link, touch.links)
        links = SUMMED * len(task.feels)
        self.passing = {"qdd": robot.nv, "tau": robot.nv, "links": links, "status": 1}  # in what comes out of a step
        self.blank: Values = {name: [0.0] * size for name, size in self.passing.items()}
        values = {name: [graph.input(name, k) for k in range(n)] for name, n in (self.kept | self.passing).items()}
        self.seen = len(self._observed(values))
        # the rest on plain symbols first: what is wrong reads well
        self._pushed(values, 0.0, values["q"], values["qd"])
        self._judged(values, {name: values[name] for name in self.kept})

    # between numbers by name, all of them in a row, and what a task sees

    def _flat(self, values: Values) -> list[Scalar]:
        return [x for name in (*self.kept, *self.passing) for x in values[name]]

    def _named(self, row: Sequence[Scalar]) -> Values:
        made, at = {}, 0
        for name, size in (self.kept | self.passing).items():
            made[name], at = list(row[at : at + size]), at + size
        return made

    def state(self, values: Values) -> State:
        """What a task sees of an environment."""
        own = {name: symbols(values[name]).reshape(shape) for name, shape in self.own.items()}
        numbers, at = {}, 0
        for one in self.robot.target.vary:
            numbers[one.name] = symbols(values["parameters"][at : at + one.size]).reshape(one.shape)
            at += one.size
        seen: dict[str, Any] = {name: symbols(values[name]) for name in SEEN if name in values}
        if "links" in values:
            sums = dict(zip(self.task.feels, symbols(values["links"]).reshape(-1, SUMMED), strict=True))
            seen |= {"touch": {link: x[0] for link, x in sums.items()}, "wrenches": {n: x[1:] for n, x in sums.items()}}
        time = self.task.h * self.task.frame_skip * values["episode"][EPISODE.index("step")]
        return State(symbols(time), **seen, parameters=numbers or None, own=own)

    def _asked(self, name: str, *given: Any) -> Any:
        """What a function of the task makes of traced arrays."""
        return on_symbols(f"{name} of {type(self.task).__name__}", getattr(self.task, name), *given)

    def _numbers(self, name: str, made: Any, shape: Shape | None) -> list[Scalar]:
        """What a function of the task made, as scalars."""
        array = np.asarray(made, dtype=object)
        if shape is not None and array.shape != shape:
            raise SizeError(f"{name} of {type(self.task).__name__} has shape {array.shape}; it has to be {shape}.")
        flat = [getattr(x, "item", lambda x=x: x)() for x in array.reshape(-1).tolist()]
        return [x if type(x) is Expr else float(x) for x in flat]

    def _initial(self, draw: Draw) -> dict[str, Any]:
        begun = dict(self._asked("initial", draw))
        return {"q": self.robot.neutral(), "qd": np.zeros(self.robot.nv)} | begun

    def _observed(self, values: Values) -> list[Scalar]:
        made = self._asked("observation", self.state(values))
        if np.ndim(made) != 1 or not np.size(made):
            raise SizeError(f"observation of {type(self.task).__name__} has shape {np.shape(made)}; give a row, (n).")
        return self._numbers("observation", made, None)

    # what happens to an environment

    def begun(self, values: Values, step: Scalar = 0.0) -> Values:
        """An environment at the beginning of its next episode, so many steps of which are said to be behind it."""
        number, count, _, _, *seed = values["episode"]
        key = keys(seed, number, count + 1.0)
        made = {name: [0.0] * size for name, size in (self.kept | self.passing).items()}
        for name, x in self._initial(Draw(key)).items():
            shape = {"q": (self.robot.nq,), "qd": (self.robot.nv,)} | self.own
            made[name] = self._numbers(f"{name!r} in initial", x, shape[name])
        model, draw = self.robot.model, Draw(key, APART)
        made["q"] = [x for i in model.leaders for x in model.joint[i].normal(made["q"][model.slices[i][0]])]
        numbers = []
        for one in self.numbers:
            spread = self.spreads[one.name] if one.name in self.spreads else one.nominal(model)
            numbers += self._numbers(one.name, draw.by(spread, f"parameters[{one.name!r}]", one.shape), one.shape)
        made |= {"parameters": numbers, "episode": [number, count + 1.0, step, 0.0, *seed]}
        return made

    def acted(self, graph: Graph, before: Values, action: Sequence[Scalar]) -> tuple[Values, Scalar, Scalar, Scalar]:
        """An environment after an action; the reward, and whether the episode is at its end, or cut off."""
        task, h = self.task, self.task.h
        before = {name: before[name] for name in self.kept}
        held = before | {"action": [maximum(minimum(x, 1.0), -1.0) for x in action]}
        outside = replace(self.outside, law=lambda t, q, v: self._pushed(held, t, q, v))
        one = Step.of(graph, self.robot.target, self.physics, outside)
        model, acts, start = one.model, one.acts(0.0), self.state(before).t.item()

        def step(k: Scalar, *row: Scalar) -> list[Scalar]:
            now = self._named(row)
            t, q, v = start + h * k, now["q"], now["qd"]
            at, memory = model.joint_positions(q), now.get("memory", ())
            moved = one.advance(acts, t, h, at, v, memory)
            made = now | {"q": model.flat(moved.q), "qd": moved.v, "tau": one.commanded(acts, t, q, v)}
            made["qdd"] = [(b - a) / h for a, b in zip(v, moved.v, strict=True)]
            if "memory" in now:
                made["memory"] = list(moved.met.memory)
            met = moved.met
            if met.slots is not None and met.forces is not None:
                sums = link_forces(one.physics.touch, task.feels, met.slots, met.forces, met.size)
                made["links"] = [x for row in sums for x in row]
            (fared,) = now["status"]
            lost, status = maximum(less(0.5, fared), less(0.5, moved.status)), moved.status
            fares = select(less(0.5, fared), fared, select(less(0.5, status), status, minimum(fared, status)))
            rows = zip(self._flat(made), self._flat(now), strict=True)
            return self._flat(self._named([select(lost, b, a) for a, b in rows]) | {"status": [fares]})

        after = self._named(repeat(task.frame_skip, self._flat(held | self.blank), step))
        number, count, done, _, *seed = before["episode"]
        after["episode"] = [number, count, done + 1.0, 0.0, *seed]
        good = less(largest(held["action"]), 2.0)  # 0 where an action is NaN, which must not outlast its step
        after["action"] = [select(good, x, was) for x, was in zip(held["action"], before["action"], strict=True)]
        after, reward, ends = self._judged(after, before)
        reward = select(good, reward, math.nan)
        ends = select(ends, 1.0, less(0.5, after["status"][0]))
        cut = less(graph.input("most", 0) - 0.5, done + 1.0)
        after["episode"][EPISODE.index("over")] = maximum(ends, cut)
        return after, reward, ends, cut

    def _judged(self, after: Values, before: Values) -> tuple[Values, Scalar, Scalar]:
        """An environment with what of its own changes with a step; the reward, and whether the task is at its end."""
        was, after = self.state(before), dict(after)
        for name, x in self._asked("update", self.state(after), was).items():
            one_of(f"update of {type(self.task).__name__}", name, self.own)
            after[name] = self._numbers(f"{name!r} in update", x, self.own[name])
        s = self.state(after)
        (reward,) = self._numbers("reward", self._asked("reward", s, was), ())
        (ends,) = self._numbers("terminated", self._asked("terminated", s), ())
        return after, reward, ends

    def _pushed(self, held: Values, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        s = replace(self.state(held | {"q": list(q), "qd": list(v)}), t=symbols(t))
        return self._numbers("forces", self._asked("forces", s), (self.robot.nv,))

    # programs

    def _inputs(self, more: Mapping[str, int]) -> tuple[Graph, list[Input], Values, list[list[Scalar]]]:
        graph, sizes = Graph(), self.kept | dict(more)
        given = {name: [graph.input(name, k) for k in range(size)] for name, size in sizes.items()}
        besides = [given.pop(name) for name in more]
        return graph, [Input(*one) for one in sizes.items()], given | self.blank, besides

    def _outputs(self, values: Values, more: Mapping[str, list[Scalar]]) -> list[tuple[str, Shape, list[Scalar]]]:
        return [(name, (len(x),), x) for name, x in ({name: values[name] for name in self.kept} | dict(more)).items()]

    @uncollected()
    def reset(self) -> Program:
        """A new beginning where `mask` is one, at a `step`: the environments after it, and what is seen of them."""
        _, inputs, now, ((mask,), (step,)) = self._inputs({"mask": 1, "step": 1})
        after = self._named(when(mask, self._flat(now), lambda *row: self._anew(*row, step=step)))
        return order(inputs, self._outputs(after, {"observation": self._observed(after)}))

    def _anew(self, *row: Scalar, step: Scalar = 0.0) -> list[Scalar]:
        return self._flat(self.begun(self._named(row), step))

    @uncollected()
    def step(self, mode: AutoresetMode) -> Program:
        """A step with `wanted` actions: the environments after it, what is seen of them, reward, ends, and how the
        physics fared; with a new beginning in the same step, also what was seen before that.

        `most` is after how many steps an episode is cut off, for all of them.
        """
        graph, inputs, now, (wanted,) = self._inputs({"wanted": self.task.actions})
        over = EPISODE.index("over")

        def going(*row: Scalar) -> list[Scalar]:
            after, *judged = self.acted(graph, self._named(row[:-3]), wanted)
            return [*self._flat(after), *judged]

        goes = select(now["episode"][over], 0.0, 1.0) if mode is AutoresetMode.NEXT_STEP else 1.0
        *row, reward, ends, cut = when(goes, [*self._flat(now), 0.0, 0.0, 0.0], going)
        if mode is AutoresetMode.NEXT_STEP:
            row = list(when(now["episode"][over], row, self._anew))
        after = self._named(row)
        (status,), seen, last = after["status"], self._observed(after), {}
        if mode is AutoresetMode.SAME_STEP:
            last = {"final_obs": seen}

            def anew(*row: Scalar) -> list[Scalar]:
                begun = self.begun(self._named(row))
                return [*self._flat(begun), *self._observed(begun)]

            made = when(after["episode"][over], [*row, *seen], anew)
            after, seen = self._named(made), list(made[len(row) :])
        how = {"reward": [reward], "terminated": [ends], "truncated": [cut], "status": [maximum(status, -status)]}
        most = Input("most", 1, uniform=True)
        return order([*inputs, most], self._outputs(after, {"observation": seen} | how | last))
