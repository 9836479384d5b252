"""Draws docs/planning.svg: what a hand can do with a load, and the fastest motion along a path with it.

python docs/pictures/planning.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import hinge

PICTURE = Path(__file__).parents[1] / "planning.svg"
EFFORT = np.array([70.0, 30.0])
LOADS = {0.0: "#4477aa", 1.0: "#cc6677"}


def arm() -> hinge.Robot:
    """Two rods with a load on the hand, whose mass is an input."""
    load = hinge.Builder("load")
    load.link("load", 1.0)
    return hinge.samples.planar_2r().attach(hinge.Robot(load.build()), at="hand").vary("load.mass")


def path(s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half a turn of the shoulder while the elbow folds and unfolds."""
    w = 2.0 * np.pi
    q = np.stack([0.2 + 2.4 * s, -1.2 + 0.7 * np.cos(w * s)], axis=-1)
    return q, np.stack([2.4 + 0 * s, -0.7 * w * np.sin(w * s)], -1), np.stack([0 * s, -0.7 * w * w * np.cos(w * s)], -1)


def hand(panel: plt.Axes, robot: hinge.Robot) -> None:
    """The accelerations at coarse points of the path, for each load, drawn at the hand."""
    q, _, _ = path(np.linspace(0.0, 1.0, 5))
    every = robot.pose(path(np.linspace(0.0, 1.0, 200))[0], "hand")
    panel.plot(every[:, 0, 3], every[:, 2, 3], color="0.6", lw=1)
    for mass, colour in LOADS.items():
        can = hinge.hand_accelerations(robot, q, np.zeros(2), "hand", effort=EFFORT, parameters={"load.mass": mass})
        for k, state in enumerate(q):
            elbow, tip = (robot.pose(state, name)[[0, 2], 3] for name in ("lower", "hand"))
            corners = can[k].vertices()[:, [0, 2]]
            corners = corners[np.argsort(np.arctan2(*(corners - corners.mean(axis=0)).T))]
            panel.fill(*(tip + corners / 250.0).T, facecolor=colour, alpha=0.35, edgecolor=colour)
            panel.plot(*np.transpose([[0.0, 0.0], elbow, tip]), color="0.25", lw=1.5, marker="o", ms=3)
    panel.set(aspect="equal", xlabel="x (m)", ylabel="z (m)", title="accelerations available at the hand")


def main() -> None:
    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2))
    robot = arm()
    hand(left, robot)
    for mass, colour in LOADS.items():
        timed = hinge.time_optimal(robot, path, effort=EFFORT, parameters={"load.mass": mass})
        t = np.linspace(0.0, timed.duration, 2000)
        tau = robot.inverse_dynamics(*timed(t), parameters={"load.mass": mass}) / EFFORT
        name = f"load {mass:g} kg: {timed.duration:.3f} s"
        middle.plot(timed.grid, np.sqrt(timed.speed2), color=colour, label=name)
        for share, style in zip(tau.T, ("-", "--"), strict=True):
            right.plot(t, share, style, color=colour, lw=1.2)
    middle.set(xlabel="s", ylabel="ṡ (1/s)", title="the fastest pace along the path", ylim=(0.0, None))
    middle.legend(frameon=False)
    right.plot([], [], "-", color="0.3", label="shoulder")
    right.plot([], [], "--", color="0.3", label="elbow")
    right.axhline(1.0, color="0.7", lw=0.8)
    right.axhline(-1.0, color="0.7", lw=0.8)
    right.set(xlabel="t (s)", ylabel="joint force / effort limit", title="always at a limit, never beyond")
    right.legend(frameon=False, loc="center right")
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
