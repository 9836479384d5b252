"""`hinge sweep`: the rollouts that a file asks for, into a store."""

from __future__ import annotations

import json
import time

import click

import hinge
from hinge.cli.common import JSON
from hinge.cli.faults import FAILED, STOPPED, asked
from hinge.cli.inputs import robot_flags, source_of
from hinge.robot.loading import Base
from hinge.sweeps.toml_file import read
from hinge.sweeps.zarr_store import package


@click.command()
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--resume", is_flag=True, help="Go on with a store that is there: compute what is missing.")
@click.option(
    "--workers", default=0, show_default=True, type=click.IntRange(0), help="So many processes of this machine."
)
@click.option("--scheduler", metavar="ADDRESS", help="The workers of a Dask cluster, such as tcp://10.0.0.1:8786.")
@robot_flags
@JSON
def sweep(
    file: str,
    resume: bool,
    workers: int,
    scheduler: str | None,
    base: Base | None,
    packages: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run the rollouts that FILE asks for, a TOML file, and keep what it wants of them in a Zarr store.

    Files that it names lie beside it; with - in its place, standard input, in the folder one is in.
    It runs in this process, on --workers of this machine, or on those of a --scheduler. When it is stopped, or killed,
    --resume computes what is missing.
    """
    start = time.perf_counter()
    with asked():
        question = read(source_of(file), base, packages)
    client = package("distributed").Client(scheduler) if scheduler else None
    try:
        made = hinge.sweep(**question, resume=resume, workers=workers, client=client, progress=True)
    finally:
        if client is not None:
            client.close()
    seconds = time.perf_counter() - start
    if as_json:
        failures = [{"rollout": one.rollout, "status": one.status.name, "given": one.given} for one in made.failures()]
        said = {name: getattr(made, name) for name in ("store", "rollouts", "done", "failed", "hash")}
        said |= {"seconds": seconds, "failures": failures, "problems": [one._asdict() for one in made.problems]}
        click.echo(json.dumps(said))
    else:
        click.echo(repr(made))
        if made.hash:
            click.echo(f"  hash {made.hash}, in {seconds:.1f} s")
    if not made.complete:
        raise click.exceptions.Exit(STOPPED if made.stopped == "interrupted" else FAILED)
