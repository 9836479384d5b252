"""The page without a browser: what its sliders and its clock do, and what it refuses."""

import socket
import time

import numpy as np
import pytest

import hinge
from hinge import ViewError
from hinge.viewing import page as served


@pytest.fixture
def look():
    made = []

    def view(*args, **options):
        made.append(hinge.view(*args, port=0, browser=False, **options))
        return made[-1]

    yield view
    for page in made:
        page.close()


def test_sliders_are_within_limits_and_move_the_robot(look):
    arm = hinge.samples.puma560()
    page = look(arm)
    sliders = [page.controls[name] for name in arm.joint_names]
    np.testing.assert_allclose([s.min for s in sliders], arm.limits.lower)
    np.testing.assert_allclose([s.max for s in sliders], arm.limits.upper)
    sliders[2].value = 0.75
    assert page.q[2] == pytest.approx(0.75)
    assert not page.q[:2].any()


def test_a_floating_robot_is_shown_too(look):
    builder = hinge.Builder("brick")
    builder.link("brick", 1.0, inertia=np.eye(3))
    page = look(hinge.Robot(builder.build("floating")))
    for name in [name for name in page.controls if name.startswith("base")][:4]:
        page.controls[name].value = 0.0
    assert np.isfinite(page.q).all()
    assert page.q[:4].any()


def test_a_trajectory_plays_and_is_scrubbed(look):
    run = hinge.simulate(hinge.samples.pendulum(2), 1.0, q0=[0.5, 0.1], step=0.01)
    page = look(run)
    np.testing.assert_allclose(page.q, run.q[0])
    page.controls["t"].value = 0.5
    np.testing.assert_allclose(page.q, run.q[50])
    page.controls["play"].value = True
    deadline = time.time() + 20
    while page.controls["t"].value == 0.5 and time.time() < deadline:
        time.sleep(0.02)
    page.controls["play"].value = False
    assert page.controls["t"].value != 0.5


def test_of_many_rollouts_one_is_shown(look):
    run = hinge.simulate(hinge.samples.pendulum(1), 0.1, q0=[[0.1], [0.2], [0.3]], step=0.01)
    page = look(run)
    page.controls["rollout"].value = 2
    np.testing.assert_allclose(page.q, [0.3])


def test_a_rollout_that_failed_plays_to_where_it_was_good(look):
    run = hinge.simulate(hinge.samples.pendulum(1), 0.1, q0=[[0.1], [0.2]], qd0=[[0.0], [1e200]], step=0.01)
    assert run.status.tolist() == [0, hinge.Status.DIVERGED]
    page = look(run)
    page.controls["t"].value = 0.1
    page.controls["rollout"].value = 1
    assert np.isfinite(page.q).all()


def test_a_ghost_and_arrows_are_drawn(look):
    arm = hinge.samples.planar_2r()
    page = look(arm, ghost=[1.0, 0.5])
    page.arrows([[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.5]])
    page.show([0.1, 0.2], tau=[1.0, 2.0])
    assert page.q == pytest.approx([0.1, 0.2])


def test_what_cannot_be_shown_is_refused(look):
    with pytest.raises(hinge.SizeError, match="a robot or a trajectory; a str was given"):
        look("panda.urdf")
    with pytest.raises(hinge.SizeError, match=r"q has shape \(3,\)"):
        look(hinge.samples.planar_2r()).show([0.0, 0.0, 0.0])
    page = look(hinge.samples.planar_2r())
    with pytest.raises(hinge.SizeError, match=r"tau has shape \(1,\); robot 'planar_2r' wants \(2,\)"):
        page.show([0.0, 0.0], tau=[1.0])
    with pytest.raises(hinge.SizeError, match=r"points has shape \(1, 3\) and vectors \(2, 3\)"):
        page.arrows(np.zeros((1, 3)), np.zeros((2, 3)))


def test_what_cannot_be_played_is_refused_before_a_page_is_served(monkeypatch):
    run = hinge.simulate(hinge.samples.pendulum(1), 0.1, step=0.01, fields=("qd",))
    monkeypatch.setattr(served, "_served", None)
    with pytest.raises(hinge.SizeError, match="has no coordinates"):
        hinge.view(run, browser=False)


def test_a_port_in_use_is_named():
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            ViewError, match=rf"port {port} of localhost cannot be used: Address already in use.\n  Give"
        ):
            hinge.view(hinge.samples.planar_2r(), port=port, browser=False)


def test_without_viser_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(ViewError, match=r"pip install hinge\[view\]"):
        served.view(hinge.samples.planar_2r(), port=0, browser=False)


def test_forces_of_contacts_are_drawn_where_they_act(look):
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    slope = hinge.Ground(normal=(0.0, -0.1, 1.0), height=-0.2)
    run = hinge.simulate(ball, 0.4, [1, 0, 0, 0, 0, 0, 0.1], step=2e-3, ground=slope, backend="llvm")
    page = look(run)
    assert page.controls["contact forces"].value
    assert "contact forces" not in page.figure.marks  # it falls
    page.controls["t"].value = 0.4
    start, end = page.figure.marks["contact forces"].points[0]
    np.testing.assert_allclose(start, run.contacts.points[-1, 0], atol=1e-6)
    np.testing.assert_allclose(
        end - start, run.contacts.forces[-1, 0] / (2.0 * 9.81) * 0.5 * page.figure.size, atol=1e-5
    )
    page.controls["contact forces"].value = False
    assert "contact forces" not in page.figure.marks
    assert "contact forces" not in look(ball).controls
