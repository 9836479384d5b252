"""Reference motions: where the joints, or the hand, should be at every time, and how fast.

    motion = hinge.motion.quintic(robot, q0, q1)
    q, qd, qdd = motion(t)

Read piecewise, then joints, hand, check.
"""

from hinge.motion.check import MotionCheck, Violation, check_motion
from hinge.motion.joint_space import JointMotion, cubic_spline, quintic, quintic_spline, trapezoidal
from hinge.motion.task_space import HandMotion, circle, line

__all__ = [
    "HandMotion", "JointMotion", "MotionCheck", "Violation", "check_motion", "circle", "cubic_spline", "line",
    "quintic", "quintic_spline", "trapezoidal",
]  # fmt: skip
