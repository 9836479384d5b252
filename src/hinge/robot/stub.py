"""Writes algorithms.pyi, so that editors and type checkers know what a robot and its views have from tables.

`python -m hinge.robot.stub` writes it; a test fails when it is stale.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_overloads

from hinge import typing as kinds
from hinge.calls.inputs import algorithm_only_inputs
from hinge.dynamics.registry import ALGORITHMS, Algorithm, default, ranked
from hinge.integrators import METHODS
from hinge.robot import algorithms, views
from hinge.robot.algorithms import Algorithms

PATH = Path(algorithms.__file__).with_suffix(".pyi")
HEAD = '"""Written by `make stub` from the registry of algorithms and the table of views; do not edit."""'
COMMON = """
Given = TypeVar("Given")
Made = TypeVar("Made")

class Common(TypedDict, Generic[Given, Made], total=False):
    out: Made | None
    backend: Backend | None
    check: Check
    joint_terms: Sequence[Term]
    regroup: bool
    parameters: Mapping[str, Given] | None
    prescribed: Sequence[Given] | None

class Plain(Common[Given, Made], total=False):
    return_status: Literal[False]

class Told(Common[Given, Made], total=False):
    return_status: Required[Literal[True]]
"""
# what the first array is, what the others are, what comes back and how it fared: arrays decide, from top to bottom
WAYS = (
    ("Doubles", "Numbers", "Array", "Statuses"),
    ("Single", "Single", "Single", "Statuses"),
    ("Numbers", "Numbers", "Array", "Statuses"),
    ("Other", "Other | Numbers", "Other", "Other"),
)
USED = {
    "collections.abc": {"Mapping", "Sequence"},
    "typing": {"Generic", "Literal", "Required", "TypedDict", "TypeVar", "Unpack", "overload"},
    "hinge.calls.target": {"Target"},
    "hinge.calls.views": {"View"},
    "hinge.typing": {"Backend", "Check", "Doubles", "Frame", "Numbers", "Other", "Array", "Single", "Statuses", "Term"},
}
ALIASES = {name for name, one in vars(kinds).items() if getattr(one, "__name__", "") != name}


class _Imports:
    """What annotations of functions name, and where that is."""

    def __init__(self) -> None:
        self.names = {module: set(names) for module, names in USED.items()}

    def said(self, function: Callable[..., Any], annotation: str) -> str:
        """An annotation of a function, whose names are then imported."""
        scope = inspect.unwrap(function).__globals__
        for name in re.findall(r"(?<![\w.\"'])[A-Za-z_]\w*", annotation):
            if name in scope:
                of_class = getattr(scope[name], "__name__", "") == name  # which says where it is, as an alias does not
                home = scope[name].__module__ if of_class else kinds.__name__ if name in ALIASES else scope["__name__"]
                self.names.setdefault(home, set()).add(name)
        return annotation

    def text(self) -> list[str]:
        """The lines that import them, those of Python first."""
        ours = sorted(module for module in self.names if module.startswith("hinge."))
        return [*map(self._line, sorted(self.names.keys() - ours)), "", *map(self._line, ours)]

    def _line(self, module: str) -> str:
        names = sorted(self.names[module], key=lambda name: (name[0].islower(), name.lower()))
        return f"from {module} import {', '.join(names)}"


def _def(signature: str, function: Any = None) -> list[str]:
    """A signature, with the words of a function below it."""
    doc = (inspect.getdoc(function) or "").splitlines() if function is not None else []
    if not doc:
        return [f"    def {signature}: ..."]
    told = [f'        """{doc[0]}', *(f"        {line}".rstrip() for line in doc[1:])]
    told = [*told, '        """'] if doc[1:] else [told[0] + '"""']
    return [f"    def {signature}:", *told]


def _titled(name: str, more: str = "") -> str:
    return "".join(part.capitalize() for part in name.split("_")) + more


def _literal(words: Iterable[str]) -> str:
    return "Literal[" + ", ".join(f'"{word}"' for word in dict.fromkeys(words)) + "]"


def _literals() -> list[str]:
    """Types of what is said in words: methods of integration, options, and the methods of each algorithm."""
    made = {"Integrator": _literal(METHODS)}
    for name in ALGORITHMS:
        for option, values in default(name).options.items():
            made.setdefault(_titled(option), _literal(values))
            assert made[_titled(option)] == _literal(values), f"{option} has other words in {name} than elsewhere"
    made |= {_titled(name, "Method"): _methods(name) for name in sorted(ALGORITHMS) if len(ALGORITHMS[name]) > 1}
    return [f"{name} = {words}" for name, words in made.items() if name not in ALIASES]


