"""Arrays of other libraries: who takes a call that is given some.

An adapter is a module with `call(target, name, given, frames, **keywords)`, which gives back what a target does, in its
own kind of arrays, and the `Call` that this was. It is imported when an array of its library is first given, and by
nothing else. `Straight(call).enter` takes the next call that needs nothing besides its arrays, as a kernel's does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

TARGETS: WeakValueDictionary[str, Any] = WeakValueDictionary()  # those there are, by key: what a graph of torch holds
ADAPTERS = {
    "torch": "hinge.calls.torch_tensors",
    "jax": "hinge.calls.jax_arrays",
    "jaxlib": "hinge.calls.jax_arrays",
    "cupy": "hinge.calls.cupy_arrays",
}
# modules with `differentiable(function, arrays)`: the results of a function of NumPy's arrays, with gradients
FUNCTIONS = ADAPTERS | dict.fromkeys(("jax", "jaxlib"), "hinge.calls.jax_functions")


def adapter(*given: Any, known: Mapping[str, str] = ADAPTERS) -> Any:
    """The module that takes these arrays, where some are of another library; None where all are NumPy's."""
    for x in given:
        found = known.get(str(type(x).__module__).partition(".")[0])
        if found:
            return import_module(found)
        if isinstance(x, Mapping):
            inside = adapter(*x.values(), known=known)
        elif isinstance(x, tuple | list) and not (x and type(x[0]) in (float, int)):  # a row of numbers has no others
            inside = adapter(*x, known=known)
        else:
            continue
        if inside is not None:
            return inside
    return None


def leaves(given: Iterable[Any]) -> list[Any]:
    """The arrays in what is given, those in tuples and dicts too."""
    made: list[Any] = []
    for x in given:
        made += leaves(x.values()) if isinstance(x, Mapping) else leaves(x) if isinstance(x, tuple | list) else [x]
    return made
