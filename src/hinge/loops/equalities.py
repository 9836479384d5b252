"""The equalities of an MJCF file as kinematic loops: connect, weld and joint.

MuJoCo enforces them by springs; here they are rigid, what its springs tend to as they get stiffer. Bodies stand as at
qpos0 when a connect or weld is made, unless the file says how they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.dynamics import kinematics
from hinge.dynamics.place import Place
from hinge.errors import ModelError, NotCovered
from hinge.model import Model
from hinge.model.joints import Spherical
from hinge.model.loops import Loop, Tie, added, close
from hinge.model.mechanisms import Fixed
from hinge.model.report import Report
from hinge.spatial.rotation import rotation_from_quaternion


def closed(model: Model) -> Model:
    """The model with the equalities of its file as loops; those that are not active are left out."""
    for k, kept in enumerate(model.extras.get("equality", ())):
        said, tag = kept["attributes"], kept["tag"]
        name = said.get("name") or f"{tag}_{k}"
        if said.get("active", "true") == "false":
            continue
        if tag in ("connect", "weld"):
            model = _joined(model, tag, name, said)
        elif tag == "joint":
            model = added(model, _tie(model, name, said))
        else:
            raise NotCovered(
                f"{model.name}: equality <{tag}> {name!r} cannot be a loop.\n  Load with loops=False, or remove it."
            )
    said_so = tuple(finding for finding in model.report if finding.code != "equality")  # "left out" is no longer true
    return replace(model, report=Report(said_so))


def _joined(model: Model, tag: str, name: str, said: Mapping[str, str]) -> Model:
    joint = Spherical() if tag == "connect" else Fixed()
    if (said.get("site1"), said.get("site2")) == (f"{name}.a", f"{name}.b"):  # a loop that hinge wrote
        return added(model, Loop(name, joint, f"{name}.a", f"{name}.b"))
    if "site1" in said:
        return close(model, joint, said["site1"], said["site2"], name=name)
    world = model.body_name[0]
    first, second = said["body1"], said.get("body2") or world
    inner, outer = np.eye(4), np.eye(4)
    here, there = (_pose(model, body) for body in (first, second))
    if tag == "connect":
        inner[:3, 3] = _numbers(name, said, "anchor", 3)
    else:
        pose = _numbers(name, said, "relpose", 7) if "relpose" in said else np.zeros(7)
        inner = np.linalg.inv(here) @ there
        if pose[3:].any():  # without a direction the bodies stand as they are
            inner[:3, :3] = np.reshape(rotation_from_quaternion(tuple(pose[3:] / np.linalg.norm(pose[3:]))), (3, 3))
            inner[:3, 3] = pose[:3]
        return close(model, joint, first, second, inner, name=name)
    outer[:3, 3] = (np.linalg.inv(there) @ here @ inner)[:3, 3]
    return close(model, joint, first, second, inner, outer, name=name)


def _pose(model: Model, body: str) -> Any:
    """Where a body stands in the reference configuration."""
    R, r = kinematics.poses(model, model.joint_positions([x for i in model.leaders for x in model.neutral(i)]))
    turned, at = kinematics.frame_pose(Place.named(model, body), R, r)
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = np.reshape(turned, (3, 3)), at
    return made


def _tie(model: Model, name: str, said: Mapping[str, str]) -> Tie:
    joints = [said["joint1"], said.get("joint2", "")]
    rest = []
    for joint in joints:
        at = model.joint_number(joint) if joint else 0
        if joint and not model.joint[at].is_single:
            raise NotCovered(f"{model.name}: equality {name!r} ties joint {joint!r}, which has several coordinates.")
        rest.append(float(model.neutral(at)[0]) if joint else 0.0)
    given = _numbers(name, said, "polycoef") if "polycoef" in said else np.array([0.0, 1.0])
    return Tie(name, joints[0], joints[1], tuple(float(x) for x in given), (rest[0], rest[1]))


def _numbers(name: str, said: Mapping[str, str], word: str, count: int = 0) -> Any:
    try:
        made = np.array([float(x) for x in said[word].split()])
        if not np.isfinite(made).all() or (count and len(made) != count):
            raise ValueError
    except (KeyError, ValueError):
        wanted = f"{count} numbers" if count else "numbers"
        raise ModelError("number", f"equality {name!r} has {word}={said.get(word)!r}.", f"Give {wanted}.") from None
    return made
