"""Robots to try things on, `hinge.samples`: textbook arms, linkages, a quadruped, and chains and trees at random."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec

from hinge.loops import linkages
from hinge.model import Model, samples
from hinge.model import go2 as quadruped
from hinge.robot import Robot

__all__ = [  # noqa: RUF022  in the order of the page
    "pendulum", "planar_2r", "puma560", "panda", "chain", "random_tree", "four_bar", "slider_crank", "piston_joint",
    "five_bar", "stewart_platform", "go2",
]  # fmt: skip

Given = ParamSpec("Given")


def _as_robot(sample: Callable[Given, Model]) -> Callable[Given, Robot]:
    @functools.wraps(sample)
    def made(*args: Given.args, **options: Given.kwargs) -> Robot:
        return Robot(sample(*args, **options))

    return made


pendulum = _as_robot(samples.pendulum)
planar_2r = _as_robot(samples.planar_2r)
puma560 = _as_robot(samples.puma560)
panda = _as_robot(samples.panda)
chain = _as_robot(samples.chain)
random_tree = _as_robot(samples.random_tree)
four_bar = _as_robot(linkages.four_bar)
slider_crank = _as_robot(linkages.slider_crank)
piston_joint = _as_robot(linkages.piston_joint)
five_bar = _as_robot(linkages.five_bar)
stewart_platform = _as_robot(linkages.stewart_platform)
go2 = _as_robot(quadruped.go2)


def __dir__() -> list[str]:
    return __all__
