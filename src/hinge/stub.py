"""Writes robot.pyi from the registry, so that editors and type checkers know the methods of a robot.

python -m hinge.stub          write it
"""

from __future__ import annotations

import inspect
from pathlib import Path

from hinge import robot
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm

PATH = Path(robot.__file__).with_suffix(".pyi")
HEAD = '''"""Written by `make stub` from the registry of algorithms; do not edit."""

from collections.abc import Mapping, Sequence
from os import PathLike
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.backends.count import Cost
from hinge.backends.kernel import Kernel
from hinge.model import Model, Report

class Limits(NamedTuple):
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    velocity: NDArray[np.float64]
    effort: NDArray[np.float64]

class Robot:
    model: Model
    def __init__(self, model: Model) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def joint_names(self) -> tuple[str, ...]: ...
    @property
    def body_names(self) -> tuple[str, ...]: ...
    @property
    def report(self) -> Report: ...
    @property
    def mass(self) -> float: ...
    @property
    def limits(self) -> Limits: ...
    def coordinates(self, joint: str) -> tuple[slice, slice]: ...
    def neutral(self) -> NDArray[np.float64]: ...
    def random_state(self, rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def kernel(
        self,
        name: str,
        method: str | None = ...,
        backend: str | None = ...,
        given: Sequence[str] = ...,
        joint_terms: Sequence[str] = ...,
        status: bool = ...,
        **options: str,
    ) -> Kernel: ...
    def cost(self, name: str, method: str | None = ..., **options: str) -> Cost: ...
    def source(self, name: str, language: str = ..., method: str | None = ..., **options: str) -> str: ...
'''
TAIL = """
def default_backend() -> str: ...
def load(
    source: str | PathLike[str],
    base: str = ...,
    mimic: str = ...,
    gravity: Sequence[float] | None = ...,
    strict: bool = ...,
    packages: Sequence[str | PathLike[str]] = ...,
) -> Robot: ...
def dh(
    rows: Sequence[Mapping[str, Any]],
    convention: str = ...,
    base: ArrayLike | None = ...,
    tool: ArrayLike | None = ...,
    gravity: Sequence[float] | None = ...,
    name: str = ...,
) -> Robot: ...

samples: SimpleNamespace
"""


def _method(algorithm: Algorithm) -> str:
    """One method, with the words of its algorithm."""
    lines = [f"    def {algorithm.name}(", "        self,"]
    for name, quantity in algorithm.inputs.items():
        if quantity is PLACE:
            lines.append("        name: str,")
        elif quantity.absent is None:
            lines.append(f"        {name}: ArrayLike,")
    lines.append("        *,")
    lines += [f"        {option}: str = ...," for option in algorithm.options]
    if "external" in algorithm.inputs:
        lines += ["        external: Mapping[str, ArrayLike] | None = ...,", "        external_frame: str = ...,"]
    if "base_motion" in algorithm.inputs:
        lines.append("        base_motion: tuple[ArrayLike, ArrayLike] | None = ...,")
    lines += [
        "        out: NDArray[Any] | None = ...,",
        "        method: str | None = ...,",
        "        backend: str | None = ...,",
        "        check: str = ...,",
        "        return_status: bool = ...,",
        "        joint_terms: Sequence[str] = ...,",
    ]
    words = inspect.getdoc(algorithm.function) or ""
    doc = "\n".join(f"        {line}".rstrip() for line in words.splitlines())
    return "\n".join([*lines, "    ) -> Any:", f'        """{doc.strip()}', '        """', "        ..."])


def text() -> str:
    """The whole stub."""
    methods = [_method(known[0]) for known in ALGORITHMS.values()]
    return HEAD + "\n".join(methods) + "\n" + TAIL


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
