"""A compiled algorithm: arrays in, arrays out.

The last axes of an array hold one state; any leading axes are a batch and broadcast. Shapes are checked, then the
states run through one of the back ends, in single precision where every input is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from hinge.backends import interpret
from hinge.backends.memory import empty
from hinge.errors import SizeError, UnknownName, did_you_mean
from hinge.graph import Input, Program

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
Run = Callable[[Sequence[Array], Sequence[Array]], None]
BACKENDS = ("llvm", "interpret")


def default_backend() -> str:
    """The back end used where a call names none: HINGE_BACKEND, or "llvm"."""
    return os.environ.get("HINGE_BACKEND") or "llvm"


class Status(IntEnum):
    """How a state fared: its numbers are good, its equations were singular, or some number was not finite.

    Of contacts also: no forces can hold the bodies apart, and bounces without number came to an end. Of loops: they
    could not be closed.
    """

    OK = 0
    SINGULAR = 1
    NONFINITE = 2
    NO_SOLUTION = 3
    AT_REST = 4
    UNCLOSED = 5


@dataclass(frozen=True, eq=False)
class Plan:
    """What a kernel is made from: what it takes and gives, its name in the cache, and how to trace it if need be."""

    robot: str
    name: str
    inputs: tuple[Input, ...]
    shapes: tuple[Shape, ...]  # of the inputs
    counted: tuple[str, ...]  # what the inputs' lengths are called
    outputs: tuple[Shape, ...]
    trace: Callable[[], Program]
    key: Callable[[], tuple[str, ...]]

    @cached_property
    def program(self) -> Program:
        return self.trace()


class Kernel:
    """One algorithm of one robot, ready to run. Call it with an array for each input."""

    def __init__(self, plan: Plan, backend: str | None = None):
        backend = backend or default_backend()
        if backend not in BACKENDS:
            raise UnknownName(f"there is no back end {backend!r}. {did_you_mean(backend, BACKENDS)}")
        self.plan, self.name, self.backend = plan, plan.name, backend
        self._runs: dict[str, Run] = {}
        self._natives: dict[str, Any] = {}
        self._sizes = tuple(prod(shape) for shape in plan.shapes)
        self._fills: dict[Any, Callable[..., Any]] = {}  # machine code for plain batches, once there is some

    def __repr__(self) -> str:
        inputs = ", ".join(one.name for one in self.plan.inputs)
        return f"<Kernel {self.name}({inputs}) of {self.plan.robot!r}, {self.backend}>"

    @property
    def program(self) -> Program:
        """The straight-line program; traced when asked for."""
        return self.plan.program

    def __call__(self, *given: Any, out: Array | None = None) -> Any:
        if len(given) != len(self.plan.inputs):
            wanted = ", ".join(one.name for one in self.plan.inputs)
            raise SizeError(f"{self.name} takes {wanted}; {len(given)} arrays were given.")
        if out is None and self._fills:
            made = self.filled(*given)
            if made is not None:
                return made
        number = np.float32 if self._single(given) else np.float64
        arrays = [self._array(k, x, number) for k, x in enumerate(given)]
        batch = self._batch(arrays)
        states = prod(batch)
        rows = [self._rows(k, a, batch, states) for k, a in enumerate(arrays)]
        target = None if out is None else self._target(out, batch, self.plan.outputs[0])
        results: list[Array] = [empty((*batch, *shape), number) for shape in self.plan.outputs[1:]]
        first = target if target is not None and self._direct(target, rows, number) else None
        results.insert(0, empty((*batch, *self.plan.outputs[0]), number) if first is None else first)
        if states:
            flat = [a.reshape(states, prod(s)) for a, s in zip(results, self.plan.outputs, strict=True)]
            self._run(number)(rows, flat)
        if target is not None and first is None:
            target[...] = results[0]
            results[0] = target
        return results[0] if len(results) == 1 else tuple(results)

    def filled(self, *given: Any) -> Array | None:
        """The result for a plain batch of rows, straight from machine code, or None."""
        first = given[0]
        if type(first) is not np.ndarray or first.ndim != 2 or not len(first) or first.dtype not in self._fills:
            return None
        states = first.shape[0]
        arrays = [self._repeated(k, x, states) for k, x in enumerate(given)]
        made = empty((states, *self.plan.outputs[0]), first.dtype)
        rows = made if made.ndim == 2 else made.reshape(states, -1)
        return None if self._fills[first.dtype](*arrays, rows) is None else made

    def _repeated(self, k: int, given: Any, states: int) -> Any:
        """One row that is to serve all states, as many times as there are."""
        if type(given) is np.ndarray and given.ndim == len(self.plan.shapes[k]) and not self.plan.inputs[k].uniform:
            return np.repeat(given[None], states, axis=0)
        return given

    def bind(self, *arrays: Array) -> Callable[[], None]:
        """A call without arguments, for control loops: reads and writes these very arrays, results after inputs.

        The arrays have to be contiguous, of one floating type, and of the same batch shape.

        >>> arm = hinge.samples.planar_2r()
        >>> q, tau = np.zeros(2), np.empty(2)
        >>> step = arm.kernel("gravity_force").bind(q, tau)
        >>> q[0] = np.pi / 2
        >>> step()
        """
        given, outs = arrays[: len(self.plan.inputs)], arrays[len(self.plan.inputs) :]
        names = [one.name for one in self.plan.inputs] + ["out"] * len(self.plan.outputs)
        if len(arrays) != len(names):
            told = ", ".join(names[:-1])
            raise SizeError(f"{self.name}: bind takes {told} and {names[-1]}; {len(arrays)} arrays were given.")
        number: Any = next(
            (a.dtype for a in arrays if type(a) is np.ndarray and a.dtype in (np.float32, np.float64)), None
        )
        for name, a in zip(names, arrays, strict=True):
            plain = type(a) is np.ndarray and a.flags.c_contiguous and a.flags.aligned and a.dtype.isnative
            if not plain or a.dtype != number or number not in (np.float32, np.float64):
                raise SizeError(f"{self.name}: bind needs contiguous arrays of one floating type; {name} is not one.")
        checked = [self._array(k, a, number) for k, a in enumerate(given)]
        batch = self._batch(checked)
        for out, shape in zip(outs, self.plan.outputs, strict=True):
            self._target(out, batch, shape)
            if any(np.may_share_memory(out, a) for a in given):
                raise SizeError(f"{self.name}: bind needs an out that shares no memory with an input.")
        for k, a in enumerate(checked):
            if not self.plan.inputs[k].uniform and a.shape != (*batch, *self.plan.shapes[k]):
                raise SizeError(f"{self.name}: bind does not broadcast; {names[k]} has shape {a.shape}.")
        if self.backend == "llvm" and self._native(number.type) is not None:
            return self._native(number.type).bind(given, outs, prod(batch))  # type: ignore[no-any-return]
        return lambda: self._interpret(
            [self._rows(k, a, batch, prod(batch)) for k, a in enumerate(given)],
            [out.reshape(prod(batch), prod(shape)) for out, shape in zip(outs, self.plan.outputs, strict=True)],
        )

    @property
    def fast(self) -> Callable[..., Any] | None:
        """A builtin that runs one state in double precision, or gives None where its arguments are unusual."""
        native = self._native(np.float64) if self.backend == "llvm" else None
        return None if native is None else native.call

    def has_code_for(self, number: type) -> bool:
        """Whether machine code for numbers of that type has been made."""
        return self._natives.get(number.__name__) is not None

    # making the code

    def _run(self, number: type) -> Run:
        run = self._runs.get(number.__name__)
        if run is None:
            native = self._native(number) if self.backend == "llvm" else None
            run = native.run if native is not None else self._interpret
            if native is not None and native.fill is not None:
                self._fills[np.dtype(number)] = native.fill
            self._runs[number.__name__] = run
        return run

    def _interpret(self, rows: Sequence[Array], outs: Sequence[Array]) -> None:
        interpret.run(self.plan.program, rows, outs)

    def _native(self, number: type) -> Any:
        """Machine code for numbers of that type: from the cache, or compiled now; None where it cannot be run."""
        if number.__name__ not in self._natives:
            self._natives[number.__name__] = _machine_code(self.plan, number)
        return self._natives[number.__name__]

    # arrays

    def _single(self, given: Sequence[Any]) -> bool:
        """Whether every array given is in single precision."""
        types = [getattr(x, "dtype", None) for x, one in zip(given, self.plan.inputs, strict=True) if not one.uniform]
        return all(t == np.float32 for t in types)

    def _array(self, k: int, given: Any, number: Any) -> Array:
        name, shape = self.plan.inputs[k].name, self.plan.shapes[k]
        if type(given) is np.ndarray and given.dtype == number:
            a = given
        else:
            try:
                a = np.asarray(given)
                if a.dtype.kind not in "fiub":
                    raise TypeError
                a = a.astype(number, copy=False)
            except (TypeError, ValueError):
                raise SizeError(f"{self.name}: {name} is not an array of real numbers.") from None
        if a.ndim < len(shape) or a.shape[a.ndim - len(shape) :] != shape:
            had = f"{a.shape[-1]} entries" if a.ndim and len(shape) == 1 else f"shape {a.shape}"
            wanted = f"{self.plan.counted[k]} = {shape[0]}" if len(shape) == 1 else f"shape {shape}"
            raise SizeError(f"{self.name}: {name} has {had}, robot {self.plan.robot!r} has {wanted}.")
        return a

    def _batch(self, arrays: Sequence[Array]) -> Shape:
        """The leading axes of the arrays, broadcast."""
        plan = self.plan
        named = [
            (one.name, a.shape[: a.ndim - len(shape)])
            for one, a, shape in zip(plan.inputs, arrays, plan.shapes, strict=True)
            if not one.uniform
        ]
        first = named[0][1] if named else ()
        if all(kind == first for _, kind in named):
            return first
        try:
            return np.broadcast_shapes(*(kind for _, kind in named))
        except ValueError:
            shown = ", ".join(f"{name} {kind}" for name, kind in named)
            raise SizeError(f"{self.name}: the batches do not fit together: {shown}.") from None

    def _rows(self, k: int, a: Array, batch: Shape, states: int) -> Array:
        """An array as contiguous rows, one a state."""
        shape = self.plan.shapes[k]
        if self.plan.inputs[k].uniform:
            return np.ascontiguousarray(a.reshape(-1))
        if a.shape[: a.ndim - len(shape)] != batch:
            a = np.broadcast_to(a, (*batch, *shape))
        rows = a.reshape(states, self._sizes[k])
        return rows if rows.flags.c_contiguous and rows.flags.aligned else np.array(rows, order="C")

    def _target(self, out: Any, batch: Shape, shape: Shape) -> Array:
        wanted = (*batch, *shape)
        if not isinstance(out, np.ndarray) or out.dtype.kind != "f" or out.shape != wanted or not out.flags.writeable:
            had = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise SizeError(f"{self.name}: out is {had}; it has to be a writable array of floats with shape {wanted}.")
        return out

    @staticmethod
    def _direct(target: Array, rows: Sequence[Array], number: type) -> bool:
        """Whether results can be written straight into an array given for them."""
        plain = target.dtype == number and target.flags.c_contiguous and target.flags.aligned
        return plain and not any(np.may_share_memory(target, r) for r in rows)


def _machine_code(plan: Plan, number: type) -> Any:
    from hinge.backends import cache
    from hinge.backends.llvm import DOUBLE, SINGLE, Native, Signature, compile_program, may_run

    if not may_run():
        return None
    precision = SINGLE if number is np.float32 else DOUBLE
    key = cache.key(*plan.key(), precision.name)
    found = cache.find(key)
    if found is not None:
        return Native.opened(*found)
    code, signature = compile_program(plan.program, precision), Signature.of(plan.program, precision)
    cache.keep(key, signature, code)
    return Native.opened(signature, code)
