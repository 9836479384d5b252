"""Other libraries: the same robot and the same states as Pinocchio, MuJoCo and Drake have them.

    from hinge.interop import pinocchio
    model = pinocchio.to_model(robot)
    state = pinocchio.states(robot, model).there(q, qd, qdd)

Each of `pinocchio`, `mujoco` and `drake` has `to_model`, `from_model` and `states`, and imports its library when one of
them is called. Read forms, then states, then any of the three.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["drake", "mujoco", "pinocchio"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"hinge.interop.{name}")
    raise AttributeError(f"module 'hinge.interop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
