"""Where to, and how fast: poses into coordinates, loads into accelerations, paths into motions."""

from hinge.planning.accelerations import Accelerations as Accelerations
from hinge.planning.accelerations import hand_accelerations as hand_accelerations
from hinge.planning.inverse_kinematics import Reached as Reached
from hinge.planning.inverse_kinematics import inverse_kinematics as inverse_kinematics
from hinge.planning.timing import Limit as Limit
from hinge.planning.timing import Timed as Timed
from hinge.planning.timing import slowed as slowed
from hinge.planning.timing import time_optimal as time_optimal
