"""Functions of NumPy's arrays that know their gradients, as functions of JAX's.

JAX calls them back out of what it has compiled; their gradient is again such a function. For kernels, which JAX enters
by itself, there is jax_kernels.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def differentiable(function: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a function for JAX's arrays.

    It has the `axes` that an input has of its own, and the shapes of its `results`; further axes in front are a batch.
    `run` takes and gives arrays, with a `status` of the axes `batch` after the results where it has one; `pulled(by)`
    is the function of inputs and weights that gives the gradients by some inputs.
    """

    @jax.custom_vjp
    def call(*given: Any) -> tuple[Any, ...]:
        return _called_back(function, given)

    def forward(*given: Any) -> tuple[Any, Any]:
        return call(*given), given

    def backward(given: Any, weights: Sequence[Any]) -> tuple[Any, ...]:
        used = [w for w, _ in zip(weights, function.results, strict=False)]
        made = differentiable(function.pulled(range(len(given))), [*given, *used])
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
