"""Draws viewer_panda.png and viewer_go2.png: the page of `hinge view` in Chromium, without a graphics card.

python docs/pictures/viewer.py [panda] [go2]

It needs playwright, Pillow, Chromium, and the robots of the package example-robot-data. viewer_*_before.png have the
same robots on the page as it was before.
"""

from __future__ import annotations

import io
import shutil
import sys
import sysconfig
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import hinge

HERE = Path(__file__).parent
ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
LEGS = {f"{leg}_{joint}_joint": x for leg in ("FL", "FR", "RL", "RR") for joint, x in (("thigh", 0.8), ("calf", -1.5))}
SHOWN = {  # file, base, and what its controls are set to
    "panda": ("panda.urdf", "fixed", {"panda_joint2": 0.4, "panda_joint4": -1.9, "panda_joint6": 2.2}),
    "go2": ("go2.urdf", "floating", LEGS | {"centre of mass": True, "translucent": True, "joint axes": True}),
}  # fmt: skip
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
SETTLED = 15.0  # s: pictures are made without a graphics card


def main(names: list[str]) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in names or SHOWN:
            file, base, controls = SHOWN[name]
            path = ROBOTS / f"{name}_description" / "urdf" / file
            page = hinge.view(hinge.load(path, base=base, packages=[ROBOTS]), port=0, browser=False)
            for control, value in controls.items():
                page.controls[control].value = value
            tab = browser.new_page(viewport={"width": 900, "height": 600})
            tab.set_default_timeout(120_000)
            tab.goto(page.address)
            tab.wait_for_selector("canvas")
            time.sleep(SETTLED)
            tab.get_by_text("Show", exact=True).click()
            tab.get_by_text("Fit the camera").click()
            tab.get_by_text("Pose", exact=True).click()
            for close in tab.locator(".mantine-Notification-closeButton").all():
                close.click()
            time.sleep(SETTLED)
            image = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
            image = image.quantize(256, kmeans=1, dither=Image.Dither.NONE)
            image.save(HERE / f"viewer_{name}.png", optimize=True)
            tab.close()
            page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
