"""Swing up a pole that hangs from a cart, and balance it: the cart is pushed, the pole is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hinge.envs.draws import Draw
from hinge.envs.task import State, Task
from hinge.model import Builder
from hinge.robot import Robot

RAIL = 2.4  # m to either side
PUSH = 10.0  # N


def cart_pole(cart: float = 1.0, pole: float = 0.1, length: float = 1.0) -> Robot:
    """A cart on a rail along x and a uniform pole on it, free to turn; its angle is zero upright."""
    builder = Builder("cart-pole")
    builder.link("rail")
    builder.link("cart", cart)
    bar = pole * length**2 / 12
    builder.link("pole", pole, (0, 0, length / 2), np.diag([bar, bar, 0.0]))
    builder.joint("slide", "prismatic", "rail", "cart", axis=(1, 0, 0), lower=-RAIL, upper=RAIL, effort=PUSH,
                  damping=0.1)  # fmt: skip
    builder.joint("hinge", "continuous", "cart", "pole", axis=(0, 1, 0), effort=0.0, damping=1e-3)
    builder.frame("tip", "pole", (0, 0, length))
    return Robot(builder.build())


class CartPoleSwingUp(Task):
    """The pole begins hanging, near rest; the rail has stops at its ends.

    A step is worth up to one: upright above all, and in the middle of the rail, slow, and without much force.
    """

    h, frame_skip, time = 0.01, 2, 10.0
    physics = {"joint_terms": ("armature", "damping"), "effort": True, "limits": "stop"}  # noqa: RUF012

    def __init__(self) -> None:
        self.robot = cart_pole()

    def initial(self, draw: Draw) -> Mapping[str, Any]:
        off = draw.uniform(-0.2, 0.2, 4)
        return {"q": np.array([0.0, np.pi]) + off[:2], "qd": off[2:]}

    def observation(self, s: State) -> Any:
        x, angle = s.q
        return np.stack([x, np.cos(angle), np.sin(angle), *s.qd])

    def bounds(self) -> tuple[Any, Any]:
        high = np.array([RAIL, 1.0, 1.0, np.inf, np.inf])
        return -high, high

    def reward(self, s: State, before: State) -> Any:
        x, angle = s.q
        upright, middle = 0.5 + 0.5 * np.cos(angle), 1.0 - (x / RAIL) ** 2
        slow, gentle = np.exp(-0.1 * s.qd[1] ** 2), 1.0 - s.action[0] ** 2
        return upright * (0.5 + 0.5 * middle) * (0.5 + 0.5 * slow) * (0.8 + 0.2 * gentle)
