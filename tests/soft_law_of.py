"""MuJoCo's soft law as hinge's data, and its contacts as slots: for tests that compare the two."""

import mujoco
import numpy as np

from hinge.contact.slots import NUMBERS, Slots, Touch
from hinge.contact.soft_dynamics import soft_dynamics, soft_step
from hinge.contact.softness import (
    Length,
    Seat,
    SoftCoupling,
    SoftFriction,
    SoftHold,
    SoftLaw,
    SoftLimit,
    SoftPair,
    Softness,
    SoftTurn,
    Weights,
)
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Quantity, unregistered
from hinge.spatial import Mat3, Vec3
from hinge.spatial.rotation import rotation_from_quaternion


def name(m, body):
    return "world" if body == 0 else m.body(body).name or f"body_{body}"


def law_of(m, robot, geoms):
    """The soft law of an MjModel; `geoms` are the pairs of geoms that may touch, with their numbers."""
    model, weights = robot.model, Weights(robot.model)
    links = [(0.0, 0.0), *(weights.link(name(m, b)) for b in range(1, m.nbody))]
    own = np.concatenate([weights.velocities(i) for i in model.leaders])
    soft = lambda ref, imp: Softness(tuple(map(float, ref)), tuple(map(float, imp)))

    def joint(j):
        return Length(((int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), 1.0),))

    def tendon(t):
        at = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        assert all(m.wrap_type[k] == mujoco.mjtWrap.mjWRAP_JOINT for k in at)
        parts = [(int(m.jnt_qposadr[m.wrap_objid[k]]), int(m.jnt_dofadr[m.wrap_objid[k]]), float(m.wrap_prm[k])) for k in at]
        return Length(tuple(parts))

    def from_rest(length):
        return length._replace(reference=sum(c * float(m.qpos0[q]) for q, _, c in length.parts))

    def weight_of(length):
        return weights.length(length) if len(length.parts) > 1 else float(own[length.parts[0][1]])

    limits = [SoftLimit(joint(j), *map(float, m.jnt_range[j]), weight_of(joint(j)), soft(m.jnt_solref[j], m.jnt_solimp[j]),
                        float(m.jnt_margin[j])) for j in range(m.njnt) if m.jnt_limited[j] and m.jnt_type[j] != mujoco.mjtJoint.mjJNT_BALL]  # fmt: skip
    turns = [SoftTurn(int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), float(max(m.jnt_range[j])), weight_of(joint(j)),
                      soft(m.jnt_solref[j], m.jnt_solimp[j]), float(m.jnt_margin[j]))
             for j in range(m.njnt) if m.jnt_limited[j] and m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL]  # fmt: skip
    limits += [SoftLimit(tendon(t), *map(float, m.tendon_range[t]), weights.length(tendon(t)),
                         soft(m.tendon_solref_lim[t], m.tendon_solimp_lim[t]), float(m.tendon_margin[t]))
               for t in range(m.ntendon) if m.tendon_limited[t]]  # fmt: skip
    frictions = [SoftFriction(Length(((0, v, 1.0),)), float(m.dof_frictionloss[v]), float(own[v]),
                              soft(m.dof_solref[v], m.dof_solimp[v])) for v in range(m.nv) if m.dof_frictionloss[v]]  # fmt: skip
    frictions += [SoftFriction(tendon(t), float(m.tendon_frictionloss[t]), weights.length(tendon(t)),
                               soft(m.tendon_solref_fri[t], m.tendon_solimp_fri[t]))
                  for t in range(m.ntendon) if m.tendon_frictionloss[t]]  # fmt: skip
    couplings, holds = [], []
    for e in range(m.neq):
        kind, one, two, data = m.eq_type[e], m.eq_obj1id[e], m.eq_obj2id[e], m.eq_data[e]
        softness = soft(m.eq_solref[e], m.eq_solimp[e])
        if kind == mujoco.mjtEq.mjEQ_JOINT or kind == mujoco.mjtEq.mjEQ_TENDON:  # noqa: PLR1714
            length = joint if kind == mujoco.mjtEq.mjEQ_JOINT else tendon
            both = [from_rest(length(x)) if x >= 0 else None for x in (one, two)]
            w = sum(weights.length(x) for x in both if x)
            couplings.append(SoftCoupling(*both, tuple(map(float, data[:5])), w, softness))
            continue
        w = tuple(np.add(links[one], links[two]))
        if kind == mujoco.mjtEq.mjEQ_CONNECT:
            seats = Seat(name(m, one), p=Vec3(tuple(data[:3]))), Seat(name(m, two), p=Vec3(tuple(data[3:6])))
            holds.append(SoftHold(*seats, w, softness))
        else:
            R = rotation_from_quaternion(tuple(data[6:10]))
            seats = Seat(name(m, one), R, Vec3(tuple(data[3:6]))), Seat(name(m, two), p=Vec3(tuple(data[:3])))
            holds.append(SoftHold(*seats, w, softness, float(data[10])))

    def body(g):
        return model.frame(name(m, m.geom_bodyid[g])).body

    pairs = []
    for (g1, g2), (condim, friction, ref, ref_friction, imp, margin) in geoms.items():
        w = tuple(np.add(links[m.geom_bodyid[g1]], links[m.geom_bodyid[g2]]))
        pairs.append(SoftPair(body(g1), body(g2), w, condim, friction, Softness(ref, imp), ref_friction, margin))
    return SoftLaw(tuple(pairs), tuple(limits), tuple(turns), tuple(frictions), tuple(couplings), tuple(holds),
                   "elliptic" if m.opt.cone else "pyramidal", float(m.opt.impratio), weights.inertia,
                   float(m.opt.tolerance), int(m.opt.iterations))  # fmt: skip


