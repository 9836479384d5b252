"""The states that proofs are tried on, and how far two arrays are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.robot import Robot
from hinge.typing import Array


@dataclass(frozen=True)
class States:
    """A robot with random states: coordinates, velocities of unit length, accelerations."""

    robot: Robot
    q: Array
    qd: Array
    qdd: Array


class CannotBeMade(Exception):
    """Why a proof was skipped."""


def apart(a: Any, b: Any, *sizes: Any) -> float:
    """The largest difference between two arrays, by the largest number among them and `sizes`, state by state."""
    rows = [np.abs(np.asarray(x, float)).reshape(len(a), -1).max(axis=1) for x in (a, b, *sizes)]
    off = np.abs(np.asarray(a) - np.asarray(b)).reshape(len(a), -1).max(axis=1)
    scale = np.max(rows, axis=0)
    worst = np.where(off == 0.0, 0.0, off / np.where(scale > 0.0, scale, 1.0))
    return float(np.inf if np.any(np.isnan(worst)) else worst.max())
