"""The page in a real browser: it loads, a slider moves the robot, a trajectory plays, and the picture changes."""

import io
import shutil
import time

import numpy as np
import pytest

import hinge

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright, which drives a browser, is not installed")
if BROWSER is None:
    pytest.skip("there is no Chromium on this machine", allow_module_level=True)

QUIET = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--ignore-gpu-blocklist"]  # fmt: skip
PATIENCE = 120_000  # ms: pictures are made without a graphics card


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=QUIET)
        yield chromium
        chromium.close()


def opened(browser, page):
    tab = browser.new_page(viewport={"width": 640, "height": 400})
    tab.set_default_timeout(PATIENCE)
    wrong = []  # requests to elsewhere, and errors
    tab.on(
        "request",
        lambda request: (
            wrong.append(request.url) if request.url.startswith("http") and "localhost" not in request.url else None
        ),
    )
    tab.on("pageerror", lambda fault: wrong.append(str(fault)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.goto(page.address)
    tab.wait_for_selector("canvas")
    return tab, wrong


def picture(tab):
    """What the window shows, (height, width, 3)."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(tab.screenshot(timeout=PATIENCE))).convert("RGB"), float)


def settled(tab, wanted):
    """The first picture that is as wanted; the last one after a while."""
    end = time.time() + 60
    while True:
        made = picture(tab)
        if wanted(made) or time.time() > end:
            return made


def colored(image):
    """Pixels of the left half, where the robot is, that have a colour of their own: not ground, not text."""
    return (np.ptp(image[:, :310], axis=-1) > 40).sum()


@pytest.mark.sweep
def test_it_loads_and_a_slider_moves_the_robot(browser):
    page = hinge.view(hinge.samples.planar_2r(), port=0, browser=False)
    tab, wrong = opened(browser, page)
    try:
        before = settled(tab, lambda image: colored(image) > 200)
        assert colored(before) > 200
        field = tab.locator("input[inputmode=decimal]").first
        field.fill("1.2")
        field.press("Enter")
        end = time.time() + 60
        while abs(page.q[0] - 1.2) > 0.02 and time.time() < end:
            time.sleep(0.1)
        assert page.q[0] == pytest.approx(1.2, abs=0.02)
        after = settled(tab, lambda image: (np.abs(image - before).max(axis=-1) > 40)[:, :310].sum() > 200)
        assert (np.abs(after - before).max(axis=-1) > 40)[:, :310].sum() > 200
        assert not wrong, "the page works without a network, and without errors"
    finally:
        page.close()
        tab.close()


@pytest.mark.sweep
def test_a_trajectory_plays(browser):
    run = hinge.simulate(hinge.samples.planar_2r(), 2.0, q0=[0.3, 0.2], step=0.01)
    page = hinge.view(run, port=0, browser=False)
    tab, _ = opened(browser, page)
    try:
        before = settled(tab, lambda image: colored(image) > 200)
        tab.get_by_label("Play").first.check()
        end = time.time() + 60
        while page.controls["t"].value == 0.0 and time.time() < end:
            time.sleep(0.1)
        assert page.controls["play"].value
        assert page.controls["t"].value > 0.0
        after = settled(tab, lambda image: (np.abs(image - before).max(axis=-1) > 40)[:, :310].sum() > 200)
        assert (np.abs(after - before).max(axis=-1) > 40)[:, :310].sum() > 200
    finally:
        page.close()
        tab.close()


@pytest.mark.sweep
def test_a_film_plays_without_a_server(browser, tmp_path):
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
    run = hinge.simulate(ball, 1.0, [1, 0, 0, 0, 0, 0, 0.5], step=2e-3, record=5, ground=0.0, backend="llvm")
    hinge.film(run, tmp_path / "ball.html")
    tab = browser.new_page(viewport={"width": 330, "height": 300})
    tab.set_default_timeout(PATIENCE)
    faults, asked = [], []
    tab.on("pageerror", lambda fault: faults.append(fault))
    tab.on("request", lambda request: asked.append(request.url))
    try:
        tab.goto(f"{(tmp_path / 'ball.html').as_uri()}#t=0")
        tab.get_by_text("0.00 s").wait_for()
        before = picture(tab)
        tab.get_by_label("Time").fill("30")
        tab.get_by_text("1.00 s").wait_for()
        after = settled(tab, lambda image: (np.abs(image - before).max(axis=-1) > 40).sum() > 200)
        assert (np.abs(after - before).max(axis=-1) > 40).sum() > 200
        tab.get_by_label("Play").click()
        end = time.time() + 60
        while tab.locator("output").inner_text() == "1.00 s" and time.time() < end:
            time.sleep(0.05)
        assert tab.locator("output").inner_text() != "1.00 s"
        assert not faults
        assert len(asked) == 1
    finally:
        tab.close()
