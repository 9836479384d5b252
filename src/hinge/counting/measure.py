"""What methods cost: on a robot, and on arms of every length.

The arms are general: classic Denavit-Hartenberg tables in which no angle is a quarter turn, no length is zero and no
inertia has a zero, with the first axis upright, as the texts have them. A principal arm has inertias that are diagonal
about the centre of mass, in the axes of the link.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from hinge.backends.count import Cost, count
from hinge.counting.polynomials import FITTED, VERIFIED, Polynomial, fitted
from hinge.dynamics.registry import ALGORITHMS, Algorithm
from hinge.errors import HingeError, UnknownName, did_you_mean
from hinge.graph import Graph, TooLong
from hinge.robot import Robot
from hinge.robot.loading import dh

LENGTHS = (*FITTED, *VERIFIED)
MOST = 400_000  # nodes of a graph, beyond which a method is not counted on a robot
COUNTED = ("inverse_dynamics", "mass_matrix", "forward_dynamics")


@cache
def arm(n: int, inertia: str = "general") -> Robot:
    """An arm of n turning joints; its inertias are "general" or "principal"."""
    rng, rows = np.random.default_rng(0), []
    for _ in range(n):
        angle, a, d = rng.uniform(0.3, 1.2), rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5)
        spread = rng.normal(size=(3, 3))
        moments = spread @ spread.T + 3.0 * np.eye(3)
        if inertia == "principal":
            moments = np.diag(np.diag(moments))
        rows.append({"alpha": angle, "a": a, "d": d, "theta": 0.0, "mass": rng.uniform(1.0, 2.0),
                     "com": rng.normal(size=3) * 0.1, "inertia": moments})  # fmt: skip
    return dh(rows, "classic", name=f"{inertia} arm of {n} joints")


def costs(robot: Robot, name: str, most: int = MOST) -> Iterator[tuple[str, Cost | str]]:
    """Each method of an algorithm, with what it costs on a robot, or why that is not known.

    >>> dict(hinge.counting.costs(hinge.samples.planar_2r(), "mass_matrix"))["composite"].mul
    1
    """
    if name not in ALGORITHMS:
        raise UnknownName(f"there is no algorithm {name!r}. {did_you_mean(name, ALGORITHMS)}")
    for method, algorithm in ALGORITHMS[name].items():
        if reason := algorithm.refuses(robot.model):
            yield method, reason
            continue
        try:
            options = {option: words[0] for option, words in algorithm.options.items()}
            program = algorithm.trace(robot.target.traced, options=options, contract=False, graph=Graph(most))
            yield method, count(program, method)
        except TooLong:
            yield method, f"over {most:,} operations"
        except HingeError as problem:
            yield method, str(problem).splitlines()[0]


def cost(name: str, method: str, n: int, inertia: str = "general") -> Cost:
    """What a method costs on an arm of n joints."""
    return _counted(name, method, n, inertia)


@cache  # which would take an inertia that is given, and the same one left out, for two
def _counted(name: str, method: str, n: int, inertia: str) -> Cost:
    return arm(n, inertia).cost(name, method=method)


@cache
def polynomial(name: str, method: str, part: str, inertia: str = "general") -> Polynomial | None:
    """The `mul`, `add`, `div` or `depth` of a method as a polynomial in the number of joints, where it is one."""
    return fitted({n: getattr(cost(name, method, n, inertia), part) for n in LENGTHS})


def traced(function: Algorithm, robot: Robot) -> Cost:
    """What an algorithm costs that is in no registry."""
    return count(function.trace(robot.target.traced, contract=False), function.method)


def like(name: str, method: str, **changes: object) -> Algorithm:
    """A registered algorithm with something else in it."""
    return replace(ALGORITHMS[name][method], **changes)  # type: ignore[arg-type]
