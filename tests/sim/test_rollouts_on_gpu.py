"""Rollouts where arrays are: on a GPU, and on one that is none, the states and gradients are the CPU's."""

import interpreted_gpu
import numpy as np
import pytest
from gpus import with_gpu
from sim_robots import bounded_arm, double_pendulum, flyer

import hinge
from hinge.errors import NotCovered, SizeError, UnknownName
from hinge.loops import linkages

N, STEPS, H = 5, 12, 1e-2
RNG = np.random.default_rng(8)


def policy(t, q, qd, target, gain):
    return gain * (target - qd) - np.sin(t) * qd


def four_bar():
    return hinge.Robot(linkages.four_bar())


def varied():
    return double_pendulum().vary("rod1.mass", "rod2.com")


def driven():
    """An arm whose file has motors."""
    return hinge.load(
        """<mujoco><option timestep="0.01"/><worldbody><body><joint name="a" axis="0 1 0" damping="0.1"/>
        <inertial pos="0 0 .2" mass="1" diaginertia=".1 .1 .1"/><body pos="0 0 .4"><joint name="b" axis="0 1 0"/>
        <inertial pos="0 0 .2" mass="1" diaginertia=".1 .1 .1"/></body></body></worldbody><actuator>
        <motor joint="a"/><position joint="b" kp="5" kv=".5"/></actuator></mujoco>"""
    )


def varied_ball():
    return hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot.vary("ball.mass")


def case(name):
    """A robot, and what a rollout of it is given."""
    make, more = CASES[name]
    robot = make()
    q, qd = robot.random_state(np.random.default_rng(4), N)
    if robot.loops:
        q, qd = np.tile(robot.assemble(robot.neutral() + 0.1).q, (N, 1)), 0.0 * qd
    given = {"q0": 1.01 * q if robot.nq > robot.nv else q, "qd0": 0.3 * qd, "steps": STEPS, "h": H}
    return robot, given | more(robot)


CASES = {
    "held": (double_pendulum, lambda r: {"tau": RNG.normal(size=2), "method": "rk4"}),
    "forces": (flyer, lambda r: {"taus": RNG.normal(size=(N, STEPS, r.nv)), "method": "lie_rk4"}),
    "policy": (flyer, lambda r: {"policy": policy, "inputs": [RNG.normal(size=(N, r.nv)), 0.4], "record": 5}),
    "varied": (varied, lambda r: {
        "taus": RNG.normal(size=(STEPS, 2)), "parameters": {"rod1.mass": RNG.uniform(1, 2, N)}}),
    "pushed": (flyer, lambda r: {
        "external": {"lower": RNG.normal(size=(N, 6)), "body": RNG.normal(size=6)}, "t0": 0.3,
        "base_motion": [0.1 * RNG.normal(size=6), 0.1 * RNG.normal(size=(N, 6))]}),
    "stops": (bounded_arm, lambda r: {"q0": np.full((N, 2), 0.5), "limits": "stop", "effort": True, "record": 4}),
    "law": (double_pendulum, lambda r: {"policy": hinge.control.computed_torque(r, RNG.normal(size=(N, 2)), kp=9.0)}),
    "controls for all": (driven, lambda r: {"ctrl": RNG.normal(size=2), "physics": "file"}),
    "controls": (driven, lambda r: {"ctrl": RNG.normal(size=(N, 1, 2)), "physics": "file"}),
    "controls by step": (driven, lambda r: {"ctrl": RNG.normal(size=(N, STEPS, 2)), "physics": "file"}),
    "one row of controls a step": (driven, lambda r: {"ctrl": RNG.normal(size=(STEPS, 2)), "physics": "file"}),
    "loops": (four_bar, lambda r: {"tau": 0.1 * RNG.normal(size=r.nv), "loops": "project"}),
    "surfaces": (varied_ball, lambda r: {
        "q0": np.array([1.0, 0, 0, 0, 0, 0, 0.1]), "qd0": np.array([0, 0, 0, 1.0, 0, 0]), "ground": 0.0, "law": "soft",
        "parameters": {"friction": np.linspace(0.1, 0.5, N), "ball.mass": RNG.uniform(1, 2, N)}}),
}  # fmt: skip
CONTROLS = {name for name in CASES if "controls" in name}
cases = pytest.mark.parametrize("name", CASES)


