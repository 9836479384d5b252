"""The fastest motion along a path: no faster one exists, by a convex program, and no limit is passed on the way."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from fine_bound import least_duration

import hinge

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")


def waves(rng, robot):
    """A path on which every joint swings around the middle of its range."""
    low, high = np.maximum(robot.limits.lower, -2.0), np.minimum(robot.limits.upper, 2.0)
    middle, swing = (low + high) / 2, rng.uniform(0.1, 0.3, robot.nq) * (high - low)
    w, phase = 2 * np.pi * rng.uniform(0.3, 0.9, robot.nq), rng.uniform(0.0, 6.0, robot.nq)

    def path(s):
        angle = np.multiply.outer(s, w) + phase
        return middle + swing * np.sin(angle), swing * w * np.cos(angle), -swing * w * w * np.sin(angle)

    return path


def zero_inertia(s):
    """A path of planar_2r on which the elbow's share of s̈, ⅓ + ½ cos q₂ - ½, changes sign at cos q₂ = ⅓."""
    q = np.stack([s, 2.0 - 1.5 * s], axis=-1)
    return q, np.broadcast_to([1.0, -1.5], q.shape), np.zeros_like(q)


def case(name):
    """A robot, a path and its limits of velocity, effort and acceleration."""
    rng = np.random.default_rng(11)
    if name == "zero inertia":
        arm = hinge.samples.planar_2r()
        return arm, zero_inertia, np.full(2, np.inf), np.array([60.0, 8.0]), np.full(2, np.inf)
    if name == "puma560":
        arm = hinge.samples.puma560()
        effort = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])
        return arm, waves(rng, arm), np.full(6, 3.0), effort, np.full(6, np.inf)
    file = {"panda": "panda_description/urdf/panda.urdf", "ur5": "ur_description/urdf/ur5_robot.urdf"}[name]
    arm = hinge.load(ROBOTS / file)
    return (
        arm,
        waves(rng, arm),
        arm.limits.velocity,
        arm.limits.effort,
        np.full(arm.nv, 15.0 if name == "ur5" else np.inf),
    )


CASES = ["puma560", "panda", "ur5", "zero inertia"]


@pytest.fixture(scope="module", params=CASES)
def planned(request):
    if request.param in ("panda", "ur5") and not ROBOTS.exists():
        pytest.skip("example-robot-data is not here")
    arm, path, velocity, effort, acceleration = case(request.param)
    timed = hinge.time_optimal(arm, path, velocity, effort, acceleration)
    return arm, path, (velocity, effort, acceleration), timed


@pytest.mark.sampled(2)
def test_no_motion_is_faster_by_a_thousandth(planned):
    arm, path, limits, timed = planned
    bound = least_duration(arm, path, *limits)
    assert bound * 0.9999 < timed.duration < bound * 1.001


def test_no_limit_is_passed_between_the_points_of_the_grid_either(planned):
    arm, _, (velocity, effort, acceleration), timed = planned
    t = np.concatenate([np.random.default_rng(0).uniform(0.0, timed.duration, 20_000), timed.times])
    q, qd, qdd = timed(t)
    used = np.stack([abs(qd) / velocity, abs(arm.inverse_dynamics(q, qd, qdd)) / effort, abs(qdd) / acceleration])
    assert used.max() <= 1.0
    assert np.median(used.max(axis=(0, 2))) > 0.99  # and nearly always one of them is used up


def test_the_motion_is_the_path_and_its_rates_are_rates(planned):
    _, path, _, timed = planned
    inner = timed.duration * np.linspace(0.01, 0.99, 500)
    h = 1e-6 * timed.duration
    same = np.searchsorted(timed.times, inner - h) == np.searchsorted(timed.times, inner + h)  # s̈ jumps between pieces
    t = inner[same]
    q, qd, qdd = timed(t)
    np.testing.assert_allclose(q, path(timed.s(t))[0], atol=1e-13)
    (before, slow, _), (after, fast, _) = timed(t - h), timed(t + h)
    np.testing.assert_allclose((after - before) / (2 * h), qd, atol=1e-6 * abs(qd).max())
    np.testing.assert_allclose((fast - slow) / (2 * h), qdd, atol=1e-6 * abs(qdd).max())
    for end, s in ((0.0, 0.0), (timed.duration, 1.0)):
        q, qd, _ = timed(end)
        np.testing.assert_allclose(q, path(np.array([s]))[0][0], atol=1e-9)
        np.testing.assert_allclose(qd, 0.0, atol=1e-6)


def test_a_point_of_zero_inertia_is_passed_at_full_effort():
    arm, path, velocity, effort, acceleration = case("zero inertia")
    timed = hinge.time_optimal(arm, path, velocity, effort, acceleration)
    s = np.linspace(0.0, 1.0, 1001)
    q, dq, _ = path(s)
    alpha = np.einsum("nij,nj->ni", arm.mass_matrix(q), dq)[:, 1]
    (at,) = np.flatnonzero(np.diff(np.sign(alpha)))
    assert 0.4 < s[at] < 0.6
    t = np.interp(s[at], timed.grid, timed.times)
    limit = timed.limiting(t)
    assert limit[:2] == ("elbow", "effort")  # s̈ does nothing for the elbow here: ṡ alone keeps it within its limit
    assert 0.99 < limit.share <= 1.0
    x = np.interp(s, timed.grid, timed.speed2)
    assert abs(np.diff(x, 2)).max() < 0.1 * x.max()  # and the speed does not chatter
