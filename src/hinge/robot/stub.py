"""Writes algorithms.pyi, so that editors and type checkers know what a robot and its views have from tables.

`python -m hinge.robot.stub` writes it; a test fails when it is stale.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from hinge.calls.inputs import own
from hinge.calls.views import place_names
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, default
from hinge.robot import algorithms, views
from hinge.robot.robot import Robot

PATH = Path(algorithms.__file__).with_suffix(".pyi")
HEAD = '''"""Written by `make stub` from the registry of algorithms and the table of views; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike, NDArray

from hinge.calls.target import Target
from hinge.calls.views import View

Array = NDArray[Any]

class Common(TypedDict, total=False):
    out: Array | None
    method: str | None
    backend: str | None
    check: str
    return_status: bool
    joint_terms: Sequence[str]
    regroup: bool
    parameters: Mapping[str, ArrayLike] | None
    prescribed: Sequence[ArrayLike] | None

'''


def _words(function: Any) -> list[str]:
    doc = (inspect.getdoc(function) or "").splitlines()
    if len(doc) == 1:
        return [f'        """{doc[0]}"""', "        ..."]
    return ['        """' + doc[0], *(f"        {line}".rstrip() for line in doc[1:]), '        """', "        ..."]


def _method(name: str, algorithm: Algorithm, words: bool = True) -> str:
    """The method of an algorithm, with its words."""
    taken, more = ["self"], [f"{option}: str = ..." for option in algorithm.options]
    for one, quantity in algorithm.inputs.items():
        if quantity.absent is None:
            taken.append(f"{place_names(algorithm)[one]}: str" if quantity is PLACE else f"{one}: ArrayLike")
    if "external" in algorithm.inputs:
        more += ["external: Mapping[str, ArrayLike] | None = ...", "external_frame: str = ..."]
    if "base_motion" in algorithm.inputs:
        more.append("base_motion: tuple[ArrayLike, ArrayLike] | None = ...")
    more += [f"{one}: ArrayLike | None = ..." for one in own(algorithm)]
    arguments = ", ".join([*taken, *(["*", *more] if more else []), "**common: Unpack[Common]"])
    said = _words(algorithm.function) if words else ["        ..."]
    return "\n".join([f"    def {name}({arguments}) -> Any:", *said])


def _member(name: str, member: Any, words: bool) -> str:
    """A member of a view that is no algorithm."""
    said = _words(member.fget if isinstance(member, property) else member) if words else ["        ..."]
    if isinstance(member, property):
        return "\n".join(["    @property", f"    def {name}(self) -> Any:", *said])
    taken = list(inspect.signature(member).parameters.values())[1:]
    shown = [f"{one.name}: Any" + ("" if one.default is one.empty else " = ...") for one in taken]
    return "\n".join([f"    def {name}({', '.join(['self', *shown])}) -> Any:", *said])


def _of_view(view: str, on_robot: bool) -> list[str]:
    """The members of a view, by their names there, or on the robot itself, where they have no words."""
    made, cls = [], views.view_class(view)
    for name, called in views.VIEWS[view].members.items():
        shown = name if on_robot else called
        if name in ALGORITHMS:
            made.append(_method(shown, default(name), not on_robot))
        else:
            made.append(_member(shown, inspect.getattr_static(cls, called), not on_robot))
    return made


def from_registry(name: str) -> bool:
    """Whether the method of an algorithm is written from the registry; a few a robot has from elsewhere."""
    return not hasattr(inspect.getattr_static(Robot, name), "__wrapped__")


def text() -> str:
    """The whole stub."""
    parts = [HEAD]
    for view, home in views.VIEWS.items():
        parts += [f"class {home.name}(View):", *_of_view(view, on_robot=False), ""]
    parts += ["class Algorithms(View):", "    target: Target"]
    parts += [f"    {view}: {home.name}" for view, home in views.VIEWS.items()]
    listed = [name for name in sorted(ALGORITHMS) if name not in views.MEMBERS and from_registry(name)]
    parts += [_method(name, default(name)) for name in listed]
    for view in views.VIEWS:
        parts += _of_view(view, on_robot=True)
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