def moved(given, there):
    """What a rollout is given, with its arrays elsewhere."""
    if isinstance(given, np.ndarray):
        return there(given)
    if isinstance(given, dict):
        return {name: moved(x, there) for name, x in given.items()}
    return [moved(x, there) for x in given] if isinstance(given, list) else given


def leaves_of(torch, where="cpu"):
    """A list, and a function that makes a tensor with a gradient of an array, and puts it there."""
    leaves = []

    def tracked(x):
        leaves.append(torch.tensor(x, device=where, requires_grad=True))
        return leaves[-1]

    return leaves, tracked


def same(ours, plain):
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(ours, plain, strict=True))


@pytest.mark.sampled(3)
@cases
def test_copied_arrays_of_numpy_give_the_states_of_the_cpu(name, monkeypatch):
    robot, given = case(name)
    wanted = hinge.rollout(robot, **given)
    interpreted_gpu.pretend(monkeypatch)
    assert same(hinge.rollout(robot, **given, backend="cuda"), wanted)


@pytest.mark.sampled(3)
@cases
def test_tensors_there_give_the_states_of_the_cpu(name, monkeypatch):
    torch = pytest.importorskip("torch")
    robot, given = case(name)
    wanted = hinge.rollout(robot, **given)
    interpreted_gpu.tensors(monkeypatch)
    run = hinge.rollout(robot, **moved(given, torch.tensor))
    assert same([x.numpy() for x in run], wanted)
    single = hinge.rollout(robot, **moved(given, lambda x: torch.tensor(x, dtype=torch.float32)))
    assert single.q.dtype == torch.float32
    np.testing.assert_allclose(single.q, wanted.q, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", sorted(CONTROLS))
def test_controls_of_numpy_are_put_there(name, monkeypatch):
    torch = pytest.importorskip("torch")
    robot, given = case(name)
    wanted = hinge.rollout(robot, **given)
    interpreted_gpu.tensors(monkeypatch)
    run = hinge.rollout(robot, **moved(given, torch.tensor) | {"ctrl": given["ctrl"]})
    assert same([x.numpy() for x in run], wanted)


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(set(CASES) - {"stops", "loops", "law", "surfaces"} - CONTROLS))
def test_gradients_there_are_those_of_the_cpu(name, monkeypatch):
    torch = pytest.importorskip("torch")
    robot, given = case(name)
    found = []
    for there in (False, True):
        if there:
            interpreted_gpu.tensors(monkeypatch)
        leaves, tracked = leaves_of(torch)
        run = hinge.rollout(robot, **moved(given, tracked))
        (run.q.square().sum() + run.qd.sum()).backward()
        found.append([x.grad.numpy() for x in leaves])
    for ours, plain in zip(*found, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())


def test_a_run_there_knows_its_derivatives(monkeypatch):
    torch = pytest.importorskip("torch")
    robot, given = case("policy")
    weights = RNG.normal(size=(N, STEPS // 5 + 1, robot.nv))
    wanted = hinge.rollout(robot, **given).pulled(weights, 1.0)
    there = interpreted_gpu.tensors(monkeypatch)
    monkeypatch.setattr("hinge.calls.torch_calls.differentiable", lambda one, arrays: one.run_on(there, arrays))
    found = hinge.rollout(robot, **moved(given, torch.tensor)).pulled(torch.tensor(weights), 1.0)
    assert found.keys() == wanted.keys()
    for name in ("q0", "qd0"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12)
    np.testing.assert_allclose(found["inputs"][0], wanted["inputs"][0], rtol=1e-12)


def test_a_lost_rollout_stays_in_its_row(monkeypatch):
    torch = pytest.importorskip("torch")
    robot = double_pendulum()
    interpreted_gpu.tensors(monkeypatch)
    q = torch.tensor([[0.1, 0.2], [np.nan, 0.2], [0.1, 0.2]], dtype=torch.float64, requires_grad=True)
    run = hinge.rollout(robot, q, torch.zeros(2, dtype=torch.float64), 5, H)
    assert run.status.tolist() == [hinge.Status.OK, hinge.Status.NONFINITE, hinge.Status.OK]
    run.q[:, -1].sum().backward()
    assert torch.isnan(q.grad).all(1).tolist() == [False, True, False]
    assert torch.equal(run.q[0], run.q[2])


def test_axes_of_vmap_are_more_rollouts(monkeypatch):
    torch = pytest.importorskip("torch")
    robot = double_pendulum()
    interpreted_gpu.tensors(monkeypatch)
    q, qd, tau = (torch.tensor(x) for x in (RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2)), np.array([0.1, 0.2])))

    def height(tau, q, qd):
        return hinge.rollout(robot, q, qd, STEPS, H, tau=tau).q[-1].sum()

    made = torch.func.vmap(torch.func.grad(height), (None, 0, 0))(tau, q, qd)
    for k in range(4):
        np.testing.assert_allclose(made[k], torch.func.grad(height)(tau, q[k], qd[k]), rtol=1e-12)


