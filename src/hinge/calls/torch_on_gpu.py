"""Tensors of torch on a GPU: what torch does for calls that run where they live, in its current stream."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from hinge.backends.cuda.resident import HOST, Seen

TYPES = {torch.float64: "f8", torch.float32: "f4", torch.float16: "f2", torch.bool: "?", torch.uint8: "u1",
         torch.int8: "i1", torch.int16: "i2", torch.int32: "i4", torch.int64: "i8"}  # fmt: skip
OURS = {np.dtype(np.float64): torch.float64, np.dtype(np.float32): torch.float32, np.dtype(np.uint8): torch.uint8}


class Torch:
    """What torch does for calls on its tensors."""

    def seen(self, array: Tensor) -> Seen:
        device = array.get_device() if array.is_cuda else HOST
        return Seen(tuple(array.shape), np.dtype(TYPES[array.dtype]), device, array.data_ptr())

    def stream(self, device: int) -> int:
        return torch.cuda.current_stream(device).cuda_stream

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Tensor:
        return torch.empty(shape, dtype=OURS[dtype], device=f"cuda:{device}")

    def rows(self, array: Tensor, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
        return array.detach().to(OURS[dtype]).expand(shape).contiguous()

    def moved(self, array: Tensor) -> Tensor:
        return array.clone()

    def fill(self, out: Tensor, array: Tensor) -> None:
        out.copy_(array)


LIBRARY = Torch()
