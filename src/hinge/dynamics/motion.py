"""How motion passes a joint."""

from __future__ import annotations

from hinge.spatial import Motion, Transform, comoving, cross


def carried(X: Transform, v: Motion, vJ: Motion, cJ: Motion) -> tuple[Motion, Motion]:
    """Velocity of a child whose parent moves with v, and the part of its acceleration that velocities make.

    `X` is the transform to the child, `vJ` the velocity across the joint, `cJ` the joint's own bias. Velocities are
    those seen by an observer who moves with the body's origin at this instant, so their linear part is zero and the
    products of velocities are few; accelerations are then those of the origin itself. See `comoving`.
    """
    v, c = comoving(X @ v, Motion())  # the parent, extended to where the child is
    v = v + vJ
    return comoving(v, c + cross(v, vJ) + cJ)
