"""Inverse dynamics by Newton's and Euler's equations as Luh, Walker and Paul wrote them, each link in its own frame.

Source: turney1981, section 3.3. A bare number in the margin is an equation there.
Differs from the source: joint i passes through the origin of link i, so that the way to a link's origin is fixed in
the link before it, and moments are about that origin. The terms with `slide` are ours, and so are trees.
"""

from __future__ import annotations

from hinge.dynamics.registry import ACCELERATION, BASE, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.formulations.links import at_joint, links, refuses
from hinge.spatial import ZERO, comoving, cross3, dot3


@algorithm("inverse_dynamics", q=POSITION, qd=VELOCITY, qdd=ACCELERATION, external=EXTERNAL, base_motion=BASE,
           returns=FORCE, refuses=refuses)  # fmt: skip
def luh(model, q, qd, qdd, external, base_motion):
    """Joint forces for a given motion: accelerations from link to link outward, forces and moments inward."""
    omega, alpha, a, f, n, tau = model.per_body(6)
    v, up = comoving(base_motion[0], base_motion[1] - model.gravity_motion)  # a_0 = + g z_0
    omega[0], alpha[0], a[0], f[0], n[0] = v.ang, up.ang, up.lin, ZERO, ZERO
    link = links(model, q)

    # from the base to the hand: motion
    for i, j in model.outward():
        R, p, turn, slide, _ = link[i]
        (rate,), (acceleration,) = qd[i], qdd[i]
        turned = R.T @ omega[j]  # the link before, seen from this one
        omega[i] = turned + turn * rate  # (3.7)
        alpha[i] = R.T @ alpha[j] + cross3(turned, turn * rate) + turn * acceleration  # (3.8)
        at = cross3(omega[j], cross3(omega[j], p)) + cross3(alpha[j], p) + a[j]  # (3.9)
        a[i] = R.T @ at + cross3(turned, slide * (rate + rate)) + slide * acceleration

    # from the hand to the base: what each motion needs, and what the links beyond hand on
    for i, _ in model.inward():
        r_bar, I = link[i].r_bar, link[i].I_com
        a_bar = cross3(omega[i], cross3(omega[i], r_bar)) + cross3(alpha[i], r_bar) + a[i]  # (3.10)
        force, moment = a_bar * link[i].m, I @ alpha[i] + cross3(omega[i], I @ omega[i])
        f[i], n[i] = force - external[i].lin, moment + cross3(r_bar, force) - external[i].ang
        for c in model.children[i]:
            beyond = link[c].R @ f[c]
            f[i] = f[i] + beyond  # (3.11)
            n[i] = n[i] + cross3(link[c].p, beyond) + link[c].R @ n[c]  # (3.12)
        tau[i] = at_joint(model, i, dot3(link[i].turn, n[i]) + dot3(link[i].slide, f[i]), q, qd, qdd)  # (3.13)
    return tau
