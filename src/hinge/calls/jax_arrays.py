"""Calls with JAX's arrays: they give JAX's arrays, and are part of what JAX compiles and differentiates.

What is given is put into the rows that a kernel takes, with JAX's own operations; jax_kernels.py has what is done with
these. Derivatives are by the numbers given; positions are taken with quaternions of length one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hinge.arguments import Array, finite, real
from hinge.backends import default_backend
from hinge.calls import inputs
from hinge.calls.foreign import adapter, leaves
from hinge.calls.jax_kernels import Call, run
from hinge.calls.request import entries, trace
from hinge.calls.target import Target
from hinge.dynamics.registry import PLACE, Algorithm, default
from hinge.dynamics.slopes import Slope
from hinge.errors import NotCovered, SizeError
from hinge.model.driven import sizes


def call(target: Target, name: str, given: Sequence[Any], frames: Sequence[str], *, out: Any, method: str | None,
         backend: str | None, check: str, return_status: bool, joint_terms: Sequence[str], regroup: bool,
         parameters: Mapping[str, Any] | None, prescribed: Any, external: Mapping[str, Any] | None,
         external_frame: str, base_motion: Any, slopes: tuple[Slope, ...], seeds: Sequence[Any], flat: bool,
         packed: bool, **options: Any) -> Any:  # fmt: skip
    """What a target gives, in JAX's arrays."""
    if out is not None:
        raise NotCovered(f"{name}: out= cannot be filled, because JAX's arrays do not change. Leave it out.")
    first = default(name)
    own = inputs.taken_from(options, target.model, first)
    places = inputs.places(target.model, name, frames)
    if external:
        places += (("external", inputs.acting(target.model, external, external_frame)),)
    tree = {
        "given": dict(zip(_numbers(first), given, strict=True)), "seeds": list(seeds), "external": external or {},
        "parameters": inputs.by_name(name, parameters or {}), "prescribed": prescribed, "base_motion": base_motion,
        "own": own,
    }  # fmt: skip
    tree = _arrays(name, tree)
    if check == "values" or tree["parameters"]:
        _look(target, name, tree, check)
    present = {"external": external or None, "base_motion": base_motion} | own
    wanted = Call(
        target, name, method, backend or default_backend(), tuple(one for one, x in present.items() if x is not None),
        (joint_terms,) if isinstance(joint_terms, str) else tuple(joint_terms), return_status, bool(regroup), places,
        tuple(sorted(options.items())), slopes, flat or (not slopes and target.model.nq > target.model.nv),
    )  # fmt: skip
    made = _computed(wanted, packed, tree)
    return made[0] if len(made) == 1 else tuple(made)


# before it is compiled: containers and kinds of numbers, which JAX would take apart


def _numbers(algorithm: Algorithm) -> list[str]:
    """The inputs that every call gives as arrays."""
    return [one for one, q in algorithm.inputs.items() if q.absent is None and q is not PLACE]


def _arrays(name: str, tree: dict[str, Any]) -> dict[str, Any]:
    """What is given, with an array for whatever is no container of arrays; numbers in lists have no precision."""

    def array(what: str, x: Any) -> Any:
        if x is None or isinstance(x, jax.Array):
            return x
        number = _number([one.dtype for one in leaves(tree.values()) if hasattr(one, "dtype")])
        if adapter(x) is not None:
            return jnp.asarray(x, number)
        return real(f"{name}: {what}", x).astype(getattr(x, "dtype", number), copy=False)

    return _each(tree, array)


