"""Calls on tensors of torch have the values of calls on arrays, and gradients that differences agree with."""

import numpy as np
import pytest
from sweeps import swept
from tensor_cases import CASES, robot, state

import hinge
from hinge.calls import inputs
from hinge.dynamics.registry import PLACE, default, required_inputs
from hinge.robot.algorithms import ALGORITHMS

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'hinge[torch]'")
from torch.autograd import forward_ad, gradcheck, gradgradcheck  # noqa: E402

CALLS = {"inverse_dynamics": (), "forward_dynamics": (), "step": (0.01,)}
FEW = {"inverse_dynamics", "pose", "kinetic_energy", "integrate", "hybrid_dynamics"}


def leaf(*arrays):
    return [torch.tensor(x, requires_grad=True) for x in arrays]


def unit(quaternion):
    return quaternion / quaternion.norm()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_arrays_and_gradients_those_of_differences(case, name):
    system = robot(case)
    arrays = state(system)

    def call(*given):
        return getattr(system, name)(*given, *CALLS[name])

    tensors = leaf(*arrays)
    made, wanted = call(*tensors), call(*arrays)
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (made, wanted)), strict=True):
        np.testing.assert_array_equal(one.detach().numpy(), other)
    assert gradcheck(call, tensors)
    assert gradgradcheck(call, tensors)


@pytest.mark.parametrize("name", CALLS)
def test_gradients_by_varied_numbers(name):
    system = robot("varied")
    q, qd, last = state(system, 3)
    masses, com = leaf(np.array([0.8, 1.0, 1.3]), np.array([0.4, 0.1, 0.0]))

    def call(masses, com, last):
        parameters = {"lower.mass": masses, "lower.com": com, "upper.mass": 1.5}
        return getattr(system, name)(q, qd, last, *CALLS[name], parameters=parameters)

    assert gradcheck(call, (masses, com, *leaf(last)))
    assert gradgradcheck(call, (masses, com, *leaf(last)))


def test_gradients_by_forces_and_by_the_motion_of_the_base():
    arm = hinge.samples.planar_2r()
    q, qd, qdd = state(arm)
    rng = np.random.default_rng(1)
    at_hand, at_elbow, v, a = leaf(*(rng.normal(size=shape) for shape in ((3, 1, 6), (6,), (6,), (2, 6))))

    def call(at_hand, at_elbow, v, a):
        return arm.inverse_dynamics(q, qd, qdd, external={"lower": at_elbow, "hand": at_hand}, base_motion=(v, a))

    assert call(at_hand, at_elbow, v, a).shape == (3, 2, 2)
    assert gradcheck(call, (at_hand, at_elbow, v, a))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", swept(sorted(ALGORITHMS), FEW.__contains__))
def test_every_algorithm_takes_tensors(name):
    system = hinge.samples.four_bar() if name.startswith("loop") else robot("floating")
    rng = np.random.default_rng(2)
    q, _, _ = state(system, 1)
    given = []
    for one, quantity in required_inputs(name).items():
        if quantity is PLACE:
            given.append(system.frame_names[-1])
        elif quantity.counted == "nq":
            given.append(q[0])
        else:
            given.append(np.abs(rng.normal(size=quantity.shape(system.model))) * (0.01 if one == "h" else 1.0))
    if "known" in required_inputs(name):
        given[list(required_inputs(name)).index("known")] = np.arange(system.nv) % 2.0
    words = dict.fromkeys(inputs.algorithm_only_inputs(default(name)))
    try:
        wanted = getattr(system.target, name)(*given, **words)
    except hinge.NotCovered as reason:
        pytest.skip(str(reason))
    moving = [
        k
        for k, x in enumerate(given)
        if not isinstance(x, str) and x.size and list(required_inputs(name))[k] != "known"
    ]

    def call(*tensors):
        whole = list(given)
        for k, x in zip(moving, tensors, strict=True):
            whole[k] = x
        if name == "rate":  # which is in proportion to a quaternion, where all others are what they are of a unit one
            whole[0] = torch.cat([unit(whole[0][:4]), whole[0][4:7], unit(whole[0][7:11]), whole[0][11:]])
        return getattr(system.target, name)(*whole, **words)

    tensors = leaf(*(given[k] for k in moving))
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (call(*tensors), wanted)), strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other, rtol=1e-14, atol=1e-14)
    assert gradcheck(call, tensors, atol=1e-4, rtol=1e-4, fast_mode=True)


def test_the_gradient_along_a_quaternion_is_zero():
    system = robot("floating")
    q, qd, tau = state(system, 1)
    (x,) = leaf(q[0])
    (gradient,) = torch.autograd.grad(system.forward_dynamics(x, qd[0], tau).sum(), x)
    assert gradient.shape == (system.nq,)
    for at in (slice(0, 4), slice(7, 11)):
        assert abs(float(gradient[at] @ x.detach()[at])) < 1e-10 * float(gradient[at].norm())


