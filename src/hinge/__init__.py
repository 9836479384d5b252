"""hinge: robot dynamics, traced once and compiled.

import hinge
robot = hinge.load("panda.urdf")
tau = robot.inverse_dynamics(q, qd, qdd)
"""

from hinge.backends.kernel import Status
from hinge.backends.threads import set_threads
from hinge.errors import HingeError, ModelError, NotCovered, SizeError, TraceError, UnknownName
from hinge.loading import dh, load, samples
from hinge.model import Builder, Joint
from hinge.model.joint_laws import check_joint
from hinge.robot import Robot

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022  grouped, not sorted
    # a robot
    "Robot", "load", "dh", "samples", "Builder", "Joint", "check_joint",
    # how it runs
    "set_threads", "Status",
    # what can go wrong
    "HingeError", "ModelError", "SizeError", "UnknownName", "NotCovered", "TraceError",
]  # fmt: skip
