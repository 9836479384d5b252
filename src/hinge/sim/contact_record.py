"""What touched during a run: contact points and forces at its recorded states.

    run = hinge.simulate(robot, t=1.0, ground=0.0)
    run.contacts.forces

Contacts are not recorded while a run goes on. Where somebody asks for them, one kernel takes the step that begins at
each recorded state once more, with all that acted in it, and keeps what it finds at the contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hinge.backends.kernel import ROWS
from hinge.backends.places import place_of_backend
from hinge.contact.results import NUMBERS, ContactRecord, contact_numbers, recorded
from hinge.errors import NotCovered, TrajectoryError
from hinge.graph import Graph, Input, Program, Record, Rows, Scalar, less, minimum, order, repeat, select
from hinge.graph.collector import uncollected
from hinge.robot import Robot
from hinge.sim.record import affordable
from hinge.sim.rollouts import Clock, step_kernel
from hinge.steps.clock import CLOCK
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, Step
from hinge.typing import AnyArray

SAME_STEP = 1e-6  # of a step: how far a time may be from the beginning of one


@dataclass(frozen=True)
class Taken:
    """How the steps of a run were taken: what acted, and when.

    With `told` the joint forces were Python's, and are those that were recorded.
    """

    robot: Robot
    physics: Physics
    outside: Outside
    clock: Clock
    backend: str | None
    told: bool = False

    def alone(self, rollout: int) -> Taken:
        """The same of one rollout, by its number."""
        arrays = {
            name: x if name in self.outside.shared else x[rollout : rollout + 1]
            for name, x in self.outside.arrays.items()
        }
        return replace(self, outside=replace(self.outside, arrays=arrays))

    def contacts(self, t: AnyArray, q: Any, qd: Any, tau: Any = None) -> ContactRecord:
        """The contacts at states (…, T, nq) and (…, T, nv) of these times; with `told` tau is (…, T, nv)."""
        touch = self.physics.touch
        if not touch.active:
            raise TrajectoryError("there were no contacts.", "Simulate with contacts=, ground= or physics='file'.")
        place = place_of_backend(self.backend)
        if not isinstance(q, np.ndarray):
            raise NotCovered("contacts are those of NumPy's arrays. Use robot.contact_step on these states.")
        batch, rows = q.shape[:-2], q.shape[-2]
        count = int(np.prod(batch))
        clock = self.clock
        steps = np.ceil((t - clock.start) / clock.h - SAME_STEP) - clock.first
        times, lengths = clock.time(steps), np.where(steps < clock.alike, clock.h, clock.last)
        if steps.min(initial=0.0) < 0.0:
            raise TrajectoryError(
                f"the states before t = {clock.time(0):g} s were there before this run.",
                "Ask for the contacts of those since: run[a:].contacts.",
            )
        outside = self.outside
        if self.told:
            outside, steps = _recorded_forces(outside, tau, count), np.arange(float(rows))  # a row of forces for each
        affordable(rows, count, touch.room * NUMBERS)
        made = np.zeros((count, rows * touch.room, NUMBERS))
        made[..., 0] = -1.0
        states = [np.ascontiguousarray(a, float).reshape(count, rows, a.shape[-1]) for a in (q, qd)]
        given = [place.flat(outside.arrays[one.name], one) for one in outside.inputs()]
        last = max((x.shape[-2] - 1 for name, x in outside.arrays.items() if name in ("taus", "ctrls")), default=0)
        kernel = step_kernel(self.robot, self.physics, outside, ("contacts", touch.room), _takes(self.robot),
                          [(1,), (ROWS, NUMBERS)], partial(program, self.robot, self.physics, outside),
                          self.backend)  # fmt: skip
        done, when = np.empty((count, 1)), np.stack([steps, times, lengths], axis=-1)
        for at, part in place.chunks(count, rows):
            numbers = np.array([clock.start, clock.first, at, clock.h, part, 1, 0, last], float)
            place.bind(kernel, [np.zeros((count, 1)), when, *states, numbers, *given], [done, made])()
        return recorded(touch, made.reshape(*batch, rows, touch.room, NUMBERS))


def _recorded_forces(outside: Outside, tau: Any, count: int) -> Outside:
    """What acted, with the joint forces that were recorded; those of controls are in them."""
    if tau is None:
        raise TrajectoryError(
            "the joint forces were Python's, and were not recorded.", "Simulate with fields=('q', 'qd', 'tau')."
        )
    arrays = {name: x for name, x in outside.arrays.items() if name not in ("tau", "ctrl", "ctrls")}
    arrays["taus"] = np.ascontiguousarray(tau, float).reshape(count, *tau.shape[-2:])
    return replace(outside, arrays=arrays, streams={*outside.streams, "taus"} - {"ctrls"})


def _takes(robot: Robot) -> list[Input]:
    return [
        Input("nothing", 1),
        Input("step", 3, uniform=True, stream=True),  # its number, when it begins, and how long it is
        Input("q", robot.nq, stream=True),
        Input("qd", robot.nv, stream=True),
        Input("clock", len(CLOCK), uniform=True),
    ]


@uncollected()
def program(robot: Robot, physics: Physics, outside: Outside) -> Program:
    """The program that takes one step from each of some recorded states and writes the contacts in it."""
    graph = Graph()
    step = Step.of(graph, robot.target, physics, outside)
    model, room = step.model, physics.touch.room
    _, _, done, _, rows, *_ = (graph.input("clock", k) for k in range(len(CLOCK)))
    numbers, positions, speeds = (Rows(graph, one.name, one.size) for one in _takes(robot)[1:4])
    record = Record(graph, "contacts", NUMBERS)

    def row(k: Scalar, nothing: Scalar) -> list[Scalar]:
        at = done + k
        (n, t, h), q, v = numbers[at], positions[at], speeds[at]
        length, acts = _length(graph, outside, n, t, h), step.acts(n)
        memory = [0.0 * x for x in v[: step.law.memory(model)]]
        at_start = model.joint_positions(q)
        met = step.advance(outside.before(acts, t + length), t, length, at_start, v, memory).met
        slots, forces, size = met.slots, met.forces, met.size
        assert slots is not None
        assert forces is not None

        def one(k: Scalar, count: Scalar) -> list[Scalar]:
            record[at * float(room) + k] = contact_numbers(slots, k, forces, size)
            return [count - 1.0]

        repeat(room, [slots.count], one, lambda count: less(count, 0.5))
        return [nothing]

    made = repeat(rows, [graph.input("nothing", 0)], row)
    graph.let_go()
    return order([*_takes(robot), *outside.inputs()], [("nothing", (1,), list(made)), record])


def _length(graph: Graph, outside: Outside, n: Scalar, t: Scalar, h: Scalar) -> Scalar:
    """How long step n is, or its first part where forces jump within it."""
    if "cuts" not in outside.arrays:
        return h
    knot = Rows(graph, "cuts", outside.shape("cuts")[0])[n][0]
    return select(less(t, knot), minimum(knot - t, h), h)
