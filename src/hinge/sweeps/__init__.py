"""Sweeps: any number of rollouts that differ in their numbers, into one store, on one machine or many.

Read spreads, question, asking, zarr_store, workers, then sweeping.
"""

from hinge.sweeps.spreads import grid, latin, normal, table, uniform
from hinge.sweeps.sweeping import Failure, Problem, Sweep, sweep

__all__ = ["Failure", "Problem", "Sweep", "grid", "latin", "normal", "sweep", "table", "uniform"]
