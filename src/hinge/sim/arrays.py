"""Where the arrays of rollouts are, and how a kernel runs on them: NumPy's, or those of a library on a GPU.

Arrays of either kind are indexed, compared and reshaped alike; all that differs is here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hinge.arguments import Array, real
from hinge.backends import backend_name
from hinge.backends.kernel import DOUBLE, Kernel, Plan
from hinge.calls.target import Target
from hinge.graph import Input

Shape = tuple[int, ...]
Window = Callable[[], slice]  # the rows of records that the next call may write
CLOCK = ("start", "first", "done", "h", "steps", "every", "row", "last")  # s and numbers of steps and rows
CHANGING = ("q", "qd", "fate", "clock", "tau")  # inputs that are others from call to call
PATIENCE = 0.05  # s: how long a part of a run takes, so that Ctrl-C is heard


class Pace:
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

    def parts(self, count: int) -> Iterator[tuple[int, int]]:
        """So many steps in parts: how many are done before a part, and how many it takes."""
        done = 0
        while done < count:
            part = min(self.steps, count - done)
            with self.of(part):
                yield done, part
            done += part


class Here:
    """Arrays of NumPy, in double precision, where the CPU computes."""

    number: np.dtype[Any] = DOUBLE

    def empty(self, shape: Shape) -> Any:
        return np.empty(shape)

    def record(self, shape: Shape) -> Any:
        """Room (rollouts, rows, width) for a record, all of which is going to be written."""
        return self.empty(shape)

    def full(self, shape: Shape, x: float) -> Any:
        made = self.empty(shape)
        made[...] = x
        return made

    def rows(self, given: Any, shape: Shape) -> Any:
        """A copy of an array, broadcast to that shape."""
        return np.array(np.broadcast_to(np.asarray(given, float), shape), order="C")

    def flat(self, given: Any, one: Input) -> Any:
        """An array with one axis for what belongs to a rollout and a step."""
        lead = given.shape[: int(not one.uniform) + int(one.stream)]
        return np.ascontiguousarray(given, float).reshape(*lead, one.size)

    def parts(self, rollouts: int, steps: int) -> Iterable[tuple[int, int]]:
        """Steps in parts, so that Ctrl-C is heard: how many are done before a part, and how many it takes."""
        return Pace(rollouts).parts(steps)

    def real(self, what: str, given: Any) -> Any:
        """What is given as an array of real numbers."""
        return real(what, given)

    def lost(self, q: Any) -> Any:
        """Which states of a record were lost, and are NaN; None where it is known that none was."""
        return np.isnan(q[..., 0]) if np.isnan(q[:, -1:, 0]).any() else None

    def status(self, fate: Any, batch: Shape) -> Any:
        """The status of rollouts that fare so, a byte each."""
        return np.abs(fate[:, 0]).astype(np.uint8).reshape(batch)

    def bind(self, kernel: Kernel, given: Sequence[Any], outs: Sequence[Any], rows: Window | None = None
             ) -> Callable[[], None]:  # fmt: skip
        """A call without arguments that reads and writes these very arrays."""
        return kernel.bind(*given, *outs)

    def call(self, target: Target, plan: Plan, *given: Any) -> Any:
        """The one result of a short program for plain rows."""
        return self._short(target, plan, "interpret")(*given)

    def _short(self, target: Target, plan: Plan, backend: str) -> Kernel:
        return target.kernels.kernel(plan.name, backend, lambda name: Kernel(plan, name))


class Copied(Here):
    """Arrays of NumPy, in double precision, that are copied to a GPU, which computes, and back.

    What does not change from call to call goes there once, and of records the rows that a call writes.
    """

    def __init__(self) -> None:
        self.there: dict[Kernel, Any] = {}

    def bind(self, kernel: Kernel, given: Sequence[Array], outs: Sequence[Array], rows: Window | None = None
             ) -> Callable[[], None]:  # fmt: skip
        from hinge.backends.cuda.device import gpu

        code: Any = kernel.code(self.number)
        if rows is None:
            return lambda: code.run(given, outs)
        names = [one.name for one in kernel.plan.inputs]
        if kernel not in self.there:
            self.there[kernel] = gpu().held({k: x for k, x in enumerate(given) if names[k] not in CHANGING})
        there = self.there[kernel]
        clock, records = names.index("clock"), [k - len(given) for k in code.records]

        def call() -> None:
            at, some, parts = rows(), list(given), list(outs)
            some[clock] = given[clock].copy()
            some[clock][CLOCK.index("row")] += at.start
            for k in records:
                parts[k] = np.ascontiguousarray(outs[k][:, at])
            code.run(some, parts, there)
            for k in records:
                outs[k][:, at] = parts[k]

        return call


class There(Here):
    """Arrays of a library on a GPU, which computes, in the library's stream; nobody waits."""

    def __init__(self, library: Any, device: int, number: np.dtype[Any]) -> None:
        self.library, self.device, self.number = library, device, number

    def empty(self, shape: Shape) -> Any:
        return self.library.empty(shape, self.number, self.device)

    def record(self, shape: Shape) -> Any:
        from hinge.backends.cuda import resident

        return resident.record(self.library, shape, self.number, self.device)

    def rows(self, given: Any, shape: Shape) -> Any:
        return self.library.rows(given, shape, self.number)

    def flat(self, given: Any, one: Input) -> Any:
        if isinstance(given, np.ndarray):
            return super().flat(given, one)
        return given.reshape(*given.shape[: int(not one.uniform) + int(one.stream)], one.size)

    def parts(self, rollouts: int, steps: int) -> Iterable[tuple[int, int]]:
        return [(0, steps)]

    def real(self, what: str, given: Any) -> Any:
        if hasattr(given, "shape") and not isinstance(given, np.ndarray):
            return given
        from hinge.backends.cuda.device import gpu

        numbers = np.ascontiguousarray(real(what, given), self.number)
        made = self.empty(np.shape(given))
        gpu(self.device).put(self.library.place(made), numbers, self.library.stream(self.device))
        return made

    def lost(self, q: Any) -> Any:
        return q[..., 0] != q[..., 0]

    def status(self, fate: Any, batch: Shape) -> Any:
        return self.library.rows(abs(fate[:, 0]).reshape(batch), batch, np.dtype(np.uint8))

    def bind(self, kernel: Kernel, given: Sequence[Any], outs: Sequence[Any], rows: Window | None = None
             ) -> Callable[[], None]:  # fmt: skip
        from hinge.backends.cuda import resident

        there = [
            x if isinstance(x, np.ndarray) or self.library.place(x) else self.rows(x, tuple(x.shape)) for x in given
        ]
        return resident.bind(kernel, self.library, there, outs)

    def call(self, target: Target, plan: Plan, *given: Any) -> Any:
        from hinge.backends.cuda import resident

        return resident.Way(self._short(target, plan, "cuda"), self.library)(given)[0]


HERE = Here()


def where(backend: str | None) -> Here:
    """Where rollouts of NumPy's arrays run."""
    return Copied() if backend_name(backend) == "cuda" else HERE
