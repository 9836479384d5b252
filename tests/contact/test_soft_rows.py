"""Rows of the soft law, on floats, against the rows MuJoCo makes of the same state: entries, stiffness, reference."""

from dataclasses import replace

import numpy as np
import pytest
from mujoco_pair import Pair, mujoco
from soft_law_of import law_of, noted, slots_of

import hinge
from hinge.contact.laws.soft_contacts import SoftContacts
from hinge.contact.laws.soft_rows import soft_rows
from hinge.contact.laws.soft_step import soft_dynamics
from hinge.contact.slot_rows import columns
from hinge.dynamics.registry import FORCE
from hinge.model.coasting import coasting

SCENE = """<mujoco><compiler angle="radian" autolimits="true"/><option cone="{cone}" impratio="3"/>
<worldbody><geom name="floor" type="plane" size="0 0 1" margin="0.02" solmix="2"/>
<body name="box" pos="0 0 .09"><freejoint/><geom type="box" size=".2 .15 .1" condim="3" friction=".7 .01 .002"/></body>
<body name="ball" pos="1 0 .1"><freejoint/><geom size=".1" condim="6" priority="1" solimp=".5 .97 .05 .3 3"/></body>
<body name="rod" pos="0 1 .1"><freejoint/>
 <geom type="capsule" size=".1 .2" euler="0 1.5 0" condim="4" solref="-900 -30"/></body>
<body name="toe" pos="-1 0 .1"><freejoint/><geom name="tip" size=".1"/></body>
<body name="slick" pos="1 1 .1"><freejoint/><geom size=".1" condim="1" priority="2" solimp=".8 .8 .1"/></body>
<body name="arm" pos="0 0 1"><joint name="j1" axis="0 1 0" range="-.3 .4" margin=".05" frictionloss=".3" armature=".1"/>
 <geom type="capsule" size=".03" fromto="0 0 0 .5 0 0" contype="0" conaffinity="0"/>
 <body name="fore" pos=".5 0 0"><joint name="j2" type="slide" axis="1 0 0" range="-.02 .02" margin=".05" ref=".1"/>
  <joint name="j3" axis="1 0 1" frictionloss=".1" solreffriction="-30 -4" solimpfriction=".7 .9 .1"/>
  <geom size=".1" pos=".1 0 0" contype="0" conaffinity="0"/>
  <body name="wrist" pos=".1 0 .1"><joint name="b" type="ball" range="0 .4" pos="0 0 .05" margin=".1" damping=".2"/>
   <geom type="box" size=".05 .1 .2" contype="0" conaffinity="0"/></body></body></body>
<body name="other" pos=".4 0 1.2"><joint name="j4" axis="0 1 0"/><joint name="j5" type="slide" axis="0 0 1"/>
 <geom type="box" size=".1 .2 .1" contype="0" conaffinity="0"/></body></worldbody>
<contact><pair geom1="floor" geom2="tip" solreffriction=".04 1.2" friction="1.1 .9 .02 .01 .03" condim="6"/></contact>
<tendon><fixed name="t1" range="-.1 .1" margin=".01" frictionloss=".2">
 <joint joint="j1" coef="2"/><joint joint="j4" coef="-.5"/></fixed>
<fixed name="t2"><joint joint="j5" coef="1.5"/></fixed></tendon>
<equality><connect body1="fore" body2="other" anchor=".1 .05 0"/><weld body1="wrist" body2="other" torquescale=".3"/>
<joint joint1="j3" joint2="j4" polycoef=".1 .5 .2 .3 .1"/><joint joint1="j5" polycoef=".02 0 0 0 0"/>
<tendon tendon1="t1" tendon2="t2" polycoef=".1 .7 .2 0 0" solref=".05 .8"/></equality></mujoco>"""


