"""Noise of measured motion: how much there is of it, and whether it is what a fit leaves unexplained.

Least squares takes the motion to be exact. Where velocities or accelerations are noisy, what they multiply comes out
too small, however long the log. Noise is what high differences of rows leave: of smooth motion nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from hinge.identify.log import Log
from hinge.identify.parameters import Array
from hinge.robot import Robot
from hinge.typing import Term

ORDER = 5  # of differences
ENOUGH = 500  # rows, to see what noise makes of forces
SMOOTH = 0.1  # of how far a coordinate goes: rows that jump by more are no motion
HALF = 0.6745  # of a standard deviation: half of normal numbers are within; the few rows where friction turns are not
BETWEEN = (0.5, 2.0)  # of what is left: forces of noise that are a cause; were there more, more would be left
WORDS = {"qd": "velocities", "qdd": "accelerations"}


def noise(x: Array) -> Array:
    """The standard deviation (n,) of white noise in rows x (T, n) of something smooth."""
    return np.sqrt(np.mean(np.diff(x, ORDER, axis=0) ** 2, axis=0) / comb(2 * ORDER, ORDER))


def typical(x: Array) -> Array:
    """Return the standard deviation (n,) of rows x (T, n), by their median: few large rows do not count."""
    return np.median(np.abs(x), axis=0) / HALF


def _smooth(log: Log) -> bool:
    """Whether rows follow one another as those of a motion do."""
    return bool(np.all(noise(log.q) <= SMOOTH * log.q.std(axis=0)))


def noisy_motion(
    robot: Robot, values: Array, logs: Sequence[Log], joint_terms: tuple[Term, ...], left: Array, labels: Sequence[str]
) -> list[str]:
    """Return notes that name noisy velocities or accelerations where they explain the typical error `left` (nv)."""
    rng, notes = np.random.default_rng(0), list[str]()
    raw = [log for log in logs if log.cutoff is None and len(log) > ORDER and _smooth(log)]
    for field, word in WORDS.items():
        made = []
        for log in raw:
            size, some = noise(getattr(log, field)), log[:: max(1, len(log) // ENOUGH)]
            motion = {name: getattr(some, name) for name in ("q", "qd", "qdd")}
            shaken = motion | {field: motion[field] + size * rng.normal(size=motion[field].shape)}
            Y, shaken_Y = (robot.regressor(*m.values(), joint_terms=joint_terms) for m in (motion, shaken))
            made.append((shaken_Y - Y) @ values)
        share = (typical(np.concatenate(made)) if raw else 0.0) / np.maximum(left, np.finfo(float).tiny)
        at = np.flatnonzero((share > BETWEEN[0]) & (share < BETWEEN[1]))
        if len(at):
            names = ", ".join(labels[int(k)] for k in at)
            notes.append(
                f"noisy {word} make most of the error at {names}, and what they multiply is found too small; "
                "filter positions instead: hinge.identify.read(robot, log, cutoff=…)"
            )
    return notes
