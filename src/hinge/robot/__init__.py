"""The front: a robot, the ways to get one, and what is made of several.

Read robot, views, loading.
"""

from hinge.dynamics.registry import ALGORITHMS
from hinge.robot.robot import Robot

__all__ = ["ALGORITHMS", "Robot"]
