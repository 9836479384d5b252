"""Where the numbers of environments are, and in what arrays they are handed out: NumPy's, torch's, or those on a GPU.

A kernel runs where they are, and gives new arrays in every call; with tensors on a GPU nothing leaves it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from hinge.backends.kernel import DOUBLE, SINGLE, Kernel
from hinge.errors import NotCovered, one_of
from hinge.sim.arrays import There

LIBRARIES = {"torch": "hinge.calls.torch_on_gpu", "cupy": "hinge.calls.cupy_arrays"}


class OnCpu:
    """Arrays of NumPy, handed out as they are."""

    backend: str | None = None

    def __init__(self, number: np.dtype[Any]) -> None:
        self.number = number

    def put(self, array: Any) -> Any:
        """A copy of an array of NumPy, or of one of these, where kernels take it from."""
        return np.array(array, self.number)

    def calling(self, kernel: Kernel) -> Callable[..., tuple[Any, ...]]:
        """A call of a kernel that gives new arrays."""
        return kernel

    def single(self, array: Any) -> Any:
        """Numbers in single precision, as networks take them."""
        return self.given(array.astype(SINGLE))

    def true(self, array: Any) -> Any:
        """Which numbers are one and not zero."""
        return self.given(array > 0.5)

    def byte(self, array: Any) -> Any:
        """Small whole numbers."""
        return self.given(array.astype(np.uint8))

    def given(self, array: Any) -> Any:
        """An array as users get it."""
        return array


class TorchOnCpu(OnCpu):
    """Tensors of torch that share the memory of arrays of NumPy."""

    def put(self, array: Any) -> Any:
        return super().put(array.detach().numpy() if hasattr(array, "detach") else array)

    def given(self, array: Any) -> Any:
        import torch

        return torch.from_numpy(array)


class OnGpu:
    """Arrays of a library on a GPU, in whose stream kernels run."""

    backend = "cuda"

    def __init__(self, library: Any, device: int, number: np.dtype[Any]) -> None:
        self.library, self.place, self.number = library, There(library, device, number), number

    def put(self, array: Any) -> Any:
        there = self.place.real("array", array)
        return self.place.rows(there, tuple(there.shape))

    def calling(self, kernel: Kernel) -> Callable[..., tuple[Any, ...]]:
        from hinge.backends.cuda.resident import Way

        way = Way(kernel, self.library)
        return lambda *given: way(given)

    def single(self, array: Any) -> Any:
        return self.library.rows(array, tuple(array.shape), SINGLE)

    def true(self, array: Any) -> Any:
        return array > 0.5

    def byte(self, array: Any) -> Any:
        return self.library.rows(array, tuple(array.shape), np.dtype(np.uint8))

    def given(self, array: Any) -> Any:
        return array


def where(device: str, arrays: str | None, dtype: Any) -> Any:
    """Where environments are: "cpu", or "cuda" with the number of a GPU; in arrays of that library."""
    kind, _, number = device.partition(":")
    one_of("device", kind, ("cpu", "cuda"))
    if np.dtype(dtype) not in (SINGLE, DOUBLE):
        raise NotCovered(f"dtype is {np.dtype(dtype)}; environments run in float64 or float32.")
    if kind == "cpu":
        arrays = arrays or "numpy"
        one_of('arrays with device="cpu"', arrays, ("numpy", "torch"))
        if arrays == "torch":
            _refuse_missing(arrays)
        return (OnCpu if arrays == "numpy" else TorchOnCpu)(np.dtype(dtype))
    from importlib import import_module

    arrays = arrays or next((name for name in LIBRARIES if find_spec(name)), "torch")
    one_of('arrays with device="cuda"', arrays, tuple(LIBRARIES))
    _refuse_missing(arrays)
    return OnGpu(import_module(LIBRARIES[arrays]).LIBRARY, int(number or 0), np.dtype(dtype))


def _refuse_missing(library: str) -> None:
    """Raise where a library of arrays is not installed."""
    if find_spec(library) is None:
        how = '"hinge[torch]"' if library == "torch" else library
        raise NotCovered(
            f"arrays={library!r} needs the package {library}, which is not installed.\n  pip install {how}"
        )
