"""States of robots with loops."""

import numpy as np


def moving(robot, q, seed=0):
    """A velocity that keeps the loops, and joint forces."""
    rng = np.random.default_rng(seed)
    qd, tau = rng.normal(size=(2, robot.nv))
    A = robot.loop_jacobian(q)
    return qd - np.linalg.pinv(A, rcond=1e-9) @ (A @ qd), tau
