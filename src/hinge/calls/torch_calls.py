"""Tensors of torch: calls run on their memory, and gradients flow through them.

A call is an `autograd.Function` where tensors are plain, which is quick and goes under torch.func; under torch.compile
and the like it is the operator `hinge::call`, which has rules for shapes, gradients and vmap. The gradient of either is
the call that pulls weights back, in the same way, so that it has gradients too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import count
from typing import Any, Protocol
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version
from torch.nn import Parameter

from hinge.arguments import Array
from hinge.backends.places import HOST, require_one_device
from hinge.calls.call import Call
from hinge.calls.evaluate import Arguments
from hinge.calls.libraries import TARGETS
from hinge.calls.operands import prepared
from hinge.calls.torch_arrays import LIBRARY, PLAIN, TYPES
from hinge.dynamics.registry import default, required_inputs
from hinge.errors import NotCovered, SizeError

_transforms, _modes = torch._C._are_functorch_transforms_active, torch._C._len_torch_dispatch_stack


class Differentiable(Protocol):
    """What gradients flow through: `calls.call.Call` is one.

    Inputs and results are known by their numbers. Axes of an input before its own `axes` are a batch, and broadcast.
    """

    @property
    def axes(self) -> tuple[int, ...]:
        """How many axes one state has of each input."""

    @property
    def results(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each result for one state, without the status."""

    @property
    def status(self) -> bool:
        """Whether a status, a byte a state, comes after the results."""

    def run(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The results, and the status, in fresh memory: in single precision where all inputs are."""

    def run_on(self, library: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The same for arrays of a library that live on a GPU."""

    def vjp(self, by: Sequence[int]) -> Differentiable:
        """Takes a weight for each result after the inputs; gives the gradients by these inputs of their product."""

    def jvp(self, by: Sequence[int]) -> Differentiable:
        """Takes a tangent for each of these inputs after them; gives the rates of the results."""


def run(call: Call, arguments: Arguments, out: Any, check: str, backend: str | None) -> tuple[Any, ...]:
    """Return the results of a call, in tensors."""
    call, tensors = prepared(LIBRARY, call, arguments, check, backend)
    return differentiable(call, tensors) if out is None else _into(call, tensors, out)


class Entry:
    """The way of plain calls with tensors to a kernel, on the CPU and on a GPU."""

    def __init__(self, call: Call):
        self.call = call

    @cached_property
    def _on_gpu(self) -> Any:
        return self.call.device_entry(LIBRARY)

    def enter(self, *given: Any) -> Any:
        """What the call gives for these tensors and the last as `out`; None where it is not that plain."""
        if _transforms() or _modes() or forward_ad._current_level >= 0:
            return None
        *tensors, out = given
        recorded = False
        for x in tensors if out is None else given:
            if type(x) is not Tensor and type(x) is not Parameter:
                return None
            recorded = recorded or x.requires_grad
        recorded = recorded and torch.is_grad_enabled()
        if LIBRARY.device(tensors[0]) != HOST and not recorded:
            made = self._on_gpu(tensors, out)
            if made is not None and out is not None:
                increment_version(out)
        elif out is None and _in_one_place(tensors):
            made = _Plain.apply(self.call, *tensors) if recorded else _run(self.call, tensors)
        else:
            return None
        return made[0] if made is not None and len(made) == 1 else made


def _in_one_place(tensors: Sequence[Tensor]) -> bool:
    """Whether these are numbers that a kernel takes, all on the CPU or all on a GPU."""
    on_gpu = LIBRARY.device(tensors[0]) != HOST
    return all((LIBRARY.device(x) != HOST) is on_gpu and x.dtype in TYPES for x in tensors)


def _into(call: Call, tensors: Sequence[Tensor], out: Any) -> tuple[Tensor, ...]:
    """The results, the first of them in a tensor that is given for it."""
    if not isinstance(out, Tensor):
        raise SizeError(f"{call.name}: out is of type {type(out).__name__}; it has to be a tensor, as others are.")
    if not LIBRARY.seen([*tensors, out]) or (torch.is_grad_enabled() and any(x.requires_grad for x in (*tensors, out))):
        raise NotCovered(f"{call.name}: out= cannot be had with gradients and transforms.\n  Leave it out.")
    increment_version(out)  # torch knows by it that what it has kept of the tensor is no longer so
    if LIBRARY.device(tensors[0]) != HOST:
        return call.run_on(LIBRARY, tensors, out)
    require_one_device(call.name, {call.inputs[0]: LIBRARY.device(tensors[0]), "out": LIBRARY.device(out)})
    made = call.run([x.numpy(force=True) for x in tensors], out.detach().numpy())
    return (out, *(torch.from_numpy(x) for x in made[1:]))


def differentiable(function: Differentiable, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The results of a function of arrays for tensors; gradients flow through it.

    The function has to live as long as what torch.compile has made of it.
    """
    if _transforms():
        return _Transformed.apply(function, *tensors)
    # a tensor of another kind stands for one that is still to come, or a mode listens
    if _modes() or any(type(x) not in PLAIN for x in tensors):
        return tuple(operator(_key(function), list(tensors)))
    if forward_ad._current_level >= 0 or (torch.is_grad_enabled() and any(x.requires_grad for x in tensors)):
        return _Plain.apply(function, *tensors)
    return _run(function, tensors)


class _Plain(torch.autograd.Function):
    """A function of arrays on plain tensors."""

    @staticmethod
    def forward(ctx: Any, function: Differentiable, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.function = function
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        return _run(function, tensors)

    @staticmethod
    def backward(ctx: Any, *weights: Tensor) -> tuple[Tensor | None, ...]:
        return None, *_pulled(ctx.function, ctx.saved_tensors, ctx.needs_input_grad[1:], weights)

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Tensor | None) -> tuple[Tensor | None, ...]:
        by = [k for k, x in enumerate(tangents) if x is not None]
        moving = [x for x in tangents if x is not None]
        rates = differentiable(ctx.function.jvp(by), [*ctx.saved_tensors, *moving])
        return (*rates, None) if ctx.function.status else rates


class _Transformed(_Plain):
    """The same under grad, vmap, jvp and the like of torch.func, which want it in parts."""

    @staticmethod
    def forward(function: Differentiable, *tensors: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        return differentiable(function, tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def vmap(info: Any, at: tuple[Any, ...], function: Differentiable, *tensors: Tensor) -> tuple[Any, Any]:
        made = differentiable(function, _in_front(function, at[1:], tensors))
        return made, (0,) * len(made)


@torch.library.custom_op("hinge::call", mutates_args=())
def operator(key: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The function of that key, run on tensors."""
    return list(_run(_function(key), tensors))


@operator.register_fake
def _(key: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    function = _function(key)
    batch = torch.broadcast_shapes(*(x.shape[: x.ndim - own] for x, own in zip(tensors, function.axes, strict=True)))
    single = all(x.dtype == torch.float32 for x in tensors)
    number = torch.float32 if single else torch.float64
    where = tensors[0].device
    made = [torch.empty((*batch, *shape), dtype=number, device=where) for shape in function.results]
    return [*made, torch.empty(batch, dtype=torch.uint8, device=where)] if function.status else made


def _remember(ctx: Any, inputs: tuple[str, list[Tensor]], output: Any) -> None:
    ctx.key = inputs[0]
    ctx.save_for_backward(*inputs[1])


def _backward(ctx: Any, weights: list[Tensor]) -> tuple[None, list[Tensor | None]]:
    return None, _pulled(_function(ctx.key), ctx.saved_tensors, ctx.needs_input_grad[1], weights)


def _batched(info: Any, at: tuple[Any, Any], key: str, tensors: Sequence[Tensor]) -> tuple[list[Tensor], list[int]]:
    made = operator(key, _in_front(_function(key), at[1], tensors))
    return made, [0] * len(made)


operator.register_autograd(_backward, setup_context=_remember)
operator.register_vmap(_batched)


# torch.compile sees a constant string for a target, and looks no further


@torch.compiler.allow_in_graph
def traced(key: str, name: str, given: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """The method `name` of the target with that key, as a step of a graph."""
    called = default(name).frame_keywords
    left = dict(keywords)
    said = dict(zip(required_inputs(name), given, strict=False))
    said |= {one: left.pop(called.get(one, one)) for one in required_inputs(name) if one not in said}
    arrays = [x for one, x in said.items() if one not in called]
    return TARGETS[key].evaluate(name, arrays, [said[one] for one in called], **left)[0]


_TOKEN, _COUNT = uuid4().hex, count()  # graphs that torch keeps on disk find no other process's functions
_KEYS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_FUNCTIONS: WeakValueDictionary[str, Any] = WeakValueDictionary()


def _key(function: Differentiable) -> str:
    """What a function is called in graphs; it lives as long as somebody else holds it."""
    if function not in _KEYS:
        _KEYS[function] = key = f"{_TOKEN} {next(_COUNT)}"
        _FUNCTIONS[key] = function
    return _KEYS[function]


def _function(key: str) -> Differentiable:
    found = _FUNCTIONS.get(key)
    if found is None:
        raise NotCovered(
            "a graph calls a robot that is gone, or is one of another process.\n  Keep the robot; trace it anew."
        )
    return found


# tensors and arrays


def _run(function: Differentiable, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    if any(LIBRARY.device(x) != HOST for x in tensors):
        return tuple(function.run_on(LIBRARY, tensors))
    arrays = [x.numpy(force=True) for x in tensors]
    return tuple([torch.from_numpy(np.asarray(x)) for x in function.run(arrays)])


def _pulled(
    function: Differentiable, tensors: Sequence[Tensor], wanted: Sequence[bool], weights: Sequence[Tensor]
) -> list[Tensor | None]:
    """The gradients by those inputs for which one is wanted, each summed over the batch that it does not have."""
    by = [k for k, one in enumerate(wanted) if one]
    used = [x for x, _ in zip(weights, function.results, strict=False)]
    made = iter(differentiable(function.vjp(by), [*tensors, *used]))
    return [_like(next(made), x) if one else None for x, one in zip(tensors, wanted, strict=True)]


def _like(gradient: Tensor, x: Tensor) -> Tensor:
    """A gradient by x: of its type, and summed over the batch that x does not have."""
    if gradient.shape != x.shape:
        gradient = gradient.sum_to_size(x.shape)
    return gradient if gradient.dtype == x.dtype else gradient.to(x.dtype)


def _in_front(function: Differentiable, at: Sequence[int | None], tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors with the axis of vmap before the axes of all batches."""
    batch = max(x.ndim - own - (k is not None) for x, own, k in zip(tensors, function.axes, at, strict=True))
    made = []
    for x, own, k in zip(tensors, function.axes, at, strict=True):
        if k is not None:
            x = x.movedim(k, 0)
            x = x.reshape(x.shape[0], *[1] * (batch - (x.ndim - 1 - own)), *x.shape[1:])
        made.append(x)
    return made
