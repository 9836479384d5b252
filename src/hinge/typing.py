"""The types of what users give and get, to annotate functions of one's own with.

from hinge.typing import Array

def control(t: float, q: Array, qd: Array) -> Array:
    return robot.gravity_force(q) - 5.0 * qd
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, Protocol, TypeVar

import numpy as np

Shape = tuple[Any, ...]
Array = np.ndarray[Shape, np.dtype[np.float64]]  # what calls give
Single = np.ndarray[Shape, np.dtype[np.float32]]  # what they give where all they are given is of single precision
Statuses = np.ndarray[Shape, np.dtype[np.uint8]]  # a `hinge.Status` for each state
Flags = np.ndarray[Shape, np.dtype[np.bool]]
Whole = np.ndarray[Shape, np.dtype[np.intp]]
AnyArray = np.ndarray[Shape, np.dtype[Any]]

# What NumPy reads as an array of real numbers: one, an array, or either in lists; and what of that is not `Single`.
Number = float | np.floating[Any] | np.integer[Any]
_Entry = Number | np.ndarray[Shape, np.dtype[np.floating[Any] | np.integer[Any] | np.bool]]
_Double = Number | np.ndarray[Shape, np.dtype[np.float64 | np.integer[Any] | np.bool]]
Numbers = _Entry | Sequence[_Entry] | Sequence[Sequence[_Entry]] | Sequence[Sequence[Sequence[_Entry]]]
Doubles = _Double | Sequence[_Double] | Sequence[Sequence[_Double]] | Sequence[Sequence[Sequence[_Double]]]

# of t, q, qd, and of inputs where it has some: joint forces (nv)
Control = Callable[[float, Array, Array], Numbers] | Callable[Concatenate[float, Array, Array, ...], Numbers]
Moving = Callable[[float], tuple[Numbers, Numbers, Numbers]]  # of t: a place, its velocity and acceleration


# what is said in words in many calls; the tables of these words are made from here
Backend = Literal["llvm", "interpret", "cuda"]
Check = Literal["sizes", "values"]
Frame = Literal["body", "base", "aligned"]
Law = Literal["rigid", "soft"]
Limits = Literal["ignore", "stop", "spring"]
LoopWay = Literal["project", "baumgarte", "independent"]
Term = Literal["armature", "damping", "friction", "stiffness"]


class Motion(Protocol):
    """Coordinates (…, nq), velocities and accelerations (…, nv) at times (…), for so many seconds."""

    @property
    def duration(self) -> float: ...

    def __call__(self, t: Array, /) -> tuple[Numbers, Numbers, Numbers]: ...


class OnCuda(Protocol):
    """An array of CuPy or torch, known by what it offers CUDA; one of torch's may live elsewhere."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


class OfJax(Protocol):
    """An array of JAX, known by what only these have."""

    def block_until_ready(self) -> Any: ...


Other = TypeVar("Other", bound=OnCuda | OfJax)  # arrays of another library: calls give the kind that they are given
