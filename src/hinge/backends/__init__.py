"""Who does the arithmetic: a row for each back end, and what a row has to say.

    class Mine(Backend):
        name = "mine"
        operations = frozenset({"add", "mul", …})

        def compile(self, program, dtype):
            return MyCode(program)          # a Code: it runs, and may bind and have a fast entry

    hinge.backends.register(Mine())
    robot.inverse_dynamics(q, qd, qdd, backend="mine")

A kernel checks shapes and puts arrays into rows; a back end gets a program and rows, and knows nothing of robots.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, get_args

import numpy as np

from hinge.backends import memory
from hinge.errors import NotCovered, UnknownName, did_you_mean
from hinge.graph import Program
from hinge.typing import Backend as BackendName


class Code:
    """A program that one can run."""

    content = b""  # what `Backend.opened` makes the same code from
    # Runs a call on its arguments and `out` (or None) as they were given. Returns None unless they are plain arrays
    # that fit; the caller then takes the ordinary path, which checks the arguments and raises the errors.
    enter: Callable[..., Any] | None = None

    def run(self, arrays: Sequence[Any], outs: Sequence[Any]) -> None:
        """Fill `outs` from `arrays`: contiguous, (states, size) each, or (size,) where one row serves all states."""
        raise NotImplementedError

    def bind(self, arrays: Sequence[Any], outs: Sequence[Any]) -> Callable[[], None]:
        """A call without arguments that fills `outs` from these very arrays, which it keeps alive."""
        return lambda: self.run(arrays, outs)


class Backend:
    """Someone who runs programs: its name, the operations it knows, and how it compiles."""

    name = ""
    operations: Collection[str] = ()
    meanwhile = ""  # the back end, of the same bits, that serves until compiling is worth its time
    alone = ""  # the back end, of the same bits, that is quicker where there is one state, and a program iterates

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Memory for a result."""
        return memory.empty(shape, dtype)

    def cost(self, program: Program) -> float:
        """What a state of a program costs here: of methods that compete, the cheapest serves."""
        return program.operations

    def compile(self, program: Program, dtype: np.dtype[Any]) -> Code:
        """The program ready to run on numbers of that type."""
        raise NotImplementedError(f"back end {self.name!r} does not say how it compiles")

    def key(self, dtype: np.dtype[Any]) -> tuple[str, ...]:
        """What compiled code depends on besides the program; nothing where none is kept on disk."""
        return ()

    def opened(self, content: bytes, dtype: np.dtype[Any]) -> Code:
        """Code that was compiled earlier and kept on disk."""
        raise NotImplementedError

    def serving(self) -> Backend:
        """This back end, or the one that has to serve in its place here."""
        return self


class DeviceBackend(Backend):
    """A back end that computes on devices with memory of their own, for arrays that live there.

    A `library` of arrays is an `ArrayLibrary` of backends/places.py.
    """

    xla_platform = ""  # what XLA calls such devices, where it can enter compiled code

    def entry(self, kernel: Any, library: Any) -> Callable[..., tuple[Any, ...]]:
        """Return a function that runs a kernel on a sequence of device arrays, and on `out`, and returns new ones."""
        raise NotImplementedError

    def bind(self, kernel: Any, library: Any, given: Sequence[Any], outs: Sequence[Any]) -> Callable[[], None]:
        """Return a call without arguments on these very arrays; NumPy arrays are copied there in every call."""
        raise NotImplementedError

    def record(self, library: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """Return an array (states, rows, width) for a record, as the programs of this back end write it."""
        raise NotImplementedError

    def put(self, library: Any, device: int, array: Any, numbers: np.ndarray[Any, Any]) -> None:
        """Copy the numbers of a NumPy array into a device array."""
        raise NotImplementedError

    def hold(self, arrays: dict[int, Any]) -> Any:
        """Return copies of NumPy arrays on the first device, by their numbers, as `Code.run` takes them."""
        raise NotImplementedError

    def source(self, program: Program, scalar: str, name: str) -> str:
        """Return a program as source text, for numbers of type "double" or "float"."""
        raise NotImplementedError

    def files(
        self, prefix: str, about: Sequence[str], sizes: Any, routines: Sequence[Any], scalar: str
    ) -> dict[str, str]:
        """Return file name → source text: a header, a file for each routine, and a program that tries them."""
        raise NotImplementedError

    def xla_handler(self, header: str) -> Any:
        """Return a handler for XLA, whose interface has that header; None where it is not known."""
        return None

    def xla_launch(self, code: Any, arrays: int, states: int) -> Any:
        """Return what the handler is told of compiled code, with its address as `place`; None where it cannot run."""
        return None


# name → where the back end is, or itself once it has been used; each module has it under the name BACKEND
_ROWS: dict[str, str | Backend] = {name: f"hinge.backends.{name}" for name in get_args(BackendName)}


def default_backend() -> str:
    """The back end used where a call names none: HINGE_BACKEND, or "llvm"."""
    return os.environ.get("HINGE_BACKEND") or "llvm"


def backend_name(backend: str | None) -> str:
    """Return the name of the back end of a call: the one that it names, or the default."""
    if backend is not None and not isinstance(backend, str):
        raise UnknownName(f"backend is {backend!r}. Give the name of a back end, such as {default_backend()!r}.")
    return backend or default_backend()


def register(backend: Backend) -> None:
    """Add a back end to the table, under its name."""
    if not isinstance(backend, Backend) or not backend.name:
        raise NotCovered(
            f"{backend!r} is no back end: give an instance of a class made from hinge.backends.Backend, with a name."
        )
    _ROWS[backend.name] = backend


def find(name: str) -> Backend:
    """The back end of that name."""
    row = _ROWS.get(name)
    if row is None:
        stand_ins = {row.alone for row in _ROWS.values() if isinstance(row, Backend)}
        raise UnknownName(f"there is no back end {name!r}. {did_you_mean(name, _ROWS.keys() - stand_ins)}")
    if isinstance(row, str):
        row = _ROWS[name] = importlib.import_module(row).BACKEND
    return row.serving()


def device(name: str) -> DeviceBackend:
    """Return the back end of that name, which computes on a device."""
    found = find(name)
    if not isinstance(found, DeviceBackend):
        raise NotCovered(f"back end {name!r} computes on the host. Give a back end for a device.")
    return found


def is_device(name: str) -> bool:
    """Return whether the back end of that name computes on a device."""
    return name in _ROWS and isinstance(find(name), DeviceBackend)


def alone(name: str) -> str:
    """The back end in the place of that one for one state of a program that iterates."""
    return find(name).alone or name


def compiled(backend: Backend, program: Program, dtype: np.dtype[Any], what: str) -> Code:
    """A program ready to run, if the back end knows every operation of it."""
    missing = {op for op, _ in program.code} - {"input", *backend.operations}
    if missing:
        words = ", ".join(map(repr, sorted(missing)))
        raise NotCovered(
            f"back end {backend.name!r} has no {words}, which {what} needs.\n"
            "  Add it to the back end's operations, or use another back end."
        )
    return backend.compile(program, dtype)
