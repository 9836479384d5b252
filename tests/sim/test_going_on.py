"""A run that goes on where another stopped, by hand or in its file, is the run that did not stop."""

import json

import numpy as np
import pytest
from sim_robots import double_pendulum

import hinge
from hinge import TrajectoryError
from hinge.model.samples import random_tree
from hinge.sim import store

H = 1e-2
FIXED = ("rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint")


def rods(friction=0.4, **data):
    """Two rods with dry joints."""
    builder = hinge.Builder("rods")
    builder.link("base")
    bar = np.diag([0.01, 1 / 12, 1 / 12])
    for name, parent, at in (("upper", "base", 0.0), ("lower", "upper", 1.0)):
        builder.link(name, 1.0, (0.5, 0, 0), bar)
        builder.joint(
            name, "continuous", parent, name, (at, 0, 0), axis=(0, -1, 0), friction=friction, damping=0.1, **data
        )
    return hinge.Robot(builder.build())


def swing(t, q, qd):
    return 3.0 * (np.sin(3.0 * t) - q) - 0.2 * qd


STATES = np.array([[1.0, 0.5], [0.2, -0.4], [-2.0, 0.1]])
SPEEDS = np.array([[0.1, 0.0], [0.0, 0.3], [0.0, 0.0]])
DRY = {"control": swing, "joint_terms": ("armature", "damping", "friction"), "step": H}


def same(a, b):
    assert np.array_equal(a.t, b.t)
    for name in ("q", "qd", "tau"):
        assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True), name
    assert np.array_equal(a.status, b.status)
    assert np.array_equal(a.lost, b.lost, equal_nan=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", FIXED)
def test_by_hand(method):
    """The last state and the last time of one run begin the next."""
    given = {**DRY, "method": method, "record": 3}
    whole = hinge.simulate(rods(), 0.9, STATES, SPEEDS, **given)
    first = hinge.simulate(rods(), 0.3, STATES, SPEEDS, **given)
    rest = hinge.simulate(rods(), 0.6, *first.final, t0=first.t[-1], **given)
    assert np.array_equal(np.append(first.t, rest.t[1:]), whole.t)
    for name in ("q", "qd", "tau"):
        made = np.concatenate([getattr(first, name), getattr(rest, name)[:, 1:]], axis=1)
        assert np.array_equal(made, getattr(whole, name))
    assert np.abs(whole.q[:, -1] - STATES).max() > 0.1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["free", "spherical"])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit", "implicit", "lie_rk4"])
def test_quaternions_go_on_by_hand(kind, method):
    """By `simulate` and by `rollout`: the start of a run does not change a state in which another ended."""
    robot = hinge.Robot(random_tree(np.random.default_rng(0), 2, (kind,)))
    (q, qd), n = robot.random_state(1, 64), 8
    whole = hinge.rollout(robot, q, qd, 2 * n, H, method=method)
    first = hinge.rollout(robot, q, qd, n, H, method=method)
    rest = hinge.rollout(robot, first.q[:, -1], first.qd[:, -1], n, H, method=method)
    assert np.array_equal(rest.q[:, -1], whole.q[:, -1])
    run = hinge.simulate(robot, n * H, q, qd, step=H, method=method)
    more = hinge.simulate(robot, n * H, *run.final, t0=run.t[-1], step=H, method=method)
    assert np.array_equal(more.q[:, 1:], whole.q[:, n + 1 :])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("record", [1, 3])
@pytest.mark.parametrize("method", FIXED)
def test_in_a_file(method, record, tmp_path):
    given = {**DRY, "method": method, "record": record}
    whole = hinge.simulate(rods(), 0.9, STATES, SPEEDS, **given)
    for t in (0.3, 0.12, 0.48):
        run = hinge.simulate(rods(), t, STATES, SPEEDS, **given, file=tmp_path / "run.zarr", append=True)
    same(run, whole)
    same(hinge.open(tmp_path / "run.zarr", rods()), whole)


def test_the_file_knows_how_many_rollouts_there_are_and_by_which_method(tmp_path):
    given = {**DRY, "file": tmp_path / "run.zarr"}
    hinge.simulate(rods(), 0.1, STATES, SPEEDS, **given, method="euler")
    run = hinge.simulate(rods(), 0.1, **given, append=True)
    same(run, hinge.simulate(rods(), 0.2, STATES, SPEEDS, **DRY, method="euler"))
    assert run.method == "euler"


