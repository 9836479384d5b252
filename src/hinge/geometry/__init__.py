"""The geometry of mechanics: displacements, screws, spaces of motions, products of exponentials, connections.

Read se3, then screws, inertias, spaces, exponentials, fields. Each is brought in when it is first used.
"""

from importlib import import_module
from typing import Any

__all__ = ["exponentials", "fields", "inertias", "screws", "se3", "spaces"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"hinge.geometry.{name}")
    raise AttributeError(f"module 'hinge.geometry' has no attribute {name!r}")
