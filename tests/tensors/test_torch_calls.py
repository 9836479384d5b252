"""What comes back when tensors of torch are given, what is refused, and that torch is left alone else."""

import subprocess
import sys

import numpy as np
import pytest
from tensor_cases import robot, state

import hinge


def test_torch_is_not_imported_for_arrays():
    script = (
        "import sys, hinge\n"
        "arm = hinge.samples.planar_2r()\n"
        "arm.inverse_dynamics([0, 1], [0, 0], [0, 0])\n"
        "arm.vjp('gravity_force', ([0.0, 1.0],), [1.0, 0.0])\n"
        "print('torch' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"
    )


torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'hinge[torch]'")


@pytest.mark.parametrize(
    ("types", "made"),
    [
        ((torch.float32, torch.float32, torch.float32), torch.float32),
        ((torch.float32, torch.float64, torch.float32), torch.float64),
        ((torch.float16, torch.float16, torch.float16), torch.float64),
        ((torch.int64, torch.float32, torch.float32), torch.float64),
    ],
)
def test_numbers_are_as_precise_as_with_arrays(types, made):
    arm = robot("arm")
    tensors = [torch.tensor(x).to(kind) for x, kind in zip(state(arm), types, strict=True)]
    found = arm.inverse_dynamics(*tensors)
    wanted = arm.inverse_dynamics(*(x.numpy() for x in tensors))
    assert found.dtype == made
    np.testing.assert_array_equal(found, wanted)


def test_a_gradient_has_the_type_of_its_tensor():
    arm = robot("arm")
    q, qd, qdd = state(arm)
    single = torch.tensor(q, dtype=torch.float32, requires_grad=True)
    double = single.detach().double().requires_grad_()
    (one,) = torch.autograd.grad(arm.inverse_dynamics(single, qd, qdd).sum(), single)
    (other,) = torch.autograd.grad(arm.inverse_dynamics(double, qd, qdd).sum(), double)
    assert one.dtype == torch.float32
    torch.testing.assert_close(one, other.float())


def test_arrays_beside_tensors_are_constants_from_then_on():
    arm = robot("arm")
    q, qd, qdd = state(arm)
    x = torch.tensor(q, requires_grad=True)
    made = arm.inverse_dynamics(x, qd, qdd.tolist())
    (wanted,) = torch.autograd.grad(made.sum(), x, retain_graph=True)
    qd += 1.0
    torch.testing.assert_close(torch.autograd.grad(made.sum(), x)[0], wanted, rtol=0, atol=0)


def test_statuses_are_bytes_and_nan_stays_in_its_row():
    arm = robot("arm")
    q, qd, tau = (torch.tensor(x) for x in state(arm, 3))
    q[1, 0] = torch.nan
    q.requires_grad_()
    made, status = arm.forward_dynamics(q, qd, tau, return_status=True)
    assert status.dtype == torch.uint8
    assert status.tolist() == [hinge.Status.OK, hinge.Status.NONFINITE, hinge.Status.OK]
    assert not status.requires_grad
    (gradient,) = torch.autograd.grad(made[0].sum() + made[2].sum(), q)
    assert gradient[[0, 2]].isfinite().all()


def test_strided_and_empty_tensors():
    arm = robot("arm")
    q, qd, qdd = (torch.tensor(x) for x in state(arm, 6))
    np.testing.assert_array_equal(
        arm.inverse_dynamics(q[::2], qd.T.contiguous().T[::2], qdd.flip(0)),
        arm.inverse_dynamics(q.numpy()[::2], qd.numpy()[::2], qdd.numpy()[::-1]),
    )
    none = q[:0].requires_grad_()
    assert arm.inverse_dynamics(none, qd[:0], qdd).shape == (0, 3)
    assert torch.autograd.grad(arm.inverse_dynamics(none, qd[:0], qdd).sum(), none)[0].shape == (0, 3)


def test_a_result_shares_no_memory_with_another():
    arm = robot("arm")
    q, qd, qdd = (torch.tensor(x) for x in state(arm, 20_000))
    first = arm.inverse_dynamics(q, qd, qdd)
    kept = first.clone()
    for _ in range(3):
        arm.inverse_dynamics(qd, q, qdd)
    assert torch.equal(first, kept)


