"""Many steps in one kernel: the step is the body of a loop, forces stream in by step and records stream out.

    q, qd, status = hinge.rollout(robot, q0, qd0, steps=1000, h=1e-3, taus=taus)

What is given from outside (`Outside`) are inputs of the program: forces that are held or stream, what a policy is
given, parameters, forces on bodies, a motion of the base, joints that are prescribed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.backends.kernel import ROWS, Kernel, Plan, kernel_of
from hinge.backends.places import HOST_ARRAYS, HostArrays, Window, place_of_backend
from hinge.calls.target import Target
from hinge.graph import (
    Graph,
    Input,
    Program,
    Record,
    Scalar,
    absolute,
    floor,
    less,
    minimum,
    order,
    repeat,
    select,
)
from hinge.graph.collector import uncollected
from hinge.integrators.probes import Probe
from hinge.model import Model
from hinge.robot import Robot
from hinge.sim.watch import Watch
from hinge.steps.clock import CLOCK
from hinge.steps.frozen_mass_matrix import Frozen, places, renewed
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, Step

WATCH = len(Watch._fields)


@uncollected()
def program(target: Target, physics: Physics, outside: Outside, fields: Mapping[str, int]) -> Program:
    """The program of `steps` steps: it gives q, qd, how the rollout fared, when it was lost, and the error of `keep`.

    With `fields` it writes rows of records: "q" and "qd" of every so many steps, "tau" at the beginning of the next.
    """
    graph = Graph()
    one = Step.of(graph, target, physics, outside)
    model, physics, law = one.model, one.physics, one.law
    nq, nv, wide = model.nq, model.nv, fate_width(physics, model)
    inputs = [Input("q", nq), Input("qd", nv), Input("fate", wide), Input("clock", len(CLOCK), True)]
    start, first, done, h, steps, every, row, _ = (graph.input("clock", k) for k in range(len(CLOCK)))
    records = {name: Record(graph, f"{name} record", width) for name, width in fields.items()}

    def due(n: Scalar) -> Scalar:
        """The row of a record that step n begins, or none."""
        whole = floor(n / every)
        return select(less(absolute(whole * every - n), 0.5), whole - row, -1.0)

    def step(k: Scalar, *now: Scalar) -> list[Scalar]:
        q, v, (fared, lost, *kept) = list(now[:nq]), list(now[nq : nq + nv]), now[nq + nv : -WATCH]
        watch = Watch(*now[-WATCH:])
        n = done + k
        t, acts = start + (first + n) * h, one.acts(n)
        tau, answer = one.commanded(acts, t, q, v), None
        if "tau" in records:
            records["tau"][due(n)] = tau
        if physics.keep > 1:
            now_kept, kept = renewed(lambda: Frozen(model, acts, t, q, v), equations, kept, n, physics.keep, tau)
            answer = now_kept.acceleration

        memory = kept if physics.keep == 1 else []
        *made, mean, early, change, status = one.advance_in_parts(n, acts, t, h, [*q, *v, *memory], answer)
        watch, status = watch.after(physics.method, Probe(mean, early, change), h, status)
        met = minimum(fared, -acts.status(t, q, v))
        now_fares = select(less(status, 0.5), minimum(met, status) if law.finds_contacts else met, status)
        changed = select(less(fared, 0.5), less(0.5, absolute(now_fares - fared)), 0.0)
        lost = select(changed, select(less(status, 0.5), t, t + h), lost)
        fared = select(less(fared, 0.5), now_fares, fared)
        good = less(fared, 0.5)
        q, v = ([select(good, x, np.nan) for x in part] for part in (made[:nq], made[nq : nq + nv]))
        kept = made[nq + nv :] if memory else kept
        for name, values in (("q", q), ("qd", v)):
            if name in records:
                records[name][due(n + 1.0)] = values
        return [*q, *v, fared, lost, *kept, *watch]

    state: list[Scalar] = [
        graph.input(name, k) for name, n in (("q", nq), ("qd", nv), ("fate", wide)) for k in range(n)
    ]
    if physics.keep > 1:
        equations = Frozen(model, one.acts(0.0), start, state[:nq], state[nq : nq + nv])
        carried = nq + nv + 3 + len(equations.flat)
    else:
        carried = nq + nv + 2 + law.memory(model)
    made = list(repeat(steps, [*state[:carried], *state[-WATCH:]], step))
    fate = [*made[nq + nv : -WATCH], *[0.0] * (nq + nv + wide - len(made)), *made[-WATCH:]]
    outputs = [("q", (nq,), made[:nq]), ("qd", (nv,), made[nq : nq + nv]), ("fate", (wide,), fate)]
    graph.let_go()
    return order([*inputs, *outside.inputs()], [*outputs, *records.values()])


def fate_width(physics: Physics, model: Model) -> int:
    """How many numbers say how a rollout fares: a status, since when, the error of `keep`, what is kept, and the watch.

    A status with which it goes on is negative.
    """
    return 3 + (places(model.nv) if physics.keep > 1 else physics.touch.law.memory(model)) + WATCH


def kernel(robot: Robot, physics: Physics, outside: Outside, fields: Mapping[str, int], backend: str | None,
           rollouts: int = 0) -> Kernel:  # fmt: skip
    """The kernel of a run, of so many rollouts where that is known."""
    wide = fate_width(physics, robot.model)
    takes = [Input("q", robot.nq), Input("qd", robot.nv), Input("fate", wide), Input("clock", len(CLOCK), True)]
    gives = [(robot.nq,), (robot.nv,), (wide,), *((ROWS, width) for width in fields.values())]
    trace = partial(program, robot.target, physics, outside, fields)
    what = "rollout", tuple(fields.items())
    return step_kernel(robot, physics, outside, what, takes, gives, trace, backend, rollouts)


def step_kernel(robot: Robot, physics: Physics, outside: Outside, what: tuple[str, Any], takes: Sequence[Input],
                gives: Sequence[tuple[int, ...]], trace: Callable[[], Program], backend: str | None,
                rollouts: int = 0) -> Kernel:  # fmt: skip
    """The kernel of a program about steps; one that does the same is the same, and kept with the robot.

    `what` says what it is about, besides the steps; it takes what is given from outside after what it `takes`.
    """
    target, inputs = robot.target, (*takes, *outside.inputs())
    # functions of the user are known by what was traced of them, which is in the key of `outside`
    source = what, target, physics, inputs, outside.loaded, outside.key
    plan = Plan(robot.name, f"{what[0]} {physics.method}", tuple(replace(one, label=one.name) for one in inputs),
                tuple(gives), lambda backend: trace(), source, target.memo,
                iterates=what[0] == "rollout" and physics.touch.active)  # fmt: skip
    return kernel_of(plan, backend, rollouts)


def fates(rollouts: int, physics: Physics, model: Model, place: HostArrays = HOST_ARRAYS) -> Any:
    """How rollouts fare that have just begun."""
    made = place.full((rollouts, fate_width(physics, model)), 0.0)
    made[:, 1] = np.nan
    return made


class Clock(NamedTuple):
    """When the steps of a run are: step n begins at start + (first + n) h seconds, and the last one has its own length.

    No step is longer than h.
    """

    start: float
    first: int
    h: float
    steps: int
    last: float

    @property
    def alike(self) -> int:
        """The number of steps that last h seconds."""
        return self.steps - int(self.last != self.h)

    def time(self, n: Any) -> Any:
        """Return when step n begins, and the end of the run for n = steps."""
        begins = self.start + (self.first + n) * self.h
        return begins if self.alike == self.steps else np.minimum(begins, self.time_of_last + self.last)

    @property
    def time_of_last(self) -> float:
        """When the last step begins."""
        return self.start + (self.first + self.steps - 1) * self.h

    def length(self, n: int) -> float:
        """Return how long step n is."""
        return self.h if n < self.alike else self.last

    def together(self, n: int) -> int:
        """Return how many steps from step n on have one length."""
        return self.alike - n if n < self.alike else self.steps - n


class Rolling:
    """Rollouts on their way: their states, and a kernel that takes all of them some steps further.

    `fate` is as `fate_width` has it; `records` are the arrays that are written.
    Step `first` begins this run, at start + first h seconds; steps and rows of records are counted from there.
    All arrays are at one `place`, which is where the back end wants NumPy's unless it is said.
    """

    def __init__(self, robot: Robot, physics: Physics, outside: Outside, q: Any, qd: Any, fate: Any, h: float,
                 every: int, records: Mapping[str, Any], start: float, first: int, backend: str | None,
                 place: HostArrays | None = None):  # fmt: skip
        fields = {name: array.shape[-1] for name, array in records.items()}
        self.place = place or place_of_backend(backend)
        self.kernel = kernel(robot, physics, outside, fields, backend, len(q))
        self.clock = np.array([start, first, 0, h, 0, every, 0, 0], float)
        taken = outside.inputs()
        for name in ("taus", "ctrls"):
            if name in outside.arrays:
                self.clock[-1] = outside.arrays[name].shape[-2] - 1
        self.given = {one.name: self.place.flat(outside.arrays[one.name], one) for one in taken}
        self.shared = {one.name for one in taken if one.uniform}
        self.records = dict(records)
        self.sides = [q, qd, fate], [self.place.empty(tuple(a.shape)) for a in (q, qd, fate)]
        self.calls = [self._bound(*pair) for pair in (self.sides, self.sides[::-1])]
        self.at = 0

    def _bound(self, a: list[Any], b: list[Any]) -> Callable[[], None]:
        given, outs = [*a, self.clock, *self.given.values()], [*b, *self.records.values()]
        constant = [len(a) + 1 + k for k, name in enumerate(self.given) if name != "tau"]
        window = Window(self._rows, len(a), CLOCK.index("row"), constant)
        return self.place.bind(self.kernel, given, outs, window)

    def _rows(self) -> slice:
        """The rows of the records that the next call may write."""
        done, steps, every, row = (self.clock[CLOCK.index(name)] for name in ("done", "steps", "every", "row"))
        return slice(max(0, int(-(-done // every) - row)), max(0, int((done + steps) // every - row) + 1))

    @property
    def q(self) -> Any:
        return self.sides[self.at][0]

    @property
    def qd(self) -> Any:
        return self.sides[self.at][1]

    @property
    def fate(self) -> Any:
        return self.sides[self.at][2]

    def run(self, done: int, steps: int, row: int = 0) -> None:
        """Take steps after `done` of them; the arrays of the records begin at row number `row`."""
        _set(self.clock, done=done, steps=steps, row=row)
        self.calls[self.at]()
        self.at = 1 - self.at

    def begin(self, n: int, t: float, h: float) -> None:
        """Let step n begin at t and last h seconds."""
        _set(self.clock, start=t, first=-n, h=h)

    def look(self, done: int, row: int) -> None:
        """Write the forces that a step from here would begin with into row `row` of the arrays, and stay here."""
        every = self.clock[CLOCK.index("every")]
        _set(self.clock, done=done, steps=1, every=1, row=done - row)
        self.calls[self.at]()
        _set(self.clock, every=every)

    def elsewhere(self, q: Array, qd: Array, rollout: int, **clock: float) -> list[Array]:
        """Where a step from other states leads, with all that is given to one rollout: q, qd and how they fare."""
        n, when = len(q), self.clock.copy()
        _set(when, **{"done": 0, "steps": 1} | clock)
        a = [np.ascontiguousarray(q), np.ascontiguousarray(qd), np.zeros((n, self.fate.shape[1]))]
        b = [np.empty_like(part) for part in a]
        own = slice(rollout, rollout + 1)
        given = [x if name in self.shared else np.repeat(x[own], n, axis=0) for name, x in self.given.items()]
        logs = [np.empty((n, 0, r.shape[-1])) for r in self.records.values()]
        self.kernel.bind(*a, when, *given, *b, *logs)()
        return b


def _set(clock: Array, **numbers: float) -> None:
    for name, number in numbers.items():
        clock[CLOCK.index(name)] = number
