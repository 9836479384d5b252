"""Single precision: where every input is, the result is, and as good as single precision can be."""

import numpy as np
import pytest
from kernel_cases import ROBOTS, states

import hinge
from hinge.backends.llvm import DOUBLE, SINGLE, Native
from hinge.graph import Graph, Input, atan2, cos, order, sin

SINGLES = np.float32


def calls(robot):
    tip = robot.body_names[-1]
    return {
        "inverse_dynamics": lambda q, qd, x: robot.inverse_dynamics(q, qd, x),
        "forward_dynamics": lambda q, qd, x: robot.forward_dynamics(q, qd, x),
        "mass_matrix": lambda q, qd, x: robot.mass_matrix(q),
        "bias_force": lambda q, qd, x: robot.bias_force(q, qd),
        "pose": lambda q, qd, x: robot.pose(q, tip),
        "jacobian": lambda q, qd, x: robot.jacobian(q, tip, frame="base"),
        "kinetic_energy": lambda q, qd, x: robot.kinetic_energy(q, qd),
        "integrate": lambda q, qd, x: robot.integrate(q, qd),
    }


@pytest.mark.parametrize("name", ["planar", "puma", "follower", "floating"])
def test_single_precision_agrees_with_double(name):
    robot = ROBOTS[name]()
    singles = states(robot, 200, 3, SINGLES)
    doubles = [x.astype(np.float64) for x in singles]  # the very same states
    for what, call in calls(robot).items():
        got, want = call(*singles), call(*doubles)
        assert (got.dtype, want.dtype) == (SINGLES, np.float64)
        scale = np.abs(want).max()
        error = np.abs(got - want).max() / scale
        assert error < (2e-4 if what == "forward_dynamics" else 1e-5), what
        assert error > 1e-10, what  # it was not computed in double precision


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
@pytest.mark.parametrize("shape", [(2,), (1, 2), (5, 2)])
def test_the_type_of_the_result_follows_from_the_inputs(backend, shape):
    arm = hinge.samples.planar_2r()
    single, double = np.full(shape, 0.1, SINGLES), np.full(shape, 0.1)

    def result(*given):
        return arm.inverse_dynamics(*given, backend=backend).dtype

    assert result(single, single, single) == np.float32
    for k in range(3):
        for other in (double, double.tolist(), np.zeros(shape, int), np.zeros(shape, np.float16)):
            given = [single] * 3
            given[k] = other
            assert result(*given) == np.float64
    assert arm.pose(single, "hand", backend=backend).dtype == np.float32  # a name is no input


def test_mixed_inputs_are_computed_in_double_precision():
    arm = hinge.samples.planar_2r()
    q, qd, qdd = states(arm, 7)
    mixed = arm.inverse_dynamics(q.astype(SINGLES), qd, qdd)
    assert np.array_equal(mixed, arm.inverse_dynamics(q.astype(SINGLES).astype(float), qd, qdd))


def test_an_array_for_the_result_keeps_its_own_type():
    arm = hinge.samples.planar_2r()
    q, qd, qdd = states(arm, 7)
    singles = [x.astype(SINGLES) for x in (q, qd, qdd)]
    narrow, wide = np.empty((7, 2), SINGLES), np.empty((7, 2))
    assert arm.inverse_dynamics(q, qd, qdd, out=narrow) is narrow
    assert np.array_equal(narrow, arm.inverse_dynamics(q, qd, qdd).astype(SINGLES))
    arm.inverse_dynamics(*singles, out=wide)
    assert np.array_equal(wide, arm.inverse_dynamics(*singles).astype(float))


# ---- sine, cosine and arc tangent


def compiled(make, inputs, precision):
    """A function of machine code from rows to rows."""
    graph = Graph()
    entries = make(*(graph.input("x", k) for k in range(inputs)))
    native = Native(order([Input("x", inputs)], [("y", (len(entries),), entries)]), precision)

    def run(*columns):
        x = np.ascontiguousarray(np.stack(columns, axis=1), precision.dtype)
        y = np.empty((len(x), len(entries)), precision.dtype)
        native.run([x], [y])
        return y.T

    return run


def ulps(got, exact):
    """Errors in units of the last place of the exact result in single precision."""
    nearest = exact.astype(SINGLES)
    return np.abs(got.astype(float) - exact) / np.spacing(np.abs(nearest)).astype(float)


def angles(largest):
    """Angles of all sizes, and those next to multiples of pi/2, where digits are easily lost."""
    rng = np.random.default_rng(0)
    spread = rng.uniform(-largest, largest, 100_000)
    small = np.exp(rng.uniform(np.log(1e-30), np.log(largest), 100_000))
    beside = np.arange(1, int(largest / (np.pi / 2)), 7) * (np.pi / 2)
    return np.concatenate([spread, small, -small, beside, np.nextafter(beside.astype(SINGLES), 0)]).astype(SINGLES)


@pytest.mark.parametrize("largest", [1.0, 100.0, 1e5])
def test_single_sines_and_cosines_are_good_to_the_last_places(largest):
    x = angles(largest)
    s, c = compiled(lambda x: [sin(x), cos(x)], 1, SINGLE)(x)
    assert ulps(s, np.sin(x.astype(float))).max() < 2.0
    assert ulps(c, np.cos(x.astype(float))).max() < 2.0


def test_double_sines_and_cosines_agree_with_those_of_the_system():
    x = angles(1e5).astype(float)
    s, c = compiled(lambda x: [sin(x), cos(x)], 1, DOUBLE)(x)
    for got, want in ((s, np.sin(x)), (c, np.cos(x))):
        assert (np.abs(got - want) / np.spacing(np.abs(want))).max() < 4.0


def test_single_arc_tangents_are_good_to_the_last_places():
    rng = np.random.default_rng(1)
    y, x = (rng.normal(size=(2, 100_000)) * np.exp(rng.uniform(-20, 20, (2, 100_000)))).astype(SINGLES)
    (a,) = compiled(lambda y, x: [atan2(y, x)], 2, SINGLE)(y, x)
    exact = np.arctan2(y.astype(float), x.astype(float))
    normal = np.abs(exact) > 1e-30
    assert normal.sum() > 99_000
    assert ulps(a[normal], exact[normal]).max() < 4.0


@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=["single", "double"])
def test_angles_that_say_nothing_give_nan(precision):
    x = np.array([np.nan, np.inf, -np.inf, 1e9, -1e9, 3e9, 0.0, -0.0])
    s, c = compiled(lambda x: [sin(x), cos(x)], 1, precision)(x)
    assert np.isnan(s[:6]).all()
    assert np.isnan(c[:6]).all()
    assert np.array_equal(s[6:], [0.0, 0.0])
    assert np.array_equal(c[6:], [1.0, 1.0])
