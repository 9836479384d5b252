"""MuJoCo's soft law as hinge's data, and its contacts as slots: for tests that compare the two."""

import mujoco
import numpy as np

from hinge.calls.call import Call
from hinge.contact.laws import SoftLaw
from hinge.contact.laws.soft_parameters import (
    Length,
    Seat,
    SoftCoupling,
    SoftFriction,
    SoftHold,
    SoftLimit,
    Softness,
    SoftPair,
    SoftTurn,
    Weights,
)
from hinge.contact.laws.soft_step import soft_dynamics, soft_step
from hinge.contact.slots import NUMBERS, Slots, Touch
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Quantity, unregistered
from hinge.spatial import Vec3
from hinge.spatial.rotation import rotation_from_quaternion


def name(m, body):
    return "world" if body == 0 else m.body(body).name or f"body_{body}"


def floats(x):
    return tuple(map(float, x))


def soft(ref, imp):
    return Softness(floats(ref), floats(imp))


class Told:
    """What an MjModel says, in hinge's words."""

    def __init__(self, m, robot):
        self.m, self.model, self.weights = m, robot.model, Weights(robot.model)
        self.links = [(0.0, 0.0), *(self.weights.link(name(m, b)) for b in range(1, m.nbody))]
        self.own = np.concatenate([self.weights.velocities(i) for i in self.model.leaders])

    def joint(self, j):
        return Length(((int(self.m.jnt_qposadr[j]), int(self.m.jnt_dofadr[j]), 1.0),))

    def tendon(self, t):
        m = self.m
        at = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
        assert all(m.wrap_type[k] == mujoco.mjtWrap.mjWRAP_JOINT for k in at)
        return Length(tuple(self.joint(m.wrap_objid[k]).parts[0][:2] + (float(m.wrap_prm[k]),) for k in at))

    def from_rest(self, length):
        return length._replace(reference=sum(c * float(self.m.qpos0[q]) for q, _, c in length.parts))

    def limits(self):
        m = self.m
        for j in range(m.njnt):
            if m.jnt_limited[j] and m.jnt_type[j] != mujoco.mjtJoint.mjJNT_BALL:
                weight, softness = float(self.own[m.jnt_dofadr[j]]), soft(m.jnt_solref[j], m.jnt_solimp[j])
                yield SoftLimit(self.joint(j), *floats(m.jnt_range[j]), weight, softness, float(m.jnt_margin[j]))
        for t in range(m.ntendon):
            if m.tendon_limited[t]:
                length, softness = self.tendon(t), soft(m.tendon_solref_lim[t], m.tendon_solimp_lim[t])
                ends, weight = floats(m.tendon_range[t]), self.weights.length(length)
                yield SoftLimit(length, *ends, weight, softness, float(m.tendon_margin[t]))

    def turns(self):
        m = self.m
        for j in range(m.njnt):
            if m.jnt_limited[j] and m.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
                ((q, v, _),) = self.joint(j).parts
                softness = soft(m.jnt_solref[j], m.jnt_solimp[j])
                yield SoftTurn(q, v, float(max(m.jnt_range[j])), float(self.own[v]), softness, float(m.jnt_margin[j]))

    def frictions(self):
        m = self.m
        for v in range(m.nv):
            if m.dof_frictionloss[v]:
                softness = soft(m.dof_solref[v], m.dof_solimp[v])
                yield SoftFriction(Length(((0, v, 1.0),)), float(m.dof_frictionloss[v]), float(self.own[v]), softness)
        for t in range(m.ntendon):
            if m.tendon_frictionloss[t]:
                length, softness = self.tendon(t), soft(m.tendon_solref_fri[t], m.tendon_solimp_fri[t])
                yield SoftFriction(length, float(m.tendon_frictionloss[t]), self.weights.length(length), softness)

    def equality(self, e):
        m, data = self.m, self.m.eq_data[e]
        one, two, softness = m.eq_obj1id[e], m.eq_obj2id[e], soft(m.eq_solref[e], m.eq_solimp[e])
        kind = mujoco.mjtEq(m.eq_type[e]).name
        if kind in ("mjEQ_JOINT", "mjEQ_TENDON"):
            length = self.joint if kind == "mjEQ_JOINT" else self.tendon
            both = [self.from_rest(length(x)) if x >= 0 else None for x in (one, two)]
            weight = sum(self.weights.length(x) for x in both if x)
            return SoftCoupling(*both, floats(data[:5]), weight, softness)
        first, second = Vec3(tuple(data[:3])), Vec3(tuple(data[3:6]))
        weight = tuple(np.add(self.links[one], self.links[two]))
        if kind == "mjEQ_CONNECT":
            return SoftHold(Seat(name(m, one), p=first), Seat(name(m, two), p=second), weight, softness)
        turned = Seat(name(m, one), rotation_from_quaternion(tuple(data[6:10])), second)
        return SoftHold(turned, Seat(name(m, two), p=first), weight, softness, float(data[10]))

    def pair(self, geoms, told):
        bodies = [self.m.geom_bodyid[g] for g in geoms]
        first, second = (self.model.frame(name(self.m, b)).body for b in bodies)
        return SoftPair(first, second, tuple(np.add(*(self.links[b] for b in bodies))), *told)


