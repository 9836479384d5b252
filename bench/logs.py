"""A log of a Panda through `hinge run`: time a row, and memory.

    python bench/logs.py [--write]

A CSV file with a million rows of 25 columns, time, positions, velocities and accelerations, becomes a Parquet file of
joint forces. Time is that of the processor, all threads together.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import figures
import numpy as np
from measuring import PANDA
from pyarrow import csv, table

import hinge

ROWS = 1_000_000


def log(path: Path) -> None:
    """Random states, a column a coordinate."""
    robot, rng = hinge.load(PANDA), np.random.default_rng(0)
    columns = {"t": np.arange(ROWS) * 1e-3}
    for name in ("q", "qd", "qdd"):
        columns |= {f"{name}_{joint}": rng.uniform(-1, 1, ROWS) for joint in robot.joint_names[: robot.nv]}
    csv.write_csv(table(columns), path)


def measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder, "log.csv"), Path(folder, "torques.parquet")
        log(here)
        size = here.stat().st_size
        words = ["run", "inverse-dynamics", PANDA, "--in", here, "--out", there]
        with subprocess.Popen([sys.executable, "-m", "hinge.cli", *words], stderr=subprocess.DEVNULL) as running:
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        assert running.returncode == 0
    return {
        "row": figures.number(1e6 * (used.ru_utime + used.ru_stime) / ROWS, "µs of a processor a row"),
        "memory": figures.number(used.ru_maxrss / 1e3, "MB of memory at the most"),
        "file": figures.number(size / 1e6, "MB of CSV"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("pyarrow",))
