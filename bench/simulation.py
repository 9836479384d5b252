"""Runge-Kutta steps beside `mujoco.rollout`, and steps that keep a mass matrix.

    python bench/simulation.py [--write]        an arm that comes with gymnasium, 11 DOF
    python bench/simulation.py panda.xml        any MJCF file

4,096 rollouts of 500 steps of 1 ms by the classic Runge-Kutta method, with a row of random joint forces held over
each step; the last state is kept. Constraints, contacts, springs, dampers, actuators and sensors are off on both sides.
MuJoCo runs one rollout after the other on one thread, so its steps a second do not depend on how many there are: a part
of them is timed. Then hinge again with computed torque traced in, stops, damping and effort limits on, beside the same
time of MuJoCo's, which has none of them. And a Puma that takes its mass matrix and bias force of every k-th step.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import figures
import mujoco
import numpy as np
from measuring import fastest
from mujoco import rollout

import hinge

STEP, SPREAD, ROLLOUTS, STEPS, PART, ROUNDS = 1e-3, 0.3, 4096, 500, 64, 3
OFF = ("CONSTRAINT", "CONTACT", "SPRING", "DAMPER", "ACTUATION", "SENSOR")


def model(path: Path) -> mujoco.MjModel:
    """MuJoCo's model with everything off that hinge leaves out."""
    m = mujoco.MjModel.from_xml_path(str(path))
    for name in OFF:
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
    m.opt.density = m.opt.viscosity = 0.0
    return m


def keeping() -> dict[int, float]:
    """How long a step of many Pumas takes whose mass matrix is of every k-th step, as times one without."""
    robot = hinge.samples.puma560()
    q, qd = robot.random_state(np.random.default_rng(0), ROLLOUTS)
    told = {"method": "semi_implicit", "step": STEP, "record": "last"}
    start = STEPS * STEP, q, 0.1 * qd
    runs = {str(k): partial(hinge.simulate, robot, *start, keep=k, **told) for k in (1, 4, 16)}
    for run in runs.values():
        run()
    took = fastest(runs, ROUNDS)
    return {k: took[str(k)] / took["1"] for k in (4, 16)}


def measured() -> dict[str, Any]:
    files = [a for a in sys.argv[1:] if not a.startswith("-")]
    if files:
        path = Path(files[0])
    else:
        import gymnasium

        path = Path(gymnasium.__file__).parent / "envs/mujoco/assets/pusher_v5.xml"
    hinge.set_threads(1)
    robot, m = hinge.load(path), model(path)
    d = mujoco.MjData(m)
    if robot.nq != robot.nv:
        sys.exit("give a robot without quaternions: the two order a free joint's coordinates in different ways")
    rng = np.random.default_rng(0)
    size = np.diag(robot.mass_matrix(robot.neutral()))
    tau = SPREAD * size * rng.normal(size=(ROLLOUTS, STEPS, robot.nv))
    q = robot.neutral() + SPREAD * rng.normal(size=(ROLLOUTS, robot.nv))
    qd, inside = np.zeros_like(q), np.clip(q, robot.limits.lower, robot.limits.upper)
    start = np.zeros((PART, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + robot.nv] = q[:PART]
    spec, given = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), np.ascontiguousarray(tau[:PART])
    full: dict = {"control": hinge.control.computed_torque(robot, robot.neutral()), "limits": "stop", "effort": True,
                  "joint_terms": ("armature", "damping"), "method": "rk4", "step": STEP, "record": "last"}  # fmt: skip
    runs = {
        "ours": partial(hinge.simulate, robot, STEPS * STEP, q, qd, tau, step=STEP, record="last"),
        "theirs": partial(rollout.rollout, m, d, start, given, control_spec=spec),
        "full": partial(hinge.simulate, robot, STEPS * STEP, inside, qd, **full),
    }
    (q_end, _), (states, _), _ = runs["ours"]().final, runs["theirs"](), runs["full"]()  # compiled before it is timed
    apart = np.abs(q_end[:PART] - states[:, -1, 1 : 1 + robot.nv]).max()
    took = fastest(runs, ROUNDS)
    ours, theirs, whole = (1e9 * took[k] / STEPS / n for k, n in zip(runs, (ROLLOUTS, PART, ROLLOUTS), strict=True))
    told = {f"keep_{k}": figures.number(times, "times a step without keep") for k, times in keeping().items()}
    head = ["robot", "ns a step", "mujoco.rollout", "times", "apart at end", "with controller, stops, limits", "times"]
    row = [f"{robot.name}, {robot.nv} DOF", f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.1f}", f"{apart:.0e}"]
    return {"table": [head, [*row, f"{whole:.0f}", f"{theirs / whole:.1f}"]], **told}


if __name__ == "__main__":
    figures.main(__file__, measured, ("mujoco", "gymnasium"))
