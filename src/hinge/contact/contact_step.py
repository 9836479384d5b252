"""`contact_step`: a step of time with contacts, and what happens at them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.calls import inputs
from hinge.calls.target import Target
from hinge.contact.contact_model import ContactModel, contact_model
from hinge.contact.rigid_law import Struck, struck
from hinge.contact.slot_rows import directions
from hinge.contact.slots import Slots
from hinge.contact.soft_dynamics import soft_step
from hinge.contact.soft_law import Solved
from hinge.contact.surfaces import surface_parameters
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Quantity, unregistered
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
    `names`, -1 where there is no contact. `residual` (…) says how far from met the conditions are.
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


def contact_step(target: Target, q: Any, qd: Any, tau: Any, h: Any, contacts: Any = None, ground: Any = None,
                 law: str = "rigid", joint_terms: Sequence[str] = ("armature",), backend: str | None = None,
                 parameters: Mapping[str, Any] | None = None) -> ContactStep:  # fmt: skip
    """The state after h seconds with the joint forces held and contacts that are found, or given.

    Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground`, `law` and `parameters` are as in `hinge.simulate`. By
    the rigid law the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler.

    >>> scene = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0)
    >>> step = scene.robot.contact_step([1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), np.zeros(6), 1e-3, ground=0.0)
    >>> step.forces.shape, step.forces[0, 2].round(4)
    ((1, 3), np.float64(19.62))
    """
    numbers = dict(parameters or {})
    surfaces = surface_parameters("contact_step", target, numbers)
    touch = contact_model(target, contacts, ground, law, surfaces=surfaces)
    if touch is None:
        raise SizeError("contact_step: there are no contacts. Give contacts= or ground=; without them use step.")
    terms = frozenset(joint_terms)
    kernel = target.kernels(("contact_step", touch, terms, backend), lambda: _kernel(target, touch, terms, backend))
    own = {one.name: numbers.pop(one.name) for one in surfaces}
    given = inputs.parameters("contact_step", target.model, surfaces, own)
    more = target.further("contact_step", numbers, None)
    q, qd, told, fared, residual = kernel(q, qd, tau, h, *given, *more)
    pairs = np.nan_to_num(told[..., 0], nan=-1.0).astype(int)
    if touch.contacts:
        order = np.argsort(np.where(pairs < 0, len(touch.contacts), pairs), axis=-1, kind="stable")
        told, pairs = np.take_along_axis(told, order[..., None], axis=-2), np.take_along_axis(pairs, order, axis=-1)
    gaps, points, normals, forces = told[..., 1], told[..., 2:5], told[..., 5:8], told[..., 8:]
    status = np.nan_to_num(fared[..., 0], nan=NONFINITE).astype(np.uint8)
    return ContactStep(q, qd, forces, status, points, normals, gaps, pairs, residual[..., 0],
                       touch.names)  # fmt: skip


def _kernel(target: Target, touch: ContactModel, terms: frozenset[str], backend: str | None) -> Any:
    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any, surfaces: Any = ()) -> Any:
        return _stepped(model, touch.surfaced(surfaces), q, qd, tau, h[0])

    room = Quantity("of contacts", lambda m: (touch.room, NUMBERS))
    one = Quantity("of a state", lambda m: (1,))
    takes = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME}
    if touch.surfaces:
        takes["surfaces"] = Quantity("of surfaces", lambda m: (len(touch.surfaces),))
    gives = {"q": POSITION, "qd": VELOCITY, "contacts": room, "fared": one, "residual": one}
    return target.compiled(unregistered("contact_step", run, takes, gives), backend, terms=terms)


def _stepped(model: Model, touch: ContactModel, q: Any, qd: Any, tau: Any, h: Scalar) -> Any:
    v, none = model.flat(qd), [Force()] * len(model.parent)
    if touch.soft is not None:
        slots = touch.found(model, q, v[0])
        guess = [0.0 * x for x in v]
        made = soft_step(model, touch.soft, q, qd, tau, slots, guess, h, damping(model))
        solved = made.dynamics.solved
        told = _told(slots, made.dynamics.contacts.forces, 1.0, made.dynamics.contacts.size)
        return made.q, made.qd, told, [_status(slots, solved)], [solved.residual]
    free = METHODS["rk4"].advance(model, pushed(model, tau, none), q, v, h)
    slots = touch.found(model, free.q, v[0])
    end = struck(model, touch.rigid, slots, v, free.q, free.v, h, METHODS["rk4"].late)
    told = _told(slots, end.contacts.impulses, 1.0 / h, end.contacts.size)
    return end.q, end.v, told, [_status(slots, end)], [end.residual]


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


def _status(slots: Slots, made: Solved | Struck) -> Scalar:
    fared = select(less(0.5, made.settled), float(OK), float(UNCONVERGED))
    fared = select(less(made.residual, math.inf), fared, float(NONFINITE))
    return maximum(fared, select(less(slots.room + 0.5, slots.found), float(OVERFLOW), 0.0))
