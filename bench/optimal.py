"""Times `hinge.optimal.ddp` against Crocoddyl's FDDP on one core: a Panda's hand to a point, 100 semi-implicit steps.

    python bench/optimal.py                              hinge alone
    python bench/optimal.py --crocoddyl VENV/bin/python  beside Crocoddyl, in a process of that interpreter

The interpreter needs the packages crocoddyl and example-robot-data. (Crocoddyl 3.2.1 ends with a segmentation fault
beside pin 4.1.0, which hinge is tested with; with pin 4.0.0 it runs. So it has an interpreter of its own.)
Both begin with the same states and forces, those that hold the arm where it is, and shorten steps by halves. Turns
alternate and take the processor's time; of several the fastest counts for times, and the middle one for ratios. An
iteration is one whose whole step is taken: derivatives, back, and forward once. A search has the same number of
iterations in both, each with the shorter steps it tries. Crocoddyl has one problem after another, hinge one, or 256 at
once from starts of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from against_pinocchio import processor

import hinge
from hinge.optimal import Problem, ddp
from hinge.optimal.ddp import Search
from hinge.optimal.start import start

FILE = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots",
            "panda_description", "urdf", "panda.urdf")  # fmt: skip
THEIRS = Path(__file__).with_name("optimal_crocoddyl.py")
HORIZON, STEP, ITERATIONS, ROUNDS, MANY, PART = 100, 0.01, 10, 15, 256, 8
HAND, TARGET = "panda_hand_tcp", np.array([0.4, 0.3, 0.5])
WEIGHTS = {"hand": 1.0, "speed": 1e-2, "force": 1e-3, "last hand": 900.0, "last speed": 1.0}
REST = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])


def reaching() -> Problem:
    """The problem; the fingers stay closed."""
    robot = hinge.load(FILE).lock({"panda_finger_joint1": 0.0})
    root = {name: np.sqrt(w) for name, w in WEIGHTS.items()}

    def off(q: Any) -> Any:
        return robot.pose(q, HAND)[:3, 3] - TARGET

    running = [lambda q: root["hand"] * off(q), lambda qd: root["speed"] * qd, lambda u: root["force"] * u]
    final = [lambda q: root["last hand"] * off(q), lambda qd: root["last speed"] * qd]
    return Problem(robot, HORIZON, STEP, running, final, limits=())


class Crocoddyl:
    """The same problem there: a process that answers lines of JSON."""

    def __init__(self, python: str, starts: np.ndarray) -> None:
        self.process = subprocess.Popen([python, str(THEIRS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(horizon=HORIZON, step=STEP, hand=HAND, target=TARGET.tolist(), weights=WEIGHTS, starts=starts.tolist())

    def ask(self, **what: Any) -> Any:
        """What it answers."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(what), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def spent(self, iterations: int, count: int) -> float:
        """Seconds of the processor that searches from so many starts take, for each of them."""
        return float(self.ask(iterations=iterations, count=count)["spent"]) / count


def spent(call: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def shown(name: str, ours: list[float], theirs: list[float], asked: str = "") -> None:
    """A row: microseconds for each problem, and how many times longer the other takes."""
    row = f"{name:34} {1e6 * min(ours):10.1f}"
    if theirs:
        ratio = np.median(np.array(theirs) / np.array(ours))
        row += f" {1e6 * min(theirs):10.1f} {ratio:8.1f} {asked}"
    print(row)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crocoddyl", metavar="PYTHON", help="an interpreter that has crocoddyl")
    python = parser.parse_args().crocoddyl
    hinge.set_threads(1)
    print(processor())
    problem = reaching()
    starts = REST + np.vstack([np.zeros(7), 0.02 * np.random.default_rng(3).normal(size=(MANY - 1, 7))])
    one, many = (Search(problem, start(problem, q, *[None] * 5), False, None) for q in (starts[:1], starts))
    for search in (one, many):
        search.call()
        assert (search.made[0][:, 8] == 1.0).all(), "a first step was shortened"
    there = Crocoddyl(python, starts[:PART]) if python else None
    if there:
        there.spent(2, PART)

    if there:
        ours, theirs = ddp(problem, REST, iterations=200), there.ask(iterations=200, count=1)
        costs = [row[0, 1] for row in ours.history]
        alike = next((k for k, (a, b) in enumerate(zip(costs[1:], theirs["costs"], strict=False))
                      if abs(a - b) > 1e-6 * b), len(costs) - 1)  # fmt: skip
        print(f"cost {ours.cost:.9g} after {len(costs) - 1} iterations, theirs {theirs['costs'][-1]:.9g} after "
              f"{len(theirs['costs'])}: {abs(ours.cost / theirs['costs'][-1] - 1.0):.1e} apart; "
              f"the first {alike} iterations cost the same to 1e-6")  # fmt: skip

    print(f"\n{'µs for each problem':34} {'hinge':>10} {'Crocoddyl':>10} {'ratio':>8}")
    cases: list[tuple[str, Callable[[], object], int, int, int, str]] = [
        ("iteration, one problem", one.call, 1, 0, 1, "(2 asked)"),
        (f"iteration, {MANY} at once", many.call, MANY, 0, PART, "(15 asked)"),
        (f"{ITERATIONS} iterations, one problem",
         lambda: ddp(problem, REST, iterations=ITERATIONS, tolerance=1e-12), 1, ITERATIONS, 1, ""),
        (f"{ITERATIONS} iterations, {MANY} at once",
         lambda: ddp(problem, starts, iterations=ITERATIONS, tolerance=1e-12), MANY, ITERATIONS, PART, ""),
    ]  # fmt: skip
    for name, call, problems, iterations, count, asked in cases:
        own, other = list[float](), list[float]()
        for _ in range(ROUNDS):
            own.append(spent(call) / problems)
            if there:
                other.append(there.spent(iterations, count))
        shown(name, own, other, asked)


if __name__ == "__main__":
    sys.exit(main())
