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

    def __init__(self, robot: str, name: str, program: Program, shapes: Sequence[Shape], sizes: Sequence[str],
                 backend: str):  # fmt: skip
        self.robot, self.name, self.program, self.backend = robot, name, program, backend
        self._shapes, self._sizes = tuple(shapes), tuple(sizes)
        self._uniform = tuple(one.uniform for one in program.inputs)
        self._out_shape = program.outputs[0].shape
        self._out_size = prod(self._out_shape)
        self._run = runner(program, backend)

    def __repr__(self) -> str:
        inputs = ", ".join(one.name for one in self.program.inputs)
        return (
            f"<Kernel {self.name}({inputs}) of {self.robot!r}, {self.backend}, {len(self.program.code)} instructions>"
        )

    def __call__(self, *given: Any, out: Array | None = None) -> Array:
        if len(given) != len(self._shapes):
            wanted = ", ".join(one.name for one in self.program.inputs)
            raise SizeError(f"{self.name} takes {wanted}; {len(given)} arrays were given.")
        arrays = [self._array(k, x) for k, x in enumerate(given)]
        batch = self._batch(arrays)
        states = prod(batch)
        rows = [self._rows(k, a, batch, states) for k, a in enumerate(arrays)]
        target = None if out is None else self._target(out, batch)
        made = target
        if target is None or not self._direct(target, rows):
            made = np.empty((*batch, *self._out_shape))
        assert made is not None
        if states:
            self._run(rows, [made.reshape(states, self._out_size)])
        if target is None:
            return made.astype(np.float32) if self._single(given) else made
        if made is not target:
            target[...] = made
        return target

    def _batch(self, arrays: Sequence[Array]) -> Shape:
        """The leading axes of the arrays, broadcast."""
        kinds = [
            a.shape[: a.ndim - len(s)] for a, s, u in zip(arrays, self._shapes, self._uniform, strict=True) if not u
        ]
        if all(kind == kinds[0] for kind in kinds):
            return kinds[0]
        try:
            return np.broadcast_shapes(*kinds)
        except ValueError:
            named = [one.name for one in self.program.inputs if not one.uniform]
            shown = ", ".join(f"{name} {kind}" for name, kind in zip(named, kinds, strict=True))
            raise SizeError(f"{self.name}: the batches do not fit together: {shown}.") from None

    def _single(self, given: Sequence[Any]) -> bool:
        """Whether every array given was in single precision."""
        types = [getattr(x, "dtype", None) for x, u in zip(given, self._uniform, strict=True) if not u]
        return all(t == np.float32 for t in types)

    @staticmethod
    def _direct(target: Array, rows: Sequence[Array]) -> bool:
        """Whether results can be written straight into an array given for them."""
        plain = target.dtype == np.float64 and target.flags.c_contiguous and target.flags.aligned
        return plain and not any(np.may_share_memory(target, r) for r in rows)

    def _array(self, k: int, given: Any) -> Array:
        name, shape = self.program.inputs[k].name, self._shapes[k]
        if type(given) is np.ndarray and given.dtype == np.float64:
            a = given
        else:
            try:
                a = np.asarray(given)
                if a.dtype.kind not in "fiub":
                    raise TypeError
                a = a.astype(np.float64, copy=False)
            except (TypeError, ValueError):
                raise SizeError(f"{self.name}: {name} is not an array of real numbers.") from None
        if a.shape[a.ndim - len(shape) :] != shape or a.ndim < len(shape):
            had = f"{a.shape[-1]} entries" if a.ndim and len(shape) == 1 else f"shape {a.shape}"
            raise SizeError(f"{self.name}: {name} has {had}, robot {self.robot!r} has {self._wanted(k)}.")
        return a

    def _wanted(self, k: int) -> str:
        return f"{self._sizes[k]} = {self._shapes[k][0]}" if len(self._shapes[k]) == 1 else f"shape {self._shapes[k]}"

    def _rows(self, k: int, a: Array, batch: Shape, states: int) -> Array:
        """An array as contiguous rows, one a state."""
        shape = self._shapes[k]
        if self._uniform[k]:
            return np.ascontiguousarray(a.reshape(-1))
        if a.shape[: a.ndim - len(shape)] != batch:
            a = np.broadcast_to(a, (*batch, *shape))
        if a.flags.c_contiguous and a.flags.aligned:
            return a if a.ndim == 2 and len(shape) == 1 else a.reshape(states, prod(shape))
        return np.ascontiguousarray(a.reshape(states, prod(shape)), dtype=np.float64)

    def _target(self, out: Any, batch: Shape) -> Array:
        wanted = (*batch, *self._out_shape)
        if not isinstance(out, np.ndarray) or out.dtype.kind != "f" or out.shape != wanted or not out.flags.writeable:
            had = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise SizeError(f"{self.name}: out is {had}; it has to be a writable array of floats with shape {wanted}.")
        return out