def test_what_cannot_be_is_said(monkeypatch):
    torch = pytest.importorskip("torch")
    interpreted_gpu.tensors(monkeypatch)
    robot, zero = varied(), torch.zeros(2, dtype=torch.float64)
    with pytest.raises(SizeError, match=r"rollout: q0 is on GPU 0 and tau on the CPU.\n  Bring them to one place."):
        hinge.rollout(robot, zero, zero, 3, H, tau=np.zeros(2))
    with pytest.raises(NotCovered, match=r"rollout: backend='llvm' cannot take arrays on a GPU"):
        hinge.rollout(robot, zero, zero, 3, H, backend="llvm")
    with pytest.raises(UnknownName, match=r"parameter 'rod9.mass' is not varied"):
        hinge.rollout(robot, zero, zero, 3, H, parameters={"rod9.mass": zero[0]})
    with pytest.raises(SizeError, match=r"taus has shape \(4, 2\); give \(3, 2\), a row a step"):
        hinge.rollout(robot, zero, zero, 3, H, taus=torch.zeros(4, 2, dtype=torch.float64))
    with pytest.raises(NotCovered, match=r"loops='independent' looks at the states"):
        hinge.rollout(four_bar(), torch.zeros(3), torch.zeros(3), 3, H, loops="independent")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("record", [1, 7, "last"])
def test_simulations_copy_the_rows_they_write(record, monkeypatch):
    robot = double_pendulum()
    q = RNG.normal(size=(3, 2))

    def sampled(t, q, qd):
        return -0.5 * qd

    for how in ({"control": sampled}, {"control": sampled, "sample": 2}, {"control": RNG.normal(size=(3, 40, 2))},
                {"events": [lambda t, q, qd: q[0] - 0.2]}):  # fmt: skip
        wanted = hinge.simulate(robot, 0.4, q, step=0.01, record=record, **how)
        with monkeypatch.context() as patch:
            interpreted_gpu.pretend(patch)
            run = hinge.simulate(robot, 0.4, q, step=0.01, record=record, **how, backend="cuda")
        assert same(
            [run.t, run.q, run.qd, run.tau, run.status], [wanted.t, wanted.q, wanted.qd, wanted.tau, wanted.status]
        )


@with_gpu
@cases
def test_a_gpu_gives_the_states_of_the_cpu(name):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    robot, given = case(name)
    wanted = hinge.rollout(robot, **given)
    run = hinge.rollout(robot, **moved(given, cupy.asarray))
    assert isinstance(run.q, cupy.ndarray)
    assert same([x.get() for x in run], wanted)
    assert same(hinge.rollout(robot, **given, backend="cuda"), wanted)


@with_gpu
@pytest.mark.parametrize("name", ["forces", "policy", "varied"])
def test_gradients_of_torch_stay_on_a_gpu(name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    robot, given = case(name)
    found = []
    for where in ("cpu", "cuda"):
        leaves, tracked = leaves_of(torch, where)
        run = hinge.rollout(robot, **moved(given, tracked))
        assert run.q.device.type == where
        (run.q.square().sum() + run.qd.sum()).backward()
        found.append([x.grad.cpu().numpy() for x in leaves])
    for ours, plain in zip(*found, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())
