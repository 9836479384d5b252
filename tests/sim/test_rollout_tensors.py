"""Rollouts of tensors: torch's and JAX's own checks of gradients, and theirs beside ours."""

import importlib

import numpy as np
import pytest
from sim_robots import double_pendulum, flyer

import hinge

STEPS, H = 50, 1e-2


def library(name, adapter):
    found = pytest.importorskip(name)
    importlib.import_module(adapter)
    return found


@pytest.fixture
def torch():
    return library("torch", "hinge.calls.torch_calls")


@pytest.fixture
def jax():
    found = library("jax", "hinge.calls.jax_calls")
    before = found.config.jax_enable_x64
    found.config.update("jax_enable_x64", True)
    yield found
    found.config.update("jax_enable_x64", before)


def start(robot, *batch):
    q, qd = robot.random_state(np.random.default_rng(0), 1)
    q, qd = np.broadcast_to(q[0], (*batch, robot.nq)).copy(), np.broadcast_to(0.3 * qd[0], (*batch, robot.nv)).copy()
    return q, qd + 0.1 * np.random.default_rng(1).normal(size=qd.shape)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make", [double_pendulum, flyer])
@pytest.mark.parametrize("method", ["semi_implicit", "lie_rk4"])
def test_torch_checks_fifty_steps(make, method, torch):
    robot = make()
    rng = np.random.default_rng(2)
    q, qd, taus = (torch.tensor(x, requires_grad=True) for x in (*start(robot), rng.normal(size=(STEPS, robot.nv))))

    def last(q, qd, taus):
        run = hinge.rollout(robot, q, qd, STEPS, H, taus=taus, method=method)
        return run.q[-1], run.qd[-1]

    assert torch.autograd.gradcheck(last, (q, qd, taus), fast_mode=True)


def policy(t, q, qd, weights, bias):
    return np.tanh(weights @ np.concatenate([q, qd]) + bias) - 0.1 * qd


def test_torch_trains_what_a_policy_is_given_and_masses(torch):
    robot = double_pendulum().vary("rod1.mass")
    q, qd = start(robot, 3)
    rng = np.random.default_rng(3)
    numbers = rng.normal(size=(2, 4)), rng.normal(size=2), np.array(1.2)
    weights, bias, mass = (torch.tensor(x, requires_grad=True) for x in numbers)

    def ends(weights, bias, mass):
        given = {"policy": policy, "inputs": [weights, bias], "parameters": {"rod1.mass": mass}}
        run = hinge.rollout(robot, q, qd, STEPS, H, record=10, **given)
        assert run.status.dtype == torch.uint8
        assert run.status.shape == (3,)
        return run.q

    assert torch.autograd.gradcheck(ends, (weights, bias, mass), fast_mode=True)
    ends(weights, bias, mass).square().sum().backward()
    given = {"policy": policy, "inputs": numbers[:2], "parameters": {"rod1.mass": 1.2}}
    run = hinge.rollout(robot, q, qd, STEPS, H, record=10, **given)
    wanted = run.pulled(2.0 * run.q)
    np.testing.assert_allclose(weights.grad, wanted["inputs"][0], rtol=1e-12)
    np.testing.assert_allclose(mass.grad, wanted["parameters"]["rod1.mass"], rtol=1e-12)


def test_torch_maps_and_single_precision(torch):
    robot = double_pendulum()
    q, qd = (torch.tensor(x) for x in start(robot, 4))
    tau = torch.tensor([0.1, 0.2], dtype=torch.float64)

    def height(tau, q, qd):
        return hinge.rollout(robot, q, qd, STEPS, H, tau=tau).q[-1].sum()

    made = torch.func.vmap(torch.func.grad(height), (None, 0, 0))(tau, q, qd)
    for k in range(4):
        np.testing.assert_allclose(made[k], torch.func.grad(height)(tau, q[k], qd[k]), rtol=1e-12)
    single = q.float().requires_grad_()
    run = hinge.rollout(robot, single, qd.float(), STEPS, H)
    assert run.q.dtype == torch.float32
    run.q[:, -1].sum().backward()
    assert single.grad.dtype == torch.float32


def test_torch_goes_back_once_only(torch):
    robot = double_pendulum()
    q = torch.tensor([0.1, 0.2], dtype=torch.float64, requires_grad=True)
    run = hinge.rollout(robot, q, [0.0, 0.0], 5, H)
    with pytest.raises(hinge.NotCovered, match="one of arrays of another library"):
        run.pulled(1.0)
    (slope,) = torch.autograd.grad(run.q.sum(), q, create_graph=True)
    with pytest.raises(hinge.NotCovered, match="once through it"):
        slope.sum().backward()


@pytest.mark.parametrize("make", [double_pendulum, flyer])
@pytest.mark.parametrize("method", ["semi_implicit", "lie_rk4"])
def test_jax_checks_fifty_steps(make, method, jax):
    from jax.test_util import check_grads

    robot = make()
    q, qd = start(robot)
    taus = np.random.default_rng(2).normal(size=(STEPS, robot.nv))

    def last(q, qd, taus):
        run = hinge.rollout(robot, q, qd, STEPS, H, taus=taus, method=method)
        return run.q[-1], run.qd[-1]

    check_grads(jax.jit(last), (q, qd, taus), order=1, modes=["rev"], rtol=1e-5, atol=1e-5)


def test_jax_maps_and_compiles(jax):
    robot = double_pendulum().vary("rod1.mass")
    q, qd = start(robot, 4)
    weights, bias = np.random.default_rng(3).normal(size=(2, 4)), np.array([0.1, 0.2])

    def loss(weights, bias, mass, q, qd):
        given = {"policy": policy, "inputs": [weights, bias], "parameters": {"rod1.mass": mass}}
        run = hinge.rollout(robot, q, qd, STEPS, H, **given)
        return (run.q**2).sum()

    one = jax.grad(loss, argnums=(0, 2))
    whole = jax.jit(one)(weights, bias, 1.2, q, qd)
    each = jax.jit(jax.vmap(one, (None, None, None, 0, 0)))(weights, bias, 1.2, q, qd)
    for a, b in zip(whole, each, strict=True):
        np.testing.assert_allclose(a, b.sum(axis=0), rtol=1e-10)
