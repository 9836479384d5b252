"""The command line: `hinge demo`, `show`, `check`, `count`, `equations`, `export` and `cache`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

import hinge
from hinge.robot import Robot


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(hinge.__version__, prog_name="hinge")
def main() -> None:
    """Robot dynamics, traced once and compiled."""


@main.command()
@click.argument("robot", required=False)
@click.option(
    "--seconds",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.01, 3600),
    help="How long each measurement takes.",
)
def demo(robot: str | None, seconds: float) -> None:
    """Take an arm (or ROBOT, a URDF file), compute its dynamics both ways, count and time them."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    arm = _loaded(robot) if robot else hinge.samples.puma560()
    if not arm.nv:
        raise click.ClickException(f"robot {arm.name!r} has no moving joint: there is nothing to compute.")
    console.print(_joint_table(arm))
    try:
        _there_and_back(console, arm)
        console.print(_cost_table(arm))
        _measure(console, arm, seconds)
    except hinge.HingeError as problem:
        raise click.ClickException(str(problem)) from None


@main.command()
@click.argument("robot")
def show(robot: str) -> None:
    """Show the joints of ROBOT, a URDF file, and the findings on it."""
    from rich.console import Console

    loaded = _loaded(robot)
    console = Console(highlight=False, markup=False)
    console.print(_joint_table(loaded))
    for finding in loaded.report:
        console.print(str(finding), soft_wrap=True)


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a file, a line each.")
@click.option(
    "--certify", is_flag=True, help="Prove the dynamics on this machine, and compare them with other libraries."
)
@click.option("--strict", is_flag=True, help="Let notes count for the exit code.")
@click.option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", show_default=True)
def check(files: tuple[str, ...], as_json: bool, certify: bool, strict: bool, base: str) -> None:
    """Say all that is wrong or odd about robot files, and what to do.

    Exits with 0 when there is nothing but notes, 1 where there are errors, warnings or a proof that failed, and 2 where
    a file cannot be loaded; of several files, with the worst.
    """
    from rich.console import Console

    console, worst = Console(highlight=False, markup=False), 0
    for file in files:
        found = hinge.check(file, certify=certify, strict=strict, base=base)
        worst = max(worst, found.exit_code)
        if as_json:
            click.echo(found.to_json())
            continue
        for kind, line in found.lines():
            console.print(_painted(kind, line), soft_wrap=True)
    raise SystemExit(worst)


STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan", "fix": "dim", "summary": "bold",
          "passed": "green", "failed": "bold red", "skipped": "dim"}  # fmt: skip


def _painted(kind: str, line: str) -> Any:
    """A line of a diagnosis with its first word of judgement coloured, and the place before it bold."""
    from rich.text import Text

    if kind in ("fix", "summary"):
        return Text(line, style=STYLES[kind])
    text, at = Text(line), max(line.find(f"{kind}: "), 0)  # a proof begins with the word
    text.stylize("bold", 0, at)
    text.stylize(STYLES[kind], at, at + len(kind))
    return text


