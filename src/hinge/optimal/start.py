"""Where problems begin: states, a first path, and what functions are given; a row a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.backends.places import HOST_ARRAYS
from hinge.errors import SizeError, UnknownName, did_you_mean
from hinge.optimal.problem import Problem
from hinge.sim import rollout, setup
from hinge.steps.inputs import Outside
from hinge.typing import Numbers

Shape = tuple[int, ...]


@dataclass
class Start:
    """Paths q (n, horizon + 1, nq), qd and u (n, horizon, nu) that begin where problems do, and what else is given."""

    q: Array
    qd: Array
    u: Array
    outside: Outside
    batch: Shape


def start(problem: Problem, q: Numbers, qd: Numbers | None, u: Numbers | None, path: Any,
          given: Mapping[str, Any] | None, parameters: Mapping[str, Any] | None) -> Start:  # fmt: skip
    """What `ddp` is told, checked."""
    robot, N = problem.robot, problem.horizon
    rows: dict[str, tuple[Any, Shape]] = {"u": (u, (N, problem.nu))}
    if path is not None:
        if not isinstance(path, tuple | list) or len(path) != 2:
            raise SizeError("path: give the states as a pair, q (…, horizon + 1, nq) and qd (…, horizon + 1, nv).")
        rows |= {"path[0]": (path[0], (N + 1, robot.nq)), "path[1]": (path[1], (N + 1, robot.nv))}
    known = {name: arguments.finite(name, x, shape).astype(float) for name, (x, shape) in rows.items() if x is not None}
    varied = problem.parameters(parameters)
    rolls = [a.shape[:-2] for a in known.values()]
    q, qd, batch = setup.start(robot, q, qd, *rolls, *axes(problem, given, varied, np.asarray(q).shape[:-1]))
    problem.physics_from(q, qd, setup.own_numbers(robot, varied, batch))
    made = outside(problem, given, varied, batch)
    low, high = problem.bounds
    forces = laid(known["u"], batch) if "u" in known else _at_rest(problem, q, parameters)
    forces = np.clip(forces, low, high)
    if path is None:
        states = _rolled(problem, q, qd, forces, parameters)
    else:
        states = laid(known["path[0]"], batch), laid(known["path[1]"], batch)
    states[0][:, 0], states[1][:, 0] = q, qd
    return Start(states[0], states[1], forces, made, batch)


def outside(problem: Problem, given: Mapping[str, Any] | None, varied: Array | None, batch: Shape) -> Outside:
    """The arrays that the functions of a problem take: one for all, one for each problem, or rows by stage."""
    made, given = Outside(), dict(given or {})
    if varied is not None:
        setup.rows(made, "parameters", varied, batch, 1)
    for name, usual in problem.given.items():
        array = arguments.finite(f"given[{name!r}]", given.get(name, usual)).astype(float)
        by_stage = _by_stage(problem, name, array.shape, batch)
        own = usual.ndim + int(by_stage)
        if array.shape[array.ndim - usual.ndim :] != usual.shape:
            raise SizeError(f"given[{name!r}] has shape {array.shape}; the problem has it with {usual.shape}.")
        flat = array.reshape(*array.shape[: array.ndim - usual.ndim], max(1, usual.size))
        setup.rows(made, name, flat, batch, own - usual.ndim + 1)
        if by_stage:
            made.streams.add(name)
    return made


def flat(acts: Outside) -> list[Array]:
    """The arrays that are given, with the numbers of a problem, or of a stage, in a row."""
    return [HOST_ARRAYS.flat(a, one) for a, one in zip(acts.arrays.values(), acts.inputs(), strict=True)]


def _by_stage(problem: Problem, name: str, shape: Shape, batch: Shape) -> bool:
    """Whether an array has a row for each stage; where it may have one for each problem, it has that."""
    axes = shape[: len(shape) - problem.given[name].ndim]
    return len(axes) > 0 and axes[-1] == problem.horizon + 1 and axes != batch


def axes(problem: Problem, given: Mapping[str, Any] | None, varied: Array | None, batch: Shape) -> list[Shape]:
    """The axes of problems that what is given has, and that parameters have."""
    refuse_unknown(problem, given or {})
    made = [] if varied is None else [varied.shape[:-1]]
    for name, array in (given or {}).items():
        shape = np.shape(array)
        own = shape[: len(shape) - problem.given[name].ndim]
        made.append(own[:-1] if _by_stage(problem, name, shape, batch) else own)
    return made


def refuse_unknown(problem: Problem, given: Mapping[str, Any]) -> None:
    """Raise where something is given by a name that the problem does not know."""
    for name in given:
        if name not in problem.given:
            hint = did_you_mean(name, problem.given) if problem.given else "The problem takes nothing by name."
            raise UnknownName(f"given names {name!r}. {hint}")


def laid(a: Array, batch: Shape) -> Array:
    """Rows of steps, a block a problem."""
    return np.array(np.broadcast_to(a, (*batch, *a.shape[-2:])).reshape(-1, *a.shape[-2:]), order="C")


def _at_rest(problem: Problem, q: Array, parameters: Mapping[str, Any] | None) -> Array:
    """The forces that carry the driven joints' weight where problems begin, at every step."""
    tau = problem.robot.gravity_force(q, parameters=parameters)[:, list(problem.drives)]
    return np.repeat(tau[:, None], problem.horizon, axis=1)


def _rolled(problem: Problem, q: Array, qd: Array, u: Array, parameters: Mapping[str, Any] | None) -> Any:
    """The states that forces lead to; where they lead out of all bounds, those of a robot that stands still."""
    robot, N = problem.robot, problem.horizon
    run = rollout(robot, q, qd, N, problem.step, taus=problem.tau(u), parameters=parameters, **problem.rolls)
    good = np.isfinite(run.q).all((1, 2), keepdims=True) & np.isfinite(run.qd).all((1, 2), keepdims=True)
    still = np.repeat(q[:, None], N + 1, 1), np.zeros((len(q), N + 1, robot.nv))
    return tuple(np.where(good, a, b) for a, b in zip((run.q, run.qd), still, strict=True))
