"""The forces that an MJCF file speaks of: of actuators from controls, and of springs, dampers and gravity compensation.

    f = (g₀ + g₁ l + g₂ l̇) u + b₀ + b₁ l + b₂ l̇        τ = Σ (∂l/∂q)ᵀ f

l is the length of what an actuator pulls: a coordinate or a fixed tendon times a gear, or the place of a site, of which
only the rate counts. Controls u, forces f, what a tendon carries and what a joint is driven with have ranges.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from hinge.dynamics.composite import composite
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Quantity, algorithm
from hinge.dynamics.solve import LDL
from hinge.graph import less, maximum, minimum, select, sqrt
from hinge.graph.scalars import inner, total
from hinge.model.file_physics import Tendon
from hinge.model.symbols import unknown
from hinge.spatial import Force, Vec3
from hinge.spatial.linear3 import ZERO, cross3

CONTROL = Quantity("controls, in the order of the file", lambda m: (m.physics.nu,), counted="nu")
PULLS = Quantity("forces of actuators, in the order of the file", lambda m: (len(m.physics.actuators),))


def without_actuators(model):
    """Why there are no controls, or lengths are not known, if so."""
    return with_driven(model) if model.physics.actuators else "it has no actuators"


def with_driven(model):
    """Why lengths are not known from q, if so."""
    names = {name for tendon in model.physics.tendons for name, _ in tendon.joints}
    names |= {one.target for one in model.physics.actuators if one.on == "joint" and one.active}
    driven = [name for name in sorted(names) if not model.joint[model.joint_number(name)].nq]
    return f"joint {driven[0]!r} is driven, and an actuator or a tendon acts on it" if driven else ""


@algorithm("control_forces", q=POSITION, qd=VELOCITY, ctrl=CONTROL, returns={"tau": FORCE, "forces": PULLS},
           refuses=without_actuators)  # fmt: skip
def control_forces(model, q, qd, ctrl):
    """Joint forces and actuator forces that the actuators of an MJCF file make of controls.

    Takes q (nq), qd (nv) and ctrl (nu) in the order of the file; gives tau (nv) and a force for each actuator, MuJoCo's
    qfrc_actuator and actuator_force. Gains, biases, gears, and the ranges of controls, actuators, tendons and joints
    are in.

    >>> arm = hinge.load('<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>'
    ...                  '<position joint="j" kp="10" kv="1"/></actuator></mujoco>')
    >>> arm.control_forces([0.1], [0.5], [0.3])
    (array([1.5]), array([1.5]))
    """
    off, actuators = model.physics.options.disabled, model.physics.actuators
    if "actuation" in off:
        return unmoved(model), [0.0] * len(actuators)
    ways, forces, at = [pulled(model, one, q) for one in actuators], [], 0
    for one, (length, moment) in zip(actuators, ways, strict=True):
        state = 1.0, length, rate(moment, qd)
        u, at = ctrl[at] if "clampctrl" in off else within(ctrl[at], one.control), at + one.width
        bias = (*one.bias[:2], one.bias[2] - critical(model, one))
        forces.append(inner(one.gain, state) * u + inner(bias, state) if one.active else 0.0)
    forces = [within(f, one.force) for f, one in zip(shared(model, forces), actuators, strict=True)]
    tau = unmoved(model)
    for (_, moment), force in zip(ways, forces, strict=True):
        add(tau, moment, force)
    return driven(model, tau, q), forces


@algorithm("passive_forces", q=POSITION, qd=VELOCITY, returns=FORCE, refuses=with_driven)
def passive_forces(model, q, qd):
    """Joint forces of springs and dampers of joints and fixed tendons, and of gravity compensation.

    Takes q (nq) and qd (nv); gives tau (nv) as they push: MuJoCo's qfrc_passive.

    >>> spring = '<joint stiffness="2" damping=".1"/>'
    >>> arm = hinge.load(f'<mujoco><worldbody><body>{spring}<geom size=".1"/></body></worldbody></mujoco>')
    >>> arm.passive_forces([0.1], [0.5])
    array([-0.25])
    """
    off, tau = model.physics.options.disabled, unmoved(model)
    terms = [term for term, flag in (("stiffness", "spring"), ("damping", "damper")) if flag not in off]
    if not terms:
        return tau
    for i, _ in model.outward():
        for term in terms:
            sizes = getattr(model.data[i], term)
            if unknown(sizes) or any(sizes):
                taken = model.taken(term, i, sizes, q[i], qd[i])
                tau[i] = [a - b for a, b in zip(tau[i], taken, strict=True)]
    for tendon in model.physics.tendons:
        length, moment = stretched(model, tendon, q)
        low, high = tendon.slack
        if "stiffness" in terms and tendon.stiffness:
            add(tau, moment, -tendon.stiffness * (maximum(length - high, 0.0) + minimum(length - low, 0.0)))
        if "damping" in terms and tendon.damping:
            add(tau, moment, -tendon.damping * rate(moment, qd))
    lift = compensation(model, q)
    for i, _ in model.outward():
        if not model.data[i].physics.lifted:
            tau[i] = [a + b for a, b in zip(tau[i], lift[i], strict=True)]
    return tau


# lengths: what is pulled, and its moment {body: by how much each velocity of its joint lengthens it}


def stretched(model, tendon, q):
    """The length of a fixed tendon, and its moment."""
    length, moment = tendon.offset, {}
    for name, c in tendon.joints:
        i = model.joint_number(name)
        length = length + c * q[i][0]
        moment[i] = [a + c for a in moment.get(i, [0.0])]
    return length, moment


def pulled(model, actuator, q):
    """The length of what an actuator pulls, and its moment."""
    if not actuator.active:
        return 0.0, {}
    if actuator.on == "site":
        return 0.0, pushed(model, actuator, q)
    length, moment = stretched(model, tendon_of(model, actuator), q)
    gear = actuator.gear[0]
    return gear * length, {i: [gear * c for c in row] for i, row in moment.items()}


def tendon_of(model, actuator):
    """The tendon an actuator pulls; one over a single joint where it drives that."""
    if actuator.on == "joint":
        return Tendon("", ((actuator.target, 1.0),))
    return next(tendon for tendon in model.physics.tendons if tendon.name == actuator.target)


def pushed(model, actuator, q):
    """The moment of an actuator that pushes and turns a site by its gear, force first, in the site's frame."""
    frame, moment = model.frame(actuator.target), {}
    f, i = frame.transform.T @ Force(Vec3(actuator.gear[3:]), Vec3(actuator.gear[:3])), frame.body
    while i:
        joint = model.joint[i]
        moment[i] = joint.axes(q[i]).T @ f
        f, i = (joint.transform(q[i]) @ model.placement[i]).T @ f, model.parent[i]
    return moment


