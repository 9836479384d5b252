"""Contact as a part of the step: impulses at its end by the rigid law, or accelerations by the soft one.

Stops and dry friction of joints, and loops, are met together with contacts: they are rows of the same problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hinge.constraints.multipliers import Held
from hinge.contact.contact_model import ContactModel, contact_model, deep_starts
from hinge.contact.contact_slopes import smoothness
from hinge.contact.contact_step import Forces
from hinge.contact.rigid_law import HARD, struck
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slots import Slots
from hinge.contact.soft_dynamics import SoftDynamics, soft_dynamics, soft_rk4, soft_step, velocity_damping
from hinge.contact.soft_rows import Row
from hinge.contact.softness import has_limit
from hinge.dynamics.file_forces import passive_forces, pulled
from hinge.errors import NotCovered, SizeError, one_of
from hinge.graph import Scalar, less, maximum, minimum, select
from hinge.integrators.implicit import damping
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.driven import sizes
from hinge.model.file_physics import FEATURES, LeftOut
from hinge.model.numbers import FAR
from hinge.model.symbols import unknown
from hinge.model.vary import Parameter
from hinge.robot import Robot
from hinge.sim.impulses import Bounded
from hinge.spatial import Force
from hinge.status import OK, OVERFLOW, REFUSED, UNCONVERGED

Acting = Callable[[Scalar, PerJoint, Flat], tuple[Flat, Sequence[Force]]]  # at a share of the step, q and velocities


class Touched(NamedTuple):
    """The state after a step with contacts, what the next may begin from, and a status with which a run goes on.

    `forces` are those of a contact (N) along its normal and tangents, of which there are `size`.
    """

    q: PerJoint
    v: Flat
    memory: Flat
    status: Scalar
    slots: Slots
    forces: Forces
    size: int
    smooth: Scalar = float(OK)  # the status of its derivatives


def touching(robot: Robot, contacts: Any, ground: Any, law: str | None, physics: str | None,
             surfaces: Sequence[Parameter] = (), ignore: Sequence[str] = ()
             ) -> tuple[ContactModel | None, str]:  # fmt: skip
    """What may touch, and the integrator of the robot's file where that says all; features to `ignore` are left out."""
    if physics is None and ignore:
        raise NotCovered('ignore= names features that physics="file" is to leave out. Give both, or neither.')
    if sizes(robot.model)[1] and not contacts is ground is physics is None:
        raise NotCovered("contacts do not go with driven joints. Leave one of them out.")
    if physics is None:
        if law is not None and contacts is ground is None:
            raise NotCovered(f"law={law!r} has no effect: nothing can touch. Give ground= or contacts=.")
        return contact_model(robot.target, contacts, ground, law or "rigid", surfaces=surfaces), ""
    one_of("physics", physics, ("file",))
    refuse_left_out(robot.model, ignore)
    integrator = robot.model.physics.options.integrator
    if law not in (None, "soft"):
        raise NotCovered(f'physics="file" has the soft law; law={law!r} was given. Leave it out.')
    listed = "file" if contacts is None else contacts
    return contact_model(robot.target, listed, ground, "soft", True, surfaces), integrator


def refuse_left_out(model: Model, ignore: Sequence[str] = ()) -> None:
    """Raise NotCovered where the file of a robot has features that hinge does not simulate and that are not ignored."""
    if isinstance(ignore, str):
        raise SizeError(f'ignore={ignore!r} is one name. Give a sequence of names: ignore=("{ignore}",).')
    for name in ignore:
        one_of("ignore", name, FEATURES)
    found: dict[str, list[str]] = {}
    for feature, element in (*model.physics.left_out, *_servos_on_limited_joints(model)):
        if feature not in ignore:
            found.setdefault(feature, []).append(element)
    if not found:
        return
    lines = [
        f"  {feature}: {FEATURES[feature]}, at {', '.join(elements[:3])}{' …' * (len(elements) > 3)}"
        for feature, elements in found.items()
    ]
    names = ", ".join(f'"{feature}"' for feature in found) + "," * (len(found) == 1)
    raise NotCovered(
        f'physics="file": the file of robot {model.name!r} has what hinge does not simulate:\n'
        + "\n".join(lines)
        + f"\n  To simulate the rest of the file without it, give ignore=({names})."
    )


def _servos_on_limited_joints(model: Model) -> Iterator[LeftOut]:
    """Yield the actuators that damp joints with a force range through tendons and sites, where a step is implicit.

    Where such a joint's force is at the end of its range, MuJoCo's implicit integrators go on counting their damping,
    but not that of actuators on the joint itself. Here a force at the end of its range has no damping.
    """
    if model.physics.options.integrator not in ("implicit", "implicitfast"):
        return
    q = [list(model.neutral(i)) if i else [] for i in range(len(model.parent))]
    for one in model.physics.actuators:
        if one.active and one.on != "joint" and (one.gain[2] or one.bias[2] or one.dampratio):
            moved = (model.data[i] for i in pulled(model, one, q)[1])
            if any(data.physics.force or math.isfinite(sum(data.effort or (math.inf,))) for data in moved):
                yield LeftOut("limited-servo", f"actuator {one.name!r}")


def refuse_deep(
    fate: Any, robot: Robot, touch: ContactModel | None, q: Any, t: float, further: Sequence[Any] = ()
) -> Any:
    """Refuse the rollouts that begin at states q, at the time t, so deep in something that the rigid law has no answer.

    `further` are the rows of varied numbers. States on a GPU are not looked at.
    """
    if touch is not None and isinstance(q, np.ndarray):
        deep = deep_starts(robot.target, touch, q, further)
        fate[deep, 0], fate[deep, 1] = float(REFUSED), t
    return fate


