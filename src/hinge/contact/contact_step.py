"""`contact_step`: a step of time with contacts, and what happens at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.calls.target import Target
from hinge.contact.contact_model import ContactModel, contact_model
from hinge.contact.contact_slopes import SWITCH, jacobian, lengths, refuse_curved, within_reach
from hinge.contact.rigid_law import struck
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slot_rows import directions
from hinge.contact.slots import Slots
from hinge.contact.soft_dynamics import soft_step
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Quantity, unregistered
from hinge.errors import SizeError
from hinge.graph import Scalar, inner, less, maximum, minimum, select
from hinge.integrators.implicit import damping
from hinge.integrators.methods import METHODS
from hinge.integrators.steps import TIME, Flat, PerJoint, pushed
from hinge.model import Model
from hinge.spatial import Force
from hinge.status import NONFINITE, NOT_SMOOTH, OK, OVERFLOW, UNCONVERGED

NUMBERS = 11  # that are told of a contact: pair, gap, point, normal, force
TAKES = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME}
ONE = Quantity("of a state", lambda m: (1,))


class ContactStep(NamedTuple):
    """The state after a step, and the contacts in it, of which there is room for n.

    `forces` (…, n, 3) are those on the second body of a pair, in N and base coordinates, the mean over the step, at
    `points` (…, n, 3) with `normals` (…, n, 3) that lead to it; `gaps` (…, n) in m. `pairs` (…, n) are numbers of
    `names`, -1 where there is no contact. `residual` (…) says how far from met the conditions are. Where derivatives
    were asked for, `A` (…, 2 nv, 2 nv) and `B` (…, 2 nv, nv) are as `linearize` has them.
    """

    q: Array
    qd: Array
    forces: Array
    status: Array
    points: Array
    normals: Array
    gaps: Array
    pairs: Array
    residual: Array
    names: tuple[tuple[str, str], ...]
    A: Array | None = None
    B: Array | None = None


def contact_step(target: Target, q: Any, qd: Any, tau: Any, h: Any, contacts: Any = None, ground: Any = None,
                 law: str = "rigid", joint_terms: Sequence[str] = ("armature",), backend: str | None = None,
                 derivatives: bool = False) -> ContactStep:  # fmt: skip
    """The state after h seconds with the joint forces held and contacts that are found, or given.

    Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground` and `law` are as in `hinge.simulate`. By the rigid law
    the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler. With `derivatives` A and B
    say how its end changes, by the implicit function; a status NOT_SMOOTH says that a contact is within a millionth of
    where it opens, closes, sticks or slides, where they are those of one side.

    >>> scene = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0)
    >>> step = scene.robot.contact_step([1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), np.zeros(6), 1e-3, ground=0.0)
    >>> step.forces.shape, step.forces[0, 2].round(4)
    ((1, 3), np.float64(19.62))
    """
    touch = contact_model(target, contacts, ground, law)
    if touch is None:
        raise SizeError("contact_step: there are no contacts. Give contacts= or ground=; without them use step.")
    terms = frozenset(joint_terms)
    kernel = target.kernels(("contact_step", touch, terms, backend), lambda: _kernel(target, touch, terms, backend))
    end, speed, told, fared, residual = kernel(q, qd, tau, h)
    pairs = np.nan_to_num(told[..., 0], nan=-1.0).astype(int)
    if touch.contacts:
        order = np.argsort(np.where(pairs < 0, len(touch.contacts), pairs), axis=-1, kind="stable")
        told, pairs = np.take_along_axis(told, order[..., None], axis=-2), np.take_along_axis(pairs, order, axis=-1)
    gaps, points, normals, forces = told[..., 1], told[..., 2:5], told[..., 5:8], told[..., 8:]
    status = np.nan_to_num(fared[..., 0], nan=NONFINITE).astype(np.uint8)
    made = ContactStep(end, speed, forces, status, points, normals, gaps, pairs, residual[..., 0], touch.names)
    return _differentiated(target, touch, terms, backend, made, (q, qd, tau, h)) if derivatives else made


def _differentiated(target: Target, touch: ContactModel, terms: frozenset[str], backend: str | None, made: ContactStep,
                    given: Sequence[Any]) -> ContactStep:  # fmt: skip
    """A step with its derivatives, which are computed in double precision."""
    kernel = target.kernels(
        ("contact_step slopes", touch, terms, backend), lambda: _slopes_kernel(target, touch, terms, backend)
    )
    slopes, margin, settled = kernel(*(np.asarray(x, float) for x in given))
    says = np.where(margin[..., 0] < SWITCH, NOT_SMOOTH, np.where(settled[..., 0] > 0.5, OK, UNCONVERGED))
    says = np.where(np.isfinite(slopes).all(axis=(-2, -1)), says, NONFINITE).astype(np.uint8)
    n, slopes = 2 * target.model.nv, slopes.astype(made.qd.dtype)
    status = np.where(made.status == OK, says, made.status)
    return made._replace(status=status, A=slopes[..., :n], B=slopes[..., n:])


def _kernel(target: Target, touch: ContactModel, terms: frozenset[str], backend: str | None) -> Any:
    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any) -> Any:
        made = _taken(model, touch, q, qd, tau, h[0])
        told = _told(made.slots, made.forces, made.scale, made.contacts.size)
        return made.q, made.v, told, [_status(made.slots, made.settled)], [made.residual]

    room = Quantity("of contacts", lambda m: (touch.room, NUMBERS))
    gives = {"q": POSITION, "qd": VELOCITY, "contacts": room, "fared": ONE, "residual": ONE}
    return target.compiled(unregistered("contact_step", run, TAKES, gives), backend, terms=terms)


def _slopes_kernel(target: Target, touch: ContactModel, terms: frozenset[str], backend: str | None) -> Any:
    refuse_curved(touch, target.model)
    sizes = lengths(touch, target.model)
    wide = within_reach(touch, sizes)

    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any) -> Any:
        made = _taken(model, wide, q, qd, tau, h[0], slopes=True)
        by = [("q", model.nq), ("qd", model.nv), ("tau", model.nv)]
        margin = minimum(made.margin, made.contacts.gap_margin(sizes))
        return jacobian(model, made.q, made.v, by), [margin], [made.settled]

    gives = {
        "slopes": Quantity("of the state after a step", lambda m: (2 * m.nv, 3 * m.nv)),
        "margin": ONE,
        "settled": ONE,
    }
    return target.compiled(unregistered("contact_step slopes", run, TAKES, gives), backend, terms=terms)


class _Taken(NamedTuple):
    """A step over scalars: forces of contact k are `scale` times those a function gives."""

    q: PerJoint
    v: Flat
    slots: Slots
    contacts: SlotContacts
    forces: Callable[[Scalar], list[Scalar]]
    scale: Scalar
    settled: Scalar
    residual: Scalar
    margin: Scalar


def _taken(model: Model, touch: ContactModel, q: Any, qd: Any, tau: Any, h: Scalar, slopes: bool = False) -> _Taken:
    v, none = model.flat(qd), [Force()] * len(model.parent)
    if touch.soft is not None:
        slots = touch.found(model, q, v[0], slopes)
        guess = [0.0 * x for x in v]
        made = soft_step(model, touch.soft, q, qd, tau, slots, guess, h, damping(model), slopes=slopes)
        solved, contacts = made.dynamics.solved, made.dynamics.contacts
        margin = contacts.margin(solved.a)
        return _Taken(made.q, made.qd, slots, contacts, contacts.forces, 1.0, solved.settled, solved.residual, margin)
    free = METHODS["rk4"].advance(model, pushed(model, tau, none), q, v, h)
    slots = touch.found(model, free.q, v[0], slopes)
    end = struck(model, touch.rigid, slots, v, free.q, free.v, h, METHODS["rk4"].late, slopes=slopes)
    return _Taken(end.q, end.v, slots, end.contacts, end.contacts.impulses, 1.0 / h, end.settled, end.residual,
                  end.margin)  # fmt: skip


def _told(slots: Slots, forces: Any, scale: Scalar, size: int) -> list[Scalar]:
    """What is told of each contact."""
    made: list[Scalar] = []
    for k in range(slots.room):
        touch, there = slots[float(k)], less(k + 0.5, slots.found)
        frame = [wrench.lin for wrench in directions(touch, min(size, 3))]
        f = [scale * x for x in forces(float(k))[:3]]
        force = [inner([d[j] for d in frame], f[: len(frame)]) for j in range(3)]
        numbers = (touch.gap, *touch.point, *touch.normal, *force)
        made += [select(there, touch.pair, -1.0), *(select(there, x, 0.0) for x in numbers)]
    return made


def _status(slots: Slots, settled: Scalar) -> Scalar:
    fared = select(less(0.5, settled), float(OK), float(UNCONVERGED))
    return maximum(fared, select(less(slots.room + 0.5, slots.found), float(OVERFLOW), 0.0))