def law_of(m, robot, geoms):
    """The soft law of an MjModel; `geoms` are the pairs of geoms that may touch, with their numbers."""
    told = Told(m, robot)
    equalities = [told.equality(e) for e in range(m.neq)]
    return SoftLaw(
        tuple(told.pair(*item) for item in geoms.items()),
        tuple(told.limits()),
        tuple(told.turns()),
        tuple(told.frictions()),
        tuple(one for one in equalities if isinstance(one, SoftCoupling)),
        tuple(one for one in equalities if isinstance(one, SoftHold)),
        cone="elliptic" if m.opt.cone else "pyramidal",
        impratio=float(m.opt.impratio),
        inertia=told.weights.inertia,
        tolerance=float(m.opt.tolerance),
        iterations=int(m.opt.iterations),
    )


def noted(m, d, geoms):
    """The contacts of MuJoCo's data as rows, and the pairs they are of entered into `geoms`."""
    rows = []
    for c in d.contact:
        if not c.exclude:
            softness = soft(c.solref, c.solimp)
            told = (int(c.dim), floats(c.friction), softness, floats(c.solreffriction), float(c.includemargin))
            assert geoms.setdefault(tuple(c.geom.tolist()), told) == told
            rows.append([list(geoms).index(tuple(c.geom.tolist())), c.dist, *c.pos, *c.frame[:6]])
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

    takes = {
        "q": POSITION,
        "qd": VELOCITY,
        "tau": FORCE,
        "touches": sized(room * NUMBERS),
        "count": sized(1),
        "guess": sized("nv"),
    }
    gives = {
        "a": sized("nv"),
        "contact": sized(room, 6),
        "force": sized("nv"),
        "residual": sized(1),
        "settled": sized(1),
        "trips": sized(1),
    }
    return Call.outside_registry(robot.target, (lambda: unregistered("soft", run, takes, gives),), backend).kernel


def step_kernel(robot, law, room, h, slope, spinning, backend=None):
    """(q, qd, tau, touches, count, guess) to coordinates and velocities after h seconds, and the next guess."""

    def run(model, q, qd, tau, touches, count, guess):
        made = soft_step(model, law, q, qd, tau, given_slots(room, touches, count), guess, h, slope, spinning)
        return model.flat(made.q), made.qd, made.guess

    takes = {
        "q": POSITION,
        "qd": VELOCITY,
        "tau": FORCE,
        "touches": sized(room * NUMBERS),
        "count": sized(1),
        "guess": sized("nv"),
    }
    gives = {"q_end": sized("nq"), "qd_end": sized("nv"), "next": sized("nv")}
    return Call.outside_registry(robot.target, (lambda: unregistered("soft_step", run, takes, gives),), backend).kernel
