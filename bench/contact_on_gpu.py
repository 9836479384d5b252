"""Rollouts with contacts on a GPU, as an MJCF file has them: steps a second, and how far from the CPU's.

    HINGE_ROBOTS=folder python bench/contact_on_gpu.py [--write]

A Go2 stands at its home keyframe on a plane, under joint springs (kp 40, kd 2). "first" is the first call, with NVRTC's
time in it. Needs CuPy and a GPU.
"""

from __future__ import annotations

import re
import time
from typing import Any

import cupy
import figures
import numpy as np
from measuring import menagerie

import hinge
from hinge.backends.cuda.device import gpu

FLOOR = '<worldbody><geom name="floor" type="plane" size="0 0 1"/>'
STEPS, H, COMPARED, MANY = 50, 0.002, 300, 1 << 17


def standing(file: str) -> tuple[hinge.Robot, np.ndarray]:
    """The robot on a floor with springs in the place of its actuators, and its home."""
    text = (menagerie() / file).read_text(encoding="utf-8")
    names = re.findall(r'<(?:motor|position|general)[^>]*joint="([^"]+)"', text)
    springs = "".join(f'<position joint="{name}" kp="40" kv="2"/>' for name in names)
    home = next(iter(hinge.load(text).keyframes.values()))
    text = re.sub(r"<actuator>.*?</actuator>", f"<actuator>{springs}</actuator>", text, flags=re.S)
    text = re.sub(r"<keyframe>.*?</keyframe>", "", text, flags=re.S)
    return hinge.load(text.replace("<worldbody>", FLOOR, 1)), np.asarray(home)


def measured() -> dict[str, Any]:
    robot, home = standing("unitree_go2/go2.xml")
    told = {"physics": "file", "ctrl": home[7:], "record": STEPS}
    rng, made = np.random.default_rng(0), {"table": [["numbers", "rollouts", "10⁶ steps a second"]]}
    for dtype in (np.float32, np.float64):

        def states(count: int, dtype: type = dtype) -> tuple[np.ndarray, np.ndarray]:
            return np.tile(home, (count, 1)).astype(dtype), (0.01 * rng.normal(size=(count, robot.nv))).astype(dtype)

        q, qd = states(COMPARED)
        begun = time.perf_counter()
        ours = hinge.rollout(robot, cupy.asarray(q), cupy.asarray(qd), STEPS, H, **told).q.get()
        first = time.perf_counter() - begun
        plain = hinge.rollout(robot, q.astype(float), qd.astype(float), STEPS, H, **told).q
        name = dtype.__name__
        made[f"{name}_first"] = figures.number(first, "s of the first call")
        made[f"{name}_apart"] = figures.number(np.abs(ours - plain).max(), f"off the CPU after {STEPS} steps")
        for count in (1 << 12, 1 << 14, 1 << 16, MANY, 1 << 18):
            given, best = [cupy.asarray(x) for x in states(count)], np.inf
            for _ in range(3):
                begun = time.perf_counter()
                hinge.rollout(robot, *given, STEPS, H, **told)
                cupy.cuda.runtime.deviceSynchronize()
                best = min(best, time.perf_counter() - begun)
            rate = count * STEPS / best / 1e6
            made["table"].append([name, f"{count:,}", f"{rate:.1f}"])
            if count == MANY:
                made[name] = figures.number(rate, f"million steps a second, {MANY:,} rollouts")
    return made


if __name__ == "__main__":
    figures.main(__file__, measured, ("cupy",), f"one {gpu().name}, beside {{}}")
