"""What a call is given, as the arrays that its kernel takes, put together by the operations of their own library.

A call is words, which become a `Call`, and a tree: arrays by name, where the call was given them. What stands for an
array in checks has its shape and nothing else, so that what does not fit is refused as NumPy's arrays are, wherever
the numbers may be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array, finite
from hinge.backends import default_backend
from hinge.backends.cuda.resident import HOST, one_place
from hinge.calls import inputs
from hinge.calls.differentiable import Call
from hinge.calls.foreign import leaves
from hinge.calls.target import USUAL, Target
from hinge.dynamics.registry import PLACE, default
from hinge.dynamics.slopes import Slope
from hinge.errors import NotCovered
from hinge.model.driven import sizes

Tree = dict[str, Any]


def asked(target: Target, name: str, given: Sequence[Any], frames: Sequence[str], *, method: str | None = None,
          backend: str | None = None, return_status: bool = False, joint_terms: Sequence[str] = USUAL,
          regroup: bool = False, parameters: Mapping[str, Any] | None = None, prescribed: Any = None,
          external: Mapping[str, Any] | None = None, external_frame: str = "body", base_motion: Any = None,
          slopes: tuple[Slope, ...] = (), seeds: Sequence[Any] = (), flat: bool = False, packed: bool = False,
          **options: Any) -> tuple[Call, Tree]:  # fmt: skip
    """What a target is asked, as a call and a tree of arrays; they may be of any library."""
    first = default(name)
    own = inputs.taken_from(options, target.model, first)
    places = inputs.places(target.model, name, frames)
    if external:
        places += (("external", inputs.acting(target.model, external, external_frame)),)
    present = {"external": external or None, "base_motion": base_motion} | own
    terms = (joint_terms,) if isinstance(joint_terms, str) else tuple(joint_terms)
    call = Call(
        target, name, method, backend or default_backend(), tuple(one for one, x in present.items() if x is not None),
        terms, return_status, bool(regroup), places, tuple(sorted(options.items())), slopes, flat, packed,
    )  # fmt: skip
    tree = {
        "given": dict(zip(_wanted(name), given, strict=True)), "own": own, "external": external or {},
        "base_motion": base_motion, "parameters": inputs.by_name(name, parameters or {}), "prescribed": prescribed,
        "seeds": list(seeds),
    }  # fmt: skip
    return call.kept, tree


def _wanted(name: str) -> list[str]:
    """What every call of an algorithm gives as arrays."""
    return [one for one, q in default(name).inputs.items() if q.absent is None and q is not PLACE]


def each(tree: Tree, change: Callable[[str, Any], Any]) -> Tree:
    """The tree with its arrays changed by a function of what each is called and the array; None is left out."""

    def changed(what: str, x: Any) -> Any:
        if isinstance(x, Mapping):
            named = what in ("given", "own")
            return {key: changed(key if named else f"{what}[{key!r}]", one) for key, one in x.items()}
        if x is None:
            return None
        return [change(what, one) for one in x] if what in SEVERAL and isinstance(x, tuple | list) else change(what, x)

    return {what: changed(what, x) for what, x in tree.items()}


SEVERAL = ("base_motion", "prescribed", "seeds")  # what may be several arrays


def operands(call: Call, tree: Tree, library: Any, constant: Callable[[Array], Any]) -> list[Any]:
    """The arrays that a kernel takes, in its order, by a library's functions; `constant` makes one of NumPy's its own.

    Those that a method takes come as they are, and the kernel looks at them.
    """
    name, model, vary = call.name, call.target.model, call.target.vary
    shown, own, further = each(tree, lambda _, x: standing(x)), dict(tree["own"]), list[Any]()
    if tree["external"]:
        at, _ = inputs.forces(model, shown["external"], dict(call.places)["external"].frame)
        own["external"] = _joined(library, [tree["external"][one] for one in at.names], (len(at.names), 6))
    if tree["base_motion"] is not None:
        inputs.base_motion(name, shown["base_motion"])
        own["base_motion"] = _joined(library, tree["base_motion"], (2, 6))
    for row in inputs.parameters(name, model, vary, shown["parameters"], look=False):
        parts = []
        for one in vary:
            said = tree["parameters"].get(one.name)
            x = constant(one.nominal(model)) if said is None else said
            parts.append(x.reshape(*x.shape[: x.ndim - len(one.shape)], one.size))
        further.append(_joined(library, parts, row.shape[-1:]))
    for row in inputs.prescribed(name, model, shown["prescribed"]):
        parts = list(tree["prescribed"])
        parts += [constant(np.zeros(sizes(model)[1]))] * (3 - len(parts))
        further.append(_joined(library, parts, row.shape[-1:]))
    return [*(tree["given"][one] for one in _wanted(name)), *(own[one] for one in call.given), *further, *tree["seeds"]]


def look(call: Call, tree: Tree, check: str, host: Callable[[Any], Array]) -> None:
    """Refuse numbers that cannot be; `host` gives them as an array of NumPy."""
    model, vary = call.target.model, call.target.vary
    if check == "values":
        each(tree, lambda what, x: finite(f"{call.name}: {what}", host(x)))
    inputs.parameters(call.name, model, vary, {one: host(x) for one, x in tree["parameters"].items()})


def prepared(library: Any, target: Target, name: str, given: Sequence[Any], frames: Sequence[str],
             check: str = "sizes", backend: str | None = None, **keywords: Any) -> tuple[Call, list[Any]]:  # fmt: skip
    """A call, and the arrays of a library that its kernel takes: all in the place where those given are.

    Numbers and lists have no place and no precision of their own. The library has, besides what resident calls need,
    its `functions`, which work `at` a GPU, and says which arrays it `owns`, how it makes an `array` or a `constant`,
    whether there are numbers to be `seen` yet, and what they are on the `host`.
    """
    call, tree = asked(target, name, given, frames, backend=backend, **keywords)
    every = [x for x in leaves(tree.values()) if hasattr(x, "dtype")]
    where = max(library.device(x) for x in every if library.owns(x))
    number = np.dtype(np.float32 if all(str(x.dtype).endswith("float32") for x in every) else np.float64)
    tree = each(tree, lambda what, x: library.array(f"{name}: {what}", x, where, number))
    if where != HOST:
        if backend not in (None, "cuda"):
            raise NotCovered(f"{name}: backend={backend!r} cannot take arrays on a GPU.\n  Leave it out.")
        devices = dict[str, int]()
        each(tree, lambda what, x: devices.update({what: library.device(x)}))
        one_place(name, devices)
        call = call.but(backend="cuda")
    if check == "values" and not library.seen(every):
        raise NotCovered(f"{name}: check='values' looks at numbers, and there are none yet. Leave it out.")
    if check == "values" or (where == HOST and tree["parameters"] and library.seen(every)):
        look(call, tree, check, library.host)
    with library.at(where):
        return call, operands(call, tree, library.functions, lambda x: library.constant(x, where, number))


def standing(x: Any) -> Array:
    """An array of NumPy's of the same shape, without memory of its own; a length that is still to come is one."""
    return np.broadcast_to(np.zeros(()), tuple(n if isinstance(n, int) else 1 for n in x.shape))


def _joined(library: Any, parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Arrays side by side, their batches broadcast, with these last axes."""
    batch = getattr(library, "broadcast_shapes", np.broadcast_shapes)(*(one.shape[:-1] for one in parts))
    parts = [library.broadcast_to(one, (*batch, one.shape[-1])) for one in parts]
    whole = library.concatenate(parts, -1) if len(parts) > 1 else parts[0]
    return whole.reshape(*batch, *shape)
