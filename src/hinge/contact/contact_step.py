"""`contact_step`: a step of time with contacts, and what happens at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.calls.target import Target
from hinge.contact.contact_model import ContactModel, contact_model
from hinge.contact.link_forces import SUMMED, link_forces, touching_links
from hinge.contact.rigid_law import struck
from hinge.contact.slot_rows import directions
from hinge.contact.slots import Slots
from hinge.contact.soft_dynamics import soft_step
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Quantity, rows, unregistered
from hinge.errors import SizeError
from hinge.graph import Scalar, inner, less, maximum, select
from hinge.integrators.implicit import damping
from hinge.integrators.methods import METHODS
from hinge.integrators.steps import TIME, pushed
from hinge.model import Model
from hinge.spatial import Force
from hinge.status import NONFINITE, OK, OVERFLOW, UNCONVERGED

NUMBERS = 11  # that are told of a contact: pair, gap, point, normal, force


class ContactStep(NamedTuple):
    """The state after a step, and the contacts in it, of which there is room for n.

    `forces` (…, n, 3) are those on the second body of a pair, in N and base coordinates, the mean over the step, at
    `points` (…, n, 3) with `normals` (…, n, 3) that lead to it; `gaps` (…, n) in m. `pairs` (…, n) are numbers of
    `names`, -1 where there is no contact. `residual` (…) says how far from met the conditions are. Of each link that
    may touch, `touch` has the sum of its normal forces (…) in N, and `wrenches` [couple; force] (…, 6) of all that its
    contacts do to it, in base coordinates: they are `external=` with `external_frame="base"`.
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
    touch: dict[str, Array]
    wrenches: dict[str, Array]


def contact_step(target: Target, q: Any, qd: Any, tau: Any, h: Any, contacts: Any = None, ground: Any = None,
                 law: str = "rigid", joint_terms: Sequence[str] = ("armature",), backend: str | None = None
                 ) -> ContactStep:  # fmt: skip
    """The state after h seconds with the joint forces held and contacts that are found, or given.

    Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground` and `law` are as in `hinge.simulate`. By the rigid law
    the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler.

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
    q, qd, told, sums, fared, residual = kernel(q, qd, tau, h)
    pairs = np.nan_to_num(told[..., 0], nan=-1.0).astype(int)
    if touch.contacts:
        order = np.argsort(np.where(pairs < 0, len(touch.contacts), pairs), axis=-1, kind="stable")
        told, pairs = np.take_along_axis(told, order[..., None], axis=-2), np.take_along_axis(pairs, order, axis=-1)
    gaps, points, normals, forces = told[..., 1], told[..., 2:5], told[..., 5:8], told[..., 8:]
    status = np.nan_to_num(fared[..., 0], nan=NONFINITE).astype(np.uint8)
    felt = {link: sums[..., k, 0] for k, link in enumerate(touching_links(touch))}
    wrenches = {link: sums[..., k, 1:] for k, link in enumerate(felt)}
    return ContactStep(q, qd, forces, status, points, normals, gaps, pairs, residual[..., 0], touch.names, felt,
                       wrenches)  # fmt: skip


def _kernel(target: Target, touch: ContactModel, terms: frozenset[str], backend: str | None) -> Any:
    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any) -> Any:
        return _stepped(model, touch, q, qd, tau, h[0])

    room = Quantity("of contacts", lambda m: (touch.room, NUMBERS))
    links = Quantity("of links", lambda m: (len(touching_links(touch)), SUMMED), give=rows)
    one = Quantity("of a state", lambda m: (1,))
    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME}
    gives = {"q": POSITION, "qd": VELOCITY, "contacts": room, "links": links, "fared": one, "residual": one}
    return target.compiled(unregistered("contact_step", run, takes, gives), backend, terms=terms)


def _stepped(model: Model, touch: ContactModel, q: Any, qd: Any, tau: Any, h: Scalar) -> Any:
    v, none, links = model.flat(qd), [Force()] * len(model.parent), touching_links(touch)
    if touch.soft is not None:
        slots = touch.found(model, q, v[0])
        guess = [0.0 * x for x in v]
        made = soft_step(model, touch.soft, q, qd, tau, slots, guess, h, damping(model))
        solved = made.dynamics.solved
        contacts = made.dynamics.contacts
        told, sums = (
            _told(slots, contacts.forces, 1.0, contacts.size),
            link_forces(touch, links, contacts, contacts.forces, 1.0),
        )
        return made.q, made.qd, told, sums, [_status(slots, solved.settled)], [solved.residual]
    free = METHODS["rk4"].advance(model, pushed(model, tau, none), q, v, h)
    slots = touch.found(model, free.q, v[0])
    end = struck(model, touch.rigid, slots, v, free.q, free.v, h, METHODS["rk4"].late)
    told, sums = (
        _told(slots, end.contacts.impulses, 1.0 / h, end.contacts.size),
        link_forces(touch, links, end.contacts, end.contacts.impulses, 1.0 / h),
    )
    return end.q, end.v, told, sums, [_status(slots, end.settled)], [end.residual]


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
