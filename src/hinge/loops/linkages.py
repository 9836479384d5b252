"""Mechanisms with kinematic loops to try things on. `hinge.samples` offers these as robots.

Planar ones move in the vertical xz plane, angles from the horizontal, upward positive; bars are uniform.
"""

from __future__ import annotations

import numpy as np

from hinge.model.build import Builder
from hinge.model.loops import close
from hinge.model.model import Model

UP = (0.0, -1.0, 0.0)  # the axis of a joint that turns upward in the xz plane


def _bar(builder: Builder, name: str, length: float, parent: str, place: tuple[float, ...], mass: float = 1.0) -> None:
    """A uniform bar along x on a hinge of the same name."""
    inertia = mass * length**2 / 12
    builder.link(name, mass, (length / 2, 0, 0), np.diag([1e-3 * inertia, inertia, inertia]))
    builder.joint(name, "continuous", parent, name, place, axis=UP)


def four_bar(ground: float = 2.2, crank: float = 1.0, coupler: float = 2.5, rocker: float = 2.0) -> Model:
    """Crank and rocker on the base, the coupler on the crank; the pin between coupler and rocker is cut."""
    builder = Builder("four_bar")
    builder.link("base")
    _bar(builder, "crank", crank, "base", (0, 0, 0))
    _bar(builder, "coupler", coupler, "crank", (crank, 0, 0))
    _bar(builder, "rocker", rocker, "base", (ground, 0, 0))
    return close(builder.build(), "revolute", "rocker", "coupler", (rocker, 0, 0), (coupler, 0, 0), "pin", axis=UP)


def slider_crank(crank: float = 0.5, rod: float = 1.5, mass: float = 1.0) -> Model:
    """A crank, a rod on it, and a slider along x; the pin between rod and slider is cut."""
    builder = Builder("slider_crank")
    builder.link("base")
    _bar(builder, "crank", crank, "base", (0, 0, 0))
    _bar(builder, "rod", rod, "crank", (crank, 0, 0))
    builder.link("slider", mass, inertia=np.eye(3) * 0.01)
    builder.joint("slider", "prismatic", "base", "slider", axis=(1, 0, 0))
    return close(builder.build(), "revolute", "slider", "rod", (0, 0, 0), (rod, 0, 0), "pin", axis=UP)


def piston_joint(loop: str = "revolute", powered: bool = False) -> Model:
    """A hinge driven by a piston, featherstone1987 Figure 9-2: the pin between piston and arm is cut.

    As a "revolute" joint it imposes five constraints, three of which the rest of the mechanism imposes already; as a
    "sphere_in_cylinder" the two that are left.
    """
    builder = Builder("piston_joint")
    builder.link("base")
    _bar(builder, "arm", 1.5, "base", (0, 0, 0), 2.0)
    _bar(builder, "cylinder", 0.6, "base", (0, 0, -0.8))
    builder.link("piston", 0.5, (-0.2, 0, 0), np.diag([1e-3, 0.01, 0.01]))
    builder.joint("piston", "prismatic", "cylinder", "piston", (0.6, 0, 0), axis=(1, 0, 0))
    model = builder.build()
    place = np.eye(4)
    if loop == "sphere_in_cylinder":
        place[:3, :3] = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]  # the ball may leave the plane along y
    place[:3, 3] = (0.7, 0, 0)
    axis = UP if loop == "revolute" else None
    return close(model, loop, "arm", "piston", place, name="pin", axis=axis, powered=powered)


def five_bar(ground: float = 1.0, inner: float = 1.0, outer: float = 1.2) -> Model:
    """Two arms of two bars side by side, their tips pinned together: two freedoms."""
    builder = Builder("five_bar")
    builder.link("base")
    for side, x in (("left", 0.0), ("right", ground)):
        _bar(builder, f"{side}_inner", inner, "base", (x, 0, 0))
        _bar(builder, f"{side}_outer", outer, f"{side}_inner", (inner, 0, 0))
    return close(builder.build(), "revolute", "left_outer", "right_outer", (outer, 0, 0), (outer, 0, 0), "pin", axis=UP)


def stewart_platform(radius: float = 1.0, top: float = 0.6, height: float = 1.2) -> Model:
    """A platform on six legs that slide, each on a universal joint below and a ball above; the balls are cut."""
    builder = Builder("stewart_platform")
    builder.link("base")
    builder.link("platform", 5.0, inertia=np.diag([0.5, 0.5, 0.9]))
    reference = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, height]
    builder.joint("platform", "free", "base", "platform", reference=reference)
    feet, balls = [], []
    for k in range(6):
        pair, side = divmod(k, 2)
        below, above = 2 * np.pi / 3 * pair + (side - 0.5) * 0.5, 2 * np.pi / 3 * pair + (side - 0.5) * 1.6
        feet.append(np.array([radius * np.cos(below), radius * np.sin(below), 0.0]))
        balls.append(np.array([top * np.cos(above), top * np.sin(above), 0.0]))
        x, y, z = balls[k] + [0.0, 0.0, height] - feet[k]
        length = float(np.linalg.norm((x, y, z)))
        lean = (float(np.arctan2(-y, z)), float(np.arcsin(x / length)))
        builder.link(f"lower{k + 1}", 0.8, (0, 0, 0.3), np.diag([0.03, 0.03, 0.001]))
        builder.link(f"upper{k + 1}", 0.4, (0, 0, -0.3), np.diag([0.02, 0.02, 0.001]))
        builder.joint(f"swing{k + 1}", "universal", "base", f"lower{k + 1}", tuple(feet[k]), reference=lean)
        builder.joint(f"leg{k + 1}", "prismatic", f"lower{k + 1}", f"upper{k + 1}", axis=(0, 0, 1), reference=length)
    model = builder.build()
    for k in range(6):
        model = close(model, "spherical", "platform", f"upper{k + 1}", balls[k], name=f"ball{k + 1}")
    return model
