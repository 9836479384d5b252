"""Controllers: functions of time and state that give joint forces, for simulation, for robots, for arrays of states.

    control = hinge.control.computed_torque(robot, motion)
    tau = control(t, q, qd)

Read joints, then hand, then compiled.
"""

from hinge.control.adaptation import Adaptive, adaptive
from hinge.control.compiled import c_code, compiled
from hinge.control.joint_space import computed_torque, pd, posture, saturate
from hinge.control.task_space import impedance, operational_space, reach, resolved_acceleration

__all__ = [
    "Adaptive", "adaptive", "c_code", "compiled", "computed_torque", "impedance", "operational_space", "pd",
    "posture", "reach", "resolved_acceleration", "saturate",
]  # fmt: skip
