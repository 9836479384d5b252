"""Writes robot.pyi, so that editors and type checkers know the methods of a robot, those of the registry among them.

`python -m hinge.stub` writes it; a test fails when it is stale.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from hinge import robot
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm
from hinge.inputs import own
from hinge.methods import place_names

PATH = Path(robot.__file__).with_suffix(".pyi")
HEAD = '''"""Written by `make stub` from the source and the registry of algorithms; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.assembling import Assembly
from hinge.backends.count import Cost
from hinge.backends.kernel import Kernel
from hinge.contact import Contact, ContactDynamics, ContactSystem, FrictionStep, Impact
from hinge.formats import dh
from hinge.geometry.exponentials import ProductOfExponentials
from hinge.geometry.fields import Field, Function
from hinge.looping import Mobility
from hinge.model import Model, Report
from hinge.model import loops as _loops
from hinge.programs import Subject

Array = NDArray[Any]
Vector = Any

class Limits(NamedTuple):
    lower: Array
    upper: Array
    velocity: Array
    effort: Array

class Robot:
    model: Model
'''
TAIL = """
"""


def _words(function: Any) -> list[str]:
    doc = (inspect.getdoc(function) or "").splitlines()
    if len(doc) == 1:
        return [f'        """{doc[0]}"""', "        ..."]
    return ['        """' + doc[0], *(f"        {line}".rstrip() for line in doc[1:]), '        """', "        ..."]


def _written(name: str, thing: Any) -> str:
    """A method or property that is written in robot.py."""
    if isinstance(thing, property) or hasattr(thing, "func"):
        function: Any = thing.fget if isinstance(thing, property) else thing.func
        head = ["    @property", f"    def {name}(self) -> {inspect.signature(function).return_annotation}:"]
        return "\n".join([*head, *_words(function)])
    signature = inspect.signature(thing)
    parameters = [p if p.default is p.empty else p.replace(default=...) for p in signature.parameters.values()]
    shown = str(signature.replace(parameters=parameters)).replace("Ellipsis", "...").replace("'", "")
    return "\n".join([f"    def {name}{shown}:", *_words(thing)])


def _registered(algorithm: Algorithm) -> str:
    """A method that comes from the registry, with the words of its algorithm."""
    lines = [f"    def {algorithm.name}(", "        self,"]
    for name, quantity in algorithm.inputs.items():
        if quantity is PLACE:
            lines.append(f"        {place_names(algorithm)[name]}: str,")
        elif quantity.absent is None:
            lines.append(f"        {name}: ArrayLike,")
    lines.append("        *,")
    lines += [f"        {option}: str = ...," for option in algorithm.options]
    if "external" in algorithm.inputs:
        lines += ["        external: Mapping[str, ArrayLike] | None = ...,", "        external_frame: str = ...,"]
    if "base_motion" in algorithm.inputs:
        lines.append("        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,")
    lines += [f"        {name}: ArrayLike | None = ...," for name in own(algorithm)]
    lines += [
        "        out: Array | None = ...,",
        "        method: str | None = ...,",
        "        backend: str | None = ...,",
        "        check: str = ...,",
        "        return_status: bool = ...,",
        "        joint_terms: Sequence[str] = ...,",
        "        regroup: bool = ...,",
        "        parameters: Mapping[str, ArrayLike] | None = ...,",
        "        prescribed: Sequence[ArrayLike] | None = ...,",
    ]
    return "\n".join([*lines, "    ) -> Any:", *_words(algorithm.function)])


def text() -> str:
    """The whole stub."""
    own = [
        _written(name, thing)
        for cls in (robot.Robot, *robot.Robot.__bases__)
        for name, thing in vars(cls).items()
        if name not in ALGORITHMS and (not name.startswith("_") or name == "__init__")
    ]
    return (
        HEAD
        + "\n".join([*own, *(_registered(next(iter(known.values()))) for known in ALGORITHMS.values())])
        + "\n"
        + TAIL
    )


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
