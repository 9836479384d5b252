"""A step of time with friction, restitution and compliance: impulses that make the velocities after it admissible.

    H (qd⁺ - qd) = h (τ - C) + Fᵀ p,  p in the cones of friction,  gaps that neither close nor sink

Source: none of the texts; built on featherstone1987, (9.49) and section 9.9, with a row for each tangent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, number
from hinge.calls.target import Target
from hinge.contact.acting import OPTIONAL, Acting
from hinge.contact.contacts import Contact, ContactKind
from hinge.contact.dynamics import checked, shaped
from hinge.contact.faces import off_faces
from hinge.contact.friction import friction_forces
from hinge.contact.impact import checked_restitution
from hinge.contact.system import PER_CONTACT, friction_equations
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Algorithm, Quantity, unregistered
from hinge.errors import SizeError
from hinge.typing import Backend, Frame, Numbers, Statuses, Whole


class FrictionStep(NamedTuple):
    """Velocities after the step, impulses (…, n, 3) with the normal first, residual, iterations and status."""

    qd: Array
    impulse: Array
    residual: Array
    iterations: Whole
    status: Statuses


def friction_step(
    target: Target,
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    contacts: Sequence[Contact],
    h: float,
    law: str = "coulomb",
    restitution: Numbers | None = None,
    tolerance: float = 1e-10,
    iterations: int = 20_000,
    backend: Backend | None = None,
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    base_motion: tuple[Numbers, Numbers] | None = None,
    parameters: Mapping[str, Numbers] | None = None,
    prescribed: Sequence[Numbers] | None = None,
) -> FrictionStep:
    """The velocities after h seconds with contacts that have friction, restitution and compliance.

    Takes q (nq), qd and tau (nv) and n contacts; a gap that would not close within h takes no part. h = 0 is
    an impact with friction. `law` is "coulomb", or "convex" as for `friction_forces`. A compliance of c (m/N) gives way
    by c times the force. `external`, `base_motion`, `parameters` and `prescribed` are as for `forward_dynamics`.

    >>> arm = hinge.samples.planar_2r()
    >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), friction=0.5)
    >>> arm.friction_step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip], 1e-3).impulse.shape
    (1, 3)
    """
    listed = checked(target, contacts)
    if not number("friction_step: h", h) >= 0.0:
        raise SizeError(f"friction_step: h is {h!r}. Give a time in s, or 0 for an impact.")
    n = len(listed)
    e = np.array([c.restitution for c in listed]) if restitution is None else checked_restitution(restitution, n)
    acting = Acting.of(target, "friction_step", external, external_frame, base_motion, parameters, prescribed)
    kernel = acting.call(target, (_friction_algorithm, tuple(map(ContactKind.of, listed))), backend).kernel
    numbers = np.array([c.numbers for c in listed], float).reshape(-1)
    C, F, u, free, response, gap = kernel(q, qd, tau, numbers, *acting.arrays)
    qd = np.asarray(qd, float)
    before = np.einsum("...nv,...v->...n", F, qd)
    side = before + h * (np.einsum("...nv,...v->...n", F, free) + u)
    closing = np.minimum(before[..., ::3], 0.0)
    side[..., ::3] += e * closing + (np.maximum(gap, 0.0) / h if h else 0.0)
    off = off_faces(target, q, listed, parameters, prescribed)
    apart = np.repeat(off if h else off | (gap > 1e-6), 3, axis=-1) | np.zeros(side.shape, bool)
    held = ~apart[..., :, None] & ~apart[..., None, :]
    C = np.where(held, C, np.where(np.eye(3 * n, dtype=bool), 1.0, 0.0))
    soft = np.array([c.compliance for c in listed]) / (h * h if h else np.inf)
    made = friction_forces(
        C, np.where(apart, 1.0, side), [c.friction for c in listed], soft, law, tolerance, iterations
    )
    impulse = np.where(apart.reshape(*apart.shape[:-1], n, 3), 0.0, made.force)
    flat = impulse.reshape(*impulse.shape[:-2], 3 * n)
    after = qd + h * free + np.einsum("...n,...nv->...v", flat, response)
    return FrictionStep(after, impulse, made.residual, made.iterations, made.status)


def _friction_algorithm(contacts: tuple[ContactKind, ...]) -> Algorithm:
    n = len(contacts)

    def equations(model: Any, q: Any, qd: Any, tau: Any, numbers: Any, external: Any, base_motion: Any) -> Any:
        rows = [numbers[PER_CONTACT * k : PER_CONTACT * (k + 1)] for k in range(n)]
        return friction_equations(model, contacts, q, qd, tau, rows, external, base_motion)

    numbers = Quantity("points and normals of the contacts", lambda m: (n * PER_CONTACT,), uniform=True)
    gives = {"C": shaped(3 * n, 3 * n), "F": shaped(3 * n, "nv"), "u": shaped(3 * n), "free": shaped("nv"),
             "response": shaped(3 * n, "nv"), "gap": shaped(n)}  # fmt: skip
    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "numbers": numbers} | OPTIONAL
    return unregistered("friction_system", equations, takes, gives, pivots=True)
