"""What contacts do to links: the sum of normal forces that a touch sensor reads, and the wrench of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.contact.contact_model import ContactModel
from hinge.contact.slot_rows import directions
from hinge.contact.slots import Slots
from hinge.graph import Scalar, Scratch, Table
from hinge.spatial import Force

SUMMED = 7  # numbers of a link: its normal forces, and a wrench


def link_forces(
    touch: ContactModel,
    links: Sequence[str],
    slots: Slots,
    forces: Callable[[Scalar], Sequence[Scalar]],
    size: int,
) -> list[list[Scalar]]:
    """For each of these links the sum of its normal forces, and [couple; force] on it in base coordinates.

    `forces` are those of a contact on its second link, along its normal and tangents, of which there are `size`.
    """
    number = {link: float(SUMMED * k) for k, link in enumerate(links)}
    beyond = float(SUMMED * len(links))  # where sums of all others go
    first, second = (Table([number.get(pair[side], beyond) for pair in touch.names]) for side in (0, 1))
    sums = Scratch(SUMMED * (len(links) + 1), slots.found)

    def added(k: Scalar) -> list[Scalar]:
        met, f, total = slots[k], forces(k), Force()
        for along, much in zip(directions(met, size), f, strict=True):
            total = total + along * much
        for at, sign in ((first[met.pair], -1.0), (second[met.pair], 1.0)):
            for j, x in enumerate((f[0], *(sign * y for y in total))):
                sums[at + float(j)] = sums[at + float(j)] + x
        return []

    if links:
        slots.each([], added)
    return [[sums[number[link] + float(j)] for j in range(SUMMED)] for link in links]
