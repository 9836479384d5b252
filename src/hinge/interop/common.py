"""What the three libraries have in common: a joint as simpler ones, poses and inertias as arrays."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.errors import NotCovered
from hinge.formats.write.tree import picked
from hinge.interop.forms import Array
from hinge.model import Model
from hinge.model.joints import Joint
from hinge.model.model import JointData
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import Mat3
from hinge.spatial.transform import Transform


def installed(module: str, package: str, extra: str = "") -> Any:
    """The library, or what to do to have it: the package, or the extra of hinge that has it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        how = f'"hinge[{extra}]"' if extra else package
        raise NotCovered(f"the package {package} is not installed.\n  pip install {how}") from None


class Step(NamedTuple):
    """A joint that a library has a word for."""

    name: str
    joint: Joint
    data: JointData


def steps(model: Model, i: int, spelled: Sequence[str], library: str) -> list[Step]:
    """Joint i as one that the library has, or as simpler ones called JOINT_1, JOINT_2, … after each other."""
    joint, name, data = model.joint[i], model.joint_name[i], model.data[i]
    if joint.kind in spelled:
        return [Step(name, joint, data)]
    simple = joint.chain()
    if not simple or any(one.kind not in spelled for one, _ in simple):
        raise NotCovered(f"joint {name!r} is {joint.kind}, which {library} has no word for.")
    return [Step(f"{name}_{k}", one, picked(data, at)) for k, (one, at) in enumerate(simple, start=1)]


def matrix(R: Mat3) -> Array:
    return np.array(list(R), float).reshape(3, 3)


def pose_of(placement: Transform) -> tuple[Array, Array]:
    """Rotation and position of the child's frame in the parent's."""
    R, p = placement.pose()
    return matrix(R), np.array(list(p), float)


def inertia_of(I: RigidInertia) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and inertia about it, where the body's frame is."""
    if not I.m:
        return 0.0, np.zeros(3), matrix(I.I.full())
    return I.m, np.array(list(I.com)), matrix(I.about_com.full())
