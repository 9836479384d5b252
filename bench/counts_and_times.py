"""Counts beside times: every rival on a UR5, a Panda and a G1.

    python bench/counts_and_times.py [--write]

Operations are traced multiplications and additions of one state, instructions what is left of them when products are
fused with sums. Times are of batches on one core in double precision, small enough to stay in the cache. Only ratios
within one table are to be read: each is to the rival that a call takes by itself.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import figures
import numpy as np
from measuring import G1, PANDA, UR5, fastest

import hinge
from hinge.counting.measure import COUNTED, costs
from hinge.graph import OPS
from hinge.robot import Robot

ROBOTS = {"UR5": (UR5, 1024), "Panda": (PANDA, 1024), "G1": (G1, 256)}  # and how many states
ROUNDS, MOST, NEAR = 60, 60_000, 1.1


class Rival(NamedTuple):
    """A method on a robot: its operations; these, instructions and time beside those of the method that is taken."""

    operations: int
    count: float
    instructions: float
    time: float


def rivals(robot: Robot, name: str, states: int) -> dict[str, Rival]:
    """Every method of an algorithm that covers a robot and is not too long for it."""
    rng = np.random.default_rng(0)
    q, x, y = robot.random_state(rng, states)[0], *rng.uniform(-1, 1, (2, states, robot.nv))
    given = (q,) if name == "mass_matrix" else (q, x, y)
    counted = {m: cost.mul + cost.add for m, cost in costs(robot, name, MOST) if not isinstance(cost, str)}
    kernels = {method: robot.kernel(name, method) for method in counted}
    best = fastest({method: partial(kernel, *given, out=kernel(*given)) for method, kernel in kernels.items()}, ROUNDS)
    length = {m: sum(op in OPS for op, _ in kernel.program.code) for m, kernel in kernels.items()}
    own = robot.cost(name).method
    own = own if own in counted else "cluster"  # which serves as articulated where joints are coupled
    return {m: Rival(n, n / counted[own], length[m] / length[own], best[m] / best[own]) for m, n in counted.items()}


def table(found: dict[tuple[str, str], dict[str, Rival]]) -> list[list[str]]:
    """A row a method, and for each robot its operations, and operations and time as shares."""
    parts = (", operations", ", ×", ", time ×")
    rows = [["what", "method", *(f"{robot}{part}" for robot in ROBOTS for part in parts)]]
    for name in COUNTED:
        for method in dict.fromkeys(m for robot in ROBOTS for m in found[robot, name]):
            cells = []
            for robot in ROBOTS:
                one = found[robot, name].get(method)
                cells += [f"{one.operations:,}", f"{one.count:.2f}", f"{one.time:.2f}"] if one else ["", "", ""]
            rows.append([name, method, *cells])
    return rows


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


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    robots = {name: (hinge.load(path), states) for name, (path, states) in ROBOTS.items()}
    found = {(key, name): rivals(robot, name, states) for key, (robot, states) in robots.items() for name in COUNTED}
    return {"table": table(found), "read": " ".join(read(found))}


if __name__ == "__main__":
    figures.main(__file__, measured, ())
