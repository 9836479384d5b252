"""Environments in tensors: those of NumPy, on the CPU and on a GPU, which nothing leaves."""

import interpreted_gpu
import numpy as np
import pytest
from env_tasks import Arm, Thrown
from gpus import with_gpu

from hinge.envs import VectorEnv
from hinge.errors import UnknownName

N = 7


modes = pytest.mark.parametrize("mode", ["next_step", "same_step"])


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: pip install 'hinge[torch]'")


def on_host(x):
    return x.get() if hasattr(x, "get") else np.asarray(x.cpu()) if hasattr(x, "cpu") else np.asarray(x)


def compared(ours, theirs, put, close=0.0, steps=40):
    """Run both alike, and look at all that they hand out."""
    rng, size, ends = np.random.default_rng(1), ours.single_action_space.shape[0], 0
    there, here = theirs.reset(seed=5)[0], ours.reset(seed=5)[0]
    np.testing.assert_allclose(on_host(there), here, rtol=close, atol=close)
    for _ in range(steps):
        action = rng.uniform(-1.0, 1.0, (ours.num_envs, size))
        a, b = ours.step(action), theirs.step(put(action))
        for x, y in zip(a[:4], b[:4], strict=True):
            y = on_host(y)
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x.astype(float), y.astype(float), rtol=close, atol=close)
        assert set(a[4]) == set(b[4])
        for name in ("status", "_status", "final_obs", "_final_obs"):
            if name in a[4]:
                np.testing.assert_allclose(on_host(b[4][name]).astype(float), a[4][name].astype(float), atol=close)
        ends += (a[2] | a[3]).sum()
    return ends


@pytest.mark.sampled(1)
@modes
def test_tensors_on_the_cpu_are_the_same_numbers(torch, mode):
    ours, theirs = VectorEnv(Arm(), N, mode), VectorEnv(Arm(), N, mode, arrays="torch")
    assert compared(ours, theirs, torch.tensor) >= N
    seen, reward, ended, _, _ = theirs.step(torch.zeros((N, 2), requires_grad=True))
    assert (seen.dtype, reward.dtype, ended.dtype) == (torch.float32, torch.float32, torch.bool)
    kept = theirs.state()
    assert all(isinstance(x, torch.Tensor) for x in kept.values())
    there = theirs.step(torch.zeros(N, 2))[0]
    theirs.restore(kept)
    assert torch.equal(theirs.step(torch.zeros(N, 2))[0], there)
    ours.restore({name: np.asarray(x) for name, x in kept.items()})
    np.testing.assert_array_equal(ours.step(np.zeros((N, 2)))[0], there)
    mask = np.arange(N) < 2
    theirs.reset(options={"reset_mask": mask})
    assert (np.asarray(theirs.state()["episode"][:, 2] == 0.0) >= mask).all()


@pytest.mark.sampled(1)
@modes
def test_on_a_gpu_that_is_none(torch, monkeypatch, mode):
    from hinge.calls import torch_arrays

    monkeypatch.setattr(torch_arrays, "LIBRARY", interpreted_gpu.tensors(monkeypatch))
    ours, theirs = VectorEnv(Arm(), N, mode), VectorEnv(Arm(), N, mode, device="cuda", arrays="torch")
    assert compared(ours, theirs, torch.tensor) >= N
    theirs.restore({name: x.numpy() for name, x in theirs.state().items()})
    theirs.step(np.zeros((N, 2)))
    assert theirs.q.dtype == torch.float64


@with_gpu
@modes
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_nothing_leaves_a_gpu(library, mode):
    module = pytest.importorskip(library)
    put = (lambda x: module.tensor(x, device="cuda")) if library == "torch" else module.asarray
    ours, theirs = VectorEnv(Arm(), 500, mode), VectorEnv(Arm(), 500, mode, device="cuda", arrays=library)
    assert compared(ours, theirs, put, 1e-6) >= N
    if library == "torch":
        actions = put(np.zeros((500, 2)))
        module.cuda.set_sync_debug_mode("error")
        try:
            made = [theirs.step(actions) for _ in range(3)][-1]
        finally:
            module.cuda.set_sync_debug_mode("default")
        assert all(x.is_cuda for x in (*made[:4], *theirs.state().values(), made[4]["status"]))


@with_gpu
@pytest.mark.parametrize("law", ["rigid", "soft"])
def test_contact_on_a_gpu(torch, law):
    ours, theirs = VectorEnv(Thrown(law), 50), VectorEnv(Thrown(law), 50, device="cuda", arrays="torch")
    compared(ours, theirs, lambda x: torch.tensor(x, device="cuda"), 1e-5, 60)


def test_what_is_not_there_is_refused():
    with pytest.raises(UnknownName, match="device"):
        VectorEnv(Arm(), 1, device="tpu")
    with pytest.raises(UnknownName, match="arrays"):
        VectorEnv(Arm(), 1, arrays="cupy")
