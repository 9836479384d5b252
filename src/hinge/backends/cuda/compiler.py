"""NVRTC: CUDA C++ to machine code of a GPU, which need not be there."""

from __future__ import annotations

import functools
from typing import Any

from hinge.errors import DeviceError

# no contraction but ours, and roundings, roots and subnormal numbers as IEEE 754 has them
OPTIONS = ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
EXTRA = 'It comes with: pip install "hinge[cuda]"'


@functools.cache
def nvrtc() -> Any:
    """NVRTC as cuda-bindings has it."""
    try:
        from cuda.bindings import nvrtc as found

        found.nvrtcVersion()
    except (ImportError, RuntimeError, OSError) as fault:
        raise DeviceError(f"CUDA programs are compiled by NVRTC, which is not there: {fault}.\n  {EXTRA}") from None
    return found


@functools.cache
def version() -> str:
    """The compiler's version."""
    return ".".join(map(str, _checked(nvrtc().nvrtcVersion())))


def compiled(source: str, name: str, architecture: int, part: int = 0) -> bytes:
    """The machine code of a part of a text for GPUs of a compute capability, 90 for 9.0."""
    rtc = nvrtc()
    program = _checked(rtc.nvrtcCreateProgram(source.encode(), f"{name}.cu".encode(), 0, [], []))
    options = [f"--gpu-architecture=sm_{architecture}", f"--define-macro=PART={part}", *OPTIONS]
    try:
        (status,) = rtc.nvrtcCompileProgram(program, len(options), [one.encode() for one in options])
        if status == rtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            raise DeviceError(
                f"NVRTC {version()} does not know the architecture sm_{architecture}.\n"
                '  Take a newer one: pip install -U nvidia-cuda-nvrtc, or use backend="llvm".'
            )
        if status != rtc.nvrtcResult.NVRTC_SUCCESS:
            log = bytearray(_checked(rtc.nvrtcGetProgramLogSize(program)))
            _checked(rtc.nvrtcGetProgramLog(program, log))
            raise DeviceError(f"NVRTC {version()} does not take {name}: {log.decode(errors='replace').strip()}")
        code = bytearray(_checked(rtc.nvrtcGetCUBINSize(program)))
        _checked(rtc.nvrtcGetCUBIN(program, code))
    finally:
        rtc.nvrtcDestroyProgram(program)
    return bytes(code)


def _checked(answer: tuple[Any, ...]) -> Any:
    """What a call gives, if all went well."""
    status, *made = answer
    if status.value:
        raise DeviceError(f"NVRTC says {nvrtc().nvrtcGetErrorString(status)[1].decode()}.")
    return made[0] if len(made) == 1 else tuple(made)
