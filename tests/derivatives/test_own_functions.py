"""hinge.gradient and hinge.jacobian: users' functions of arrays, traced, differentiated and compiled."""

import numpy as np
import pytest
from differences import WEIGHTS, near

import hinge
from hinge.errors import SizeError, TraceError
from hinge.graph import repeat

pytestmark = pytest.mark.usefixtures("plain_interpreter")
ARM = hinge.samples.planar_2r()
RNG = np.random.default_rng(7)


def differences(f, x, h=1e-3):
    """The derivatives of f by the numbers of x, found by differences of sixth order."""
    units = np.eye(x.size).reshape(-1, *x.shape)
    each = [sum(w / h * (f(x + k * h * e) - f(x - k * h * e)) for k, w in enumerate(WEIGHTS, 1)) for e in units]
    return np.moveaxis(np.array(each), 0, -1).reshape(*np.shape(each[0]), *x.shape)


def cost(q, u):
    """Energies, the place of the hand, and effort: NumPy and calls of a robot."""
    hand = ARM.pose(q, "hand")[:3, 3]
    qdd = ARM.forward_dynamics(q, 0.1 * u, u)
    return np.linalg.norm(hand - 0.3) + np.sum(np.exp(-qdd * qdd)) + u @ np.diag([1.0, 2.0]) @ u


def test_closed_forms():
    A, b = RNG.normal(size=(3, 4)), RNG.normal(size=3)
    x = RNG.normal(size=4)
    near(hinge.gradient(lambda x: (A @ x - b) @ (A @ x - b))(x), 2 * A.T @ (A @ x - b), 1e-14)
    near(hinge.jacobian(lambda x: np.tanh(A @ x))(x), (1 - np.tanh(A @ x) ** 2)[:, None] * A, 1e-14)
    near(hinge.jacobian(lambda x: np.sin(x))(x), np.diag(np.cos(x)), 1e-14)
    near(hinge.gradient(lambda x: x**3)(2.0), 12.0, 1e-15)
    near(hinge.gradient(lambda X: np.trace(X @ X))(A[:, :3]), 2 * A[:, :3].T, 1e-14)
    near(hinge.jacobian(lambda x, t: t * x, by=1)(x, 0.5), x, 1e-15)
    near(hinge.jacobian(lambda x: [x[0] * x[1], 3.0])(x), [[x[1], x[0], 0, 0], [0, 0, 0, 0]], 1e-15)
    assert np.array_equal(hinge.gradient(lambda x: 1.0)(x), np.zeros(4))


def test_a_cost_with_calls_of_a_robot_against_differences():
    q, u = RNG.normal(size=(2, 2))
    dq, du = hinge.gradient(cost, by=(0, 1))(q, u)
    near(dq, differences(lambda x: cost(x, u), q), 1e-10)
    near(du, differences(lambda x: cost(q, x), u), 1e-10)
    (alone,) = hinge.gradient(cost, by=(1,))(q, u)
    near(alone, du, 1e-15)


def test_derivatives_nest():
    q = RNG.normal(size=2)
    hessian = hinge.jacobian(hinge.gradient(lambda q: ARM.potential_energy(q)))(q)
    near(hessian, ARM.second_derivatives("potential_energy", q)[0][0], 1e-13)
    inside = hinge.gradient(lambda q: np.sum(ARM.derivatives("gravity_force", q)[0] ** 2))(q)
    near(inside, differences(lambda q: np.sum(ARM.derivatives("gravity_force", q)[0] ** 2), q), 1e-10)


@pytest.mark.parametrize("count", [1, 5])
def test_forward_and_backward_are_the_same(count):
    """More results than arguments are found forward, fewer backward; through a loop too."""

    def swing(x):
        made = repeat(20, [x[0], x[1]], lambda k, a, b: [a + 0.1 * b, b - 0.1 * np.sin(a) * x[2]])
        return np.array([a * made[0] + made[1] for a in range(1, count + 1)])

    x = RNG.normal(size=3)
    near(hinge.jacobian(swing)(x), differences(lambda x: np.array(_swung(x, count)), x), 1e-10)


def _swung(x, count):
    a, b = x[0], x[1]
    for _ in range(20):
        a, b = a + 0.1 * b, b - 0.1 * np.sin(a) * x[2]
    return [k * a + b for k in range(1, count + 1)]


