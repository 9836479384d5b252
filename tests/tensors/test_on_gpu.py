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


def test_what_is_given_besides_is_put_together_there():
    robot = tensor_cases.robot("arm")
    made, wanted = (tensor_cases.besides(robot, place, STATES) for place in (cupy.asarray, np.asarray))
    assert all(map(same, made, wanted))


def test_numbers_and_lists_are_put_where_the_arrays_are():
    robot, (q, qd, tau) = states("arm", np.float32)
    made = robot.step(*(cupy.asarray(x) for x in (q, qd, tau)), 0.01)
    wanted = robot.step(q, qd, tau, np.float32(0.01))
    assert all(map(same, made, wanted))


def test_what_cannot_be_is_said():
    robot, given = states("arm")
    q, qd, qdd = (cupy.asarray(x) for x in given)
    with pytest.raises(SizeError, match=r"q is on GPU 0 and qd on the CPU"):
        robot.inverse_dynamics(q, given[1], qdd)
    with pytest.raises(SizeError, match=r"inverse_dynamics: qd has 2 entries, robot .* has nv = 3"):
        robot.inverse_dynamics(q, qd[:, 1:], qdd)
    with pytest.raises(NotCovered, match=r"backend='llvm' cannot take arrays on a GPU"):
        robot.inverse_dynamics(q, qd, qdd, backend="llvm")
    qd[3, 1] = np.nan
    with pytest.raises(SizeError, match=r"qd\[3, 1\] is nan"):
        robot.inverse_dynamics(q, qd, qdd, check="values")
    huge = cupy.broadcast_to(q[0], (10**10, 3))
    with pytest.raises(DeviceError, match=r"mass_matrix: GPU 0 .* has no memory for 960000000000 bytes"):
        robot.mass_matrix(huge)
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


def test_calls_of_torch_stay_there():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def place(x):
        return torch.tensor(x, device="cuda")

    robot, given = states("arm", np.float32)
    for ours, plain in zip(*(tensor_cases.besides(robot, where, STATES) for where in (place, np.asarray)), strict=True):
        assert np.array_equal(ours.cpu().numpy(), plain)
    there = [place(x) for x in given]
    wanted = robot.forward_dynamics(*given, return_status=True)
    for out in (torch.empty_like(there[0]), torch.empty(3, STATES, device="cuda").T, there[1]):
        found, status = robot.forward_dynamics(*there, out=out, return_status=True)
        assert found is out
        assert np.array_equal(out.cpu().numpy(), wanted[0])
        assert np.array_equal(status.cpu().numpy(), wanted[1])
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = torch.zeros(STATES, 3, device="cuda")
        for _ in range(2000):
            late += there[0] / 2000.0
        made = robot.gravity_force(late)
    stream.synchronize()
    assert np.array_equal(made.cpu().numpy(), robot.gravity_force(late.cpu().numpy()))


def test_transforms_of_torch_stay_there():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    robot, (q, qd, tau) = states("floating")
    here, there = ([torch.tensor(x, device=where) for x in (q, qd, tau)] for where in ("cpu", "cuda"))

    def loss(q, qd, tau):
        return robot.forward_dynamics(q, qd, tau).square().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    ways = (torch.func.vmap(torch.func.grad(loss)), torch.func.jacfwd(loss), compiled)
    for way in ways:
        made, wanted = way(*there), way(*here)
        assert made.is_cuda
        torch.testing.assert_close(made.cpu(), wanted, rtol=1e-9, atol=1e-9 * float(wanted.abs().max()))


@pytest.fixture
def jax():
    found = pytest.importorskip("jax", reason="JAX is not installed")
    if found.default_backend() != "gpu":
        pytest.skip("JAX has no GPU here")
    with found.enable_x64(True):
        yield found


@robots
@numbers
def test_arrays_of_jax_stay_there(jax, case, number):
    robot, given = states(case, number)
    there = [jax.numpy.asarray(x) for x in given]
    compiled = jax.jit(robot.forward_dynamics)
    assert "@hinge_" in compiled.lower(*there).as_text()
    wanted = robot.forward_dynamics(*given)
    for made in (*(robot.forward_dynamics(*there) for _ in range(3)), compiled(*there)):
        assert {one.platform for one in made.devices()} == {"gpu"}
        assert np.array_equal(np.asarray(made), wanted)
    made, status = robot.forward_dynamics(*there, return_status=True)
    assert np.array_equal(np.asarray(status), robot.forward_dynamics(*given, return_status=True)[1])
    assert robot.gravity_force(there[0][:0]).shape == (0, robot.nv)
    rows = jax.vmap(robot.forward_dynamics)(*there)
    assert np.array_equal(np.asarray(rows), wanted)


@robots
def test_gradients_of_jax_stay_there(jax, case):
    robot, given = states(case)

    def loss(*x):
        return (robot.inverse_dynamics(*x) ** 2).sum()

    cpu = jax.devices("cpu")[0]
    there, here = ([jax.device_put(x, where) for x in given] for where in (jax.devices()[0], cpu))
    for slope in (jax.grad(loss, (0, 1, 2)), jax.jit(jax.grad(loss, (0, 1, 2))), jax.jacfwd(loss, (0, 1, 2))):
        for x, y in zip(slope(*there), slope(*here), strict=True):
            assert {one.platform for one in x.devices()} == {"gpu"}
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10 * np.abs(y).max())
    robot = tensor_cases.robot("arm")
    made, wanted = (tensor_cases.besides(robot, place, STATES) for place in (jax.numpy.asarray, np.asarray))
    assert all(map(np.array_equal, map(np.asarray, made), wanted))
