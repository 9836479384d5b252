"""Contact dynamics: accelerations of a robot that may touch things, and the forces of contact.

    I qdd = τ + Fᵀ α,  α ≥ 0,  F qdd + u ≥ 0,  one of each pair zero

The equations come from a kernel, for all states at once; the forces from `contact_forces`, or with few contacts from
the same kernel. Only contacts that touch and do not part take force: those whose gap and speed are within `TOUCH`.
Source: featherstone1987, sections 9.7 and 9.8. A bare number in the margin is an equation there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.backends.kernel import Kernel
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.contact.acting import OPTIONAL, Acting
from hinge.contact.contacts import Contact, ContactKind
from hinge.contact.faces import off_faces
from hinge.contact.forces import METHODS, ContactState, Method, contact_forces
from hinge.contact.solve import independence, traced_forces
from hinge.contact.system import PER_CONTACT, contact_equations
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Algorithm, Quantity, unregistered
from hinge.errors import NotCovered, SizeError, UnknownName, one_of
from hinge.status import Status
from hinge.typing import Backend, Frame, Numbers, Statuses, Term

MOST_TRACED = 8


class ContactSystem(NamedTuple):
    """C, d and F (a row a contact), accelerations without contact, responses I⁻¹ Fᵀ, gaps and their speeds."""

    C: Array
    d: Array
    F: Array
    free: Array
    response: Array
    gap: Array
    speed: Array


class ContactDynamics(NamedTuple):
    """Accelerations, contact forces, accelerations of the gaps, what each contact does, status, gaps and speeds."""

    qdd: Array
    force: Array
    acceleration: Array
    state: Statuses
    status: Statuses
    gap: Array
    speed: Array


def contact_system(
    target: Target,
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    contacts: Sequence[Contact],
    backend: Backend | None = None,
    joint_terms: Sequence[Term] = ("armature",),
    hold: Any = None,
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    base_motion: tuple[Numbers, Numbers] | None = None,
    parameters: Mapping[str, Numbers] | None = None,
    prescribed: Sequence[Numbers] | None = None,
) -> ContactSystem:
    """The equations of contact dynamics: C (n, n), d (n), F (n, nv), free qdd (nv), responses (n, nv), gap, speed (n).

    Takes q (nq), qd and tau (nv), and a list of n contacts; batches broadcast. No state is asked whether it touches.
    Kinematic loops stay closed. `hold` is (A, b), rows (r, nv) and (r) with A qdd + b = 0 besides. `external`,
    `base_motion`, `parameters` and `prescribed` are as for `forward_dynamics`.

    >>> arm = hinge.samples.planar_2r()
    >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))
    >>> arm.contact_system([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip]).F
    array([[2., 1.]])
    """
    listed = checked(target, contacts)
    acting = Acting.of(target, "contact_system", external, external_frame, base_motion, parameters, prescribed)
    recipe = _system_algorithm, tuple(map(ContactKind.of, listed))
    kernel = acting.call(target, recipe, backend, terms=inputs.joint_terms(joint_terms)).kernel
    numbers = np.array([c.numbers for c in listed], float).reshape(-1)
    made = ContactSystem(*kernel(q, qd, tau, numbers, *acting.arrays))
    if hold is None:
        return made
    respond = partial(target.impulse_response, backend=backend, parameters=parameters, prescribed=prescribed)
    return _held(target, q, made, hold[0], hold[1], respond)


def _held(target: Target, q: Any, made: ContactSystem, A: Any, b: Any, respond: Callable[..., Array]) -> ContactSystem:
    """The equations with further constraints: contacts feel the inertia of what the constraints let move."""
    if target.model.loops:
        raise NotCovered(
            f"robot {target.name!r} has loops, which are held already. Leave hold= out, or add loops to it."
        )
    A, b = real("hold: A", A), real("hold: b", b)
    if A.ndim < 2 or A.shape[-1] != target.model.nv or b.shape[-1:] != A.shape[-2:-1]:
        raise SizeError(f"hold: A has shape {A.shape} and b {b.shape}; give (…, r, {target.model.nv}) and (…, r).")
    X = respond(np.asarray(q, float)[..., None, :], A)  # I⁻¹ Aᵀ, a row a constraint
    S = np.linalg.pinv(np.einsum("...iv,...jv->...ij", A, X), rcond=1e-11)
    pull = np.einsum("...iv,...v->...i", A, made.free) + b
    free = made.free - np.einsum("...i,...ij,...jv->...v", pull, S, X)
    across = np.einsum("...nv,...iv->...ni", made.response, A)
    response = made.response - np.einsum("...ni,...ij,...jv->...nv", across, S, X)
    C = np.einsum("...nv,...mv->...nm", made.F, response)
    d = made.d + np.einsum("...nv,...v->...n", made.F, free - made.free)
    C = 0.5 * (C + np.swapaxes(C, -1, -2))
    return made._replace(C=C, d=d, free=free, response=response)


def checked(target: Target, contacts: Sequence[Contact]) -> tuple[Contact, ...]:
    """The contacts, each between bodies that this robot has."""
    listed = tuple([contacts] if isinstance(contacts, Contact) else contacts)
    for k, contact in enumerate(listed):
        if not isinstance(contact, Contact):
            raise SizeError(f"contacts[{k}] is a {type(contact).__name__}. Give a list of hinge.Contact.")
        try:
            contact.bodies(target.model)
        except UnknownName as wrong:
            raise UnknownName(f"contacts[{k}]: {wrong}") from None
    if not listed:
        raise SizeError("contacts is empty. Without contacts use forward_dynamics.")
    return listed


def shaped(*shape: int | str) -> Quantity:
    """Rows of an output, a number or "nv" along each axis."""
    return Quantity("of the contacts", lambda m: tuple(m.nv if n == "nv" else int(n) for n in shape),
                    give=lambda m, made: [x for row in made for x in row] if len(shape) == 2 else made)  # fmt: skip


def _system_algorithm(contacts: tuple[ContactKind, ...]) -> Algorithm:
    n = len(contacts)

    def equations(model: Any, q: Any, qd: Any, tau: Any, numbers: Any, external: Any, base_motion: Any) -> Any:
        rows = [numbers[PER_CONTACT * k : PER_CONTACT * (k + 1)] for k in range(n)]
        *made, pivots = contact_equations(model, contacts, q, qd, tau, rows, external, base_motion)
        return tuple(made), pivots

    numbers = Quantity("points and normals of the contacts", lambda m: (n * PER_CONTACT,), uniform=True)
    shapes = [(n, n), (n,), (n, "nv"), ("nv",), (n, "nv"), (n,), (n,)]
    gives = dict(zip(ContactSystem._fields, (shaped(*s) for s in shapes), strict=True))
    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "numbers": numbers} | OPTIONAL
    return unregistered("contact_system", equations, takes, gives, pivots=True)


def contact_kernel(
    target: Target,
    contacts: Sequence[Contact],
    backend: Backend | None = None,
    joint_terms: Sequence[Term] = ("armature",),
) -> Kernel:
    """A kernel from q, qd, tau to qdd (nv) and force (n): all of contact dynamics in machine code.

    The contacts are taken to touch in every state, and their normals to be independent; at most 8. Where they are not
    independent the row is NaN.

    >>> arm = hinge.samples.planar_2r()
    >>> kernel = arm.contact_kernel([hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))], backend="interpret")
    >>> kernel([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])[1].shape
    (1,)
    """
    listed = checked(target, contacts)
    n = len(listed)
    if n > MOST_TRACED:
        raise NotCovered(
            f"contact_kernel: {n} contacts, and the code doubles with each; {MOST_TRACED} are the most.\n"
            "  Use contact_dynamics, which takes any number."
        )
    recipe, terms = (_kernel_algorithm, listed), inputs.joint_terms(joint_terms)
    return Call.outside_registry(target, recipe, backend, terms=terms).kernel


def _kernel_algorithm(listed: tuple[Contact, ...]) -> Algorithm:
    def dynamics(model: Any, q: Any, qd: Any, tau: Any, external: Any, base_motion: Any) -> Any:
        made = contact_equations(model, listed, q, qd, tau, [c.numbers for c in listed], external, base_motion)
        force = traced_forces(made.C, made.d)
        qdd = list(made.free)
        for push, moves in zip(force, made.response, strict=True):
            qdd = [a + push * x for a, x in zip(qdd, moves, strict=True)]  # (9.49)
        return (qdd, force), [*made.pivots, *independence(made.C)]

    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE} | OPTIONAL
    gives = {"qdd": shaped("nv"), "force": shaped(len(listed))}
    return unregistered("contact_kernel", dynamics, takes, gives, pivots=True)


def contact_dynamics(
    target: Target,
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    contacts: Sequence[Contact],
    method: Method = "even",
    touch: float | None = 1e-6,
    backend: Backend | None = None,
    joint_terms: Sequence[Term] = ("armature",),
    hold: Any = None,
    external: Mapping[str, Numbers] | None = None,
    external_frame: Frame = "body",
    base_motion: tuple[Numbers, Numbers] | None = None,
    parameters: Mapping[str, Numbers] | None = None,
    prescribed: Sequence[Numbers] | None = None,
) -> ContactDynamics:
    """Accelerations and contact forces of a robot that may touch things, without friction.

    Takes q (nq), qd and tau (nv), and a list of n contacts; gives qdd (nv), force (n) in N, acceleration of the gaps
    (n), the state of each contact, a status, gap and speed (n). A contact takes force where its gap is at most `touch`
    (m) and its bodies do not part faster than `touch` (m/s). Where they approach each other faster than that, an impact
    comes first: the row is NaN with Status.NO_SOLUTION, and `impact` gives the velocities after it. With touch=None all
    are taken to touch and to be at rest. `method` is as for `contact_forces`; "even" shares forces that are
    indeterminate. `hold` is (A, b) with A qdd + b = 0 besides. `external`, `base_motion`, `parameters` and `prescribed`
    are as for `forward_dynamics`.

    >>> arm = hinge.samples.planar_2r()
    >>> tip = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))
    >>> arm.contact_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [tip]).qdd.round(3)
    array([-14.715,  29.43 ])
    """
    one_of("contact_dynamics: method", method, METHODS)
    q, qd, tau = (real(f"contact_dynamics: {name}", x) for name, x in (("q", q), ("qd", qd), ("tau", tau)))
    number = np.result_type(q, qd, tau)
    q, qd, tau = (x.astype(float) for x in (q, qd, tau))  # what touches and what is redundant is decided in double
    made = contact_system(
        target, q, qd, tau, contacts, backend, joint_terms, hold, external, external_frame, base_motion, parameters,
        prescribed,
    )  # fmt: skip
    C, d = made.C, made.d
    apart, closing = np.zeros(d.shape, bool), np.zeros(d.shape, bool)
    if touch is not None:
        off = (made.gap > touch) | off_faces(target, q, checked(target, contacts), parameters, prescribed)
        apart, closing = off | (made.speed > touch), ~off & (made.speed < -touch)  # section 9.6.1
    held = ~apart[..., :, None] & ~apart[..., None, :]
    C = np.where(held, C, np.where(np.eye(d.shape[-1], dtype=bool), 1.0, 0.0))  # one that is apart takes no part
    solved = contact_forces(C, np.where(apart, 1.0, d), method)
    collides = closing.any(axis=-1) & (solved.status == Status.OK)
    solved = solved._replace(
        force=np.where(collides[..., None], np.nan, solved.force),
        status=np.where(collides, Status.NO_SOLUTION, solved.status).astype(np.uint8),
    )
    qdd = made.free + np.einsum("...n,...nv->...v", solved.force, made.response)  # (9.49)
    acceleration = np.einsum("...ij,...j->...i", made.C, solved.force) + d
    state = np.where(apart, ContactState.BREAKING, solved.state).astype(np.uint8)
    qdd, force, acceleration, gap, speed = (
        x.astype(number) for x in (qdd, solved.force, acceleration, made.gap, made.speed)
    )
    return ContactDynamics(qdd, force, acceleration, state, solved.status, gap, speed)
