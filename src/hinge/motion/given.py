"""What motions are given, checked: points, poses, limits, durations."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge import inputs
from hinge.errors import SizeError
from hinge.geometry.arrays import MEASURED, outside_se3

Array = np.ndarray[Any, np.dtype[Any]]


def finite(what: str, given: Any, last: tuple[int, ...] = ()) -> Array:
    """An array of finite numbers of that shape; leading axes where the shape begins with -1."""
    made = inputs.real(what, given, tuple(n for n in last if n >= 0)).astype(float)
    if made.ndim != len(last):
        raise SizeError(f"{what} has shape {made.shape}; it has to be {str(last).replace('-1', 'k')}.")
    if not np.all(np.isfinite(made)):
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(made))[0])
        raise SizeError(f"{what} has a value that is not finite, at {where}.")
    return made


def pose(what: str, given: Any) -> Array:
    """A 4×4 pose: a rotation, a place, and a last row of 0, 0, 0, 1."""
    made = finite(what, given, (4, 4))
    if outside_se3(made, MEASURED):
        raise SizeError(
            f"{what} is no pose: its first three rows and columns have to be a rotation, its last row 0 0 0 1."
        )
    return made


def positive(what: str, given: Any) -> float:
    """A number above zero."""
    made = finite(what, given)
    if made <= 0.0:
        raise SizeError(f"{what} is {float(made):g}; it has to be above zero.")
    return float(made)


def limits(what: str, given: Any, size: int) -> Array:
    """Limits above zero, one for each of `size`, or one for all; infinite is none."""
    made = inputs.real(what, given).astype(float)
    if made.shape not in ((), (size,)):
        raise SizeError(f"{what} has shape {made.shape}; it has to be a number or {(size,)}.")
    if not np.all(made > 0.0):
        raise SizeError(f"{what} has to be above zero everywhere.")
    return np.broadcast_to(made, (size,))


def lasting(duration: float | None, least: float, why: str) -> float:
    """The duration given, if it is long enough; else the least there is."""
    if duration is None:
        if least == 0.0:
            raise SizeError("how long the motion takes is not known: nothing limits it. Give duration=, or limits.")
        return least
    made = positive("duration", duration)
    if made < least * (1.0 - 1e-12):
        raise SizeError(f"duration={made:g} is too short: {why} needs {least:.6g} s. Give that, or other limits.")
    return made
