"""Views: methods on a target, some of them algorithms of the registry. A robot is a view, and has others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Signature, signature
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeVar

from hinge.calls.call import DEFAULT_TERMS
from hinge.calls.evaluate import evaluate
from hinge.calls.inputs import algorithm_only_inputs
from hinge.calls.target import Target
from hinge.dynamics.registry import Algorithm, default

Given = ParamSpec("Given")
Made = TypeVar("Made")


class View:
    """Methods on one target: functions of its room, by `on_target`, and the algorithms that name it, by `install`."""

    def __init__(self, target: Target):
        self.target = target

    def _call(self, name: str, given: list[Any], frames: list[str], return_status: bool, **keywords: Any) -> Any:
        """Run a method on the ordinary path, and keep an entry for the next plain call.

        The entry serves arrays of the same library as this call, and declines all others.
        """
        results, entry = evaluate(self.target, name, given, frames, return_status=return_status, **keywords)
        if entry is not None:
            attribute = f"_{'enter_with_status' if return_status else 'enter'}_{name}"
            chosen = (*frames, *(keywords[option] for option in default(name).options))
            if chosen:
                self.__dict__.setdefault(attribute, {})[chosen] = entry.enter
            else:
                setattr(self, attribute, entry.enter)
        return results


def on_target(function: Callable[Concatenate[Target, Given], Made]) -> Callable[Concatenate[Any, Given], Made]:
    """A function of a target as a method of a view."""

    @wraps(function)
    def method(view: View, *given: Given.args, **keywords: Given.kwargs) -> Made:
        return function(view.target, *given, **keywords)

    first, *rest = signature(function).parameters.values()
    method.__signature__ = Signature([first.replace(name="self", annotation=View), *rest])  # type: ignore[attr-defined]
    return method


def method_source(algorithm: Algorithm) -> str:
    """The method of an algorithm as source text: machine code where the call is plain, the ordinary path else."""
    takes = [n for n, quantity in algorithm.inputs.items() if quantity.absent is None]
    places = algorithm.frame_keywords
    names = [places.get(n, n) for n in takes]
    arrays, frames = ", ".join(n for n in takes if n not in places), ", ".join(places.values())
    entry = f".get(({', '.join(words(algorithm))},), not_yet)" if words(algorithm) else ""
    defaults: dict[str, Any] = {option: values[0] for option, values in algorithm.options.items()}
    if "external" in algorithm.inputs:
        defaults |= {"external": None, "external_frame": "body"}
    if "base_motion" in algorithm.inputs:
        defaults |= {"base_motion": None}
    defaults |= dict.fromkeys(algorithm_only_inputs(algorithm))
    common = {
        "return_status": False, "out": None, "method": None, "backend": None, "check": "sizes",
        "joint_terms": DEFAULT_TERMS, "regroup": False, "parameters": None, "prescribed": None,
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
    handed = ", ".join(f"{k}={k}" for k in common | defaults)
    return f"""
def {algorithm.name}(self, {", ".join(names)}, *, {keywords}):
    if {plain}:
        made = (
            self._enter_with_status_{algorithm.name} if return_status else self._enter_{algorithm.name}
        ){entry}({arrays}, out)
        if made is not None:
            return made
    return self._call({algorithm.name!r}, [{arrays}], [{frames}], {handed})
{constants}

def in_graph(self, *given, **keywords):
    from hinge.calls.torch_calls import traced
    return traced(self.target.key, {algorithm.name!r}, given, keywords)
"""


def words(algorithm: Algorithm) -> list[str]:
    """What is said in words in a plain call, frames and options: there is a kernel, and a way into it, for each."""
    return [*algorithm.frame_keywords.values(), *algorithm.options]


class _Pending:
    """Stands for a method until it is first looked at; most programs use few of them."""

    def __init__(self, name: str, algorithm: Algorithm):
        self.name, self.algorithm = name, algorithm

    def __get__(self, instance: Any, owner: type) -> Any:
        made: dict[str, Any] = {"not_yet": _not_yet}
        exec(method_source(self.algorithm), made)
        method = made[self.algorithm.name]
        method.__doc__, method.__qualname__ = self.algorithm.function.__doc__, f"{owner.__name__}.{self.name}"
        method.__module__, method.__name__ = owner.__module__, self.name
        method._torchdynamo_inline = made["in_graph"]
        setattr(owner, self.name, method)
        return getattr(owner if instance is None else instance, self.name)

    def in_graph(self, instance: Any, owner: type) -> Callable[..., Any]:
        from hinge.calls.torch_calls import traced

        return lambda *given, **keywords: traced(instance.target.key, self.algorithm.name, given, keywords)

    __get__._torchdynamo_inline = in_graph  # type: ignore[attr-defined]  # what torch.compile reads in its place


def install(cls: type, names: Mapping[str, str]) -> None:
    """Give a class algorithms of the registry under these names, and to each the ways into its code.

    There is one with and one without statuses, and for what is asked in words one for each of the words.
    """
    for name, called in names.items():
        first = default(name)
        setattr(cls, called, _Pending(called, first))
        for entry in (f"_enter_{name}", f"_enter_with_status_{name}"):
            setattr(cls, entry, NONE if words(first) else staticmethod(_not_yet))


NONE: Mapping[Any, Any] = MappingProxyType({})


def _not_yet(*given: Any) -> None:
    """Stands for code that has not been made: it takes no call."""
