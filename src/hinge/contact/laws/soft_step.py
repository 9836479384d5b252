"""Accelerations under the soft law, given the contacts of a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hinge.contact.laws.soft_contacts import SoftContacts
from hinge.contact.laws.soft_parameters import SoftParameters
from hinge.contact.laws.soft_problem import SoftProblem, Solved
from hinge.contact.laws.soft_rows import soft_rows
from hinge.contact.slot_rows import columns
from hinge.contact.slots import Slots
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import newton_euler
from hinge.dynamics.solve import LDL, LU
from hinge.graph import Scalar, held, total
from hinge.integrators.implicit import added
from hinge.integrators.implicit import slopes as falling
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.coasting import FREE, coasted, coasting
from hinge.model.joints import Joint
from hinge.spatial import Force, Motion, Vec3, cross3, dot3
from hinge.spatial.rotation import inverse_jacobian_part, rotation_from_quaternion, unit


class SoftDynamics(NamedTuple):
    """What the soft law makes of a state: how it was solved, the mass matrix, and forces besides those of contact.

    Accelerations are those of MuJoCo: of a free body they are the ones of its origin in space, in its own axes.
    """

    solved: Solved
    M: list[Flat]
    smooth: Flat
    contacts: SoftContacts


def soft_dynamics(
    model: Model,
    law: SoftParameters,
    q: PerJoint,
    qd: PerJoint,
    tau: PerJoint,
    slots: Slots,
    guess: Flat,
    h: Scalar,
    external: Sequence[Force] | None = None,
    slopes: bool = False,
) -> SoftDynamics:
    """The accelerations of a state with these joint forces and contacts, from a guess, for steps of h seconds.

    With `slopes` they have derivatives, by the implicit function, for the price of one trip more; without, derivatives
    would go through the trips.
    """
    none = [coasting(joint, qd[i]) for i, joint in enumerate(model.joint)]
    outside = model.by_body(external or [Force()] * len(model.parent))
    bias = newton_euler(model, q, qd, none, outside, (Motion(), Motion()))
    smooth = [t - c for t, c in zip(model.generalised_forces(tau), model.generalised_forces(bias), strict=True)]
    M, rows = composite(model, q), soft_rows(model, law, q, qd, none, h)
    v, axes = model.flat(qd), columns(model, q)

    def problem(a: Flat) -> tuple[SoftProblem, SoftContacts]:
        contacts = SoftContacts(model, law, slots, axes, v, a, h)
        return SoftProblem(model, law, M, smooth, rows, contacts), contacts

    first, contacts = problem(guess)
    found = first.solved(guess)
    if not slopes:
        return SoftDynamics(found, M, smooth, contacts)
    again, contacts = problem([held(x) for x in found.a])
    return SoftDynamics(again.followed(found), M, smooth, contacts)


class SoftStep(NamedTuple):
    """The state after a step, the accelerations that a next step may begin from, and what the soft law made of it."""

    q: PerJoint
    qd: Flat
    guess: Flat
    dynamics: SoftDynamics


def soft_step(
    model: Model,
    law: SoftParameters,
    q: PerJoint,
    qd: PerJoint,
    tau: PerJoint,
    slots: Slots,
    guess: Flat,
    h: Scalar,
    slope: Sequence[Flat],
    spinning: bool = False,
    external: Sequence[Force] | None = None,
    slopes: bool = False,
    whole: bool = False,
) -> SoftStep:
    """A step of h seconds by Euler's method, velocities first, with what damps taken at its end.

    `slope` (nv, nv) is how joint forces fall with velocities: the joints' damping, which MuJoCo's "Euler" takes so, and
    for "implicitfast" that of actuators too. That one is `spinning` as well: a free body that carries nothing has all
    its forces, gyroscopic ones too, taken at the end. With `whole` that is so of all bodies, which is "implicit".
    """
    made = soft_dynamics(model, law, q, qd, tau, slots, guess, h, external, slopes)
    force = [a + b for a, b in zip(made.smooth, made.solved.force, strict=True)]
    alone = [i for i, p in model.outward() if p == 0 and model.joint[i].nv == FREE and not model.children[i]]
    if whole:
        a = LU(added(made.M, velocity_damping(model, made.smooth, model.flat(qd)), h)).solve(force)
    elif spinning and alone:
        a = LU(added(made.M, _spun(model, alone, made.smooth, qd, slope), h)).solve(force)
    else:
        a = LDL(added(made.M, [list(row) for row in slope], h), model.joint_label()).solve(force)
    v = model.joint_velocities([x + h * y for x, y in zip(model.flat(qd), a, strict=True)])
    ends = [coasted(joint, q[i], v[i], h) for i, joint in enumerate(model.joint)]
    return SoftStep([q for q, _ in ends], model.flat([v for _, v in ends]), made.solved.a, made)


RK4 = ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6)  # earlier stages in each, and in the end


def soft_rk4(
    model: Model, q: PerJoint, qd: PerJoint, h: Scalar, dynamics: Callable[[Scalar, PerJoint, PerJoint], SoftDynamics]
) -> SoftStep:
    """A step of h seconds by the method of Runge and Kutta of fourth order on the group of motions, as MuJoCo takes it.

    `dynamics` gives the accelerations of a state at a share of the step. Velocities and accelerations of stages are
    added as MuJoCo has them: those of a free body's origin in space.
    """
    start, moves, rates, first = model.flat(_in_space(model, q, qd)), list[Flat](), list[Flat](), None
    for shares in RK4[0]:
        at, v, shift = q, qd, [0.0 for _ in start]
        if shares:
            shift = [h * x for x in _weighed(shares, moves)]
            at = _moved(model, q, shift)
            v = _in_body(model, at, [x + h * y for x, y in zip(start, _weighed(shares, rates), strict=True)])
        made = dynamics(sum(shares), at, v)
        first = first or made
        moves.append(_rates(model, shift, model.flat(_in_space(model, at, v))) if shares else start)
        force = [a + b for a, b in zip(made.smooth, made.solved.force, strict=True)]
        a = LDL(made.M, model.joint_label()).solve(force)  # exact where nothing gives way
        rates.append(model.flat(_in_space(model, at, model.joint_velocities(a))))
    assert first is not None
    end = _moved(model, q, [h * x for x in _weighed(RK4[1], moves)])
    v = _in_body(model, end, [x + h * y for x, y in zip(start, _weighed(RK4[1], rates), strict=True)])
    return SoftStep(end, model.flat(v), first.solved.a, first)


def _rates(model: Model, shift: Flat, v: Flat) -> Flat:
    """How fast the way from the start changes, where velocities are v: of turns by the inverse of the exponential's
    derivative."""
    made = list(v)
    for i in model.leaders:
        joint, at = model.joint[i], model.slices[i][1].start
        if joint.nq != joint.nv:  # a quaternion, whose velocity comes first
            turn, w = Vec3(tuple(shift[at : at + 3])), Vec3(tuple(v[at : at + 3]))
            once = cross3(turn, w)
            made[at : at + 3] = w + once * 0.5 + cross3(turn, once) * inverse_jacobian_part(dot3(turn, turn))
    return made


def _weighed(shares: Sequence[float], rows: Sequence[Flat]) -> Flat:
    """The sum of rows, each times its share."""
    used = [(share, row) for share, row in zip(shares, rows, strict=True) if share]
    return [total(share * row[k] for share, row in used) for k in range(len(rows[0]))]


def _moved(model: Model, q: PerJoint, shift: Flat) -> PerJoint:
    """Coordinates after a way, which of free bodies' origins is in space."""
    ways = _in_body(model, q, shift)
    return [coasted(joint, q[i], ways[i], 1.0)[0] for i, joint in enumerate(model.joint)]


