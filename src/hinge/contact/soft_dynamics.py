"""Accelerations under the soft law, given the contacts of a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hinge.contact.slot_rows import columns
from hinge.contact.slots import Slots
from hinge.contact.soft_contacts import SoftContacts
from hinge.contact.soft_law import SoftProblem, Solved
from hinge.contact.soft_rows import soft_rows
from hinge.contact.softness import SoftLaw
from hinge.dynamics.composite import composite
from hinge.dynamics.newton_euler import newton_euler
from hinge.dynamics.solve import LDL, LU
from hinge.graph import Scalar, held
from hinge.integrators.implicit import added
from hinge.integrators.implicit import slopes as falling
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.coasting import FREE, coasted, coasting
from hinge.spatial import Force, Motion


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
    law: SoftLaw,
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
    law: SoftLaw,
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
) -> SoftStep:
    """A step of h seconds by Euler's method, velocities first, with what damps taken at its end.

    `slope` (nv, nv) is how joint forces fall with velocities: the joints' damping, which MuJoCo's "Euler" takes so, and
    for "implicitfast" that of actuators too. That one is `spinning` as well: a free body that carries nothing has all
    its forces, gyroscopic ones too, taken at the end.
    """
    made = soft_dynamics(model, law, q, qd, tau, slots, guess, h, external, slopes)
    force = [a + b for a, b in zip(made.smooth, made.solved.force, strict=True)]
    alone = [i for i, p in model.outward() if p == 0 and model.joint[i].nv == FREE and not model.children[i]]
    if spinning and alone:
        a = LU(added(made.M, _spun(model, alone, made.smooth, qd, slope), h)).solve(force)
    else:
        a = LDL(added(made.M, [list(row) for row in slope], h), model.joint_label()).solve(force)
    v = model.joint_velocities([x + h * y for x, y in zip(model.flat(qd), a, strict=True)])
    ends = [coasted(joint, q[i], v[i], h) for i, joint in enumerate(model.joint)]
    return SoftStep([q for q, _ in ends], model.flat([v for _, v in ends]), made.solved.a, made)


def _spun(model: Model, bodies: Sequence[int], smooth: Flat, qd: PerJoint, slope: Sequence[Flat]) -> list[Flat]:
    """How forces fall with velocities, with the whole of it for some free bodies."""
    made = [list(row) for row in slope]
    for i in bodies:
        own = model.slices[i][1]
        for row, falls in zip(made[own], falling(smooth[own], qd[i]), strict=True):
            row[own] = [-x for x in falls]
    return made
