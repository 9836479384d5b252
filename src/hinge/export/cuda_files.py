"""Algorithms of a robot as CUDA C++: kernels, functions that launch them, a header, and a program that tries them."""

from __future__ import annotations

from collections.abc import Sequence

from hinge.backends import c
from hinge.backends.cuda import cost, nvcc_files
from hinge.calls.target import Target
from hinge.export.c_files import EXPORTED, about, routines, sizes
from hinge.export.programs import Frames

ARRAYS = (
    "An array is on the GPU and has a row for each state, at an address that 16 divides. Functions put their work into",
    "the stream and return; no array may overlap an output. Compile with nvcc --fmad=false, and an -arch of your own,",
    "for the bits that hinge gives. A state that has no answer gives NaN.",
)


def cuda_files(
    target: Target,
    names: Sequence[str] = EXPORTED,
    scalar: str = "double",
    method: str | None = None,
    at: Frames = "",
) -> dict[str, str]:
    """File name → text: a header, a file for each algorithm, and a program that tries them."""
    prefix, made = routines(target, names, method, at, {}, cost)
    real = c.REALS[scalar]
    return {
        f"{prefix}.cuh": nvcc_files.header(prefix, about(target, ARRAYS), sizes(target.model), made, real),
        **{f"{one.name}.cu": nvcc_files.code(prefix, one, real) for one in made},
        f"{prefix}_test.cu": nvcc_files.test_main(prefix, made, real),
    }
