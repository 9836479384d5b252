"""Random scenes without actuation: contacts, stops and loops take energy away, and never give any."""

import numpy as np
import pytest
from scenes import KINDS, starts
from sweeps import swept

import hinge
from hinge import Status

QUICK = ("a stone", "an arm", "a loop")
STEP, TIME = 2e-3, 0.6


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", swept(KINDS, lambda kind: kind.name in QUICK), ids=lambda kind: kind.name)
def test_energy_never_grows_by_the_rigid_law(kind):
    """Step by step, but for what the method of integration gains in that step where nothing touches."""
    robot, (q, qd) = kind.robot(), starts(kind, 64, seed=3)
    run = hinge.simulate(robot, TIME, q, qd, step=STEP, method="rk4", backend="llvm", **kind.options)
    assert not run.failed.any()
    assert (run.status == Status.UNCONVERGED).sum() <= 5
    free = robot.step(run.q[:, :-1], run.qd[:, :-1], np.zeros(robot.nv), STEP, backend="llvm")
    E, moving = run.energy(), robot.kinetic_energy(run.q, run.qd, backend="llvm")
    own = robot.kinetic_energy(*free, backend="llvm") + robot.potential_energy(free[0], backend="llvm") - E[:, :-1]
    gained = np.diff(E, axis=1) - np.maximum(own, 0.0)
    assert (gained < 1e-8 * np.maximum(moving[:, :-1], 0.1)).all()
    assert (E[:, -1] < E[:, 0]).mean() > 0.3 or kind.restitution == 1.0  # something did happen


SHAPES = {"sphere": ".1", "capsule": ".05 .12", "box": ".15 .1 .05", "cylinder": ".1 .1", "ellipsoid": ".15 .1 .06"}


def file_of(bodies, tilt, friction, cone):
    loose = "".join(
        f'<body pos="{k} 0 0"><freejoint/><geom type="{kind}" size="{SHAPES[kind]}" mass="{1 + k}" '
        f'friction="{friction} .005 .0001"/></body>'
        for k, kind in enumerate(bodies.split())
    )
    floor = f'<geom type="plane" size="0 0 1" euler="0 {np.degrees(tilt)} 0" friction="{friction} .005 .0001"/>'
    flag = f'<option timestep=".002" cone="{cone}"><flag energy="enable"/></option>'
    return f"<mujoco>{flag}<worldbody>{floor}{loose}</worldbody></mujoco>"


SOFT = [
    ("box", 0.2, 0.6, "pyramidal"),
    ("sphere", 0.3, 0.2, "elliptic"),
    ("capsule", 0.0, 1.0, "elliptic"),
    ("cylinder", 0.4, 0.8, "pyramidal"),
    ("ellipsoid", 0.1, 0.0, "elliptic"),
    ("sphere capsule", 0.0, 0.3, "pyramidal"),
    ("box box", 0.1, 1.5, "elliptic"),
    ("capsule ellipsoid", 0.2, 0.5, "pyramidal"),
    ("cylinder ellipsoid box", 0.1, 1.2, "pyramidal"),
    ("sphere box capsule cylinder", 0.0, 0.7, "elliptic"),
]


@pytest.mark.parametrize("case", swept(SOFT, lambda case: case[0] == "box"), ids=lambda case: case[0])
def test_energy_grows_by_the_soft_law_no_more_than_without_contact_or_than_mujocos(case):
    mujoco = pytest.importorskip("mujoco")
    from hinge.interop import mujoco as theirs

    text, count, n, steps = file_of(*case), len(case[0].split()), 100, 300
    m, robot, rng = mujoco.MjModel.from_xml_string(text), hinge.load(text), np.random.default_rng(5)
    u = rng.normal(size=(n, count, 4))
    at = np.stack([rng.uniform(-0.1, 0.1, (n, count)) + 0.5 * np.arange(count), rng.uniform(-0.1, 0.1, (n, count)),
                   rng.uniform(0.4, 0.7, (n, count))], axis=-1)  # fmt: skip
    qpos = np.concatenate([at, u / np.linalg.norm(u, axis=-1, keepdims=True)], axis=-1).reshape(n, -1)
    qvel = rng.normal(size=(n, m.nv))
    q, qd, *_ = theirs.states(robot, m).back(qpos, qvel)
    run = hinge.rollout(robot, q, qd, steps, 2e-3, physics="file", backend="llvm")
    free = hinge.rollout(robot, q, qd, steps, 2e-3, method="semi_implicit", backend="llvm")
    ours, falling = (
        robot.kinetic_energy(r.q, r.qd, backend="llvm") + robot.potential_energy(r.q, backend="llvm")
        for r in (run, free)
    )
    other = []
    for k in range(n):
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = qpos[k], qvel[k]
        mujoco.mj_forward(m, d)
        start, most = d.energy.sum(), 0.0
        for _ in range(steps):
            mujoco.mj_step(m, d)
            most = max(most, d.energy.sum() - start)
        other.append(most)
    gain, without = (np.max(E - E[:, :1], axis=1) for E in (ours, falling))
    assert (gain <= np.maximum(without, other) + 1e-6).all()
    assert (ours[:, -1] < 0.8 * ours[:, 0]).mean() > 0.5