def _methods(name: str) -> str:
    return _literal([*(word for key, one in ranked(name).items() for word in (one.method, key)), "auto"])


def _method(called: str, algorithm: Algorithm) -> list[str]:
    """The method of an algorithm, with its words: a signature for each kind of arrays, with and without a status."""
    made: list[str] = []
    several, places = len(ALGORITHMS[algorithm.name]) > 1, algorithm.frame_keywords
    methods = _titled(algorithm.name, "Method") if several else _methods(algorithm.name)
    for first, other, gives, fared in WAYS:
        arrays = [name for name, quantity in algorithm.inputs.items() if quantity.absent is None and name not in places]
        kinds_of = dict.fromkeys(arrays, other) | {arrays[0]: first} | dict.fromkeys(places, "str")
        taken = [f"{places.get(name, name)}: {kinds_of[name]}" for name in algorithm.inputs if name in kinds_of]
        more = [f'{option}: {_titled(option)} = "{values[0]}"' for option, values in algorithm.options.items()]
        if "external" in algorithm.inputs:
            more += [f"external: Mapping[str, {other}] | None = None", 'external_frame: Frame = "body"']
        if "base_motion" in algorithm.inputs:
            more.append(f"base_motion: tuple[{other}, {other}] | None = None")
        more += [f"{name}: {other} | None = None" for name in algorithm_only_inputs(algorithm)]
        results = [gives] * len(algorithm.returns)
        for how, listed in (("Plain", results), ("Told", [*results, fared])):
            given = ", ".join(["self: View", *taken, "*", *more, f"method: {methods} | None = None"])
            result = listed[0] if len(listed) == 1 else f"tuple[{', '.join(listed)}]"
            signature = f"{called}({given}, **how: Unpack[{how}[{other}, {gives}]]) -> {result}"
            made += ["    @overload", *_def(signature, None if made else algorithm.function)]
    return made


class _Said(str):
    """An annotation, which a signature shows as it is."""

    __repr__ = str.__str__


def _function(called: str, function: Callable[..., Any], imports: _Imports) -> list[str]:
    """A method that is a function of a target, with its words and the types it says."""
    made: list[str] = []
    for one in (variants := get_overloads(inspect.unwrap(function))) or [inspect.unwrap(function)]:
        signature = inspect.signature(one)
        first, *taken = signature.parameters.values()
        shown = [first.replace(name="self", annotation=_Said("View"))]
        shown += [p.replace(annotation=_Said(imports.said(one, p.annotation))) for p in taken]
        gives = _Said(imports.said(one, signature.return_annotation))
        made += ["    @overload"] if variants else []
        made += _def(f"{called}{inspect.Signature(shown, return_annotation=gives)}", None if made[1:] else function)
    return made


def _property(called: str, member: property, imports: _Imports, words: bool = True) -> list[str]:
    gives = imports.said(member.fget, inspect.signature(member.fget).return_annotation)  # type: ignore[arg-type]
    return ["    @property", *_def(f"{called}(self) -> {gives}", member.fget if words else None)]


def _member(called: str, name: str, member: Any, imports: _Imports) -> list[str]:
    if name in ALGORITHMS and from_registry(name):
        return _method(called, default(name))
    return _property(called, member, imports) if isinstance(member, property) else _function(called, member, imports)


def from_registry(name: str) -> bool:
    """Whether the method of an algorithm is written from the registry; a few a robot has from elsewhere."""
    return not hasattr(inspect.getattr_static(Algorithms, name), "__wrapped__")


def text() -> str:
    """The whole stub."""
    imports, parts = _Imports(), list[str]()
    for view, home in views.VIEWS.items():
        parts += ["", f"class {home.name}(View):"]
        for name, called in home.members.items():
            parts += _member(called, name, inspect.getattr_static(views.view_class(view), called), imports)
    parts += ["", "class Algorithms(View):", "    target: Target"]
    parts += [f"    {view}: {home.name}" for view, home in views.VIEWS.items()]
    for name in sorted(name for name in vars(Algorithms) if not name.startswith("_")):
        parts += _member(name, name, inspect.getattr_static(Algorithms, name), imports)
    for name, (view, called) in views.MEMBERS.items():
        member = inspect.getattr_static(views.view_class(view), called)
        same = [f"    {name} = {views.VIEWS[view].name}.{called}"]
        parts += _property(name, member, imports, words=False) if isinstance(member, property) else same
    return "\n".join([HEAD, "", *imports.text(), "", *_literals(), COMMON, *parts[1:], ""])


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
