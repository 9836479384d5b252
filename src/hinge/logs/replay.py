"""Runs out of a log: its states as trajectories of a robot, to be viewed, filmed and plotted."""

from __future__ import annotations

import os

import numpy as np

from hinge.arguments import affordable
from hinge.errors import LogError
from hinge.logs.columns import matched
from hinge.logs.run import joined
from hinge.logs.tables import chunks_of, open_log
from hinge.robot import Robot
from hinge.sim.trajectory import Trajectory
from hinge.status import OK

ROWS = 65536  # read at once


def replay(robot: Robot, path: str | os.PathLike[str]) -> list[Trajectory]:
    """The runs that a log (.csv, .parquet, .npz) has of a robot: one, or one for each number in its column `rollout`.

    A log has t (s) and a column q_JOINT for each joint, or an array q.

    >>> import os, tempfile
    >>> place, arm = os.path.join(tempfile.mkdtemp(), "log.npz"), hinge.samples.planar_2r()
    >>> np.savez(place, t=[0.0, 0.1, 0.2], q=np.zeros((3, 2)))
    >>> hinge.logs.replay(arm, place)
    [<Trajectory of 'planar_2r': 3 states in 0 … 0.2 s, log>]
    """
    log = open_log(path)
    clock = next((name for name in ("t", "time") if name in log.columns), None)
    if clock is None:
        raise LogError(f"{log.path} has no column 't': it is not known when its states are.", "Add t, in s.")
    q = matched(robot, ["q"], log)["q"]
    number = ["rollout"] if "rollout" in log.columns else []
    affordable(f"{log.path}: {log.rows} states", log.rows * (robot.nq + 2), "View a part of it.")
    parts = [part for part, _ in chunks_of(log, [clock, *number, *q], ROWS)]
    t, positions = np.concatenate([p[clock] for p in parts]), np.concatenate([joined(p, q) for p in parts])
    which = np.concatenate([part["rollout"] for part in parts]) if number else np.zeros(len(t))
    runs = [(t[which == k], positions[which == k]) for k in dict.fromkeys(which.tolist())]
    for times, _ in runs:
        if not (np.diff(times) > 0.0).all():
            raise LogError(f"{log.path}: its column {clock!r} does not increase from row to row.", "Sort it by time.")
    return [Trajectory(robot, times, {"q": at}, np.array(OK, np.uint8), "log") for times, at in runs]
