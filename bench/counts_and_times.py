"""Counts against times: every rival on a UR5, a Panda and a G1, for the table of docs/formulations.md.

    python bench/counts_and_times.py            print the table
    python bench/counts_and_times.py --write    also write it into the page

Operations are traced multiplications and additions of one state, instructions what is left of them when products are
fused with sums. Times are of batches on one core in double precision, small enough to stay in the cache; rounds go from
rival to rival and the fastest of each is kept, because machines are noisy. Only ratios within one table are to be read:
each is to the rival that a call takes by itself.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations
from typing import NamedTuple

import numpy as np
from against_pinocchio import FILES, processor
from formulations import PAGE, put

import hinge
from hinge.counting.measure import COUNTED, costs
from hinge.counting.sheets import Sheet
from hinge.graph import OPS
from hinge.robot import Robot

ROBOTS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", 1024),
    "Panda": ("panda_description/urdf/panda.urdf", 1024),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", 256),
}
ROUNDS, MOST, NEAR = 60, 60_000, 1.1


class Rival(NamedTuple):
    """A method on a robot: its operations; these, instructions and time beside those of the method that is taken."""

    operations: int
    count: float
    instructions: float
    time: float


def measured(robot: Robot, name: str, states: int) -> dict[str, Rival]:
    """Every method of an algorithm that covers a robot and is not too long for it."""
    rng = np.random.default_rng(0)
    q, x, y = robot.random_state(rng, states)[0], *rng.uniform(-1, 1, (2, states, robot.nv))
    given = (q,) if name == "mass_matrix" else (q, x, y)
    counted = {m: cost.mul + cost.add for m, cost in costs(robot, name, MOST) if not isinstance(cost, str)}
    kernels = {method: robot.kernel(name, method) for method in counted}
    outs = {method: kernel(*given) for method, kernel in kernels.items()}
    best = dict.fromkeys(kernels, float("inf"))
    for _ in range(ROUNDS):
        for method, kernel in kernels.items():
            start = time.perf_counter()
            kernel(*given, out=outs[method])
            best[method] = min(best[method], time.perf_counter() - start)
    length = {m: sum(op in OPS for op, _ in kernel.plan.program.code) for m, kernel in kernels.items()}
    own = robot.cost(name).method
    own = own if own in counted else "cluster"  # which serves as articulated where joints are coupled
    return {m: Rival(n, n / counted[own], length[m] / length[own], best[m] / best[own]) for m, n in counted.items()}


def sheet(found: dict[tuple[str, str], dict[str, Rival]]) -> Sheet:
    """The table: a row a method, and for each robot its operations, and operations and time as shares."""
    rows = []
    for name in COUNTED:
        for method in dict.fromkeys(m for robot in ROBOTS for m in found[robot, name]):
            cells = []
            for robot in ROBOTS:
                one = found[robot, name].get(method)
                cells += [f"{one.operations:,}", f"{one.count:.2f}", f"{one.time:.2f}"] if one else ["", "", ""]
            rows.append((name, method, *cells))
    columns = (
        "what",
        "method",
        *(f"{robot}{part}" for robot in ROBOTS for part in (", operations", ", ×", ", time ×")),
    )
    note = f"One core of {processor()}. × is to the method that a call takes by itself."
    return Sheet("Counts against times", columns, tuple(rows), (note, " ".join(read(found))), 2)


def read(found: dict[tuple[str, str], dict[str, Rival]]) -> list[str]:
    """How often the rival with fewer operations is the faster, and how far ratios of times are off those of counts."""
    pairs = [pair for rivals in found.values() for pair in combinations(rivals.values(), 2)]
    said = []
    for what, near in ((f"by less than {NEAR - 1:.0%}", True), ("by more", False)):
        some = [(a, b) for a, b in pairs if (max(a.count, b.count) < NEAR * min(a.count, b.count)) == near]
        right = sum((a.count - b.count) * (a.time - b.time) >= 0 for a, b in some)
        said.append(
            f"Of {len(some)} pairs of rivals whose counts differ {what}, the one with fewer is the faster in {right}."
        )
    for word, share in (("counts", lambda one: one.count), ("fused instructions", lambda one: one.instructions)):
        off = np.array([abs(np.log(one.time / share(one))) for rivals in found.values() for one in rivals.values()])
        middle, worst = np.expm1([np.median(off), off.max()])
        said.append(
            f"Ratios of times are off ratios of {word} by {middle:.0%} in the middle, {worst:.0%} at the worst."
        )
    return said


def main() -> None:
    hinge.set_threads(1)
    robots = {name: (hinge.load(FILES / path), states) for name, (path, states) in ROBOTS.items()}
    found = {(key, name): measured(robot, name, states) for key, (robot, states) in robots.items() for name in COUNTED}
    text = sheet(found).markdown()
    print(text)
    if "--write" in sys.argv:
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), "times", text), encoding="utf-8")


if __name__ == "__main__":
    main()
