"""Arrays that live on a GPU: results are the CPU's, and stay there, in the library's stream; what cannot be is said."""

import numpy as np
import pytest
import tensor_cases

import hinge
from hinge.backends.cuda.device import driver, gpu
from hinge.errors import DeviceError, NotCovered, SizeError

try:
    driver()
except DeviceError:
    pytest.skip("there is no GPU here, or no driver for it", allow_module_level=True)
cupy = pytest.importorskip("cupy", reason="CuPy is not installed")

STATES = 75
robots = pytest.mark.parametrize("case", ["arm", "floating", "mimic"])
numbers = pytest.mark.parametrize("number", [np.float64, np.float32])


def states(case, number=np.float64):
    robot = tensor_cases.robot(case)
    q, qd, _ = tensor_cases.state(robot, STATES)
    qdd = np.random.default_rng(5).normal(size=qd.shape)
    return robot, [x.astype(number) for x in (q, qd, qdd)]


def same(ours, plain):
    """Whether an array of CuPy has the bits of one of NumPy."""
    return isinstance(ours, cupy.ndarray) and ours.dtype == plain.dtype and np.array_equal(ours.get(), plain, True)


@robots
@numbers
def test_arrays_of_cupy_give_the_bits_of_the_cpu(case, number):
    robot, given = states(case, number)
    there = [cupy.asarray(x) for x in given]
    wanted = robot.inverse_dynamics(*given)
    for _ in range(3):  # the second time straight to the kernel, and to the CPU's in between
        assert same(robot.inverse_dynamics(*there), wanted)
        assert same(robot.inverse_dynamics(*there), wanted)
        assert np.array_equal(robot.inverse_dynamics(*given), wanted)
    for ours, plain in zip(
        robot.forward_dynamics(*there, return_status=True),
        robot.forward_dynamics(*given, return_status=True),
        strict=True,
    ):
        assert same(ours, plain)
    assert same(robot.pose(there[0], robot.body_names[-1]), robot.pose(given[0], robot.body_names[-1]))
    assert np.array_equal(robot.mass_matrix(given[0], backend="cuda"), robot.mass_matrix(given[0]))


@robots
def test_rows_may_lie_in_any_way(case):
    robot, (q, qd, qdd) = states(case)
    wanted = robot.inverse_dynamics(q, qd, qdd)
    odd = cupy.zeros(q.size + 1)
    odd[1:] = cupy.asarray(q.ravel())
    places = [cupy.asarray(np.asfortranarray(q)), odd[1:].reshape(q.shape), cupy.asarray(np.repeat(q, 2, 0))[::2]]
    for place in places:
        assert same(robot.inverse_dynamics(place, cupy.asarray(qd), cupy.asarray(qdd)), wanted)
    axes = [cupy.asarray(x).reshape(3, 25, -1) for x in (q, qd)]
    assert same(robot.inverse_dynamics(*axes, cupy.asarray(qdd[0])), robot.inverse_dynamics(
        q.reshape(3, 25, -1), qd.reshape(3, 25, -1), qdd[0]))  # fmt: skip
    assert robot.inverse_dynamics(*(cupy.asarray(x[:0]) for x in (q, qd, qdd))).shape == (0, robot.nv)


def test_results_go_where_they_are_wanted():
    robot, (q, qd, qdd) = states("arm")
    wanted, there = robot.inverse_dynamics(q, qd, qdd), [cupy.asarray(x) for x in (q, qd, qdd)]
    for out in (cupy.empty(wanted.shape), cupy.empty(wanted.shape[::-1]).T, there[1]):  # also over an input
        assert robot.inverse_dynamics(*there, out=out) is out
        assert np.array_equal(out.get(), wanted)


def test_a_call_is_in_the_current_stream():
    robot, given = states("arm")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        late = cupy.zeros(given[0].shape)
        for _ in range(2000):
            late += cupy.asarray(given[0]) / 2000.0
        made = robot.gravity_force(late)
    stream.synchronize()
    assert same(made, robot.gravity_force(late.get()))


def test_what_cannot_be_is_said():
    robot, given = states("arm")
    q, qd, qdd = (cupy.asarray(x) for x in given)
    with pytest.raises(SizeError, match=r"qd is of type ndarray, and others are arrays of CuPy"):
        robot.inverse_dynamics(q, given[1], qdd)
    with pytest.raises(SizeError, match=r"inverse_dynamics: qd has 2 entries, robot .* has nv = 3"):
        robot.inverse_dynamics(q, qd[:, 1:], qdd)
    with pytest.raises(NotCovered, match=r"backend='llvm' cannot take arrays of CuPy"):
        robot.inverse_dynamics(q, qd, qdd, backend="llvm")
    with pytest.raises(NotCovered, match=r"check='values' cannot be had with arrays on a GPU"):
        robot.inverse_dynamics(q, qd, qdd, check="values")
    with pytest.raises(NotCovered, match="simulate: q0 is on another device"):
        hinge.simulate(robot, 1.0, q[0])
    with pytest.raises(DeviceError, match=r"has no memory for 1000000000000000 bytes"), gpu().current():
        gpu().memory(10**15).__enter__()


@robots
def test_gradients_of_torch_stay_there(case):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    robot, given = states(case)
    made = []
    for where in ("cpu", "cuda"):
        tensors = [torch.tensor(x, device=where, requires_grad=True) for x in given]
        force = robot.inverse_dynamics(*tensors)
        force.square().sum().backward()
        assert force.device.type == where
        made.append([force.detach().cpu().numpy(), *(x.grad.cpu().numpy() for x in tensors)])
    assert np.array_equal(made[0][0], made[1][0])
    assert all(np.allclose(x, y, rtol=1e-12, atol=1e-12 * np.abs(x).max()) for x, y in zip(*made, strict=True))
    with pytest.raises(SizeError, match=r"q is on GPU 0 and qd on the CPU"):
        robot.inverse_dynamics(tensors[0], torch.tensor(given[1]), tensors[2])
