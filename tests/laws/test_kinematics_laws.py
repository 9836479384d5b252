"""Laws of poses, velocities, accelerations and Jacobians."""

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, seeds
from yardsticks import assert_close, derivative

import hinge

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

FRAMES = ("body", "base", "aligned")


def named(robot, rng):
    """The frame at the tip and that of some link, whichever it is."""
    return ("tip", str(rng.choice(robot.body_names)))


def moved(robot, q, qd, qdd, t):
    """A motion with velocity qd and acceleration qdd at t = 0, to second order: q and qd at time t."""
    return robot.integrate(q, t * qd + 0.5 * t * t * qdd), qd + t * qdd


@families
@given(seed=seeds)
@law(3)
def test_the_jacobian_takes_joint_velocities_to_the_velocity(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    for name in named(robot, rng):
        for frame in FRAMES:
            v = robot.velocity(q, qd, name, frame=frame)
            assert_close(robot.jacobian(q, name, frame=frame) @ qd, v, 1e-13, 10.0)


@families
@given(seed=seeds)
@law(4)
def test_the_velocity_is_the_rate_of_the_pose(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    for name in named(robot, rng):
        pose = robot.pose(q, name)
        rate = derivative(lambda t, name=name: robot.pose(robot.integrate(q, t * qd), name))
        R, p = pose[:3, :3], pose[:3, 3]
        assert_close(R @ R.T, np.eye(3), 1e-14)
        np.testing.assert_array_equal(pose[3], [0.0, 0.0, 0.0, 1.0])
        spin = rate[:3, :3] @ R.T
        w, v = np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), rate[:3, 3]
        want = {"body": (R.T @ w, R.T @ v), "base": (w, v - np.cross(w, p)), "aligned": (w, v)}
        for frame in FRAMES:
            got = robot.velocity(q, qd, name, frame=frame)
            assert_close(got, np.concatenate(want[frame]), 1e-9, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_the_rate_of_the_jacobian_is_its_rate_in_every_frame(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    name = named(robot, rng)[0]
    for frame in FRAMES:
        rate = derivative(lambda t, frame=frame: robot.jacobian(robot.integrate(q, t * qd), name, frame=frame))
        assert_close(robot.jacobian_rate(q, qd, name, frame=frame), rate, 1e-9, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_acceleration_is_jacobian_times_accelerations_plus_its_rate_times_velocities(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    for name in named(robot, rng):
        for frame in FRAMES:
            J, Jd = robot.jacobian(q, name, frame=frame), robot.jacobian_rate(q, qd, name, frame=frame)
            # an origin that moves with the frame while the axes stand makes the aligned rate the conventional one
            kind = "classical" if frame == "aligned" else "spatial"
            got = robot.acceleration(q, qd, qdd, name, frame=frame, kind=kind)
            assert_close(got, J @ qdd + Jd @ qd, 1e-12, 100.0)  # terms of v² reach a hundred and may cancel


@families
@given(seed=seeds)
@law(3)
def test_spatial_acceleration_is_the_rate_of_spatial_velocity(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    name = named(robot, rng)[0]
    for frame, kind in (("base", "spatial"), ("body", "spatial"), ("aligned", "classical")):
        rate = derivative(
            lambda t, frame=frame: robot.velocity(*moved(robot, q, qd, qdd, t), name, frame=frame), h=5e-4
        )
        got = robot.acceleration(q, qd, qdd, name, frame=frame, kind=kind)
        assert_close(got, rate, 1e-9, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_spatial_and_classical_accelerations_differ_by_the_angular_velocity_crossed_with_the_linear(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    for name in named(robot, rng):
        for frame in FRAMES:
            v = robot.velocity(q, qd, name, frame=frame)
            spatial = robot.acceleration(q, qd, qdd, name, frame=frame)
            classical = robot.acceleration(q, qd, qdd, name, frame=frame, kind="classical")
            extra = np.concatenate([np.zeros(3), np.cross(v[:3], v[3:])])
            assert_close(classical - spatial, extra, 1e-12, 100.0)  # (2.29)


@families
@given(seed=seeds)
@law(3)
def test_the_classical_acceleration_is_the_second_rate_of_the_position(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    for name in named(robot, rng):
        place = lambda t, name=name: robot.pose(moved(robot, q, qd, qdd, t)[0], name)[:3, 3]
        # second differences of sixth order: h⁶ of the eighth derivative is left out, 1e-16/h² of rounding comes in
        h = 4e-3
        weights = (-49 / 18, 3 / 2, -3 / 20, 1 / 90)
        second = (
            weights[0] * place(0.0) + sum(w * (place(k * h) + place(-k * h)) for k, w in enumerate(weights) if k)
        ) / h**2
        got = robot.acceleration(q, qd, qdd, name, frame="aligned", kind="classical")
        assert_close(got[3:], second, 1e-7, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_the_three_frames_say_the_same(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    for name in named(robot, rng):
        pose = robot.pose(q, name)
        R, p = pose[:3, :3], pose[:3, 3]
        for seen in (lambda f, n=name: robot.velocity(q, qd, n, frame=f),
                     lambda f, n=name: robot.acceleration(q, qd, qdd, n, frame=f)):  # fmt: skip
            body, base, aligned = (seen(frame) for frame in FRAMES)
            assert_close(np.concatenate([R @ body[:3], R @ body[3:]]), aligned, 1e-13, 10.0)
            shift = np.cross(p, aligned[:3])
            assert_close(np.concatenate([aligned[:3], aligned[3:] + shift]), base, 1e-13, 10.0)


@families
@given(seed=seeds)
@law(3)
def test_a_frame_stands_still_on_its_link(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    last = robot.body_names[-1]
    between = [np.linalg.solve(robot.pose(x, last), robot.pose(x, "tip")) for x in robot.random_state(rng, 2)[0]]
    assert_close(between[0], between[1], 1e-13)
    # one rigid body has one spatial velocity and one spatial acceleration
    v = [robot.velocity(q, qd, name, frame="base") for name in ("tip", last)]
    a = [robot.acceleration(q, qd, qdd, name, frame="base") for name in ("tip", last)]
    assert_close(v[0], v[1], 1e-13, 10.0)
    assert_close(a[0], a[1], 1e-13, 100.0)


@given(seed=seeds)
@law(6)
def test_a_body_in_steady_rotation_has_no_spatial_acceleration(seed):
    rng = np.random.default_rng(seed)
    axis, at, tip = rng.normal(size=(3, 3))
    builder = hinge.Builder("wheel")
    builder.link("ground")
    builder.link("rim", 1.0, (0, 0, 0), np.eye(3))
    builder.joint("axle", "continuous", "ground", "rim", at, axis=axis)
    builder.frame("valve", "rim", tip)
    wheel, q, rate = hinge.Robot(builder.build()), rng.uniform(-3, 3, 1), rng.uniform(1, 5, 1)
    for frame in FRAMES:
        assert_close(wheel.acceleration(q, rate, [0.0], "valve", frame=frame), np.zeros(6), 1e-14, 100.0)
    classical = wheel.acceleration(q, rate, [0.0], "valve", frame="aligned", kind="classical")
    u = axis / np.linalg.norm(axis)
    arm = wheel.pose(q, "valve")[:3, 3] - at
    centripetal = -(rate**2) * (arm - u * (u @ arm))
    assert np.linalg.norm(centripetal) > 1e-2
    assert_close(classical, np.concatenate([np.zeros(3), centripetal]), 1e-13, 10.0)


@pytest.mark.parametrize("frame", FRAMES)
def test_the_base_does_not_move(frame):
    robot, _, q, qd, qdd = drawn("tree", 0)
    assert not robot.velocity(q, qd, "base", frame=frame).any()
    assert not robot.acceleration(q, qd, qdd, "base", frame=frame).any()
    assert not robot.jacobian(q, "base", frame=frame).any()
    np.testing.assert_array_equal(robot.pose(q, "base"), np.eye(4))


@families
@given(seed=seeds)
@law(4)
def test_the_difference_of_two_configurations_leads_from_one_to_the_other(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    other = robot.integrate(q, rng.uniform(-3, 3, robot.nv))  # within half a turn, so that what follows comes along
    there = robot.integrate(q, robot.difference(q, other))
    if all(joint.holonomic for joint in robot.model.joint):  # a ball that rolls gets there only by turning
        for name in robot.model.frames:
            assert_close(robot.pose(there, name), robot.pose(other, name), 1e-12)
    assert_close(robot.difference(q, robot.integrate(q, 0.3 * qd)), 0.3 * qd, 1e-13)
    assert_close(robot.integrate(robot.neutral(), np.zeros(robot.nv)), robot.neutral(), 0.0)
