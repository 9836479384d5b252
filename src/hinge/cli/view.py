"""`hinge view`: a robot, or runs, in the browser."""

from __future__ import annotations

import click

import hinge
from hinge.cli.inputs import robot_flags, robot_of
from hinge.cli.runs import is_run, run_of, shows_runs, trailed
from hinge.robot.loading import Base
from hinge.viewing.cast import Runs


@click.command()
@click.argument("thing", type=click.Path(allow_dash=True), metavar="ROBOT|RUN")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0 takes any that is free."
)
@click.option("--host", default="localhost", show_default=True, help="The address to serve on.")
@click.option("--no-browser", is_flag=True, help="Open no browser; print the address.")
@shows_runs
@robot_flags
def view(
    thing: str,
    port: int,
    host: str,
    no_browser: bool,
    rollouts: list[int],
    layout: str,
    trails: tuple[str, ...],
    robot: str | None,
    packages: tuple[str, ...],
    base: Base | None,
) -> None:
    """Look at a robot file, or at a run, in the browser, until Ctrl-C.

    A run is one that was saved (a .zarr folder), a log (.csv, .parquet, .npz) with --robot, the TOML file of a sweep,
    or the store of one that keeps trajectories, with --robot.
    """
    shown: hinge.Robot | Runs
    if is_run(thing):
        shown, rollouts = run_of(thing, rollouts, robot, base, packages)
    else:
        shown = robot_of(thing, base, packages)
    which = rollouts if len(rollouts) > 1 else rollouts[0]
    page = hinge.view(shown, port, host=host, browser=False, rollout=which, layout=layout, trails=trailed(trails))
    serve(page, not no_browser)


def serve(page: hinge.Page, browser: bool) -> None:
    """Say where the page is, open it, and serve it until Ctrl-C."""
    import webbrowser

    click.echo(f"The page is at {page.address}; Ctrl-C ends it.")
    if browser and not webbrowser.open(page.address):
        click.echo("No browser could be opened here: open that address in one.", err=True)
    page.wait()
