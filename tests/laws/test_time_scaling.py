"""Motions from paths: what slower and faster motions need, what can be followed, and plans made again on the way."""

import numpy as np
import pytest

import hinge


def line(robot, q0, q1):
    """The straight path in velocities from q0 to q1."""
    v = robot.difference(q0, q1)

    def path(s):
        return robot.integrate(q0, np.multiply.outer(s, v)), np.tile(v, (len(s), 1)), np.zeros((len(s), robot.nv))

    return path


class Swing:
    """A motion of planar_2r from rest to rest, a quintic in time."""

    duration = 2.0

    def __call__(self, t):
        x = np.asarray(t)[..., None] / self.duration
        a = np.array([1.5, -1.0])
        rate, bend = 30 * x**2 * (1 - x) ** 2, 60 * x * (1 - x) * (1 - 2 * x)
        return a * (10 * x**3 - 15 * x**4 + 6 * x**5), a * rate / self.duration, a * bend / self.duration**2


ARM = hinge.samples.planar_2r()


def test_one_joint_under_one_acceleration_limit_takes_the_textbook_time():
    arm = hinge.samples.pendulum(1)
    path = line(arm, np.zeros(1), np.array([2.0]))
    timed = hinge.time_optimal(arm, path, effort=np.inf, acceleration=[3.0])
    assert timed.duration == pytest.approx(2 * np.sqrt(2.0 / 3.0), rel=1e-6)  # half the way up, half down
    timed = hinge.time_optimal(arm, path, effort=np.inf, acceleration=[3.0], velocity=[1.5])
    assert timed.duration == pytest.approx(2.0 / 1.5 + 1.5 / 3.0, rel=1e-3)  # a trapezoid
    assert timed.limiting(0.5 * timed.duration)[:2] == ("joint1", "velocity")
    assert [limit.kind for limit in timed.limiting([0.0, timed.duration])] == ["acceleration"] * 2


def test_forces_of_a_motion_k_times_as_slow_are_a_k_squared_of_the_moving_part():
    slow = hinge.time_uniform(ARM, Swing(), duration=3 * Swing.duration, effort=[1e3, 1e3])
    t = np.linspace(0.0, Swing.duration, 50)
    q, qd, qdd = Swing()(t)
    np.testing.assert_allclose(
        np.concatenate(slow(3 * t), axis=1), np.concatenate([q, qd / 3, qdd / 9], axis=1), atol=1e-12
    )
    moving = ARM.inverse_dynamics(q, qd, qdd) - ARM.gravity_force(q)
    np.testing.assert_allclose(ARM.inverse_dynamics(*slow(3 * t)) - ARM.gravity_force(q), moving / 9, atol=1e-11)


def test_the_fastest_uniform_pace_uses_up_one_limit_and_passes_none():
    effort = np.array([35.0, 9.0])
    timed = hinge.time_uniform(ARM, Swing(), effort=effort)
    used = abs(ARM.inverse_dynamics(*timed(np.linspace(0.0, timed.duration, 20_001)))) / effort
    assert 0.9999 < used.max() <= 1.0
    assert hinge.time_optimal(ARM, Swing(), effort=effort).duration < timed.duration  # free to vary, it is faster


def test_a_motion_is_a_path():
    effort = np.array([35.0, 9.0])
    straight = hinge.time_optimal(ARM, line(ARM, np.zeros(2), np.array([1.5, -1.0])), effort=effort)
    again = hinge.time_optimal(ARM, Swing(), effort=effort)  # the same curve, run through at another pace
    # at its ends q' and q'' vanish, where the best ṡ has no bound, so a grid has its limits
    assert again.duration == pytest.approx(straight.duration, rel=3e-3)
    third = hinge.time_optimal(ARM, again, effort=effort, points=again.times / again.duration)
    assert third.duration == pytest.approx(again.duration, rel=1e-3)  # the best can be made no better


@pytest.mark.parametrize("ramp", [0.1, 0.237, 0.41])
def test_jumps_of_acceleration_cost_little_and_pass_no_limit(ramp):
    effort, peak = np.array([35.0, 9.0]), 1.0 / (ramp * (1.0 - ramp))

    def trapezoid(s):
        late = np.minimum(s, 1.0 - s)
        x = np.where(late < ramp, 0.5 * peak * late**2, peak * ramp * (late - 0.5 * ramp))
        rate = peak * np.minimum(late, ramp)
        bend = np.where(late < ramp, peak * np.sign(0.5 - s), 0.0)
        return tuple(np.multiply.outer(a, [1.5, -1.0]) for a in (np.where(s < 0.5, x, 1.0 - x), rate, bend))

    straight = hinge.time_optimal(ARM, line(ARM, np.zeros(2), np.array([1.5, -1.0])), effort=effort)
    grid = np.append(np.linspace(0.0, 1.0, 257), [ramp, 1.0 - ramp])
    on = hinge.time_optimal(ARM, trapezoid, effort=effort, points=grid)
    off = hinge.time_optimal(ARM, trapezoid, effort=effort)
    assert on.duration == pytest.approx(straight.duration, rel=2e-3)
    assert off.duration == pytest.approx(straight.duration, rel=0.02)
    for timed in (on, off):
        assert (abs(ARM.inverse_dynamics(*timed(np.linspace(0.0, timed.duration, 20_000)))) <= effort).all()


