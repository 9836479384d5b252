"""Motions of the joints: they are where they say, as fast as they may be, and the same when traced."""

import numpy as np
import pytest

import hinge
from hinge import NotCovered, SizeError, UnknownName
from hinge.backends import interpret
from hinge.graph import Graph, Input, order
from hinge.graph.arrays import symbols

Q0, Q1 = np.array([0.1, -0.5, 0.3, 0.0, 1.0, 0.2]), np.array([1.1, -0.1, -0.7, 0.0, 0.4, 2.2])
POINTS = np.array([[0.0, 0.0], [1.0, 0.4], [0.7, -0.6], [0.2, 0.1], [0.5, 1.0]])
TIMES = np.array([0.0, 0.7, 1.1, 2.0, 2.9])


@pytest.fixture(scope="module")
def arm():
    return hinge.samples.puma560()


@pytest.fixture(scope="module")
def two():
    return hinge.samples.planar_2r()


def motions(arm, two):
    return {
        "quintic": hinge.motion.quintic(arm, Q0, Q1, 2.0),
        "trapezoidal": hinge.motion.trapezoidal(arm, Q0, Q1, 2.0),
        "ramps only": hinge.motion.trapezoidal(arm, Q0, Q1, acceleration=3.0),
        "cubic": hinge.motion.cubic_spline(two, POINTS, TIMES),
        "natural": hinge.motion.cubic_spline(two, POINTS, TIMES, ends="natural"),
        "quintic spline": hinge.motion.quintic_spline(two, POINTS, TIMES),
    }


KINDS = ("quintic", "trapezoidal", "ramps only", "cubic", "natural", "quintic spline")


