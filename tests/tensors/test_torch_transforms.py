"""torch.func, torch.library's own checks, and torch.compile."""

import numpy as np
import pytest
from tensor_cases import CASES, robot, state

import hinge

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'hinge[torch]'")
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap  # noqa: E402

from hinge.calls import torch_calls  # noqa: E402
from hinge.calls.call import Call  # noqa: E402
from hinge.calls.evaluate import Arguments  # noqa: E402
from hinge.calls.operands import prepared  # noqa: E402


def tensors(system, n=3):
    return [torch.tensor(x) for x in state(system, n)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "step"])
@pytest.mark.parametrize("case", CASES)
def test_the_operator_is_one(case, name):
    system = robot(case)
    given = [x.requires_grad_() for x in tensors(system)]
    given += [torch.tensor(0.01).double()] if name == "step" else []
    call = Call.parse(system.target, name, status=True)
    call, values = prepared(torch_calls.LIBRARY, call, Arguments(given, {}, None, None, None, None, ()))
    torch.library.opcheck(torch_calls.operator, (torch_calls._key(call), values))


def test_vmap_puts_its_axis_before_the_batch():
    system = robot("floating")
    q, qd, tau = tensors(system)
    whole = system.forward_dynamics(q[:, None], qd, tau)
    torch.testing.assert_close(vmap(system.forward_dynamics, (0, None, None))(q, qd, tau), whole)
    twice = vmap(vmap(system.forward_dynamics, (None, 0, None)), (0, None, None))
    torch.testing.assert_close(twice(q, qd, tau), whole)
    last = vmap(system.forward_dynamics, (1, 0, None), out_dims=1)(q.T, qd, tau)
    torch.testing.assert_close(last, system.forward_dynamics(q, qd, tau).T)
    made, status = vmap(lambda q: system.forward_dynamics(q, qd[0], tau, return_status=True))(q)
    assert status.tolist() == [hinge.Status.OK] * 3
    assert made.shape == (3, system.nv)


def test_jacobians_by_torch_are_the_derivatives():
    arm = robot("mimic")
    q, qd, tau = (x[0] if x.ndim > 1 else x for x in tensors(arm))
    wanted = arm.derivatives("forward_dynamics", q.numpy(), qd.numpy(), tau.numpy())
    for way in (jacrev, jacfwd):
        for k, one in enumerate(way(arm.forward_dynamics, (0, 1, 2))(q, qd, tau)):
            np.testing.assert_allclose(one, wanted[k], rtol=1e-9, atol=1e-10)


def test_transforms_of_transforms():
    arm = robot("arm")
    q, qd, qdd = tensors(arm)

    def energy(q, qd):
        return arm.kinetic_energy(q, qd) + arm.inverse_dynamics(q, qd, qdd).square().sum()

    each = vmap(grad(energy))(q, qd)
    x = q.clone().requires_grad_()
    total = sum(energy(one, v) for one, v in zip(x, qd, strict=True))
    torch.testing.assert_close(each, torch.autograd.grad(total, x)[0])
    torch.testing.assert_close(hessian(energy)(q[0], qd[0]), jacrev(jacrev(energy))(q[0], qd[0]))
    _, rate = jvp(lambda q: energy(q, qd[0]), (q[0],), (qd[0],))
    torch.testing.assert_close(rate, each[0] @ qd[0])


@pytest.fixture
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.sampled(1)
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("called_before", [False, True])
def test_a_call_is_one_step_of_a_graph(called_before):
    arm = hinge.samples.planar_2r().vary("lower.mass")
    q, qd, tau = [x.requires_grad_() for x in tensors(arm)]
    mass = torch.tensor(1.3).double().requires_grad_()
    force = torch.ones(6).double()

    def loss(q, qd, tau, mass):
        words = {"parameters": {"lower.mass": mass}}
        q, qd = arm.step(q, qd, tau, 0.01, **words)
        qdd, status = arm.forward_dynamics(
            q, qd, tau, external={"hand": force}, joint_terms=("armature", "damping"), return_status=True, **words
        )
        return qdd.square().sum() + arm.pose(q, name="hand", **words).sum() + status.sum()

    if called_before:  # its methods are machine code then
        arm.step(*state(arm), 0.01)
        arm.forward_dynamics(*state(arm))
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    given = (q, qd, tau, mass)
    made = torch.autograd.grad(compiled(*given), given)
    for one, other in zip(made, torch.autograd.grad(loss(*given), given), strict=True):
        torch.testing.assert_close(one, other)
    more = [x.detach().repeat(2, 1) for x in (q, qd)]  # other sizes
    torch.testing.assert_close(compiled(*more, tau, mass), loss(*more, tau, mass))


@pytest.mark.usefixtures("fresh")
def test_a_graph_belongs_to_its_robot():
    q = torch.ones(2).double()
    compiled = torch.compile(lambda robot, q: robot.gravity_force(q), fullgraph=True, backend="aot_eager")
    for mass in (1.0, 2.0, 3.0):
        arm = hinge.samples.planar_2r().with_payload("hand", mass)
        np.testing.assert_array_equal(compiled(arm, q), arm.gravity_force(q.numpy()))


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("way", [grad, lambda f: vmap(grad(f)), lambda f: jacrev(grad(f)), lambda f: jacfwd(grad(f))])
def test_transforms_inside_a_graph(way):
    arm = hinge.samples.planar_2r()
    q = torch.tensor(state(arm, 3)[0])

    def made(q):
        return way(lambda q: arm.forward_dynamics(q, q, q).square().sum())(q)

    torch.testing.assert_close(torch.compile(made, fullgraph=True, backend="aot_eager")(q), made(q))


@pytest.mark.usefixtures("fresh")
def test_a_module_with_a_call_is_exported():
    arm = hinge.samples.planar_2r()
    q = torch.tensor(state(arm, 3)[0])

    class Lifted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.qd = torch.nn.Parameter(torch.ones(2).double())

        def forward(self, q):
            return arm.inverse_dynamics(q, self.qd, np.zeros(2))

    module = Lifted()
    torch.testing.assert_close(torch.export.export(module, (q,)).module()(q), module(q))


@pytest.mark.sweep
@pytest.mark.usefixtures("fresh")
def test_inductor_compiles_it():
    arm = robot("arm")
    q, qd, qdd = tensors(arm)
    compiled = torch.compile(lambda q: arm.inverse_dynamics(q.sin(), qd, qdd).square().sum(), fullgraph=True)
    try:
        made = compiled(q)
    except Exception as failed:
        if "compiler" in str(failed).lower():
            pytest.skip("torch finds no C compiler here")
        raise
    torch.testing.assert_close(made, arm.inverse_dynamics(q.sin(), qd, qdd).square().sum())


def test_a_graph_whose_robot_is_gone_says_so():
    with pytest.raises(hinge.NotCovered) as caught:
        torch_calls.operator("nobody 0", [torch.zeros(2)])
    assert str(caught.value) == (
        "a graph calls a robot that is gone, or is one of another process.\n  Keep the robot; trace it anew."
    )
