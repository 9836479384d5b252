"""What users give, checked: an error says what was given and what was wanted.

`what` is the name of the argument, and of the call where that helps: "mobility: q". What belongs to a robot (frames,
parameters, forces on bodies) is checked in calls/inputs, and numbers of a model, which may be symbols, in
model/numbers.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.errors import SizeError
from hinge.typing import AnyArray
from hinge.typing import Array as Array

MOST = 8 << 30  # bytes taken at once without being asked


def real(what: str, given: Any, last: tuple[int, ...] = ()) -> AnyArray:
    """An array of real numbers whose last axes have that shape; single precision is kept."""
    try:
        a = np.asarray(given)
        if a.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        raise SizeError(f"{what} is not an array of real numbers.") from None
    if last and a.shape[max(0, a.ndim - len(last)) :] != last:
        raise SizeError(f"{what} has shape {a.shape}; it has to end in {last}.")
    return a if a.dtype == np.float32 else a.astype(np.float64, copy=False)


def finite(what: str, given: Any, last: tuple[int, ...] = ()) -> AnyArray:
    """An array of finite numbers whose last axes have that shape."""
    a = real(what, given, last)
    bad = np.argwhere(~np.isfinite(a))
    if len(bad):
        at = tuple(int(i) for i in bad[0])
        where = f"[{', '.join(map(str, at))}]" if at else ""
        raise SizeError(f"{what}{where} is {a[at]}. Give finite numbers.")
    return a


def shaped(what: str, given: Any, shape: tuple[int, ...]) -> Array:
    """Finite numbers in double precision of just that shape, where -1 stands for any length."""
    made = real(what, given, tuple(n for n in shape if n >= 0)).astype(float)
    if made.ndim != len(shape):
        raise SizeError(f"{what} has shape {made.shape}; it has to be {str(shape).replace('-1', 'k')}.")
    return finite(what, made)


def number(what: str, given: Any) -> float:
    """One finite number."""
    a = finite(what, given)
    if a.ndim:
        raise SizeError(f"{what} has shape {a.shape}. Give one number.")
    return float(a)


def positive(what: str, given: Any) -> float:
    """One number above zero."""
    made = number(what, given)
    if made <= 0.0:
        raise SizeError(f"{what} is {made:g}; it has to be above zero.")
    return made


def duration(what: str, given: Any) -> float:
    """A time above zero, in s."""
    try:
        made = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        made = math.nan
    if not (math.isfinite(made) and made > 0.0):
        raise SizeError(f"{what}={given!r} is not a time. Give a positive number of seconds.")
    return made


def count(what: str, given: Any, least: int = 1, also: str = "") -> int:
    """A whole number."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise SizeError(f"{what}={given!r} is not known. Give a whole number, {least} or more{also}.")
    return int(given)


def generator(what: str, seed: Any) -> np.random.Generator:
    """Random numbers that are the same for the same seed."""
    return np.random.default_rng(count(f"{what}: seed", seed, 0))


def affordable(what: str, numbers: int, hint: str, most: float = MOST) -> None:
    """Refuse what would take more memory than that before any of it is taken."""
    if 8 * numbers > most:
        raise SizeError(f"{what} would take {8 * numbers / 2**30:.1f} GiB of memory.\n  {hint}")


@functools.cache
def memory() -> float:
    """How many bytes this machine has; any number where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def joined(what: str, parts: Sequence[Array]) -> Array:
    """Arrays side by side along the last axis, their batches broadcast."""
    try:
        batch = np.broadcast_shapes(*(p.shape[:-1] for p in parts))
    except ValueError:
        shown = ", ".join(str(p.shape[:-1]) for p in parts)
        raise SizeError(f"{what}: the batches do not fit together: {shown}.") from None
    fitted = (p if p.shape[:-1] == batch else np.broadcast_to(p, (*batch, p.shape[-1])) for p in parts)
    return np.concatenate(list(fitted), axis=-1)
