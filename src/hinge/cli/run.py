"""`hinge run`: an algorithm on every row of a log."""

from __future__ import annotations

import json
import time

import click

from hinge import logs
from hinge.cli.common import AT, BACKEND, BASE, JSON, ROBOT, TERMS, Name, loaded, progress, split


@click.command()
@click.argument("name", type=Name())
@ROBOT
@click.option("--in", "source", required=True, type=click.Path(), metavar="LOG", help="A .csv, .parquet or .npz file.")
@click.option("--out", "target", required=True, type=click.Path(), metavar="LOG", help="The same, written anew.")
@AT
@click.option("--method", metavar="NAME", help="The formulation; the cheapest by default.")
@TERMS
@BACKEND
@BASE
@JSON
def run(name: str, robot: str, source: str, target: str, at: str, method: str | None, joint_terms: str,
        backend: str | None, base: str, as_json: bool) -> None:  # fmt: skip
    """Compute NAME, such as inverse-dynamics, of ROBOT, a robot file, for every row of a log.

    Columns are called q_JOINT, qd_JOINT, qdd_JOINT and tau_JOINT. A log of any size goes through in chunks. When it is
    stopped, or the disk is full, what was computed so far can be read.
    """
    arm, start = loaded(robot, base), time.perf_counter()
    with progress(name) as tick:
        rows = logs.run(arm, name, source, target, at, method, split(joint_terms), backend,
                        progress=lambda share, done: tick(share, f"{done:,} rows"))  # fmt: skip
    seconds = time.perf_counter() - start
    if as_json:
        click.echo(json.dumps({"name": name, "rows": rows, "seconds": seconds, "out": target}))
    else:
        click.echo(f"{target}: {rows:,} rows in {seconds:.2f} s")
