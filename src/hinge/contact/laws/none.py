"""Without contact: a step of the method of integration, and impulses of dry friction and stops at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hinge.contact.joint_impulses import joint_impulses, sliding_friction
from hinge.contact.law import ContactLaw, ContactResult, Now, Stepping
from hinge.graph import minimum


@dataclass(frozen=True)
class NoContact(ContactLaw):
    """Nothing can touch."""

    name = "none"
    finds_contacts = False
    pairs: tuple[Any, ...] = ()

    def step(self, step: Stepping, now: Now) -> ContactResult:
        model, bounds = step.model, step.joint_bounds()
        made = step.free_motion(now, sliding_friction(bounds, now.v))
        pivot, body = made.pivot, step.body(now, now.end)
        held = step.held(now, made.q, made.v) if bounds else None
        start = model.flat(now.q), now.v
        after = joint_impulses(body, bounds, start, made.q, made.v, now.h, step.method.late, held)
        settled = minimum(made.settled, after.settled)
        return ContactResult(after.q, after.v, settled=settled, pivot=pivot, made=made)
