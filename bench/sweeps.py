"""A sweep on two local workers beside the bare kernel, in the same processes and by turns.

    python bench/sweeps.py [--write]

Each rollout has 200 Runge-Kutta steps of 1 ms, masses and a start of its own; the last state is kept. The bare kernel
is `hinge.rollout` on numbers that are there already, each worker half of them. Time is the processors', of the workers
and of the process that asks and schedules.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import figures
import numpy as np
from distributed import wait
from measuring import UR5, fastest

import hinge
from hinge.sweeps import uniform
from hinge.sweeps.workers import local

STEPS, STEP, CHUNK, WORKERS, ROLLOUTS, ROUNDS = 200, 1e-3, 8192, 2, 500_000, 2
LARGE = 61_036  # rollouts of a chunk of a sweep of a billion


def bare(robot: hinge.Robot, masses: dict[str, float], rollouts: int) -> None:
    """The kernel alone, on one thread."""
    hinge.set_threads(1)
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-1.0, 1.0, (2, CHUNK, robot.nv))
    given = {name: rng.uniform(0.8 * m, 1.2 * m, CHUNK) for name, m in masses.items()}
    for k in range(0, rollouts, CHUNK):
        n = min(CHUNK, rollouts - k)
        part = {name: m[:n] for name, m in given.items()}
        hinge.rollout(robot, q[:n], qd[:n], STEPS, STEP, method="rk4", record=STEPS, parameters=part)


def measured() -> dict[str, Any]:
    robot = hinge.load(UR5)
    masses = {f"{name}.mass": robot.model.links[name][0] for name in robot.body_names}
    spreads = {name: uniform(0.8 * m, 1.2 * m) for name, m in masses.items()}
    starts = {"q": uniform(-1.0, 1.0), "qd": uniform(-1.0, 1.0)}
    folder = Path(tempfile.mkdtemp())
    with local(WORKERS) as client:

        def spent() -> float:
            return sum(client.run(time.process_time).values()) + time.process_time()

        def alone(count: int = ROLLOUTS) -> None:
            shared = [client.submit(bare, robot.vary(*masses), masses, count // WORKERS, workers=[one], pure=False)
                      for one in client.nthreads()]  # fmt: skip
            wait(shared)
            assert all(one.status == "finished" for one in shared)

        def swept(count: int = ROLLOUTS) -> None:
            shutil.rmtree(folder / "x.zarr", ignore_errors=True)
            made = hinge.sweep(
                robot, spreads, starts, t=STEPS * STEP, rollouts=count, store=folder / "x.zarr", client=client
            )
            assert made.complete
            assert made.failed == 0

        alone(1000), swept(1000)  # compiled before it is timed
        took = fastest({"kernel": alone, "sweep": swept}, ROUNDS, spent)
    shutil.rmtree(folder)
    kernel, sweep = (1e6 * took[name] / ROLLOUTS for name in ("kernel", "sweep"))
    rows = [
        ["the kernel, in `hinge.rollout`", f"{kernel:.1f}"],
        ["drawing 18 numbers, copies of what is kept, its hash and its files, Dask", f"{sweep - kernel:.1f}"],
    ]
    return {
        "table": [["", "µs of a processor a rollout"], *rows],
        "rollout": figures.number(sweep, "µs of a processor a rollout"),
        "ten_thousand": figures.number(sweep / 1e2, "s of a processor for 10⁴ rollouts"),
        "million": figures.number(sweep, "s of a processor for 10⁶ rollouts"),
        "hundred_million": figures.number(sweep * 1e2 / 60, "minutes of a processor for 10⁸ rollouts"),
        "billion": figures.number(sweep * 1e3 / 3600, "hours of a processor for 10⁹ rollouts"),
        "on_64": figures.number(sweep * 1e3 / 64 / 60, "minutes of 64 processors for 10⁹ rollouts"),
        "on_250": figures.number(sweep * 1e3 / 250, "s of 250 processors for 10⁹ rollouts"),
        "chunk": figures.number(sweep * LARGE / 1e6, "s of a processor for a chunk of 10⁹ rollouts"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("dask", "distributed", "zarr"), "two cores of {}")
