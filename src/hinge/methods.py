"""Methods from the registry: what makes an algorithm a method of every robot."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, default
from hinge.inputs import own


def method_source(algorithm: Algorithm) -> str:
    """The method of an algorithm as source text: machine code where the call is plain, the ordinary path else."""
    takes = [n for n, quantity in algorithm.inputs.items() if quantity.absent is None]
    places = place_names(algorithm)
    names = [places.get(n, n) for n in takes]
    arrays, frames = ", ".join(n for n in takes if n not in places), ", ".join(places.values())
    entry = f".get(({', '.join(words(algorithm))},), not_yet)" if words(algorithm) else ""
    defaults: dict[str, Any] = {option: values[0] for option, values in algorithm.options.items()}
    if "external" in algorithm.inputs:
        defaults |= {"external": None, "external_frame": "body"}
    if "base_motion" in algorithm.inputs:
        defaults |= {"base_motion": None}
    defaults |= dict.fromkeys(own(algorithm))
    common = {
        "out": None, "method": None, "backend": None, "check": "sizes", "return_status": False,
        "joint_terms": ("armature",), "regroup": False, "parameters": None, "prescribed": None,
    }  # fmt: skip
    keywords = ", ".join(f"{k}={v!r}" for k, v in (defaults | common).items())
    # the defaults as they are, to be known again without being compared
    constants = "\n".join(
        f"D_{k} = {algorithm.name}.__kwdefaults__[{k!r}]"
        for k, v in (defaults | common).items()
        if not (v is None or v is False or k in algorithm.options)
    )
    plain = " and ".join(
        f"{k} is {v}" if v is None or v is False else f"({k} is D_{k} or {k} == D_{k})"
        for k, v in (defaults | common).items()
        if k not in ("external_frame", "out", "return_status", *algorithm.options)
    )
    handed = ", ".join([*common, *(f"{k}={k}" for k in defaults)])
    return f"""
def {algorithm.name}(self, {", ".join(names)}, *, {keywords}):
    if {plain}:
        made = (self._fared_{algorithm.name} if return_status else self._enter_{algorithm.name}){entry}({arrays}, out)
        if made is not None:
            return made
    return self._call({algorithm.name!r}, [{arrays}], [{frames}], {handed})
{constants}
"""


def place_names(algorithm: Algorithm) -> dict[str, str]:
    """What a method calls the frames it is given: a single one is `name`, several have their own names."""
    places = [n for n, quantity in algorithm.inputs.items() if quantity is PLACE]
    return {n: n for n in places} if len(places) > 1 else dict.fromkeys(places, "name")


def words(algorithm: Algorithm) -> list[str]:
    """What is said in words in a plain call, frames and options: there is a kernel, and a way into it, for each."""
    return [*place_names(algorithm).values(), *algorithm.options]


class Later:
    """Stands for a function of another module, as a method, until it is first looked at."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        made = getattr(importlib.import_module(self.module), self.name)
        setattr(owner, self.name, made)
        return getattr(owner if instance is None else instance, self.name)


class _Pending:
    """Stands for a method until it is first looked at; most programs use few of them."""

    def __init__(self, name: str, algorithm: Algorithm):
        self.name, self.algorithm = name, algorithm

    def __get__(self, instance: Any, owner: type) -> Any:
        made: dict[str, Any] = {"not_yet": _not_yet}
        exec(method_source(self.algorithm), made)
        method = made[self.name]
        method.__doc__, method.__qualname__ = self.algorithm.function.__doc__, f"{owner.__name__}.{self.name}"
        method.__module__ = owner.__module__
        setattr(owner, self.name, method)
        return getattr(owner if instance is None else instance, self.name)


def install(cls: type) -> None:
    """Give a class the methods of the registry, and to each the ways into its code, with and without statuses.

    What is asked in words has a way for each. A method that is registered later is there when it is first looked for.
    """

    def add(name: str) -> None:
        first = default(name)
        setattr(cls, name, _Pending(name, first))
        for entry in (f"_enter_{name}", f"_fared_{name}"):
            setattr(cls, entry, NONE if words(first) else staticmethod(_not_yet))

    def later(self: Any, name: str) -> Any:
        if name not in ALGORITHMS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        add(name)
        return getattr(self, name)

    for name in ALGORITHMS:
        add(name)
    cls.__getattr__ = later  # type: ignore[attr-defined]


NONE: Mapping[Any, Any] = MappingProxyType({})


def _not_yet(*given: Any) -> None:
    """Stands for code that has not been made: it takes no call."""
