"""Algorithms of a robot as CUDA C++: kernels, functions that launch them, a header, and a program that tries them."""

from __future__ import annotations

from collections.abc import Sequence

from hinge import backends
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
    device = backends.device("cuda")
    prefix, made = routines(target, names, method, at, {}, device.cost)
    return device.files(prefix, about(target, ARRAYS), sizes(target.model), made, scalar)
