"""What is said where there is no GPU to be had, or not enough of it: each message, whole."""

import sys
from types import SimpleNamespace

import fake_gpu
import numpy as np
import pytest

import hinge
from hinge.backends.cuda import device
from hinge.errors import DeviceError

FOUND = device.driver.__wrapped__


@pytest.fixture
def bindings(monkeypatch):
    """cuda-bindings with a driver of our own."""

    def put(driver):
        found = SimpleNamespace(driver=driver) if driver else None
        monkeypatch.setitem(sys.modules, "cuda", SimpleNamespace(bindings=found))
        monkeypatch.setitem(sys.modules, "cuda.bindings", found)

    return put


def refused(call, *given, **how):
    with pytest.raises(DeviceError) as caught:
        call(*given, **how)
    return str(caught.value)


def test_no_driver_to_speak_of(bindings):
    bindings(None)
    with pytest.raises(DeviceError, match=r'backend="cuda" needs cuda-bindings, .*\n  It comes with: pip install "hin'):
        FOUND()

    def missing(flags):
        raise RuntimeError("no libcuda.so.1")

    bindings(SimpleNamespace(cuInit=missing))
    assert refused(FOUND) == (
        'backend="cuda" needs NVIDIA\'s driver, which is not there: no libcuda.so.1\n'
        '  Install it, or use backend="llvm".'
    )
    bindings(fake_gpu.Driver(started=fake_gpu.Result.CUDA_ERROR_NO_DEVICE))
    assert refused(FOUND) == 'backend="cuda" finds no GPU: no device.\n  Use backend="llvm".'
    bindings(fake_gpu.Driver(version=12080))
    assert refused(FOUND) == (
        'backend="cuda" needs a driver for CUDA 13.0 or later; this one is for 12.8.\n  Update it.'
    )


def test_a_gpu_that_is_not_there(monkeypatch):
    fake_gpu.put_in(monkeypatch, gpus=1)
    assert refused(device.gpu, 3) == "there is no GPU 3: this machine has 1."


@pytest.mark.parametrize("asked_in_vain", [False, True])
def test_no_memory_is_said_before_anything_is_lost(monkeypatch, asked_in_vain):
    driver = fake_gpu.put_in(monkeypatch, free=600)
    q, out = np.ones((20, 2)), np.full((20, 2), 7.0)
    if asked_in_vain:  # the driver has less than it says
        driver.free = 10**6
        monkeypatch.setattr(driver, "cuMemAlloc", lambda size: (fake_gpu.Result.CUDA_ERROR_OUT_OF_MEMORY, 0))
    free = driver.free
    assert refused(hinge.samples.planar_2r().gravity_force, q, out=out, backend="cuda") == (
        f"GPU 0 (stand-in) has no memory for 1024 bytes: {free} of its {2 * free} are free.\n"
        "  Give fewer states at a time, or ask for less of each."
    )
    assert (out == 7.0).all()
    assert not driver.memory
    assert driver.contexts == [0]


def test_gpus_of_two_kinds(monkeypatch):
    fake_gpu.put_in(monkeypatch, second=8)
    code = hinge.samples.planar_2r().kernel("gravity_force", backend="cuda").code(np.dtype(float))
    assert refused(code.launching, device.gpu(1), 2, (), 5) == (
        "programs are compiled for GPU 0 (stand-in) of sm_90, and GPU 1 (stand-in) is of sm_88.\n"
        "  Set CUDA_VISIBLE_DEVICES to GPUs of one kind."
    )


def test_a_program_that_fails_is_said_and_its_memory_is_given_back(monkeypatch):
    driver = fake_gpu.put_in(monkeypatch)
    driver.answer = fake_gpu.Result.CUDA_ERROR_LAUNCH_FAILED
    assert refused(hinge.samples.planar_2r().gravity_force, np.ones(2), backend="cuda") == (
        "a program on GPU 0 (stand-in): launch failed (CUDA_ERROR_LAUNCH_FAILED)."
    )
    assert not driver.memory
