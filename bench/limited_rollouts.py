"""Rollouts with joint damping and limits of effort beside `mujoco.rollout` on one thread, on the same file.

    HINGE_ROBOTS=folder python bench/limited_rollouts.py [--write]    Panda, without and with its hand

4,096 rollouts of 1,000 semi-implicit steps of 1 ms, a row of random joint forces held over each and cut at the limits.
Actuators of the files become motors whose joints have the limits of effort that the actuators had; contacts and
constraints are off on both sides. MuJoCo takes one rollout after another, so a part of them is timed.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import figures
import mujoco
import numpy as np
from measuring import fastest, menagerie
from mujoco import rollout

import hinge

FILES = {"arm": "franka_emika_panda/panda_nohand.xml", "hand": "franka_emika_panda/panda.xml"}
STEP, STEPS, ROLLOUTS, THEIRS, ROUNDS = 1e-3, 1000, 4096, 64, 3
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


def compared(file: str) -> tuple[str, float, float, float]:
    """A robot's name, ns a step of ours and of theirs, and how far states are apart at the end."""
    text = with_motors((menagerie() / file).read_text(encoding="utf-8"))
    robot, m = hinge.load(text), mujoco.MjModel.from_xml_string(text)
    for name in ("CONSTRAINT", "CONTACT", "SENSOR", "EULERDAMP"):  # damping at the beginning of a step, as here
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_EULER, STEP
    rng = np.random.default_rng(0)
    q = robot.neutral() + rng.uniform(-0.3, 0.3, (ROLLOUTS, robot.nv))
    qd, taus = np.zeros_like(q), rng.normal(scale=robot.limits.effort, size=(ROLLOUTS, STEPS, robot.nv))
    start = np.zeros((THEIRS, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + robot.nv] = q[:THEIRS]
    how: dict[str, Any] = {"effort": True, "joint_terms": ("armature", "damping"), "method": "semi_implicit"}
    hinge.rollout(robot, q, qd, 2, STEP, taus=taus[:, :2], record=2, **how)  # compiled before it is timed
    runs = {
        "ours": lambda: hinge.rollout(robot, q, qd, STEPS, STEP, taus=taus, record=STEPS, **how),
        "theirs": lambda: rollout.rollout(m, [mujoco.MjData(m)], start, taus[:THEIRS]),
    }
    took, run, (states, _) = fastest(runs, ROUNDS), runs["ours"](), runs["theirs"]()
    apart = np.abs(run.q[:THEIRS, -1] - states[:, -1, 1 : 1 + robot.nv]).max()
    ours, theirs = 1e9 * took["ours"] / (ROLLOUTS * STEPS), 1e9 * took["theirs"] / (THEIRS * STEPS)
    return f"{robot.name}, {robot.nv} DOF", ours, theirs, apart


def measured() -> dict[str, Any]:
    hinge.set_threads(1)
    made: dict[str, Any] = {"table": [["robot", "ns a step", "mujoco.rollout", "times", "apart at end"]]}
    for key, file in FILES.items():
        name, ours, theirs, apart = compared(file)
        made["table"].append([name, f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.1f}", f"{apart:.0e}"])
        made[f"{key}_step"] = figures.number(ours, "ns a step")
        made[f"{key}_mujoco"] = figures.number(theirs, "ns a step of mujoco.rollout")
        made[f"{key}_times"] = figures.number(theirs / ours, "times mujoco.rollout")
    return made


if __name__ == "__main__":
    figures.main(__file__, measured, ("mujoco",))
