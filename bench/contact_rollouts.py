"""Rollouts with contacts, as an MJCF file has them, beside `mujoco.rollout` with one thread on the same file.

    HINGE_ROBOTS=folder python bench/contact_rollouts.py [--write]

Robots stand at their home keyframe under joint springs (kp 40, kd 2), and a Panda pushes a box: 500 steps. "first" is
the first call with an empty cache, tracing included.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from typing import Any

import figures
import mujoco
import numpy as np
from measuring import fastest, menagerie
from mujoco import rollout

import hinge
from hinge.interop import mujoco as theirs

FLOOR = '<geom name="floor" type="plane" size="0 0 1"/>'
BOX = '<body name="box" pos=".6 0 .02"><freejoint/><geom type="box" size=".02 .1 .02" mass=".2"/></body>'
STEPS, STATES, THEIR_STATES, ROUNDS = 500, 4096, 32, 3


def springs(text: str) -> str:
    """The file with springs in the place of its actuators."""
    names = re.findall(r'<(?:motor|position|general)[^>]*joint="([^"]+)"', text)
    servos = "".join(f'<position joint="{name}" kp="40" kv="2"/>' for name in names)
    return re.sub(r"<actuator>.*?</actuator>", f"<actuator>{servos}</actuator>", text, flags=re.S)


def on_a_floor(text: str, more: str = "") -> str:
    return re.sub(
        r"<keyframe>.*?</keyframe>", "", text.replace("<worldbody>", f"<worldbody>{FLOOR}{more}", 1), flags=re.S
    )


def standing(file: str) -> tuple[str, np.ndarray, np.ndarray]:
    """A file, MuJoCo's positions, and the controls that hold them."""
    text = (menagerie() / file).read_text(encoding="utf-8")
    m = mujoco.MjModel.from_xml_string(text)
    return on_a_floor(springs(text)), m.key_qpos[0], m.key_qpos[0][7:]


def pushing() -> tuple[str, np.ndarray, np.ndarray]:
    """A Panda whose hand is at the floor beside a box, and is sent through it."""
    text = (menagerie() / "franka_emika_panda/panda.xml").read_text(encoding="utf-8")
    at = np.array([0.0, 0.35, 0.0, -2.55, 0.0, 2.9, -0.7853, 0.0, 0.0])
    to = np.array([0.0, 0.6, 0.0, -2.2, 0.0, 2.8, -0.7853, 0.0])
    return on_a_floor(text, BOX), np.r_[0.6, 0.0, 0.02, 1, 0, 0, 0, at], to


def compared(name: str, text: str, qpos: np.ndarray, ctrl: np.ndarray) -> tuple[list[str], dict[str, Any]]:
    """One robot: the row of the table, and its figures."""
    m = mujoco.MjModel.from_xml_string(text)
    d, robot = mujoco.MjData(m), hinge.load(text)
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(m, kind))
    mujoco.mj_getState(m, d, state, kind)
    q, qd, *_ = theirs.states(robot, m).back(d.qpos, d.qvel)
    q, qd = (
        np.tile(q, (STATES, 1)),
        np.tile(qd, (STATES, 1)) + np.random.default_rng(0).normal(size=(STATES, m.nv)) * 1e-3,
    )
    begun = time.process_time()
    hinge.rollout(robot, q[:8], qd[:8], 1, m.opt.timestep, physics="file", ctrl=ctrl)
    first, how = time.process_time() - begun, {"physics": "file", "ctrl": ctrl, "record": STEPS}
    given = np.tile(state, (THEIR_STATES, 1)), np.tile(ctrl, (THEIR_STATES, STEPS, 1))
    runs = {
        "ours": lambda: hinge.rollout(robot, q, qd, STEPS, m.opt.timestep, **how),
        "theirs": lambda: rollout.rollout(m, [d], *given),
    }
    took, run = fastest(runs, ROUNDS), runs["ours"]()
    ours, other = 1e6 * took["ours"] / (STATES * STEPS), 1e6 * took["theirs"] / (THEIR_STATES * STEPS)
    off = np.abs(theirs.states(robot, m).back(d.qpos, d.qvel)[0] - run.q[:, -1]).max()
    assert not run.status.any()
    key = name.split()[0].lower()
    cells = [name, f"{ours:.2f}", f"{other:.1f}", f"{other / ours:.1f}", f"{first:.1f}", str(d.ncon), f"{off:.0e}"]
    return cells, {
        f"{key}_step": figures.number(ours, "µs a step"),
        f"{key}_times": figures.number(other / ours, "times mujoco.rollout"),
        f"{key}_first": figures.number(first, "s of a processor, the first call"),
    }


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    head = ["robot", "µs a step", "mujoco.rollout", "times", "first, s", "contacts at end", "apart at end"]
    made: dict[str, Any] = {"table": [head]}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HINGE_CACHE_DIR"] = folder
        scenes = {
            "Go2": standing("unitree_go2/go2.xml"),
            "T1": standing("booster_t1/t1.xml"),
            "Panda and a box": pushing(),
        }
        for name, scene in scenes.items():
            row, told = compared(name, *scene)
            made["table"].append(row)
            made |= told
    return made


if __name__ == "__main__":
    figures.main(__file__, measured, ("mujoco",))
