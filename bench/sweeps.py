"""Times a sweep on two local workers against the bare kernel, in the same processes and by turns.

    python bench/sweeps.py                  a UR5 of example-robot-data, 1,000,000 rollouts
    python bench/sweeps.py --quick          200,000 of them
    python bench/sweeps.py arm.urdf         any robot file

Each rollout has 200 Runge-Kutta steps of 1 ms, masses and a start of its own; the last state is kept. The bare kernel
is `hinge.rollout` on numbers that are there already, each worker half of them. Time is the processors', of the workers
and of the process that asks and schedules, because machines are noisy; the least of the rounds counts. Seconds on the
wall, of a cluster that runs, are printed too, and how long the store takes to open.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np
from distributed import wait

import hinge
from hinge.sweeps import uniform
from hinge.sweeps.workers import local

UR5 = "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
STEPS, STEP, CHUNK, WORKERS = 200, 1e-3, 8192, 2


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


def main() -> None:
    files = [a for a in sys.argv[1:] if not a.startswith("-")]
    robot = hinge.load(files[0] if files else Path(sysconfig.get_path("purelib"), UR5))
    rollouts, rounds = (200_000, 2) if "--quick" in sys.argv else (1_000_000, 2)
    masses = {f"{name}.mass": robot.model.links[name][0] for name in robot.body_names}
    spreads = {name: uniform(0.8 * m, 1.2 * m) for name, m in masses.items()}
    starts = {"q": uniform(-1.0, 1.0), "qd": uniform(-1.0, 1.0)}
    folder = Path(tempfile.mkdtemp())
    with local(WORKERS) as client:

        def spent() -> tuple[float, float]:
            return sum(client.run(time.process_time).values()) + time.process_time(), time.monotonic()

        def alone(count: int) -> None:
            shared = [client.submit(bare, robot.vary(*masses), masses, count // WORKERS, workers=[one], pure=False)
                      for one in client.nthreads()]  # fmt: skip
            wait(shared)
            assert all(one.status == "finished" for one in shared)

        def swept(count: int) -> hinge.sweeps.Sweep:
            shutil.rmtree(folder / "x.zarr", ignore_errors=True)
            return hinge.sweep(
                robot, spreads, starts, t=STEPS * STEP, rollouts=count, store=folder / "x.zarr", client=client
            )

        alone(1000), swept(1000)  # compiled before it is timed
        least = {alone: (np.inf, np.inf), swept: (np.inf, np.inf)}
        for _ in range(rounds):
            for call in least:
                before = spent()
                made = call(rollouts)
                assert made is None or (made.complete and made.failed == 0)
                least[call] = tuple(min(a, y - x) for a, x, y in zip(least[call], before, spent(), strict=True))
    import xarray

    xarray.open_zarr(folder / "x.zarr", consolidated=False)
    start = time.monotonic()
    made.open()
    opened = time.monotonic() - start
    size = sum(path.stat().st_size for path in (folder / "x.zarr").rglob("*") if path.is_file())
    shutil.rmtree(folder)
    print(f"{robot.name}, {rollouts:,} rollouts × {STEPS} steps, {WORKERS} local workers")
    for name, call in (("bare kernel", alone), ("sweep", swept)):
        cpu, wall = least[call]
        print(f"  {name:12} {cpu / rollouts * 1e6:6.2f} µs of processor a rollout, {wall:6.1f} s")
    overhead = 100.0 * (least[swept][0] / least[alone][0] - 1.0)
    print(f"  overhead {overhead:.1f} %; {size / 1e6:.0f} MB, opened in {opened:.3f} s")


if __name__ == "__main__":
    main()
