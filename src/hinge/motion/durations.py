"""How long a motion takes: limits as they are given, and the shortest duration within them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.arguments import Array, positive, real
from hinge.errors import SizeError


def limits(what: str, given: Any, size: int) -> Array:
    """Limits above zero, one for each of `size`, or one for all; infinite is none."""
    made = real(what, given).astype(float)
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
