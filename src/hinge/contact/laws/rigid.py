"""The rigid law as a stage of a step: impulses at its end, of contacts, stops, dry friction and loops together.

Where pairs have a compliance they give way by it; the impulses are found in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hinge.constraints.multipliers import Held
from hinge.contact.joint_impulses import JointBound
from hinge.contact.law import ContactLaw, ContactResult, Now, PairSurfaces, Stepping, contact_status
from hinge.contact.laws.rigid_solver import HARD, RigidPair, RigidParameters, rigid_impulses
from hinge.contact.laws.soft_parameters import Weights, has_limit
from hinge.contact.laws.soft_rows import Row
from hinge.graph import Scalar, less, maximum, minimum, select
from hinge.integrators.floating import Floating, carried
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.model.numbers import FAR
from hinge.model.symbols import unknown

TURNS_ONLY = 1e-9  # m²: what a centre that stands still shifts by, of how it turns, in rounding


@dataclass(frozen=True)
class RigidLaw(RigidParameters, ContactLaw):
    """Bodies do not overlap: impulses keep them apart, with friction, restitution and compliance."""

    name = "rigid"
    deepest_start = 0.1  # no step can have led there

    @classmethod
    def of(cls, model: Model, weights: Weights, pairs: Sequence[PairSurfaces], whole: bool) -> RigidLaw:
        rigid = [
            RigidPair(
                p.first,
                p.second,
                _at_point(p.weight),
                p.touching.friction[: max(p.touching.condim - 1, 0)],
                p.restitution,
                p.compliance,
            )
            for p in pairs
        ]
        return cls(tuple(rigid), weights.inertia, _joints(weights))

    def weighed(self, model: Model, weights: Weights, pushes: Sequence[tuple[Scalar, Scalar]], whole: bool) -> RigidLaw:
        pairs = [replace(pair, weight=_at_point(push)) for pair, push in zip(self.pairs, pushes, strict=True)]
        return replace(self, pairs=tuple(pairs), inertia=weights.inertia, joints=_joints(weights))

    def step(self, step: Stepping, now: Now) -> ContactResult:
        bounds, late = step.joint_bounds(), step.method.late
        made = step.free_motion(now, {})
        pivot = made.pivot
        body, held = step.body(now, now.end), step.held(now, made.q, made.v)
        before = carried(Floating(step.body(now, now.t), now.q), now.v, Floating(body, made.q))
        slots = step.contacts(body, made.q, made.v[0])
        rows = held_rows(self.joints, body, bounds, made.q, made.v, now.h, late, held)
        after = rigid_impulses(body, self, slots, before, made.q, made.v, now.h, late, rows, step.slopes)
        return ContactResult(
            after.q,
            after.v,
            status=contact_status(slots, after.settled),
            settled=made.settled,
            pivot=pivot,
            made=made,
            slots=slots,
            forces=lambda k: after.forces(k, now.h),
            size=after.contacts.size,
            smooth=step.smooth(after.contacts, after.margin),
            residual=after.residual,
        )


def held_rows(weights: Sequence[Scalar], model: Model, bounds: Sequence[JointBound], q: PerJoint, v: Flat, h: Scalar,
              late: float, held: Held | None) -> Callable[[Scalar], list[Row]]:  # fmt: skip
    """What stops, dry friction and loops hold, for velocities that bring it back and for how it parts."""
    flat = model.flat(q)

    def rows(parting: Scalar) -> list[Row]:
        found = []
        for one in bounds:
            firm = 1.0 / (HARD * weights[one.v])
            if one.sticks:
                found.append(Row({one.v: 1.0}, 0.0, firm, -h * one.friction, h * one.friction))
            for sign, end in ((1.0, one.lower), (-1.0, one.upper)) if one.stops else ():
                if has_limit(end):
                    gap = sign * (flat[one.q] - end)
                    gap = minimum(gap, FAR) if unknown((end,)) else gap  # an infinite limit is far
                    closes = gap / (late * h) - sign * v[one.v]
                    wanted = -select(parting, maximum(closes, 0.0), closes)
                    found.append(Row({one.v: sign}, wanted, select(less(gap, 0.0), firm, 0.0), 0.0))
        for row in held.A if held is not None else ():
            entries = {k: x for k, x in enumerate(row) if not (type(x) is float and x == 0.0)}
            if entries:  # a plane loop has rows across its plane, which nothing moves
                weight = sum(weights[k] for k in entries) / len(entries)
                found.append(Row(entries, 0.0, 1.0 / (HARD * weight)))
        return found

    return rows


def _at_point(weight: tuple[Scalar, Scalar]) -> Scalar:
    """How much a point gives way (1/kg); of what only turns, a point a metre from its centre."""
    shifts, turns = weight
    return select(less(TURNS_ONLY * turns, shifts), shifts, turns)


def _joints(weights: Weights) -> tuple[Scalar, ...]:
    """How much each velocity gives way."""
    return tuple(np.diag(weights.inverse).tolist())
