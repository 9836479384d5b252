"""Inverse kinematics of a thousand poses beside a loop over SciPy's least_squares.

    python bench/inverse_kinematics.py [--write]

Both are given the same poses, limits and random starts, and go on to the next start until a pose is reached to 1e-9.
SciPy's residuals and their Jacobian come from hinge, a call of one state each, which is a small part of its time. It is
timed on a part of the poses, because it treats them one after another.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import figures
import numpy as np
from measuring import PANDA, UR5, fastest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import hinge

ARMS = {"panda": (PANDA, "panda_hand"), "ur5": (UR5, "ee_link")}
POSES, PART, STARTS, ROUNDS, NEAR = 1000, 100, 64, 5, 1e-9


def by_scipy(robot: hinge.Robot, goal: np.ndarray, frame: str, starts: np.ndarray) -> bool:
    """Whether one of the starts leads to the pose."""
    lower, upper = robot.limits.lower, robot.limits.upper

    def residual(q: np.ndarray) -> np.ndarray:
        now = robot.pose(q, frame)
        turn = Rotation.from_matrix(now[:3, :3] @ goal[:3, :3].T).as_rotvec()
        return np.concatenate([turn, now[:3, 3] - goal[:3, 3]])

    def slope(q: np.ndarray) -> np.ndarray:
        turn, J = residual(q)[:3], np.array(robot.jacobian(q, frame, frame="aligned"))
        a, W = np.linalg.norm(turn) + 1e-9, np.cross(np.eye(3), turn)
        J[:3] = (np.eye(3) - W / 2 + (1 / a**2 - 1 / (2 * a * np.tan(a / 2))) * W @ W) @ J[:3]  # the turn's own rate
        return J

    for start in starts:
        found = least_squares(residual, np.clip(start, lower + 1e-6, upper - 1e-6), slope, bounds=(lower, upper),
                              xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=100)  # fmt: skip
        if np.abs(found.fun).max() < NEAR:
            return True
    return False


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    made: dict[str, Any] = {"table": [["robot", "hinge, µs a pose", "reached", "SciPy, µs a pose", "reached", "times"]]}
    for key, (file, frame) in ARMS.items():
        robot = hinge.load(file)
        goals = robot.pose(robot.random_state(np.random.default_rng(1), POSES)[0], frame)
        starts = robot.random_state(np.random.default_rng(0), STARTS)[0]
        solve = partial(hinge.inverse_kinematics, robot, goals, frame, starts=STARTS)
        error = solve().error
        ours = 1e6 * fastest({"": solve}, ROUNDS)[""] / POSES
        began = time.process_time()
        reached = [by_scipy(robot, goal, frame, starts) for goal in goals[:PART]]
        theirs = 1e6 * (time.process_time() - began) / PART
        good, well = f"{(error.max(axis=1) < NEAR).mean():.1%}", f"{np.mean(reached):.1%}"
        made["table"].append([robot.name, f"{ours:.1f}", good, f"{theirs:.0f}", well, f"{theirs / ours:.0f}"])
        made[key] = figures.number(ours, "µs a pose")
        made[f"{key}_scipy"] = figures.number(theirs / 1e3, "ms a pose of SciPy")
    return made


if __name__ == "__main__":
    figures.main(__file__, measured, ("scipy",))
