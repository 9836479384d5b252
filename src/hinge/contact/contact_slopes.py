"""Derivatives of a step with contacts: what they are by rows, and how near contacts are to where there are none.

Both laws find their answer by a loop, which derivatives do not go through: a step whose answer is held, with the
derivatives of the equations that it solves, is walked back over once for each number of the state at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hinge.contact.collision import searched
from hinge.contact.contact_model import ContactModel
from hinge.contact.slot_contacts import SlotContacts
from hinge.dynamics.slopes import weights_of_coordinates, weights_of_velocities
from hinge.errors import NotCovered
from hinge.graph import Scalar, Scratch, absolute, less, minimum, select
from hinge.graph.loops import traced
from hinge.graph.reverse import Reverse
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.status import NOT_SMOOTH, OK

SWITCH = 1e-6  # as a share of what they are compared with: what is nearer to a switch has no derivative
POINT = 1.0  # m: what gaps of contacts between points are compared with


def jacobian(
    model: Model, q: PerJoint, v: Flat, given: Sequence[Any], held: Sequence[Any] = ()
) -> tuple[Flat, Flat, Flat]:
    """A state once more, and its derivatives row by row: a velocity for each of q, then those of v.

    `given` are the nodes that they are taken by: a position, which has a column for each velocity, and others; what
    `held` are made of is not asked.
    """
    graph, nq, nv = given[0].graph, model.nq, model.nv
    walk = Reverse([*model.flat(q), *v], [*given, *held])
    end, width = walk.made, len(given) - nq + nv
    made = Scratch(2 * nv * width, given[0], zeros=False)

    def row(k: Scalar) -> tuple[Scalar, ...]:
        unit = [select(less(absolute(k - float(j)), 0.5), 1.0, 0.0) for j in range(2 * nv)]
        found = walk.pulled([*weights_of_coordinates(model, end[:nq], unit[:nv]), *unit[nv:]])
        for j, x in enumerate([*weights_of_velocities(model, given[:nq], found[:nq]), *found[nq : len(given)]]):
            made[k * float(width) + float(j)] = x
        return ()

    traced(graph, 2 * nv, 0, (), row, None)
    return end[:nq], end[nq:], [made[float(k)] for k in range(len(made))]


def refuse_curved(touch: ContactModel, model: Model) -> None:
    """Raise where a search finds contacts of curved shapes, which no corner that stays where it is speaks for."""
    pairs = touch.pairs(model)
    for row in searched(pairs):
        both = [pairs.shapes[i] for i in pairs.rows[row]]
        for one, other in (both, both[::-1]):
            if any(one.geometry.parts.radii):
                raise NotCovered(
                    f"derivatives: contacts of the {one.geometry.kind} on {one.name!r} with the {other.geometry.kind} "
                    f"on {other.name!r} are found by a search that has none.\n  Leave the pair out, or take a capsule, "
                    "a box or a mesh in its place."
                )


def lengths(touch: ContactModel, model: Model) -> list[float]:
    """A length of each pair: how far the smaller of its shapes reaches (m)."""
    shapes = touch.pairs(model).shapes
    return [min(shapes[i].reach for i in row) for row in touch.rows] or [POINT] * len(touch.contacts)


def smoothness(touch: ContactModel, model: Model, contacts: SlotContacts, margin: Scalar) -> Scalar:
    """Return the status of the derivatives of a step: OK, or NOT_SMOOTH where it is too near to a change of the law.

    `margin` is the distance as the law measures it; gaps are compared with the lengths of the shapes.
    """
    nearest = minimum(margin, contacts.gap_margin(lengths(touch, model)))
    return select(less(nearest, SWITCH), float(NOT_SMOOTH), float(OK))


def within_reach(touch: ContactModel, model: Model) -> ContactModel:
    """The same pairs, of which those are found too that are just not touching: they do nothing."""
    return replace(
        touch, within=tuple(x + SWITCH * size for x, size in zip(touch.within, lengths(touch, model), strict=True))
    )