def test_a_rollout_that_was_lost_stays_lost(tmp_path):
    wild = SPEEDS.copy()
    wild[1] = 1e200
    whole = hinge.simulate(rods(), 0.4, STATES, wild, **DRY)
    for _ in range(2):
        run = hinge.simulate(rods(), 0.2, STATES, wild, **DRY, file=tmp_path / "run.zarr", append=True)
    assert run.status.tolist() == [0, hinge.Status.DIVERGED, 0]
    same(run, whole)
    assert run.lost[1] == H


def test_a_file_begins_when_it_is_told_to(tmp_path):
    given = {**DRY, "t0": 0.5}
    whole = hinge.simulate(rods(), 0.2, STATES, SPEEDS, **given)
    for _ in range(2):
        run = hinge.simulate(rods(), 0.1, STATES, SPEEDS, **given, file=tmp_path / "run.zarr", append=True)
    same(run, whole)
    assert run.t[0] == 0.5


def test_events_of_both_parts_are_in_the_file(tmp_path):
    def down(t, q, qd):
        return qd[1]

    robot = double_pendulum()
    whole = hinge.simulate(robot, 2.0, [1.0, 0.5], step=H, events=[down])
    for _ in range(2):
        run = hinge.simulate(robot, 1.0, [1.0, 0.5], step=H, events=[down], file=tmp_path / "run.zarr", append=True)
    back = hinge.open(tmp_path / "run.zarr")
    for made in (run, back):
        assert [e.t for e in made.events] == [e.t for e in whole.events]
        assert all(np.array_equal(a.q, b.q) for a, b in zip(made.events, whole.events, strict=True))
    assert len({e.t > 1.0 for e in whole.events}) == 2


def test_a_file_that_is_there_is_left_alone_unless_told(tmp_path):
    place = tmp_path / "run.zarr"
    robot = double_pendulum()
    old = hinge.simulate(robot, 0.1, [1.0, 0.5], step=H, file=place)
    before = np.array(old.q)
    with pytest.raises(
        TrajectoryError, match=r"run.zarr holds a trajectory already(?s:.*)overwrite=True, or append=True"
    ):
        hinge.simulate(robot, 0.1, [0.2, 0.5], step=H, file=place)
    assert np.array_equal(hinge.open(place).q, before)
    new = hinge.simulate(robot, 0.05, [0.2, 0.5], step=H, file=place, overwrite=True)
    assert len(new) == 6
    assert np.array_equal(hinge.open(place).q, new.q)