@main.command()
@click.argument("robot", required=False)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option(
    "--table", is_flag=True, help="Every count the texts print, beside ours on general arms (takes a minute)."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def count(robot: str | None, names: tuple[str, ...], table: bool, as_json: bool) -> None:
    """Count the operations of every method on ROBOT, a robot file, for one state.

    NAME is what is computed, such as inverse_dynamics; without it, that and mass_matrix and forward_dynamics are.
    """
    if table == (robot is not None):
        raise click.UsageError("give a robot file, or --table and no file.")
    from hinge.counting.measure import COUNTED
    from hinge.counting.table import of_robot, sheets

    try:
        made = sheets() if table else (of_robot(_loaded(str(robot)), name) for name in names or COUNTED)
        if as_json:
            click.echo(json.dumps([sheet.data() for sheet in made], indent=1, ensure_ascii=False))
            return
        from rich.console import Console

        console = Console(highlight=False, markup=False)
        for sheet in made:
            sheet.show(console)
    except hinge.HingeError as problem:
        raise click.ClickException(str(problem)) from None


@main.command()
@click.option("--clear", is_flag=True, help="Remove every compiled kernel.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def cache(clear: bool, as_json: bool) -> None:
    """Say what the kernel cache holds, or clear it."""
    from hinge.backends import cache as kernels

    if clear:
        removed = kernels.clear()
        click.echo(json.dumps({"removed": removed}) if as_json else f"removed {removed} kernels")
        return
    found, folder = kernels.entries(), kernels.folder()
    size = sum(stat.st_size for _, stat in found)
    if as_json:
        listed = [{"file": path.name, "bytes": stat.st_size, "used": stat.st_mtime} for path, stat in found]
        click.echo(json.dumps({"folder": folder and str(folder), "bytes": size, "entries": listed}))
        return
    for path, stat in found:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(stat.st_mtime))
        click.echo(f"{used}  {stat.st_size / 1024:8.1f} KiB  {path.name[:16]}…")
    click.echo(f"{len(found)} kernels, {size / 2**20:.1f} MiB in {folder or 'no folder: the cache is off'}")


_BASE = click.option("--base", type=click.Choice(["fixed", "floating"]), default="fixed", show_default=True,
                     help="What the robot stands on.")  # fmt: skip
_AT = click.option("--at", default="", metavar="FRAME", help="The frame, for what is about one, such as pose.")


@main.command()
@click.argument("robot")
@click.argument("names", nargs=-1)
@click.option("--latex", "form", flag_value="latex", help="Print LaTeX.")
@click.option("--python", "form", flag_value="python", help="Print a function in Python.")
@click.option("--vary", multiple=True, metavar="NAME", help="A number that stays a symbol, such as hand.mass.")
@_BASE
@_AT
def equations(robot: str, names: tuple[str, ...], form: str | None, vary: tuple[str, ...], base: str, at: str) -> None:
    """Print the equations of ROBOT, a URDF file: inverse_dynamics, or those NAMEs."""
    from hinge import paper

    loaded = _loaded(robot, base)
    try:
        varied = loaded.vary(*vary)
        pages = [paper.page(varied, name, form or "text", at=at) for name in names or ("inverse_dynamics",)]
    except hinge.HingeError as problem:
        raise click.ClickException(str(problem)) from None
    click.echo("\n".join(pages), nl=False)


@main.command()
@click.argument("robot")
@click.argument("names", nargs=-1)
@click.option("--c", "folder", required=True, metavar="DIR", help="Write C99 into this folder.")
@click.option("--float", "single", is_flag=True, help="In single precision.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@_BASE
@_AT
def export(robot: str, names: tuple[str, ...], folder: str, single: bool, force: bool, base: str, at: str) -> None:
    """Write the algorithms NAMES of ROBOT, a URDF file, as C: inverse and forward dynamics and mass matrix if none."""
    from hinge import paper

    loaded = _loaded(robot, base)
    try:
        files = paper.c_files(loaded, names or paper.EXPORTED, "float" if single else "double", at=at)
        for path in paper.put(folder, files, force):
            click.echo(path)
    except hinge.HingeError as problem:
        raise click.ClickException(str(problem)) from None


def _loaded(path: str, base: str = "fixed") -> Robot:
    try:
        return hinge.load(path, base=base)
    except hinge.HingeError as problem:
        raise click.ClickException(str(problem)) from None


def _joint_table(robot: Robot) -> Any:
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{robot.name}: {robot.nv} degrees of freedom, {robot.mass:.4g} kg")
    table = Table(title=title, title_justify="left")
    for column, side in (("joint", "left"), ("type", "left"), ("carries", "left"), ("on", "left"),
                         ("kg", "right"), ("lower", "right"), ("upper", "right")):  # fmt: skip
        table.add_column(column, justify=side)  # type: ignore[arg-type]
    model = robot.model
    for i, p in model.outward():
        data = model.data[i]
        limits = [f"{data.lower[0]:.3g}", f"{data.upper[0]:.3g}"] if len(data.lower) == 1 else ["", ""]
        kind = model.joint[i].kind + (" (follows)" if i in model.follows else "")
        cells = (
            model.joint_name[i],
            kind,
            model.body_name[i],
            model.body_name[p],
            f"{model.inertia[i].m:.4g}",
            *limits,
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _there_and_back(console: Any, robot: Robot) -> None:
    """Inverse and then forward dynamics give back the accelerations."""
    rng = np.random.default_rng(0)
    q, qd = robot.random_state(rng, 1000)
    qdd = rng.normal(size=qd.shape)
    tau = robot.inverse_dynamics(q, qd, qdd)
    error = np.abs(robot.forward_dynamics(q, qd, tau) - qdd).max()
    console.print("\nForces for a random motion, and the motion they make, at 1,000 random states:")
    console.print("  tau = robot.inverse_dynamics(q, qd, qdd)")
    console.print("  robot.forward_dynamics(q, qd, tau) - qdd")
    console.print(f"  largest difference {error:.1e} rad/s²\n")


def _cost_table(robot: Robot) -> Any:
    from rich.table import Table

    table = Table(title="Operations for one state; depth is the longest chain of them", title_justify="left")
    for column in ("", "method", "mul", "add", "div", "trig", "depth"):
        table.add_column(column, justify="left" if column in ("", "method") else "right")
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        cost = robot.cost(name)
        figures = (cost.mul, cost.add, cost.div, cost.trig, cost.depth)
        table.add_row(name, cost.method, *(str(x) for x in figures))
    return table


def _measure(console: Any, robot: Robot, seconds: float) -> None:
    """States per second here: one state a call, and a batch."""
    from rich.progress import BarColumn, Progress, TextColumn

    rng = np.random.default_rng(1)
    q, qd = robot.random_state(rng, 65536)
    x = rng.normal(size=qd.shape)
    out = np.empty_like(qd)
    runs: list[tuple[str, Callable[[], Any], int]] = []
    for name in ("inverse_dynamics", "forward_dynamics"):
        call = getattr(robot, name)
        runs.append((f"{name}, one state a call", partial(call, q[0], qd[0], x[0]), 1))
        runs.append((f"{name}, {len(q):,} states a call", partial(call, q, qd, x, out=out), len(q)))
    rows = []
    columns = TextColumn("{task.description}"), BarColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        for label, call, states in runs:
            task = progress.add_task(label, total=seconds)
            rows.append((label, _rate(call, states, seconds, partial(_tick, progress, task))))
    width = max(len(label) for label, _ in rows)
    console.print("\nStates per second on this machine:")
    for label, rate in rows:
        console.print(f"  {label:<{width}}  {rate:14,.0f}   ({1e9 / rate:,.0f} ns a state)")


def _tick(progress: Any, task: Any, done: float) -> None:
    progress.update(task, completed=done)


def _rate(call: Callable[[], Any], states: int, seconds: float, tick: Callable[[float], None]) -> float:
    """States per second in the best of many short runs."""
    call()
    repeat = 1000 if states == 1 else 1
    best, start = float("inf"), time.perf_counter()
    while (now := time.perf_counter()) - start < seconds:
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - now) / repeat)
        tick(now - start)
    return states / best


if __name__ == "__main__":
    main()