def test_quaternions_are_no_obstacle():
    robot = hinge.samples.random_tree(np.random.default_rng(5), 4, ("spherical", "revolute"))
    q = robot.random_state(np.random.default_rng(1), 2)[0]
    effort = 3 * abs(robot.gravity_force(q)).max() + 1.0
    timed = hinge.time_optimal(robot, line(robot, *q), effort=effort, points=64)
    t = np.linspace(0.0, timed.duration, 999)
    now, qd, qdd = timed(t)
    assert abs(robot.inverse_dynamics(now, qd, qdd)).max() <= effort
    h = 1e-6 * timed.duration
    moved = robot.difference(timed(t - h)[0], timed(t + h)[0])[1:-1] / (2 * h)
    np.testing.assert_allclose(moved, qd[1:-1], atol=1e-5 * abs(qd).max())


def test_a_plan_can_be_made_again_on_the_way_when_the_load_grows():
    load = hinge.Builder("load")
    load.link("load", 0.5)
    arm = ARM.attach(hinge.Robot(load.build()), at="hand").vary("load.mass")
    path, effort = line(arm, np.array([-1.0, 0.5]), np.array([0.5, -1.0])), [60.0, 25.0]
    first = hinge.time_optimal(arm, path, effort=effort)
    t = 0.3 * first.duration
    s = float(first.s(t))
    speed = np.sqrt(np.interp(s, first.grid, first.speed2))
    same = hinge.time_optimal(arm, path, effort=effort, over=(s, 1.0), start=speed)
    assert t + same.duration == pytest.approx(first.duration, rel=2e-3)  # what is left of the best is best
    heavy = {"load.mass": 1.0}
    again = hinge.time_optimal(arm, path, effort=effort, over=(s, 1.0), start=speed, parameters=heavy)
    assert again.duration > same.duration
    np.testing.assert_allclose(again(0.0)[1], path(np.array([s]))[1][0] * speed, rtol=1e-9)
    tau = arm.inverse_dynamics(*again(np.linspace(0.0, again.duration, 5000)), parameters=heavy)
    assert (abs(tau) <= effort).all()


def test_friction_takes_its_share_of_the_effort():
    rows = [{"a": 1.0, "mass": 1.0, "com": [-0.5, 0, 0], "inertia": 0.1 * np.eye(3), "friction": f} for f in (4.0, 1.0)]
    arm = hinge.dh(rows)
    path, terms = line(arm, np.zeros(2), np.array([1.0, -1.0])), ("armature", "friction")
    rough = hinge.time_optimal(arm, path, effort=[40.0, 20.0], joint_terms=terms)
    assert rough.duration > hinge.time_optimal(arm, path, effort=[40.0, 20.0]).duration
    tau = arm.inverse_dynamics(*rough(np.linspace(0.0, rough.duration, 5000)[1:-1]), joint_terms=terms)
    assert (abs(tau) <= [40.0, 20.0]).all()


