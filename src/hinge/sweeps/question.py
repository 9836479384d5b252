"""What a sweep asks: a robot, what differs from rollout to rollout, how they run, and what is kept of them.

A question is checked before anything runs, is data that two sweeps can be compared by, and answers for any rollouts by
their numbers alone: `drawn` says what they are given, `answer` what is kept of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends import cache
from hinge.errors import DeviceError, HingeError, SizeError
from hinge.robot import Robot
from hinge.sim.rollout_states import Rollout
from hinge.sim.rollouts import kernel
from hinge.sim.setup import unit
from hinge.sim.simulation import rollout
from hinge.status import Status
from hinge.sweeps.spreads import Listed, Space, Spread, comparable
from hinge.typing import Whole
from hinge.version import __version__

ROOM = 32 << 20  # bytes of states that a worker has at once
TRIED = 16  # rollouts of which one has to be good before a sweep begins


def build() -> str:
    """The version of hinge, and a hash of its sources: what has the same gives the same bits."""
    return f"{__version__} ({cache.key()[:12]})"


@dataclass(frozen=True)
class Number:
    """A number, or an array of them, that rollouts are given: what it is of, where in that, its values and units.

    `of` is an argument of `rollout`, `at` what of it this is: a name, a number, some of the coordinates, or None for
    all of it. `units` are a word, or a list of them; "" where there are none.
    """

    name: str
    of: str
    at: Any
    shape: tuple[int, ...]
    values: Spread | Array
    units: Any = ""

    @property
    def varies(self) -> bool:
        return isinstance(self.values, Spread)

    @property
    def streams(self) -> bool:
        """Whether it has a row a step."""
        return self.of in ("taus", "ctrl") and len(self.shape) == 2

    def as_data(self) -> Any:
        return self.values.as_data() if isinstance(self.values, Spread) else comparable(self.values)


@dataclass(frozen=True, eq=False)
class Question:
    """All that a sweep asks."""

    robot: Robot
    numbers: tuple[Number, ...]
    space: Space
    steps: int
    h: float
    keep: tuple[str, ...]
    record: int
    options: Mapping[str, Any]  # of `rollout`, besides the numbers
    chunk: int = 0

    # ---- what rollouts are given

    def drawn(self, k: Whole, rows: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """The numbers of rollouts k (n,) that differ, (n, …) by name; `rows` has those that come from tables."""
        given = self.rows(k) if rows is None else rows
        return {
            one.name: given[one.name] if one.name in given else one.values.values(one.name, one.shape, self.space, k)
            for one in self.numbers
            if isinstance(one.values, Spread)
        }

    def rows(self, k: Whole) -> dict[str, Array]:
        """Those of them that come from tables."""
        return {
            one.name: one.values.values(one.name, one.shape, self.space, k)
            for one in self.numbers
            if isinstance(one.values, Listed) and is_table(one.values)
        }

    def carried(self) -> Question:
        """The question without the rows of its tables, which are sent with the rollouts they are for."""
        bare = [
            replace(one, values=Listed("table", np.empty(0))) if is_table(one.values) else one for one in self.numbers
        ]
        return replace(self, numbers=tuple(bare))

    def on_a_processor(self) -> Question:
        """The same question on this machine's processor."""
        return replace(self, options={**self.options, "backend": None})

    def rollout_arguments(self, drawn: Mapping[str, Array], batch: tuple[int, ...]) -> dict[str, Any]:
        """What `rollout` is given, for numbers with these axes first."""
        robot = self.robot
        made: dict[str, Any] = {"q0": np.empty((*batch, robot.nq)), "qd0": np.zeros((*batch, robot.nv))}
        made["q0"][...] = robot.neutral()
        parameters, inputs = {}, {}
        for one in self.numbers:
            value: Any = drawn.get(one.name, one.values)
            if one.of in ("q0", "qd0"):
                made[one.of][..., one.at] = value
            elif one.of == "parameters":
                parameters[one.at] = value
            elif one.of == "inputs":
                inputs[one.at] = value
            else:
                held = (1,) if one.of == "ctrl" and not one.streams else ()  # a row for all steps
                whole = np.broadcast_to(value, (*batch, *one.shape))
                made[one.of] = whole.reshape((*batch, *held, *one.shape))
        return made | {"parameters": parameters or None, "inputs": [inputs[k] for k in sorted(inputs)]}

    def run(self, given: Mapping[str, Any], record: int, steps: int | None = None) -> Rollout:
        """Rollouts with what they are given."""
        count, robot = self.steps if steps is None else steps, self.robot
        drawn = any(one.of == "q0" and one.varies for one in self.numbers)
        if robot.nq != robot.nv and drawn:  # a quaternion that was drawn is a direction
            q0 = np.asarray(given["q0"], float)
            given = {**given, "q0": unit(robot, q0.reshape(-1, robot.nq)).reshape(q0.shape)}
        return rollout(self.robot, steps=count, h=self.h, record=record, **given, **self.options)

    def again(self, k: int) -> Rollout:
        """Rollout k, every step of it."""
        number = arguments.count("again: k", k, 0)
        if number >= self.space.total:
            raise SizeError(f"again: there is no rollout {number}; they are numbered from 0 to {self.space.total - 1}.")
        drawn = {name: x[0] for name, x in self.drawn(np.array([number])).items()}
        return self.run(self.rollout_arguments(drawn, ()), 1)

    # ---- what is kept of them

    @property
    def every(self) -> int:
        """How many steps apart the states are that have to be looked at."""
        return 1 if "extremes" in self.keep else self.record if "trajectory" in self.keep else self.steps

    def kept(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """What is kept of a rollout: q or qd of which it is made, and its axes."""
        sizes = {"q": self.robot.nq, "qd": self.robot.nv}
        made: dict[str, tuple[str, tuple[int, ...]]] = {}
        for of, n in sizes.items():
            made |= {f"{of}_end": (of, (n,))} if "final" in self.keep else {}
            made |= {f"{of}_min": (of, (n,)), f"{of}_max": (of, (n,))} if "extremes" in self.keep else {}
            made |= {of: (of, (self.steps // self.record + 1, n))} if "trajectory" in self.keep else {}
        return made

    def answer(self, k: Whole, rows: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """All that the store has of rollouts k (n,): what they were given, what is kept of them, and a status."""
        drawn = self.drawn(k, rows)
        made = {name: np.full((len(k), *shape), np.nan) for name, (_, shape) in self.kept().items()}
        made["status"] = np.full(len(k), Status.REFUSED, np.uint8)
        states = (self.steps // self.every + 1) * (self.robot.nq + self.robot.nv)
        streamed = sum(math.prod(one.shape) for one in self.numbers if one.streams)
        for part in _parts(0, len(k), max(1, ROOM // (8 * (states + streamed)))):
            self._put(made, drawn, part)
        return {name: np.ascontiguousarray(x, np.float64) for name, x in drawn.items()} | made

    def _put(self, made: Mapping[str, Array], drawn: Mapping[str, Array], part: slice) -> None:
        """Run some of the rollouts and put what is kept of them in its place; one that is refused stops no other."""
        size = part.stop - part.start
        try:
            run = self.run(self.rollout_arguments({name: x[part] for name, x in drawn.items()}, (size,)), self.every)
        except DeviceError:
            raise
        except HingeError:
            for half in _parts(part.start, part.stop, -(-size // 2)) if size > 1 else ():
                self._put(made, drawn, half)
            return
        made["status"][part] = run.status
        for name, (of, _) in self.kept().items():
            states = run.q if of == "q" else run.qd
            made[name][part] = KEEPS[name.removeprefix(of)](states, self.record // self.every)

    # ---- what it is

    def as_data(self) -> dict[str, Any]:
        """All of it as data: two questions that say the same have the same answer."""
        robot, numbers = self.robot, self.numbers
        of = lambda *places: {one.name: one.as_data() for one in numbers if one.of in places}
        return {
            "hinge": build(),
            "robot": {"name": robot.name, "nq": robot.nq, "nv": robot.nv, "digest": robot.model.digest[:12]},
            "rollouts": self.space.total, "each": self.space.each, "seed": self.space.seed,
            "steps": self.steps, "step": self.h, "chunk": self.chunk,
            "keep": list(self.keep), "record": self.record if "trajectory" in self.keep else 0,
            "parameters": of("parameters"), "initial": of("q0", "qd0"), "control": of("tau", "taus", "ctrl"),
            "inputs": of("inputs"), "options": {name: _option_as_data(x) for name, x in sorted(self.options.items())},
        }  # fmt: skip

    def trial_rollouts(self) -> Whole:
        """The numbers of the rollouts that are tried before a sweep begins."""
        return np.arange(min(TRIED, self.space.total))

    def program_hash(self, rows: Mapping[str, Array] | None = None) -> str:
        """A hash of the program that runs: robot, method, controller and all that acts.

        Takes two steps with the first rollout that is not refused; raises where none of the first few is good, and
        compiles the program, which workers on this machine then find in the cache.
        """
        drawn = self.drawn(self.trial_rollouts(), rows)
        for k in self.trial_rollouts():
            given = self.rollout_arguments({name: x[k : k + 1] for name, x in drawn.items()}, (1,))
            given |= {one.of: given[one.of][:, :2] for one in self.numbers if one.streams}
            try:
                course = self.run(given, 1, min(2, self.steps)).course
            except HingeError as problem:
                why = problem
                continue
            assert course is not None
            fields = {"q": self.robot.nq, "qd": self.robot.nv}
            return kernel(self.robot, course.physics, course.outside, fields, course.backend).program_digest
        raise why


KEEPS = {  # of states (n, rows, width), of which every so many are recorded
    "_end": lambda x, every: x[:, -1],
    "_min": lambda x, every: x.min(axis=1),
    "_max": lambda x, every: x.max(axis=1),
    "": lambda x, every: x[:, ::every],
}


def is_table(values: Any) -> bool:
    """Whether numbers come from a table."""
    return isinstance(values, Listed) and values.kind == "table"


def _parts(start: int, stop: int, size: int) -> Iterator[slice]:
    return (slice(k, min(k + size, stop)) for k in range(start, stop, size))


def _option_as_data(given: Any) -> Any:
    """An option as data; what a function does is in the hash of the program."""
    if given is None or isinstance(given, str | bool | int | float):
        return given
    if is_dataclass(given) and not isinstance(given, type) and not callable(given):
        return {type(given).__name__: _option_as_data(asdict(given))}
    if isinstance(given, Mapping):
        return {str(name): _option_as_data(x) for name, x in given.items()}
    if isinstance(given, tuple | list) and not all(isinstance(x, int | float) for x in given):
        return [_option_as_data(x) for x in given]
    if callable(given) or not isinstance(given, np.ndarray | tuple | list):
        return f"{type(given).__name__} {getattr(given, '__name__', '')}".strip()
    return comparable(np.asarray(given, float))
