"""The same robot with inertia moved across its joints: what a joint cannot feel goes to the body before it.

A mass on the axis of a hinge, or an inertia that is the same all around it, moves alike on either side of the joint.
Moved to the parent, its numbers become zeros here, and only what can be told from the joint forces is left: the base
parameters of identification. Bodies then no longer have their own mass, so nothing but joint-space results may be asked
of such a model.
"""

from __future__ import annotations

from dataclasses import replace

from hinge.model.model import Model


def regrouped(model: Model) -> Model:
    """The model with the inertia each joint cannot feel moved to its parent, from the tips inward."""
    inertia = list(model.inertia)
    for i, p in model.inward():
        moved = model.joint[i].unidentifiable_inertia(inertia[i])
        inertia[i] = inertia[i] - moved
        inertia[p] = inertia[p] + model.placement[i].T @ moved
    return replace(model, inertia=tuple(inertia))