def made(cone, seed, speed):
    """The scene in a random state: MuJoCo's model and data, the pair of them, hinge's law, rows and contacts."""
    m = mujoco.MjModel.from_xml_string(SCENE.format(cone=cone))
    m.opt.jacobian, m.opt.tolerance = mujoco.mjtJacobian.mjJAC_DENSE, 1e-16
    robot, d, rng = hinge.load(SCENE.format(cone=cone)), mujoco.MjData(m), np.random.default_rng(seed)
    mujoco.mj_integratePos(m, d.qpos, 0.1 * rng.normal(size=m.nv), 1.0)
    for j in np.flatnonzero(m.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        d.qpos[m.jnt_qposadr[j] + 2] = rng.uniform(0.06, 0.11)
    d.qvel[:] = speed * rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    pair = Pair.__new__(Pair)
    pair.m, pair.d, pair.robot = m, d, robot
    pair._turn(d.qvel)
    geoms = {}
    touches = noted(m, d, geoms)
    law = law_of(m, robot, geoms)
    return m, d, pair, law, touches


def state(pair):
    """Coordinates and velocities of the joints, in hinge's coordinates on floats."""
    model = pair.robot.model
    q, v = pair.ours(pair.d.qpos).tolist(), (pair.T @ pair.d.qvel).tolist()
    return model.joint_positions(q), model.joint_velocities(v)


def ours(pair, law, touches):
    """Rows, and contacts placed with no acceleration."""
    m, model, (q, qd) = pair.m, pair.robot.model, state(pair)
    none = [coasting(joint, qd[i]) for i, joint in enumerate(model.joint)]
    slots = slots_of(touches)
    h = float(m.opt.timestep)
    rows = soft_rows(model, law, q, qd, none, h)
    contacts = SoftContacts(model, law, slots, columns(model, q), model.flat(qd), [0.0] * model.nv, h)
    return rows, contacts


def dense(row, n):
    J = np.zeros(n)
    for v, x in row.J.items():
        J[v] = x
    return J


@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_joints_tendons_and_equalities_are_those_of_mujoco(seed, speed):
    m, d, pair, law, touches = made("elliptic", seed, speed)
    kinds = mujoco.mjtConstraint
    rows = [r for r in ours(pair, law, touches)[0] if not (r.low == 0.0 and r.D == 0.0)]
    theirs = [k for k in range(d.nefc) if d.efc_type[k] < int(kinds.mjCNSTR_CONTACT_FRICTIONLESS)]
    J = d.efc_J.reshape(d.nefc, m.nv)[theirs] @ np.linalg.inv(pair.T)
    kind = lambda r: 0 if r.high == np.inf and r.low < 0 else 1 if r.low < 0 else 2
    rank = {int(kinds.mjCNSTR_EQUALITY): 0, int(kinds.mjCNSTR_FRICTION_DOF): 1, int(kinds.mjCNSTR_FRICTION_TENDON): 1}
    assert len(rows) == len(theirs)
    left = list(rows)
    for k, row in zip(theirs, J, strict=True):
        best = min(
            left, key=lambda r: np.abs(dense(r, m.nv) - row).max() + 10 * (kind(r) != rank.get(int(d.efc_type[k]), 2))
        )
        left.remove(best)
        np.testing.assert_allclose(dense(best, m.nv), row, atol=1e-12)
        np.testing.assert_allclose(best.D, d.efc_D[k], rtol=1e-9)
        np.testing.assert_allclose(best.reference, d.efc_aref[k], rtol=1e-9, atol=1e-9)
        if kind(best) == 1:
            assert best.high == -best.low == d.efc_frictionloss[k]


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_contacts_are_those_of_mujoco(cone, seed):
    m, d, pair, law, touches = made(cone, seed, 1.0)
    contacts = ours(pair, law, touches)[1]
    J = d.efc_J.reshape(d.nefc, m.nv) @ np.linalg.inv(pair.T)
    assert len(touches) > 3
    for k, c in enumerate(c for c in d.contact if not c.exclude):
        friction = [1.0, *c.friction[: c.dim - 1]]
        rows = np.array([contacts.row(float(k), r) for r in range(contacts.size)])
        wanted = -np.array(contacts.x(float(k)))
        D = contacts._D[float(k)]
        assert not rows[c.dim :].any()
        if cone == "elliptic" or c.dim == 1:
            at = slice(c.efc_address, c.efc_address + c.dim)
            theirs = J[at], d.efc_aref[at]
            np.testing.assert_allclose(D, d.efc_D[c.efc_address], rtol=1e-9)
            mine = [np.array(x[: c.dim]) for x in (rows, wanted)]
            theirs = [(np.array(x).T * friction).T for x in theirs]
        else:
            at = slice(c.efc_address, c.efc_address + 2 * (c.dim - 1))
            theirs = J[at], d.efc_aref[at]
            np.testing.assert_allclose(D, d.efc_D[at], rtol=1e-9)
            mine = [np.array([x[0] + s * x[r] for r in range(1, c.dim) for s in (1, -1)]) for x in (rows, wanted)]
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_accelerations_are_those_of_mujoco_and_unsettled_ones_are_told(cone):
    m, d, pair, law, touches = made(cone, 5, 1.0)
    model, (q, qd) = pair.robot.model, state(pair)
    tau = FORCE.take(model, np.linalg.solve(pair.T.T, d.qfrc_passive).tolist())
    solve = lambda law: soft_dynamics(model, law, q, qd, tau, slots_of(touches), [0.0] * m.nv, m.opt.timestep).solved
    found, wanted = solve(law), pair.T @ d.qacc
    assert found.settled
    np.testing.assert_allclose(found.a, wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())
    short = solve(replace(law, iterations=1))
    assert not short.settled
    assert short.residual > law.tolerance
