"""Calls on arrays of CuPy and torch that live on GPUs, with a stand-in for the driver: what goes where, and what is
refused."""

import sys

import fake_gpu
import numpy as np
import pytest
import tensor_cases

import hinge
from hinge.calls import views
from hinge.errors import DeviceError, NotCovered, SizeError

STATES = 5
ADAPTER = "hinge.calls.cupy_arrays"


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    return fake_gpu.put_in(monkeypatch)


@pytest.fixture
def cupy(driver, monkeypatch):
    made = fake_gpu.Cupy()
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.delitem(sys.modules, ADAPTER, raising=False)
    yield made
    sys.modules.pop(ADAPTER, None)


def states(case="arm", number=np.float64):
    robot = tensor_cases.robot(case)
    q, qd, _ = tensor_cases.state(robot, STATES)
    qdd = np.random.default_rng(5).normal(size=qd.shape)
    return robot, [x.astype(number) for x in (q, qd, qdd)]


def same(ours, plain):
    return ours.dtype == plain.dtype and np.array_equal(ours.get(), plain, equal_nan=True)


def on(cupy, device, *arrays):
    with cupy.cuda.Device(device):
        return [cupy.asarray(x) for x in arrays]


@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("device", [0, 1])
def test_a_call_runs_where_its_arrays_are(driver, cupy, device, number):
    robot, given = states("floating", number)
    wanted = robot.forward_dynamics(*given, return_status=True)
    there = on(cupy, device, *given)
    for _ in range(3):  # from the second on, straight to the kernel
        made = robot.forward_dynamics(*there, return_status=True)
        assert all(map(same, made, wanted))
        assert [x.data.device_id for x in made] == [device, device]
    assert driver.launched == [(device, 3)] * 3
    assert driver.contexts == [0]


def test_after_another_kind_of_call_it_still_does(driver, cupy):
    robot, given = states()
    there, wanted = on(cupy, 0, *given), robot.inverse_dynamics(*given)
    for _ in range(2):
        assert same(robot.inverse_dynamics(*there), wanted)
        assert np.array_equal(robot.inverse_dynamics(*given), wanted)
        assert np.array_equal(robot.inverse_dynamics(*given, backend="cuda"), wanted)
        few = [cupy.view(x.host[:2]) for x in there]
        assert same(robot.inverse_dynamics(*few), wanted[:2])
    assert not driver.memory


def assert_entered(monkeypatch, call, *given):
    """The second of two plain calls goes to the kernel, without a look at its words."""
    wanted = call(*given)
    with monkeypatch.context() as patch:
        patch.setattr(views, "evaluate", None)
        made = call(*given)
    assert made.shape == wanted.shape
    assert (np.asarray(made.get() if hasattr(made, "get") else made) != 0).any()


def test_the_second_plain_call_goes_straight_to_the_kernel(cupy, monkeypatch):
    robot, given = states()
    assert_entered(monkeypatch, robot.inverse_dynamics, *on(cupy, 0, *given))


def test_rows_may_lie_in_any_way(cupy):
    robot, (q, qd, qdd) = states()
    wanted = robot.inverse_dynamics(q, qd, qdd)
    odd = np.empty(q.size + 1)
    odd[1:] = q.ravel()
    for x in (np.asfortranarray(q), odd[1:].reshape(q.shape), np.repeat(q, 2, 0)[::2], q.astype(np.float32)):
        plain = robot.inverse_dynamics(x, qd, qdd)
        for _ in range(2):
            assert same(robot.inverse_dynamics(cupy.view(x), *on(cupy, 0, qd, qdd)), plain)
    assert same(robot.inverse_dynamics(*on(cupy, 0, q[:0], qd[:0], qdd[0])), wanted[:0])


def test_results_go_where_they_are_wanted(cupy):
    robot, given = states()
    wanted, there = robot.inverse_dynamics(*given), on(cupy, 0, *given)
    (fresh, turned, single) = on(cupy, 0, np.empty_like(wanted), wanted[::-1], wanted.astype(np.float32))
    turned.host = turned.host.T.copy().T
    for out in (fresh, turned, single, there[1]):
        assert robot.inverse_dynamics(*there, out=out) is out
        np.testing.assert_array_equal(out.get(), wanted.astype(out.dtype))


@pytest.mark.parametrize("device", [0, 1])
@pytest.mark.parametrize("n", [0, STATES])
def test_what_is_given_besides_is_put_together_there(cupy, device, n):
    robot = tensor_cases.robot("arm")
    made = tensor_cases.besides(robot, lambda x: on(cupy, device, x)[0], n)
    assert all(map(same, made, tensor_cases.besides(robot, np.asarray, n)))


def test_nothing_is_looked_at_on_the_host_unless_it_is_asked_for(cupy, monkeypatch):
    monkeypatch.setattr(cupy.ndarray, "get", None)
    tensor_cases.besides(tensor_cases.robot("arm"), cupy.asarray, check="sizes")


def test_numbers_have_no_precision_of_their_own(cupy):
    robot, given = states("arm", np.float32)
    made = robot.step(*on(cupy, 0, *given), 0.01)
    assert all(map(same, made, robot.step(*given, np.float32(0.01))))


