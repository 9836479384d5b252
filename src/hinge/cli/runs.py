"""What commands show: saved runs, logs with the robot they are of, and sweeps."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from typing import Any

import click

import hinge
from hinge.cli.faults import asked
from hinge.cli.inputs import log_of, robot_of
from hinge.logs.tables import SUFFIXES
from hinge.robot.loading import Base
from hinge.sim.places import MARK
from hinge.sweeps.toml_file import question
from hinge.sweeps.zarr_store import kept
from hinge.viewing.cast import LAYOUTS, Runs

Command = Any


class Numbers(click.ParamType):
    """Numbers with commas between them, and ranges: 0,3,5-8."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        made: list[int] = []
        for word in str(value).split(","):
            first, dash, last = word.strip().partition("-")
            if not first.isdecimal() or (dash and not last.isdecimal()):
                self.fail(f"{word!r} is no number of a rollout: give 3, 0,3,5 or 0-8.", param, ctx)
            made += range(int(first), int(last if dash else first) + 1)
        return made


def shows_runs(command: Command) -> Command:
    """The options of commands that show runs: `rollouts`, `layout` and `trails`, and the robot of a log."""
    for option in (
        click.option(
            "--robot",
            metavar="ROBOT",
            type=click.Path(allow_dash=True),
            help="The robot that a log, or the store of a sweep, is of.",
        ),
        click.option(
            "--trail",
            "trails",
            multiple=True,
            metavar="FRAME",
            help='A link or frame whose way is drawn; "tips" are the ends of all limbs.',
        ),
        click.option(
            "--layout",
            type=click.Choice(LAYOUTS),
            default="grid",
            show_default=True,
            help="Several rollouts side by side, or one through the other.",
        ),
        click.option(
            "--rollout",
            "rollouts",
            type=Numbers(),
            default="0",
            show_default=True,
            metavar="K,…",
            help="Which rollouts are shown: 3, 0,3,5 or 0-8.",
        ),
    ):
        command = option(command)
    return command


def trailed(trails: Sequence[str]) -> list[str] | bool:
    """What `hinge.view` takes for the words of --trail."""
    return True if "tips" in trails else list(trails)


def is_run(path: str) -> bool:
    """Whether a path is one of a run: a folder, a log, or the file of a sweep."""
    return os.path.isdir(path) or os.path.splitext(path)[1].lower() in SUFFIXES or _asks(path)


def run_of(
    path: str, rollouts: list[int], robot: str | None, base: Base | None, packages: Sequence[str]
) -> tuple[Runs, list[int]]:
    """The runs at a path, and which of their rollouts are shown."""
    its = robot_of(robot, base, packages) if robot is not None else None
    if _asks(path):
        with asked():
            sweep = question(path, base, packages)
        return [sweep.again(k).trajectory for k in rollouts], [0]
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, MARK)) or not os.path.isdir(os.path.join(path, "digest")):
            return hinge.open(path, its), rollouts
        return kept(path, _given(path, its, "the store of a sweep"), rollouts), list(range(len(rollouts)))
    runs = hinge.logs.replay(_given(path, its, "a log"), log_of(path))
    for k in rollouts:
        if k >= len(runs):
            raise click.UsageError(f"--rollout {k}: {path} has {len(runs)}, from 0 on.")
    return [runs[k] for k in rollouts], [0]


def _given(path: str, robot: Any, what: str) -> Any:
    if robot is None:
        raise click.UsageError(
            f"{path} is {what}, and has no robot in it. Say --robot ROBOT; or `hinge simulate ROBOT "
            "--out run.zarr` and trajectory.save write what can be viewed alone."
        )
    return robot


def _asks(path: str) -> bool:
    """Whether a file is one that `hinge sweep` takes: TOML with a store."""
    if os.path.splitext(path)[1].lower() != ".toml" or not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return "store" in tomllib.load(file)
    except (OSError, ValueError):
        return False
