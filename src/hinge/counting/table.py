"""The tables of `hinge count`: of one robot, and of the texts."""

from __future__ import annotations

from collections.abc import Iterator

from hinge.backends.count import Cost
from hinge.counting import published
from hinge.counting.claims import claimed, crossings
from hinge.counting.measure import costs
from hinge.counting.sheets import Sheet
from hinge.robot import Robot


def of_robot(robot: Robot, name: str) -> Sheet:
    """Every method of an algorithm on a robot; the one a call takes by itself has a star."""
    rows, left_out = [], []
    found = list(costs(robot, name))
    chosen = robot.cost(name).method if any(isinstance(cost, Cost) for _, cost in found) else ""
    for method, here in found:
        if isinstance(here, str):
            left_out.append(f"{method}: {here}.")
        else:
            rows.append((method + " *" * (method == chosen), here.mul, here.add, here.div, here.trig, here.depth))
    title = f"{robot.name}: {name}, operations for one state"
    return Sheet(title, ("method", "mul", "add", "div", "trig", "depth"), tuple(rows), tuple(left_out))


def sheets() -> Iterator[Sheet]:
    """All that the texts print and claim, one table after another."""
    yield published.totals()
    yield from (published.breakdown(table) for table in published.published()["breakdown"])
    yield published.simultaneous()
    yield published.single_operations()
    yield published.kept()
    yield published.rate_of_a_product()
    yield published.hardware()
    yield published.coordinates()
    yield crossings()
    yield claimed()
    yield published.all_methods()
