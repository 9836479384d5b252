"""Draws docs/optimal.svg: a hand's way to its goal, the forces that take it there, and how searches end.

python docs/pictures/optimal.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import hinge
from hinge.optimal import Problem, Solution, ddp, effort, reach, speed

mpl.use("Agg")
import matplotlib.pyplot as plt

PICTURE = Path(__file__).parents[1] / "optimal.svg"
INK, RED, BLUE = "#222222", "#c1272d", "#2166ac"
START, MOVE = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8]), np.array([0.8, 0.3, 0.0, 0.4, 0.0, 0.5, 0.0])
BALL, RADIUS = np.array([0.38, 0.19, 0.78]), 0.1


def plain(panel: Any, title: str, below: str) -> None:
    """A panel with a title, light lines and no frame."""
    panel.grid(True, color="#ececec", lw=0.6)
    panel.tick_params(which="both", length=0, colors="#555555")
    panel.set_title(title, loc="left", fontsize=10.5, fontweight="bold", color=INK)
    panel.set_xlabel(below, color=INK)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)


def ways(panel: Any, arm: hinge.Robot, plan: Solution, aside: Solution) -> None:
    """The hand seen from the front, straight through the ball and round it."""
    panel.add_patch(plt.Circle(BALL[1:], RADIUS, color="#e4e4e4", lw=0))
    for solution, colour, name in ((plan, BLUE, "straight"), (aside, RED, "below=[inside]")):
        hand = arm.pose(solution.q, "tool")[:, :3, 3]
        panel.plot(hand[:, 1], hand[:, 2], ".-", color=colour, lw=1.6, ms=4, label=name)
    panel.set_aspect("equal", adjustable="datalim")
    panel.legend(frameon=False, fontsize=8.5, labelcolor="linecolor", loc="lower right")
    plain(panel, "the hand, from the front (m)", "y")


def forces(panel: Any, plan: Solution, aside: Solution) -> None:
    """The force of the second joint, which carries most."""
    for solution, colour in ((plan, BLUE), (aside, RED)):
        panel.step(solution.t[:-1], solution.u[:, 1], where="post", color=colour, lw=1.6)
    plain(panel, "force of joint 2 (N m)", "s")


def searches(panel: Any, many: Solution) -> None:
    """What is left of a hundred slopes, over iterations."""
    for k in range(len(many.q)):
        rows = np.array(many.iterations(k).rows)
        panel.semilogy(rows[:, 0], rows[:, 2], color=BLUE, lw=0.8, alpha=0.35)
    plain(panel, "steepest slope by a force, 100 goals", "iteration")


def main() -> None:
    arm = hinge.samples.panda()
    goal = arm.pose(START + MOVE, "tool")

    def inside(q: Any) -> Any:
        return RADIUS**2 - ((arm.pose(q, "tool")[:3, 3] - BALL) ** 2).sum()

    costs = [effort(1e-4), lambda qd: 0.1 * qd], [reach(arm, "tool", "goal", weight=1e3), speed(10.0)]
    problem = Problem(arm, 40, 0.02, *costs, given={"goal": goal})
    narrow = Problem(
        arm, 40, 0.02, *costs, given={"goal": goal}, below=[inside], limits=("effort", "position", "velocity")
    )
    goals = arm.pose(START + 0.4 * np.random.default_rng(0).normal(size=(100, 7)), "tool")
    plan, aside, many = ddp(problem, START), ddp(narrow, START), ddp(problem, START, given={"goal": goals})
    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.8), layout="constrained")
    ways(left, arm, plan, aside)
    forces(middle, plan, aside)
    searches(right, many)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
