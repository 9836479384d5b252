"""Where arrays are: on the host, or on a device, and how kernels run on them.

Rollouts, searches and environments hold a place and never ask which. A place makes arrays, and binds kernels to them:

    HostArrays      NumPy arrays, and tensors that share their memory, where the CPU computes
    CopiedArrays    NumPy arrays that are copied to a device, which computes, and back
    DeviceArrays    arrays of a library on a device, in whose stream it computes
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from hinge import backends
from hinge.arguments import Array, real
from hinge.backends import backend_name
from hinge.backends.kernel import DOUBLE, Kernel, Plan, kernel_of
from hinge.errors import NotCovered, SizeError
from hinge.graph import Input

Shape = tuple[int, ...]
PATIENCE = 0.05  # s: how long a chunk of a run takes, so that Ctrl-C is heard
HOST = -1  # in the place of a device's number
MOST = 256  # calls of different kinds that a kernel remembers
ALIGNMENT = 16  # bytes: rows that are read as vectors begin at multiples of it


class ArrayKind(NamedTuple):
    """What a kernel has to know of an array: its shape, NumPy's type of its numbers, and the number of its device."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int


class ArrayLibrary(Protocol):
    """A library of arrays on devices, as kernels need it."""

    exhausted: type[Exception]  # what it raises where there is no memory
    backend: str  # the back end that computes on its device arrays

    def keys(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """What tells calls apart, in the library's own words: shapes, types, devices, and what is contiguous."""

    def places(self, arrays: Sequence[Any]) -> list[int]:
        """The addresses of their numbers."""

    def kind(self, array: Any) -> ArrayKind: ...
    def place(self, array: Any) -> int:
        """The address of its numbers if they are contiguous, else 0."""

    def stream(self, device: int) -> int:
        """The address of the stream in which work on that device goes now."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any: ...
    def maker(self, kind: ArrayKind) -> Callable[[], Any]:
        """Return a function that makes such an array, again and again."""

    def rows(self, array: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """Return a copy of the array, broadcast to that shape, of that type, in memory of its own."""

    def fill(self, out: Any, array: Any) -> None: ...
    def stamp(self, array: Any) -> Any:
        """Return what is another as soon as the array's numbers are, as long as the array lives."""


def require_one_device(call: str, devices: Mapping[str, int]) -> None:
    """Raise for arrays, by their names, that are not all on one device, or all on the host."""
    first = next(iter(devices))
    for name, device in devices.items():
        if device != devices[first]:
            raise SizeError(
                f"{call}: {first} is {_where(devices[first])} and {name} {_where(device)}.\n  Bring them to one place."
            )


def wrong_backend(call: str, backend: str) -> NotCovered:
    """Return the error of a back end of the host that is named for arrays on a device."""
    return NotCovered(f"{call}: backend={backend!r} cannot take arrays on a GPU.\n  Leave it out.")


def _where(device: int) -> str:
    return "on the CPU" if device == HOST else f"on GPU {device}"


class ChunkLength:
    """How many steps are taken at once: as many as are done before somebody may want to stop."""

    def __init__(self, rollouts: int) -> None:
        self.steps = max(1, 4000 // max(1, rollouts))

    @contextmanager
    def of(self, count: int) -> Iterator[None]:
        """A block in which so many steps are taken."""
        spent = -time.monotonic()
        yield
        spent += time.monotonic()
        self.steps = max(1, min(4 * self.steps, int(count * PATIENCE / max(spent, 1e-6))))

    def chunks(self, count: int) -> Iterator[tuple[int, int]]:
        """Yield so many steps in chunks: how many are done before a chunk, and how many it takes."""
        done = 0
        while done < count:
            part = min(self.steps, count - done)
            with self.of(part):
                yield done, part
            done += part


class Window(NamedTuple):
    """What a bound call writes of its records, and which of its inputs stay the same."""

    rows: Callable[[], slice]  # the rows that the next call may write
    clock: int  # the input with the numbers of the call
    first_row: int  # the entry of the clock with the number of the first row
    constant: Collection[int]  # inputs that are the same in every call


class HostArrays:
    """NumPy arrays where the CPU computes; `give` makes of one what a user gets, such as a tensor of its memory."""

    backend: str | None = None

    def __init__(self, dtype: np.dtype[Any] = DOUBLE, give: Callable[[Array], Any] | None = None) -> None:
        self.dtype, self._give = dtype, give

    def empty(self, shape: Shape) -> Any:
        return np.empty(shape, self.dtype)

    def record(self, shape: Shape) -> Any:
        """Return room (rollouts, rows, width) for a record, all of which is going to be written."""
        return self.empty(shape)

    def full(self, shape: Shape, x: float) -> Any:
        made = self.empty(shape)
        made[...] = x
        return made

    def asarray(self, what: str, given: Any) -> Any:
        """Return an array of real numbers; `what` it is called in messages."""
        return real(what, given.detach().numpy() if hasattr(given, "detach") else given)

    def rows(self, given: Any, shape: Shape) -> Any:
        """Return a copy of an array, broadcast to that shape."""
        return np.array(np.broadcast_to(np.asarray(given, self.dtype), shape), order="C")

    def copy(self, given: Any) -> Any:
        """Return a copy of what is given, where kernels take it from."""
        array = self.asarray("array", given)
        return self.rows(array, tuple(array.shape))

    def flat(self, given: Any, one: Input) -> Any:
        """Return an array with one axis for what belongs to a rollout and a step."""
        lead = given.shape[: int(not one.uniform) + int(one.stream)]
        return np.ascontiguousarray(given, self.dtype).reshape(*lead, one.size)

    def give(self, array: Any, dtype: np.dtype[Any] | None = None) -> Any:
        """Return an array as users get it, of another type if one is named."""
        typed = array if dtype is None else array.astype(dtype)
        return typed if self._give is None else self._give(typed)

    def chunks(self, rollouts: int, steps: int) -> Iterable[tuple[int, int]]:
        """Yield steps in chunks, so that Ctrl-C is heard: how many are done before a chunk, and how many it takes."""
        return ChunkLength(rollouts).chunks(steps)

    def lost(self, q: Any) -> Any:
        """Return which states of a record were lost and are NaN; None where it is known that none was."""
        return np.isnan(q[..., 0]) if np.isnan(q[:, -1:, 0]).any() else None

    def status(self, fate: Any, batch: Shape) -> Any:
        """Return the status of rollouts, one byte each."""
        return np.abs(fate[:, 0]).astype(np.uint8).reshape(batch)

    def prepared(self, kernel: Kernel) -> Callable[..., Any]:
        """Return a function that runs a kernel on arrays and returns new ones; it is made once and called often."""
        return kernel

    def bind(self, kernel: Kernel, given: Sequence[Any], outs: Sequence[Any], window: Window | None = None
             ) -> Callable[[], None]:  # fmt: skip
        """Return a call without arguments that reads and writes these very arrays."""
        return kernel.bind(*given, *outs)

    def call(self, plan: Plan, *given: Any) -> Any:
        """Return the one result of a short program for plain rows."""
        return kernel_of(plan, "interpret")(*given)


class CopiedArrays(HostArrays):
    """NumPy arrays that are copied to a device, which computes, and back.

    What does not change from call to call goes there once, and of records the rows that a call writes.
    """

    def __init__(self, backend: str) -> None:
        super().__init__()
        self.backend = backend
        self._device = backends.device(backend)
        self.held: dict[Kernel, Any] = {}

    def bind(self, kernel: Kernel, given: Sequence[Array], outs: Sequence[Array], window: Window | None = None
             ) -> Callable[[], None]:  # fmt: skip
        code: Any = kernel.code(self.dtype)
        if window is None:
            return lambda: code.run(given, outs)
        if kernel not in self.held:
            self.held[kernel] = self._device.hold({k: given[k] for k in window.constant})
        held, records = self.held[kernel], [k - len(given) for k in code.records]

        def call() -> None:
            at, some, parts = window.rows(), list(given), list(outs)
            some[window.clock] = given[window.clock].copy()
            some[window.clock][window.first_row] += at.start
            for k in records:
                parts[k] = np.ascontiguousarray(outs[k][:, at])
            code.run(some, parts, held)
            for k in records:
                outs[k][:, at] = parts[k]

        return call


class DeviceArrays(HostArrays):
    """Arrays of a library on a device, which computes, in the library's stream; nobody waits."""

    def __init__(self, library: Any, device: int, dtype: np.dtype[Any]) -> None:
        super().__init__(dtype)
        self.library, self.device, self.backend = library, device, library.backend
        self._device = backends.device(library.backend)

    def empty(self, shape: Shape) -> Any:
        return self.library.empty(shape, self.dtype, self.device)

    def record(self, shape: Shape) -> Any:
        return self._device.record(self.library, shape, self.dtype, self.device)

    def asarray(self, what: str, given: Any) -> Any:
        if hasattr(given, "shape") and not isinstance(given, np.ndarray):
            return given
        made = self.empty(np.shape(given))
        self._device.put(self.library, self.device, made, np.ascontiguousarray(real(what, given), self.dtype))
        return made

    def rows(self, given: Any, shape: Shape) -> Any:
        return self.library.rows(given, shape, self.dtype)

    def flat(self, given: Any, one: Input) -> Any:
        if isinstance(given, np.ndarray):
            return super().flat(given, one)
        return given.reshape(*given.shape[: int(not one.uniform) + int(one.stream)], one.size)

    def give(self, array: Any, dtype: np.dtype[Any] | None = None) -> Any:
        return array if dtype is None else self.library.rows(array, tuple(array.shape), dtype)

    def chunks(self, rollouts: int, steps: int) -> Iterable[tuple[int, int]]:
        return [(0, steps)]

    def lost(self, q: Any) -> Any:
        return q[..., 0] != q[..., 0]

    def status(self, fate: Any, batch: Shape) -> Any:
        return self.library.rows(abs(fate[:, 0]).reshape(batch), batch, np.dtype(np.uint8))

    def prepared(self, kernel: Kernel) -> Callable[..., Any]:
        entry = kernel.device_entry(self.library)
        return lambda *given: entry(given)

    def bind(self, kernel: Kernel, given: Sequence[Any], outs: Sequence[Any], window: Window | None = None
             ) -> Callable[[], None]:  # fmt: skip
        there = [
            x if isinstance(x, np.ndarray) or self.library.place(x) else self.rows(x, tuple(x.shape)) for x in given
        ]
        return self._device.bind(kernel, self.library, there, outs)

    def call(self, plan: Plan, *given: Any) -> Any:
        return kernel_of(plan, self.backend).device_entry(self.library)(given)[0]


HOST_ARRAYS = HostArrays()


def place_of_backend(backend: str | None) -> HostArrays:
    """Return where rollouts of NumPy arrays run."""
    name = backend_name(backend)
    return CopiedArrays(name) if backends.is_device(name) else HOST_ARRAYS
