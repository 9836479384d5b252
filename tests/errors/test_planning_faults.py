"""What planning says to paths that cannot be followed, poses that are none, and arrays of the wrong size."""

import numpy as np
import pytest

import hinge

ARM = hinge.samples.planar_2r()
EFFORT = [60.0, 25.0]

pytestmark = pytest.mark.usefixtures("plain_interpreter")


def line(s):
    """From hanging down to level and beyond, the elbow straight."""
    q = np.stack([-np.pi / 2 + 2.0 * s, 0.0 * s], axis=-1)
    return q, np.broadcast_to([2.0, 0.0], q.shape), np.zeros_like(q)


def said(error, call, *args, **options):
    with pytest.raises(error) as caught:
        call(*args, **options)
    return str(caught.value)


def test_a_path_that_cannot_be_followed_says_where_and_which_joint():
    with pytest.raises(hinge.PathError) as caught:
        hinge.time_uniform(ARM, line, effort=[15.0, 25.0])  # level, the shoulder holds 19.62 N m
    assert caught.value.joint == "shoulder"
    assert 0.3 < caught.value.s < 0.9
    # the elbow, which is not turned, has to carry the lower rod: 4.905 N m when level
    with pytest.raises(hinge.PathError) as caught:
        hinge.time_optimal(ARM, line, effort=[1e3, 4.0], velocity=[0.1, 0.1], acceleration=[0.1, 0.1])
    assert caught.value.joint == "elbow"
    level = np.arccos(4.0 / 4.905) / 2.0  # where its limit is passed
    assert caught.value.s == pytest.approx(np.pi / 4 - level, abs=0.02)
    assert str(caught.value).startswith(
        f"the path cannot be followed at s = {caught.value.s:.4g}: joint 'elbow' would need 1."
    )
    assert "times its effort limit." in str(caught.value)


def test_a_start_that_is_too_fast_says_how_fast_it_may_be():
    text = said(hinge.PathError, hinge.time_optimal, ARM, line, effort=EFFORT, start=50.0)
    assert text.startswith("at s = 0 the path cannot be followed from ṡ = 50: that is too fast for joint 'shoulder'")


def test_a_duration_that_is_too_short_says_whose_limit_is_passed():
    text = said(hinge.SizeError, hinge.time_uniform, ARM, line, 0.0, effort=EFFORT)
    assert text == "time_uniform: duration=0.0. Give a positive number of seconds, or none for the fastest."
    text = said(hinge.PathError, hinge.time_uniform, ARM, line, 0.5, velocity=[2.0, 2.0], effort=[1e3, 1e3])
    assert text == ("the path cannot be followed at that pace near s = 0: joint 'shoulder' would need 2 times its "
                    "velocity limit.")  # fmt: skip


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "time_optimal: nothing limits robot 'planar_2r'. Give velocity=, effort= or acceleration=."),
        ({"effort": [1.0, 2.0, 3.0]}, "time_optimal: effort has shape (3,), robot 'planar_2r' has nv = 2."),
        ({"effort": [1.0, -2.0]}, "time_optimal: joint 'elbow' has the effort limit -2.0. Give a positive number, or "
         "infinity for none."),
        ({"effort": EFFORT, "start": -1.0}, "time_optimal: start=-1.0, end=None. Give speeds ṡ that are not negative."),
        ({"effort": EFFORT, "points": 0}, "time_optimal: over=(0.0, 1.0), points=0. Give a part of 0 to 1, and how "
         "many pieces it is to have, or the s of their ends."),
        ({"effort": EFFORT, "points": -5}, "time_optimal: over=(0.0, 1.0), points=-5. Give a part of 0 to 1, and how "
         "many pieces it is to have, or the s of their ends."),
        ({"effort": EFFORT, "points": [0.0, np.nan]}, "time_optimal: over=(0.0, 1.0), points=[0.0, nan]. Give a part "
         "of 0 to 1, and how many pieces it is to have, or the s of their ends."),
        ({"effort": EFFORT, "points": "many"}, "time_optimal: points is not an array of real numbers."),
        ({"effort": EFFORT, "over": (0.5, 0.5)}, "time_optimal: over=(0.5, 0.5), points=256. Give a part of 0 to 1, "
         "and how many pieces it is to have, or the s of their ends."),
    ],
)  # fmt: skip
def test_limits_and_grids_that_are_none(options, text):
    assert said(hinge.SizeError, hinge.time_optimal, ARM, line, **options) == text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (3.0, "time_optimal: the path is a float; it has to be a function of s, or a motion."),
        (lambda s: s, "time_optimal: the path gave a ndarray; it has to give q, q' and q''."),
        (lambda s: (line(s)[0][:, :1], *line(s)[1:]), "time_optimal: for 2304 points the path gave q of shape (2304, "
         "1); it has to be (2304, 2)."),
        (lambda s: (*line(s)[:2], line(s)[2] + np.where(s > 0.5, np.nan, 0.0)[:, None]),
         "time_optimal: q'' of the path is not finite at s = 0.5."),
    ],
)  # fmt: skip
def test_paths_that_are_none(path, text):
    assert said(hinge.SizeError, hinge.time_optimal, ARM, path, effort=EFFORT) == text


