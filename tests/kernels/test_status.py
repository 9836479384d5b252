"""How each state fared: singular and other states keep to their own row, and `check` says where a number is bad."""

import numpy as np
import pytest
from kernel_cases import point_mass_arm, same_bits

import hinge
from hinge import SizeError, Status, UnknownName

OK, SINGULAR, NONFINITE = (np.uint8(s) for s in (Status.OK, Status.SINGULAR, Status.NONFINITE))
METHODS = ["articulated", "composite", "composite_llt"]
both = pytest.mark.parametrize("backend", ["llvm", "interpret"])


@pytest.fixture(scope="module")
def arm():
    return point_mass_arm()


def states(n, number=np.float64):
    """States of the arm that are all good."""
    rng = np.random.default_rng(n)
    q = rng.uniform(0.5, 1.5, (n, 2))
    return [x.astype(number) for x in (q, rng.normal(size=(n, 2)), rng.normal(size=(n, 2)))]


FAULTS = {
    "straight": (0, 1, 0.0, SINGULAR),
    "elbow at NaN": (0, 1, np.nan, NONFINITE),
    "shoulder at NaN": (0, 0, np.nan, NONFINITE),
    "elbow at infinity": (0, 1, np.inf, NONFINITE),
    "elbow beyond all angles": (0, 1, 1e10, NONFINITE),
    "endless velocity": (1, 0, -np.inf, NONFINITE),
    "velocity NaN": (1, 1, np.nan, NONFINITE),
    "force NaN": (2, 0, np.nan, NONFINITE),
    "endless force": (2, 1, np.inf, NONFINITE),
}


