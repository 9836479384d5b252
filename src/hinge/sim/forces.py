"""The joint forces of a simulation: none, an array, or a controller, which is traced into the step where it can be."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.calls.controllers import Array, Control, Untraceable, checked
from hinge.errors import SizeError
from hinge.graph.undoing import undone
from hinge.robot import Robot


def check_rows(
    robot: Robot, control: Control, t: float, q: Array, qd: Array, made: Array, inputs: Sequence[Any] = ()
) -> None:
    """Raise where a controller of one state was given as many states as there are joints, and took them for one.

    K @ q is such a one: with another number of states it would have the wrong size.
    """
    if q.ndim < 2 or q.shape[-2] != robot.nv or inputs:
        return
    first = (0,) * (q.ndim - 1)
    with undone(control):  # twice, because one that remembers or throws dice is free to differ
        alone = [checked(robot.target, control(t, q[first].copy(), qd[first].copy()), ()) for _ in range(2)]
    if np.array_equal(alone[0], alone[1]) and not np.allclose(alone[0], made[first], equal_nan=True):
        raise SizeError(
            "control gives other joint forces for a state alone than for the same state among others. It "
            "sees all rollouts at once,\n  with coordinates on the last axis: write q @ K.T, not K @ q."
        )


def warn_untraceable(control: Control, why: Untraceable) -> None:
    name = getattr(control, "__name__", type(control).__name__)
    hint = "Arithmetic, sines, roots, np.clip, np.minimum and np.where can be traced; an if on numbers cannot."
    said = f"controller {name!r} runs in Python, once a step and held over it: {str(why).rstrip('.')}.\n  {hint}"
    warnings.warn(said, stacklevel=4)


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
    if steps and batch == (steps,) == tau.shape[:-1]:
        raise SizeError(
            f"control has shape {tau.shape}, and there are {steps} rollouts of {steps} steps: a row for each rollout, "
            f"or for each step?\n  Give {(steps, steps, robot.nv)}, one row for each step of each rollout."
        )
    if steps and tau.ndim >= 2 and tau.shape[-2] == steps and tau.shape[:-2] in ((), batch):
        return np.broadcast_to(tau, (*batch, steps, robot.nv)), True
    try:
        return np.broadcast_to(tau, (*batch, robot.nv)), False
    except ValueError:
        each = f", or {(*batch, steps, robot.nv)}, a row a step" if steps else ""
        raise SizeError(f"control has shape {tau.shape}; give {(*batch, robot.nv)}, held throughout{each}.") from None
