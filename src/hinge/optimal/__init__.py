"""What is best: regulators, trajectories and controllers that cost least, by derivatives that are exact or by samples."""

from hinge.optimal.equilibrium import Equilibrium, equilibrium
from hinge.optimal.lqr import Mode, Regulator, lqr

__all__ = ["Equilibrium", "Mode", "Regulator", "equilibrium", "lqr"]
