"""A question from what a user gives, checked: names, shapes, how many rollouts there are and how many go together."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from hinge import arguments
from hinge.errors import SizeError, UnknownName, did_you_mean, one_of
from hinge.robot import Robot
from hinge.sim.forces import held_or_by_step
from hinge.sim.parameters import varying
from hinge.sim.setup import whole_steps
from hinge.sim.simulation import rollout
from hinge.sim.units import common, of_parameter, units
from hinge.sweeps.question import Number, Question, is_table
from hinge.sweeps.spreads import MOST, Listed, Space, Spread

Kept = Literal["final", "extremes", "trajectory"]
KEPT: tuple[Kept, ...] = get_args(Kept)
OURS = {"robot", "q0", "qd0", "steps", "h", "tau", "taus", "policy", "inputs", "record", "parameters"}
OPTIONS = [name for name in inspect.signature(rollout).parameters if name not in OURS]
LARGEST = 32 << 20  # bytes of one array in a chunk
STEPS = 1 << 21  # steps of a chunk, all rollouts together: some tenths of a second
FEWEST = 64  # rollouts in a chunk
PARTS = 16, 16_384  # chunks there are, where rollouts are few and where they are many


def asked(
    robot: Any,
    parameters: Mapping[str, Any] | None,
    initial: Mapping[str, Any] | None,
    control: Any,
    t: float,
    rollouts: int | None,
    seed: int,
    step: float,
    method: str,
    keep: Sequence[str],
    record: int,
    inputs: Sequence[Any],
    chunk: int | None,
    options: Mapping[str, Any],
) -> Question:
    """A question from what a user gives, checked."""
    if not isinstance(robot, Robot):
        raise SizeError(f"sweep takes a robot first; a {type(robot).__name__} was given.")
    for name in options:
        if name not in OPTIONS:
            raise UnknownName(f"sweep: option {name!r} is not known. {did_you_mean(name, OPTIONS)}")
    robot, known = varying(robot, parameters or {})
    duration, h = arguments.duration("t", t), arguments.duration("step", step)
    steps, last = whole_steps(duration, h)
    h = h if last == h else duration / steps  # a rollout has steps of one length
    policy = control if callable(control) else None
    numbers = (
        *(
            _number(name, "parameters", name, known[name].shape, of_parameter(robot.target, known[name]), given)
            for name, given in (parameters or {}).items()
        ),
        *_started(robot, initial or {}),
        *_forces(robot, None if policy else control, steps),
        *_controls(robot, options.get("ctrl"), steps),
        *(_number(f"input{k}", "inputs", k, None, "", x) for k, x in enumerate(inputs)),
    )
    if not isinstance(keep, str | list | tuple):
        raise SizeError(f"keep={keep!r} is no list of words. Give some of {', '.join(map(repr, KEPT))}.")
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    for name in kept:
        one_of("keep", name, KEPT)
    every = arguments.count("record", record)
    if "trajectory" in kept and steps % every:
        raise SizeError(f"record={every} does not divide the {steps} steps of a rollout: the end would be left out.")
    space, runs = _space(numbers, rollouts, seed), {"method": method, "policy": policy, **options}
    runs.pop("ctrl", None)
    made = Question(robot, numbers, space, steps, h, kept, every, runs)
    return replace(made, chunk=_chunk(made) if chunk is None else arguments.count("chunk", chunk))


def _space(numbers: Sequence[Number], rollouts: int | None, seed: int) -> Space:
    given = {one.name: one.values for one in numbers if isinstance(one.values, Listed)}
    points = {name: len(one.rows) for name, one in given.items() if not is_table(one)}
    lengths = {name: len(one.rows) for name, one in given.items() if is_table(one)}
    each = 1 if rollouts is None else arguments.count("rollouts", rollouts)
    if rollouts is None and lengths:
        each = next(iter(lengths.values()))
    for name, n in lengths.items():
        if n != each:
            raise SizeError(
                f"the table of {name!r} has {n} rows, and there are {each} rollouts at each point of the grids."
            )
    space = Space(arguments.count("seed", seed, 0), each, points)
    if space.total > MOST:
        raise SizeError(f"{space.total} rollouts are more than can be told apart; at most {MOST} are.")
    return space


def _number(name: str, of: str, at: Any, shape: tuple[int, ...] | None, unit: Any, given: Any) -> Number:
    """A number that is a spread, or the same for all; an input has any shape. A store has no names with slashes."""
    what, name = f"sweep: {name}", name.replace("/", "|").replace(" ", "_")
    if isinstance(given, Spread):
        size = _own_shape(given) if shape is None else shape
        given.fits(what, size)
        return Number(name, of, at, size, given, unit)
    value = arguments.finite(what, given).astype(float)
    if shape is not None and value.shape not in ((), shape):
        raise SizeError(
            f"{what} has shape {value.shape}; give {shape}, a number, or a spread such as uniform(low, high)."
        )
    size = value.shape if shape is None else shape
    return Number(name, of, at, size, np.array(np.broadcast_to(value, size)), unit)


def _own_shape(spread: Spread) -> tuple[int, ...]:
    """The shape of the values of a spread that nothing else says."""
    if isinstance(spread, Listed):
        return spread.rows.shape[1:]
    return np.broadcast_shapes(spread.first.shape, spread.second.shape)  # type: ignore[attr-defined]


def _started(robot: Robot, initial: Mapping[str, Any]) -> Iterator[Number]:
    """The numbers of where rollouts begin: of all joints, then of some."""
    widths = {"q": robot.nq, "qd": robot.nv}
    for name in sorted(initial, key=lambda name: name not in widths):
        letter, _, joint = name.partition("_")
        if letter not in widths or (name not in widths and not joint):
            known = [*widths, *(f"{letter}_{joint}" for letter in widths for joint in robot.joint_names)]
            raise UnknownName(f"sweep: initial has no {name!r}. {did_you_mean(name, known)}")
        at = robot.coordinates(joint)[letter == "qd"] if joint else slice(0, widths[letter])
        size = at.stop - at.start
        place, shape = (at.start, ()) if joint and size == 1 else (at, (size,))
        unit = common(units(robot.model, letter)[at])
        yield _number(f"{letter}0{name.removeprefix(letter)}", f"{letter}0", place, shape, unit, initial[name])


def _forces(robot: Robot, control: Any, steps: int) -> Iterator[Number]:
    """Joint forces that are held, or have a row a step."""
    if control is not None:
        each, forces = _by_step("control", control, robot.nv, steps)
        name, shape = ("taus", (steps, robot.nv)) if each else ("tau", (robot.nv,))
        yield _number(name, name, None, shape, common(units(robot.model, "tau")), forces)


def _controls(robot: Robot, ctrl: Any, steps: int) -> Iterator[Number]:
    """Controls of a file's actuators that are held, or have a row a step."""
    if ctrl is not None:
        nu = robot.model.physics.nu
        each, controls = _by_step("ctrl", ctrl, nu, steps)
        yield _number("ctrl", "ctrl", None, (steps, nu) if each else (nu,), "", controls)


def _by_step(name: str, given: Any, size: int, steps: int) -> tuple[bool, Any]:
    """Whether numbers have a row for each step, and the numbers; one row is held."""
    if isinstance(given, Spread) or not np.ndim(given):
        return False, given
    array, each = held_or_by_step(f"sweep: {name}", given, f"a step takes {size}", size, (), steps)
    return each, array


def _chunk(question: Question) -> int:
    """How many rollouts go together: so many that a chunk is worth a call, and few enough to lose and to hold."""
    widest = max((math.prod(shape) for _, shape in question.kept().values()), default=1)
    few, many = (-(-question.space.total // parts) for parts in PARTS)
    return max(1, min(max(FEWEST, min(few, STEPS // question.steps), many), LARGEST // (8 * max(1, widest))))