def test_the_gradient_of_a_broadcast_input_is_the_sum():
    arm = robot("arm")
    q, qd, qdd = state(arm, 4)
    alone, one, many = leaf(qdd, qdd, np.tile(qdd, (4, 1)))
    w = torch.arange(12.0).reshape(4, 3).double()
    (summed,) = torch.autograd.grad(arm.inverse_dynamics(q, qd, one), one, w)
    (each,) = torch.autograd.grad(arm.inverse_dynamics(q, qd, many), many, w)
    torch.testing.assert_close(summed, each.sum(0))
    assert torch.autograd.grad(arm.inverse_dynamics(q[0], qd[0], alone), alone, w[0])[0].shape == (3,)


def test_driven_joints_move_as_tensors_say():
    arm = hinge.samples.planar_2r().prescribe("elbow")
    (x, moving) = leaf(np.array([0.4]), np.array([0.2]))
    assert gradcheck(lambda x: arm.inverse_dynamics(x, x, x, prescribed=(moving.detach(), [1.0])), x)
    with pytest.raises(hinge.SizeError, match="has driven joints"):
        arm.inverse_dynamics(x, x, x)
    made = arm.inverse_dynamics(x, x, x, prescribed=(moving, [1.0]))
    with pytest.raises(hinge.NotCovered) as caught:
        made.sum().backward()
    assert str(caught.value) == (
        "inverse_dynamics: there are no derivatives by prescribed=. Give it as an array that is not differentiated."
    )


def test_gradients_of_derivatives():
    arm = robot("arm")
    q, qd, qdd = leaf(*state(arm))
    w = torch.ones(2, 3).double().requires_grad_()
    assert gradcheck(lambda *x: arm.derivatives("inverse_dynamics", *x), (q, qd, qdd))
    free = robot("floating")
    assert gradcheck(lambda *x: free.derivatives("inverse_dynamics", *x), leaf(*state(free)))
    assert gradcheck(lambda q, w: arm.vjp("inverse_dynamics", (q, qd, qdd), w), (q, w))
    assert gradcheck(lambda q, w: arm.jvp("inverse_dynamics", (q, qd, qdd), {"q": w}), (q, w))
    wanted = arm.second_derivatives("inverse_dynamics", *state(arm), by=("q",))[0][0]
    np.testing.assert_array_equal(
        arm.second_derivatives("inverse_dynamics", q, qd, qdd, by=("q",))[0][0].detach(), wanted
    )


def test_forward_mode():
    system = robot("floating")
    q, qd, tau = (torch.tensor(x) for x in state(system))
    assert gradcheck(
        system.forward_dynamics,
        [x.requires_grad_() for x in (q, qd, tau)],
        check_forward_ad=True,
        check_backward_ad=False,
    )
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(q.detach(), torch.ones_like(q))
        rate = forward_ad.unpack_dual(system.forward_dynamics(dual, qd.detach(), tau.detach())).tangent
    assert rate.shape == (2, system.nv)


def test_a_rollout_of_steps_has_gradients():
    arm = hinge.samples.planar_2r().vary("lower.mass")
    (mass, q0) = leaf(np.array(1.2), np.array([0.3, -0.4]))

    def end(mass, q):
        qd = torch.zeros(2).double()
        for _ in range(50):
            q, qd = arm.step(q, qd, torch.zeros(2).double(), 0.01, parameters={"lower.mass": mass})
        return q, qd

    assert gradcheck(end, (mass, q0))


class Product:
    """x times y summed, of vectors; or, pulled, its gradient: what `differentiable` takes."""

    def __init__(self, by=None):
        self.by, self.status = by, False
        self.axes = (1, 1) if by is None else (1, 1, 0)
        self.results = ((),) if by is None else tuple((3,) for _ in by)

    def run(self, arrays):
        if self.by is None:
            return (np.asarray(np.sum(arrays[0] * arrays[1], axis=-1)),)
        x, y, weight = arrays
        return tuple(np.asarray(weight[..., None] * (y, x)[k]) for k in self.by)

    def vjp(self, by):
        return Product(tuple(by))


def test_other_functions_of_arrays_can_have_gradients():
    from hinge.calls.torch_calls import differentiable

    product = Product()
    x, y = leaf(np.array([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0]]), np.array([2.0, 1.0, 4.0]))
    assert differentiable(product, (x, y))[0].tolist() == [16.0, -3.0]
    assert gradcheck(lambda x, y: differentiable(product, (x, y)), (x, y))
    assert gradcheck(lambda x: differentiable(product, (x, y.detach())), x)