def refused(call, *given, **how):
    """What is said of a call, and how."""
    with pytest.raises(hinge.HingeError) as caught:
        call(*given, **how)
    return type(caught.value), str(caught.value)


def test_what_cannot_be_is_said(driver, cupy):
    robot, given = states()
    there, (elsewhere,) = on(cupy, 0, *given), on(cupy, 1, given[1])
    (q, qd, qdd), call, one = there, robot.inverse_dynamics, "\n  Bring them to one place."
    for _ in range(2):
        assert refused(call, q, elsewhere, qdd)[1] == f"inverse_dynamics: q is on GPU 0 and qd on GPU 1.{one}"
        assert refused(call, q, given[1], qdd)[1] == f"inverse_dynamics: q is on GPU 0 and qd on the CPU.{one}"
        assert refused(call, *there, out=elsewhere)[1] == f"inverse_dynamics: q is on GPU 0 and out on GPU 1.{one}"
        call(*there)
    assert refused(call, *there, out=given[0]) == (
        SizeError,
        "inverse_dynamics: out is of type ndarray; it has to be an array of CuPy, as others are.",
    )
    assert refused(call, *there, backend="llvm") == (
        NotCovered,
        "inverse_dynamics: backend='llvm' cannot take arrays on a GPU.\n  Leave it out.",
    )
    assert refused(call, q, cupy.view(qd.host[:, 1:]), qdd) == (
        SizeError,
        "inverse_dynamics: qd has 2 entries, robot 'chain3' has nv = 3.",
    )
    qd.host[3, 1] = np.inf
    assert refused(call, *there, check="values")[1] == "inverse_dynamics: qd[3, 1] is inf. Give finite numbers."


def test_no_memory_is_said_before_anything_is_lost(cupy):
    robot, (q, *_) = states()
    (there,) = on(cupy, 0, q)
    cupy.room = 300
    assert refused(robot.mass_matrix, there) == (
        DeviceError,
        "mass_matrix: GPU 0 (stand-in) has no memory for 360 bytes: 1073741824 of its 2147483648 are free.\n"
        "  Give fewer states at a time, or ask for less of each.",
    )
    np.testing.assert_array_equal(there.get(), q)


def test_what_the_driver_says_is_said(driver, cupy):
    robot, (q, *_) = states()
    driver.answer = fake_gpu.Result.CUDA_ERROR_LAUNCH_FAILED
    assert refused(robot.gravity_force, *on(cupy, 0, q)) == (
        DeviceError,
        "a program on GPU 0 (stand-in): launch failed (CUDA_ERROR_LAUNCH_FAILED).",
    )


# torch, whose tensors on the CPU are taken for tensors on a GPU


@pytest.fixture
def torch(driver, monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'hinge[torch]'")
    from hinge.calls import torch_arrays

    monkeypatch.setattr(torch_arrays, "_named", lambda device: torch.device("cpu"))
    monkeypatch.setattr(torch_arrays.Torch, "device", lambda self, x: 1)
    monkeypatch.setattr(torch_arrays.Torch, "stream", lambda self, device: 5)
    torch_arrays._constant.cache_clear()
    return torch


def test_tensors_run_where_they_are(driver, torch):
    robot, given = states()
    tensors, wanted = [torch.tensor(x) for x in given], robot.forward_dynamics(*given, return_status=True)
    for _ in range(3):
        made = robot.forward_dynamics(*tensors, return_status=True)
        assert all(np.array_equal(x, y) for x, y in zip(made, wanted, strict=True))
    out = torch.empty(STATES, 3).double()
    assert robot.forward_dynamics(*tensors, out=out) is out
    np.testing.assert_array_equal(out, wanted[0])
    assert driver.launched == [(1, 5)] * 4
    made = tensor_cases.besides(robot, torch.tensor)
    assert all(np.array_equal(x, y) for x, y in zip(made, tensor_cases.besides(robot, np.asarray), strict=True))


def test_the_second_plain_call_with_tensors_goes_straight_to_the_kernel(torch, monkeypatch):
    robot, given = states()
    assert_entered(monkeypatch, robot.inverse_dynamics, *map(torch.tensor, given))
    recorded = torch.tensor(given[0], requires_grad=True)
    assert_entered(
        monkeypatch,
        lambda *x: robot.forward_dynamics(*x).detach(),
        recorded,
        *map(torch.tensor, given[1:]),
    )
    assert_entered(monkeypatch, lambda x: robot.mass_matrix(x).detach(), torch.tensor(given[0]))


def test_gradients_of_tensors_run_there_too(driver, torch):
    robot = tensor_cases.robot("varied")
    q, qd, last = (torch.tensor(x, requires_grad=True) for x in tensor_cases.state(robot, 2))
    mass = torch.tensor(1.3).double().requires_grad_()

    def call(mass, *state):
        return robot.inverse_dynamics(*state, parameters={"lower.mass": mass})

    assert torch.autograd.gradcheck(call, (mass, q, qd, last))
    plain = hinge.Robot(robot.model)
    for _ in range(2):
        assert torch.autograd.gradcheck(plain.inverse_dynamics, (q, qd, last))
    assert set(driver.launched) == {(1, 5)}
