"""Repairs: what a finding asks for, done where there is one way to do it.

    robot, changes = hinge.repair(hinge.load("icub.urdf"))

**inertia**: each link's inertia becomes the nearest that a body of its mass can have. A body has second moments
Σ = ∫ r rᵀ dm about its centre of mass, I = tr(Σ) 1 - Σ, and they make the pseudo-inertia

    [ Σ  0 ]
    [ 0  m ]

which is positive definite for every body that is not flat. Mass and centre of mass are kept; of all Σ whose eigenvalues
are at least THIN of the largest, the one with the least |Σ' - Σ| (the root of the sum of squares of the entries) is
taken, which keeps the axes and raises the eigenvalues that are too small. Then principal inertias are positive and two
of them sum to more than the third. Where no eigenvalue is positive nothing can be kept, and the link becomes a solid
ball of BALL density. The nearest mass to a negative one is none, and without mass there is no inertia.

**armature**: joints that move nothing with inertia have no acceleration for a given force. Each gets a rotor inertia of
SMALL times the largest that any joint of the robot feels: too little to change how the robot moves, and enough, by ten
digits, for the equations to be solved.

**damping**: damping, friction, stiffness and armature below zero become zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hinge.checking.proofs import draw
from hinge.dynamics.weightless import zero_pivots
from hinge.errors import NOWHERE, UnknownName, did_you_mean
from hinge.model import Finding, Model, Report
from hinge.model.doctor import examine_joints, examine_link
from hinge.model.driven import Driven
from hinge.model.model import LinkInertia
from hinge.robot import Robot
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import Vec3

THIN = 1e-6  # of the largest second moment: a plate a thousand times as wide as thick
BALL = 1000.0  # kg/m³
SMALL = 1e-6
ALONE = 1e-3  # kg m² or kg, where no joint of the robot feels any inertia
RESISTANCE = ("damping", "friction", "stiffness", "armature")
EXAMINED = {"negative-mass", "inertia-without-mass", "asymmetric-inertia", "negative-inertia", "triangle", "massless",
            "negative"}  # fmt: skip


def repair(robot: Robot, only: str | Sequence[str] | None = None) -> tuple[Robot, Report]:
    """The robot with repairs applied, and what was changed: old and new value, and why.

    `only` names the repairs to apply: "inertia" (the nearest that a body can have), "damping" (none below zero),
    "armature" (a little, where a joint moves nothing). A robot that needs none is returned as it is.

    >>> robot = hinge.load('''<robot name="r"><link name="a"><inertial><mass value="1"/>
    ...     <inertia ixx="1" iyy="1" izz="3"/></inertial></link></robot>''')
    >>> better, changes = hinge.repair(robot)
    >>> print(changes[0].what[:83])
    link 'a' had inertia (xx, yy, zz, xy, xz, yz) = (1, 1, 3, 0, 0, 0) kg m² and has (1
    >>> hinge.repair(better)[0] is better
    True
    """
    wanted = REPAIRS if only is None else [only] if isinstance(only, str) else list(only)
    for name in wanted:
        if name not in REPAIRS:
            raise UnknownName(f"there is no repair {name!r}. {did_you_mean(str(name), REPAIRS)}")
    model, changes = robot.model, list[Finding]()
    for name, one in REPAIRS.items():  # in this order: what inertias there are decides which joints move nothing
        if name in wanted:
            model, changed = one(model)
            changes += changed
    if not changes:
        return robot, Report()
    return cast(Any, robot)._with(replace(model, report=_examined(model))), Report(tuple(changes))


def _examined(model: Model) -> Report:
    """The findings on a model that has been changed: those on inertias made anew, the others as they were."""
    kept = [finding for finding in model.report if finding.code not in EXAMINED]
    for name, link in model.links.items():
        if link.mass or np.any(link.inertia):
            where = model.written.get(name, NOWHERE)
            kept += examine_link(name, link.mass, np.array(link.inertia), where)
    for i, _ in model.outward():
        if _below_zero(model, i):
            kept += [f for f in model.report if f.code == "negative" and f.where == model.data[i].where]
    kept += examine_joints(model, {i: follow.leader for i, follow in model.follows.items()})
    return Report(tuple(sorted(kept, key=lambda finding: finding.where.line or math.inf)))


# ---- inertia ---------------------------------------------------------------------------------------------------------


def mend_inertias(model: Model) -> tuple[Model, list[Finding]]:
    """The model with inertias that bodies can have."""
    links, inertia, changes = dict(model.links), list(model.inertia), list[Finding]()
    for name, old in model.links.items():
        if not examine_link(name, old.mass, np.array(old.inertia), NOWHERE):
            continue
        new, frame = nearest(old), model.frames[name]
        links[name] = new
        change = _rigid(new) - _rigid(old)
        inertia[frame.body] = inertia[frame.body] + frame.transform.T @ change
        where = model.written.get(name, NOWHERE)
        if new.mass != old.mass:
            what = f"link {name!r} had mass {old.mass:g} kg and has {new.mass:g} kg."
            changes.append(Finding("note", "mended-mass", what, "Masses are positive.", where))
        if new.inertia != old.inertia:
            label = "(xx, yy, zz, xy, xz, yz)"
            what = f"link {name!r} had inertia {label} = {_six(old)} kg m² and has {_six(new)}."
            why = f"The nearest that a body of {new.mass:g} kg can have." if new.mass else "Without mass there is none."
            changes.append(Finding("note", "mended-inertia", what, why, where))
    return replace(model, links=links, inertia=tuple(inertia)), changes


def nearest(link: LinkInertia) -> LinkInertia:
    """The link with the nearest inertia that a body of its mass, if it has one, can have."""
    mass = max(link.mass, 0.0)
    if mass == 0.0:
        return LinkInertia(mass, link.com, ((0.0,) * 3,) * 3)
    given = np.array(link.inertia)
    given = (given + given.T) / 2
    values, axes = np.linalg.eigh(np.trace(given) / 2 * np.eye(3) - given)
    if values[-1] > 0.0:
        raised = axes * (np.maximum(values, THIN * values[-1]) - values) @ axes.T
        made = given + np.trace(raised) * np.eye(3) - raised
        if np.all(given == np.diag(np.diag(given))):
            made = np.diag(np.diag(made))  # the axes are the link's, and rounding is not to turn them
    else:
        r = (3.0 * mass / (4.0 * math.pi * BALL)) ** (1 / 3)
        made = 0.4 * mass * r * r * np.eye(3)
    return LinkInertia(mass, link.com, tuple(tuple(row) for row in ((made + made.T) / 2).tolist()))


def _rigid(link: LinkInertia) -> RigidInertia:
    return RigidInertia.at_com(link.mass, Vec3(link.com), link.inertia)


def _six(link: LinkInertia) -> str:
    I = link.inertia
    return "(" + ", ".join(f"{x:.6g}" for x in (I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2])) + ")"


# ---- joints ----------------------------------------------------------------------------------------------------------


def _below_zero(model: Model, i: int) -> list[str]:
    return [word for word in RESISTANCE if any(x < 0.0 for x in getattr(model.data[i], word))]


def mend_damping(model: Model) -> tuple[Model, list[Finding]]:
    """The model without joints that push themselves."""
    data, changes = list(model.data), list[Finding]()
    for i, _ in model.outward():
        for word in _below_zero(model, i):
            old = getattr(model.data[i], word)
            new = tuple(max(x, 0.0) for x in old)
            data[i] = replace(data[i], **cast(Any, {word: new}))
            what = f"joint {model.joint_name[i]!r} had {word} {_plain(old)} and has {_plain(new)}."
            changes.append(Finding("note", "mended-damping", what, "Below zero it would drive the joint.",
                                   data[i].where))  # fmt: skip
    return replace(model, data=tuple(data)), changes


def mend_armature(model: Model) -> tuple[Model, list[Finding]]:
    """The model with a little armature where a joint moves nothing."""
    idle = _idle(Robot(model))
    if not idle:
        return model, []
    felt = np.diagonal(Robot(model).mass_matrix(Robot(model).neutral(), **_plainly(model)))
    size = float(f"{SMALL * felt.max():.1g}") if felt.max() > 0.0 else ALONE
    data, changes = list(model.data), list[Finding]()
    owners = [(i, k) for i in model.leaders for k in range(model.joint[i].nv)]
    for i in dict.fromkeys(owners[k][0] for k in idle):
        joint = model.joint[i]
        old = data[i].armature or (0.0,) * joint.nv
        touched = {owners[k][1] for k in idle if owners[k][0] == i}
        new = tuple(max(x, size) if k in touched else x for k, x in enumerate(old))
        data[i] = replace(data[i], armature=new)
        unit = "kg" if joint.kind == "prismatic" else "kg m²"
        what = f"joint {model.joint_name[i]!r} had armature {_plain(old)} {unit} and has {_plain(new)} {unit}."
        why = f"It moves nothing that has inertia; this is {SMALL:g} of the most that any joint feels."
        changes.append(Finding("note", "mended-armature", what, why, data[i].where))
    return replace(model, data=tuple(data)), changes


def _idle(robot: Robot) -> list[int]:
    """The velocities that move nothing, once those after them are free: zero pivots of the mass matrix."""
    if not robot.nv:
        return []
    found: set[int] = set()
    options = _plainly(robot.model)
    for H in robot.mass_matrix(draw(robot, 4, **options).q, **options):
        found |= set(zero_pivots(np.array(H)))
    return sorted(found)


def _plainly(model: Model) -> dict[str, Any]:
    """How to call a robot once, with what is driven in it held at neutral."""
    held = [joint for joint in model.joint if isinstance(joint, Driven)]
    value = [x for joint in held for x in _held_at(joint)]
    return {"backend": "interpret"} | ({"prescribed": (value,)} if held else {})


def _held_at(joint: Driven) -> Sequence[float]:
    neutral = joint.inner.neutral()
    return neutral if joint.whole else [neutral[k] for k in joint.parts]


def _plain(values: Sequence[float]) -> str:
    return ", ".join(f"{x:g}" for x in values)


REPAIRS: dict[str, Callable[[Model], tuple[Model, list[Finding]]]] = {
    "inertia": mend_inertias,
    "damping": mend_damping,
    "armature": mend_armature,
}
