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
    robot = hinge.Robot(builder.build("floating"))
    page = look(robot)
    page.controls["base z"].value = 0.5
    page.controls["base yaw"].value = np.pi / 2
    np.testing.assert_allclose(page.q, [np.sqrt(0.5), 0, 0, np.sqrt(0.5), 0, 0, 0.5], atol=5e-3)
    page.controls["base pitch"].value = -0.3
    page.controls["base pitch"].value = 0.0
    np.testing.assert_allclose(robot.pose(page.q, "brick")[:3, 0], [0, 1, 0], atol=5e-3)


def test_what_has_nothing_to_be_drawn_is_shown_too(look):
    builder = hinge.Builder("bare")
    builder.link("base")
    assert look(hinge.Robot(builder.build())).q.shape == (0,)


def test_a_filter_leaves_the_sliders_with_its_words(look):
    page = look(hinge.samples.puma560())
    page.controls["filter"].value = "Joint 3"
    assert [name for name in page.robot.joint_names if page.controls[name].visible] == ["joint3"]
    page.controls["filter"].value = ""
    assert all(page.controls[name].visible for name in page.robot.joint_names)


def test_what_joints_hold_is_told_while_posing(look):
    arm = hinge.samples.puma560()
    page = look(arm)
    (_, _, text), *_ = page._sliders.folders
    assert text.visible
    page.controls["joint2"].value = -0.75
    tau = arm.gravity_force(page.q)
    for force, limit in zip(tau[1:3], arm.limits.effort[1:3], strict=True):
        assert f"{force:.3g} N m" in text.content
        assert not np.isfinite(limit) or f"{100 * abs(force) / limit:.0f} %" in text.content
    page.controls["forces"].value = True
    page.controls["joint2"].value = -0.5
    np.testing.assert_allclose(page.figure.tau, arm.gravity_force(page.q))
    page.controls["gravity torques"].value = False
    assert not text.visible


def test_sliders_follow_what_is_shown_and_go_on_from_there(look):
    arm = hinge.samples.puma560()
    page = look(arm)
    (_, _, text), *_ = page._sliders.folders
    q = np.array([0.3, -0.8, 0.4, 0.1, 0.5, -0.2])
    page.show(q)
    np.testing.assert_allclose([page.controls[name].value for name in arm.joint_names], q)
    assert f"{arm.gravity_force(q)[1]:.3g} N m" in text.content
    page.controls["joint1"].value = 0.7
    np.testing.assert_allclose(page.q, [0.7, *q[1:]])


def test_names_translucent_links_and_trails_come_and_go(look):
    arm = hinge.samples.planar_2r()
    run = hinge.simulate(arm, 0.5, q0=[0.3, 0.2], step=0.01)
    page = look(run, trails=["hand"])
    assert page.controls["trails"].value
    page.controls["t"].value = 0.5
    lines = page.figure.marks["trails"][0].points
    np.testing.assert_allclose(lines[0, 0], arm.pose(run.q[0], "hand")[:3, 3], atol=1e-6)
    np.testing.assert_allclose(lines[-1, 1], arm.pose(run.q[-1], "hand")[:3, 3], atol=1e-6)
    np.testing.assert_allclose(lines[1:, 0], lines[:-1, 1])
    page.controls["t"].value = 0.0
    assert "trails" not in page.figure.marks
    page.controls["translucent"].value = True
    assert {mesh.opacity for mesh, _ in page.figure.meshes} == {0.3}
    page.controls["translucent"].value = False
    assert [mesh.opacity for mesh, _ in page.figure.meshes] == [part.opacity for part in page.figure.parts]
    for what, names in (("link names", arm.body_names), ("frame names", ["hand"])):
        page.controls[what].value = True
        assert [label.text for label in page.figure.marks[what]] == list(names)
        page.controls[what].value = False
        assert what not in page.figure.marks


