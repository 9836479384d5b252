"""The geodesic that joins two configurations: it is one, it arrives, and nothing near it is shorter."""

import numpy as np
import pytest

import hinge
from hinge import Status

AT = np.linspace(0.0, 1.0, 201)


def length(robot, q, qd):
    """∫ √(2T) dt of a path at equal times, by Simpson's rule."""
    speed = np.sqrt(2.0 * robot.kinetic_energy(q, qd))
    weights = np.ones(len(speed))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return weights @ speed / (3.0 * (len(speed) - 1))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("q0", "q1"), [
    ([0.0, 0.5], [1.0, -0.2]), ([0.1, 0.2], [2.5, 2.5]), ([0.0, 0.0], [1.5, 0.0]), ([0.0, 0.5], [3.0, -0.5]),
])  # fmt: skip
def test_nothing_near_it_is_shorter(q0, q1):
    arm = hinge.samples.planar_2r()
    path = arm.geodesic_between(q0, q1, steps=200)
    assert path.status == Status.OK
    np.testing.assert_allclose(path.q[[0, -1]], [q0, q1], atol=1e-9)
    own = length(arm, path.q, path.qd)
    twice = 2.0 * arm.kinetic_energy(path.q, path.qd)
    assert np.ptp(twice) < 1e-6 * twice[0]
    np.testing.assert_allclose(own, np.sqrt(twice[0]), rtol=1e-6)
    rng = np.random.default_rng(0)
    for size in (0.3, 0.1, 0.03):
        for _ in range(10):
            way = rng.normal(size=(3, 2)) * size
            k = np.pi * np.arange(1, 4)
            aside, rate = np.sin(np.outer(AT, k)) @ way, (np.cos(np.outer(AT, k)) * k) @ way
            assert length(arm, path.q + aside, path.qd + rate) > own
    # nor is the straight line in coordinates
    straight = arm.length(lambda s: [a + s * (b - a) for a, b in zip(q0, q1, strict=True)])
    assert own < straight


def test_it_is_the_free_motion_that_begins_as_it_does():
    arm = hinge.samples.puma560()
    q, _ = arm.random_state(np.random.default_rng(1), 6)
    path = arm.geodesic_between(q[:3], q[3:])
    assert (path.status == Status.OK).all()
    assert path.q.shape == (3, 101, 6)
    again, speed = arm.geodesic(q[:3], path.qd[:, 0], steps=1000)
    np.testing.assert_allclose(again[:, ::10], path.q, atol=1e-7)
    np.testing.assert_allclose(speed[:, ::10], path.qd, atol=1e-6)
    np.testing.assert_allclose(again[:, -1], q[3:], atol=1e-7)


def test_scipy_finds_the_same():
    scipy = pytest.importorskip("scipy.integrate")
    arm = hinge.samples.planar_2r()
    free = arm.with_gravity([0.0, 0.0, 0.0])
    q0, q1 = np.array([0.2, 0.6]), np.array([1.1, 0.1])

    def rates(t, y):
        return np.concatenate([y[2:], free.forward_dynamics(y[:2].T, y[2:].T, np.zeros(2)).T])

    mesh = np.linspace(0.0, 1.0, 21)
    guess = np.concatenate([q0[:, None] + np.outer(q1 - q0, mesh), np.outer(q1 - q0, np.ones(21))])
    ends = lambda a, b: np.concatenate([a[:2] - q0, b[:2] - q1])
    other = scipy.solve_bvp(rates, ends, mesh, guess, tol=1e-10)
    path = arm.geodesic_between(q0, q1)
    np.testing.assert_allclose(path.q, other.sol(np.linspace(0.0, 1.0, 101))[:2].T, atol=1e-8)


def test_a_ball_turns_about_one_axis_and_goes_straight():
    """A free body whose inertia is the same about all axes."""
    builder = hinge.Builder("ball")
    builder.link("ball", mass=2.0, inertia=0.3 * np.eye(3))
    ball = hinge.Robot(builder.build(base="floating"))
    q, _ = ball.random_state(np.random.default_rng(3), 8)
    path = ball.geodesic_between(q[:4], q[4:])
    assert (path.status == Status.OK).all()
    s = np.linspace(0.0, 1.0, 101)
    straight = q[:4, None, 4:] + s[:, None] * (q[4:, None, 4:] - q[:4, None, 4:])
    np.testing.assert_allclose(path.q[..., 4:], straight, atol=1e-7)
    w = ball.difference(q[:4], q[4:])[:, :3]
    turned = ball.integrate(q[:4, None], np.concatenate([s[:, None] * w[:, None], np.zeros((4, 101, 3))], axis=-1))
    near = np.abs(np.sum(turned[..., :4] * path.q[..., :4], axis=-1))
    np.testing.assert_allclose(near, 1.0, atol=1e-9)


def test_slides_go_straight_and_batches_broadcast():
    gantry = hinge.dh([{"type": "prismatic", "alpha": a, "mass": 1.0, "com": (0, 0, 0), "inertia": np.eye(3)}
                       for a in (0.0, np.pi / 2, np.pi / 2)])  # fmt: skip
    q1 = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]])
    path = gantry.geodesic_between([0.0, 0.0, 0.0], q1, steps=4)
    np.testing.assert_allclose(path.q, np.linspace(0.0, 1.0, 5)[:, None] * q1[:, None], atol=1e-12)
    assert path.status.tolist() == [0, 0]


def test_what_has_no_answer_is_in_its_row():
    arm = hinge.samples.planar_2r()
    path = arm.geodesic_between([[0.0, np.nan], [0.0, 0.5], [0.3, 0.4]], [[1.0, 0.0], [0.2, 0.4], [0.3, 0.4]], steps=20)
    assert path.status.tolist() == [Status.NONFINITE, Status.OK, Status.OK]
    assert np.isnan(path.q[0, 1:]).all()
    assert np.isfinite(path.q[1:]).all()
    np.testing.assert_array_equal(path.qd[2], np.zeros((21, 2)))
    far = arm.geodesic_between([0.0, 0.0], [300.0, 0.0], steps=10)
    assert far.status == Status.UNCONVERGED
    assert np.isnan(far.q[1:]).all()


def test_what_it_does_not_cover_is_refused():
    for robot, why in (
        (hinge.samples.four_bar(), "it has kinematic loops"),
        (hinge.samples.planar_2r().prescribe("elbow"), "joint 'elbow' is driven"),
    ):
        with pytest.raises(hinge.NotCovered, match=f"geodesic_between: nothing covers robot '.*': {why}."):
            robot.geodesic_between(robot.neutral(), robot.neutral())
    arm = hinge.samples.planar_2r()
    with pytest.raises(hinge.SizeError, match=r"geodesic_between: q1 has shape \(3,\); it has to end in \(2,\)"):
        arm.geodesic_between([0.0, 0.0], [0.0, 0.0, 0.0])
    with pytest.raises(hinge.SizeError, match="geodesic_between: steps=0 is not known"):
        arm.geodesic_between([0.0, 0.0], [0.0, 0.0], steps=0)
