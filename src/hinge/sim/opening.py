"""Trajectories that `simulate` or `save` wrote to files, read when they are asked for; damaged ones are refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from hinge import files
from hinge.contact.surfaces import surface_parameters
from hinge.errors import HingeError, TrajectoryError
from hinge.robot import Robot
from hinge.sim.places import MARK, entries
from hinge.sim.recording import Event
from hinge.sim.store import (
    LARGEST,
    ROBOTS,
    OnDisk,
    about_file,
    cannot_go_on,
    damaged,
    refuse_changed,
    zarr_package,
)
from hinge.sim.trajectory import Trajectory


def open_trajectory(path: str | os.PathLike[str], robot: Robot | None = None) -> Trajectory:
    """A trajectory from a file that `simulate` or `save` wrote; of a run that was killed, what was finished.

    The robot is read from the file; give one where that is not the robot you mean.

    >>> hinge.open("run.zarr")  # doctest: +SKIP
    """
    folder = Path(path)
    about = about_file(folder)
    finished, fields = about["finished"], about["fields"]
    robot = robot or _read_robot(folder, about)
    zarr = zarr_package()
    try:
        surfaces = {one.name for one in surface_parameters("open", robot.target, about["parameters"])}
        numbers = [name for name in about["parameters"] if name not in surfaces]
        if set(numbers) - {one.name for one in robot.target.vary}:
            robot = robot.vary(*numbers)
        names = _regular(folder)
        for name in ("zarr.json", *(f"{array}/zarr.json" for array in ("t", *fields))):
            refuse_changed(folder, name, about)
        group, batch = zarr.open_group(str(folder), mode="r"), tuple(about["batch"])
        arrays = {name: group[name] for name in ("t", *fields)}
        wrong = next((name for name, array in arrays.items() if array.shape[0] not in about["lengths"]), None)
        if wrong is not None:
            raise ValueError(f"{wrong}/zarr.json has another number of states than {MARK}")
        status = np.array(about["status"], np.uint8).reshape(batch)
        times, planned = OnDisk(folder, arrays["t"], finished, ()).check(names), arrays["t"].shape[0]
        t = times.read(slice(0, finished))
        widths = {"q": robot.nq, "qd": robot.nv, "tau": robot.nv}
        states = {n: OnDisk(folder, arrays[n], finished, batch).check(names, status.size, widths[n]) for n in fields}
        events = tuple(Event(which, tuple(at), t, np.array(q), np.array(qd)) for which, at, t, q, qd in about["events"])
        lost = np.array(about["lost"], float).reshape(batch) if "lost" in about else None
        info = dict(about["info"]) | {"hinge": about["hinge"]}
        parameters = {name: np.array(x, float) for name, x in about["parameters"].items()}
        known, terms = about["parameters_known"], tuple(about["joint_terms"])
    except TrajectoryError:
        raise
    except Exception as problem:  # whatever Zarr makes of a damaged file
        raise damaged(str(folder), problem) from None
    if finished < planned:
        info.setdefault("stopped", f"{finished} of {planned} states were finished")
    return Trajectory(robot, np.asarray(t), states, status, about["method"], events, info, lost,
                      parameters if known else None, terms)  # fmt: skip


def last_of(path: str | os.PathLike[str], robot: Robot) -> Trajectory:
    """The trajectory of a file that a run of this robot can go on with."""
    about = about_file(Path(path))
    if about.get("digest") != robot.model.digest:
        raise cannot_go_on(path, f"it is of another robot, {about.get('name')!r}")
    if not ({"q", "qd"} <= set(about["fields"]) and about["finished"]):
        raise cannot_go_on(path, "it has no q and qd to begin with")
    return open_trajectory(path, robot)


def _regular(folder: Path) -> set[str]:
    """The names of all files below a folder; raises where one of them is no file, or too large to be a chunk."""
    names = set()
    for name, entry in entries(folder):
        try:
            files.regular(entry.path, LARGEST)
        except OSError as problem:
            raise ValueError(f"{name}: {problem.strerror}") from None
        names.add(name)
    return names


def _read_robot(folder: Path, about: dict[str, Any]) -> Robot:
    from hinge.robot.loading import load

    path = next((folder / name for name in ROBOTS if (folder / name).is_file()), None)
    if path is None:
        raise TrajectoryError(f"{folder} does not hold its robot, {about.get('name')!r}.",
                         "Give it: hinge.open(path, robot=…).")  # fmt: skip
    try:
        refuse_changed(folder, path.name, about)
        return load(path)
    except (HingeError, OSError, ValueError) as problem:
        raise TrajectoryError(f"the robot of {folder} cannot be read: {problem}.",
                              "Give it: hinge.open(path, robot=…).") from None  # fmt: skip