@pytest.mark.parametrize("kind", KINDS)
def test_velocity_and_acceleration_are_derivatives(arm, two, kind):
    motion, h = motions(arm, two)[kind], 1e-5
    t = np.linspace(0.0, motion.duration, 57)[1:-1] + 1e-3  # off the knots, where accelerations may jump
    before, here, after = motion(t - h), motion(t), motion(t + h)
    np.testing.assert_allclose((after.q - before.q) / (2 * h), here.qd, rtol=0, atol=1e-7)
    np.testing.assert_allclose((after.qd - before.qd) / (2 * h), here.qdd, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_it_rests_before_and_after(arm, two, kind):
    motion = motions(arm, two)[kind]
    first, last = motion(0.0).q, motion(motion.duration).q
    for t, q in ((-1.0, first), (-1e-9, first), (motion.duration + 1e-9, last), (99.0, last)):
        np.testing.assert_array_equal(motion(t).q, q)
        assert not motion(t).qd.any()
        assert not motion(t).qdd.any()


@pytest.mark.parametrize("kind", ["quintic", "trapezoidal", "ramps only"])
def test_point_to_point_begins_and_ends_where_it_is_told_at_rest(arm, two, kind):
    motion = motions(arm, two)[kind]
    for t, q in ((0.0, Q0), (motion.duration, Q1)):
        np.testing.assert_allclose(motion(t).q, q, rtol=0, atol=1e-14)
        np.testing.assert_allclose(motion(t).qd, 0.0, rtol=0, atol=1e-13)
    done = (motion(np.linspace(0, motion.duration, 9)).q - Q0)[:, [0, 1, 2, 4, 5]] / (Q1 - Q0)[[0, 1, 2, 4, 5]]
    np.testing.assert_allclose(done, done[:, :1] * np.ones(5), rtol=0, atol=1e-14)  # all joints at once


@pytest.mark.parametrize("kind", KINDS)
def test_shapes_follow_those_of_time(arm, two, kind):
    motion = motions(arm, two)[kind]
    t = np.random.default_rng(0).uniform(0, motion.duration, (3, 2))
    n = motion.robot.nv
    assert [x.shape for x in motion(t)] == [(3, 2, n)] * 3
    assert [x.shape for x in motion(0.5)] == [(n,)] * 3
    for k, j in np.ndindex(3, 2):
        for many, one in zip(motion(t), motion(t[k, j]), strict=True):
            np.testing.assert_array_equal(many[k, j], one)


@pytest.mark.parametrize("kind", KINDS)
def test_traced_it_is_the_same(arm, two, kind):
    motion, graph = motions(arm, two)[kind], Graph()
    made = motion(symbols(graph.input("t", 0)))
    names = ("q", "qd", "qdd")
    outputs = [(n, x.shape, np.asarray(x).tolist()) for n, x in zip(names, made, strict=True)]
    t = np.concatenate([motion.path.knots, np.linspace(-0.3, motion.duration + 0.3, 101)])
    outs = [np.empty((len(t), motion.robot.nv)) for _ in names]
    interpret.run(order([Input("t", 1)], outputs), [t[:, None]], outs)
    for got, wanted in zip(outs, motion(t), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)


# how fast


def test_a_quintic_is_as_fast_as_its_limits_allow(arm):
    velocity, acceleration = np.array([2.0, 1.0, 1.0, 0.1, 1.0, 2.0]), 1e6
    motion = hinge.motion.quintic(arm, Q0, Q1, velocity=velocity, acceleration=acceleration)
    share = (np.abs(motion(np.linspace(0, motion.duration, 20001)).qd) / velocity).max()
    assert share == pytest.approx(1.0, abs=1e-12)
    assert motion.duration == pytest.approx(1.875 * max(np.abs(Q1 - Q0) / velocity))
    pushed = hinge.motion.quintic(arm, Q0, Q1, velocity=100.0, acceleration=4.0)
    assert np.abs(pushed(np.linspace(0, pushed.duration, 20001)).qdd).max() == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize(("velocity", "acceleration"), [(1.0, 4.0), (100.0, 4.0), (0.5, 100.0)])
def test_a_trapezoid_is_the_fastest_there_is(two, velocity, acceleration):
    """The longest way takes the time of a body that speeds up, coasts and slows down as hard as it may."""
    motion = hinge.motion.trapezoidal(two, [0.0, 0.0], [2.0, -1.0], velocity=velocity, acceleration=acceleration)
    coasts = velocity**2 / acceleration < 2.0
    least = 2.0 / velocity + velocity / acceleration if coasts else 2.0 * np.sqrt(2.0 / acceleration)
    assert motion.duration == pytest.approx(least, rel=1e-12)
    np.testing.assert_allclose(motion.path.peak(1), np.array([1.0, 0.5]) * min(velocity, np.sqrt(2.0 * acceleration)))
    np.testing.assert_allclose(motion.path.peak(2), np.array([1.0, 0.5]) * acceleration)


def test_a_longer_trapezoid_keeps_its_acceleration(two):
    motion = hinge.motion.trapezoidal(two, [0.0, 0.0], [2.0, -1.0], duration=4.0, velocity=1.0, acceleration=4.0)
    assert motion.duration == 4.0
    assert motion.path.peak(2)[0] == pytest.approx(4.0)
    assert motion.path.peak(1)[0] < 1.0


def test_without_limits_of_ones_own_the_robots_serve():
    builder = hinge.Builder("one")
    builder.link("base")
    builder.link("rod", 1.0, inertia=np.eye(3))
    builder.joint("elbow", "revolute", "base", "rod", lower=-3.0, upper=3.0, velocity=0.5)
    robot = hinge.Robot(builder.build())
    assert hinge.motion.quintic(robot, [0.0], [1.0]).duration == pytest.approx(1.875 / 0.5)
    assert hinge.motion.cubic_spline(robot, [[0.0], [1.0], [0.5]]).path.peak(1)[0] == pytest.approx(0.5)
    with pytest.raises(SizeError, match=r"duration=3 is too short: robot 'one' .* needs 3\.75 s"):
        hinge.motion.quintic(robot, [0.0], [1.0], 3.0)
    assert hinge.motion.quintic(robot, [0.0], [1.0], 3.0, velocity=np.inf).duration == 3.0


# through points


@pytest.mark.parametrize("ends", ["rest", "natural"])
def test_cubic_splines_are_those_of_scipy(two, ends):
    from scipy.interpolate import CubicSpline

    motion = hinge.motion.cubic_spline(two, POINTS, TIMES, ends=ends)
    theirs = CubicSpline(TIMES, POINTS, bc_type={"rest": "clamped", "natural": "natural"}[ends])
    t = np.linspace(0.0, TIMES[-1], 301)
    for k, ours in enumerate(motion(t)):
        np.testing.assert_allclose(ours, theirs(t, k), rtol=0, atol=1e-12)


def test_quintic_splines_are_those_of_scipy(two):
    from scipy.interpolate import make_interp_spline

    rest = [(1, np.zeros(2)), (2, np.zeros(2))]
    motion = hinge.motion.quintic_spline(two, POINTS, TIMES)
    theirs = make_interp_spline(TIMES, POINTS, k=5, bc_type=(rest, rest))
    t = np.linspace(0.0, TIMES[-1], 301)
    for k, ours in enumerate(motion(t)):
        np.testing.assert_allclose(ours, theirs(t, k), rtol=0, atol=1e-10)


@pytest.mark.parametrize("make", [hinge.motion.cubic_spline, hinge.motion.quintic_spline])
def test_splines_find_their_own_times(two, make):
    motion = make(two, POINTS, velocity=[1.0, 2.0])
    np.testing.assert_allclose(motion(motion.path.knots).q, POINTS, rtol=0, atol=1e-12)
    speed = np.abs(motion(np.linspace(0.0, motion.duration, 20001)).qd) / [1.0, 2.0]
    assert speed.max() == pytest.approx(1.0, abs=1e-6)
    assert speed.max() <= 1.0 + 1e-12


def test_two_points_are_a_motion(two):
    spline = hinge.motion.quintic_spline(two, POINTS[:2], [0.0, 2.0])
    plain = hinge.motion.quintic(two, *POINTS[:2], 2.0)
    t = np.linspace(0.0, 2.0, 11)
    np.testing.assert_allclose(spline(t).q, plain(t).q, rtol=0, atol=1e-14)


# joints that are not plain


def test_a_continuous_joint_goes_the_short_way():
    robot = hinge.samples.pendulum(1)
    builder = hinge.Builder("wheel")
    builder.link("base")
    builder.link("wheel", 1.0, inertia=np.eye(3))
    builder.joint("axle", "continuous", "base", "wheel")
    robot = hinge.Robot(builder.build())
    motion = hinge.motion.quintic(robot, [3.0], [-3.0], 1.0)
    assert motion(1.0).q == pytest.approx(2 * np.pi - 3.0)
    spline = hinge.motion.cubic_spline(robot, [[3.0], [-3.0], [-2.5]], [0.0, 1.0, 2.0])
    assert spline(2.0).q == pytest.approx(2 * np.pi - 2.5)


@pytest.fixture(scope="module")
def flyer():
    builder = hinge.Builder("flyer")
    builder.link("world")
    builder.link("body", 3.0, (0.1, 0.0, 0.0), np.diag([0.3, 0.4, 0.5]))
    builder.link("arm", 1.0, (0.0, 0.0, -0.3), np.diag([0.1, 0.1, 0.02]))
    builder.joint("base", "free", "world", "body")
    builder.joint("shoulder", "spherical", "body", "arm", (0.0, 0.2, 0.0))
    return hinge.Robot(builder.build())


def test_quaternions_turn_about_one_axis(flyer):
    q, _ = flyer.random_state(np.random.default_rng(0), 2)
    motion, h = hinge.motion.quintic(flyer, *q, 2.0), 1e-5
    t = np.linspace(0.1, 1.9, 7)
    here = motion(t)
    assert (here.q.shape, here.qd.shape) == ((7, 11), (7, 9))
    np.testing.assert_allclose(flyer.difference(motion(2.0).q, q[1]), 0.0, rtol=0, atol=1e-12)
    moved = flyer.difference(motion(t - h).q, motion(t + h).q) / (2 * h)
    np.testing.assert_allclose(moved, here.qd, rtol=0, atol=1e-7)
    with pytest.raises(NotCovered, match="joint 'base' has a quaternion, through which no spline goes"):
        hinge.motion.cubic_spline(flyer, q, [0.0, 1.0])


# what cannot be


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda m, r: m.quintic(r, [0.0], [1.0, 1.0], 1.0), SizeError, r"q0 has shape \(1,\); it has to end in \(2,\)"),
        (lambda m, r: m.quintic(r, [0, 0], [[1, 1]], 1.0), SizeError, r"q1 has shape \(1, 2\); it has to be \(2,\)"),
        (lambda m, r: m.quintic(r, [0, 0], [1, np.nan], 1.0), SizeError, r"q1\[1\] is nan. Give finite numbers."),
        (lambda m, r: m.quintic(r, [0, 0], [1, 1]), SizeError, "nothing limits it. Give duration="),
        (lambda m, r: m.quintic(r, [0, 0], [0, 0], velocity=1.0), SizeError, "q0 and q1 are the same place"),
        (lambda m, r: m.quintic(r, [0, 0], [1, 1], -1.0), SizeError, "duration is -1; it has to be above zero"),
        (lambda m, r: m.quintic(r, [0, 0], [1, 1], 1.0, velocity=1.0), SizeError, r"too short: .* needs 1\.875 s"),
        (lambda m, r: m.trapezoidal(r, [0, 0], [1, 1], 1.9, 1e9, 1.0), SizeError, r"too short: .* needs 2 s"),
        (lambda m, r: m.quintic(r, [0, 0], [1, 1], velocity=0.0), SizeError, "velocity has to be above zero"),
        (lambda m, r: m.quintic(r, [0, 0], [1, 1], velocity=[1, 1, 1]), SizeError, r"a number or \(2,\)"),
        (lambda m, r: m.cubic_spline(r, [[0, 0]], [0.0]), SizeError, "two at least"),
        (lambda m, r: m.cubic_spline(r, POINTS, [0.0, 1.0]), SizeError, "times has 2 entries for 5 points"),
        (lambda m, r: m.cubic_spline(r, POINTS, [0, 2, 1, 3, 4]), SizeError, "begin at 0 and to grow"),
        (lambda m, r: m.cubic_spline(r, POINTS, TIMES, 0.5), SizeError, "joint 'elbow' would go 5.8105 times as fast"),
        (lambda m, r: m.cubic_spline(r, POINTS), SizeError, "not every joint that moves has a velocity limit"),
        (lambda m, r: m.cubic_spline(r, POINTS[[0, 0, 1]], velocity=1.0), SizeError, "points 0 and 1 are the same"),
        (lambda m, r: m.cubic_spline(r, POINTS, TIMES, ends="resting"), UnknownName, "Did you mean 'rest'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(two, make, kind, said):
    with pytest.raises(kind, match=said):
        make(hinge.motion, two)


@pytest.mark.parametrize("make", [hinge.motion.cubic_spline, hinge.motion.quintic_spline])
def test_a_joint_that_stays_may_have_a_velocity_limit_of_zero(make):
    builder = hinge.Builder("stuck")
    builder.link("base")
    for k, fastest in enumerate((2.0, 0.0)):
        builder.link(f"rod{k}", 1.0, (0.5, 0, 0), np.eye(3))
        builder.joint(
            f"joint{k}", "revolute", f"rod{k - 1}" if k else "base", f"rod{k}", axis=(0, 1, 0), velocity=fastest
        )
    robot = hinge.Robot(builder.build())
    points = [[0.0, 0.3], [1.0, 0.3], [0.5, 0.3]]
    motion = make(robot, points)
    qd = motion(np.linspace(0.0, motion.duration, 1001)).qd
    assert np.abs(qd[:, 0]).max() == pytest.approx(2.0, rel=1e-3)
    assert not qd[:, 1].any()
    assert make(robot, points, times=[0.0, 5.0, 9.0]).duration == 9.0
    for given in ({}, {"times": [0.0, 9.0]}):
        with pytest.raises(SizeError, match=r"^joint 'joint1' has to move, and its velocity limit is zero"):
            make(robot, [[0.0, 0.0], [1.0, 1.0]], **given)
