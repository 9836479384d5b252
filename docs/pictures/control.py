"""Draws docs/motion.svg and docs/control.svg.

python docs/pictures/control.py           write them
python docs/pictures/control.py --png     and PNGs beside them
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

import hinge

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1]
INK, GREY, RED, BLUE, GREEN = "#222222", "#8f8f8f", "#c1272d", "#2166ac", "#1b7837"
POINTS = np.array([[0.0], [1.1], [0.6], [1.6], [1.2]])
TIMES = np.array([0.0, 0.9, 1.5, 2.4, 3.2])


def plain(panel: Any, title: str = "", below: str = "", beside: str = "") -> None:
    """A panel with a title, light lines and no frame."""
    panel.grid(True, color="#ececec", lw=0.6)
    panel.tick_params(which="both", length=0, colors="#555555")
    panel.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK)
    panel.set_xlabel(below, color=INK)
    panel.set_ylabel(beside, color=INK)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)


def motions() -> Any:
    """Position, velocity and acceleration of the four motions of joints."""
    robot = hinge.samples.pendulum(1)
    make = hinge.motion
    columns = (
        ("from point to point", [("quintic", RED, make.quintic(robot, [0.0], [1.5], 3.2)),
                                 ("trapezoidal", BLUE, make.trapezoidal(robot, [0.0], [1.5], 3.2))]),
        ("through points", [("quintic_spline", RED, make.quintic_spline(robot, POINTS, TIMES)),
                            ("cubic_spline", BLUE, make.cubic_spline(robot, POINTS, TIMES))]),
    )  # fmt: skip
    figure, panels = plt.subplots(3, 2, figsize=(10, 6.4), sharex=True)
    t = np.linspace(-0.2, 3.4, 1441)
    for column, (title, shown) in zip(panels.T, columns, strict=True):
        for row, (panel, what) in enumerate(zip(column, ("rad", "rad/s", "rad/s²"), strict=True)):
            for name, colour, motion in shown:
                panel.plot(t, motion(t)[row][:, 0], color=colour, lw=1.8, label=name)
            plain(panel, "" if row else title, "s" if row == 2 else "", what if column is panels[:, 0] else "")
        column[0].legend(frameon=False, fontsize=8.5, loc="lower right", labelcolor="linecolor")
    panels[0, 1].plot(TIMES, POINTS[:, 0], "o", ms=6, mfc="white", mec=INK, zorder=5)
    figure.tight_layout()
    return figure


def control() -> Any:
    """How far the hand is from its line under three controllers, and joint forces past a singular place."""
    arm, at = hinge.samples.puma560(), "tool"
    bent = np.array([0.3, 0.2, -0.4, 0.2, -0.6, 0.1])
    start = arm.pose(bent, at)
    end = start.copy()
    end[:3, 3] += [-0.1, 0.3, -0.15]
    line = hinge.motion.line(start, end, duration=1.0)
    reached = hinge.simulate(arm, 2.0, bent, control=hinge.control.resolved_acceleration(arm, line, at)).q[-1]
    joints = hinge.motion.quintic(arm, bent, reached, duration=1.0)
    stiff = [4000.0, 4000.0, 2000.0, 100.0, 100.0, 50.0]
    springs = [100.0] * 3 + [4000.0] * 3, [10.0] * 3 + [300.0] * 3
    laws = (
        ("PD", GREY, hinge.control.pd(arm, joints, stiff, 0.08 * np.array(stiff))),
        ("computed torque", BLUE, hinge.control.computed_torque(arm, joints)),
        ("impedance", GREEN, hinge.control.impedance(arm, line, at, *springs)),
        ("resolved acceleration", RED, hinge.control.resolved_acceleration(arm, line, at)),
    )  # fmt: skip
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2))
    way = (end - start)[:3, 3] / np.linalg.norm((end - start)[:3, 3])
    for name, colour, law in laws:
        run = hinge.simulate(arm, 1.0, bent, control=law, record=2)
        gone = arm.pose(run.q, at)[:, :3, 3] - start[:3, 3]
        aside = np.linalg.norm(gone - (gone @ way)[:, None] * way, axis=1)
        left.plot(run.t[5:], aside[5:], color=colour, lw=1.8)
        apart = {"computed torque": 4, "resolved acceleration": -4}.get(name, 0)
        left.annotate(name, (run.t[-1], aside[-1]), (5, apart), textcoords="offset points", color=colour, fontsize=8.5,
                      va="center", annotation_clip=False)  # fmt: skip
    left.set(yscale="log", ylim=(1e-16, 1.0), xlim=(0.0, 1.0))
    plain(left, "distance of the hand from its line, m", "s")

    bent = np.array([0.3, 0.4, 0.6, 0.2, -0.6, 0.1])
    start = arm.pose(bent, at)
    far = arm.pose(bent + np.array([0.05, -0.02, 0.02, 0.03, 1.2, 0.02]), at)
    turn = hinge.motion.line(start, far, duration=2.0)
    for damping, colour, name in ((0.0, GREY, "damping=0"), (None, RED, "damped, as it comes")):
        run = hinge.simulate(arm, 2.0, bent, control=hinge.control.operational_space(arm, turn, at, damping=damping))
        most = np.abs(run.tau).max(axis=1)
        right.plot(run.t, most, color=colour, lw=1.8)
        peak = int(np.argmax(most))
        right.annotate(name, (run.t[peak], most[peak]), (8, 0), textcoords="offset points", color=colour, fontsize=8.5)
    _, status = arm.resolved_rate(run.q, np.zeros(6), at, metric="inertia", return_status=True)
    where = run.t[status == hinge.Status.SINGULAR]
    right.axvspan(where[0], where[-1], color="#f3e3e3", lw=0, zorder=0)
    right.text(where[0], 1.2e4, "SINGULAR  ", ha="right", fontsize=8, color=INK)
    right.set(yscale="log", xlim=(0.0, 2.0), ylim=(10.0, 2e4))
    plain(right, "largest joint force past a straight wrist, N m", "s")
    figure.subplots_adjust(left=0.06, right=0.97, wspace=0.48, top=0.9, bottom=0.12)
    return figure


def main() -> None:
    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    for name, draw in (("motion", motions), ("control", control)):
        figure = draw()
        figure.savefig(DOCS / f"{name}.svg", metadata={"Date": None})
        if "--png" in sys.argv:
            figure.savefig(DOCS / f"{name}.png", dpi=80)


if __name__ == "__main__":
    main()
