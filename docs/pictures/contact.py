"""Draws docs/contact-rigid.svg and docs/contact-soft.svg: what the two laws of contact do, and what they do not.

python docs/pictures/contact.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import hinge

DOCS = Path(__file__).parents[1]
BLUE, RED, GREEN, GREY = "#4477aa", "#cc6677", "#228833", "0.6"
G, STEP = 9.81, 2e-3
BOX = """<mujoco><option timestep="0.002" cone="elliptic" impratio="{impratio}" gravity="{gx} 0 {gz}"/><worldbody>
<geom type="plane" size="0 0 1" friction=".5"/><body pos="0 0 .05"><freejoint/>
<geom type="box" size=".2 .2 .05" mass="1" friction=".5"/></body></worldbody></mujoco>"""


def ball() -> hinge.Robot:
    return hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot


def on_a_slope(angle: float, law: str, mu: float = 0.5, t: float = 1.0) -> hinge.Trajectory:
    """A block that is let go on a slope, turned with it."""
    box = hinge.Scene().body("box", "box", (0.2, 0.2, 0.1), mass=1.0).robot
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    q0 = np.r_[np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0, 0.05 * normal]
    return hinge.simulate(box, t, q0, step=STEP, ground=hinge.Ground(normal=tuple(normal), friction=mu), law=law)


def slid(run: hinge.Trajectory) -> np.ndarray:
    return np.linalg.norm(run.q[:, 4:] - run.q[0, 4:], axis=1)


def titled(panel: plt.Axes, title: str, x: str, y: str) -> None:
    panel.set(title=title, xlabel=x, ylabel=y)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(frameon=False, fontsize=8)


def rigid() -> plt.Figure:
    figure, (slope, bounce, deep) = plt.subplots(1, 3, figsize=(13, 3.8), constrained_layout=True)
    for degrees, colour in ((20, BLUE), (26, GREEN), (30, RED)):
        angle = np.radians(degrees)
        run = on_a_slope(angle, "rigid")
        slides = max(0.0, G * (np.sin(angle) - 0.5 * np.cos(angle)))
        slope.plot(run.t, 0.5 * slides * run.t**2, color=GREY, lw=4, alpha=0.6)
        slope.plot(run.t, slid(run), color=colour, label=f"{degrees}°")
    slope.plot([], [], color=GREY, lw=4, alpha=0.6, label="Coulomb's law, μ = 0.5")
    titled(slope, "a block sticks up to 26.6°, and slides beyond", "t (s)", "way down the slope (m)")

    for e, colour in ((0.5, BLUE), (0.8, RED)):
        run = hinge.simulate(ball(), 2.0, [1, 0, 0, 0, 0, 0, 1.1], step=STEP, ground=hinge.Ground(restitution=e))
        bounce.plot(run.t, run.q[:, 6] - 0.1, color=colour, label=f"restitution {e}")
        first, peaks = np.sqrt(2.0 / G), np.arange(1, 4)
        tops = first * (1.0 + 2.0 * np.cumsum(e ** np.arange(1, 4))) - first * e**peaks
        bounce.plot(tops, e ** (2.0 * peaks), "_", color=GREY, ms=16, mew=2)
    bounce.plot([], [], "_", color=GREY, ms=16, mew=2, label="as high as Newton says")
    titled(bounce, "a ball bounces", "t (s)", "height (m)")

    for depth, colour in ((1e-3, BLUE), (4e-3, RED)):
        start = [1, 0, 0, 0, 0, 0, 0.1 - depth]
        still, struck = (
            hinge.simulate(ball(), 0.03, start, qd, step=STEP, ground=0.0) for qd in (None, [0.0] * 5 + [-1])
        )
        deep.plot(
            1e3 * still.t,
            1e3 * (0.1 - still.q[:, 6]),
            "o--",
            ms=3,
            color=colour,
            label=f"{1e3 * depth:g} mm deep, at rest",
        )
        deep.plot(
            1e3 * struck.t, 1e3 * (0.1 - struck.q[:, 6]), "o-", ms=3, color=colour, label="the same, falling at 1 m/s"
        )
    titled(deep, "an overlap goes only by what an impact loses", "t (ms)", "overlap (mm)")
    return figure


def soft() -> plt.Figure:
    figure, (creep, hover, deep) = plt.subplots(1, 3, figsize=(13, 3.8), constrained_layout=True)
    angle = np.radians(20)
    for impratio, colour in ((1, RED), (10, GREEN), (100, BLUE)):
        text = BOX.format(impratio=impratio, gx=G * np.sin(angle), gz=-G * np.cos(angle))
        run = hinge.simulate(hinge.load(text), 2.0, physics="file")
        creep.plot(run.t, 1e3 * (run.q[:, 4] - run.q[0, 4]), color=colour, label=f"soft, impratio {impratio}")
    run = on_a_slope(angle, "rigid", t=2.0)
    creep.plot(run.t, 1e3 * slid(run), color=GREY, ls="--", label="rigid")
    titled(creep, "a block that sticks at 20° creeps", "t (s)", "way down the slope (mm)")

    still = hinge.load(BOX.format(impratio=1, gx=0, gz=-G))
    for speed, colour in ((1.0, BLUE), (2.0, GREEN), (4.0, RED)):
        run = hinge.simulate(still, 1.2, [1, 0, 0, 0, 0, 0, 0.05], [0, 0, 0, speed, 0, 0], physics="file")
        hover.plot(run.t, 1e3 * (run.q[:, 6] - 0.05), color=colour, label=f"thrown at {speed:g} m/s")
    hover.axhline(0.0, color=GREY, lw=0.8)
    titled(hover, "a block that slides fast chatters", "t (s)", "height of its centre, less half its height (mm)")

    loads = np.linspace(0.0, 20.0, 11)
    forces = np.outer(loads, [0, 0, 0, 0, 0, -G])
    q0 = np.tile([1.0, 0, 0, 0, 0, 0, 0.1], (len(loads), 1))
    for law, colour in (("soft", RED), ("rigid", BLUE)):
        run = hinge.simulate(ball(), 2.0, q0, step=STEP, record="last", ground=0.0, law=law, external={"ball": forces})
        deep.plot(1.0 + loads, 1e3 * (0.1 - run.q[:, -1, 6]), "o-", ms=4, color=colour, label=law)
    titled(deep, "bodies overlap under load", "load over the ball's own weight", "overlap (mm)")
    return figure


def main() -> None:
    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    for law in (rigid, soft):
        law().savefig(DOCS / f"contact-{law.__name__}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