@pytest.mark.parametrize("status", [False, True])
def test_a_result_goes_where_it_is_wanted(status):
    arm = robot("arm")
    q, qd, tau = (torch.tensor(x) for x in state(arm, 6))
    wanted = arm.forward_dynamics(q, qd, tau)
    for out in (torch.empty(6, 3).double(), torch.empty(3, 6).double().T, torch.empty(6, 3), qd):
        made = arm.forward_dynamics(q, qd, tau, out=out, return_status=status)
        assert (made[0] if status else made) is out
        torch.testing.assert_close(out, wanted.to(out.dtype), rtol=0, atol=0)


def test_torch_knows_that_an_out_has_changed():
    arm = robot("arm")
    q, qd, tau = (torch.tensor(x) for x in state(arm))
    out, weight = torch.ones(2, 3).double(), torch.ones(2, 3).double().requires_grad_()
    later = (out * weight).sum()
    arm.forward_dynamics(q, qd, tau, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        later.backward()


def test_numbers_have_no_precision_of_their_own():
    arm = robot("varied")
    q, qd, _ = (torch.tensor(x, dtype=torch.float32) for x in state(arm))
    made = arm.step(q, qd, [0.5, 0.25], 0.01, parameters={"lower.mass": 2.0})
    assert [x.dtype for x in made] == [torch.float32] * 2
    single = np.float32
    wanted = arm.step(q.numpy(), qd.numpy(), single([0.5, 0.25]), single(0.01), parameters={
        "lower.mass": single(2.0), "lower.com": single(arm.model.links["lower"].com),
        "upper.mass": single(arm.model.links["upper"].mass)})  # fmt: skip
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def refused(error, message, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_what_is_refused_says_why():
    arm, free, varied = robot("arm"), robot("floating"), robot("varied")
    x = torch.zeros(3).double()
    refused(
        hinge.NotCovered,
        "inverse_dynamics: out= cannot be had with gradients and transforms.\n  Leave it out.",
        lambda: arm.inverse_dynamics(x, x.clone().requires_grad_(), x, out=torch.zeros(3)),
    )
    refused(
        hinge.NotCovered,
        "inverse_dynamics: qd is a tensor on meta; it has to be on the CPU or a GPU of NVIDIA.\n  Give x.cpu().",
        lambda: arm.inverse_dynamics(x, x.to("meta"), x),
    )
    refused(
        hinge.SizeError,
        "inverse_dynamics: q is a tensor of torch.bfloat16; it has to be float64 or float32.\n  Give x.double().",
        lambda: arm.inverse_dynamics(x.bfloat16(), x, x),
    )
    refused(
        hinge.SizeError,
        "inverse_dynamics: q has 2 entries, robot 'chain3' has nq = 3.",
        lambda: arm.inverse_dynamics(x[:2], x, x),
    )
    refused(
        hinge.SizeError,
        "inverse_dynamics: q[1] is inf. Give finite numbers.",
        lambda: arm.inverse_dynamics(torch.tensor([0.0, torch.inf, 0.0]), x, x, check="values"),
    )
    refused(
        hinge.UnknownName,
        "gravity_force: parameter 'lower.mas' is not varied. Did you mean 'lower.mass' or 'lower.com' or "
        "'upper.mass'? robot.vary(…) names what is.",
        lambda: varied.gravity_force(x[:2], parameters={"lower.mas": x[0]}),
    )
    refused(
        hinge.NotCovered,
        "linearize takes no tensors.\n  Give it arrays of NumPy, or ask for derivatives of step.",
        lambda: arm.linearize(x, x, x),
    )
    q = torch.tensor(state(free)[0])
    refused(
        hinge.NotCovered,
        "mass_matrix: gradients by q of its derivatives along velocities are not covered, because robot "
        "'floating' has quaternions.\n  Take both with the tensor library, of the plain call; or give q without a "
        "gradient.",
        lambda: free.derivatives("mass_matrix", q.requires_grad_())[0].sum().backward(),
    )
    refused(
        hinge.NotCovered,
        "mass_matrix: packed derivatives carry no gradients.\n  Leave packed out.",
        lambda: arm.derivatives("mass_matrix", x.requires_grad_(), packed=True).sum().backward(),
    )