def _each(tree: dict[str, Any], change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """The arrays, changed by a function of what each is called and the array."""

    def changed(what: str, x: Any) -> Any:
        if isinstance(x, Mapping):
            named = what in ("given", "own")
            return {key: change(key if named else f"{what}[{key!r}]", one) for key, one in x.items()}
        return [change(what, one) for one in x] if isinstance(x, tuple | list) else change(what, x)

    return {what: changed(what, x) for what, x in tree.items()}


def _number(kinds: Sequence[Any]) -> Any:
    """Double precision where a number of these kinds has it, or none is floating, and JAX has it; single else."""
    floating = [kind for kind in kinds if jnp.issubdtype(kind, jnp.floating)]
    return jnp.result_type(float) if np.float64 in floating or not floating else np.dtype(np.float32)


def _look(target: Target, name: str, tree: dict[str, Any], check: str) -> None:
    """Refuse numbers that cannot be, where there are numbers yet."""
    if any(isinstance(x, jax.core.Tracer) for x in leaves(tree.values())):
        if check == "values":
            raise NotCovered(
                f"{name}: check='values' looks at numbers, and JAX has none while it traces. Leave it out."
            )
        return
    inputs.parameters(name, target.model, target.vary, tree["parameters"])
    if check == "values":
        _each(tree, lambda what, x: None if x is None else finite(f"{name}: {what}", x))


# within what is compiled


@partial(jax.jit, static_argnums=(0, 1), inline=True)
def _computed(call: Call, packed: bool, tree: dict[str, Any]) -> list[Any]:
    """The results: what is given as rows of one batch, and the kernel on them."""
    number = _number([x.dtype for x in jax.tree.leaves(tree)])

    def numbers(what: str, x: Any) -> Any:
        if x is not None and jnp.iscomplexobj(x):
            raise SizeError(f"{call.name}: {what} is not an array of real numbers.")
        return None if x is None else x.astype(number)

    rows = _rows(call, _each(tree, numbers))
    kernel = call.kernel
    batch = kernel.batch([_standing(x) for x in rows])
    shapes = [(*batch, *shape) for shape in kernel.plan.shapes]
    rows = [jnp.broadcast_to(x.astype(number), shape) for x, shape in zip(rows, shapes, strict=True)]
    if call.slopes and not call.flat and call.target.model.nq > call.target.model.nv:
        rows = [_normal(call, x) if call.along_velocities(one) else x for one, x in zip(call.inputs, rows, strict=True)]
    made = run(call, rows)
    return _structural(call, made) if packed else made


def _rows(call: Call, tree: dict[str, Any]) -> list[Any]:
    """The arrays that a kernel takes, in its order; what stands for them is checked as NumPy's are."""
    name, model, vary = call.name, call.target.model, call.target.vary
    shown, given, further = jax.tree.map(_standing, tree), dict(tree["own"]), []
    if tree["external"]:
        at, _ = inputs.forces(model, shown["external"], dict(call.places)["external"].frame)
        given["external"] = _joined([tree["external"][one] for one in at.names], (len(at.names), 6))
    if tree["base_motion"] is not None:
        inputs.base_motion(name, shown["base_motion"])
        given["base_motion"] = _joined(tree["base_motion"], (2, 6))
    nominal = {one.name: one.nominal(model) for one in vary}
    inputs.parameters(name, model, vary, {one: nominal.get(one, 0.0) for one in tree["parameters"]})
    if vary:
        parts = []
        for one in vary:
            x = jnp.asarray(tree["parameters"].get(one.name, nominal[one.name]))
            real(f"{name}: parameter {one.name!r}", _standing(x), one.shape)
            parts.append(x.reshape(*x.shape[: x.ndim - len(one.shape)], one.size))
        further.append(_joined(parts, (sum(one.size for one in vary),)))
    for whole in inputs.prescribed(name, model, shown["prescribed"]):
        parts = list(tree["prescribed"])
        parts += [jnp.zeros(sizes(model)[1])] * (3 - len(parts))
        further.append(_joined(parts, whole.shape[-1:]))
    return [
        *(tree["given"][one] for one in _numbers(default(name))),
        *(given[one] for one in call.given),
        *further,
        *tree["seeds"],
    ]


def _joined(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Arrays side by side, their batches broadcast, with these last axes."""
    batch = jnp.broadcast_shapes(*(one.shape[:-1] for one in parts))
    whole = jnp.concatenate([jnp.broadcast_to(one, (*batch, one.shape[-1])) for one in parts], axis=-1)
    return whole.reshape(*batch, *shape)


def _standing(x: Any) -> Array:
    """An array of NumPy's of the same shape, without memory of its own."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _normal(call: Call, q: Any) -> Any:
    """A position with quaternions of length one."""
    still = jnp.zeros((*q.shape[:-1], call.target.model.nv), q.dtype)
    return run(Call(call.target, "integrate", flat=True), [q, still])[0]


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
