"""Least squares: the base parameters, and the drive's, whose signal is nearest to the one measured.

    W s = W a (Y_b β + known) + noise

Linear where the gains 1 / a are known; with gains to be found it is bilinear, and Gauss and Newton's steps are
repeated. Rows of each velocity are weighed by the size of what a first fit leaves of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hinge.identify.equations import Equations
from hinge.identify.parameters import Array

SHOWN = 1e-7  # of the largest singular value: what is below it was not shown by the motion
MATTERS = 0.1  # of the largest share in a direction that was not shown: from there on a parameter is named
FLAT = 1e-3  # of the largest signal: what is smaller is not made more of in the first fit
EXACT = 1e-9  # of the largest signal: noise is not taken to be smaller
ROUNDS = 30
SETTLED = 1e-10


@dataclass(frozen=True, eq=False)
class Estimate:
    """x = (β, drive), a, and how well each is known. `scale` is the size of a column: of a unit of x."""

    x: Array
    a: Array
    deviations: Array  # of (x, a); infinite for what was not shown
    R: Array  # takes a change of (x, a) to standard deviations
    condition: float
    dark: Array  # whether each of (x, a) was not shown
    weak: Array  # whether it is known no better than to its own size


def first_weights(signal: Array) -> Array:
    """Equal shares for all velocities, but for those that are all but still."""
    size = np.sqrt(np.mean(signal**2, axis=0))
    return 1.0 / np.maximum(size, FLAT * (size.max(initial=0.0) or 1.0 / FLAT))


def weights_after(left: Array, signal: Array) -> Array:
    """One over the noise of each velocity, as a fit leaves it."""
    most = np.sqrt(np.mean(signal**2, axis=0)).max(initial=0.0) or 1.0
    return 1.0 / np.maximum(np.sqrt(np.mean(left**2, axis=0)), EXACT * most)


def first_gain(force: Array, signal: Array) -> Array:
    """a (nv) that takes the force of the robot given nearest to the signal."""
    size = np.sum(force**2, axis=0)
    return np.where(size > 0.0, np.sum(force * signal, axis=0) / np.where(size > 0.0, size, 1.0), 1.0)


def least_squares(rows: Equations, x: Array, a: Array, w: Array, scale: Array, gains: bool) -> Estimate:
    """The best (x, a) from a first guess on, with what was not shown left as it was. Y is the columns of x alone."""
    for _ in range(ROUNDS):
        force = rows.force(x)
        J = rows.Y * a[:, None]
        units = scale
        if gains:
            J = np.concatenate([J, force[..., None] * np.eye(len(a))], axis=-1)
            units = np.concatenate([scale, np.sqrt(np.mean(force**2, axis=0))])
        units = np.where(units > 0.0, units, 1.0)
        A = (J * w[:, None]).reshape(-1, len(units)) / units
        b = ((rows.signal - a * force) * w).reshape(-1)
        T: Array = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"))[: len(units)]
        U, size, Vt = np.linalg.svd(T[:, :-1])
        seen = size > SHOWN * size[0]  # none where the log shows nothing at all
        step = Vt[seen].T @ (U[:, seen].T @ T[:, -1] / size[seen])
        x, a = x + step[: len(x)] / units[: len(x)], a + (step / units)[len(x) :] if gains else a
        if not gains or np.linalg.norm(A @ step) <= SETTLED * np.linalg.norm(w * rows.signal):
            break
    left = b - A @ step
    floor = EXACT * float(np.abs(rows.signal * w).max(initial=0.0))
    noise = max(np.sqrt(left @ left / max(1, len(b) - seen.sum())), floor, np.finfo(float).tiny)
    spread = noise * np.sqrt(np.sum((Vt[seen] / size[seen, None]) ** 2, axis=0))
    share = np.sqrt(np.sum(Vt[~seen] ** 2, axis=0))  # how much of each is in directions not shown
    dark = (share > MATTERS * share.max(initial=0.0)) if len(Vt[~seen]) else np.zeros(len(units), bool)
    spread[dark] = np.inf
    found = np.concatenate([x, a]) if gains else x
    weak = (spread / units > np.abs(found)) & ~dark & (spread > SHOWN * np.abs(rows.signal).max())
    condition = float(size[0] / size[seen][-1]) if seen.any() else np.inf
    return Estimate(x, a, spread / units, (Vt * size[:, None]) * units / noise, condition, dark, weak)
