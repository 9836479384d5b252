"""A robot into a file."""

from __future__ import annotations

import os

from hinge.formats.write import text_of, write_file
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
    return write_file(robot.model, os.fspath(path), _notes(robot))


def written(robot: Robot, suffix: str, folder: str | os.PathLike[str] = ".") -> tuple[str, Report]:
    """The text that `write` would put into a file of that suffix and folder, and its report.

    >>> text, report = written(hinge.samples.pendulum(1), ".urdf")
    >>> hinge.load(text).nv
    1
    """
    notes = _notes(robot)
    return text_of(robot.model, suffix, os.path.realpath(folder), notes, "the robot"), notes.report()


def _notes(robot: Robot) -> Notes:
    notes = Notes()
    for parameter in robot.target.vary:
        notes.add("note", "vary", "parameter", parameter.name, "a file has its nominal value only.")
    return notes
