"""What the vectors are: motions, forces, transforms, inertias, rotations, over any scalar.

Read linear3, then vectors, inertia, transform, rotation.
"""

from hinge.spatial.inertia import ArticulatedInertia, InverseInertia, RigidInertia
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Sym3, Vec3, cross3, dot3, mat3, skew, vec3
from hinge.spatial.transform import Rigid, Screw, Transform, slide, turn
from hinge.spatial.vectors import Force, ForceSpace, Motion, MotionSpace, comoving, cross, dot

__all__ = [
    "IDENTITY", "ZERO", "ArticulatedInertia", "Force", "ForceSpace", "InverseInertia", "Mat3", "Motion", "MotionSpace",
    "Rigid", "RigidInertia", "Screw", "Sym3", "Transform", "Vec3", "comoving", "cross", "cross3", "dot", "dot3", "mat3",
    "skew", "slide", "turn", "vec3",
]  # fmt: skip
