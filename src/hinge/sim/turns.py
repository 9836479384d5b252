"""A run with steps of one length, some at a time: forces from Python, the record, Ctrl-C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends.places import HOST_ARRAYS, ChunkLength
from hinge.calls.controllers import Untraceable, checked
from hinge.contact.contact_model import NOTHING
from hinge.errors import CannotWrite
from hinge.robot import Robot
from hinge.sim import forces, setup
from hinge.sim.contact_record import Taken
from hinge.sim.growth import SLIGHT, Differences, Unstable, allowed_states_known
from hinge.sim.notes import unused_numbers
from hinge.sim.record import Bar, Recorder
from hinge.sim.rollouts import Clock, Rolling, fates
from hinge.sim.touching import refuse_deep
from hinge.sim.trajectory import Trajectory
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, joint_terms_of
from hinge.typing import Flags, Statuses, Term
from hinge.version import __version__

TRIED = 8  # rollouts whose first states are tried before a run


@dataclass
class Run:
    """A simulation while it runs: the state of every rollout, a row each, and how each fares."""

    robot: Robot
    batch: tuple[int, ...]
    physics: Physics
    outside: Outside
    q: Array
    qd: Array
    t: float = 0.0
    fate: Array = field(init=False)  # a status, since when (s), NaN where it is OK, the error of `keep`, …
    stopped: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    course: Taken | None = None  # where contacts may be asked for

    def __post_init__(self) -> None:
        self.fate = fates(len(self.q), self.physics, self.robot.model)
        refuse_deep(self.fate, self.robot, self.physics.touch, self.q, self.t, self.outside.numbers(self.robot.target))
        self.info |= {"hinge": __version__, "numpy": np.__version__, "robot": self.robot.name}
        if notes := unused_numbers(self.robot, self.physics):
            self.info["notes"] = "\n".join(notes)
        if self.physics.integrator:
            self.info["physics"] = "file"

    @property
    def status(self) -> Statuses:
        return HOST_ARRAYS.status(self.fate, self.fate.shape[:1])

    @property
    def going(self) -> Flags:
        """Which rollouts have not failed."""
        return self.fate[:, 0] <= 0.0

    def said(self, t: Any, status: Any) -> None:
        """Note what a controller says of the rollouts that go on, at one time or a time for each."""
        news = (self.fate[:, 0] == 0.0) & (np.asarray(status).reshape(-1) != 0.0)
        self.fate[:, 0] = np.where(news, -np.asarray(status, float).reshape(-1), self.fate[:, 0])
        self.fate[:, 1] = np.where(news, t, self.fate[:, 1])

    @property
    def parameters(self) -> dict[str, Array]:
        """The numbers that are given by name: one for all rollouts, or with their axes first."""
        made: dict[str, Array] = {}
        if "parameters" in self.outside.arrays:
            rows, at = self.outside.arrays["parameters"], 0
            axes = () if "parameters" in self.outside.shared else self.batch
            for one in self.physics.numbers(self.robot.target):
                made[one.name] = rows[..., at : at + one.size].reshape((*axes, *one.shape))
                at += one.size
        return made

    @property
    def joint_terms(self) -> tuple[Term, ...]:
        """The joint terms that act."""
        return joint_terms_of(self.robot.model, self.physics)

    def moved(self, t: float, rolling: Rolling) -> None:
        """Take over the states of rollouts."""
        self.t, self.q, self.qd, self.fate = t, rolling.q, rolling.qd, rolling.fate

    def kept(self, recorder: Recorder) -> Trajectory:
        """What there is to hand out."""
        if self.physics.keep > 1:
            self.info["kept_error"] = float(self.fate[:, 2].max(initial=0.0))
        t, states = recorder.made()
        if self.stopped:
            self.info["stopped"] = self.stopped
            going = "\n  With append=True a run goes on from there." if "file" in self.info else ""
            said = f"the simulation stopped early: {self.stopped}. What was computed is in the trajectory.{going}"
            warnings.warn(said, stacklevel=3)
        status, lost = self.status.reshape(self.batch), self.fate[:, 1].reshape(self.batch)
        return Trajectory(self.robot, t, states, status, self.physics.method, tuple(recorder.events), self.info, lost,
                          self.parameters, self.joint_terms, self.course)  # fmt: skip


class Source:
    """Joint forces from Python, some steps at a time; or what stands for them in the program."""

    def __init__(self, run: Run, control: Any, inputs: Sequence[Any], steps: int, sample: int) -> None:
        sample = sample or getattr(control, "sample", 0)
        self.run, self.control, self.sample, self.inputs = run, None, sample, inputs
        if control is None:
            return
        if not callable(control):
            setup.pushed_by(run.outside, run.robot, control, run.batch, steps)
            return
        if not sample:
            try:
                setup.driven_by(run.outside, run.robot, control, inputs, run.batch)
                return
            except Untraceable as why:
                forces.warn_untraceable(control, why)
        self.control, self.sample, self.inputs = control, max(1, sample), setup.fed(control, inputs)
        run.outside.arrays["tau"] = np.zeros((len(run.q), run.robot.nv))

    def ask(self, n: int, t: float, held: Array) -> None:
        """Put the forces of step n, from Python, where the program reads them."""
        if self.control is None or n % self.sample:
            return
        run = self.run
        # copies: a controller may keep what it sees
        q, qd = (a.reshape(*run.batch, a.shape[-1]).copy() for a in (run.q, run.qd))
        made = checked(run.robot.target, self.control(t, q, qd, *self.inputs), run.batch)
        if n == 0:
            forces.check_rows(run.robot, self.control, t, q, qd, made, self.inputs)
        held[...] = made.reshape(len(run.q), -1)
        if hasattr(self.control, "status"):
            run.said(t, np.broadcast_to(self.control.status(t, q, qd, *self.inputs), run.batch))


class Turns:
    """A run with steps of one length, some at a time, and a last one that may be shorter."""

    def __init__(self, run: Run, source: Source, recorder: Recorder, clock: Clock, every: int, backend: str | None
                 ) -> None:  # fmt: skip
        self.run, self.source, self.recorder, self.clock, self.every = run, source, recorder, clock, every
        self.backend = backend
        self.rolling = self._rolling(run.physics, run.fate)
        run.t = clock.time(0)
        if run.physics.touch.active:
            run.course = Taken(run.robot, run.physics, run.outside, clock, backend, source.control is not None)

    def instability(self) -> Unstable | None:
        """Return how steps from the first states are unstable, if they are.

        Friction, stops and contacts change velocities at once, which is no instability. The soft law has stiff springs,
        and a step of its own for them.
        """
        run, physics, rolling, h = self.run, self.run.physics, self.rolling, self.clock.h
        if physics.touch.law.only_method:
            return None
        if physics.stops or physics.touch.active or "friction" in physics.terms:
            if not any(states.unstable(h) for states in self._tried(rolling, physics)):
                return None
            physics = replace(physics, stops=False, terms=physics.traced_terms, touch=NOTHING)
            rolling = self._rolling(physics, fates(len(run.q), physics, run.robot.model))
        found = (states.instability(h) for states in self._tried(rolling, physics))
        return next(filter(None, found), None)

    def _tried(self, rolling: Rolling, physics: Physics) -> Iterator[Differences]:
        """Yield the states around the present one of up to eight rollouts that are still running."""
        run, going = self.run, np.flatnonzero(self.run.going & np.isfinite(self.run.q).all(axis=1))
        if allowed_states_known(run.robot, physics):
            for k in going[:: -(-len(going) // TRIED) or 1]:
                yield Differences(rolling, run.robot, physics, int(k), run.t, run.q[k], run.qd[k])

    def instability_of(self, trajectory: Trajectory, rollout: int) -> Unstable | None:
        """Return how steps from the last state of a rollout that became unstable are, where that is known."""
        if trajectory.lost is None or not {"q", "qd"} <= set(trajectory.states):
            return None
        if not allowed_states_known(self.run.robot, self.run.physics):
            return None
        last = trajectory[max(0, int(np.searchsorted(trajectory.t, trajectory.lost.reshape(-1)[rollout])) - 1)]
        q, qd = (a.reshape(len(self.run.q), -1)[rollout] for a in (last.q, last.qd))
        t, physics = float(last.t[0]), self.run.physics
        return Differences(self.rolling, self.run.robot, physics, rollout, t, q, qd, SLIGHT).instability(self.clock.h)

    def _rolling(self, physics: Physics, fate: Array) -> Rolling:
        run, clock = self.run, self.clock
        return Rolling(run.robot, physics, run.outside, run.q, run.qd, fate, clock.h, self.every or 1,
                       self.recorder.arrays, clock.start, clock.first, self.backend)  # fmt: skip

    def go(self, progress: bool | None) -> None:
        """Run to the end, or as far as one gets."""
        run, pace, steps = self.run, ChunkLength(len(self.run.q)), self.clock.steps
        try:
            self.put(0)
            with Bar(steps, progress) as bar:
                n = 0
                while n < steps:
                    count = self.bounded(n, min(pace.steps, steps - n))
                    with pace.of(count):
                        self.turn(n, count)
                    n += count
                    self.filled(n)
                    bar.at(n)
            self.close(steps)
        except KeyboardInterrupt:
            run.stopped = f"interrupted at t = {run.t:g} s"
            if not self.every:
                self.put(0)
                self.recorder.fill(np.array([run.t]))
        except CannotWrite as problem:
            run.stopped = f"{problem} at t = {run.t:g} s"

    def bounded(self, n: int, count: int) -> int:
        """How many steps may be taken at once from step n on: as their length, the forces and the record allow."""
        count = min(count, self.clock.together(n))
        if self.source.control is not None:
            count = min(count, self.source.sample - n % self.source.sample)
        if self.every:
            count = min(count, (self.recorder.row + self.recorder.room) * self.every - n)
        return count

    def turn(self, n: int, count: int) -> None:
        """Take steps, all of one length."""
        self.source.ask(n, self.clock.time(n), self.rolling.given.get("tau", np.empty(0)))
        self.on_time(self.rolling, n)
        self.rolling.run(n, count, self.recorder.row)
        self.run.moved(self.clock.time(n + count), self.rolling)

    def on_time(self, rolling: Rolling, n: int) -> None:
        """Set the clock of rollouts to step n, where that is the shorter last one, or what would follow it."""
        if n >= self.clock.alike:
            rolling.begin(n, self.clock.time(n), self.clock.length(n))

    def filled(self, n: int) -> None:
        """Hand on the rows that are whole once n steps are taken: those before the next one that is due."""
        if not self.every:
            return
        recorder, row = self.recorder, self.recorder.row
        rows = np.arange(recorder.count, -(-n // self.every))
        if len(rows):
            recorder.fill(self.clock.time(rows * self.every))
        if recorder.row != row:
            self.put(n // self.every)  # the arrays were emptied: their first row is due now

    def put(self, row: int) -> None:
        """Write the state into a row of the record; its forces are written by the next step."""
        for name, value in (("q", self.run.q), ("qd", self.run.qd)):
            if name in self.recorder.arrays:
                self.recorder.arrays[name][:, row - self.recorder.row] = value

    def close(self, steps: int) -> None:
        """The last row: the state, and the forces that a step from here would begin with."""
        recorder = self.recorder
        row = -(-steps // self.every) if self.every else 0
        self.put(row)
        if "tau" in recorder.arrays:
            self.source.ask(steps, self.clock.time(steps), self.rolling.given.get("tau", np.empty(0)))
            self.on_time(self.rolling, steps)
            self.rolling.look(steps, row - recorder.row)
        recorder.fill(np.array([self.clock.time(steps)]))