def _in_space(model: Model, q: PerJoint, v: PerJoint) -> PerJoint:
    """Velocities of which those of free bodies' origins are along the axes of the world."""
    return [_turned(joint, q[i], v[i], False) for i, joint in enumerate(model.joint)]


def _in_body(model: Model, q: PerJoint, v: Flat) -> PerJoint:
    """The same, back along the axes of the bodies."""
    return [_turned(model.joint[i], q[i], x, True) for i, x in enumerate(model.joint_velocities(v))]


def _turned(joint: Joint, q: Sequence[Scalar], v: Sequence[Scalar], back: bool) -> list[Scalar]:
    if joint.nv < FREE:
        return list(v)
    R = rotation_from_quaternion(unit(q[:4]))
    return [*v[:3], *((R.T if back else R) @ Vec3(tuple(v[3:])))]


def velocity_damping(model: Model, force: Flat, v: Flat) -> list[Flat]:
    """Return -∂force/∂v for velocities of joints of which one carries the other; the other entries are 0, as in MuJoCo.

    A damper or an actuator on a tendon also couples joints on different branches. MuJoCo leaves this coupling out of
    the matrix that its implicit integrators factor, which has the sparsity of the mass matrix.
    """
    moved: list[set[int]] = [set() for _ in v]  # the bodies that each velocity moves relative to their parents
    for i, _ in model.outward():
        for k in range(model.nv)[model.slices[i][1]]:
            moved[k].add(i)
    carried = [frozenset[int]().union(*(model.subtree[i] for i in bodies)) for bodies in moved]
    return [
        [-x if moved[k] & carried[j] or moved[j] & carried[k] else 0.0 for j, x in enumerate(row)]
        for k, row in enumerate(falling(force, v))
    ]


def _spun(model: Model, bodies: Sequence[int], smooth: Flat, qd: PerJoint, slope: Sequence[Flat]) -> list[Flat]:
    """How forces fall with velocities, with the whole of it for some free bodies."""
    made = [list(row) for row in slope]
    for i in bodies:
        own = model.slices[i][1]
        for row, falls in zip(made[own], falling(smooth[own], qd[i]), strict=True):
            row[own] = [-x for x in falls]
    return made
