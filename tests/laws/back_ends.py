"""Programs on every back end there is: the interpreter, machine code of any width, and C where it can be compiled."""

import ctypes
import shutil
import subprocess
import tempfile
from math import prod
from pathlib import Path

import numpy as np

from hinge.backends import c, interpret
from hinge.backends.llvm import DOUBLE, SINGLE, Native

COMPILER = next((found for found in map(shutil.which, ("cc", "gcc", "clang")) if found), None)
PRECISION = {np.float64: DOUBLE, np.float32: SINGLE}
REAL = {np.float64: c.REALS["double"], np.float32: c.REALS["float"]}


def interpreted(program, x):
    out = np.empty((len(x), len(program.outputs[0].entries)), x.dtype)
    interpret.run(program, [x], [out])
    return out


def native(program, x, lanes):
    """What machine code on vectors of that many numbers gives, for a program with one input and one output."""
    out = np.full((len(x), len(program.outputs[0].entries)), 77.0, x.dtype)
    Native(program, PRECISION[x.dtype.type], lanes).run([x], [out])
    return out


def in_c(program, x, *flags):
    """What C gives, a state at a time."""
    out = np.full((len(x), len(program.outputs[0].entries)), 77.0, x.dtype)
    run_in_c(program, [x], [out], *flags)
    return out


def run_in_c(program, arrays, outs, *flags):
    """Fill `outs` from `arrays` in C, a state at a time."""
    inputs = tuple(c.Array(f"in{k}", one.size, "") for k, one in enumerate(program.inputs))
    outputs = tuple(c.Array(f"out{k}", prod(one.shape), "") for k, one in enumerate(program.outputs))
    routine = c.Routine("f", program, inputs, outputs, "")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "code.c"), Path(folder, "code.so")
        source.write_text(c.code([routine], REAL[outs[0].dtype.type]), encoding="utf-8")
        strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC", *flags]
        run = subprocess.run([COMPILER, *strict, "-o", library, source, "-lm"], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        function = ctypes.CDLL(str(library)).f
        function.restype = None
        kinds = (*program.inputs, *program.outputs)
        for state in range(len(outs[0])):
            given = []
            for one, array in zip(kinds, (*arrays, *outs), strict=True):
                row = array if getattr(one, "uniform", False) else array[state]
                given.append(ctypes.c_void_p(row.ctypes.data))
                given += [ctypes.c_long(len(row))] if one.stream else []
            function(*given)


def same_bits(a, b):
    """Whether two arrays hold the same bits; any NaN is as good as another."""
    whole = np.uint64 if a.dtype == np.float64 else np.uint32
    return (a.view(whole) == b.view(whole)) | (np.isnan(a) & np.isnan(b))
