"""`hinge bench`: how fast a robot's algorithms run on this machine."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import click
import numpy as np

import hinge
from hinge.backends import backend_name, threads
from hinge.cli.common import BACKEND, JSON, NAMES, console, progress, table
from hinge.cli.inputs import reads_robot
from hinge.dynamics.registry import PLACE, choose
from hinge.errors import NotCovered, did_you_mean
from hinge.robot import Robot

MAIN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_force", "gravity_force", "pose", "jacobian")
Call = Callable[[], Any]
FIELDS = ("q", "qd", "qdd", "tau")


@dataclass(frozen=True)
class Rate:
    """States per second of an algorithm: a call a state from Python, a batch on one thread, and on all."""

    name: str
    method: str
    states: int
    single: float
    alone: float
    batch: float


@click.command()
@reads_robot(moves=True)
@NAMES
@click.option("--states", default=65536, show_default=True, type=click.IntRange(1), help="States in a batch.")
@click.option("--seconds", default=0.3, show_default=True, type=click.FloatRange(0.01, 3600),
              help="How long each measurement takes.")  # fmt: skip
@click.option("--threads", "count", type=click.IntRange(1), help="Threads a batch is split over; all by default.")
@BACKEND
@JSON
def bench(
    robot: Robot,
    names: tuple[str, ...],
    states: int,
    seconds: float,
    count: int | None,
    backend: str | None,
    as_json: bool,
) -> None:
    """Measure how fast the algorithms of ROBOT, a robot file, run on this machine.

    NAME is what is measured, such as inverse-dynamics; without it the main ones are. The best of many runs counts.
    """
    found = measured(robot, names or MAIN, states, seconds, count, backend)
    used = count or threads.number()
    here = {"threads": used, "cores": os.cpu_count(), "machine": platform.machine(), "hinge": hinge.__version__}
    about = {"robot": robot.name, "nv": robot.nv, "states": states, "backend": backend_name(backend)} | here
    if as_json:
        click.echo(json.dumps(about | {"rates": [asdict(rate) | {"ns": 1e9 / rate.batch} for rate in found]}))
        return
    title = f"{robot.name}, {robot.nv} degrees of freedom: batches of {states:,} states; ns a state"
    columns = ("", "method", "one state a call", "a batch, 1 thread", f"a batch, {used} threads", "states a second")
    rows = [
        [r.name, r.method, *(f"{1e9 / x:,.4g}" for x in (r.single, r.alone, r.batch)), f"{r.batch:,.0f}"] for r in found
    ]
    console().print(table(title, columns, rows, left=2))


def measured(robot: Robot, names: Sequence[str], states: int, seconds: float, count: int | None = None,
             backend: str | None = None) -> list[Rate]:  # fmt: skip
    """The rates of algorithms, each in the best of many short runs."""
    rng, made = np.random.default_rng(1), []
    q, qd = robot.random_state(rng, states)
    given = {"q": q, "qd": qd, "qdd": rng.normal(size=qd.shape), "tau": rng.normal(size=qd.shape)}
    calls = {name: _calls(robot, name, given, backend) for name in names}
    done = 0
    with progress("measuring") as tick:
        for name, (one, many) in calls.items():
            rates = []
            for call, size, split in ((one, 1, 1), (many, states, 1), (many, states, count)):
                hinge.set_threads(split)
                try:
                    rates.append(_rate(call, size, seconds))
                finally:
                    hinge.set_threads(None)
                done += 1
                tick(done / (3 * len(calls)), name)
            made.append(Rate(name, robot.cost(name).method, states, *rates))
    return made


def _calls(robot: Robot, name: str, given: dict[str, Any], backend: str | None) -> tuple[Call, Call]:
    """A call on one state and one on all, the latter into an array that is there."""
    algorithm = choose(robot.model, name)
    needed = [one for one, quantity in algorithm.inputs.items() if quantity.absent is None and quantity is not PLACE]
    if not set(needed) <= set(FIELDS):
        raise NotCovered(f"{name} is not measured: it takes more than a state.\n  {did_you_mean(name, MAIN)}")
    frame = [robot.body_names[-1]] if algorithm.asks_for_a_frame else []
    call = partial(getattr(robot, name), backend=backend) if backend else getattr(robot, name)
    rows = [given[one] for one in needed]
    out = call(*rows, *frame)
    into = {} if isinstance(out, tuple) else {"out": out}
    return partial(call, *(a[0] for a in rows), *frame), partial(call, *rows, *frame, **into)


def _rate(call: Call, states: int, seconds: float) -> float:
    """States per second in the best of many short runs."""
    start = time.perf_counter()
    call()
    repeat = max(1, min(1000, int(0.01 / max(time.perf_counter() - start, 1e-7))))
    best, start = float("inf"), time.perf_counter()
    while (now := time.perf_counter()) - start < seconds:
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - now) / repeat)
    return states / best
