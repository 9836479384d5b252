"""`contact_step`: a step of time with contacts, and what happens at them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.backends import alone, backend_name
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.contact.contact_model import ContactModel, contact_model
from hinge.contact.contact_slopes import jacobian, refuse_curved, smoothness, within_reach
from hinge.contact.laws.soft_step import soft_step
from hinge.contact.link_forces import SUMMED, link_forces
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slot_rows import directions
from hinge.contact.slots import Slots
from hinge.contact.surfaces import surface_parameters
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Algorithm, Quantity, rows, unregistered
from hinge.errors import NotCovered, SizeError
from hinge.graph import Scalar, inner, less, maximum, select
from hinge.integrators.floating import Floating, carried
from hinge.integrators.implicit import damping
from hinge.integrators.methods import METHODS
from hinge.integrators.steps import TIME, Flat, PerJoint, pushed
from hinge.model import Model
from hinge.model.driven import driven
from hinge.spatial import Force
from hinge.status import NONFINITE, OK, OVERFLOW, UNCONVERGED
from hinge.typing import Backend, Numbers, Statuses, Term, Whole

Forces = Callable[[Scalar], list[Scalar]]
NUMBERS = 11  # that are told of a contact: pair, gap, point, normal, force
ONE = Quantity("of a state", lambda m: (1,))


class ContactStep(NamedTuple):
    """The state after a step, and the contacts in it, of which there is room for n.

    `forces` (…, n, 3) are those on the second body of a pair, in N and base coordinates, the mean over the step, at
    `points` (…, n, 3) with `normals` (…, n, 3) that lead to it; `gaps` (…, n) in m. `pairs` (…, n) are numbers of
    `names`, -1 where there is no contact. `residual` (…) says how far from met the conditions are. `links` are those
    that may touch, and `sums` (…, links, 7) what contacts do to each. Where derivatives were asked for, `A` (…, 2 nv,
    2 nv) and `B` (…, 2 nv, nv) are as `linearize` has them.
    """

    q: Array
    qd: Array
    forces: Array
    status: Statuses
    points: Array
    normals: Array
    gaps: Array
    pairs: Whole
    residual: Array
    names: tuple[tuple[str, str], ...]
    links: tuple[str, ...]
    sums: Array
    A: Array | None = None
    B: Array | None = None

    @property
    def touch(self) -> dict[str, Array]:
        """The sum of normal forces (…) in N of each link that may touch, as a touch sensor reads it."""
        return {link: self.sums[..., k, 0] for k, link in enumerate(self.links)}

    @property
    def wrenches(self) -> dict[str, Array]:
        """[couple; force] (…, 6) that contacts do to each link, in base coordinates: they are `external=` with
        `external_frame="base"`."""
        return {link: self.sums[..., k, 1:] for k, link in enumerate(self.links)}


class ContactRecord(NamedTuple):
    """What touched at the states of a run: contacts, of which there is room for n at each of T times.

    `forces` (…, T, n, 3) are those on the second body of a pair, in N and base coordinates, the mean over the step that
    begins there, at `points` (…, T, n, 3) with `normals` (…, T, n, 3) that lead to it; `gaps` (…, T, n) in m. `pairs`
    (…, T, n) are numbers of `names`, -1 where there is no contact.
    """

    points: Array
    forces: Array
    normals: Array
    gaps: Array
    pairs: Whole
    names: tuple[tuple[str, str], ...]


def contact_step(
    target: Target,
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    h: Numbers,
    contacts: Any = None,
    ground: Any = None,
    law: str = "rigid",
    joint_terms: Sequence[Term] = ("armature",),
    backend: Backend | None = None,
    derivatives: bool = False,
    parameters: Mapping[str, Numbers] | None = None,
) -> ContactStep:
    """The state after h seconds with the joint forces held and contacts that are found, or given.

    Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground`, `law` and `parameters` are as in `hinge.simulate`. By
    the rigid law the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler. With
    `derivatives` A and B say how its end changes, by the implicit function; a status NOT_SMOOTH says that a contact is
    within a millionth of where it opens, closes, sticks or slides, where they are those of one side.

    >>> scene = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0)
    >>> step = scene.robot.contact_step([1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), np.zeros(6), 1e-3, ground=0.0)
    >>> step.forces.shape, step.forces[0, 2].round(4)
    ((1, 3), np.float64(19.62))
    """
    steps = real("contact_step: h", h)
    if (steps <= 0.0).any():
        raise SizeError(f"contact_step: h is {steps.min():g} s. Give steps above zero.")
    refuse_driven("contact_step", target.model)
    numbers = dict(parameters or {})
    surfaces = surface_parameters("contact_step", target, numbers)
    touch = contact_model(target, contacts, ground, law, surfaces=surfaces)
    if not touch.room:
        raise SizeError("contact_step: there are no contacts. Give contacts= or ground=; without them use step.")
    terms = inputs.joint_terms(joint_terms)
    where = alone(backend_name(backend)) if np.asarray(q).ndim < 2 else backend
    call = Call.outside_registry(target, (_step_algorithm, target, touch), where, terms=terms)
    own = {one.name: numbers.pop(one.name) for one in surfaces}
    more = (
        *inputs.parameters("contact_step", target.model, surfaces, own),
        *target.parameter_rows("contact_step", numbers, None),
    )
    end, speed, told, sums, fared, residual = call.kernel(q, qd, tau, h, *more)
    points, forces, normals, gaps, pairs, names = recorded(touch, told)
    status = np.where(fared == fared, fared, NONFINITE)[..., 0].astype(np.uint8)
    left, links = residual[..., 0], touch.links
    made = ContactStep(end, speed, forces, status, points, normals, gaps, pairs, left, names, links, sums)
    return _differentiated(target, touch, terms, backend, made, (q, qd, tau, h, *more)) if derivatives else made


def refuse_driven(call: str, model: Model) -> None:
    """Raise where joints are driven: a step takes no motion of theirs."""
    if why := driven(model):
        raise NotCovered(
            f"{call}: {why}, and its motion during a step cannot be given.\n"
            "  Use contact_dynamics, friction_step or impact, which take prescribed=, or a robot with free joints."
        )


def recorded(touch: ContactModel, told: Array) -> ContactRecord:
    """Contacts from what is told of them, (…, n, NUMBERS): those that were given are in the order of that."""
    pairs = np.fmax(told[..., 0], -1.0).astype(int)
    if touch.contacts:
        order = np.argsort(np.where(pairs < 0, len(touch.contacts), pairs), axis=-1, kind="stable")
        told, pairs = np.take_along_axis(told, order[..., None], axis=-2), np.take_along_axis(pairs, order, axis=-1)
    gaps, points, normals, forces = told[..., 1], told[..., 2:5], told[..., 5:8], told[..., 8:]
    return ContactRecord(points, forces, normals, gaps, pairs, touch.names)


def _differentiated(target: Target, touch: ContactModel, terms: tuple[str, ...], backend: str | None, made: ContactStep,
                    given: Sequence[Any]) -> ContactStep:  # fmt: skip
    """A step with its derivatives, which are computed in double precision."""
    call = Call.outside_registry(target, (_derivatives_algorithm, target, touch), backend, terms=terms)
    slopes, smooth, settled = call.kernel(*(np.asarray(x, float) for x in given))
    says = np.where(smooth[..., 0] > OK, smooth[..., 0], np.where(settled[..., 0] > 0.5, OK, UNCONVERGED))
    says = np.where(np.isfinite(slopes).all(axis=(-2, -1)), says, NONFINITE).astype(np.uint8)
    n, slopes = 2 * target.model.nv, slopes.astype(made.qd.dtype)
    status = np.where(made.status == OK, says, made.status)
    return made._replace(status=status, A=slopes[..., :n], B=slopes[..., n:])


def _step_algorithm(target: Target, touch: ContactModel) -> Algorithm:
    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any, surfaces: Any = ()) -> Any:
        made = _taken(model, touch.weighed(target, model.given).surfaced(surfaces), q, qd, tau, h[0])
        told = _told(made.slots, made.forces, made.contacts.size)
        sums = link_forces(touch, links, made.slots, made.forces, made.contacts.size)
        return made.q, made.v, told, sums, [_status(made)], [made.residual]

    room, links = Quantity("of contacts", lambda m: (touch.room, NUMBERS)), touch.links
    summed = Quantity("of links", lambda m: (len(links), SUMMED), give=rows)
    gives = {"q": POSITION, "qd": VELOCITY, "contacts": room, "links": summed, "fared": ONE, "residual": ONE}
    return unregistered("contact_step", run, _takes(touch), gives)


def _takes(touch: ContactModel) -> dict[str, Quantity]:
    """What a step is given."""
    made = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME}
    return made | ({"surfaces": Quantity("of surfaces", lambda m: (len(touch.surfaces),))} if touch.surfaces else {})


def _derivatives_algorithm(target: Target, touch: ContactModel) -> Algorithm:
    refuse_curved(touch, target.model)
    wide = within_reach(touch, target.model)

    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any, surfaces: Any = ()) -> Any:
        known = wide.weighed(target, model.given).surfaced(surfaces)
        made = _taken(model, known, q, qd, tau, h[0], slopes=True)
        by = [*model.flat(q), *model.flat(qd), *model.flat(tau)]
        smooth = smoothness(touch, target.model, made.contacts, made.margin)
        return jacobian(model, made.q, made.v, by)[-1], [smooth], [made.settled]

    by_rows = Quantity("of the state after a step", lambda m: (2 * m.nv, 3 * m.nv))
    gives = {"slopes": by_rows, "smooth": ONE, "settled": ONE}
    return unregistered("contact_step slopes", run, _takes(touch), gives)


class _Taken(NamedTuple):
    """A step over scalars, and the forces of contact k."""

    q: PerJoint
    v: Flat
    slots: Slots
    contacts: SlotContacts
    forces: Forces
    settled: Scalar
    residual: Scalar
    margin: Scalar


def _taken(model: Model, touch: ContactModel, q: Any, qd: Any, tau: Any, h: Scalar, slopes: bool = False) -> _Taken:
    v, none = model.flat(qd), [Force()] * len(model.parent)
    if touch.law.solves_loops:
        slots = touch.found(model, q, v[0], slopes)
        guess = [0.0 * x for x in v]
        made = soft_step(model, touch.law, q, qd, tau, slots, guess, h, damping(model), slopes=slopes)
        solved, contacts = made.dynamics.solved, made.dynamics.contacts
        margin = contacts.margin(solved.a)
        return _Taken(made.q, made.qd, slots, contacts, contacts.forces, solved.settled, solved.residual, margin)
    free = METHODS["rk4"].advance(model, pushed(model, tau, none), q, v, h)
    slots = touch.found(model, free.q, v[0], slopes)
    before = carried(Floating(model, q), v, Floating(model, free.q))
    end = rigid_impulses(model, touch.law, slots, before, free.q, free.v, h, METHODS["rk4"].late, slopes=slopes)
    return _Taken(end.q, end.v, slots, end.contacts, lambda k: end.forces(k, h), end.settled, end.residual, end.margin)


def _told(slots: Slots, forces: Forces, size: int) -> list[Scalar]:
    """What is told of each contact there is room for."""
    made: list[Scalar] = []
    for k in range(slots.room):
        there, (pair, *numbers) = less(k + 0.5, slots.found), contact_numbers(slots, float(k), forces, size)
        made += [select(there, pair, -1.0), *(select(there, x, 0.0) for x in numbers)]
    return made


def contact_numbers(slots: Slots, k: Scalar, forces: Forces, size: int) -> list[Scalar]:
    """What is told of contact k: pair, gap, point, normal, and the force, in base coordinates.

    `forces` are those of a contact along its normal and tangents, of which a contact has `size`.
    """
    touch = slots[k]
    frame = [wrench.lin for wrench in directions(touch, min(size, 3))]
    f = forces(k)[: len(frame)]
    force = [inner([d[j] for d in frame], f) for j in range(3)]
    return [touch.pair, touch.gap, *touch.point, *touch.normal, *force]


def _status(made: _Taken) -> Scalar:
    fared = select(less(0.5, made.settled), float(OK), float(UNCONVERGED))
    fared = select(less(made.residual, math.inf), fared, float(NONFINITE))
    return maximum(fared, select(less(made.slots.room + 0.5, made.slots.found), float(OVERFLOW), 0.0))