def test_damping_cannot_be_planned_with():
    text = said(hinge.NotCovered, hinge.time_optimal, ARM, line, effort=EFFORT, joint_terms=("armature", "damping"))
    assert text.startswith("time_optimal: joint_terms has 'damping', whose force grows with ṡ")


def test_a_time_that_is_none():
    timed = hinge.time_uniform(ARM, line, effort=EFFORT)
    assert said(hinge.SizeError, timed, [0.0, np.nan]) == "t has a value that is not finite. Give finite times."
    assert timed(np.zeros((2, 3)))[1].shape == (2, 3, 2)
    q, qd, qdd = timed(99.0)  # after the end it stands still
    assert (q == timed(timed.duration)[0]).all()
    assert not qd.any()
    assert not qdd.any()


def test_poses_that_are_none():
    goals = np.tile(np.eye(4), (2, 3, 1, 1))
    goals[1, 2, 0, 0] = -1.0  # a mirror
    text = said(hinge.GeometryError, hinge.inverse_kinematics, ARM, goals, "hand")
    assert text == ("inverse_kinematics: poses[1, 2] is not in SE(3).\n"
                    "  A pose is finite: a rotation, a shift, and a last row 0 0 0 1.")  # fmt: skip
    text = said(hinge.GeometryError, hinge.inverse_kinematics, ARM, np.full((4, 4), np.nan), "hand")
    assert text.startswith("inverse_kinematics: the pose is not in SE(3).")
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, np.eye(3), "hand")
    assert text == "inverse_kinematics: poses has shape (3, 3); it has to end in (4, 4)."


def test_names_and_starts_that_are_none():
    goal = ARM.pose([0.1, 0.2], "hand")
    text = said(hinge.UnknownName, hinge.inverse_kinematics, ARM, goal, "hnad")
    assert text == "robot 'planar_2r' has no body or frame 'hnad'. Did you mean 'hand'?"
    text = said(hinge.UnknownName, hinge.inverse_kinematics, ARM, goal, "hand", match="place")
    assert text.startswith("inverse_kinematics: match='place' is not known.")
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, goal, "hand", start=[1.0])
    assert text == "inverse_kinematics: start has shape (1,); it has to end in (2,)."
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, goal, "hand", start=np.zeros((3, 2)))
    assert text == "inverse_kinematics: start has shape (3, 2); the poses want (2,)."
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, goal, "hand", start=[0.0, np.nan])
    assert text == "inverse_kinematics: start has a value that is not finite. Give finite numbers."
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, goal, "hand", starts=-1)
    assert text.startswith("inverse_kinematics: starts=-1.")
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, goal, "hand", start=[0.1, 0.2], steps=0)
    assert text == "inverse_kinematics: steps=0, tolerance=1e-10. Give at least 1, and at least 0."
    text = said(hinge.SizeError, hinge.inverse_kinematics, ARM, goal, "hand", tolerance=np.nan)
    assert text == "inverse_kinematics: steps=40, tolerance=nan. Give at least 1, and at least 0."


def test_numbers_that_are_not_finite_stay_in_their_row():
    loose, goal = ARM.vary("elbow.placement"), ARM.pose([0.1, 0.2], "hand")
    placements = np.tile(loose.target.vary[0].nominal(loose.model), (2, 1, 1))
    placements[0, 0, 3] = np.nan
    found = hinge.inverse_kinematics(
        loose, np.stack([goal, goal]), "hand", parameters={"elbow.placement": placements}, starts=8
    )
    assert found.status.tolist() == [hinge.Status.UNREACHED, hinge.Status.OK]
    assert np.isnan(found.q[0]).all()
    np.testing.assert_allclose(ARM.pose(found.q[1], "hand"), goal, rtol=0, atol=1e-9)


def test_hand_accelerations_that_are_none():
    state = [0.1, 0.2], [0.0, 0.0], "hand"
    text = said(hinge.SizeError, hinge.hand_accelerations, ARM, *state)
    assert text == ("hand_accelerations: joint 'shoulder' has the effort limit inf.\n"
                    "  Give effort= with a finite number for each velocity, 0 where there is no actuator.")  # fmt: skip
    text = said(hinge.SizeError, hinge.hand_accelerations, ARM, *state, effort=[1.0, 2.0, 3.0])
    assert text == "hand_accelerations: effort has shape (3,), robot 'planar_2r' has nv = 2."
    text = said(hinge.UnknownName, hinge.hand_accelerations, ARM, *state, part="lin", effort=EFFORT)
    assert text == "hand_accelerations: part='lin' is not known. Did you mean 'linear'?"
    can = hinge.hand_accelerations(ARM, np.zeros((3, 2)), np.zeros(2), "hand", effort=EFFORT)
    assert said(hinge.SizeError, can.facets) == "this is a batch (3,) of sets. Take one of them: accelerations[0]."
    assert said(hinge.SizeError, can.most, [0.0, 0.0, 0.0]) == "direction has no length, or is not finite."
    assert said(hinge.SizeError, can.most, [1.0, 0.0]) == "direction has shape (2,); it has to end in (3,)."
    many = hinge.samples.chain(np.random.default_rng(0), 22)
    can = hinge.hand_accelerations(many, np.zeros(22), np.zeros(22), "link22", part="both", effort=10.0)
    assert said(hinge.NotCovered, can.facets).startswith("the accelerations of 22 joints in 6 dimensions")
    assert can.support([1.0, 0, 0, 0, 0, 0]) > 0.0
