"""`hinge view`, and how `hinge demo` ends."""

import re
import socket
import webbrowser

import pytest
from saying import said

import hinge
from hinge.viewing import Page


@pytest.fixture
def opened(monkeypatch):
    """Addresses that a browser was asked to open; pages are not waited for, they are closed."""
    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or True)
    monkeypatch.setattr(Page, "wait", lambda page: page.close())
    return asked


def test_a_robot_is_shown_and_its_address_said(lamp, opened):
    shown = said("view", lamp, "--port", "0")
    assert shown.exit_code == 0
    assert f"The page is at {opened[0]}; Ctrl-C ends it." in shown.output


def test_a_saved_trajectory_is_shown(tmp_path, opened):
    hinge.simulate(hinge.samples.pendulum(1), 0.1, q0=[0.2], step=0.01).save(tmp_path / "run.zarr")
    assert said("view", tmp_path / "run.zarr", "--port", "0").exit_code == 0
    assert len(opened) == 1


def test_without_a_browser_the_address_is_enough(lamp, monkeypatch, opened):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    shown = said("view", lamp, "--port", "0")
    assert shown.exit_code == 0
    assert "No browser could be opened here" in shown.output + shown.stderr
    monkeypatch.setattr(webbrowser, "open", lambda address: pytest.fail("it was told not to"))
    assert said("view", lamp, "--port", "0", "--no-browser").exit_code == 0


def test_a_port_in_use_is_told(lamp):
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        shown = said("view", lamp, "--port", str(taken.getsockname()[1]))
    assert shown.exit_code == 1
    assert "cannot be used: Address already in use" in shown.output + shown.stderr


def test_a_file_that_is_not_there_is_told(tmp_path):
    shown = said("view", tmp_path / "nothing.urdf", "--port", "0")
    assert shown.exit_code == 2
    assert "nothing.urdf" in shown.output + shown.stderr


def test_meshes_are_looked_for_in_packages(tmp_path, monkeypatch):
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "r.urdf").write_text("""<robot name="r"><link name="a"><visual><geometry>
        <mesh filename="package://parts/a.stl"/></geometry></visual></link></robot>""")
    (tmp_path / "there" / "parts").mkdir(parents=True)
    (tmp_path / "there" / "parts" / "a.stl").write_text("solid a\nendsolid a\n")
    seen = []
    monkeypatch.setattr(hinge, "view", lambda robot, *given, **options: seen.append(robot))
    monkeypatch.setattr("hinge.cli.view.serve", lambda page, browser: None)
    for words, codes in (((), ["package"]), (("--packages", tmp_path / "there"), [])):
        assert said("view", tmp_path / "robot" / "r.urdf", *words).exit_code == 0
        assert [found.code for found in seen[-1].report] == codes


def test_a_log_has_no_robot_to_look_at(tmp_path):
    (tmp_path / "log.csv").write_text("q_turn\n1\n")
    shown = said("view", tmp_path / "log.csv", "--port", "0")
    assert shown.exit_code == 2
    assert "log.csv is a log, and has no robot in it. `hinge simulate ROBOT --out run.zarr`" in shown.stderr


def test_demo_tracks_an_arc_draws_it_and_shows_it(tmp_path, opened, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = said("demo", "--seconds", "0.02", "--plot", tmp_path / "run.png", "--view")
    assert shown.exit_code == 0
    assert (tmp_path / "hinge_demo.png").stat().st_size > 10_000
    assert (tmp_path / "hinge_demo.html").stat().st_size > 10_000
    assert re.search("way in hinge_demo.png.\n.*way in hinge_demo.html.\n", shown.output)
    assert "by computed torque" in shown.output
    assert (tmp_path / "run.png").stat().st_size > 10_000
    assert opened[0] in shown.output


def test_demo_of_a_file_moves_its_joints(lamp, tmp_path):
    places = ("--plot", tmp_path / "run.png", "--film", tmp_path / "way.png")
    shown = said("demo", lamp, "--seconds", "0.02", *places, "--no-view")
    assert shown.exit_code == 0
    assert (tmp_path / "way.png").stat().st_size > 10_000
    assert "hinge demo --view" in shown.output
