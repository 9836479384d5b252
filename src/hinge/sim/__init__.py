"""Simulation: robots moved on in time, and what came out kept.

Read hinge.steps first; then rollouts, turns, simulation, setup, events, adaptive, trajectory, record, store.
"""

from hinge.sim.opening import open_trajectory as open
from hinge.sim.rollout_states import Rollout
from hinge.sim.simulation import rollout, simulate
from hinge.sim.trajectory import Trajectory

__all__ = ["Rollout", "Trajectory", "open", "rollout", "simulate"]
