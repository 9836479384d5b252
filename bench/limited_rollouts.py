"""Rollouts with joint damping and limits of effort against `mujoco.rollout` on one thread, both on the same file.

    HINGE_ROBOTS=folder python bench/limited_rollouts.py            Panda, without and with its hand
    HINGE_ROBOTS=folder python bench/limited_rollouts.py --quick    fewer steps

4,096 rollouts of 1,000 semi-implicit steps of 1 ms, a row of random joint forces held over each and cut at the limits.
Actuators of the files become motors whose joints have the limits of effort that the actuators had; contacts and
constraints are off on both sides. MuJoCo takes one rollout after another, so a part of them is timed. Time is the
processor's, the least of alternating rounds; how far the states are apart at the end is printed too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
from mujoco import rollout

import hinge

ROBOTS = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[2] / "shared" / "robots"))
FILES = ("franka_emika_panda/panda_nohand.xml", "franka_emika_panda/panda.xml")
STEP, ROLLOUTS, THEIRS = 1e-3, 4096, 64
FINGERS = 100.0  # N, of joints that no actuator names


def with_motors(text: str) -> str:
    """The file with a motor at every joint, and its actuators' limits of force as those of the joints."""
    m, tree = mujoco.MjModel.from_xml_string(text), ElementTree.fromstring(text)
    limits = dict.fromkeys((m.joint(j).name for j in range(m.njnt)), FINGERS)
    for k in range(m.nu):
        if m.actuator_trntype[k] == mujoco.mjtTrn.mjTRN_JOINT:
            limits[m.joint(m.actuator_trnid[k, 0]).name] = m.actuator_forcerange[k, 1]
    for part in ("actuator", "tendon", "equality", "keyframe"):
        for element in tree.findall(part):
            tree.remove(element)
    for joint in tree.find("worldbody").iter("joint"):  # type: ignore[union-attr]
        joint.set("actuatorfrcrange", f"{-limits[joint.get('name')]} {limits[joint.get('name')]}")
    motors = ElementTree.SubElement(tree, "actuator")
    for name in limits:
        ElementTree.SubElement(motors, "motor", joint=name)
    return ElementTree.tostring(tree, encoding="unicode")


def timed(call: Any, *args: Any, **options: Any) -> tuple[float, Any]:
    start = time.process_time()
    made = call(*args, **options)
    return time.process_time() - start, made


def compared(file: str, steps: int, rounds: int) -> None:
    text = with_motors((ROBOTS / file).read_text(encoding="utf-8"))
    robot, m = hinge.load(text), mujoco.MjModel.from_xml_string(text)
    for name in ("CONSTRAINT", "CONTACT", "SENSOR", "EULERDAMP"):  # damping at the beginning of a step, as here
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_EULER, STEP
    rng = np.random.default_rng(0)
    q = robot.neutral() + rng.uniform(-0.3, 0.3, (ROLLOUTS, robot.nv))
    qd, taus = np.zeros_like(q), rng.normal(scale=robot.limits.effort, size=(ROLLOUTS, steps, robot.nv))
    start = np.zeros((THEIRS, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + robot.nv] = q[:THEIRS]
    how: dict[str, Any] = {"effort": True, "joint_terms": ("armature", "damping"), "method": "semi_implicit"}
    hinge.rollout(robot, q, qd, 2, STEP, taus=taus[:, :2], record=2, **how)  # compiled before it is timed
    ours = theirs = np.inf
    for _ in range(rounds):
        seconds, run = timed(hinge.rollout, robot, q, qd, steps, STEP, taus=taus, record=steps, **how)
        ours = min(ours, seconds / (ROLLOUTS * steps))
        seconds, (states, _) = timed(rollout.rollout, m, [mujoco.MjData(m)], start, taus[:THEIRS])
        theirs = min(theirs, seconds / (THEIRS * steps))
    apart = np.abs(run.q[:THEIRS, -1] - states[:, -1, 1 : 1 + robot.nv]).max()
    print(
        f"| {robot.name}, {robot.nv} DOF | {ours * 1e9:.0f} | {theirs * 1e9:.0f} | {theirs / ours:.1f} | {apart:.1e} |"
    )


def main() -> None:
    hinge.set_threads(1)
    print("| robot | ns a step | mujoco.rollout | times | apart at end |\n|---|---|---|---|---|")
    for file in FILES:
        compared(file, *((200, 2) if "--quick" in sys.argv else (1000, 3)))


if __name__ == "__main__":
    main()
