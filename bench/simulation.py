"""Times batched simulation against mujoco.rollout in one run on one core, in double precision.

    python bench/simulation.py                  an arm that comes with gymnasium, 11 DOF
    python bench/simulation.py panda.xml        any MJCF file
    python bench/simulation.py --quick          fewer steps and rounds

4,096 rollouts of 1,000 steps of 1 ms by the classic Runge-Kutta method, with a row of random joint forces held over
each step; the last state is kept. Constraints, contacts, springs, dampers, actuators and sensors are off on both sides.
MuJoCo runs one rollout after the other on one thread, so its steps a second do not depend on how many there are: a part
of them is timed. Time is the processor's, and the fastest of alternating rounds counts, because machines are noisy. How
far the two are apart at the end is printed too. Then hinge again with computed torque traced in, stops, damping and
effort limits on, against the same time of MuJoCo's, which has none of them.
"""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

import hinge

STEP, SPREAD = 1e-3, 0.3
OFF = ("CONSTRAINT", "CONTACT", "SPRING", "DAMPER", "ACTUATION", "SENSOR")


def model(path: Path) -> mujoco.MjModel:
    """MuJoCo's model with everything off that hinge leaves out."""
    m = mujoco.MjModel.from_xml_path(str(path))
    for name in OFF:
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, STEP
    m.opt.density = m.opt.viscosity = 0.0
    return m


def timed(call: object, *args: object, **options: object) -> tuple[float, object]:
    start = time.process_time()
    made = call(*args, **options)  # type: ignore[operator]
    return time.process_time() - start, made


def main() -> None:
    quick = "--quick" in sys.argv
    files = [a for a in sys.argv[1:] if not a.startswith("-")]
    if files:
        path = Path(files[0])
    else:
        import gymnasium

        path = Path(gymnasium.__file__).parent / "envs/mujoco/assets/pusher_v5.xml"
    rollouts, steps, part, rounds = (4096, 100, 64, 2) if quick else (4096, 1000, 64, 4)
    hinge.set_threads(1)
    robot, m = hinge.load(path), model(path)
    d = mujoco.MjData(m)
    if robot.nq != robot.nv:
        sys.exit("give a robot without quaternions: the two order a free joint's coordinates in different ways")
    rng = np.random.default_rng(0)
    size = np.diag(robot.mass_matrix(robot.neutral()))
    tau = SPREAD * size * rng.normal(size=(rollouts, steps, robot.nv))
    q = robot.neutral() + SPREAD * rng.normal(size=(rollouts, robot.nv))
    qd = np.zeros_like(q)
    start = np.zeros((part, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + robot.nv] = q[:part]
    spec, given = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), np.ascontiguousarray(tau[:part])
    hinge.simulate(robot, 2 * STEP, q, qd, tau[:, :2], step=STEP, record="last")  # compiled before it is timed
    ours = theirs = np.inf
    for _ in range(rounds):
        seconds, run = timed(hinge.simulate, robot, steps * STEP, q, qd, tau, step=STEP, record="last")
        ours = min(ours, seconds / (rollouts * steps))
        seconds, (states, _) = timed(rollout.rollout, m, d, start, given, control_spec=spec)
        theirs = min(theirs, seconds / (part * steps))
    inside = np.clip(q, robot.limits.lower, robot.limits.upper)
    full: dict = {"control": hinge.control.computed_torque(robot, robot.neutral()), "limits": "stop", "effort": True,
                  "joint_terms": ("armature", "damping"), "method": "rk4", "step": STEP, "record": "last"}  # fmt: skip
    hinge.simulate(robot, 2 * STEP, inside, qd, **full)
    whole = min(timed(hinge.simulate, robot, steps * STEP, inside, qd, **full)[0] for _ in range(rounds))
    whole /= rollouts * steps
    apart = np.abs(run.final[0][:part] - states[:, -1, 1 : 1 + robot.nv]).max()
    print(f"{robot.name}, {robot.nv} DOF, {rollouts} rollouts × {steps} steps, one core, Python "
          f"{platform.python_version()}, MuJoCo {mujoco.__version__}")  # fmt: skip
    print(f"  hinge           {1e-6 / ours:8.3f} million steps/s  ({ours * 1e9:.0f} ns a step)")
    print(f"  mujoco.rollout  {1e-6 / theirs:8.3f} million steps/s  ({theirs * 1e9:.0f} ns a step)")
    print(f"  × {theirs / ours:.1f}; the states at the end differ by {apart:.1e}")
    print(f"  hinge with computed torque, stops, damping, effort limits {whole * 1e9:.0f} ns: × {theirs / whole:.1f}")


if __name__ == "__main__":
    main()
