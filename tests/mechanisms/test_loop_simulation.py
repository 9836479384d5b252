"""Mechanisms with loops in time: three ways to keep them closed."""

import numpy as np
import pytest

import hinge


@pytest.fixture(scope="module")
def start():
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    return robot, *robot.loop_project(q, [1.0, 0.0, 0.0])


def test_projection_keeps_loops_and_energy(start):
    robot, q, qd = start
    run = hinge.simulate(robot, t=0.8, q0=q, qd0=qd, step=2e-3, record=50, loops="project")
    energy = run.energy()
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-13
    assert np.abs(np.einsum("srk,sk->sr", robot.loop_jacobian(run.q), run.qd)).max() < 1e-12
    assert np.ptp(energy) < 1e-9 * np.abs(energy).max()
    assert np.ptp(run.q[:, 0]) > 0.5


def test_a_thousand_seconds_leave_the_loop_closed_and_the_energy_as_it_was(start):
    _, q, qd = start
    robot = hinge.samples.four_bar()
    run = hinge.simulate(robot, t=1000.0, q0=q, qd0=qd, step=5e-3, record=100, loops="project")
    energy = run.energy()
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-9
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", [None, "project", "baumgarte", "independent"])
def test_every_way_is_the_same_motion(start, way):
    robot, q, qd = start
    run = hinge.simulate(robot, t=0.4, q0=q, qd0=qd, step=2e-3, record="last", loops=way)
    fine = hinge.simulate(robot, t=0.4, q0=q, qd0=qd, method="dopri5", record="last", rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(run.q, fine.q, atol=1e-9)


@pytest.mark.parametrize("how", [{"loops": "baumgarte", "loop_time": 0.02}, {"loops": "independent"}])
def test_what_has_come_open_closes_again(start, how):
    robot, q, qd = start
    rows = np.repeat(q[None], 3, axis=0)
    rows[1] += [0.0, 2e-7, -1e-7]
    run = hinge.simulate(robot, t=0.3, q0=rows, qd0=qd, step=2e-3, record="last", **how)
    assert np.abs(robot.loop_gap(rows[1])).max() > 1e-7
    gap = robot.loop_gap(run.q[:, -1])
    if how["loops"] == "independent":
        assert np.abs(gap).max() < 1e-13
    # what was opened is gone, as (1 + t/T) exp(-t/T); what is left is the integrator's own error, as in the other rows
    assert np.abs(gap[1] - gap[0]).max() < 1e-11
    np.testing.assert_array_equal(gap[0], gap[2])


def test_baumgarte_decays_with_the_time_it_is_given(start):
    """A gap alone, released at rest relative to the loop, goes as (1 + t/T) exp(-t/T)."""
    robot, q, qd = start
    off = q + [0.0, 2e-7, 0.0]
    gap = robot.loop_gap(off)
    still = qd - np.linalg.pinv(robot.loop_jacobian(off), rcond=1e-9) @ (robot.loop_jacobian(off) @ qd)
    run = hinge.simulate(robot, t=0.1, q0=off, qd0=still, step=1e-3, loops="baumgarte", loop_time=0.05)
    wanted = np.linalg.norm(gap) * (1 + run.t / 0.05) * np.exp(-run.t / 0.05)
    np.testing.assert_allclose(np.linalg.norm(robot.loop_gap(run.q), axis=1), wanted, atol=1e-3 * np.linalg.norm(gap))


def test_bad_starts_are_refused_by_the_name_of_the_loop(start):
    robot, q, qd = start
    with pytest.raises(hinge.ModelError, match=r"loop 'pin: force along .*' is open by"):
        hinge.simulate(robot, t=0.1, q0=q + [0.0, 0.1, 0.0], qd0=qd)
    with pytest.raises(hinge.ModelError, match=r"qd0 opens loop 'pin: force along"):
        hinge.simulate(robot, t=0.1, q0=q, qd0=[1.0, 0.0, 0.0])
    with pytest.raises(hinge.UnknownName, match=r"loops='projct' is not known\. Did you mean 'project'"):
        hinge.simulate(robot, t=0.1, q0=q, qd0=qd, loops="projct")
    with pytest.raises(hinge.SizeError, match=r"loop_time=-1\.0 is not a time"):
        hinge.simulate(robot, t=0.1, q0=q, qd0=qd, loops="baumgarte", loop_time=-1.0)
    with pytest.raises(hinge.NotCovered, match="and 'midpoint' does not"):
        hinge.simulate(robot, t=0.1, q0=q, qd0=qd, method="midpoint")
    with pytest.raises(hinge.NotCovered, match="has none"):
        hinge.simulate(hinge.samples.planar_2r(), t=0.1, loops="project")
