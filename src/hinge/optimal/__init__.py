"""What is best: regulators, trajectories and controllers that cost least, by exact derivatives or by samples.

Read equilibrium, lqr, tvlqr; problem, stages, riccati, iteration, ddp; rolled, mppi; plan, mpc.
"""

from hinge.optimal.costs import barrier, effort, posture, reach, smoothness, speed
from hinge.optimal.ddp import ddp
from hinge.optimal.equilibrium import Equilibrium, equilibrium
from hinge.optimal.follower import Follower
from hinge.optimal.lqr import Mode, Regulator, lqr
from hinge.optimal.mpc import mpc
from hinge.optimal.mppi import mppi
from hinge.optimal.problem import Problem
from hinge.optimal.rolled import Rolled, rolled
from hinge.optimal.solution import Solution
from hinge.optimal.tvlqr import tvlqr

__all__ = [
    "Equilibrium", "Follower", "Mode", "Problem", "Regulator", "Rolled", "Solution", "barrier", "ddp", "effort",
    "equilibrium", "lqr", "mpc", "mppi", "posture", "reach", "rolled", "smoothness", "speed", "tvlqr",
]  # fmt: skip
