"""The joint forces of a simulation: none, an array, or a controller, which is traced into the step where it can be."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge import arguments
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


def held_or_by_step(
    name: str, given: Any, owner: str, size: int, batch: tuple[int, ...], steps: int | None
) -> tuple[Array, bool]:
    """Numbers for each step, and whether they have a row for each: the axis before the last is time, (size,) is held.

    That axis has a row for each of `steps`, or one that is held; axes before it are rollouts. `steps` is None where
    steps are not known. `owner` has what `size` says, as "robot 'arm' has nv = 2".
    """
    array = arguments.real(name, given).astype(float)
    shape = array.shape
    if shape[-1:] != (size,):
        raise SizeError(f"{name} has shape {shape}; {owner}. Give ({size},), held throughout.")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        at = tuple(int(k) for k in bad[0])
        raise SizeError(f"{name} has a value that is not finite, at {at}. Give finite numbers.")
    if len(shape) == 1:
        return array, False
    each = shape[-2] == steps
    fits = each or shape[-2] == 1
    try:
        if fits and np.broadcast_shapes(batch, shape[:-2]) == batch:
            return (array, True) if each else (array[..., 0, :], False)
    except ValueError:
        pass
    rows = "one row" if steps is None else f"{steps} rows, one for each step, or one"
    whole = "" if steps is None else f", or {(*batch, steps, size)}, a row a step"
    why = f"has to have {rows}" if not fits else f"comes after the axes {batch} of the rollouts"
    own = f" For a row a rollout write {name}[..., None, :]." if batch else ""
    raise SizeError(
        f"{name} has shape {shape}: the axis before the last is time, and {why}.\n"
        f"  Give ({size},), held throughout{whole}.{own}"
    )