def memory_of(touch: ContactModel | None, nv: int) -> int:
    """How many numbers a step hands on to the next."""
    return nv if touch is not None and touch.soft is not None else 0


def struck_together(touch: ContactModel, model: Model, rows: Sequence[Bounded], before: Flat, q: PerJoint, v: Flat,
                    h: Scalar, late: float, held: Held | None, slopes: bool = False) -> Touched:  # fmt: skip
    """The state at the end of a step that led to q and v, with impulses of contacts, stops, dry friction and loops."""
    slots = touch.found(model, q, v[0], slopes)
    others = _rows(touch.rigid.joints, model, rows, q, v, h, late, held)
    made = struck(model, touch.rigid, slots, before, q, v, h, late, others, slopes)
    return Touched(made.q, made.v, [], _status(slots, made.settled), slots, lambda k: made.forces(k, h),
                   made.contacts.size, _smooth(touch, model, made.contacts, made.margin, slopes))  # fmt: skip


def softly(touch: ContactModel, model: Model, q: PerJoint, v: Flat, acting: Acting, h: Scalar, memory: Flat,
           integrator: str = "", slopes: bool = False) -> Touched:  # fmt: skip
    """A step by the soft law, from the accelerations of the last one.

    `acting` gives joint forces and forces on bodies. With an integrator what the file says of springs and dampers acts:
    "Euler" takes the joints' damping at the end of the step, "implicitfast" and "implicit" all that falls with
    velocities, and "RK4" all where it is.
    """
    assert touch.soft is not None
    law, slots, speeds = touch.soft, touch.found(model, q, v[0], slopes), model.joint_velocities(v)

    def forces(c: Scalar, at: PerJoint, rate: PerJoint) -> tuple[Flat, Sequence[Force]]:
        tau, external = acting(c, at, model.flat(rate))
        if integrator:
            passive = model.generalised_forces(passive_forces(model, at, rate))
            tau = [a + b for a, b in zip(tau, passive, strict=True)]
        return tau, external

    def dynamics(c: Scalar, at: PerJoint, rate: PerJoint) -> SoftDynamics:
        tau, external = forces(c, at, rate)
        near = slots if at is q else touch.found(model, at, v[0], slopes)
        return soft_dynamics(model, law, at, rate, model.joint_velocities(tau), near, memory, h, external, slopes)

    if integrator == "RK4":
        made = soft_rk4(model, q, speeds, h, dynamics)
    else:
        tau, external = forces(0.0, q, speeds)
        fast, whole = integrator == "implicitfast", integrator == "implicit"
        slope = _falls(model, tau, v) if fast else _damped(model, integrator)
        force = model.joint_velocities(tau)
        made = soft_step(model, law, q, speeds, force, slots, memory, h, slope, fast, external, slopes, whole)
    contacts = made.dynamics.contacts
    return Touched(made.q, made.qd, made.guess, _status(slots, made.dynamics.solved.settled), slots, contacts.forces,
                   contacts.size, _smooth(touch, model, contacts, contacts.margin(made.dynamics.solved.a), slopes)
                   )  # fmt: skip


def _smooth(touch: ContactModel, model: Model, contacts: SlotContacts, margin: Scalar, slopes: bool) -> Scalar:
    return smoothness(touch, model, contacts, margin) if slopes else float(OK)


def _damped(model: Model, integrator: str) -> list[Flat]:
    """How joint forces fall with velocities by the joints' damping."""
    if not integrator:
        return damping(model)
    off = {"damper", "eulerdamp"} & set(model.physics.options.disabled)
    return damping(replace(model, terms=model.terms - {"damping"} if off else model.terms | {"damping"}))


def _falls(model: Model, tau: Flat, v: Flat) -> list[Flat]:
    """How joint forces fall with velocities, by the symmetric part."""
    D = velocity_damping(model, tau, v)
    return [[0.5 * (D[i][j] + D[j][i]) for j in range(model.nv)] for i in range(model.nv)]


def _status(slots: Slots, settled: Scalar) -> Scalar:
    """Negative, for a run goes on: contacts that there was no room for, or forces that do not meet all conditions."""
    met = select(less(0.5, settled), float(OK), -float(UNCONVERGED))
    return select(less(slots.room + 0.5, slots.found), -float(OVERFLOW), met)


def _rows(weights: Sequence[float], model: Model, bounds: Sequence[Bounded], q: PerJoint, v: Flat, h: Scalar,
          late: float, held: Held | None) -> Callable[[Scalar], list[Row]]:  # fmt: skip
    """What stops, dry friction and loops hold, for velocities that bring it back and for how it parts."""
    flat = model.flat(q)

    def made(parting: Scalar) -> list[Row]:
        rows = []
        for one in bounds:
            firm = 1.0 / (HARD * weights[one.v])
            if one.sticks:
                rows.append(Row({one.v: 1.0}, 0.0, firm, -h * one.friction, h * one.friction))
            for sign, end in ((1.0, one.lower), (-1.0, one.upper)) if one.stops else ():
                if has_limit(end):
                    gap = sign * (flat[one.q] - end)
                    gap = minimum(gap, FAR) if unknown((end,)) else gap  # an infinite limit is far
                    closes = gap / (late * h) - sign * v[one.v]
                    wanted = -select(parting, maximum(closes, 0.0), closes)
                    rows.append(Row({one.v: sign}, wanted, select(less(gap, 0.0), firm, 0.0), 0.0))
        for row in held.A if held is not None else ():
            entries = {k: x for k, x in enumerate(row) if not (type(x) is float and x == 0.0)}
            if entries:  # a plane loop has rows across its plane, which nothing moves
                weight = sum(weights[k] for k in entries) / len(entries)
                rows.append(Row(entries, 0.0, 1.0 / (HARD * weight)))
        return rows

    return made
