"""What the columns of a log are called.

    q_JOINT   qd_JOINT   qdd_JOINT   tau_JOINT      and JOINT alone for q_JOINT

A joint with several coordinates has JOINT[0], JOINT[1], … in the order of hinge's conventions. What an algorithm gives
is called tau or qdd where it completes the state it was given, and by the algorithm's name everywhere else.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from hinge.dynamics.registry import ACCELERATION, FORCE, JACOBIAN, MATRIX, POSITION, VELOCITY, Algorithm, Quantity
from hinge.errors import LogError, did_you_mean
from hinge.logs.tables import Log
from hinge.model.states import labels
from hinge.robot import Robot

FIELDS = ("q", "qd", "qdd", "tau")
CARRIED = ("t", "time", "rollout")  # what is handed on as it is
AXES = {FORCE: "v", VELOCITY: "v", ACCELERATION: "v", POSITION: "q", MATRIX: "vv", JACOBIAN: "6v"}


def entries(robot: Robot, field: str) -> list[str]:
    """The joints, and parts of joints, that an input has a number for."""
    return labels(robot.model)[0 if field == "q" else 1]


def columns(robot: Robot, field: str) -> list[str]:
    """The columns of an input."""
    return [f"{field}_{entry}" for entry in entries(robot, field)]


def matched(robot: Robot, fields: Sequence[str], log: Log) -> dict[str, list[str]]:
    """For each input the columns of the log that hold it, or the one array that does.

    What is missing, or of no joint of the robot, is refused.
    """
    followers = {robot.model.joint_name[i] for i in robot.model.follows}
    made = {}
    for field in fields:
        known = entries(robot, field)
        if log.wide.get(field) == len(known):
            if twice := [f"{field}_{entry}" for entry in known if f"{field}_{entry}" in log.columns]:
                raise _both(log, field, twice[0])
            made[field] = [field]
            continue
        for column in log.columns:
            entry = column.removeprefix(f"{field}_")
            if entry != column and entry not in known and entry not in followers:
                raise LogError(f"{log.path} has a column {column!r}, and robot {robot.name!r} has no joint {entry!r}.",
                               f"{did_you_mean(entry, known)} Rename the column, or leave it out.")  # fmt: skip
        if field in log.wide:
            size = f"{'nq' if field == 'q' else 'nv'} = {len(known)}"
            raise LogError(
                f"{log.path}: {field!r} has {log.wide[field]} entries a row, robot {robot.name!r} has {size}."
            )
        if known and not any(column.startswith(f"{field}_") for column in log.columns) and field != "q":
            raise LogError(f"{log.path} has no column of {field}, and {', '.join(fields)} are needed.",
                           f"Add {field}_{known[0]}, and one for every other joint.")  # fmt: skip
        made[field] = [_found(field, entry, log) for entry in known]
    return made


def _found(field: str, entry: str, log: Log) -> str:
    wanted = [f"{field}_{entry}", *([entry] if field == "q" else [])]
    present = [one for one in wanted if one in log.columns]
    if not present:
        named = " or ".join(map(repr, wanted))
        raise LogError(f"{log.path} has no column {named}.", did_you_mean(wanted[0], log.columns))
    if len(present) > 1:
        raise _both(log, *present)
    return present[0]


def _both(log: Log, one: str, other: str) -> LogError:
    """Return the error that two columns of a log hold the same quantity."""
    return LogError(f"{log.path} has {one!r} and {other!r}, which are one quantity.", "Rename one, or leave it out.")


def result_names(algorithm: Algorithm) -> dict[str, str]:
    """What each result of an algorithm is called in a log."""
    given = set(algorithm.inputs)
    if len(algorithm.returns) > 1:
        return {name: name for name in algorithm.returns}
    (name, quantity), *_ = algorithm.returns.items()
    if quantity is FORCE and {"q", "qd", "qdd"} <= given:
        return {name: "tau"}
    if quantity is ACCELERATION and {"q", "qd", "tau"} <= given:
        return {name: "qdd"}
    return {name: name}


def result_columns(robot: Robot, quantities: Mapping[str, Quantity]) -> dict[str, list[str]]:
    """The columns of each result: by joint where it has an entry a joint, by number elsewhere."""
    q, v = labels(robot.model)
    made = {}
    for name, quantity in quantities.items():
        shape = quantity.shape(robot.model)
        kinds = AXES.get(quantity, "").ljust(len(shape))
        axes = [{"q": q, "v": v}.get(kind, [str(k) for k in range(n)]) for kind, n in zip(kinds, shape, strict=True)]
        made[name] = ["_".join([name, *at]) for at in itertools.product(*axes)]
    return made
