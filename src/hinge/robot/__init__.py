"""The front: a robot, the ways to get one, and what is made of several.

Read robot, views, loading.
"""

from hinge.robot.robot import Robot, Vector

__all__ = ["Robot", "Vector"]
