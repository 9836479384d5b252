"""What is best: regulators, trajectories and controllers that cost least, by exact derivatives or by samples."""

from hinge.optimal.equilibrium import Equilibrium, equilibrium
from hinge.optimal.lqr import Mode, Regulator, lqr
from hinge.optimal.tvlqr import Follower, tvlqr

__all__ = ["Equilibrium", "Follower", "Mode", "Regulator", "equilibrium", "lqr", "tvlqr"]
