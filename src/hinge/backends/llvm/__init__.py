"""The native back end: vector machine code through LLVM, one lane a state.

Read block (instructions), emit (a program), drive (the loop around it), python (entry points), jit.
"""

from hinge.backends.llvm.block import DOUBLE, SINGLE, Precision
from hinge.backends.llvm.emit import emit
from hinge.backends.llvm.jit import Native, Signature, compile_program, lanes, may_run, processor

__all__ = [
    "DOUBLE", "SINGLE", "Native", "Precision", "Signature", "compile_program", "emit", "lanes", "may_run",
    "processor",
]  # fmt: skip
