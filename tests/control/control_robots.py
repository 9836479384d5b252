"""Arms to control, places to go to, and runs that have nothing to warn of."""

import sysconfig
import warnings
from pathlib import Path

import numpy as np
import pytest

import hinge

UR5 = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots", "ur_description",
           "urdf", "ur5_robot.urdf")  # fmt: skip
AWAY = np.array([0.3, 0.4, 0.6, 0.2, -0.6, 0.1])  # the Puma, bent


def ur5():
    if not UR5.exists():
        pytest.skip("example-robot-data is not installed")
    return hinge.load(UR5)


def quiet(*args, **options):
    """A run whose controller is traced."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return hinge.simulate(*args, **options)


def shifted(pose, shift):
    made = np.array(pose)
    made[:3, 3] += shift
    return made


def off_line(points, start, end):
    """How far points are from a line, and along it, as a share of the way."""
    way = end - start
    along = (points - start) @ way / (way @ way)
    return np.linalg.norm(points - start - along[:, None] * way, axis=1), along
