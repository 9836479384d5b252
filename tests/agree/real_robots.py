"""The robots of example-robot-data, each as hinge and as Pinocchio read it, in matching states.

Pinocchio puts linear before angular parts, a free joint's position before its quaternion, the quaternion's scalar
last, and an angle without limits as its cosine and sine; children are in the order of their joints' names.
"""

import sysconfig
from pathlib import Path

import numpy as np
from closeness import close as close

import hinge

ROOT = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.rglob("*.urdf"))}
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
STATES = 2
EXACT = 5e-14  # relative: what some tens of roundings in two libraries may leave
SNAPPED = 1e-10  # where hinge reads an angle such as 1.57079632679 as a quarter turn, up to 1e-11 off, at many joints

REFUSED = {  # the error's code; Pinocchio cannot read these either
    "falcon_description/urdf/falcon.urdf": "unknown-link",
    "ur_description/urdf/ur3.urdf": "empty",
}
WELDED = {  # nothing moves on a fixed base
    "bluevolta_description/urdf/bluevolta.urdf",
    "hector_description/robots/quadrotor_base.urdf",
    "iris_description/robots/iris_simple.urdf",
}
UNSOLVABLE = {  # the joint that moves nothing with inertia, so that no acceleration follows from its force
    "bluevolta_description/urdf/bluevolta_bravo7_gripper.urdf": "bravo_finger2_joint",
    "bravo7_description/urdf/bravo7_gripper.urdf": "bravo_finger2_joint",
    "falcon_description/urdf/falcon_bravo7_gripper.urdf": "bravo_finger2_joint",
    "romeo_description/urdf/romeo.urdf": "RThumb3",
    "romeo_description/urdf/romeo_laas_small.urdf": "r_gripper_joint",
}
FEW = {  # one of each sort, for `make test`; the rest of FILES is a sweep
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",  # a finger follows the other
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "solo_description/robots/solo.urdf",  # legs
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf",  # flies
    "bravo7_description/urdf/bravo7_gripper.urdf",  # unsolvable
    "iris_description/robots/iris_simple.urdf",  # welded
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",  # a humanoid
}


def few(case):
    """Whether a file, or a case that begins with one, is among the few."""
    return (case if isinstance(case, str) else case[0]) in FEW


def named(floating):
    return "floating" if floating else "fixed"


class Pair:
    """One file read by both, with a few states: q, v, a of Pinocchio, and hq, hv, ha of hinge."""

    def __init__(self, path, floating):
        import pinocchio as pin

        self.floating = floating
        self.robot = hinge.load(path, base=named(floating), mimic="free")
        self.model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if floating else []))
        self.data = self.model.createData()
        assert self.robot.nv == self.model.nv
        self.tol = SNAPPED if self._snaps() else EXACT
        rng = np.random.default_rng(7)
        self.v, self.a = rng.normal(size=(2, STATES, self.model.nv))
        self.index = self._index()  # hinge's velocities in Pinocchio's order
        self.q, self.hq = self._positions(rng)
        self.hv, self.ha = np.zeros_like(self.v), np.zeros_like(self.a)
        self.hv[:, self.index], self.ha[:, self.index] = self.v, self.a

    def _snaps(self):
        placements = [*self.model.jointPlacements, *(frame.placement for frame in self.model.frames)]
        entries = np.abs([placement.rotation for placement in placements])
        return np.any((entries > 1e-15) & (entries < 1e-11)) or any(f.code == "snapped" for f in self.robot.report)

    def _moving(self):
        return range(2 if self.floating else 1, self.model.njoints)

    def _index(self):
        order = [self.robot.coordinates(self.model.names[j])[1].start for j in self._moving()]
        return np.array([*(ANGULAR_FIRST if self.floating else []), *order], int)

    def _positions(self, rng):
        q, hq = np.zeros((STATES, self.model.nq)), np.zeros((STATES, self.robot.nq))
        if self.floating:
            quaternion = rng.normal(size=(STATES, 4))
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
            position = rng.normal(size=(STATES, 3))
            q[:, :7] = np.concatenate([position, quaternion[:, [1, 2, 3, 0]]], axis=1)
            hq[:, :7] = np.concatenate([quaternion, position], axis=1)
        for j in self._moving():
            x, at = rng.uniform(-2, 2, STATES), self.model.idx_qs[j]
            hq[:, self.robot.coordinates(self.model.names[j])[0].start] = x
            if self.model.nqs[j] == 2:
                q[:, at], q[:, at + 1] = np.cos(x), np.sin(x)
            else:
                q[:, at] = x
        return q, hq

    def call(self, name, *args, **options):
        """A quantity of hinge, by the plain interpreter."""
        return getattr(self.robot, name)(*args, backend="interpret", **options)

    def frames(self, most=None):
        """(name, Pinocchio's number) of links on moving bodies, at most so many, spread over the robot."""
        import pinocchio as pin

        found = [
            (frame.name, k)
            for k, frame in enumerate(self.model.frames)
            if frame.type == pin.FrameType.BODY and frame.parentJoint > 0 and frame.name in self.robot.model.frames
        ]
        step = max(1, len(found) // most) if most else 1
        return found[-1::-step][:most]  # from the last, which is far out

    def theirs(self, function):
        """What a function of Pinocchio's model, data, q, v and a gives, state by state."""
        rows = zip(self.q, self.v, self.a, strict=True)
        return np.array([np.array(function(self.model, self.data, *row)) for row in rows])

    def ordered(self, ours):
        """Velocities or forces of hinge, or a matrix over them, in Pinocchio's order."""
        return ours[..., self.index]
