"""Tensors of torch on a GPU: what torch does for calls that run where they live, in its current stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from hinge.backends.cuda.resident import HOST, Kind

TYPES = {kind: np.dtype(str(kind).removeprefix("torch.")) for kind in (
    torch.float64, torch.float32, torch.float16, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
    torch.int64,
)}  # fmt: skip
OURS = {np.dtype(np.float64): torch.float64, np.dtype(np.float32): torch.float32, np.dtype(np.uint8): torch.uint8}


class Torch:
    """What torch does for calls on its tensors."""

    def kind(self, array: Tensor) -> Kind:
        return Kind(tuple(array.shape), TYPES[array.dtype], array.get_device() if array.is_cuda else HOST)

    def place(self, array: Tensor) -> int:
        return array.data_ptr() if array.is_contiguous() else 0

    def stream(self, device: int) -> int:
        return torch.cuda.current_stream(device).cuda_stream

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Tensor:
        return torch.empty(shape, dtype=OURS[dtype], device=f"cuda:{device}")

    def rows(self, array: Tensor, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
        return array.detach().expand(shape).to(OURS[dtype], memory_format=torch.contiguous_format, copy=True)

    def fill(self, out: Tensor, array: Tensor) -> None:
        out.copy_(array)

    def stamp(self, array: Tensor) -> tuple[int, ...]:
        return array.data_ptr(), array._version, *array.shape, *array.stride()


LIBRARY = Torch()
