"""`hinge film`: a saved run, a log or rollouts of a sweep as a film."""

from __future__ import annotations

from typing import Any

import click

import hinge
from hinge.cli.inputs import robot_flags
from hinge.cli.outputs import FORCE, Target
from hinge.cli.runs import run_of, shows_runs, trailed
from hinge.viewing.film import writer_of


@click.command()
@click.argument("run", type=click.Path(allow_dash=True))
@click.argument("film", type=Target())
@shows_runs
@click.option("--speed", default=1.0, show_default=True, help="How many times as fast as it was.")
@click.option("--rate", type=float, help="Pictures a second; 30, of a GIF 20.")
@click.option(
    "--size", nargs=2, type=int, default=(640, 400), show_default=True, help="Of a moving picture, in pixels."
)
@robot_flags
@FORCE
def film(
    run: str, film: str, rollouts: list[int], layout: str, trails: tuple[str, ...], robot: str | None, **options: Any
) -> None:
    """Write FILM, a page (.html) that plays in any browser, or a moving picture (.mp4, .gif), of RUN.

    RUN is a saved run (a .zarr folder), a log (.csv, .parquet, .npz) with --robot, the TOML file of a sweep, or the
    store of one that keeps trajectories, with --robot.
    """
    writer_of(film)  # before the work is done
    runs, which = run_of(run, rollouts, robot, options.pop("base"), options.pop("packages"))
    hinge.film(runs, film, which if len(which) > 1 else which[0], layout=layout, trails=trailed(trails), **options)
    click.echo(f"wrote {film}", err=True)