def test_the_camera_has_all_of_the_robot_in_it(look):
    for thing in (hinge.samples.puma560(), hinge.samples.planar_2r()):
        page = look(thing)
        camera = page.server.initial_camera
        eye, to = np.array(camera.position), np.array(camera.look_at)
        back = (eye - to) / np.linalg.norm(eye - to)
        poses = page.figure.poses
        at = (
            np.concatenate(
                [p.vertices @ poses[p.body, :3, :3].T + poses[p.body, :3, 3] for p in page.figure.parts if p.body]
            )
            - eye
        )
        ahead = -at @ back
        angle = np.arctan2(np.linalg.norm(at + np.outer(ahead, back), axis=1), ahead)
        assert angle.max() < 0.5 * camera.fov < 2.5 * angle.max()


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
    monkeypatch.setattr(served, "served", None)
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
    with pytest.raises(ViewError, match=r"pip install .hinge\[view\]."):
        served.view(hinge.samples.planar_2r(), port=0, browser=False)


def test_forces_of_contacts_are_drawn_where_they_act(look):
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    slope = hinge.Ground(normal=(0.0, -0.1, 1.0), height=-0.2)
    run = hinge.simulate(ball, 0.4, [1, 0, 0, 0, 0, 0, 0.1], step=2e-3, ground=slope, backend="llvm")
    page = look(run)
    assert page.controls["contact forces"].value
    assert "contact forces" not in page.figure.marks  # it falls
    page.controls["t"].value = 0.4
    start, end = page.figure.marks["contact forces"][0].points[0]
    np.testing.assert_allclose(start, run.contacts.points[-1, 0], atol=1e-6)
    np.testing.assert_allclose(
        end - start, run.contacts.forces[-1, 0] / (2.0 * 9.81) * 0.5 * page.figure.size, atol=1e-5
    )
    page.controls["contact forces"].value = False
    assert "contact forces" not in page.figure.marks
    assert "contact forces" not in look(ball).controls


def test_several_rollouts_stand_side_by_side_or_one_through_the_other(look):
    arm = hinge.samples.planar_2r()
    run = hinge.simulate(arm, 0.2, q0=[[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]], step=0.01)
    page = look(run, rollout=[0, 2])
    assert len(page.figures) == 2
    assert not page.controls["rollout"].visible
    page.controls["t"].value = 0.2
    for figure, k in zip(page.figures, (0, 2), strict=True):
        np.testing.assert_allclose(figure.q, run.q[k, -1])
    apart = page.figures[1].place - page.figures[0].place
    assert np.linalg.norm(apart) > page.figure.size
    assert apart[2] == 0.0
    through = look([run, run], layout="ghosts")
    assert not np.any([figure.place for figure in through.figures])
    assert {usual for _, usual in through.figures[1].meshes} == {0.3}
    with pytest.raises(hinge.UnknownName, match="layout"):
        look(run, layout="pile")
    with pytest.raises(hinge.UnknownName, match=r"has no link or frame 'hnad'. Did you mean 'hand'"):
        look(run, trails=["hnad"])
    with pytest.raises(hinge.SizeError, match="101 rollouts are asked for; from 1 to 100"):
        look(run, rollout=range(101))


def test_a_sweep_plays_and_so_does_a_rollout(look, tmp_path):
    arm = hinge.samples.planar_2r()
    spread = {"q_elbow": hinge.sweeps.grid([0.0, 0.5, 1.0])}
    sweep = hinge.sweep(
        arm,
        parameters={"upper.mass": hinge.sweeps.uniform(0.5, 2.0)},
        initial=spread,
        t=0.1,
        step=0.01,
        store=tmp_path / "arm.zarr",
    )
    page = look(sweep)
    page.controls["rollout"].value = 2
    page.controls["t"].value = 0.1
    np.testing.assert_array_equal(page.q, sweep.open().q_end[2])
    assert look(sweep.again(1)).q[1] == 0.5


def test_a_contact_rollout_plays_with_its_forces(look):
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    run = hinge.rollout(ball, [1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), 20, 2e-3, ground=0.0, backend="llvm")
    page = look(run)
    page.controls["t"].value = 0.04
    start, end = page.figure.marks["contact forces"][0].points[0]
    np.testing.assert_allclose(end - start, [0.0, 0.0, 0.5 * page.figure.size], atol=1e-5)
