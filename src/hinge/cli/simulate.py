"""`hinge simulate`: a robot in motion, into a log and a picture."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

import hinge
from hinge import logs
from hinge.cli.common import BACKEND, JSON, TERMS, split
from hinge.cli.faults import FAILED, STOPPED
from hinge.cli.inputs import STREAM, reads_robot
from hinge.cli.outputs import FORCE, Target, forced, log_to, teller
from hinge.integrators import METHODS
from hinge.logs.tables import target_suffix
from hinge.robot import Robot
from hinge.sim.picture import drawable
from hinge.sim.trajectory import Trajectory
from hinge.typing import Backend, Limits

if TYPE_CHECKING:
    from hinge.robot.algorithms import Integrator


@click.command()
@reads_robot(moves=True)
@click.option("--time", "t", default=5.0, show_default=True, help="How long, in s.")
@click.option("--step", default="0.001", show_default=True, help='In s, or "auto".')
@click.option(
    "--method", default="rk4", show_default=True, help="rk4, lie_rk4, semi_implicit, euler, midpoint, dopri5."
)
@click.option("--from", "start", multiple=True, metavar="JOINT=VALUE", help="Where a joint starts, in rad or m.")
@click.option("--rollouts", type=click.IntRange(1), help="So many runs, from random places within the limits.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the random places.")
@click.option("--limits", default="ignore", show_default=True, help="What joint limits do: ignore, stop, spring.")
@click.option("--record", default=1, show_default=True, type=click.IntRange(1), help="Keep every so many steps.")
@TERMS
@BACKEND
@click.option(
    "--out",
    type=Target(stream=True),
    metavar="LOG",
    help="Write a .csv, .parquet or .npz log, or a .zarr folder; - is CSV on standard output.",
)
@click.option("--plot", type=Target(), metavar="PICTURE", help="Draw a .png, .svg or .pdf.")
@click.option("--film", type=Target(), metavar="FILM", help="Write a film, .html, .mp4 or .gif, or one picture, .png.")
@FORCE
@JSON
def simulate(
    robot: Robot,
    t: float,
    step: str,
    method: Integrator,
    start: tuple[str, ...],
    rollouts: int | None,
    seed: int,
    limits: Limits,
    record: int,
    joint_terms: str,
    backend: Backend | None,
    out: str | None,
    plot: str | None,
    film: str | None,
    as_json: bool,
) -> None:
    """Let ROBOT, a robot file, move for a while under gravity, with no forces at its joints.

    It starts at rest, where its file puts it or where --from says; with --rollouts from many places. Ctrl-C keeps what
    there is.
    """
    folder = bool(out) and os.path.splitext(str(out))[1] == ".zarr"
    if out and not folder and out != STREAM:
        target_suffix(out)  # before the work is done
    if plot:
        drawable(plot)
    if film:
        from hinge.viewing.film import writer_of

        writer_of(film)
    streams = folder and method in METHODS and not METHODS[method].adaptive
    run = hinge.simulate(robot, t, q0=_start(robot, start, rollouts, seed), method=method, step=_step(step),
                         record=record, limits=limits, joint_terms=split(joint_terms), backend=backend,
                         file=out if streams else None, overwrite=bool(streams) and forced())  # fmt: skip
    if out and not streams:
        _put(run, out, folder)
    if plot:
        run.plot(plot)
    if film:
        hinge.film(run, film)
    teller(out)(json.dumps(_finite(_said(run)), allow_nan=False) if as_json else repr(run))
    for written in filter(None, (out, plot, film)):
        if written != STREAM:
            click.echo(f"wrote {written}", err=True)
    if "stopped" in run.info:
        raise click.exceptions.Exit(STOPPED if str(run.info["stopped"]).startswith("interrupted") else FAILED)
    if np.all(run.failed):
        raise click.exceptions.Exit(FAILED)


def _finite(data: Any) -> Any:
    """Return the same data with None, JSON's null, for numbers that are not finite."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _put(run: Trajectory, out: str, folder: bool) -> None:
    """The run as a folder that `hinge.open` reads, or as a log."""
    if folder:
        run.save(out)
        return
    with log_to(out) as place:
        logs.write(run, place)


def _start(robot: Robot, given: tuple[str, ...], rollouts: int | None, seed: int) -> Any:
    q = robot.neutral()
    if rollouts is not None:
        q, _ = robot.random_state(np.random.default_rng(seed), rollouts)
    for word in given:
        joint, _, value = word.partition("=")
        at = robot.coordinates(joint)[0]
        try:
            q[..., at] = [float(x) for x in value.split(",")]
        except ValueError:
            wanted = "a number" if at.stop - at.start == 1 else f"{at.stop - at.start} numbers with commas between them"
            raise click.UsageError(f"--from {word}: joint {joint!r} takes {wanted}.") from None
    return q


def _step(word: str) -> float | Literal["auto"]:
    try:
        return float(word)
    except ValueError:
        if word != "auto":
            raise click.UsageError(f'--step {word}: give seconds, or "auto".') from None
        return "auto"


def _said(run: Trajectory) -> dict[str, Any]:
    """What came out, as data."""
    q, qd = run.final
    energy = run.energy()
    info = {key: value for key, value in run.info.items() if isinstance(value, str | int | float | bool)}
    return {"robot": run.robot.name, "method": run.method, "states": len(run), "rollouts": run.status.size,
            "time": float(run.t[-1]), "failed": int(np.count_nonzero(run.failed)), "q": q.tolist(), "qd": qd.tolist(),
            "energy": [energy[..., 0].tolist(), energy[..., -1].tolist()], "info": info}  # fmt: skip
