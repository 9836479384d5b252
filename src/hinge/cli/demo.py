"""`hinge demo`: what hinge does, on an arm of its own or on yours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import numpy as np

import hinge
from hinge.cli.bench import measured
from hinge.cli.common import console, table
from hinge.cli.inputs import reads_robot
from hinge.cli.outputs import FORCE, Target, free
from hinge.cli.show import joint_table
from hinge.cli.view import serve
from hinge.motion.joint_space import JointMotion
from hinge.robot import Robot
from hinge.sim import Trajectory

PLOT, FILMS = "hinge_demo_curves.png", ("hinge_demo.png", "hinge_demo.html")


@click.command()
@reads_robot(required=False, moves=True)
@click.option("--seconds", default=0.2, show_default=True, type=click.FloatRange(0.01, 3600),
              help="How long each measurement takes.")  # fmt: skip
@click.option("--plot", type=Target(), help=f"Where the plot goes; {PLOT}, where there is none yet, by default.")
@click.option(
    "--film", type=Target(), help=f"Where the film goes, .html, .gif or .png; {' and '.join(FILMS)} by default."
)
@FORCE
@click.option("--view/--no-view", "look", default=None, help="Show the run in the browser; on a terminal it is shown.")
def demo(robot: Robot | None, seconds: float, plot: str | None, film: str | None, look: bool | None) -> None:
    """Take an arm (or ROBOT, a robot file), compute its dynamics both ways, count and time them, and let it move."""
    screen = console()
    arm = robot or hinge.samples.puma560()
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
    run, motion = _moved(arm, by_hand=robot is None)
    screen.print()
    screen.print(_tracked(arm, run, motion))
    _shown(screen, run, plot, film, sys.stdout.isatty() if look is None else look)


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


def _moved(robot: Robot, by_hand: bool) -> tuple[Trajectory, JointMotion]:
    """A run by computed torque: the bundled arm takes its hand around its base, another robot its joints somewhere."""
    start = robot.neutral()
    if by_hand:
        start = np.array([-2.2, 0.3, -0.6, 0.0, -0.8, 0.0])
        pose = robot.pose(start, "tool")
        arc = hinge.motion.circle(pose, [0.0, 0.0, pose[2, 3]], [0.3, 0.2, 1.0], angle=2.2, duration=3.0, turn=False)
        times = np.linspace(0.0, 3.0, 61)
        motion = hinge.motion.cubic_spline(
            robot, hinge.inverse_kinematics(robot, arc(times)[0], "tool", start=start).q, times
        )
    else:
        end = robot.integrate(start, np.full(robot.nv, 0.3))
        motion = hinge.motion.quintic(robot, start, end, duration=3.0)
    control = hinge.control.computed_torque(robot, motion, kp=400.0)
    return hinge.simulate(robot, motion.duration, motion(0.0).q, control=control), motion


def _tracked(robot: Robot, run: Trajectory, motion: JointMotion) -> Any:
    q, tau = np.asarray(run.q), np.asarray(run.tau)
    error = np.abs(robot.difference(motion(run.t).q, q)).max(axis=0)
    most = np.abs(tau).max(axis=0)
    limits = [f"{x:.4g}" if np.isfinite(x) else "" for x in robot.limits.effort]
    names = [name for name in robot.joint_names for _ in range(len(np.arange(robot.nv)[robot.coordinates(name)[1]]))]
    rows = [[n, f"{e:.1e}", f"{m:.4g}", l] for n, e, m, l in zip(names, error, most, limits, strict=True)]
    title = f"A motion of {motion.duration:g} s by computed torque"
    return table(title, ("joint", "worst error [rad, m]", "most force [N m, N]", "limit"), rows)


def _shown(screen: Any, run: Trajectory, plot: str | None, film: str | None, look: bool) -> None:
    """The run as curves, as films and as a page, where the packages for them are there."""
    films = [film] if film else FILMS
    written: list[tuple[str, Callable[[str], Any], str]] = [
        (plot or PLOT, run.plot, "Its coordinates, rates, forces and energy are drawn"),
        *((path, partial(hinge.film, run), "The robot is seen on its way") for path in films),
    ]
    screen.print()
    for path, write, what in written:
        try:
            if path not in (plot, film):
                free(path)
            write(path)
            screen.print(f"{what} in {path}.")
        except hinge.HingeError as missing:
            screen.print(f"No {path}: {missing}")
    if not look:
        screen.print("`hinge demo --view` shows it in the browser, `hinge view ROBOT` any robot.")
        return
    try:
        page = hinge.view(run, port=0, browser=False)
    except hinge.HingeError as missing:
        screen.print(f"No page: {missing}")
        return
    page.controls["play"].value = True
    serve(page, browser=True)


def _costs(robot: Robot) -> Any:
    rows = []
    for name in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        cost = robot.cost(name)
        rows.append([name, cost.method, *map(str, (cost.mul, cost.add, cost.div, cost.trig, cost.depth))])
    title = "Operations for one state; depth is the longest chain of them"
    return table(title, ("", "method", "mul", "add", "div", "trig", "depth"), rows, left=2)
