"""`hinge run`: an algorithm on every row of a log."""

from __future__ import annotations

import json
import time

import click

from hinge import logs
from hinge.cli.common import AT, BACKEND, JSON, TERMS, Name, progress, split
from hinge.cli.inputs import log_of, reads_robot
from hinge.cli.outputs import FORCE, Target, log_to, teller
from hinge.robot import Robot


@click.command()
@click.argument("name", type=Name())
@reads_robot()
@click.option(
    "--in",
    "source",
    required=True,
    type=click.Path(allow_dash=True),
    metavar="LOG",
    help="A .csv, .parquet or .npz file, or - for standard input.",
)
@click.option(
    "--out",
    "target",
    required=True,
    type=Target(stream=True),
    metavar="LOG",
    help="The same, or - for CSV on standard output.",
)
@AT
@click.option("--method", metavar="NAME", help="The formulation; the cheapest by default.")
@TERMS
@BACKEND
@FORCE
@JSON
def run(
    name: str,
    robot: Robot,
    source: str,
    target: str,
    at: str,
    method: str | None,
    joint_terms: str,
    backend: str | None,
    as_json: bool,
) -> None:
    """Compute NAME, such as inverse-dynamics, of ROBOT, a robot file, for every row of a log.

    Columns are called q_JOINT, qd_JOINT, qdd_JOINT and tau_JOINT. A log of any size goes through in chunks. When it is
    stopped, or the disk is full, what was computed so far can be read.
    """
    log, start, tell = log_of(source), time.perf_counter(), teller(target)
    with progress(name) as tick, log_to(target) as place:
        rows = logs.run(robot, name, log, place, at, method, split(joint_terms), backend,
                        progress=lambda share, done: tick(share, f"{done:,} rows"))  # fmt: skip
    seconds = time.perf_counter() - start
    if as_json:
        tell(json.dumps({"name": name, "rows": rows, "seconds": seconds, "out": target}))
    else:
        tell(f"{target}: {rows:,} rows in {seconds:.2f} s")
