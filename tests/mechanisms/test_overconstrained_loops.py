"""Loops whose constraints repeat each other, or all but: they move with forces that stay, or a status says so."""

import numpy as np
import pytest
from loop_states import bennett, by_null_space, moving, swinging

import hinge
from hinge.status import Status

STILL = np.zeros(3)


@pytest.fixture(scope="module")
def round_trip():
    """Bennett's linkage all the way round: where it was in a run, and how fast."""
    robot = bennett()
    q, qd = swinging(robot, 6.0)
    run = hinge.simulate(robot, t=4.0, q0=q, qd0=qd, record=20, loops="project", backend="llvm")
    assert np.ptp(run.q[:, 0]) > 3.0
    return robot, run.q, run.qd


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [1.0, 0.01])
@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4])
def test_a_linkage_off_its_motion_accelerates_as_on_it_and_its_forces_stay(size, off):
    robot = bennett(size)
    q, qd = swinging(robot)
    tau = size**2 * np.array([3.0, -2.0, 1.0])
    wanted, forces = robot.loop_dynamics(q, qd, tau)
    np.testing.assert_allclose(wanted, by_null_space(robot, q, qd, tau, 2), rtol=1e-11)
    near = q + off * np.random.default_rng(2).normal(size=(30, 3))
    for method in ("mass_matrix", "sparse", "articulated"):
        qdd, pushed, status = robot.loop_dynamics(near, qd, tau, method=method, return_status=True)
        assert (status == Status.OK).all()
        np.testing.assert_allclose(
            qdd, np.broadcast_to(wanted, (30, 3)), atol=(1e-10 + 200 * off) * np.abs(wanted).max()
        )
        assert np.abs(pushed).max() < 2 * np.abs(forces).max()


def test_all_the_way_round_it_moves_as_the_null_space_says(round_trip):
    """Wherever the linkage is, some rows of its matrix say little: which ones count changes on the way."""
    robot, q, qd = round_trip
    qdd, _, status = robot.loop_dynamics(q, qd, STILL, return_status=True)
    assert (status == Status.OK).all()
    wanted = [by_null_space(robot, x, v, STILL, 2) for x, v in zip(q, qd, strict=True)]
    np.testing.assert_allclose(qdd, wanted, atol=1e-9 * np.abs(wanted).max())
    rng, size = np.random.default_rng(3), np.abs(wanted).max()
    for off in (1e-8, 1e-6):
        near = q + off * rng.normal(size=q.shape)
        qdd, _, status = robot.loop_dynamics(near, qd, STILL, return_status=True)
        assert (status == Status.OK).all()
        np.testing.assert_allclose(qdd, wanted, atol=1000 * off * size)


def test_a_state_is_the_same_in_any_batch_and_on_any_back_end(round_trip):
    robot, q, qd = round_trip
    whole = robot.loop_dynamics(q, qd, STILL, backend="llvm")[0]
    np.testing.assert_array_equal(robot.loop_dynamics(q, qd, STILL, backend="interpret")[0], whole)
    alone = [robot.loop_dynamics(x, v, STILL, backend="llvm")[0] for x, v in zip(q, qd, strict=True)]
    np.testing.assert_array_equal(alone, whole)