def test_a_swing_through_a_place_where_the_arm_cannot_rest():
    arm = hinge.samples.pendulum(1)  # at a quarter turn it is level, and gravity asks for 4.905 N m
    low, level, high = np.array([[0.0], [0.5 * np.pi], [2.5]])
    timed = hinge.time_optimal(arm, line(arm, low, high), effort=[4.0])  # with a run-up it gets through
    at = timed(np.linspace(0.0, timed.duration, 5000))
    assert (abs(arm.inverse_dynamics(*at)) <= 4.0).all()
    assert (abs(arm.gravity_force(at[0])) > 4.0).any()
    with pytest.raises(hinge.PathError, match="'joint1'") as caught:  # from rest it does not
        hinge.time_optimal(arm, line(arm, level, high), effort=[4.0])
    assert (caught.value.s, caught.value.joint) == (0.0, "joint1")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_random_arms_on_random_paths_keep_their_limits_and_use_them_up(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    arm = hinge.samples.chain(rng, n)
    swing, phase, w = rng.normal(size=(2, n)), rng.uniform(0.0, 6.0, (2, n)), np.array([[1.0], [2.0]]) * np.pi

    def path(s):
        angle = s[:, None, None] * w + phase
        wave, rate, bend = swing * np.sin(angle), swing * w * np.cos(angle), -swing * w * w * np.sin(angle)
        return wave.sum(axis=1), rate.sum(axis=1), bend.sum(axis=1)

    effort = abs(arm.gravity_force(path(np.linspace(0.0, 1.0, 99))[0])).max(axis=0) * 1.3 + 0.1
    velocity, acceleration = rng.choice([2.0, np.inf]), rng.choice([20.0, np.inf])
    timed = hinge.time_optimal(arm, path, velocity, effort, acceleration)
    q, qd, qdd = timed(np.linspace(0.0, timed.duration, 5000))
    used = np.stack([abs(qd) / velocity, abs(arm.inverse_dynamics(q, qd, qdd)) / effort, abs(qdd) / acceleration])
    assert used.max() <= 1.0
    assert np.median(used.max(axis=(0, 2))) > 0.999


def blended(width):
    """A path of planar_2r that turns from one joint to the other within a part of it, q'' constant there."""

    def path(s):
        share = np.clip((s - 0.5) / width + 0.5, 0.0, 1.0)
        inside = np.abs(s - 0.5) < 0.5 * width
        gone = np.where(s > 0.5 + 0.5 * width, s - 0.5, 0.5 * width * share**2)
        bend = np.where(inside, 1.0 / width, 0.0)
        return np.stack([s - gone, gone], 1), np.stack([1.0 - share, share], 1), np.stack([-bend, bend], 1)

    return path


@pytest.mark.parametrize("points", [64, 256])
@pytest.mark.parametrize("width", [0.3, 1e-2, 1e-3, 1e-4, 3e-5])
def test_limits_are_kept_in_a_blend_that_is_shorter_than_a_piece(width, points):
    effort = np.array([60.0, 20.0])
    timed = hinge.time_optimal(ARM, blended(width), effort=effort, points=points)
    inside = timed.times[np.searchsorted(timed.grid, [0.5 - width, 0.5 + width])]
    for span in ((0.0, timed.duration), inside):
        q, qd, qdd = timed(np.linspace(*span, 20_001))
        assert (np.abs(ARM.inverse_dynamics(q, qd, qdd)) <= effort * (1.0 + 1e-6)).all()
    rougher = hinge.time_optimal(ARM, blended(0.3), effort=effort, points=points)
    assert timed.duration < 2.0 * rougher.duration


def test_a_corner_is_refused_wherever_it_is():
    def path(at):
        def corner(s):
            after = (s > at)[:, None]
            q = np.stack([np.minimum(s, at), np.maximum(s - at, 0.0)], 1)
            return q, np.where(after, [0.0, 1.0], [1.0, 0.0]), np.zeros((len(s), 2))

        return corner

    for at in (0.5, 0.4321, 1.0 / 3.0):  # at a point of the grid, and between two of them
        with pytest.raises(hinge.PathError, match=rf"^the path has a corner at s = {at:.6g}"):
            hinge.time_optimal(ARM, path(at), effort=[60.0, 20.0])
        part = hinge.time_optimal(ARM, path(at), effort=[60.0, 20.0], over=(at, 1.0))
        assert part.duration > 0.1


@pytest.mark.parametrize(
    ("scales", "name"), [((1.0, 2.0, 1.0), "q'"), ((1.0, 1.0, 0.0), "q''"), ((1.0, 1.0, 1.5), "q''")]
)
def test_derivatives_that_are_none_are_refused(scales, name):
    def path(s):
        made = np.stack([np.sin(3 * s), s**2], 1), np.stack([3 * np.cos(3 * s), 2 * s], 1)
        bend = np.stack([-9 * np.sin(3 * s), np.full(len(s), 2.0)], 1)
        return tuple(scale * x for scale, x in zip(scales, (*made, bend), strict=True))

    with pytest.raises(hinge.PathError, match=f"^{name} of the path is not the derivative of its"):
        hinge.time_optimal(ARM, path, effort=[60.0, 20.0])


def test_a_floating_base_has_no_actuator():
    robot = hinge.samples.go2()
    path = line(robot, robot.keyframes["home"], robot.keyframes["home"])
    with pytest.raises(hinge.NotCovered, match="floats, and no actuator moves its base"):
        hinge.time_optimal(robot, path)


def smooth_step(x):
    """The integral, value and derivative of a step from 0 to 1 between x = 0 and 1, with a continuous derivative."""
    y = np.clip(x, 0.0, 1.0)
    return y**3 - 0.5 * y**4 + np.maximum(x - 1.0, 0.0), 3 * y**2 - 2 * y**3, 6 * y - 6 * y**2


def sharp_step(x):
    """The same with a derivative that jumps."""
    y = np.clip(x, 0.0, 1.0)
    return 0.5 * y**2 + np.maximum(x - 1.0, 0.0), y, ((x > 0.0) & (x < 1.0)) * 1.0


def turning(rng, step, widths, dtype=float):
    """A path that changes its direction within short parts of it, at random places."""
    places = np.linspace(0.15, 0.85, len(widths)) + rng.uniform(-0.05, 0.05, len(widths))
    ways = rng.normal(size=(len(widths) + 1, 2))

    def path(s):
        q, rate, bend = np.outer(s, ways[0]), np.tile(ways[0], (len(s), 1)), np.zeros((len(s), 2))
        for place, width, change in zip(places, widths, np.diff(ways, axis=0), strict=True):
            made = step((s - place) / width)
            q, rate, bend = (
                x + scale * np.outer(y, change)
                for x, y, scale in zip((q, rate, bend), made, (width, 1.0, 1.0 / width), strict=True)
            )
        return tuple(x.astype(dtype) for x in (q, rate, bend))

    return path, places


def excursion(place, width):
    """A path that leaves a line within a short part of it, and is on it before and after."""

    def path(s):
        x = np.clip((s - place) / width, 0.0, 1.0)
        b, slope = x * (1.0 - x), 1.0 - 2.0 * x
        made = b**3, 3.0 * b**2 * slope, 6.0 * b * slope**2 - 6.0 * b**2
        line = np.outer(s, [1.0, 0.5]), np.tile([1.0, 0.5], (len(s), 1)), np.zeros((len(s), 2))
        return tuple(
            x + 30.0 * scale * np.outer(y, [0.5, -1.0])
            for x, y, scale in zip(line, made, (width, 1.0, 1.0 / width), strict=True)
        )

    return path


def largest_use(timed, places, widths, effort):
    """The largest share of an effort limit, at times between the points of the grid and at those of short parts."""
    near = [p + w * np.linspace(-0.1, 1.1, 801) for p, w in zip(places, widths, strict=True)]
    s = np.concatenate([np.linspace(0.0, 1.0, 4001), *near])
    t = np.interp(np.sort(s), timed.grid, timed.times)
    return (np.abs(ARM.inverse_dynamics(*timed(t))) / effort).max()


@pytest.mark.parametrize("step", [smooth_step, sharp_step])
@pytest.mark.parametrize(
    ("seed", "points", "smallest"), [(0, 16, -2), (1, 64, -4), (2, 256, -5), (3, 100, -5), (4, 16, -5)]
)
def test_paths_that_turn_within_short_parts_are_followed_within_the_limits(step, seed, points, smallest):
    rng, effort = np.random.default_rng(seed), np.array([40.0, 15.0])
    widths = 10.0 ** rng.uniform(smallest, -1.5, 3)
    path, places = turning(rng, step, widths)  # slow enough, every one of them can be followed
    timed = hinge.time_optimal(ARM, path, effort=effort, points=points)
    assert 0.999 < largest_use(timed, places, widths, effort) <= 1.0 + 1e-6


@pytest.mark.parametrize("width", [1e-1, 1e-2, 1e-3])
def test_an_excursion_between_the_points_is_seen(width):
    effort, place = np.array([40.0, 15.0]), 0.4036
    timed = hinge.time_optimal(ARM, excursion(place, width), effort=effort, points=8)
    assert largest_use(timed, [place], [width], effort) <= 1.0 + 1e-6
    uniform = hinge.time_uniform(ARM, excursion(place, width), effort=effort, points=8)
    assert largest_use(uniform, [place], [width], effort) <= 1.0 + 1e-6


def test_a_shift_that_no_place_shows_is_seen_in_q():
    width, place, effort = 2e-6, 0.41237, np.array([40.0, 15.0])
    lanes = turning(np.random.default_rng(3), smooth_step, [0.1])[0]

    def path(s):
        up, down = (smooth_step((s - p) / width) for p in (place, place + width))
        made = (width * (up[0] - down[0]), up[1] - down[1], (up[2] - down[2]) / width)
        return tuple(x + np.outer(y, [1.0, -0.5]) for x, y in zip(lanes(s), made, strict=True))

    timed = hinge.time_optimal(ARM, path, effort=effort)
    assert largest_use(timed, [place], [2 * width], effort) <= 1.0 + 1e-6


def test_derivatives_need_not_be_exact():
    path, _ = turning(np.random.default_rng(5), smooth_step, [0.1, 0.2])
    h, effort = 1e-5, np.array([40.0, 15.0])

    def differences(s):
        q, ahead, behind = (path(x)[0] for x in (s, s + h, s - h))
        return q, (ahead - behind) / (2.0 * h), (ahead - 2.0 * q + behind) / h**2

    single = turning(np.random.default_rng(5), smooth_step, [0.1, 0.2], np.float32)[0]
    exact = hinge.time_optimal(ARM, path, effort=effort)
    for rough in (differences, single):
        assert hinge.time_optimal(ARM, rough, effort=effort).duration == pytest.approx(exact.duration, rel=1e-3)
