"""Where the numbers of environments are, and in what arrays they are handed out: NumPy's, torch's, or on a device.

A kernel runs where they are, and gives new arrays in every call; with tensors on a GPU nothing leaves it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends.kernel import DOUBLE, SINGLE
from hinge.backends.places import DeviceArrays, HostArrays
from hinge.errors import NotCovered, one_of

LIBRARIES = {"torch": "hinge.calls.torch_arrays", "cupy": "hinge.calls.cupy_arrays"}


def _tensor(array: Array) -> Any:
    import torch

    return torch.from_numpy(array)


def place_of(device: str, arrays: str | None, dtype: Any) -> HostArrays:
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
            return HostArrays(np.dtype(dtype), _tensor)
        return HostArrays(np.dtype(dtype))
    arrays = arrays or next((name for name in LIBRARIES if find_spec(name)), "torch")
    one_of('arrays with device="cuda"', arrays, tuple(LIBRARIES))
    _refuse_missing(arrays)
    return DeviceArrays(import_module(LIBRARIES[arrays]).LIBRARY, int(number or 0), np.dtype(dtype))


def _refuse_missing(library: str) -> None:
    """Raise where a library of arrays is not installed."""
    if find_spec(library) is None:
        how = '"hinge[torch]"' if library == "torch" else library
        raise NotCovered(
            f"arrays={library!r} needs the package {library}, which is not installed.\n  pip install {how}"
        )