@pytest.mark.parametrize("backend", ["llvm", "interpret"])
def test_single_precision_finds_the_same_constraints(round_trip, backend):
    robot, q, qd = round_trip
    wanted = robot.loop_dynamics(q, qd, STILL)[0]
    given = [x.astype(np.float32) for x in (q, qd, STILL)]
    qdd, _, status = robot.loop_dynamics(*given, return_status=True, backend=backend)
    assert qdd.dtype == np.float32
    assert (status == Status.OK).all()
    np.testing.assert_allclose(qdd, wanted, atol=2e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("loops", ["project", "baumgarte"])
@pytest.mark.parametrize("step", [1e-3, 5e-3])
def test_bennetts_linkage_keeps_its_energy(loops, step, recwarn):
    robot = bennett()
    q, qd = swinging(robot)
    run = hinge.simulate(robot, t=10.0, q0=q, qd0=qd, step=step, record=10, loops=loops, backend="llvm")
    energy = run.energy()
    assert run.status == Status.OK
    assert np.ptp(run.q[:, 0]) > 4.0
    assert np.abs(energy - energy[0]).max() < (1e-8 if step == 1e-3 else 1e-5)
    assert np.abs(robot.loop_gap(run.q)).max() < (1e-12 if loops == "project" else 1e-6)
    assert not recwarn.list


def test_stops_hold_in_an_overconstrained_loop():
    robot = bennett(limits=(0.5, 3.0))
    q, qd = swinging(robot)
    run = hinge.simulate(robot, t=4.0, q0=q, qd0=qd, loops="project", limits="stop", backend="llvm")
    assert run.status == Status.OK
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-9
    assert run.q[:, 0].min() > 0.5 - 1e-3
    assert run.q[:, 0].min() < 0.5 + 1e-3
    energy = run.energy()
    assert energy[-1] < energy[0] - 1.0  # a stop takes energy
    assert np.diff(energy).max() < 1e-3 * 9.81 * 2.0 * 3.0  # and gives no more than the height of a part of a step


def test_a_pendulum_held_twice_at_one_place_is_held_once():
    """The same pin three times over, the last time a little beside: forces are shared, not fought over."""
    tree = hinge.samples.planar_2r()
    once = tree.close("spherical", "base", "hand", placement_a=[1.5, 0.0, 0.0])
    q = once.assemble([0.5, -1.0], strict=True).q
    thrice = once.close("spherical", "base", "hand", placement_a=[1.5, 0.0, 0.0], name="again")
    thrice = thrice.close("spherical", "base", "hand", placement_a=[1.5, 1e-13, 0.0], name="beside")
    qd, tau = moving(once, q)
    np.testing.assert_allclose(thrice.loop_dynamics(q, qd, tau)[0], once.loop_dynamics(q, qd, tau)[0], atol=1e-11)


# ---- where a mechanism has a toggle


@pytest.mark.parametrize("angle", [10.0**-k for k in range(1, 12)] + [0.0])
def test_near_a_toggle_constraints_are_met_or_the_status_says_so(angle):
    """A parallelogram that is all but flat: forces grow as the angle falls, until they are not known."""
    robot = hinge.samples.four_bar(ground=2.0, crank=1.0, coupler=2.0, rocker=1.0)
    q, qd, tau = np.array([1.0, -1.0, 1.0]) * angle, np.array([1.0, -1.0, 1.0]), np.array([0.3, 0.1, -0.2])
    qdd, _, status = robot.loop_dynamics(q, qd, tau, return_status=True)
    left = np.abs(robot.loop_jacobian(q) @ qdd + robot.loop_bias(q, qd)).max()
    assert status == Status.SINGULAR or left < 1e-8 * np.abs(qdd).max()
    if angle >= 1e-6:
        assert status == Status.OK
        assert left < 1e-12 * np.abs(qdd).max()
        np.testing.assert_allclose(qdd, qdd[0] * np.array([1.0, -1.0, 1.0]), rtol=1e-8)


def test_a_loop_that_no_acceleration_keeps_closed_is_singular():
    """An arm stretched out between two pins: at rest it stands, and moving sideways nothing can hold it."""
    robot = hinge.samples.planar_2r()
    robot = robot.close("spherical", "base", "hand", placement_a=robot.pose([0.0, 0.0], "hand"))
    rest, moved = (robot.loop_dynamics(STILL[:2], v, STILL[:2], return_status=True) for v in ([0, 0], [1.0, -2.0]))
    assert rest[2] == Status.OK
    assert moved[2] == Status.SINGULAR
    assert np.isfinite(moved[0]).all()


def test_a_run_through_a_toggle_keeps_its_energy_or_ends_there():
    robot = hinge.samples.four_bar(ground=2.0, crank=1.0, coupler=2.0, rocker=1.0)
    q = robot.assemble([1.0, -1.0, 1.0], strict=True).q
    for speed in (3.0, 5.0):
        at, qd = robot.loop_project(q, [speed, 0.0, 0.0])
        for loops in ("project", "baumgarte"):
            run = hinge.simulate(robot, t=8.0, q0=at, qd0=qd, loops=loops, record=10, backend="llvm")
            energy = run.energy()[np.isfinite(run.q[:, 0])]
            assert np.ptp(energy) < 1e-5 * np.abs(energy).max()
            assert run.status in (Status.OK, Status.SINGULAR)


@pytest.mark.filterwarnings("ignore:rk4 with steps of 0.02 s is not stable")
def test_a_run_whose_steps_are_too_long_to_close_its_loops_says_so():
    robot = bennett(0.01)
    q, qd = swinging(robot)
    run = hinge.simulate(robot, t=10.0, q0=q, qd0=qd, step=0.02, method="rk4", loops="project", backend="llvm")
    assert run.status in (Status.UNCLOSED, Status.DIVERGED)
    assert np.abs(robot.loop_gap(run.q[np.isfinite(run.q[:, 0])])).max() < 1e-6