@both
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", [np.float64, np.float32], ids=["double", "single"])
def test_a_bad_state_keeps_to_its_row(arm, backend, method, number):
    for n in (1, 2, 5, 9, 33):
        given = states(n, number)
        clean, status = arm.forward_dynamics(*given, method=method, backend=backend, return_status=True)
        assert np.isfinite(clean).all()
        assert same_bits(status, np.full(n, OK))
        for array, column, value, wanted in FAULTS.values():
            for row in {0, n // 2, n - 1}:
                bad = [x.copy() for x in given]
                bad[array][row, column] = value
                made, status = arm.forward_dynamics(*bad, method=method, backend=backend, return_status=True)
                others = np.arange(n) != row
                assert same_bits(made[others], clean[others])
                assert not np.isfinite(made[row]).all()
                assert same_bits(status, np.where(others, OK, wanted))


@both
@pytest.mark.parametrize("method", METHODS)
def test_a_singular_state_is_a_whole_row_of_nan(arm, backend, method):
    q = np.array([[0.3, 0.5], [0.3, 0.0], [0.3, -0.5]])
    made = arm.forward_dynamics(q, np.zeros(2), np.zeros(2), method=method, backend=backend)
    assert np.isnan(made).tolist() == [[False] * 2, [True] * 2, [False] * 2]
    inverse, status = arm.inverse_mass_matrix(q, backend=backend, return_status=True)
    assert np.isnan(inverse).all(axis=(1, 2)).tolist() == np.isnan(inverse).any(axis=(1, 2)).tolist()
    assert status.tolist() == [OK, SINGULAR, OK]


@both
def test_a_pivot_below_zero_is_singular(backend):
    """The upper arm has less than no mass: the state is good only while the load hides it."""
    builder = hinge.Builder("owing")
    builder.link("base")
    builder.link("upper", -0.5, (1.0, 0.0, 0.0))
    builder.link("lower", 1.0, (1.0, 0.0, 0.0))
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, -1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", (1.0, 0.0, 0.0), axis=(0, -1, 0))
    arm = hinge.Robot(builder.build())
    q = np.stack([np.zeros(50), np.linspace(-3.0, 3.0, 50)], axis=1)
    good = np.linalg.eigvalsh(arm.mass_matrix(q)).min(axis=-1) > 0
    assert 5 < good.sum() < 45
    for method in METHODS:
        made, status = arm.forward_dynamics(q, q, q, method=method, backend=backend, return_status=True)
        assert np.array_equal(status, np.where(good, OK, SINGULAR))
        assert np.array_equal(np.isfinite(made).all(axis=1), good)
        assert np.array_equal(np.isnan(made).all(axis=1), ~good)


@both
def test_a_status_has_the_shape_of_the_batch(arm, backend):
    q, qd, tau = (x.reshape(2, 3, 2) for x in states(6))
    q[1, 2, 1] = 0.0
    made, status = arm.forward_dynamics(q, qd, tau, backend=backend, return_status=True)
    assert (made.shape, status.shape, status.dtype) == ((2, 3, 2), (2, 3), np.uint8)
    assert status.tolist() == [[0, 0, 0], [0, 0, 1]]
    one = arm.forward_dynamics(q[1, 2], qd[1, 2], tau[1, 2], backend=backend, return_status=True)[1]
    assert (one.shape, one.dtype, Status(int(one))) == ((), np.uint8, Status.SINGULAR)


@both
def test_what_solves_nothing_has_a_status_too(arm, backend):
    q, qd, _ = states(4)
    q[1, 1], qd[2, 0] = np.nan, np.inf
    assert arm.kinetic_energy(q, qd, backend=backend, return_status=True)[1].tolist() == [0, 2, 2, 0]
    assert arm.mass_matrix(q, backend=backend, return_status=True)[1].tolist() == [0, 2, 0, 0]
    pose, status = arm.pose(q, "lower", backend=backend, return_status=True)
    assert (pose.shape, status.tolist()) == ((4, 4, 4), [0, 2, 0, 0])


def test_asking_for_a_status_does_not_change_the_result(arm):
    q, qd, tau = states(9)
    out = np.empty_like(qd)
    made, status = arm.forward_dynamics(q, qd, tau, out=out, return_status=True)
    assert made is out
    assert same_bits(out, arm.forward_dynamics(q, qd, tau))
    assert status.tolist() == [0] * 9


def test_a_zero_quaternion_is_a_row_of_its_own():
    robot = hinge.samples.chain(np.random.default_rng(0), 2, "spherical")
    q, qd = robot.random_state(np.random.default_rng(1), 5)
    clean = robot.inverse_dynamics(q, qd, qd)
    q[3, 4:] = 0.0
    made, status = robot.inverse_dynamics(q, qd, qd, return_status=True)
    assert status.tolist() == [0, 0, 0, 2, 0]
    assert same_bits(np.delete(made, 3, axis=0), np.delete(clean, 3, axis=0))


# ---- check="values"

BAD = [
    (0, (1,), np.nan, "q[1] is nan"),
    (1, (0,), np.inf, "qd[0] is inf"),
    (2, (1,), -np.inf, "qdd[1] is -inf"),
    (0, (3, 1), np.nan, "q[3, 1] is nan"),
    (2, (0, 2, 0), np.nan, "qdd[0, 2, 0] is nan"),
]


@both
@pytest.mark.parametrize(("array", "at", "value", "message"), BAD)
def test_a_check_of_values_says_which_entry_is_bad(arm, backend, array, at, value, message):
    shape = {1: (2,), 2: (4, 2), 3: (2, 3, 2)}[len(at)]
    given = [np.full(shape, 0.5) for _ in range(3)]
    good = arm.inverse_dynamics(*given, backend=backend, check="values")
    assert same_bits(good, arm.inverse_dynamics(*given, backend=backend))
    given[array][at] = value
    with pytest.raises(SizeError) as caught:
        arm.inverse_dynamics(*given, backend=backend, check="values")
    assert str(caught.value) == f"inverse_dynamics: {message}. Give finite numbers."
    assert not np.isfinite(arm.inverse_dynamics(*given, backend=backend)).all()  # unasked, nothing is refused


@pytest.mark.parametrize(("word", "hint"), [("value", "Did you mean 'values'?"), ("none", "Known: 'sizes', 'values'.")])
def test_an_unknown_check_is_refused(arm, word, hint):
    with pytest.raises(UnknownName) as caught:
        arm.gravity_force([0.1, 0.2], check=word)
    assert str(caught.value) == f"check={word!r} is not known. {hint}"
