"""Measured motion below a frequency: a filter without delay, and differences of what it leaves.

A Butterworth filter forward and backward has no delay and the gain 1 / (1 + (f / cutoff)^2n): a half at the cut-off.
Applied here to the spectrum, of the rows less the line from the first to the last, continued oddly at both ends.
"""

from __future__ import annotations

import numpy as np

from hinge import arguments
from hinge.errors import SizeError
from hinge.identify.parameters import Array
from hinge.typing import Numbers

ORDER = 4  # n
EDGE = 2.0  # periods of the cut-off, after which accelerations are good to a quarter of a percent
EVEN = 1e-3  # of a step: times off by less are even


def low_pass(x: Array, step: float, cutoff: float) -> Array:
    """Rows (T, …), `step` seconds apart, without what is faster than `cutoff` (Hz)."""
    n = len(x)
    line = np.linspace(x[0], x[-1], n)
    odd = np.concatenate([x - line, -(x - line)[-2:0:-1]])
    gain = 1.0 / (1.0 + (np.fft.rfftfreq(len(odd), step) / cutoff) ** (2 * ORDER))
    spectrum = np.fft.rfft(odd, axis=0) * gain.reshape(-1, *[1] * (x.ndim - 1))
    return line + np.fft.irfft(spectrum, len(odd), axis=0)[:n]


def differentiate(t: Numbers, q: Numbers, cutoff: float) -> tuple[Array, Array, Array, Array]:
    """(t, q, qd, qdd) of measured positions q (T, n): filtered without delay at `cutoff` (Hz), central differences.

    Rows at uneven times are put at even ones first, on lines between them. The first and last 2 / cutoff seconds, of
    which a filter knows one side only, are left out. Choose a cut-off some five times the fastest that was commanded,
    and below a tenth of the rate.

    >>> t = np.arange(0.0, 4.0, 0.002)
    >>> noise = 1e-4 * np.random.default_rng(0).normal(size=(2000, 1))
    >>> t, q, qd, qdd = hinge.identify.differentiate(t, np.sin(3.0 * t)[:, None] + noise, cutoff=6.0)
    >>> bool(np.abs(qdd[:, 0] + 9.0 * np.sin(3.0 * t)).max() < 0.2)
    True
    """
    times = arguments.finite("differentiate: t", t).astype(float)
    rows = arguments.finite("differentiate: q", q).astype(float)
    if times.ndim != 1 or rows.ndim != 2 or len(rows) != len(times) or len(times) < 3 or np.any(np.diff(times) <= 0.0):
        raise SizeError(
            f"differentiate: t has shape {times.shape} and q {rows.shape}; t has to be (T,), growing, three rows "
            "or more, and q (T, n)."
        )
    step = float(np.median(np.diff(times)))
    if not 0.0 < cutoff < 0.5 / step:
        raise SizeError(
            f"differentiate: cutoff is {cutoff:g} Hz; rows come {1.0 / step:g} times a second.\n"
            f"  Give a number above zero and below half of that, {0.5 / step:g}."
        )
    k = int(np.argmax(np.diff(times)))
    if times[k + 1] - times[k] > max(0.5 / cutoff, 1.5 * step):
        raise SizeError(
            f"differentiate: there are no rows between t = {times[k]:g} and {times[k + 1]:g} s, half a period of "
            f"{cutoff:g} Hz or more.\n  Cut the log there, and give fit both parts in a list."
        )
    if np.abs(np.diff(times) - step).max() > EVEN * step:
        even = np.linspace(times[0], times[-1], round((times[-1] - times[0]) / step) + 1)
        times, rows = even, np.stack([np.interp(even, times, column) for column in rows.T], axis=1)
        step = float(times[1] - times[0])
    edge = round(EDGE / (cutoff * step))
    if len(times) < 2 * edge + 2:
        raise SizeError(
            f"differentiate: {times[-1] - times[0]:g} s of motion are too few for cutoff = {cutoff:g} Hz, with "
            f"{EDGE / cutoff:g} s left out at both ends."
        )
    rows = low_pass(rows, step, cutoff)
    qd = (rows[2:] - rows[:-2]) / (2.0 * step)
    qdd = (rows[2:] - 2.0 * rows[1:-1] + rows[:-2]) / step**2
    inner = slice(edge - 1, len(qd) - edge + 1)
    return times[1:-1][inner], rows[1:-1][inner], qd[inner], qdd[inner]