def test_batches_and_single_precision():
    q, u = RNG.normal(size=(2, 7, 2))
    each = [hinge.gradient(cost, by=(0, 1))(*one) for one in zip(q, u, strict=True)]
    dq, du = hinge.gradient(cost, by=(0, 1), batch=1)(q, u)
    near([*zip(dq, du, strict=True)], each, 1e-14)
    near(hinge.gradient(cost, by=1, batch=1)(q[:1], u), [hinge.gradient(cost, by=1)(q[0], x) for x in u], 1e-14)
    single = hinge.gradient(cost, batch=1)(q.astype(np.float32), u.astype(np.float32))
    assert single.dtype == np.float32
    near(single, dq, 1e-4)
    assert hinge.gradient(cost, batch=1)(q[:0], u[:0]).shape == (0, 2)
    q[3, 0] = np.nan
    bad = hinge.gradient(cost, batch=1)(q, u)
    assert np.isnan(bad[3]).any()
    near(np.delete(bad, 3, 0), np.delete(dq, 3, 0), 0.0)


def test_what_is_changed_while_it_is_traced_is_put_back():
    calls = []

    def f(x):
        calls.append(x)
        return x * x

    g = hinge.gradient(f)
    assert (g(3.0), g(4.0)) == (6.0, 8.0)
    assert calls == []


def refused(do, *given):
    with pytest.raises(hinge.HingeError) as caught:
        do(*given)
    return type(caught.value), str(caught.value)


def test_what_is_refused_says_why():
    def branch(x):
        return x if x > 0 else -x

    def two(x, y):
        return x + y

    assert refused(hinge.gradient(branch), 1.0) == (TraceError, (
        "gradient of 'branch': the traced value 0 < argument 0[0] has no truth value: its number is not known yet.\n"
        "  Write select(less(a, b), this, that) instead of an if."))  # fmt: skip
    assert refused(hinge.gradient(two), [1.0, 2.0], [3.0, 4.0]) == (SizeError, (
        "gradient of 'two': it gives shape (2,), and a gradient is that of a number.\n"
        "  Take np.sum of it, or hinge.jacobian."))  # fmt: skip
    assert refused(hinge.jacobian(two, by=2), 1.0, 2.0) == (SizeError, (
        "jacobian of 'two': by=2 names argument 2; 2 were given, counted from 0."))  # fmt: skip
    assert refused(hinge.jacobian, two, (0, 0)) == (SizeError, (
        "jacobian of 'two': by is (0, 0); give the number of an argument, from 0, "
        "or a tuple of them, each once."))  # fmt: skip
    assert refused(hinge.jacobian(two), 1.0, "hand") == (SizeError, (
        "jacobian of 'two': argument 1 is a str, and has to be an array of real numbers.\n"
        "  Put names and settings into the function: lambda q: f(q, 'hand')."))  # fmt: skip
    assert refused(hinge.gradient, 3.0) == (TraceError, (
        "hinge.gradient takes a function of arrays; a float was given."))  # fmt: skip
    assert refused(hinge.gradient(two, batch=1), [1.0], 2.0) == (SizeError, (
        "gradient of 'two': argument 1 has shape (); its first 1 axes count states."))  # fmt: skip
    assert refused(hinge.jacobian(lambda x: (x, None)), 1.0) == (TraceError, (
        "jacobian of '<lambda>': it gives a tuple, which is no array of numbers made of its arguments.\n"
        "  Let it return one array, or one number."))  # fmt: skip


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5, 2.0, 2.5, 3.5, -0.5, -1.5])
def test_powers_have_their_derivatives_everywhere(exponent):
    x = np.array([0.25, 4.0])
    near(hinge.gradient(lambda x: np.sum(x**exponent))(x), exponent * x ** (exponent - 1.0), 1e-14)
    near(np.asarray(hinge.jacobian(lambda x: x**exponent)(x)), np.diag(exponent * x ** (exponent - 1.0)), 1e-14)
    if exponent > 1.0:
        assert hinge.gradient(lambda x: x**exponent)(0.0) == 0.0
        assert hinge.jacobian(lambda x: x**exponent)(np.zeros(1)) == 0.0
