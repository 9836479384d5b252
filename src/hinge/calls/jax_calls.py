"""Calls with JAX's arrays: they give JAX's arrays, and are part of what JAX compiles and differentiates.

JAX's own operations put what is given into the rows that a kernel takes; jax_primitive.py runs kernels on these rows.
Derivatives are by the numbers given; positions are taken with quaternions of length one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from hinge.arguments import real
from hinge.backends import is_device
from hinge.backends.places import wrong_backend
from hinge.calls.call import Call
from hinge.calls.evaluate import Arguments
from hinge.calls.jax_primitive import run as run_primitive
from hinge.calls.libraries import library_module
from hinge.calls.operands import Arrays, Place, look, named, named_arrays, operands, standing
from hinge.calls.tracing import nonzero_entries
from hinge.errors import NotCovered, SizeError


def run(call: Call, arguments: Arguments, out: Any, check: str, backend: str | None) -> tuple[Any, ...]:
    """Return the results of a call, in JAX arrays."""
    if out is not None:
        raise NotCovered(f"{call.name}: out= cannot be filled, because JAX's arrays do not change. Leave it out.")
    arrays = _arrays(call.name, named_arrays(call, arguments))
    if backend is not None and not is_device(backend) and any(map(on_device, arrays.values())):
        raise wrong_backend(call.name, backend)
    if check == "values" or arguments.parameters:
        _look(call, arrays, check)
    return tuple(_computed(call.but(packed=False), call.packed, arrays))


def on_device(x: Any) -> bool:
    """Return whether an array is on a device. An array that JAX traces is nowhere yet."""
    return isinstance(x, jax.Array) and not isinstance(x, Tracer) and any(d.platform != "cpu" for d in x.devices())


class Entry:
    """The way of plain calls with JAX's arrays to a kernel."""

    def __init__(self, call: Call):
        self.call, self.places = call, [("given", one) for one in call.inputs]

    def enter(self, *given: Any) -> Any:
        """What the call gives for these arrays; None where some are of another kind, or the last, `out`, is given."""
        if given[-1] is not None or not all(isinstance(x, jax.Array) for x in given[:-1]):
            return None
        made = _computed(self.call, False, dict(zip(self.places, given, strict=False)))
        return made[0] if len(made) == 1 else tuple(made)


# before it is compiled: containers and kinds of numbers, which JAX would take apart


def _arrays(name: str, given: Arrays) -> Arrays:
    """What is given, with an array for whatever is none; numbers in lists have no precision."""
    number = _number([x.dtype for x in given.values() if hasattr(x, "dtype")])

    def array(place: Place, x: Any) -> Any:
        if isinstance(x, jax.Array):
            return x
        if library_module(x) is not None:
            return jnp.asarray(x, number)
        return real(f"{name}: {named(place)}", x).astype(getattr(x, "dtype", number), copy=False)

    return {place: array(place, x) for place, x in given.items()}


def _number(kinds: Sequence[Any]) -> Any:
    """Double precision where a number of these kinds has it, or none is floating, and JAX has it; single else."""
    floating = [kind for kind in kinds if jnp.issubdtype(kind, jnp.floating)]
    return jnp.result_type(float) if np.float64 in floating or not floating else np.dtype(np.float32)


def _look(call: Call, given: Arrays, check: str) -> None:
    """Refuse numbers that cannot be, where there are numbers yet; those on a GPU are fetched only if asked for."""
    arrays = [x for x in given.values() if isinstance(x, jax.Array)]
    if any(isinstance(x, jax.core.Tracer) for x in arrays):
        if check == "values":
            raise NotCovered(
                f"{call.name}: check='values' looks at numbers, and JAX has none while it traces. Leave it out."
            )
    elif check == "values" or all(one.platform == "cpu" for x in arrays for one in x.devices()):
        look(call, given, check, np.asarray)


# within what is compiled


