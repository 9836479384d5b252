"""Kernels as a primitive of JAX's, with rules for what JAX does to one.

P[s] is the kernel of an algorithm with slopes s:

    its tangent       P[s + along](x, tangents), which is linear in the tangents
    its transpose     P[s + pulled](x, weights)
    a batch of it     P[s], with one leading axis more

so that a gradient ends in one reverse sweep, and all of it nests. Derivatives are by the numbers given
(`Call.by_numbers`). Where slopes were asked for along velocities, and JAX differentiates these, rates of positions
become velocities by the slope of `difference`.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from hinge import backends
from hinge.backends import default_backend
from hinge.backends.llvm import xla_entry
from hinge.calls.call import Call
from hinge.dynamics.slopes import Slope
from hinge.errors import NotCovered

P = Primitive("hinge")
P.multiple_results = True


def run(call: Call, operands: Sequence[Any]) -> list[Any]:
    """The results of a call, on arrays of one batch."""
    return P.bind(*operands, call=call)


P.def_impl(jax.jit(P.bind, static_argnames="call"))  # outside of what JAX compiles it is compiled by itself


@P.def_abstract_eval
def _shapes(*operands: Any, call: Call) -> list[Any]:
    plan, first = call.kernel.plan, operands[0]
    batch = first.shape[: first.ndim - len(plan.shapes[0])]
    wanted = [((*batch, *shape), first.dtype) for shape in plan.shapes]
    found = [(one.shape, one.dtype) for one in operands]
    if found != wanted:  # machine code reads them without looking
        raise TypeError(f"{call}: operands are {found}, and have to be {wanted}.")
    types = [first.dtype] * len(plan.outputs)
    if plan.status:
        types[-1] = np.dtype(np.uint8)
    return [jax.core.ShapedArray((*batch, *shape), kind) for shape, kind in zip(plan.outputs, types, strict=True)]


def _tangents(primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[list[Any], list[Any]]:
    made = run(call, primals)
    moving = [k for k, one in enumerate(tangents) if type(one) is not ad.Zero]
    fixed = len(primals) - call.linear
    if moving[0] >= fixed:
        seeds = map(ad.instantiate_zeros, tangents[fixed:])
        changes = run(call.but(status=False), [*primals[:fixed], *seeds])
    else:
        slope = Slope("along", tuple(call.inputs[k] for k in moving))
        rates = [_rate(call, call.inputs[k], primals[k], tangents[k]) for k in moving]
        changes = run(call.derivative(slope), [*primals, *rates])
    if call.status:
        changes = [*changes, ad.Zero(jax.typeof(made[-1]).to_tangent_aval())]
    return made, changes


def _rate(call: Call, name: str, x: Any, tangent: Any) -> Any:
    """The tangent of an input as that of what slopes are taken by: a velocity, where they are along these."""
    if not call.along_velocities(name):
        return tangent
    met = Call.parse(call.target, "difference").but(derivatives=(Slope("along", ("q1",)),), by_numbers=True)
    return run(met, [x, x, tangent])[0]


def _transposed(weights: Sequence[Any], *operands: Any, call: Call) -> list[Any]:
    fixed = len(operands) - call.linear
    wanted = [k for k, one in enumerate(operands) if ad.is_undefined_primal(one)]
    if wanted[0] < fixed:
        one = call.inputs[wanted[0]]
        raise NotCovered(f"{call.name}: JAX cannot transpose it by {one}. Take its derivative, which is linear.")
    last = call.derivatives[-1]
    if last.kind == "along":
        back = Slope("pulled", tuple(last.by[k - fixed] for k in wanted))
    else:
        back, wanted = Slope("along", last.by), list(range(fixed, len(operands)))
    seeds = [ad.instantiate_zeros(one) for one in weights[: len(weights) - call.status]]
    made = run(call.but(status=False, derivatives=(*call.derivatives[:-1], back)), [*operands[:fixed], *seeds])
    found = dict(zip(wanted, made, strict=True))
    return [found[k] if ad.is_undefined_primal(one) else None for k, one in enumerate(operands)]


def _batched(operands: Sequence[Any], axes: Sequence[Any], *, call: Call) -> tuple[list[Any], list[int]]:
    size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    made = run(call, [batching.bdim_at_front(x, axis, size) for x, axis in zip(operands, axes, strict=True)])
    return made, [0] * len(made)


ad.primitive_jvps[P] = _tangents
ad.primitive_transposes[P] = _transposed
batching.primitive_batchers[P] = _batched


# how it is run


def _called_back(ctx: Any, *operands: Any, call: Call) -> Any:
    """From Python, on arrays of the host."""

    def numbers(*arrays: Any) -> tuple[Any, ...]:
        made = call.kernel(*map(np.asarray, arrays))
        return made if isinstance(made, tuple) else (made,)

    def ask(*arrays: Any) -> Any:
        shapes = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in ctx.avals_out]
        return jax.pure_callback(numbers, shapes, *arrays)

    return mlir.lower_fun(ask, multiple_results=True)(ctx, *operands)


def _machine_code(ctx: Any, *operands: Any, call: Call) -> Any:
    """Straight from what XLA has compiled, where it can be."""
    first = ctx.avals_in[0]
    code, states = call.kernel.code(first.dtype), _states(ctx, call)
    if not states or not xla_entry.serves(code) or not handler(""):
        return _called_back(ctx, *operands, call=call)
    return _entered(ctx, operands, "", code, xla_entry.about(code), states)


def _on_device(ctx: Any, *operands: Any, call: Call, device: str) -> Any:
    """On the device that the arrays are on, in the stream that XLA has chosen."""
    states = _states(ctx, call)
    if not states or not _may_move(call, device) or not handler(device):
        return _called_back(ctx, *operands, call=call)
    code = call.but(backend=device).kernel.code(ctx.avals_in[0].dtype)
    launch = backends.device(device).xla_launch(code, len(ctx.avals_in) + len(ctx.avals_out), states)
    if launch is None:
        return _called_back(ctx, *operands, call=call)
    return _entered(ctx, operands, device, launch, launch.place, states)


def _may_move(call: Call, device: str) -> bool:
    """Whether arrays on a device may be computed there: no other back end was named for them."""
    return call.backend in (None, default_backend(), device)


def _states(ctx: Any, call: Call) -> int:
    first = ctx.avals_in[0]
    return prod(first.shape[: first.ndim - call.axes[0]])


def _entered(ctx: Any, operands: Sequence[Any], device: str, kept: Any, about: int, states: int) -> Any:
    """A call of a handler, which is told what a kernel is and how many states there are."""
    ctx.module_context.add_keepalive(kept)
    return jax.ffi.ffi_lowering(handler(device))(ctx, *operands, about=np.int64(about), states=np.int64(states))


mlir.register_lowering(P, _called_back)
mlir.register_lowering(P, _machine_code, platform="cpu")
mlir.register_lowering(P, partial(_on_device, device="cuda"), platform="cuda")


@cache
def handler(device: str) -> str:
    """What XLA calls the way into kernels of the host, or of the back end for a device; "" where it has none.

    The name is this process's own: what XLA keeps compiled has addresses in it, and is nothing to another process.
    """
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    text = header.read_text() if header.is_file() else ""
    address = backends.device(device).xla_handler(text) if device else xla_entry.address(text)
    if not address:
        return ""
    name = f"hinge_{secrets.token_hex(8)}"
    platform = backends.device(device).xla_platform if device else "cpu"
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(address), platform=platform)
    return name
