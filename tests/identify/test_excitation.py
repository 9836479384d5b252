"""Motions that show the parameters: they keep every limit, start and end at rest, and are better than chance."""

import os
import subprocess
import sys

import numpy as np
import pytest

import hinge
from hinge.identify import base_parameters, excitation, excite
from hinge.model.shapes import Shape


@pytest.fixture(scope="module")
def arm():
    rows = [{"a": 0.0, "alpha": 1.5707963267948966, "d": 0.4}, {"a": 0.5}, {"a": 0.3}]
    limits = [(-2.0, 2.5), (-1.0, 0.5), (-0.3, 1.9)]
    for row, (low, high) in zip(rows, limits, strict=True):
        row |= {"mass": 2.0, "com": (-0.1, 0.02, 0.05), "inertia": np.diag([0.03, 0.04, 0.05]), "type": "revolute",
                "limits": (low, high), "velocity": 1.5, "effort": 40.0}  # fmt: skip
    return hinge.dh(rows)


@pytest.fixture(scope="module")
def motion(arm):
    return excite(arm, duration=6.0, harmonics=4, acceleration=4.0, tries=1)


def test_it_keeps_the_limits_at_every_time(arm, motion):
    t, q, qd, qdd = motion.sample(3000.0)
    assert t[-1] == 6.0
    assert np.all(q >= arm.limits.lower)
    assert np.all(q <= arm.limits.upper)
    assert np.all(np.abs(qd) <= 1.5)
    assert np.all(np.abs(qdd) <= 4.0)
    fill = [np.abs(q - motion.middle).max(axis=0) / (arm.limits.upper - motion.middle), np.abs(qd).max(axis=0) / 1.5,
            np.abs(qdd).max(axis=0) / 4.0]  # fmt: skip
    assert np.all(np.max(fill, axis=0) > 0.98)  # and goes as far as one of them lets it


def test_it_starts_and_ends_at_rest(motion):
    q, qd, qdd = motion([0.0, motion.duration])
    np.testing.assert_allclose(qd, 0.0, atol=1e-12)
    np.testing.assert_allclose(qdd, 0.0, atol=1e-12)
    np.testing.assert_allclose(q[0], q[1], atol=1e-12)


def test_velocities_are_rates_of_coordinates(motion):
    t, h = np.linspace(0.3, 5.5, 7), 1e-5
    for k in (0, 1):
        slope = (motion(t + h)[k] - motion(t - h)[k]) / (2 * h)
        np.testing.assert_allclose(slope, motion(t)[k + 1], atol=1e-8)


def condition(robot, base, motion):
    Y = base.columns(robot.regressor(*motion)) / base.scale
    return np.linalg.cond(Y.reshape(-1, base.rank))


def test_the_condition_number_is_what_it_says_and_better_than_chance(arm, motion):
    base = base_parameters(arm)
    assert condition(arm, base, motion.sample(50.0)[1:]) == pytest.approx(motion.condition, rel=0.2)
    rng = np.random.default_rng(1)
    lucky = []
    for _ in range(20):
        t, w = np.linspace(0, 6, 200)[:, None], rng.uniform(0.5, 3.0, 3)
        lucky.append(condition(arm, base, (np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t))))
    assert motion.condition < min(lucky)


def test_effort_limits_make_it_smaller(arm, motion):
    tight = excite(arm, duration=6.0, harmonics=4, tries=1, effort=True, middle=[0.0, -0.2, 0.5])
    tau = arm.inverse_dynamics(*tight.sample(500.0)[1:])
    assert np.all(np.abs(tau) <= 40.0 * 1.001)
    weak = hinge.dh([{"a": 1.0, "alpha": np.pi / 2, "mass": 9.0, "type": "revolute", "effort": 1.0}], base=_tipped())
    with pytest.raises(hinge.ExcitationError, match="at rest in the middle, velocity 0"):
        excite(weak, effort=True, tries=1)


