"""What contacts do to links: the sum of normal forces that a touch sensor reads, and the wrench of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hinge.contact.contact_model import ContactModel
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slot_rows import directions
from hinge.graph import Scalar, Scratch, Table
from hinge.spatial import Force

SUMMED = 7  # numbers of a link: its normal forces, and a wrench


def touching_links(touch: ContactModel) -> list[str]:
    """The links that may touch, in the order in which pairs name them; what does not move is none."""
    pairs: Sequence[Any] = touch.law.pairs
    named = [*zip(touch.names, ((pair.first, pair.second) for pair in pairs), strict=True)]
    links = [link for names, bodies in named for link, body in zip(names, bodies, strict=True) if body]
    return list(dict.fromkeys(links))


def link_forces(
    touch: ContactModel,
    links: Sequence[str],
    contacts: SlotContacts,
    forces: Callable[[Scalar], Sequence[Scalar]],
    scale: Scalar,
) -> list[list[Scalar]]:
    """For each of these links the sum of its normal forces, and [couple; force] on it in base coordinates.

    `forces` gives those of contact k on its second link, times `scale` in N and N m.
    """
    number = {link: float(SUMMED * k) for k, link in enumerate(links)}
    beyond = float(SUMMED * len(links))  # where sums of all others go
    first, second = (Table([number.get(pair[side], beyond) for pair in touch.names]) for side in (0, 1))
    sums = Scratch(SUMMED * (len(links) + 1), contacts.slots.found)

    def added(k: Scalar) -> list[Scalar]:
        met, total = contacts.slots[k], Force()
        f = [scale * x for x in forces(k)]
        for along, size in zip(directions(met, contacts.size), f, strict=True):
            total = total + along * size
        for at, sign in ((first[met.pair], -1.0), (second[met.pair], 1.0)):
            for j, x in enumerate((f[0], *(sign * y for y in total))):
                sums[at + float(j)] = sums[at + float(j)] + x
        return []

    if links:
        contacts.each([], added)
    return [[sums[number[link] + float(j)] for j in range(SUMMED)] for link in links]