def rate(moment, qd):
    """How fast a length changes."""
    return total(inner(row, qd[i]) for i, row in moment.items())


def add(tau, moment, force):
    """Add the joint forces that a force along a length amounts to."""
    for i, row in moment.items():
        tau[i] = [t + c * force for t, c in zip(tau[i], row, strict=True)]


def unmoved(model):
    """No force at any joint."""
    return [[0.0] * joint.nv for joint in model.joint]


# ranges


def within(x, ends):
    """A number kept within a range, of which either end may be infinite."""
    low, high = ends
    x = minimum(x, high) if unknown([high]) or high < inf else x
    return maximum(x, low) if unknown([low]) or low > -inf else x


def shared(model, forces):
    """The forces of actuators, made less alike where together they are more than their tendon may be pulled with."""
    made = list(forces)
    for tendon in model.physics.tendons:
        mine = [k for k, one in enumerate(model.physics.actuators) if (one.on, one.target) == ("tendon", tendon.name)]
        whole = total(forces[k] for k in mine)
        kept = within(whole, tendon.force)
        if kept is not whole:
            exceeded = less(kept * whole, whole * whole)
            share = select(exceeded, kept / select(exceeded, whole, 1.0), 1.0)
            for k in mine:
                made[k] = share * forces[k]
    return made


def driven(model, tau, q):
    """Joint forces within the ranges of joints, gravity compensation among them where a joint counts it so."""
    lifted = any(data.physics.lifted for data in model.data)
    lift = compensation(model, q) if lifted else unmoved(model)
    for i, _ in model.outward():
        data = model.data[i]
        if data.physics.lifted:
            tau[i] = [a + b for a, b in zip(tau[i], lift[i], strict=True)]
        if model.joint[i].is_single:
            most = data.effort[0] if data.effort else inf
            tau[i] = [within(tau[i][0], data.physics.force or (-most, most))]
    return tau


# what depends on masses


def critical(model, actuator):
    """The damping of a servo that states it as a share of the critical one, by the inertia felt at the reference."""
    if not actuator.dampratio or not actuator.active:
        return 0.0
    q = model.joint_positions([x for i in model.leaders for x in model.neutral(i)])
    tau = unmoved(model)
    add(tau, pulled(model, actuator, q)[1], 1.0)
    felt = model.generalised_forces(tau)
    moved = LDL(composite(replace(model, terms=frozenset({"armature"})), q), model.joint_label()).solve(felt)
    return 2.0 * actuator.dampratio * sqrt(actuator.gain[0] / inner(felt, moved))


def compensation(model, q):
    """Joint forces that hold up the shares of bodies' weights that the file compensates."""
    tau, lifted = unmoved(model), carried_weights(model)
    if not lifted:
        return tau
    X, S, g, f = model.per_body(4)
    g[0], f[0] = model.gravity_motion, Force()
    for i, p in model.outward():
        X[i], S[i] = model.joint[i].transform(q[i]) @ model.placement[i], model.joint[i].axes(q[i])
        g[i] = X[i] @ g[p]
        m, h = lifted.get(i, (0.0, ZERO))
        f[i] = Force(-cross3(h, g[i].lin), -(g[i].lin * m))
    for i, p in model.inward():
        tau[i] = S[i].T @ f[i]
        f[p] = f[p] + X[i].T @ f[i]
    return tau


def carried_weights(model):
    """Mass and first moment of what is held up of each body, as the file states masses."""
    made = {}
    for link, share in model.extras.get("gravcomp", {}).items():
        frame, said = model.frames[link], model.links[link]
        m, h = made.get(frame.body, (0.0, ZERO))
        com = frame.R @ Vec3(said.com) + frame.p
        made[frame.body] = m + share * said.mass, h + com * (share * said.mass)
    made.pop(0, None)
    return made
