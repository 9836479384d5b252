"""Put a robot in, run it, keep what came out.

    trajectory = hinge.simulate(robot, t=5.0, q0=q, control=controller)
    q, qd, status = hinge.rollout(robot, q0, qd0, steps=1000, h=1e-3, taus=taus)

All steps of all rollouts run in one kernel (rollouts.py), which is called a part at a time, so that there are progress,
records in a file and Ctrl-C. Methods are rows of a table (integrators/methods.py); one that estimates its
error chooses its own steps (adaptive.py).
Sources: turney1981, section 9; featherstone1987, section 5.2.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends.places import place_of_backend
from hinge.contact.contact_model import Ground
from hinge.contact.contacts import Contact
from hinge.contact.surfaces import surface_parameters
from hinge.errors import NotCovered, SizeError, one_of
from hinge.integrators import METHODS
from hinge.robot import Robot
from hinge.robot.constrained import Constrained
from hinge.sim import setup
from hinge.sim.adjoint import Course, by_name
from hinge.sim.growth import Unstable
from hinge.sim.parameters import varied
from hinge.sim.record import Memory, Recorder, affordable
from hinge.sim.recording import FIELDS, Recorded
from hinge.sim.rollout_states import Rollout
from hinge.sim.rollouts import Clock, Rolling, fates
from hinge.sim.tensors import rolled
from hinge.sim.touching import refuse_deep, touching
from hinge.sim.trajectory import Trajectory
from hinge.sim.turns import Run, Source, Turns
from hinge.status import UNSTABLE
from hinge.steps.inputs import Outside
from hinge.typing import Backend, Control, Frame, Law, Limits, LoopWay, Number, Numbers, Term

if TYPE_CHECKING:
    from hinge.robot.algorithms import Integrator

BaseMotion = tuple[Numbers, Numbers] | Callable[[float], tuple[Numbers, Numbers]]  # velocity and acceleration, or of t
Prescribed = Sequence[Numbers] | Callable[[float], Sequence[Numbers]]  # value, rate and acceleration, or of t
SHORTEST = 0.05  # of the default step: how short it may become where that is not stable
Touching = Sequence[Contact] | Literal["file", "self"]


def rollout(
    robot: Robot,
    q0: Numbers,
    qd0: Numbers,
    steps: int,
    h: float,
    tau: Numbers | None = None,
    taus: Numbers | None = None,
    policy: Control | None = None,
    inputs: Sequence[Numbers] = (),
    method: Integrator = "semi_implicit",
    record: int = 1,
    parameters: Mapping[str, Numbers] | None = None,
    joint_terms: Sequence[Term] = ("armature",),
    effort: bool = False,
    limits: Limits = "ignore",
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    base_motion: BaseMotion | None = None,
    prescribed: Prescribed | None = None,
    constraint: Constrained | None = None,
    loops: LoopWay | None = None,
    loop_time: float = setup.LOOP_TIME,
    t0: float = 0.0,
    backend: Backend | None = None,
    contacts: Touching | None = None,
    ground: float | Ground | None = None,
    law: Law | None = None,
    physics: Literal["file"] | None = None,
    ctrl: Numbers | None = None,
    ignore: Sequence[str] = (),
) -> Rollout:
    """Steps of h seconds from q0 (…, nq) and qd0 (…, nv), in one kernel: gives (q, qd, status).

    `tau` (…, nv) is held, `taus` (…, steps, nv) has a row a step, and `policy(t, q, qd, *inputs)` is traced and
    evaluated at every stage; its `inputs` are shared, or have the rollouts' axes first. q (…, steps // record + 1, nq)
    and qd have the start and every `record`-th state. `parameters` are a varied robot's, and "friction" and
    "restitution" of contacts, shared or a row a rollout.
    A rollout that was lost is NaN from there on, and its status says how. What else there is, is as in `simulate`.

    >>> arm = hinge.samples.planar_2r()
    >>> q, qd, status = hinge.rollout(arm, np.zeros((5, 2)), np.zeros(2), steps=100, h=1e-3, record=10)
    >>> q.shape, status.shape
    ((5, 11, 2), (5,))
    """
    said = dict(locals())
    count, every, h = arguments.count("steps", steps, 0), arguments.count("record", record), arguments.duration("h", h)
    setup.listed(inputs)
    arrays = by_name(q0=q0, qd0=qd0, tau=tau, taus=taus, inputs=inputs, parameters=parameters, external=external,
                     base_motion=base_motion, prescribed=prescribed, ctrl=ctrl)  # fmt: skip
    given = [name for name, one in (("tau", tau), ("taus", taus), ("policy", policy)) if one is not None]
    if len(given) > 1:
        raise SizeError(f"rollout takes one of tau, taus and policy; {' and '.join(given)} were given.")
    start, first = _began(t0, h)
    how = count, h, every, start, first

    def there(library: Any, axes: tuple[int, ...], given: Mapping[str, Any]) -> Rollout:
        from hinge.sim.on_gpu import begun

        place, q, qd, physics, acts = begun(library, robot, axes, given, count, said)
        _cut(acts, policy, start, first, h, count)
        return _taken(Course(robot, physics, acts, axes, [], *how, library.backend, given, place), q, qd)

    other = rolled(robot, arrays, count // every + 1, lambda **given: rollout(**said | given), there)
    if other is not None:
        return other if isinstance(other, Rollout) else Rollout(*other)
    numbers, surfaces = varied(robot, parameters), surface_parameters("rollout", robot.target, parameters)
    axes = [np.asarray(a).shape[:-own] for a, own in ((tau, 1), (taus, 2), (numbers, 1)) if a is not None]
    q, qd, batch = setup.start(robot, q0, qd0, *axes)
    settled = {"steps": count, "parameters": numbers, "surfaces": surfaces}
    acting, acts = setup.acting(q=q, qd=qd, batch=batch, **said | settled)
    _cut(acts, policy, start, first, h, count)
    affordable(count // every + 1, len(q), robot.nq + robot.nv)
    return _taken(Course(robot, acting, acts, batch, [], *how, backend, arrays, place_of_backend(backend)), q, qd)


def _cut(acts: Outside, policy: Any, start: float, first: int, h: float, steps: int) -> None:
    """Note where the forces of a policy jump within a step."""
    if len(knots := getattr(policy, "knots", ())):
        setup.cut(acts, knots, start + (first + np.arange(steps + 1)) * h)


def _taken(course: Course, q: Any, qd: Any) -> Rollout:
    """The rollout of a course from these states, a row each."""
    robot, place, rows = course.robot, course.place, course.steps // course.record + 1
    course.states = [place.record((len(q), rows, a.shape[-1])) for a in (q, qd)]
    for record, a in zip(course.states, (q, qd), strict=True):
        record[:, 0] = a
    fate = fates(len(q), course.physics, robot.model, place)
    refuse_deep(
        fate,
        robot,
        course.physics.touch,
        q,
        course.start + course.first * course.h,
        course.outside.numbers(robot.target),
    )
    rolling = Rolling(robot, course.physics, course.outside, q, qd, fate, course.h, course.record,
                      dict(zip(("q", "qd"), course.states, strict=True)), course.start, course.first, course.backend,
                      place)  # fmt: skip
    for done, part in place.chunks(len(q), course.steps):
        rolling.run(done, part)
    made, speeds = (a.reshape(*course.batch, rows, a.shape[-1]) for a in course.states)
    run = Rollout(made, speeds, place.status(rolling.fate, course.batch))
    run.course = course
    return run


def simulate(
    robot: Robot,
    t: float = 5.0,
    q0: Numbers | None = None,
    qd0: Numbers | None = None,
    control: Control | Numbers | None = None,
    method: Integrator | None = None,
    step: float | Literal["auto"] | None = None,
    record: int | Literal["last"] = 1,
    fields: Sequence[Recorded] = FIELDS,
    sample: int = 0,
    effort: bool = False,
    limits: Limits = "ignore",
    joint_terms: Sequence[Term] = ("armature",),
    keep: int = 1,
    events: Sequence[Callable[[float, Array, Array], Number]] = (),
    rtol: float | None = None,
    atol: float | None = None,
    file: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    backend: Backend | None = None,
    constraint: Constrained | None = None,
    loops: LoopWay | None = None,
    loop_time: float = setup.LOOP_TIME,
    parameters: Mapping[str, Numbers] | None = None,
    inputs: Sequence[Numbers] = (),
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    base_motion: BaseMotion | None = None,
    prescribed: Prescribed | None = None,
    t0: float = 0.0,
    append: bool = False,
    overwrite: bool = False,
    contacts: Touching | None = None,
    ground: float | Ground | None = None,
    law: Law | None = None,
    physics: Literal["file"] | None = None,
    ctrl: Numbers | None = None,
    ignore: Sequence[str] = (),
) -> Trajectory:
    """Run a robot for t seconds from q0 (…, nq) and qd0 (…, nv); leading axes are rollouts.

    `control` is None, joint forces, or a function control(t, q, qd, *inputs). Joint forces are (nv,), held, or
    (…, steps, nv), where one row instead of `steps` is held; `ctrl` likewise. A function is traced into the step where
    it can be and evaluated at every stage, or every `sample` steps and held; `inputs` are shared, or have the rollouts'
    axes first, and so have the `parameters`: of a varied robot, and "friction" and "restitution" of contacts.
    `method` is "rk4", the default, "euler", "semi_implicit", "implicit" (for stiff springs,
    dampers and gains), "lie_rk4", "midpoint" (symplectic) or "dopri5" (adaptive, to `rtol` and `atol`). A run in which
    the method is unstable ends with the status UNSTABLE; a warning names the joint and a stable step. `step` is in s, 1
    ms by default or, with a warning, a shorter one where that is not stable; or "auto", which bounds what a joint moves
    in a step by its velocity limit. The last step is shorter where t is no multiple of it. `record` says every how many
    steps a state is kept, or "last". `effort` keeps forces within their limits; `limits` may be "stop" or "spring".
    `events` are functions of (t, q, qd) whose zeros are found. `external` are forces at frames by name, held in their
    coordinates or those `external_frame` says; `base_motion` is (velocity, acceleration) of the base and `prescribed`
    (value, rate, acceleration) of driven joints, each held or a function of t. `t0` is when it begins; with `append` a
    file is gone on with, and `overwrite` replaces one. Ctrl-C returns what there is. `constraint` is one of
    `hinge.constrain`; `loops` says how a robot's loops and constraints are kept from drifting: "project", "baumgarte"
    with the time constant `loop_time` (s), or "independent". `keep` sets the equations of motion up every so many steps
    only, with "euler" and "semi_implicit". `physics="file"` simulates what an MJCF file specifies, with the controls
    `ctrl`. It raises where the file has features that hinge does not simulate, unless `ignore` names them: ("muscle",
    "fluid").

    >>> pendulum = hinge.samples.pendulum(1)
    >>> run = hinge.simulate(pendulum, t=1.0, q0=[0.1], step=0.01)
    >>> run.q.shape
    (101, 1)
    """
    duration = arguments.duration("t", t)
    for name in fields:
        one_of("fields", name, FIELDS)
    if callable(events) or not all(callable(one) for one in events):
        raise SizeError("events has to be a list of functions (t, q, qd).")
    setup.listed(inputs)
    sample = arguments.count("sample", sample, 0)
    setup.refuse_idle(control, inputs, sample, external, external_frame, loops, loop_time)
    every = 0 if record == "last" else arguments.count("record", record, also=', or "last"')
    numbers = varied(robot, parameters) if isinstance(robot, Robot) else None
    there = None
    if append and file is not None and os.path.exists(file):
        from hinge.sim.opening import last_of

        there = last_of(file, robot)
        method = method or cast("Integrator", there.method)
        if q0 is None and qd0 is None:  # a rollout that was lost has no state, and needs none
            q0, qd0 = there.final
            q0, qd0 = np.where(np.isnan(q0), robot.neutral(), q0), np.nan_to_num(qd0)
    q, qd, batch = setup.start(robot, q0, qd0, *([] if numbers is None else [numbers.shape[:-1]]))
    surfaces = surface_parameters("simulate", robot.target, parameters)
    touch, integrator = touching(robot, contacts, ground, law, physics, surfaces, ignore)
    way = method or touch.law.method
    kept = arguments.count("keep", keep)
    own = setup.own_numbers(robot, numbers, batch)
    acting = setup.physics(robot, q, qd, way, joint_terms, effort, limits, constraint, loops, loop_time, kept, touch,
                           integrator, own)  # fmt: skip
    widths: dict[str, int] = {n: robot.nq if n == "q" else robot.nv for n in FIELDS if n in fields}
    acts = setup.outside(robot, batch, numbers, external, external_frame, base_motion, prescribed)
    if not append:
        setup.refuse_violated(acting, acts, q, qd, t0)
    run = Run(robot, batch, acting, acts, q, qd, t0)
    _together(run, sample, file, append, overwrite, rtol, atol, events)
    by_step = not callable(control) and np.shape(cast("Any", control))[-2:-1] not in ((), (1,))
    may_shorten = step is None and not integrator and not by_step
    if step is None:
        step = robot.model.physics.options.timestep if integrator else 1e-3
    if METHODS[way].adaptive:
        from hinge.sim.adaptive import adaptive

        spacing = 1e-3 if step == "auto" else setup.step_length(robot, step, own)
        _began(t0, spacing)
        return adaptive(run, t0, duration, control, inputs, every * spacing, spacing, widths, events,
                        1e-8 if rtol is None else rtol, 1e-10 if atol is None else atol, backend)  # fmt: skip
    h = run.info["step"] = setup.step_length(robot, step, own)
    steps, last = setup.whole_steps(duration, h)
    source = Source(run, control, inputs, steps, sample)
    if integrator:
        setup.controlled(run.outside, robot, ctrl, run.batch, steps)
    elif ctrl is not None:
        setup.refuse_controls()
    trial = Turns(run, source, Memory(1, run.batch, widths), Clock(*_began(t0, h), h, steps, last), every, backend)
    found = trial.instability()
    if found is not None:
        said, whole = f"{way} with steps of {h:g} s is not stable here", h
        if may_shorten and not found.own and found.step is not None and found.step > SHORTEST * whole:
            h = run.info["step"] = whole / math.ceil(whole / found.step)
            steps, last = setup.whole_steps(duration, h)
        _warn_unstable(trial, found, said, h if h < whole else None)
    recorder: Recorder
    count = steps // every + 1 + (steps % every > 0) if every else 1
    if file is None:
        recorder = Memory(count, run.batch, widths)
    else:
        from hinge.sim.store import Writer

        run.info["file"] = os.fspath(file)
        recorder = Writer(file, run, widths, count, there, overwrite)
        t0 = run.t
    began = _began(t0, h)
    clock = Clock(*began, h, steps, last)
    if len(knots := getattr(control, "knots", ())):
        setup.cut(run.outside, knots, clock.time(np.arange(steps + 1)))
    turns = Turns(run, source, recorder, clock, every, backend)
    if events:
        from hinge.sim.events import Watch

        Watch(turns, events).go(progress)
    else:
        turns.go(progress)
    made = run.kept(recorder)
    failed = np.flatnonzero(made.status == UNSTABLE)
    if found is None and len(failed):
        which = f"{len(failed)} of {made.status.size} rollouts" if made.status.ndim else "the run"
        said = f"{way} with steps of {h:g} s was not stable: {which} ended with the status UNSTABLE"
        _warn_unstable(turns, turns.instability_of(made, int(failed[0])), said)
    return made


def _began(t0: float, h: float) -> tuple[float, int]:
    """A beginning as a time and a number of steps: times are those of a run that began at zero, where they can be."""
    if not isinstance(t0, int | float | np.number) or not np.isfinite(t0):
        raise SizeError(f"t0={t0!r} is not a time. Give a number of seconds.")
    if np.spacing(abs(float(t0))) > 0.5 * h:
        raise SizeError(f"t0={t0!r} is so large that a step of {h:g} s does not change it. Begin nearer to zero.")
    first = round(float(t0) / h)
    return (0.0, first) if first >= 0 and abs(t0 - first * h) < setup.SAME_TIME * h else (float(t0), 0)


def _together(
    run: Run, sample: int, file: Any, append: bool, overwrite: bool, rtol: Any, atol: Any, events: Sequence[Any]
) -> None:
    """Refuse what does not go together."""
    method = METHODS[run.physics.method]
    refused = {
        "sample": method.adaptive and sample and "it evaluates forces where it needs them",
        "file": method.adaptive and file is not None and "its steps have no common times to write by",
        "rtol": rtol is not None and not method.adaptive and "it estimates no error",
        "atol": atol is not None and not method.adaptive and "it estimates no error",
    }
    acts = run.outside
    if not method.asks:
        why = "it is written in momenta"
        refused |= {"external": "external" in acts.arrays and why,
                    "base_motion": ("base_motion" in acts.arrays or acts.base is not None) and why,
                    "prescribed": ("prescribed" in acts.arrays or acts.driven is not None) and why}  # fmt: skip
    if events and run.physics.keep > 1:
        raise NotCovered(
            f"events= do not go with keep={run.physics.keep}: steps are taken again to find them. Leave keep out."
        )
    for name, reason in refused.items():
        if reason:
            other = next(one for one in METHODS if METHODS[one].adaptive) if name in ("rtol", "atol") else "rk4"
            raise NotCovered(f"{name}= does not go with method={method.name!r}: {reason}. Use method={other!r}.")
    if append and overwrite:
        raise SizeError("append=True goes on with a file and overwrite=True replaces it. Give one of them.")
    if file is None and (append or overwrite):
        raise SizeError(f"{'append' if append else 'overwrite'}=True is about a file. Give file=….")


def _warn_unstable(turns: Turns, found: Unstable | None, said: str, taken: float | None = None) -> None:
    """Warn that a run is, or was, unstable, with what to do about it, or the shorter step that is `taken` instead."""
    method = turns.run.physics.method
    if found is not None and found.joint:
        said += f": errors grow {found.growth:.3g} times in a step, most at joint {found.joint!r}"
    shorter = "a shorter step"
    if found is not None and found.step is not None:
        shorter += f", such as step={found.step:g}"
    if found is not None and found.own:
        advice = f"The motion itself is unstable: check the controller. It takes {shorter} to follow it."
    elif taken is not None:
        advice = f"No step was given: steps of {taken:g} s are taken. Give a step, or method='implicit'."
    else:
        advice = f"Use {shorter}" + ("." if method == "implicit" else ", or method='implicit'.")
    warnings.warn(f"{said}.\n  {advice}", stacklevel=3)
