"""Who may talk to the page, and what of what it says is believed."""

import http.client
import socket
import threading
import time

import numpy as np
import pytest

import hinge
from hinge import ViewError
from hinge.viewing.gate import refusal

viser = pytest.importorskip("viser")
client = pytest.importorskip("websockets.sync.client")
from websockets.exceptions import InvalidStatus  # noqa: E402


@pytest.fixture
def page():
    made = hinge.view(hinge.samples.planar_2r(), port=0, browser=False)
    yield made
    made.close()


@pytest.fixture
def playing():
    run = hinge.simulate(hinge.samples.pendulum(1), 0.1, q0=[[0.1], [0.2], [0.3]], step=0.01)
    made = hinge.view(run, port=0, browser=False)
    yield made
    made.close()


def talk(page, name="localhost", origin=None):
    """A websocket to a page, as a browser opens one that knows it by that name."""
    port = page.server.get_port()
    return client.connect(
        f"ws://{name}:{port}",
        sock=socket.create_connection(("localhost", port)),
        origin=origin and origin.format(port=port),
        subprotocols=[f"viser-v{viser.__version__}"],
        compression=None,
    )


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
def test_the_page_itself_is_answered(page, name):
    with talk(page, name, f"http://{name}:{{port}}") as opened:
        assert opened.recv(timeout=20)


def test_a_program_that_is_no_browser_is_answered(page):
    with talk(page) as opened:
        assert opened.recv(timeout=20)


ELSEWHERE = [
    "http://evil.example", "http://evil.example:{port}", "http://localhost:{port}.evil.example", "http://localhost",
    "http://localhost:1", "null", "file://",
]  # fmt: skip


@pytest.mark.parametrize("origin", ELSEWHERE)
def test_a_page_from_elsewhere_is_refused(page, origin):
    with pytest.raises(InvalidStatus) as refused:
        talk(page, origin=origin)
    assert refused.value.response.status_code == 403


def test_a_name_that_was_made_to_lead_here_is_refused(page):
    with pytest.raises(InvalidStatus) as refused:
        talk(page, "evil.example", "http://evil.example:{port}")
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(("name", "status"), [("localhost", 200), ("evil.example", 403)])
def test_files_are_served_under_names_of_this_machine(page, name, status):
    asked = http.client.HTTPConnection("localhost", page.server.get_port(), timeout=20)
    asked.request("GET", "/", headers={"Host": f"{name}:{page.server.get_port()}"})
    assert asked.getresponse().status == status
    asked.close()


@pytest.mark.parametrize(("hosts", "origins", "good"), [
    (["localhost:8080"], ["http://localhost:8080"], True),
    (["localhost:9000"], ["http://localhost:9000"], True),  # a tunnel
    (["192.168.0.7:8080"], ["http://192.168.0.7:8080"], True),
    (["robot.lab:8080"], ["http://robot.lab:8080"], True),
    (["robot.lab.evil.example:8080"], ["http://robot.lab.evil.example:8080"], False),
    (["localhost:8080"], ["http://localhost:8080", "http://evil.example"], False),
    (["localhost:8080", "evil.example"], [], False),
    ([], [], False),
    ([""], [], False),
    (["localhost@evil.example"], [], False),
])  # fmt: skip
def test_who_is_refused(hosts, origins, good):
    assert (refusal("robot.lab", hosts, origins) == "") is good


def test_an_empty_host_is_refused():
    with pytest.raises(ViewError, match="host is empty, which would open the page to every machine") as refused:
        hinge.view(hinge.samples.planar_2r(), port=0, browser=False, host="")
    assert str(refused.value).endswith('"0.0.0.0" if all of them may use it.')


def test_a_server_that_cannot_be_guarded_is_not_kept(monkeypatch):
    monkeypatch.setattr(viser, "ViserServer", lambda **options: None)
    with pytest.raises(ViewError, match="in a way that hinge cannot guard"):
        hinge.view(hinge.samples.planar_2r(), port=0, browser=False)


def test_nothing_is_exchanged_once_it_runs(page):
    from websockets.asyncio import server

    assert server.serve.__module__ == "websockets.asyncio.server"


# ---- what a page says


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -7.0])
def test_coordinates_stay_within_limits_and_finite(page, value):
    name = next(iter(page.robot.joint_names))
    low, high = page.controls[name].min, page.controls[name].max
    page.controls[name].min, page.controls[name].max = -1e309, 1e309  # which a page can say as well
    page.controls[name].value = value
    assert low <= page.q[0] <= high


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, -7.0])
def test_time_stays_within_the_trajectory(playing, value):
    playing.controls["t"].value = value
    assert playing.q in playing.trajectory.q[0]
    playing.controls["speed"].value = "nan"
    playing.controls["play"].value = True
    deadline = time.monotonic() + 20
    while not 0.0 <= playing.controls["t"].value <= 0.1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert 0.0 <= playing.controls["t"].value <= 0.1


@pytest.mark.parametrize(("value", "shown"), [(-3, 0), (99, 2), (10**30, 2)])
def test_a_rollout_is_one_of_those_there_are(playing, value, shown):
    playing.controls["rollout"].value = value
    np.testing.assert_allclose(playing.q, playing.trajectory.q[shown, 0])


def test_the_clock_goes_on_whatever_it_was_told(playing):
    before = {thread.ident for thread in threading.enumerate()}
    playing.controls["play"].value = True
    for nonsense in ("abc", "", "1e400"):
        playing.controls["speed"].value = nonsense
        time.sleep(0.1)
    assert {thread.ident for thread in threading.enumerate()} >= before
