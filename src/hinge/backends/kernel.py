"""A compiled algorithm: arrays in, arrays out.

The last axes of an array hold one state; any leading axes are a batch and broadcast. Shapes are checked, then the
states run through one of the back ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from hinge.backends import interpret
from hinge.errors import SizeError, UnknownName, did_you_mean
from hinge.graph import Program

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
BACKENDS = ("llvm", "interpret")
Run = Callable[[Sequence[Array], Sequence[Array]], None]


def runner(program: Program, backend: str) -> Run:
    """The function that runs a program on contiguous arrays."""
    if backend not in BACKENDS:
        raise UnknownName(f"there is no back end {backend!r}. {did_you_mean(backend, BACKENDS)}")
    if backend == "llvm":
        from hinge.backends.llvm import Native

        try:
            return Native(program).run
        except OSError as refused:  # the system may forbid memory that is both written and run
            warnings.warn(f"machine code cannot be run here ({refused}); the slow interpreter serves.", stacklevel=5)
    return lambda arrays, outs: interpret.run(program, arrays, outs)


class Kernel:
    """One algorithm of one robot, ready to run. Call it with an array for each input."""

    def __init__(self, robot: str, name: str, program: Program, shapes: Sequence[Shape], sizes: str, backend: str):
        self.robot, self.name, self.program, self.backend = robot, name, program, backend
        self._shapes, self._sizes = tuple(shapes), sizes
        self._uniform = tuple(one.uniform for one in program.inputs)
        self._out_shape = program.outputs[0].shape
        self._run = runner(program, backend)

    def __repr__(self) -> str:
        inputs = ", ".join(one.name for one in self.program.inputs)
        return f"<Kernel {self.name}({inputs}) of {self.robot!r}, {self.backend}, {len(self.program.code)} instructions>"

    def __call__(self, *given: Any, out: Array | None = None) -> Array:
        arrays = [self._array(k, x) for k, x in enumerate(given)]
        kinds = [a.shape[: a.ndim - len(s)] for a, s, u in zip(arrays, self._shapes, self._uniform, strict=True) if not u]
        try:
            batch = np.broadcast_shapes(*kinds)
        except ValueError:
            shown = ", ".join(f"{one.name} {k}" for one, k in zip(self.program.inputs, kinds, strict=False))
            raise SizeError(f"{self.name}: the batches do not fit together: {shown}.") from None
        states = prod(batch)
        rows = [
            self._rows(a, s, u, batch, states) for a, s, u in zip(arrays, self._shapes, self._uniform, strict=True)
        ]
        single = all(np.asarray(x).dtype == np.float32 for x, u in zip(given, self._uniform, strict=True) if not u)
        target = None if out is None else self._target(out, batch)
        direct = target is not None and target.flags.c_contiguous and target.dtype == np.float64
        direct = direct and not any(np.may_share_memory(target, r) for r in rows)
        made = target if direct and target is not None else np.empty((*batch, *self._out_shape))
        if states:
            self._run(rows, [made.reshape(states, prod(self._out_shape))])
        if target is None:
            return made.astype(np.float32) if single else made
        if not direct:
            target[...] = made
        return target

    def _array(self, k: int, given: Any) -> Array:
        name, shape = self.program.inputs[k].name, self._shapes[k]
        try:
            a = np.asarray(given)
            if a.dtype.kind not in "fiub":
                raise TypeError
            a = a.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise SizeError(f"{self.name}: {name} is not an array of real numbers.") from None
        if a.ndim < len(shape) or a.shape[a.ndim - len(shape) :] != shape:
            had = f"{a.shape[-1]} entries" if a.ndim and len(shape) == 1 else f"shape {a.shape}"
            raise SizeError(
                f"{self.name}: {name} has {had}, robot {self.robot!r} has {self._sizes}.\n"
                f"  Give {name} with {shape[-1] if len(shape) == 1 else shape} along the last ax{'i' if len(shape) == 1 else 'e'}s."
            )
        return a

    def _rows(self, a: Array, shape: Shape, uniform: bool, batch: Shape, states: int) -> Array:
        if uniform:
            return np.ascontiguousarray(a.reshape(-1))
        if a.shape[: a.ndim - len(shape)] != batch:
            a = np.broadcast_to(a, (*batch, *shape))
        return np.ascontiguousarray(a.reshape(states, prod(shape)))

    def _target(self, out: Any, batch: Shape) -> Array:
        wanted = (*batch, *self._out_shape)
        if not isinstance(out, np.ndarray) or out.dtype.kind != "f" or out.shape != wanted or not out.flags.writeable:
            had = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise SizeError(f"{self.name}: out is {had}; it has to be a writable array of floats with shape {wanted}.")
        return out
