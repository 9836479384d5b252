"""Environment steps a second: "go2-walk" beside a `MujocoEnv` on the same XML in Gymnasium's `SyncVectorEnv`.

    python bench/environments.py [--write]

Both have the robot that hinge wrote as MJCF, on a plane, with the same springs, frame_skip and observations, and take
the same random actions. Each runs in a process of its own, on one thread, by turns; time is that of the processor, the
least of the rounds. First the two are compared: from one state, with one row of actions.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

import figures
import gymnasium
import mujoco
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv

import hinge
from hinge.envs import Go2Walk
from hinge.envs.go2_walk import DAMPING, FASTEST, FEET, LOW, REACH, SLOWEST, STIFFNESS, TILTED
from hinge.interop import mujoco as theirs

ENVS, STEPS, THEIR_ENVS, THEIR_STEPS, ROUNDS, COMPARED = 4096, 20, 32, 100, 3, 25
FRICTION = [0.8, 0.005, 0.0001]


def written(path: Path) -> str:
    """The task's robot as MJCF, on a plane, with its springs as actuators and what its feet feel."""
    task = Go2Walk()
    hinge.write(task.robot, path)
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.timestep = task.h
    for geom in [*spec.geoms]:
        if geom.contype or geom.conaffinity:
            geom.contype, geom.conaffinity, geom.friction = 0, 1, FRICTION
        else:
            spec.delete(geom)
    plane = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [0, 0, 1], "conaffinity": 0, "friction": FRICTION}
    spec.worldbody.add_geom(**plane)
    effort = dict(zip(task.robot.joint_names[1:], task.robot.limits.effort[6:], strict=True))
    for joint in spec.joints:
        if joint.name in effort:
            joint.damping, joint.frictionloss, joint.limited = [0.0, 0.0, 0.0], 0.0, mujoco.mjtLimited.mjLIMITED_FALSE
            servo = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            servo.forcerange, servo.forcelimited = [-effort[joint.name], effort[joint.name]], True
            servo.gainprm[0], servo.biastype = STIFFNESS, mujoco.mjtBias.mjBIAS_AFFINE
            servo.biasprm[:3] = [0.0, -STIFFNESS, -DAMPING]
    for foot in FEET:
        spec.body(foot).ipos, spec.body(foot).explicitinertial = [0.0, 0.0, 0.0], True  # else MuJoCo has it elsewhere
        spec.body(foot).add_site(name=foot, size=[0.05] * 3)
        spec.add_sensor(type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=foot)
    spec.compile()
    path.write_text(spec.to_xml(), encoding="utf-8")
    return str(path)


class Theirs(MujocoEnv):
    """The same task as Gymnasium's users write it."""

    metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"], "render_fps": 50}  # noqa: RUF012

    def __init__(self, path: str) -> None:
        seen = gymnasium.spaces.Box(-np.inf, np.inf, (49,), np.float32)
        super().__init__(path, Go2Walk.frame_skip, seen)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (12,), np.float32)
        self.home = self.model.key_qpos[0]
        self.weight, self.action, self.command = 9.81 * self.model.body_mass.sum(), np.zeros(12), np.zeros(3)

    def _set_action_space(self) -> gymnasium.Space[Any]:
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (12,), np.float32)
        return self.action_space

    def observed(self, turn: np.ndarray) -> np.ndarray:
        d = self.data
        parts = [d.qvel[3:6], -turn[2], self.command, d.qpos[7:] - self.home[7:], 0.1 * d.qvel[6:], self.action,
                 d.sensordata / self.weight]  # fmt: skip
        return np.concatenate(parts).astype(np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        d, before, self.action = self.data, self.action, np.clip(action, -1.0, 1.0)
        self.do_simulation(self.home[7:] + REACH * self.action, self.frame_skip)
        turn = d.xmat[1].reshape(3, 3)
        speed, rate = turn.T @ d.qvel[:3], d.qvel[5]
        moving = np.exp(-4.0 * np.sum((speed[:2] - self.command[:2]) ** 2))
        turning = np.exp(-4.0 * (rate - self.command[2]) ** 2)
        effort, jerk = np.sum(d.actuator_force**2), np.sum((self.action - before) ** 2)
        reward = 0.2 + 0.9 * moving + 0.4 * turning - speed[2] ** 2 - 2e-4 * effort - 0.01 * jerk
        return self.observed(turn), reward, bool(d.qpos[2] < LOW or turn[2, 2] < TILTED), False, {}

    def reset_model(self) -> np.ndarray:
        q, rng = self.home.copy(), self.np_random
        q[2] += 0.02
        q[7:] += rng.uniform(-0.05, 0.05, 12)
        self.command, self.action = rng.uniform(SLOWEST, FASTEST), np.zeros(12)
        self.set_state(q, rng.uniform(-0.1, 0.1, 18))
        return self.observed(self.data.xmat[1].reshape(3, 3))


def apart(path: str) -> float:
    """The farthest two coordinates are apart from each other after some steps, with the same actions."""
    ours, other = hinge.envs.make("go2-walk", 1, autoreset="disabled"), Theirs(path)
    ours.reset(seed=0)
    states = theirs.states(ours.robot, other.model)
    other.reset(seed=0)
    other.set_state(*states.there(ours.q[0], ours.qd[0])[:2])
    for action in np.random.default_rng(0).uniform(-1.0, 1.0, (COMPARED, 1, 12)):
        ours.step(action)
        other.step(action[0])
    return float(np.abs(states.back(other.data.qpos, other.data.qvel).q - ours.q[0]).max())


def timed(path: str, mine: bool) -> float:
    """Environment steps a second."""
    hinge.set_threads(1)
    count, steps = (ENVS, STEPS) if mine else (THEIR_ENVS, THEIR_STEPS)
    if mine:
        env: Any = hinge.envs.make("go2-walk", count, autoreset="same_step")
    else:
        mode = gymnasium.vector.AutoresetMode.SAME_STEP
        env = gymnasium.vector.SyncVectorEnv([lambda: Theirs(path)] * count, autoreset_mode=mode)
    env.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (steps, count, 12))
    for action in actions[:5]:
        env.step(action)
    begun = time.process_time()
    for action in actions:
        env.step(action)
    return count * steps / (time.process_time() - begun)


def measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "go2.xml")
        off = apart(path)
        rates: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(ROUNDS):
            for mine in rates:
                with multiprocessing.get_context("spawn").Pool(1) as alone:
                    rates[mine].append(alone.apply(timed, (path, mine)))
    ours, other = (max(rates[mine]) for mine in (True, False))
    return {
        "table": [
            ["steps a second of", "hinge", "MujocoEnv in SyncVectorEnv", "times", f"apart after {COMPARED} steps"],
            ["Go2 that walks", f"{ours:,.0f}", f"{other:,.0f}", f"{ours / other:.1f}", f"{off:.0e}"],
        ],
        "go2": figures.number(ours, "environment steps a second"),
        "go2_times": figures.number(ours / other, "times a MujocoEnv in SyncVectorEnv"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("mujoco", "gymnasium"))
