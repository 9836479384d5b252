"""Simulation: robots moved on in time, and what came out kept.

Read running, then kernels, adaptive, symplectic, kept, stops, trajectory, store.
"""

from hinge.sim.running import simulate
from hinge.sim.store import open_trajectory as open
from hinge.sim.trajectory import Trajectory

__all__ = ["Trajectory", "open", "simulate"]
