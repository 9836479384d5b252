"""`hinge demo`: what hinge does, on an arm of its own or on yours."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

import hinge
from hinge.cli.common import console, moving, table
from hinge.cli.files import joint_table
from hinge.cli.rates import measured
from hinge.robot import Robot


@click.command()
@click.argument("robot", required=False, type=click.Path())
@click.option("--seconds", default=1.0, show_default=True, type=click.FloatRange(0.01, 3600),
              help="How long each measurement takes.")  # fmt: skip
def demo(robot: str | None, seconds: float) -> None:
    """Take an arm (or ROBOT, a robot file), compute its dynamics both ways, count and time them."""
    screen = console()
    arm = moving(robot) if robot else hinge.samples.puma560()
    screen.print(joint_table(arm))
    _there_and_back(screen, arm)
    screen.print(_costs(arm))
    screen.print("\nStates per second on this machine:")
    found = measured(arm, ("inverse_dynamics", "forward_dynamics"), 65536, seconds)
    for row in found:
        for what, rate in (
            (f"{row.name}, one state a call", row.single),
            (f"{row.name}, {row.states:,} states", row.batch),
        ):
            screen.print(f"  {what:<42}  {rate:14,.0f}   ({1e9 / rate:,.0f} ns a state)")


def _there_and_back(screen: Any, robot: Robot) -> None:
    """Inverse and then forward dynamics give back the accelerations."""
    rng = np.random.default_rng(0)
    q, qd = robot.random_state(rng, 1000)
    qdd = rng.normal(size=qd.shape)
    tau = robot.inverse_dynamics(q, qd, qdd)
    error = np.abs(robot.forward_dynamics(q, qd, tau) - qdd).max()
    screen.print("\nForces for a random motion, and the motion they make, at 1,000 random states:")
    screen.print("  tau = robot.inverse_dynamics(q, qd, qdd)")
    screen.print("  robot.forward_dynamics(q, qd, tau) - qdd")
    screen.print(f"  largest difference {error:.1e} rad/s²\n")


def _costs(robot: Robot) -> Any:
    rows = []
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        cost = robot.cost(name)
        rows.append([name, cost.method, *map(str, (cost.mul, cost.add, cost.div, cost.trig, cost.depth))])
    title = "Operations for one state; depth is the longest chain of them"
    return table(title, ("", "method", "mul", "add", "div", "trig", "depth"), rows, left=2)
