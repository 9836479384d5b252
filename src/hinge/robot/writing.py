"""A robot into a file."""

from __future__ import annotations

import os

from hinge.formats.write import write_file
from hinge.formats.write.notes import Notes
from hinge.model import Report
from hinge.robot import Robot


def write(robot: Robot, path: str | os.PathLike[str]) -> Report:
    """Write a robot as URDF (.urdf), MJCF (.xml) or, an arm, as a Denavit-Hartenberg file (.toml).

    The report says what the format cannot, by joint or link; it is empty when reading the file back gives the same
    robot. What would be another robot is refused. The file is replaced only when the new one is complete.

    >>> import os, tempfile
    >>> place = os.path.join(tempfile.mkdtemp(), "arm.urdf")
    >>> print(hinge.write(hinge.samples.pendulum(2), place))
    nothing to report
    >>> hinge.load(place).nv
    2
    """
    notes = Notes()
    for parameter in robot.target.vary:
        notes.add("note", "vary", "parameter", parameter.name, "a file has its nominal value only.")
    return write_file(robot.model, os.fspath(path), notes)