def _tipped():
    T = np.eye(4)
    T[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    return T


def test_what_cannot_be_is_refused_by_name(arm):
    ball = hinge.samples.chain(np.random.default_rng(0), 2, "spherical")
    with pytest.raises(hinge.NotCovered, match="joint 'joint1' turns freely"):
        excite(ball)
    with pytest.raises(hinge.SizeError, match=r"middle\[1\] = 3 leaves no room between -1 and 0.5"):
        excite(arm, middle=[0.0, 3.0, 0.5])
    with pytest.raises(hinge.SizeError, match=r"middle\[1\] = nan leaves no room"):
        excite(arm, middle=[0.0, np.nan, 0.5])
    with pytest.raises(hinge.SizeError, match="a duration above zero"):
        excite(arm, duration=np.nan)
    with pytest.raises(hinge.SizeError, match="speed has to be above zero, one number or nv = 3"):
        excite(arm, speed=[1.0, 2.0])
    for few in (1, 2.5):
        with pytest.raises(hinge.SizeError, match="two harmonics at least"):
            excite(arm, harmonics=few)


def test_rows_come_at_a_rate(motion):
    with pytest.raises(hinge.SizeError, match="sample: rate is 0"):
        motion.sample(0)


def inside(robot, q, name, box):
    at = robot.pose(q, name)[:, :3, 3]
    return np.all(at >= box[0]) and np.all(at <= box[1])


def test_frames_stay_in_their_workspace(arm):
    middle = [0.2, -0.2, 0.6]
    wide = excite(arm, duration=6.0, harmonics=4, tries=1, middle=middle)
    hand = arm.body_names[-1]
    box = (arm.pose(middle, hand)[:3, 3] - [0.25, 0.2, 0.15], arm.pose(middle, hand)[:3, 3] + [0.1, 0.3, 0.2])
    made = excite(arm, duration=6.0, harmonics=4, tries=1, middle=middle, workspace={hand: box})
    fine = [motion.sample(2000.0)[1] for motion in (wide, made)]
    assert not inside(arm, fine[0], hand, box)
    assert inside(arm, fine[1], hand, box)
    assert condition(arm, base_parameters(arm), made.sample(50.0)[1:]) == pytest.approx(made.condition, rel=0.2)

    # better than the first motion swung less, which is another way into the box
    smaller = wide
    while not inside(arm, smaller.sample(200.0)[1], hand, box):
        smaller = type(wide)(wide.middle, 0.95 * smaller.cosines, 0.95 * smaller.sines, wide.duration, 0.0)
    assert made.condition < condition(arm, base_parameters(arm), smaller.sample(50.0)[1:])


def test_a_box_alone_is_for_every_body(arm):
    middle = [0.2, -0.2, 0.6]
    box = ([-0.9, -0.7, 0.2], [0.9, 0.7, 0.75])
    made = excite(arm, duration=6.0, harmonics=4, tries=1, middle=middle, workspace=box, effort=True)
    q = made.sample(2000.0)[1]
    assert all(inside(arm, q, name, box) for name in arm.body_names)


def test_a_workspace_holds_the_middle(arm):
    with pytest.raises(hinge.ExcitationError, match=r"in the middle 'link3' is at \(.*\) m, outside its workspace"):
        excite(arm, workspace={"link3": ([5.0, 5.0, 5.0], [6.0, 6.0, 6.0])})
    with pytest.raises(hinge.SizeError, match="workspace of 'link3' has to be two corners"):
        excite(arm, workspace={"link3": ([1.0, 1.0, 1.0], [0.0, 2.0, 2.0])})


def _pecking() -> hinge.Robot:
    """Two rods that can fold onto each other, and reach the floor."""
    builder = hinge.Builder("pecking")
    builder.link("post", shapes=[Shape("collision", "box", (0.1, 0.1, 0.4), xyz=(0, 0, 0.2))])
    rod = Shape("collision", "capsule", (0.04, 0.4), xyz=(0, 0, 0.25))
    for name, parent in (("upper", "post"), ("lower", "upper"), ("tip", "lower")):
        builder.link(name, 1.0, com=(0, 0, 0.2), inertia=np.diag([0.02, 0.02, 0.002]), shapes=[rod])
        builder.joint(
            f"to_{name}", "revolute", parent, name, (0, 0, 0.5), axis=(0, 1, 0), lower=-3.0, upper=3.0, velocity=3.0
        )
    return hinge.Robot(builder.build())


@pytest.mark.sweep
def test_links_stay_clear_of_each_other_and_of_the_ground():
    arm, t = _pecking(), np.linspace(0.0, 6.0, 5001)
    said = {"duration": 6.0, "harmonics": 3, "tries": 1, "middle": [0.3, 0.6, 0.4], "speed": 3.0}
    loose = excite(arm, **said)
    assert arm.distances(loose(t)[0], ground=0.0).distance.min() < 0.0
    clear = excite(arm, clearance=0.05, ground=0.0, **said)
    assert arm.distances(clear(t)[0], ground=0.0).distance.min() >= 0.05
    assert np.abs(clear(t)[0] - clear.middle).max() > 0.3  # it still swings
    with pytest.raises(hinge.ExcitationError, match=r"in the middle 'post' and 'upper' are .* m apart"):
        excite(arm, clearance=1.5, ground=0.0, **said)
    with pytest.raises(hinge.SizeError, match="clearance is -1 m"):
        excite(arm, clearance=-1.0, **said)


# ---- the search: exact derivatives, and an end that does not depend on rounding


def objective(robot, terms=("armature",), speed=2.0, harmonics=3, workspace=None, clearance=None, ground=None):
    """The objective that `excite` minimizes."""
    centre, bounds = excitation._bounds(robot, None, speed, None)
    rooms = [
        *excitation._boxes(robot, workspace, centre),
        *excitation._clear(robot, clearance, ground, centre),
    ]
    series = excitation._Series(robot.nv, harmonics, 5.0, bounds, bool(rooms))
    base = base_parameters(robot, terms, tol=excitation.FAINT)
    return excitation._Objective(robot, base, terms, centre, series, rooms)


def gripper(rng):
    """Return a random tree whose last joint is followed by two others, one of them the other way round."""
    builder = hinge.Builder("gripper")
    builder.link("base")
    parent = "base"
    for k, kind in enumerate(["revolute", "prismatic", "revolute", "revolute", "revolute"]):
        builder.link(f"l{k}", 1.0 + rng.uniform(), com=rng.normal(size=3), inertia=np.diag([1.0, 1.1, 1.2]))
        limits = {"lower": -1.5, "upper": 1.2}
        mimic = {"mimic": ("j2", (1.0, -0.7)[k - 3], 0.1)} if k > 2 else {}
        builder.joint(f"j{k}", kind, parent, f"l{k}", tuple(rng.normal(size=3)), axis=(0, 1, 0), **limits, **mimic)
        parent = f"l{k}" if k < 2 else parent
    return hinge.Robot(builder.build())


ALL_TERMS = ("armature", "damping", "friction", "stiffness")
SEARCHES = {
    "arm": lambda rng: objective(hinge.samples.puma560(), ALL_TERMS[:3]),
    "tree": lambda rng: objective(hinge.samples.random_tree(rng, 5, ("revolute", "prismatic", "helical")), ALL_TERMS),
    "mimic": lambda rng: objective(gripper(rng), ALL_TERMS),
    "box": lambda rng: objective(hinge.samples.planar_2r(), workspace={"hand": ([1.9, -0.1, -0.1], [2.1, 0.2, 0.2])}),
    "clear": lambda rng: objective(_pecking(), clearance=0.05, ground=0.8),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SEARCHES)
def test_the_derivative_of_the_objective_is_exact(name):
    rng = np.random.default_rng(4)
    f = SEARCHES[name](rng)
    for x in rng.normal(size=(3, f.series.size)):
        gradient, h = f(x)[1], 1e-6
        for way in rng.normal(size=(6, f.series.size)):
            change = (f(x + h * way)[0] - f(x - h * way)[0]) / (2.0 * h)
            assert abs(gradient @ way - change) < 1e-5 * np.linalg.norm(gradient) * np.linalg.norm(way)


def test_a_penalty_is_paid_where_rooms_are_left():
    """So that the derivatives above are those of rooms too."""
    rng = np.random.default_rng(4)
    for name in ("box", "clear"):
        f = SEARCHES[name](rng)
        q = [f.centre + f.series.motion(x)[0][0] for x in np.random.default_rng(4).normal(size=(3, f.series.size))]
        assert any(room.beyond(one)[0].max() > 0.0 for room in f.rooms for one in q)


def test_the_bound_on_the_condition_number_is_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        Y = rng.normal(size=(30, 8)) * np.exp(rng.normal(size=8))
        exact, bound = np.linalg.cond(Y), np.exp(excitation._log_condition(Y)[0])
        assert exact < bound < 8 ** (2.0 / excitation.SPECTRUM_POWER) * exact


SEARCH = """
import hinge
arm = hinge.samples.puma560()
made = hinge.identify.excite(arm, speed=2.0, joint_terms=("armature", "friction"), tries=1, seed=1)
print(repr(made.condition), *made.cosines.ravel())
"""


@pytest.mark.sweep
def test_the_motion_does_not_depend_on_the_kernels_of_the_blas():
    found = []
    for core in ("Haswell", "Prescott"):
        env = os.environ | {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1"}
        ran = subprocess.run([sys.executable, "-c", SEARCH], capture_output=True, text=True, env=env)
        assert (ran.returncode, ran.stderr) == (0, "")
        found.append(np.array(ran.stdout.split(), float))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-5)
