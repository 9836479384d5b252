"""What a call is given, as the arrays that its kernel takes, put together by the operations of their own library.

A call is words, which become a `Call`, and arrays by their places in it: ("given", "q"), ("external", "hand"). What
stands for an array in checks has its shape and nothing else, so that what does not fit is refused as NumPy's arrays
are, wherever the numbers may be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array, finite
from hinge.backends.places import HOST, MOST, require_one_device, wrong_backend
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.evaluate import Arguments
from hinge.calls.libraries import flatten_arrays
from hinge.dynamics.registry import PLACE, default
from hinge.errors import NotCovered
from hinge.model.driven import sizes
from hinge.model.vary import check as can_be

Place = tuple[str, Any]
Arrays = dict[Place, Any]
NAMED = ("external", "parameters")  # what has names of the robot; those of an algorithm's inputs need no more


def named_arrays(call: Call, arguments: Arguments) -> Arrays:
    """Return the arrays of a call by their places."""
    model, name = call.target.model, call.name
    wanted = [one for one, q in default(name).inputs.items() if q.absent is None and q is not PLACE]
    arrays: Arrays = {("given", one): x for one, x in zip(wanted, arguments.given, strict=True)}
    arrays |= {("given", one): x for one, x in arguments.own.items() if x is not None}
    if arguments.base_motion is not None:
        if not isinstance(arguments.base_motion, Sequence) or len(arguments.base_motion) != 2:
            inputs.base_motion(name, arguments.base_motion)
        arrays |= {("base_motion", k): x for k, x in enumerate(arguments.base_motion)}
    if arguments.external:
        arrays |= {("external", one): x for one, x in arguments.external.items()}
    parameters = inputs.values_by_name(name, arguments.parameters or {})
    arrays |= {("parameters", one): x for one, x in parameters.items()}
    if arguments.prescribed is not None:
        if not isinstance(arguments.prescribed, tuple | list) and not getattr(arguments.prescribed, "ndim", 0):
            inputs.prescribed(name, model, arguments.prescribed)
        arrays |= {("prescribed", k): x for k, x in enumerate(arguments.prescribed)}
    return arrays | {("seeds", k): x for k, x in enumerate(arguments.seeds)}


def named(place: Place) -> str:
    """What an array is called in messages."""
    what, key = place
    return key if what == "given" else f"{what}[{key!r}]" if what in NAMED else what


def operands(call: Call, arrays: Arrays, library: Any, constant: Callable[[Array], Any]) -> list[Any]:
    """The arrays that a kernel takes, in its order, by a library's functions; `constant` makes one of NumPy's its own.

    Those that a method takes come as they are, and the kernel looks at them.
    """
    model, vary = call.target.model, call.target.vary
    first = {key: x for (what, key), x in arrays.items() if what == "given"}
    if len(arrays) == len(first) == len(call.inputs):
        return list(first.values())
    _check(call, arrays)
    own, further = [first.pop(one) for one in call.optional if one in first], list[Any]()
    made = []
    for what in ("external", "base_motion"):
        if what in call.optional:
            rows = _of(arrays, what)
            whole = _joined(library, rows)
            made.append(whole.reshape(*whole.shape[:-1], len(rows), 6))
    if vary:
        parts = []
        for one in vary:
            said = arrays.get(("parameters", one.name))
            x = constant(one.nominal(model)) if said is None else said
            parts.append(x.reshape(*x.shape[: x.ndim - len(one.shape)], one.size))
        further.append(_joined(library, parts))
    driven = _of(arrays, "prescribed")
    if driven:
        driven += [constant(np.zeros(sizes(model)[1]))] * (3 - len(driven))
        further.append(_joined(library, driven))
    return [*first.values(), *made, *own, *further, *_of(arrays, "seeds")]


def _of(arrays: Arrays, wanted: str) -> list[Any]:
    """The arrays of one kind, in the order of their names or numbers."""
    found = {key: x for (what, key), x in arrays.items() if what == wanted}
    return [found[key] for key in sorted(found)]


def _check(call: Call, arrays: Arrays) -> None:
    """Refuse what does not fit together; what fits is known by its shapes from then on."""
    shapes = tuple([(place, _lengths(x)) for place, x in arrays.items()])
    if shapes in call.checked:
        return
    name, model = call.name, call.target.model
    shown = {place: standing(x) for place, x in arrays.items()}
    if "external" in call.optional:
        forces = {key: x for (what, key), x in shown.items() if what == "external"}
        inputs.forces_at(dict(call.frames)["external"], forces)
    if "base_motion" in call.optional:
        inputs.base_motion(name, _of(shown, "base_motion"))
    parameters = {key: x for (what, key), x in shown.items() if what == "parameters"}
    inputs.parameters(name, model, call.target.vary, parameters, look=False)
    inputs.prescribed(name, model, _of(shown, "prescribed") or None)
    if len(call.checked) >= MOST:
        call.checked.clear()
    call.checked.add(shapes)


def look(call: Call, arrays: Arrays, check: str, host: Callable[[Any], Array]) -> None:
    """Refuse numbers that cannot be; `host` gives them as an array of NumPy."""
    if check == "values":
        for place, x in arrays.items():
            finite(f"{call.name}: {named(place)}", host(x))
    given = {key: host(x) for (what, key), x in arrays.items() if what == "parameters"}
    can_be(call.name, call.target.model, call.target.vary, given)


def prepared(
    library: Any, call: Call, arguments: Arguments, check: str = "sizes", backend: str | None = None
) -> tuple[Call, list[Any]]:
    """Return the call on the back end where its arrays are, and the arrays of a library that its kernel takes.

    Numbers and lists have no place and no precision of their own. The library has, besides what resident calls need,
    its `functions`, which work `at` a GPU, and says which arrays it `owns`, how it makes an `array` or a `constant`,
    whether there are numbers to be `seen` yet, and what they are on the `host`. `backend` is the one that is named.
    """
    name, target, arrays = call.name, call.target, named_arrays(call, arguments)
    every = list(arrays.values())
    owned = [x for x in every if library.owns(x)] or [x for x in flatten_arrays(every) if library.owns(x)]
    where = max([library.device(x) for x in owned])
    if where != HOST and backend not in (None, library.backend):
        raise wrong_backend(name, backend)

    def constant(x: Array) -> Any:
        single = all(str(getattr(one, "dtype", "float32")).endswith("float32") for one in every)
        return library.constant(x, where, np.dtype(np.float32 if single else np.float64))

    for place, x in arrays.items():
        if not library.plain(x):
            arrays[place] = library.array(f"{name}: {named(place)}", x, constant)
    if where != HOST:
        require_one_device(name, {named(place): library.device(x) for place, x in arrays.items()})
        call = call.but(backend=library.backend)
    with library.at(where):
        rows = operands(call, arrays, library.functions, constant)
    if check == "values" or (where == HOST and target.vary):
        if library.seen(owned):
            look(call, arrays, check, library.host)
        elif check == "values":
            raise NotCovered(f"{name}: check='values' looks at numbers, and there are none yet. Leave it out.")
    return call, rows


def standing(x: Any) -> Array:
    """An array of NumPy's of the same shape, without memory of its own."""
    return np.broadcast_to(np.zeros(()), _lengths(x))


def _lengths(x: Any) -> tuple[int, ...]:
    """The shape of an array, in which a length that is still to come is one."""
    return tuple([n if isinstance(n, int) else 1 for n in x.shape])


def _joined(library: Any, parts: Sequence[Any]) -> Any:
    """Arrays side by side along the last axis, their batches broadcast."""
    batch = parts[0].shape[:-1]
    if any(one.shape[:-1] != batch for one in parts[1:]):
        batch = getattr(library, "broadcast_shapes", np.broadcast_shapes)(*(one.shape[:-1] for one in parts))
        parts = [library.broadcast_to(one, (*batch, one.shape[-1])) for one in parts]
    return library.concatenate(list(parts), -1) if len(parts) > 1 else parts[0]
