"""What torch does for calls on its tensors: where they are, memory for results, and the stream they go into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hinge.arguments import Array, real
from hinge.backends.places import HOST, ArrayKind
from hinge.errors import NotCovered, SizeError

PLAIN = (Tensor, torch.nn.Parameter)
TYPES = {kind: np.dtype(str(kind).removeprefix("torch.")) for kind in (
    torch.float64, torch.float32, torch.float16, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
    torch.int64,
)}  # fmt: skip
OURS = {np.dtype(np.float64): torch.float64, np.dtype(np.float32): torch.float32, np.dtype(np.uint8): torch.uint8}


class Torch:
    """Tensors of torch, on the CPU and on GPUs."""

    functions = torch
    exhausted = torch.OutOfMemoryError
    backend = "cuda"  # for tensors on a GPU

    # what is given

    def owns(self, given: Any) -> bool:
        return isinstance(given, Tensor)

    def plain(self, given: Any) -> bool:
        """Whether it can be taken as it is."""
        return isinstance(given, Tensor) and given.dtype in TYPES and (given.is_cpu or given.is_cuda)

    def device(self, array: Tensor) -> int:
        return array.get_device() if array.is_cuda else HOST

    def seen(self, arrays: Sequence[Any]) -> bool:
        """Whether there are numbers yet: torch does not trace, and transforms nothing."""
        traced = torch._C._are_functorch_transforms_active() or torch._C._len_torch_dispatch_stack()
        return not traced and all(type(x) in (np.ndarray, *PLAIN) for x in arrays)

    def array(self, what: str, given: Any, constant: Callable[[Array], Tensor]) -> Tensor:
        """What is given as a tensor; arrays of NumPy are constants, which nobody changes any more."""
        if not isinstance(given, Tensor):
            x = real(what, given)
            return torch.tensor(x) if hasattr(given, "dtype") else constant(x)
        if given.device.type not in ("cpu", "cuda"):
            raise NotCovered(
                f"{what} is a tensor on {given.device}; it has to be on the CPU or a GPU of NVIDIA.\n  Give x.cpu()."
            )
        if given.dtype not in TYPES:
            raise SizeError(
                f"{what} is a tensor of {given.dtype}; it has to be float64 or float32.\n  Give x.double()."
            )
        return given

    def constant(self, given: Array, where: int, number: np.dtype[Any]) -> Tensor:
        if where == HOST or not self.seen(()):
            return torch.tensor(given, dtype=OURS[number], device=_named(where))
        return _constant(given.astype(number).tobytes(), given.shape, number, where)

    def at(self, where: int) -> Any:
        return nullcontext()  # torch works where its tensors are

    def host(self, array: Tensor) -> Array:
        return array.numpy(force=True)

    # where it is

    def keys(self, arrays: Sequence[Tensor]) -> tuple[Any, ...]:
        return tuple([(x.shape, x.dtype, x.get_device(), x.is_contiguous()) for x in arrays])

    def places(self, arrays: Sequence[Tensor]) -> list[int]:
        return [x.data_ptr() for x in arrays]

    def kind(self, array: Tensor) -> ArrayKind:
        if array.dtype not in TYPES:
            raise SizeError(
                f"a tensor of {array.dtype} was given; it has to be float64 or float32.\n  Give x.double()."
            )
        return ArrayKind(tuple(array.shape), TYPES[array.dtype], self.device(array))

    def place(self, array: Tensor) -> int:
        return array.data_ptr() if array.is_contiguous() else 0

    def stream(self, device: int) -> int:
        return torch._C._cuda_getCurrentRawStream(device)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Tensor:
        return torch.empty(shape, dtype=OURS[dtype], device=_named(device))

    def maker(self, kind: ArrayKind) -> Callable[[], Tensor]:
        like = torch.empty(kind.shape, device="meta")
        return partial(
            torch.empty_strided, kind.shape, like.stride(), dtype=OURS[kind.dtype], device=_named(kind.device)
        )

    def rows(self, array: Tensor, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Tensor:
        return array.detach().expand(shape).to(OURS[dtype], memory_format=torch.contiguous_format, copy=True)

    def fill(self, out: Tensor, array: Tensor) -> None:
        out.copy_(array)

    def stamp(self, array: Tensor) -> tuple[int, ...]:
        return array.data_ptr(), array._version, *array.shape, *array.stride()


@cache
def _named(device: int) -> torch.device:
    return torch.device("cpu" if device == HOST else f"cuda:{device}")


@lru_cache(256)
def _constant(numbers: bytes, shape: tuple[int, ...], number: np.dtype[Any], where: int) -> Tensor:
    """A tensor that is the same in every call; to put one on a GPU takes its time."""
    with torch.inference_mode(False):
        return torch.tensor(np.frombuffer(numbers, number).reshape(shape), device=_named(where))


LIBRARY = Torch()
