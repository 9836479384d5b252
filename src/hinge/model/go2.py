"""A quadruped to try things on: Unitree's Go2, with boxes and rods for its shapes.

Masses, inertias, places and limits are those of the `unitree_go2` of MuJoCo's menagerie, rounded. One leg is
described, the left one in front; the others are its mirror images.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.model.build import Builder
from hinge.model.model import Model
from hinge.model.shapes import Shape

LEGS = {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}  # front or rear, left or right
SILVER, DARK, BLUE, BLACK = (0.8, 0.82, 0.85, 1.0), (0.25, 0.27, 0.3, 1.0), (0.2, 0.45, 0.8, 1.0), (0.1, 0.1, 0.1, 1.0)
LYING = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # an axis along y
# a link: mass (kg), centre of mass (m), inertia about it: xx, yy, zz, xy, xz, yz (kg m²)
TRUNK = 6.921, (0.0211, 0.0, -0.0054), (0.02448, 0.09808, 0.107, 1.2e-4, 1.485e-3, -3.1e-5)
HIP = 0.678, (-0.0054, 0.0019, -0.0001), (4.8e-4, 8.84e-4, 5.96e-4, -3e-6, 1.1e-6, -1.4e-6)
THIGH = 1.152, (-0.0037, -0.0223, -0.0327), (5.84e-3, 5.8e-3, 1.03e-3, 8.7e-5, -2.89e-4, 8.08e-4)
CALF = 0.2414, (0.0063, -0.0006, -0.1414), (1.464e-3, 1.49e-3, 5.3e-5, 2e-7, 6e-6, 1.22e-5)
LENGTH, FOOT = 0.213, 0.022  # of thigh and calf; the radius of a foot
BEND = 0.9  # rad: of the thighs of one that stands; knees bend back by twice that


def go2() -> Model:
    """Unitree's Go2: a quadruped of 15.2 kg on a floating base, with twelve joints and feet FL_foot, FR_foot, ….

    It stands at `keyframes["home"]`; "imu" is a frame in its trunk.
    """
    builder = Builder("go2")
    trunk = [
        *_both("box", (0.376, 0.094, 0.114), SILVER),
        *_both("cylinder", (0.05, 0.09), DARK, xyz=(0.285, 0.0, 0.01)),
    ]
    _link(builder, "base", TRUNK, np.eye(3), trunk)
    builder.frame("imu", "base", (-0.0256, 0.0, 0.0423))
    for leg in LEGS:
        _leg(builder, leg)
    height = 2 * LENGTH * np.cos(BEND) + FOOT
    stance = (0.0, BEND, -2 * BEND) * len(LEGS)
    builder.extras["keyframes"] = {"home": {"q": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(height), *stance)}}
    return builder.build(base="floating")


def _leg(builder: Builder, leg: str) -> None:
    end, side = LEGS[leg]
    swing = (-1.571, 3.491) if end > 0 else (-0.524, 4.538)
    # link, its numbers, their mirror, parent, joint place, axis, limits (rad), effort (N m), shape
    rows = [
        ("hip", HIP, (end, side, 1), "base", (0.1934 * end, 0.0465 * side, 0), (1, 0, 0), (-1.047, 1.047), 23.7,
         _both("cylinder", (0.046, 0.04), DARK, xyz=(0.0, 0.08 * side, 0.0), rotation=LYING)),
        ("thigh", THIGH, (1, side, 1), f"{leg}_hip", (0, 0.0955 * side, 0), (0, 1, 0), swing, 23.7,
         _both("box", (0.034, 0.0245, LENGTH), SILVER, xyz=(0.0, 0.0, -LENGTH / 2))),
        ("calf", CALF, (1, side, 1), f"{leg}_thigh", (0, 0, -LENGTH), (0, 1, 0), (-2.723, -0.838), 45.43,
         _both("capsule", (0.012, 0.16), BLUE, xyz=(0.008, 0.0, -0.095))),
    ]  # fmt: skip
    for link, numbers, mirror, parent, xyz, axis, (lower, upper), effort, shapes in rows:
        _link(builder, f"{leg}_{link}", numbers, np.diag(mirror), shapes)
        limits: dict[str, Any] = {"lower": lower, "upper": upper, "effort": effort}
        terms: dict[str, Any] = {"damping": 2.0, "friction": 0.2, "armature": 0.01}
        builder.joint(f"{leg}_{link}_joint", "revolute", parent, f"{leg}_{link}", xyz, axis=axis, **limits, **terms)
    builder.link(f"{leg}_foot", shapes=_both("sphere", (FOOT,), BLACK))
    builder.joint(f"{leg}_foot_joint", "fixed", f"{leg}_calf", f"{leg}_foot", (0, 0, -LENGTH))


def _link(builder: Builder, name: str, numbers: tuple[Any, ...], mirror: np.ndarray, shapes: list[Shape]) -> None:
    mass, com, (xx, yy, zz, xy, xz, yz) = numbers
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    builder.link(name, mass, mirror @ com, mirror @ inertia @ mirror, shapes)


def _both(kind: str, size: tuple[float, ...], rgba: tuple[float, ...], **place: Any) -> list[Shape]:
    """A shape that is seen and that touches."""
    return [Shape(role, kind, size, rgba=rgba, **place) for role in ("visual", "collision")]