def noted(m, d, geoms):
    """The contacts of MuJoCo's data as rows, and the pairs they are of entered into `geoms`."""
    rows = []
    for c in d.contact:
        if c.exclude:
            continue
        key, floats = tuple(map(int, c.geom)), lambda x: tuple(map(float, x))
        told = (int(c.dim), floats(c.friction), floats(c.solref), floats(c.solreffriction), floats(c.solimp), float(c.includemargin))
        assert geoms.setdefault(key, told) == told
        rows.append([list(geoms).index(key), c.dist, *c.pos, *c.frame[:6]])
    return rows


def slots_of(touches):
    """A list of contacts on floats."""
    slots = Slots(max(len(touches), 1), 0.0)
    for pair, gap, *rest in touches:
        slots.add(True, Touch(float(pair), gap, tuple(rest[:3]), tuple(rest[3:6]), tuple(rest[6:])))
    return slots


def sized(*shape):
    return Quantity("", lambda model: tuple({"nv": model.nv, "nq": model.nq}.get(n, n) for n in shape))


def given_slots(room, touches, count):
    """A list of contacts from the inputs of a program."""
    slots = Slots(room, count[0])
    for k, x in enumerate(touches):
        slots._numbers[float(k)] = x
    slots._found[0] = count[0]
    return slots


def kernel(robot, law, room, h, backend=None):
    """(q, qd, tau, touches, count, guess) to accelerations, forces of contacts, forces along velocities, residual,
    whether settled, and trips."""

    def run(model, q, qd, tau, touches, count, guess):
        made = soft_dynamics(model, law, q, qd, tau, given_slots(room, touches, count), guess, h)
        forces = [[*made.contacts.forces(float(k)), *[0.0] * 6][:6] for k in range(room)] if law.pairs else [[0.0] * 6]
        s = made.solved
        return s.a, [x for row in forces for x in row], s.force, [s.residual], [s.settled], [s.trips]

    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "touches": sized(room * NUMBERS), "count": sized(1),
             "guess": sized("nv")}  # fmt: skip
    gives = {"a": sized("nv"), "contact": sized(room, 6), "force": sized("nv"), "residual": sized(1),
             "settled": sized(1), "trips": sized(1)}  # fmt: skip
    return robot.target.compiled(unregistered("soft", run, takes, gives), backend)


def step_kernel(robot, law, room, h, slope, spinning, backend=None):
    """(q, qd, tau, touches, count, guess) to coordinates and velocities after h seconds, and the next guess."""

    def run(model, q, qd, tau, touches, count, guess):
        made = soft_step(model, law, q, qd, tau, given_slots(room, touches, count), guess, h, slope, spinning)
        return model.flat(made.q), made.qd, made.guess

    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "touches": sized(room * NUMBERS), "count": sized(1),
             "guess": sized("nv")}  # fmt: skip
    gives = {"q_end": sized("nq"), "qd_end": sized("nv"), "next": sized("nv")}
    return robot.target.compiled(unregistered("soft_step", run, takes, gives), backend)
