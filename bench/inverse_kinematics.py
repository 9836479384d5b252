"""Times inverse kinematics against a loop over SciPy's least_squares, in one run on one core.

    python bench/inverse_kinematics.py            a thousand poses of Panda and UR5
    python bench/inverse_kinematics.py --quick    fewer of them for SciPy

Both are given the same poses, limits and random starts, and go on to the next start until a pose is reached to 1e-9.
SciPy's residuals and their Jacobian come from hinge, a call of one state each, which is a small part of its time. It is
timed on a part of the poses, because it treats them one after another. Files are those of the package
example-robot-data.
"""

from __future__ import annotations

import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
from against_pinocchio import processor
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import hinge

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
ARMS = (("panda_description/urdf/panda.urdf", "panda_hand"), ("ur_description/urdf/ur5_robot.urdf", "ee_link"))
POSES, STARTS, ROUNDS, NEAR = 1000, 64, 5, 1e-9


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


def main() -> None:
    part = 20 if "--quick" in sys.argv else 200
    hinge.set_threads(1)
    print(processor())
    for file, frame in ARMS:
        robot = hinge.load(ROBOTS / file)
        goals = robot.pose(robot.random_state(np.random.default_rng(1), POSES)[0], frame)
        starts = robot.random_state(np.random.default_rng(0), STARTS)[0]
        hinge.inverse_kinematics(robot, goals[:2], frame)
        ours, error = np.inf, np.empty(0)
        for _ in range(ROUNDS):
            began = time.process_time()
            error = hinge.inverse_kinematics(robot, goals, frame, starts=STARTS).error
            ours = min(ours, time.process_time() - began)
        began = time.process_time()
        reached = [by_scipy(robot, goal, frame, starts) for goal in goals[:part]]
        theirs = (time.process_time() - began) / part * POSES
        good = (error.max(axis=1) < NEAR).mean()
        print(f"{robot.name}: hinge {ours / POSES * 1e6:.1f} µs a pose, {good:.1%} reached; "
              f"SciPy {theirs / POSES * 1e6:.0f} µs, {np.mean(reached):.1%} of {part}; "
              f"{theirs / ours:.0f} times as fast")  # fmt: skip


if __name__ == "__main__":
    main()
