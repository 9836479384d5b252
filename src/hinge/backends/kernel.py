"""A compiled algorithm: arrays in, arrays out.

The last axes of an array hold one state; any leading axes are a batch and broadcast. Shapes are checked, then the
states run through one of the back ends, in single precision where every input is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeVar

import numpy as np

from hinge import backends
from hinge.arguments import Array, affordable, memory
from hinge.backends import Backend, Code, backend_name, cache
from hinge.errors import HingeError, SizeError
from hinge.graph import Input, Program, replay
from hinge.graph.arrays import Symbols, symbols
from hinge.graph.order import ROWS
from hinge.keys import Opaque, digest_of

Result = TypeVar("Result")

Shape = tuple[int, ...]
DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
FEW, SEVERAL = 64, 16  # states and calls that are not worth compiling for


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything a kernel is made from: its inputs and outputs, how to trace its program, and the source of that.

    `source` is the frozen, hashable value that the program is traced from. It finds the kernel in `memo`, and its
    digest finds the program on disk without tracing (hinge/keys.py). A source that is not data is known on disk by its
    traced program. With `status` the last output is a status, one byte per state.
    """

    robot: str
    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Shape, ...]
    trace: Callable[[Backend], Program]  # costs on a back end decide between methods
    source: Hashable
    memo: Memo
    status: bool = False
    compile_late: bool = False  # after several calls or for many states: for frames that a call names
    iterates: bool = False  # contains an iterative solver: another back end may be faster for a single state

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shape of each input for one state."""
        return tuple(one.given_shape for one in self.inputs)

    @cached_property
    def source_digest(self) -> str | None:
        """The digest of the source; None where only the program tells what it computes."""
        try:
            return digest_of(self.source)
        except Opaque:
            return None


def kernel_of(plan: Plan, backend: str | None = None, states: int = 0) -> Kernel:
    """Return the kernel of a plan, made once for each source and back end. No other function makes kernels.

    `states` is the number of states of each call, where that is known.
    """
    name = backend_name(backend)
    if states == 1 and plan.iterates:
        name = backends.alone(name)
    return plan.memo.kernel(plan, name)


class Kernel:
    """One algorithm of one robot, ready to run. Call it with an array for each input."""

    def __init__(self, plan: Plan, backend: str):
        self.plan, self.name, self.backend = plan, plan.name, backend
        self._served = backends.find(backend)
        self._codes: dict[np.dtype[Any], Code] = {}
        late = plan.compile_late and self._served.meanwhile
        self._waiting = SEVERAL if late else 0  # calls before it is compiled
        self._meanwhile: dict[np.dtype[Any], Code] = {}
        self.entries: tuple[Callable[..., Any], ...] = ()  # of what is compiled: they take a plain call as it comes
        self.enter: Callable[..., Any] = self._enter  # tries each of them

    def __repr__(self) -> str:
        inputs = ", ".join(one.name for one in self.plan.inputs)
        return f"<Kernel {self.name}({inputs}) of {self.plan.robot!r}, {self.backend}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        """Return the kernel itself: compiled code has no state to copy."""
        return self

    @cached_property
    def program(self) -> Program:
        """The program; traced when asked for."""
        return self.plan.trace(self._served)

    @cached_property
    def program_digest(self) -> str:
        """The digest of the program, which is traced for it."""
        return hashlib.sha256(repr(self.program).encode()).hexdigest()

    def __call__(self, *given: Any, out: Array | None = None, rows: int | Sequence[int] | None = None) -> Any:
        """The results, one array each. Of those with rows by step, `rows` says how many; NaN stands in any not written.

        An array given as `out` takes the first result, and keeps the rows that are not written.
        """
        made = self.enter(*given, out)
        if made is not None:
            return made
        if len(given) != len(self.plan.inputs):
            raise SizeError(self._miscounted(given))
        if any(isinstance(x, Symbols) for x in given):
            return self._inlined(given, out)
        number = SINGLE if self._single(given) else DOUBLE
        arrays = [self._array(k, x, number) for k, x in enumerate(given)]
        batch = self._batch(arrays)
        states = prod(batch)
        flat = [self._rows(k, a, batch, states) for k, a in enumerate(arrays)]
        shapes = self._shapes(out, rows)
        if states > FEW:
            hint = "Give fewer states at a time, or ask for less of each."
            affordable(f"{self.name}: what it gives", states * sum(map(prod, shapes)), hint, memory())
        target = None if out is None else self._target(out, batch, shapes[0])
        direct = target is not None and self._direct(target, flat, number)
        results: list[Any] = [
            target if direct and not k else self._served.empty((*batch, *shape), self.type_of(k, number))
            for k, shape in enumerate(shapes)
        ]
        for k, shape in enumerate(self.plan.outputs):
            if ROWS in shape and results[k] is not target:
                results[k][...] = np.nan if k or target is None else target
        if states:
            self._code_for(number, states).run(
                flat, [_flat(a, states, s) for a, s in zip(results, self.plan.outputs, strict=True)]
            )
        if target is not None and not direct:
            target[...] = results[0]
            results[0] = target
        return results[0] if len(results) == 1 else tuple(results)

    def _enter(self, *given: Any) -> Any:
        """What the first entry makes of a call that does not find it unusual, or None."""
        for enter in self.entries:
            made = enter(*given)
            if made is not None:
                return made
        return None

    def _inlined(self, given: Sequence[Any], out: Array | None) -> Any:
        """The results as symbols, where symbols are among what is given: the program becomes part of their graph."""
        if out is not None:
            raise SizeError(f"{self.name}: out= cannot hold symbols. Leave it out in what is traced.")
        rows = [
            np.asarray(x, object) if isinstance(x, Symbols) else self._array(k, x, np.float64)
            for k, x in enumerate(given)
        ]
        for one, row, shape in zip(self.plan.inputs, rows, self.plan.shapes, strict=True):
            if row.shape[max(0, row.ndim - len(shape)) :] != shape:
                raise SizeError(
                    f"{self.name}: {one.name} has shape {row.shape}; traced, with robot "
                    f"{self.plan.robot!r}, it is one state, {shape}, or several."
                )
        pairs = list(zip(rows, self.plan.shapes, strict=True))
        batch = np.broadcast_shapes(*(row.shape[: row.ndim - len(shape)] for row, shape in pairs))
        states = [np.broadcast_to(row, (*batch, *shape)).reshape(prod(batch), -1).tolist() for row, shape in pairs]
        made = [replay(self.program, list(state)) for state in zip(*states, strict=True)]
        results = [
            symbols([state[k] for state in made]).reshape((*batch, *shape)) for k, shape in enumerate(self.plan.outputs)
        ]
        return results[0] if len(results) == 1 else tuple(results)

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
        number: Any = next((a.dtype for a in arrays if type(a) is np.ndarray and a.dtype in (SINGLE, DOUBLE)), None)
        for k, (name, a) in enumerate(zip(names, arrays, strict=True)):
            plain = type(a) is np.ndarray and a.flags.c_contiguous and a.flags.aligned and a.dtype.isnative
            if not plain or number is None or a.dtype != self.type_of(k - len(given), number):
                raise SizeError(f"{self.name}: bind needs contiguous arrays of one floating type; {name} is not one.")
        checked = [self._array(k, a, number) for k, a in enumerate(given)]
        batch = self._batch(checked)
        for out, shape in zip(outs, self.plan.outputs, strict=True):
            self._target(out, batch, _filled(shape, out), "fu")
            if any(np.may_share_memory(out, a) for a in given):
                raise SizeError(f"{self.name}: bind needs an out that shares no memory with an input.")
        for k, a in enumerate(checked):
            if not self.plan.inputs[k].uniform and a.shape != (*batch, *_own(a, self.plan.shapes[k])):
                raise SizeError(f"{self.name}: bind does not broadcast; {names[k]} has shape {a.shape}.")
        rows = [self._rows(k, a, batch, prod(batch)) for k, a in enumerate(given)]
        results = [_flat(out, prod(batch), s) for out, s in zip(outs, self.plan.outputs, strict=True)]
        return self.code(number).bind(rows, results)

    def device_entry(self, library: Any) -> Callable[..., tuple[Any, ...]]:
        """Return a function that runs it on a sequence of device arrays of a library, and on `out`."""
        return backends.device(self.backend).entry(self, library)

    def batch(self, given: Sequence[Array]) -> Shape:
        """The leading axes of what a call would be given, broadcast; refused where a call would refuse it."""
        if len(given) != len(self.plan.inputs):
            raise SizeError(self._miscounted(given))
        return self._batch([self._array(k, x, x.dtype) for k, x in enumerate(given)])

    def _miscounted(self, given: Sequence[Any]) -> str:
        wanted = ", ".join(one.name for one in self.plan.inputs)
        return f"{self.name} takes {wanted}; {len(given)} arrays were given."

    def code(self, number: np.dtype[Any]) -> Code:
        """The program ready to run on numbers of that type: from the cache, or compiled now."""
        return self._codes.get(number) or self._ready(number, self._kept(number) or self._compiled(number))

    def _code_for(self, number: np.dtype[Any], states: int) -> Code:
        """The code for a call with so many states, which may be the only one."""
        if not self._waiting or states > FEW or number in self._codes:
            return self.code(number)
        self._waiting -= 1
        if number not in self._meanwhile:
            found = self._kept(number)
            if found:
                return self._ready(number, found)
            self._meanwhile[number] = self._made(backends.find(self._served.meanwhile), number)
        return self._meanwhile[number]

    def _ready(self, number: np.dtype[Any], code: Code) -> Code:
        """The code, from now on the way of calls with numbers of that type."""
        self._codes[number] = code
        known = (self._codes.get(kind) for kind in (DOUBLE, SINGLE))
        self.entries = tuple(one.enter for one in known if one is not None and one.enter is not None)
        self.enter = self.entries[0] if len(self.entries) == 1 else self._enter
        return code

    def _kept(self, number: np.dtype[Any]) -> Code | None:
        """The code as it was compiled earlier, in this process or another."""
        depends = self._served.key(number)
        if not depends or cache.folder() is None:
            return None
        found = cache.find(self._code_key(depends, self._program_digest(depends)))
        return None if found is None else self._served.opened(found, number)

    def _program_digest(self, depends: Sequence[str]) -> str:
        """The digest of the program, found in the cache by the digest of its source, or by tracing it.

        Two sources that lead to one program share its code: a source that is described too closely costs a trace, and
        no compilation.
        """
        plan = self.plan
        if plan.source_digest is None:
            return self.program_digest
        index = cache.key("source", self._served.name, *depends, plan.source_digest)
        known = cache.find(index, "shared")
        if known is None:
            cache.keep(index, self.program_digest.encode(), "shared")
            return self.program_digest
        if cache.verifies() and known.decode() != self.program_digest:
            raise stale(f"the source of {self!r} leads to another program on disk")
        return known.decode()

    def _code_key(self, depends: Sequence[str], program: str) -> str:
        """The name of the code on disk."""
        return cache.key("program", self._served.name, *depends, program)

    def _compiled(self, number: np.dtype[Any]) -> Code:
        code, depends = self._made(self._served, number), self._served.key(number)
        if depends:
            about = (self.plan.robot, self.name, self.backend, number.name)
            cache.keep(self._code_key(depends, self.program_digest), code.content, about=about)
        return code

    def _made(self, backend: Backend, number: np.dtype[Any]) -> Code:
        return backends.compiled(backend, self.program, number, f"{self.name} of robot {self.plan.robot!r}")

    # arrays

    def fitted(self, seen: Sequence[Any], out: Any = None) -> tuple[np.dtype[Any], Shape, list[Shape]]:
        """The type of numbers, the batch and the shapes of results, for arrays that live elsewhere and only have a
        shape and a type here."""
        if len(seen) != len(self.plan.inputs):
            raise SizeError(self._miscounted(seen))
        number = SINGLE if self._single(seen) else DOUBLE
        arrays = []
        for k, one in enumerate(seen):
            kind = number if one.dtype.kind in "fiub" else one.dtype
            arrays.append(self._array(k, np.broadcast_to(np.empty((), kind), one.shape), number))
        batch, shapes = self._batch(arrays), self._shapes(None, None)
        if out is not None and (out.shape != (*batch, *shapes[0]) or out.dtype.kind != "f"):
            raise SizeError(
                f"{self.name}: out is {out.dtype} {out.shape}; it has to be an array of floats with shape "
                f"{_said((*batch, *shapes[0]))}."
            )
        return number, batch, shapes

    def type_of(self, k: int, number: np.dtype[Any]) -> np.dtype[Any]:
        """The type of result k: bytes for a status, which is the last."""
        return np.dtype(np.uint8) if self.plan.status and k == len(self.plan.outputs) - 1 else number

    def _single(self, given: Sequence[Any]) -> bool:
        """Whether every array given is in single precision."""
        types = [getattr(x, "dtype", None) for x, one in zip(given, self.plan.inputs, strict=True) if not one.uniform]
        return all(t == SINGLE for t in types)

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
        if a.ndim < len(shape) or _own(a, shape) != _filled(shape, a):
            had = f"{a.shape[-1]} entries" if a.ndim and len(shape) == 1 else f"shape {a.shape}"
            label = self.plan.inputs[k].label
            wanted = f"{label} = {shape[0]}" if label and len(shape) == 1 else f"shape {_said(shape)}"
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
            return np.ascontiguousarray(a.reshape(_own(a, shape) if ROWS in shape else -1))
        if a.shape[: a.ndim - len(shape)] != batch:
            a = np.broadcast_to(a, (*batch, *_own(a, shape)))
        rows = _flat(a, states, shape)
        return rows if rows.flags.c_contiguous and rows.flags.aligned else np.array(rows, order="C")

    def _shapes(self, out: Any, rows: int | Sequence[int] | None) -> list[Shape]:
        """The shapes of the results for one state, with as many rows by step as are asked for, or `out` has."""
        made = list(self.plan.outputs)
        streams = [k for k, shape in enumerate(made) if ROWS in shape]
        counts = list(rows) if isinstance(rows, Sequence) else [rows] * len(streams)
        if len(counts) != len(streams) or (rows is not None and not streams):
            raise SizeError(f"{self.name}: rows is {rows}; {len(streams)} results have rows by step.")
        for k, count in zip(streams, counts, strict=True):
            if count is not None:
                made[k] = tuple(count if n == ROWS else n for n in made[k])
            elif not k:
                made[k] = _filled(made[k], out)
            if ROWS in made[k]:
                raise SizeError(f"{self.name}: say with rows= how many rows by step a result has.")
        return made

    def _target(self, out: Any, batch: Shape, shape: Shape, kinds: str = "f") -> Array:
        wanted = (*batch, *shape)
        if (
            not isinstance(out, np.ndarray)
            or out.dtype.kind not in kinds
            or out.shape != wanted
            or not out.flags.writeable
        ):
            had = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise SizeError(
                f"{self.name}: out is {had}; it has to be a writable array of floats with shape {_said(wanted)}."
            )
        return out

    @staticmethod
    def _direct(target: Array, rows: Sequence[Array], number: np.dtype[Any]) -> bool:
        """Whether results can be written straight into an array given for them."""
        plain = target.dtype == number and target.flags.c_contiguous and target.flags.aligned
        return plain and not any(np.may_share_memory(target, r) for r in rows)


def _own(a: Array, shape: Shape) -> tuple[int, ...]:
    """The axes of an array that hold one state of that shape."""
    return a.shape[max(0, a.ndim - len(shape)) :]


def _filled(shape: Shape, a: Any) -> Shape:
    """A shape with the rows by step that an array has, where it has as many axes."""
    own = _own(a, shape) if isinstance(a, np.ndarray) else ()
    return tuple(b if n == ROWS else n for n, b in zip(shape, own, strict=True)) if len(own) == len(shape) else shape


def _flat(a: Array, states: int, shape: Shape) -> Array:
    """An array with one axis for the states, and one for the numbers of each; of rows by step, two."""
    return a.reshape(states, *(_own(a, shape) if ROWS in shape else (prod(shape),)))


def _said(shape: Shape) -> str:
    return str(tuple(shape)).replace(str(ROWS), "rows")


class Memo:
    """What was computed once for one owner, such as a robot: results of functions, and kernels.

    A result is found by the function and its arguments, a kernel by the source of its plan and its back end. Nobody
    writes a key. With HINGE_CACHE=verify a kernel is compared with the next plan of an equal source.
    """

    def __init__(self) -> None:
        self._results: dict[Any, Any] = {}
        self._kernels: dict[tuple[Hashable, str], Kernel] = {}
        self._verified: set[tuple[Hashable, str]] = set()

    def __len__(self) -> int:
        """The number of kernels."""
        return len(self._kernels)

    def __call__(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Return function(*arguments), computed at the first call; the arguments have to be hashable."""
        key = function, arguments
        found: Any = self._results.get(key, self)
        if found is self:
            found = self._results[key] = function(*arguments)
        return found

    def kernel(self, plan: Plan, backend: str) -> Kernel:
        """Return the kernel of a plan for a back end. Use `kernel_of`, which chooses the back end."""
        key = plan.source, backend
        found = self._kernels.get(key)
        if found is None:
            return self._kernels.setdefault(key, Kernel(plan, backend))
        if found.plan is not plan and key not in self._verified and cache.verifies():
            self._verified.add(key)
            if Kernel(plan, backend).program_digest != found.program_digest:
                raise stale(f"the source {plan.source!r} leads in memory to {found!r}, which has another program")
        return found


def stale(fault: str) -> HingeError:
    """Return the error of a key that leads to a kernel of another program."""
    return HingeError(f"HINGE_CACHE=verify: {fault}.\n  This is a fault of hinge. Please report it.")
