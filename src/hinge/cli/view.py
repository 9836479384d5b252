"""`hinge view`: a robot or a trajectory in the browser."""

from __future__ import annotations

import os

import click

import hinge
from hinge.cli.inputs import robot_flags, robot_of
from hinge.logs.tables import SUFFIXES


@click.command()
@click.argument("thing", type=click.Path(allow_dash=True), metavar="ROBOT|TRAJECTORY")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0 takes any that is free."
)
@click.option("--host", default="localhost", show_default=True, help="The address to serve on.")
@click.option("--no-browser", is_flag=True, help="Open no browser; print the address.")
@robot_flags
def view(thing: str, port: int, host: str, no_browser: bool, packages: tuple[str, ...], base: str | None) -> None:
    """Look at a robot file, or at a trajectory that was saved (a .zarr folder), in the browser, until Ctrl-C."""
    if os.path.splitext(thing)[1].lower() in SUFFIXES and os.path.isfile(thing):
        raise click.UsageError(f"{thing} is a log, and has no robot in it. `hinge simulate ROBOT --out run.zarr` and "
                               "trajectory.save write what can be viewed.")  # fmt: skip
    page = hinge.view(
        hinge.open(thing) if os.path.isdir(thing) else robot_of(thing, base, packages), port, host=host, browser=False
    )
    serve(page, not no_browser)


def serve(page: hinge.Page, browser: bool) -> None:
    """Say where the page is, open it, and serve it until Ctrl-C."""
    import webbrowser

    click.echo(f"The page is at {page.address}; Ctrl-C ends it.")
    if browser and not webbrowser.open(page.address):
        click.echo("No browser could be opened here: open that address in one.", err=True)
    page.wait()