@partial(jax.jit, static_argnums=(0, 1), inline=True)
def _computed(call: Call, packed: bool, given: Arrays) -> list[Any]:
    """The results: what is given as rows of one batch, and the kernel on them."""
    number = _number([x.dtype for x in given.values()])
    for place, x in given.items():
        if jnp.iscomplexobj(x):
            raise SizeError(f"{call.name}: {named(place)} is not an array of real numbers.")
    numbers = {place: x.astype(number) for place, x in _in_order(call, given).items()}
    rows = operands(call, numbers, jnp, lambda x: jnp.asarray(x, number))
    kernel = call.kernel
    batch = kernel.batch([standing(x) for x in rows])
    shapes = [(*batch, *shape) for shape in kernel.plan.shapes]
    rows = [jnp.broadcast_to(x, shape) for x, shape in zip(rows, shapes, strict=True)]
    if call.derivatives and not call.by_numbers and call.target.model.nq > call.target.model.nv:
        rows = [_normal(call, x) if call.along_velocities(one) else x for one, x in zip(call.inputs, rows, strict=True)]
    made = run_primitive(call, rows)
    return _structural(call, made) if packed else made


def _in_order(call: Call, given: Arrays) -> Arrays:
    """Arrays in the order of a call's inputs; JAX puts places in the order of the alphabet."""
    places = [("given", one) for one in call.inputs]
    return {place: given[place] for place in places if place in given} | given


def _normal(call: Call, q: Any) -> Any:
    """A position with quaternions of length one."""
    still = jnp.zeros((*q.shape[:-1], call.target.model.nv), q.dtype)
    return run_primitive(Call.parse(call.target, "integrate"), [q, still])[0]


def _structural(call: Call, made: Sequence[Any]) -> list[Any]:
    """The entries that are not zero whatever the state; a status stays as it is."""
    outputs = call.fewest[1].outputs
    batch = made[0].ndim - len(outputs[0].shape)
    return [
        x if one.whole else x.reshape(*x.shape[:batch], -1)[..., np.array(nonzero_entries(one), int)]
        for x, one in zip(made, outputs, strict=True)
    ]


# functions that JAX calls back


def differentiable(function: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a function for JAX's arrays.

    It has the `axes` that an input has of its own, and the shapes of its `results`; further axes in front are a batch.
    `run` takes and gives arrays, with a `status` of the axes `batch` after the results where it has one; `vjp(by)`
    is the function of inputs and weights that gives the gradients by some inputs.
    """

    @jax.custom_vjp
    def call(*given: Any) -> tuple[Any, ...]:
        return _called_back(function, given)

    def forward(*given: Any) -> tuple[Any, Any]:
        return call(*given), given

    def backward(given: Any, weights: Sequence[Any]) -> tuple[Any, ...]:
        used = [w for w, _ in zip(weights, function.results, strict=False)]
        made = differentiable(function.vjp(range(len(given))), [*given, *used])
        return tuple(_like(g, x) for g, x in zip(made, given, strict=True))

    call.defvjp(forward, backward)
    return call(*(jnp.asarray(x) for x in arrays))


def _called_back(function: Any, given: Sequence[Any]) -> tuple[Any, ...]:
    """The results, from out of what is compiled; vmap puts its axis in front of all inputs."""
    front = jnp.broadcast_shapes(*(x.shape[: x.ndim - own] for x, own in zip(given, function.axes, strict=True)))
    number = jnp.result_type(*given, jnp.float32)
    shapes = [jax.ShapeDtypeStruct((*front, *shape), number) for shape in function.results]
    if function.status:
        shapes.append(jax.ShapeDtypeStruct((*front, *function.batch), jnp.uint8))

    def run(*arrays: Any) -> tuple[Any, ...]:
        return tuple(function.run([np.asarray(x) for x in arrays]))

    return tuple(jax.pure_callback(run, tuple(shapes), *given, vmap_method="broadcast_all"))


def _like(gradient: Any, x: Any) -> Any:
    """A gradient by x: summed over the batch that x does not have."""
    return gradient.sum(axis=tuple(range(gradient.ndim - x.ndim))).astype(x.dtype)