OTHER = {
    "robot": ({"robot": rods(0.0).with_gravity((0, 0, 0))}, "it is of another robot, 'rods'"),
    "robot of another size": ({"robot": hinge.samples.pendulum(3), "q0": np.zeros((3, 3)), "qd0": np.zeros(3)},
                              "it is of another robot, 'rods'"),
    "friction": ({"robot": rods(0.1)}, "it is of another robot, 'rods'"),
    "limits": ({"robot": rods(upper=3.0)}, "it is of another robot, 'rods'"),
    "efforts": ({"robot": rods(effort=9.0)}, "it is of another robot, 'rods'"),
    "batch": ({"q0": STATES[:2], "qd0": SPEEDS[:2]}, r"its batch is \[3\], not \[2\]"),
    "fields": ({"fields": ("q", "qd")}, r"its fields is \['q', 'qd', 'tau'\], not \['q', 'qd'\]"),
    "method": ({"method": "euler"}, "its method is 'rk4', not 'euler'"),
    "joint terms": ({"joint_terms": ()}, r"its joint_terms is \['armature'\], not \[\]"),
    "stops": ({"limits": "stop"}, "its run has other position limits"),
    "efforts that act": ({"effort": True}, "its run has other effort limits"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER)
def test_a_file_of_something_else_is_not_gone_on_with(name, tmp_path):
    place, (options, said) = tmp_path / "run.zarr", OTHER[name]
    hinge.simulate(rods(), 0.1, STATES, SPEEDS, step=H, file=place)
    before = json.loads((place / store.MARK).read_text())
    given = {"robot": rods(), "q0": STATES, "qd0": SPEEDS, "step": H} | options
    with pytest.raises(TrajectoryError, match=f"run.zarr cannot be gone on with: {said}"):
        hinge.simulate(t=0.1, **given, file=place, append=True)
    assert json.loads((place / store.MARK).read_text()) == before


def test_a_run_over_another_ground_is_not_gone_on_with(tmp_path):
    place, ball = tmp_path / "run.zarr", hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot
    start = [1.0, 0, 0, 0, 0, 0, 0.5]
    hinge.simulate(ball, 0.02, start, step=H, ground=0.0, file=place)
    for ground in (0.1, None):
        with pytest.raises(TrajectoryError, match=r"cannot be gone on with: its (run has other contacts|method is)"):
            hinge.simulate(ball, 0.02, start, step=H, ground=ground, method="rk4", file=place, append=True)
    assert (
        len(hinge.simulate(ball, 0.02, start, step=H, ground=0.0, file=place, append=True)) == 2 * round(0.02 / H) + 1
    )


def test_a_file_without_velocities_is_not_gone_on_with(tmp_path):
    place = tmp_path / "run.zarr"
    hinge.simulate(rods(), 0.1, STATES, step=H, file=place, fields=("q",))
    with pytest.raises(TrajectoryError, match="it has no q and qd to begin with"):
        hinge.simulate(rods(), 0.1, STATES, step=H, file=place, fields=("q",), append=True)


def test_a_run_that_was_killed_goes_on(tmp_path, monkeypatch):
    """Chunks of 8 states; the process dies after the third."""
    place = tmp_path / "run.zarr"
    monkeypatch.setattr(store, "LONGEST", 8)
    whole, flush, done = hinge.simulate(rods(), 0.6, STATES, SPEEDS, **DRY), store.Writer.flush, []

    def dies(self):
        flush(self)
        done.append(self.row)
        if len(done) == 3:
            raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(store.Writer, "flush", dies)
        with pytest.raises(SystemExit):
            hinge.simulate(rods(), 0.6, STATES, SPEEDS, **DRY, file=place)
    left = hinge.open(place, rods())
    assert len(left) == 24
    assert "24 of 61 states were finished" in left.info["stopped"]
    run = hinge.simulate(rods(), 0.6 - left.t[-1], **DRY, file=place, append=True)
    same(run, whole)
    same(hinge.open(place, rods()), whole)
    assert "stopped" not in hinge.open(place, rods()).info


def test_a_closed_loop_goes_on(tmp_path):
    """Where the robot's neutral configuration is none."""
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    given = {"step": H, "loops": "project"}
    whole = hinge.simulate(robot, 0.2, q, **given)
    hinge.simulate(robot, 0.1, q, **given, file=tmp_path / "run.zarr")
    same(hinge.simulate(robot, 0.1, **given, file=tmp_path / "run.zarr", append=True), whole)


# numbers that vary


MASSES = np.array([0.5, 1.0, 2.0])


@pytest.mark.parametrize("numbers", [{"lower.mass": MASSES, "gravity": [0, 0, -5.0]}, {"lower.mass": 3.0}])
def test_the_energy_of_a_varied_robot_is_that_of_its_numbers(numbers, tmp_path):
    """In memory, saved, and written while it runs: of each rollout its own, which it keeps."""
    arm = hinge.samples.planar_2r().vary("lower.mass", "gravity")
    given = {"parameters": numbers, "step": 1e-3, "record": 20}
    run = hinge.simulate(arm, 0.2, STATES, SPEEDS, **given)
    masses = np.broadcast_to(numbers["lower.mass"], 3)
    each = [{"parameters": numbers | {"lower.mass": m}} for m in masses]
    want = [arm.kinetic_energy(q, qd, **own) + arm.potential_energy(q, **own)
            for q, qd, own in zip(run.q, run.qd, each, strict=True)]  # fmt: skip
    np.testing.assert_allclose(run.energy(), want, rtol=1e-13)
    assert np.ptp(run.energy(), axis=1).max() < 1e-9 < np.ptp(run.energy(), axis=0).max()
    run.save(tmp_path / "saved.zarr")
    written = hinge.simulate(arm, 0.2, STATES, SPEEDS, **given, file=tmp_path / "written.zarr")
    for other in (hinge.open(tmp_path / "saved.zarr"), hinge.open(tmp_path / "saved.zarr", arm), written):
        np.testing.assert_allclose(other.energy(), run.energy(), rtol=1e-12)
    one = hinge.simulate(arm, 0.1, STATES[0], parameters={"lower.mass": 2.0})
    assert np.ptp(one.energy()) < 1e-9


def test_a_run_with_other_numbers_does_not_go_on(tmp_path):
    arm = hinge.samples.planar_2r().vary("lower.mass")
    file = tmp_path / "run.zarr"
    hinge.simulate(arm, 0.1, STATES, parameters={"lower.mass": MASSES}, file=file)
    hinge.simulate(arm, 0.1, parameters={"lower.mass": MASSES}, file=file, append=True, q0=None)
    with pytest.raises(TrajectoryError) as wrong:
        hinge.simulate(arm, 0.1, STATES, parameters={"lower.mass": MASSES + 1.0}, file=file, append=True)
    assert str(wrong.value) == (
        f"{file} cannot be gone on with: its robot has other parameters.\n  Write to another file."
    )
