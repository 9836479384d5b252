"""What is told of contacts: those in a step, and those at the states of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.contact_model import ContactModel
from hinge.contact.slot_rows import directions
from hinge.contact.slots import Slots
from hinge.graph import Scalar, inner, less, select
from hinge.typing import Statuses, Whole

Forces = Callable[[Scalar], list[Scalar]]
NUMBERS = 11  # that are told of a contact: pair, gap, point, normal, force


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


def recorded(touch: ContactModel, told: Array) -> ContactRecord:
    """Contacts from what is told of them, (…, n, NUMBERS): those that were given are in the order of that."""
    pairs = np.fmax(told[..., 0], -1.0).astype(int)
    if touch.contacts:
        order = np.argsort(np.where(pairs < 0, len(touch.contacts), pairs), axis=-1, kind="stable")
        told, pairs = np.take_along_axis(told, order[..., None], axis=-2), np.take_along_axis(pairs, order, axis=-1)
    gaps, points, normals, forces = told[..., 1], told[..., 2:5], told[..., 5:8], told[..., 8:]
    return ContactRecord(points, forces, normals, gaps, pairs, touch.names)


def told_contacts(slots: Slots, forces: Forces, size: int) -> list[Scalar]:
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
