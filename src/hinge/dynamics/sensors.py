"""What sensors on a robot read: an inertial measurement unit, a force-torque sensor.

They are functions of a motion. Where it is contact that moves a robot, `contact_step` says how: qdd is the change of
velocity over a step, and its `wrenches` are external forces.
Source: featherstone1987, sections 2.7 and 4.5.
"""

from __future__ import annotations

from hinge.dynamics.kinematics import acceleration, frame_pose, mix, poses, velocity
from hinge.dynamics.newton_euler import joint_forces
from hinge.dynamics.registry import (
    ACCELERATION,
    BASE,
    EXTERNAL,
    PLACE,
    POSITION,
    SPATIAL,
    VELOCITY,
    algorithm,
)
from hinge.spatial import Force, Rigid, Transform, Vec3


@algorithm("imu", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, at=PLACE, returns=SPATIAL)
def imu(model, q, qd, qdd, at):
    """What an inertial measurement unit reads: angular velocity, and acceleration less gravity, in its own axes.

    Takes q (nq), qd and qdd (nv) and the name of a link or frame; gives (6,), what the gyroscope reads in rad/s, then
    the accelerometer in m/s²: at rest that is g upward, in free fall nothing.

    >>> hinge.samples.planar_2r().imu([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "hand")  # it goes round, 2 m/s² inward
    array([ 0.  , -1.  ,  0.  , -2.  ,  0.  ,  9.81])
    """
    R, _ = frame_pose(at, *poses(model, q))
    a = Vec3(tuple(acceleration(model, q, qd, qdd, at, kind="classical")[3:]))
    return [*velocity(model, q, qd, at)[:3], *(a - R.T @ model.gravity_motion.lin)]


@algorithm("joint_wrench", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, at=PLACE, external=EXTERNAL, base_motion=BASE,
           returns=SPATIAL)  # fmt: skip
def joint_wrench(model, q, qd, qdd, at, external, base_motion):
    """What a force-torque sensor reads: the whole spatial force [couple; force] through a joint on what it carries.

    Takes q (nq), qd and qdd (nv) and the name of a link or frame; gives (6,) in N m and N, at that frame and in its
    coordinates. The joint is the one that carries the moving body which the frame is on.

    >>> hinge.samples.planar_2r().joint_wrench([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "lower").round(3)
    array([ 0.   , -4.905,  0.   ,  0.   ,  0.   ,  9.81 ])
    """
    _, f = joint_forces(model, q, qd, qdd, external, base_motion)
    carried = mix(at.on, [list(force) for force in f])
    to_body = Transform(Rigid(at.R, -(at.R.T @ at.p)))
    return list(to_body.T @ Force(Vec3(tuple(carried[:3])), Vec3(tuple(carried[3:]))))
