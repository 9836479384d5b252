"""Writes algorithms.pyi, so that editors and type checkers know the methods that a robot has from the registry.

`python -m hinge.stub` writes it; a test fails when it is stale.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from hinge import algorithms
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, default
from hinge.inputs import own
from hinge.methods import place_names

PATH = Path(algorithms.__file__).with_suffix(".pyi")
HEAD = '''"""Written by `make stub` from the registry of algorithms; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]

class Algorithms:
'''


def _words(function: Any) -> list[str]:
    doc = (inspect.getdoc(function) or "").splitlines()
    if len(doc) == 1:
        return [f'        """{doc[0]}"""', "        ..."]
    return ['        """' + doc[0], *(f"        {line}".rstrip() for line in doc[1:]), '        """', "        ..."]


def _method(algorithm: Algorithm) -> str:
    """The method of an algorithm, with its words."""
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
    return HEAD + "\n".join(_method(default(name)) for name in sorted(ALGORITHMS)) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
