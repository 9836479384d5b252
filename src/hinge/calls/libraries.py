"""Array libraries besides NumPy: which module serves the arrays of which library.

Such a module has `run(call, arguments, out, check, backend)`, which returns the results of a call as a tuple of its
library's arrays, and a class `Entry`: `Entry(call).enter` takes the next plain call, as that of a kernel does. Its
`differentiable(function, arrays)` returns the results of a rollout, or of another function that knows its derivatives.
The module is imported when an array of its library is first given. A new library is one such module and a row below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

TARGETS: WeakValueDictionary[str, Any] = WeakValueDictionary()  # those there are, by key: what a graph of torch holds
LIBRARIES = {
    "torch": "hinge.calls.torch_calls",
    "jax": "hinge.calls.jax_calls",
    "jaxlib": "hinge.calls.jax_calls",
    "cupy": "hinge.calls.cupy_arrays",
}


def library_module(*given: Any) -> Any:
    """Return the module for these arrays where some are of another library, and None where all are NumPy's."""
    for x in given:
        found = LIBRARIES.get(str(type(x).__module__).partition(".")[0])
        if found:
            return import_module(found)
        if isinstance(x, Mapping):
            inside = library_module(*x.values())
        elif isinstance(x, tuple | list) and not (x and type(x[0]) in (float, int)):  # a row of numbers has no others
            inside = library_module(*x)
        else:
            continue
        if inside is not None:
            return inside
    return None


def flatten_arrays(given: Iterable[Any]) -> list[Any]:
    """Return the arrays in tuples, lists and dicts as one list."""
    flat: list[Any] = []
    for x in given:
        if isinstance(x, Mapping):
            flat += flatten_arrays(x.values())
        elif isinstance(x, tuple | list):
            flat += flatten_arrays(x)
        else:
            flat.append(x)
    return flat
