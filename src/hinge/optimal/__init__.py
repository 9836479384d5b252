"""What is best: regulators, trajectories and controllers that cost least, by exact derivatives or by samples.

Read problem, stages, riccati, iteration, ddp.
"""

from hinge.optimal.costs import barrier, effort, posture, reach, smoothness, speed
from hinge.optimal.ddp import ddp
from hinge.optimal.mpc import mpc
from hinge.optimal.problem import Problem
from hinge.optimal.solution import Solution

__all__ = ["Problem", "Solution", "barrier", "ddp", "effort", "mpc", "posture", "reach", "smoothness", "speed"]
