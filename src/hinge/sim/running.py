"""Put a robot in, run it, keep what came out.

    trajectory = hinge.simulate(robot, t=5.0, q0=q, control=controller)

Fixed-step methods run one kernel a step on all rollouts at once. Methods are rows of a table (integrators/tableaus.py);
"dopri5" chooses its own steps (adaptive.py), "midpoint" is implicit and symplectic (symplectic.py).
Sources: turney1981, section 9; featherstone1987, section 5.2.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge import inputs
from hinge.constraining import Constrained
from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean
from hinge.integrators import TABLEAUS
from hinge.integrators.steps import not_a_group
from hinge.model.driven import sizes
from hinge.robot import Robot, Vector
from hinge.sim import forces
from hinge.sim.closed import kept_closed
from hinge.sim.kernels import Physics, step_kernel
from hinge.sim.record import CannotWrite, Memory, Recorder, shown
from hinge.sim.stops import Stops
from hinge.sim.trajectory import FIELDS, Trajectory
from hinge.status import NONFINITE, OK, SINGULAR
from hinge.version import __version__

Array = np.ndarray[Any, np.dtype[Any]]
METHODS = (*TABLEAUS, "midpoint")
SPRING = 200.0  # rad/s: how fast a limit that is a spring pushes back, without swinging
TURN = 0.02  # rad or m: what a joint may move in a step where the step is chosen for it


@dataclass
class Run:
    """A simulation while it runs: the state of every rollout, a row each, and how each fares."""

    robot: Robot
    q: Array
    qd: Array
    batch: tuple[int, ...]
    physics: Physics
    t: float = 0.0
    status: Array = field(init=False)
    stopped: str = ""
    info: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.status = np.zeros(len(self.q), np.uint8)

    def moved(self, t: float, q: Array, qd: Array, fared: Array) -> None:
        """Take a step; a rollout that failed in it is known, and NaN, from now on."""
        self.t, self.q, self.qd = t, q, qd
        with np.errstate(all="ignore"):
            whole = abs(float(qd.sum())) < np.inf
        if not whole:
            lost = ~(np.isfinite(qd).all(axis=1) & np.isfinite(q).all(axis=1)) & (self.status == OK)
            self.status[lost] = np.where(fared[lost] == SINGULAR, SINGULAR, NONFINITE)
            q[lost] = qd[lost] = np.nan

    def kept(self, recorder: Recorder, method: str, events: Sequence[Any] = ()) -> Trajectory:
        """What there is to hand out."""
        t, states = recorder.made()
        if self.stopped:
            self.info["stopped"] = self.stopped
            warnings.warn(f"the simulation stopped early: {self.stopped}. What was computed is in the trajectory.",
                          stacklevel=3)  # fmt: skip
        return Trajectory(self.robot, t, states, self.status.reshape(self.batch), method, tuple(events), self.info)


def simulate(robot: Robot, t: float = 5.0, q0: Vector = None, qd0: Vector = None, control: Any = None,
             method: str = "rk4", step: float | str = 1e-3, record: int | str = 1, fields: Sequence[str] = FIELDS,
             sample: int = 0, effort: bool = False, limits: str = "ignore",
             joint_terms: Sequence[str] = ("armature",), keep: int = 1, events: Sequence[Callable[..., Any]] = (),
             rtol: float = 1e-8, atol: float = 1e-10, file: str | os.PathLike[str] | None = None,
             progress: bool | None = None, backend: str | None = None, constraint: Constrained | None = None,
             loops: str | None = None, loop_time: float = 0.05) -> Trajectory:  # fmt: skip
    """Run a robot for t seconds from q0 (…, nq) and qd0 (…, nv); leading axes are rollouts.

    `control` is None, joint forces (…, nv) or (…, steps, nv), or a function control(t, q, qd). A function is traced
    into the step where it can be and evaluated at every stage, or every `sample` steps and held. `method` is "rk4",
    "euler", "semi_implicit", "lie_rk4", "midpoint" (symplectic) or "dopri5" (adaptive, to `rtol` and `atol`, with
    `events`). `step` is in s, or "auto", which bounds what a joint moves in a step by its velocity limit. `record`
    says every how many steps a state is kept, or "last". `effort` keeps forces within their limits; `limits` may be
    "stop" or "spring". `keep` uses the mass matrix and bias force of every so many steps. Ctrl-C returns what there is.
    `constraint` is one of `hinge.constrain`; `loops` says how a robot's loops and constraints are kept from drifting:
    "project", "baumgarte" with the time constant `loop_time` (s), or "independent".

    >>> pendulum = hinge.samples.pendulum(1)
    >>> run = hinge.simulate(pendulum, t=1.0, q0=[0.1], step=0.01)
    >>> run.q.shape
    (101, 1)
    """
    run = _run(robot, q0, qd0, joint_terms, effort, limits)
    keeper = kept_closed(run, constraint, loops, loop_time, method, keep)
    duration = _positive("t", t)
    _known("method", method, METHODS)
    for name in fields:
        _known("fields", name, FIELDS)
    sample, keep = _count("sample", sample, 0), _count("keep", keep)
    every = 0 if record == "last" else _count("record", record, also=', or "last"')
    widths = {n: robot.nq if n == "q" else robot.nv for n in FIELDS if n in fields}
    run.info |= {"hinge": __version__, "numpy": np.__version__, "robot": robot.name}
    if method == "dopri5":
        from hinge.sim.adaptive import adaptive

        _refuse(method, sample=sample, keep=keep > 1, limits=limits == "stop", file=file)
        spacing = 1e-3 if step == "auto" else _step(robot, step)
        return adaptive(run, duration, control, every * spacing, widths, events, rtol, atol, backend)
    _refuse(method, events=events, keep=keep > 1 and method == "midpoint")
    h = _step(robot, step)
    steps = max(1, round(duration / h))
    h = run.info["step"] = duration / steps
    source = _Source(run, control, steps, sample)
    if method == "midpoint":
        from hinge.sim.symplectic import Midpoint

        advance: Any = Midpoint(run, source, backend)
    elif keep > 1:
        from hinge.sim.kept import Kept

        advance = Kept(run, source, keep, method)
    else:
        advance = _Explicit(run, source, method, backend)
    stops = Stops(run) if limits == "stop" else None
    count = steps // every + 1 + (steps % every > 0) if every else 1
    recorder: Recorder
    if file is None:
        recorder = Memory(count, run.batch, widths)
    else:
        from hinge.sim.store import Writer

        run.info["file"] = os.fspath(file)
        recorder = Writer(file, robot, run, widths, count, method)
    try:
        for k in shown(steps, progress):
            q, qd, tau, fared = advance(k, run.t, h)
            if every and k % every == 0:
                recorder.add(run.t, run.q, run.qd, tau)
            if stops is not None:
                q, qd = stops(q, qd)
            if keeper is not None:
                q, qd = keeper((k + 1) * h, q, qd)
            run.moved((k + 1) * h, q, qd, fared)
        recorder.add(duration, run.q, run.qd, advance(steps - 1, duration, h)[2])
    except KeyboardInterrupt:
        run.stopped = f"interrupted at t = {run.t:g} s"
        if not every and not recorder.count:
            recorder.add(run.t, run.q, run.qd, np.full_like(run.qd, np.nan))
    except CannotWrite as problem:
        run.stopped = f"{problem} at t = {run.t:g} s"
    return run.kept(recorder, method)


class _Source:
    """Joint forces a step at a time, from an array or from Python; or a controller that was traced."""

    def __init__(self, run: Run, control: Any, steps: int, sample: int) -> None:
        self.run, self.control, self.sample, self.traced = run, control, sample, None
        self.held = np.zeros((len(run.q), run.robot.nv))
        self.rows: Array | None = None
        if control is None or not callable(control):
            if control is not None:
                tau, each = forces.given_forces(run.robot, control, run.batch, steps)
                flat = tau.reshape(-1, *((steps,) if each else ()), run.robot.nv)
                self.rows, self.held = (flat, self.held) if each else (None, np.ascontiguousarray(flat))
            self.control = None
        elif not sample:
            try:
                self.traced = forces.trace_control(run.robot, control)
            except forces.Untraceable as why:
                forces.warn_untraceable(control, why)
                self.sample = 1

    def at(self, k: int, t: float) -> Array:
        """The forces held over step k."""
        if self.rows is not None:
            return self.rows[:, k]
        if self.control is not None and k % self.sample == 0:
            run = self.run
            # copies: a controller may keep what it sees
            q, qd = (a.reshape(*run.batch, a.shape[-1]).copy() for a in (run.q, run.qd))
            made = forces.checked(run.robot, self.control(t, q, qd), run.batch)
            if k == 0:
                forces.check_rows(run.robot, self.control, t, q, qd, made)
            self.held = np.ascontiguousarray(made.reshape(len(run.q), -1))
        return self.held


class _Explicit:
    """A step by a tableau, in one kernel that goes to and fro between two sets of arrays."""

    def __init__(self, run: Run, source: _Source, method: str, backend: str | None) -> None:
        tableau = TABLEAUS[method]
        why = not_a_group(run.robot.model) if tableau.group else ""
        if why:
            raise NotCovered(f"method {method!r} does not cover robot {run.robot.name!r}: {why}.\n  Use 'rk4'.")
        self.source, rows = source, len(run.q)
        kernel = step_kernel(run.robot, tableau, run.physics, source.traced, backend)
        here = [run.q.copy(), run.qd.copy(), np.zeros(rows), np.zeros(rows)]
        there = [np.empty_like(a) for a in here]
        self.given, self.tau = np.zeros_like(run.qd), np.empty_like(run.qd)
        self.fared = np.empty(rows, np.uint8)
        held = [] if source.traced is not None else [self.given]
        self.sides = [
            (kernel.bind(*a, *held, *b, self.tau, self.fared), a, b) for a, b in ((here, there), (there, here))
        ]
        self.run, self.at = run, 0

    def __call__(self, k: int, t: float, h: float) -> tuple[Array, ...]:
        call, start, end = self.sides[self.at]
        start[2][:], start[3][:] = t, h
        if self.source.traced is None:
            self.given[...] = self.source.at(k, t)
        if start[0] is not self.run.q:  # somebody else has moved the state
            start[0][...], start[1][...] = self.run.q, self.run.qd
        call()
        self.at = 1 - self.at
        return end[0], end[1], self.tau, self.fared


# what was given


def _run(robot: Robot, q0: Vector, qd0: Vector, terms: Sequence[str], effort: bool, limits: str) -> Run:
    if not isinstance(robot, Robot):
        raise SizeError(f"simulate takes a robot first; a {type(robot).__name__} was given.")
    if not robot.nv:
        raise NotCovered(f"robot {robot.name!r} has no moving joint: there is nothing to simulate.")
    if robot.subject.vary or any(sizes(robot.model)):
        raise NotCovered(f"robot {robot.name!r} has numbers or joints that are given with each call, and a simulation "
                         "has no place for them.\n  Simulate the robot it was made from.")  # fmt: skip
    q = inputs.real("q0", robot.neutral() if q0 is None else q0, (robot.nq,)).astype(float)
    qd = inputs.real("qd0", np.zeros(robot.nv) if qd0 is None else qd0, (robot.nv,)).astype(float)
    for name, a in (("q0", q), ("qd0", qd)):
        if not np.all(np.isfinite(a)):
            where = tuple(int(k) for k in np.argwhere(~np.isfinite(a))[0])
            raise SizeError(f"{name} has a value that is not finite, at {where}.")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
    except ValueError:
        raise SizeError(f"q0 {q.shape} and qd0 {qd.shape} do not fit together.") from None
    _known("limits", limits, ("ignore", "stop", "spring"))
    physics = Physics(inputs.terms(terms), bool(effort), _springs(robot) if limits == "spring" else None)
    q, qd = (np.array(np.broadcast_to(a, (*batch, a.shape[-1])).reshape(-1, a.shape[-1]), order="C") for a in (q, qd))
    if robot.nq != robot.nv:
        q = robot.integrate(q, np.zeros_like(qd))  # quaternions of length one
    return Run(robot, q, qd, batch, physics)


def _springs(robot: Robot) -> tuple[tuple[float, float], ...]:
    """Stiffness and damping of a limit, one a velocity: they move what the joint feels at rest at one pace, SPRING."""
    felt = 1.0 / np.diagonal(robot.inverse_mass_matrix(robot.neutral()))
    return tuple((float(SPRING**2 * m), float(2.0 * SPRING * m)) for m in felt)


def _refuse(method: str, **given: Any) -> None:
    for name, value in given.items():
        if value:
            other = "'dopri5'" if name == "events" else "'euler' or 'semi_implicit'" if name == "keep" else "'rk4'"
            raise NotCovered(f"{name}= does not go with method={method!r}. Use method={other}.")


def _step(robot: Robot, step: float | str) -> float:
    if step != "auto":
        return _positive("step", step)
    fastest = robot.limits.velocity[np.isfinite(robot.limits.velocity) & (robot.limits.velocity > 0.0)]
    if not len(fastest):
        raise SizeError(f'step="auto" needs velocity limits, and robot {robot.name!r} has none. Give a step in s.')
    return float(TURN / fastest.max())


def _positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0.0):
        raise SizeError(f"{name}={value!r} is not a time. Give a positive number of seconds.")
    return number


def _count(name: str, value: Any, least: int = 1, also: str = "") -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SizeError(f"{name}={value!r} is not known. Give a whole number, {least} or more{also}.")
    return int(value)


def _known(name: str, value: Any, words: Sequence[str]) -> None:
    if value not in words:
        raise UnknownName(f"{name} has {value!r}, which is not known. {did_you_mean(str(value), words)}")
