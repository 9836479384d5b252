"""The joint forces of a simulation: none, an array, or a controller, which is traced into the step where it can be.

    def control(t, q, qd):
        return K @ (target - q) - D * qd

A controller sees arrays whose last axis holds coordinates. Traced, it sees symbols in their place, once; a test on
numbers then decides whether the trace may stand for it.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numpy as np

from hinge.backends import interpret
from hinge.errors import SizeError
from hinge.graph import Expr, Graph, Input, Scalar, maximum, minimum, order
from hinge.graph.arrays import symbols
from hinge.robot import Robot

Array = np.ndarray[Any, np.dtype[Any]]
Control = Callable[[Any, Any, Any], Any]


class Untraceable(Exception):
    """Why a controller cannot become part of a kernel."""


def checked(robot: Robot, made: Any, batch: tuple[int, ...]) -> Array:
    """What a controller returned, if it is joint forces."""
    try:
        tau = np.asarray(made, float)
    except (TypeError, ValueError):
        raise SizeError(f"control returned a {type(made).__name__}, not an array of joint forces.") from None
    try:
        if tau.shape[-1:] == (robot.nv,):
            return np.broadcast_to(tau, (*batch, robot.nv))
    except ValueError:
        pass
    raise SizeError(f"control returned shape {tau.shape}; robot {robot.name!r} wants {(*batch, robot.nv)}: "
                    f"nv = {robot.nv} joint forces a state.")  # fmt: skip


def check_rows(robot: Robot, control: Control, t: float, q: Array, qd: Array, made: Array) -> None:
    """Raise where a controller of one state was given as many states as there are joints, and took them for one.

    K @ q is such a one: with another number of states it would have the wrong size.
    """
    if q.ndim < 2 or q.shape[-2] != robot.nv:
        return
    first = (0,) * (q.ndim - 1)
    trial = apart(robot, control)  # twice, because one that remembers or throws dice is free to differ
    alone = [checked(robot, trial(t, q[first].copy(), qd[first].copy()), ()) for _ in range(2)]
    if np.array_equal(alone[0], alone[1]) and not np.allclose(alone[0], made[first], equal_nan=True):
        raise SizeError(
            "control gives other joint forces for a state alone than for the same state among others. It "
            "sees all rollouts at once,\n  with coordinates on the last axis: write q @ K.T, not K @ q."
        )


def apart(robot: Robot, control: Control) -> Control:
    """The controller with a memory of its own, where that can be had: what tries it out leaves no trace in it."""
    memo: dict[int, Any] = {id(robot): robot}  # the robot does not change
    try:
        if isinstance(control, FunctionType) and control.__closure__:
            cells = tuple(CellType(copy.deepcopy(cell.cell_contents, memo)) for cell in control.__closure__)
            return FunctionType(control.__code__, control.__globals__, control.__name__, control.__defaults__, cells)
        return copy.deepcopy(control, memo)
    except Exception:  # whatever a class of somebody else's raises where it cannot be copied
        return control


def trace_control(robot: Robot, control: Control) -> Callable[[Scalar, list[Scalar], list[Scalar]], list[Scalar]]:
    """The controller over scalars; raises Untraceable, with the reason, where it cannot be."""
    traced, trial = apart(robot, control), apart(robot, control)
    over_scalars = lambda t, q, qd: over_symbols(robot, traced, t, q, qd)
    forces = on_numbers(robot, over_scalars)
    rng = np.random.default_rng(0)
    for _ in range(2):  # a controller that remembers, or decides in a way a trace does not show, is found out here
        at, speed = robot.random_state(rng, 3)
        times = rng.uniform(0.0, 1.0, 3)
        out = forces(times, at, speed)
        try:
            wanted = np.array([checked(robot, trial(times[k], at[k], speed[k]), ()) for k in range(3)])
        except Exception as problem:
            raise Untraceable(f"on numbers, {str(problem).splitlines()[0] if str(problem) else problem!r}") from problem
        size = 1.0 + np.nanmax(np.abs(wanted), initial=0.0)
        if not np.allclose(out, wanted, rtol=1e-9, atol=1e-9 * size, equal_nan=True):
            raise Untraceable("it gives other numbers than its trace, so it depends on more than t, q and qd; "
                              "sample=1 runs it in Python without trying")  # fmt: skip
    return over_scalars


def on_numbers(robot: Robot, control: Any, effort: bool = False) -> Callable[[Array, Array, Array], Array]:
    """A controller over scalars as a function of arrays, a row a state."""
    graph = Graph()
    q = [graph.input("q", k) for k in range(robot.nq)]
    qd = [graph.input("qd", k) for k in range(robot.nv)]
    made = control(graph.input("t", 0), q, qd)
    made = saturated(robot.model, made) if effort else made
    inputs = Input("t", 1), Input("q", robot.nq), Input("qd", robot.nv)
    program = order(inputs, [("tau", (robot.nv,), made)], False)

    def at(t: Array, q: Array, qd: Array) -> Array:
        out = np.empty(qd.shape)
        interpret.run(program, [t[:, None], q, qd], [out])
        return out

    return at


def over_symbols(robot: Robot, control: Control, t: Scalar, q: list[Scalar], qd: list[Scalar]) -> list[Scalar]:
    """Run a controller on symbols."""
    try:
        made = control(symbols(t), symbols(q), symbols(qd))
        flat = [getattr(x, "item", lambda x=x: x)() for x in np.asarray(made, dtype=object).reshape(-1).tolist()]
        flat = [x if type(x) is Expr else float(x) for x in flat]
    except Untraceable:
        raise
    except Exception as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise Untraceable(reason) from problem
    if np.shape(made) != (robot.nv,):
        raise SizeError(f"control returned shape {np.shape(made)}; robot {robot.name!r} has nv = {robot.nv}.")
    return flat


def warn_untraceable(control: Control, why: Untraceable) -> None:
    name = getattr(control, "__name__", type(control).__name__)
    hint = "Arithmetic, sines, roots, np.clip, np.minimum and np.where can be traced; an if on numbers cannot."
    said = f"controller {name!r} runs in Python, once a step and held over it: {str(why).rstrip('.')}.\n  {hint}"
    warnings.warn(said, stacklevel=4)


def saturated(model: Any, tau: list[Scalar]) -> list[Scalar]:
    """Joint forces within the effort limits."""
    limits = [x for i in model.leaders for x in model.data[i].effort]
    return [x if not np.isfinite(e) else maximum(minimum(x, e), -e) for x, e in zip(tau, limits, strict=True)]


def given_forces(robot: Robot, control: Any, batch: tuple[int, ...], steps: int) -> tuple[Array, bool]:
    """Forces given as an array, (…, nv) or (…, steps, nv), and whether there is a row for each step."""
    try:
        tau = np.asarray(control, float)
    except (TypeError, ValueError):
        raise SizeError("control is neither a function nor an array of joint forces.") from None
    if tau.shape[-1:] != (robot.nv,):
        raise SizeError(f"control has shape {tau.shape}; robot {robot.name!r} has nv = {robot.nv}.")
    if not np.all(np.isfinite(tau)):
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(tau))[0])
        raise SizeError(f"control has a value that is not finite, at {where}. Give finite joint forces.")
    if steps and tau.ndim >= 2 and tau.shape[-2] == steps and tau.shape[:-2] in ((), batch):
        return np.broadcast_to(tau, (*batch, steps, robot.nv)), True
    try:
        return np.broadcast_to(tau, (*batch, robot.nv)), False
    except ValueError:
        each = f", or {(*batch, steps, robot.nv)}, a row a step" if steps else ""
        raise SizeError(f"control has shape {tau.shape}; give {(*batch, robot.nv)}, held throughout{each}.") from None
