"""The native back end: vector machine code through LLVM, one lane a state.

Read block (instructions), emit (a program), batch_loop (the loop around it); spread (threads) and cpython_entry
(calls), which all kernels share; jit.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from hinge import backends
from hinge.backends import Backend, Code
from hinge.backends.llvm.block import DOUBLE, SINGLE, Precision
from hinge.backends.llvm.emit import emit
from hinge.backends.llvm.jit import PRECISIONS, Native, circumstances, lanes, may_run, processor
from hinge.graph import OPS, Program
from hinge.graph.order import STRUCTURE

__all__ = ["BACKEND", "DOUBLE", "SINGLE", "Native", "Precision", "emit", "lanes", "may_run", "processor"]


class Machine(Backend):
    """This processor's own vector instructions."""

    name = "llvm"
    meanwhile = "interpret"
    alone = "llvm_alone"
    width = 0  # states in a block; 0 is as many as the program likes

    @property
    def operations(self) -> Collection[str]:  # type: ignore[override]
        return OPS.keys() | STRUCTURE

    def compile(self, program: Program, dtype: np.dtype[Any]) -> Code:
        return Native(program, PRECISIONS[dtype], self.width)

    def key(self, dtype: np.dtype[Any]) -> tuple[str, ...]:
        return (*circumstances(), dtype.name)

    def opened(self, content: bytes, dtype: np.dtype[Any]) -> Code:
        return Native.opened(content, PRECISIONS[dtype])

    def serving(self) -> Backend:
        """The interpreter, where the system does not let machine code run."""
        return self if may_run() else backends.find("interpret")


class Alone(Machine):
    """The same with vectors of two: of a wide one, lanes that nobody needs read memory too."""

    name = "llvm_alone"
    alone = ""
    width = 2


BACKEND = Machine()
backends.register(Alone())
