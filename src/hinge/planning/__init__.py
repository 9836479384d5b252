"""Where to, and how fast: poses into coordinates, loads into accelerations, paths into motions.

Read reaching and accelerations, then paths, polygons, timing.
"""

from hinge.planning.accelerations import Accelerations, hand_accelerations
from hinge.planning.ik import Reached, inverse_kinematics
from hinge.planning.paths import Limit
from hinge.planning.timing import Timed, time_optimal, time_uniform

__all__ = ["Accelerations", "Limit", "Reached", "Timed", "hand_accelerations", "inverse_kinematics", "time_optimal",
           "time_uniform"]  # fmt: skip
