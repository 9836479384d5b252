"""Calls with JAX's arrays: they give JAX's arrays, and are part of what JAX compiles and differentiates.

What is given is put into the rows that a kernel takes, with JAX's own operations; jax_kernels.py has what is done with
these. Derivatives are by the numbers given; positions are taken with quaternions of length one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hinge.arguments import real
from hinge.calls.differentiable import Call
from hinge.calls.foreign import adapter
from hinge.calls.jax_kernels import run
from hinge.calls.operands import Arrays, Place, asked, look, named, operands, standing
from hinge.calls.request import entries, trace
from hinge.calls.target import Target
from hinge.errors import NotCovered, SizeError


def call(target: Target, name: str, given: Sequence[Any], frames: Sequence[str], *, out: Any = None,
         check: str = "sizes", packed: bool = False, parameters: Any = None,
         **keywords: Any) -> tuple[Any, Call]:  # fmt: skip
    """What a target gives, in JAX's arrays; and what it was asked."""
    if out is not None:
        raise NotCovered(f"{name}: out= cannot be filled, because JAX's arrays do not change. Leave it out.")
    wanted, arrays = asked(target, name, given, frames, parameters=parameters, **keywords)
    arrays = _arrays(name, arrays)
    if check == "values" or parameters:
        _look(wanted, arrays, check)
    made = _computed(wanted, packed, arrays)
    return made[0] if len(made) == 1 else tuple(made), wanted


class Straight:
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
        if adapter(x) is not None:
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
    if call.slopes and not call.flat and call.target.model.nq > call.target.model.nv:
        rows = [_normal(call, x) if call.along_velocities(one) else x for one, x in zip(call.inputs, rows, strict=True)]
    made = run(call, rows)
    return _structural(call, made) if packed else made


def _in_order(call: Call, given: Arrays) -> Arrays:
    """Arrays in the order of a call's inputs; JAX puts places in the order of the alphabet."""
    places = [("given", one) for one in call.inputs]
    return {place: given[place] for place in places if place in given} | given


def _normal(call: Call, q: Any) -> Any:
    """A position with quaternions of length one."""
    still = jnp.zeros((*q.shape[:-1], call.target.model.nv), q.dtype)
    return run(Call.of(call.target, "integrate"), [q, still])[0]


def _structural(call: Call, made: Sequence[Any]) -> list[Any]:
    """The entries that are not zero whatever the state; a status stays as it is."""
    request = call.target.request(
        call.name, call.method, call.given, call.terms, call.status, call.regroup, call.places, dict(call.options),
        call.slopes,
    )  # fmt: skip
    outputs = call.target.kernels(("pattern", request), lambda: trace(request, call.target)[1].outputs)
    batch = made[0].ndim - len(outputs[0].shape)
    return [
        x if one.whole else x.reshape(*x.shape[:batch], -1)[..., np.array(entries(one), int)]
        for x, one in zip(made, outputs, strict=True)
    ]
