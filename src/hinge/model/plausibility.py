"""What could be and is odd: numbers that a real robot hardly has, and the slip of the pen that makes them.

A rule is a function from a model to findings. `hinge.check` asks them all; loading a robot asks none, so that it stays
fast and strict=True refuses only what is certain. A rule that cannot know keeps silent: what a mesh looks like is not
known here, and neither is what is true of links so slight that the body they are part of does not feel them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from hinge.errors import NOWHERE, Where
from hinge.model.doctor import POINT, examine_link
from hinge.model.model import LinkInertia, Model
from hinge.model.report import Finding
from hinge.model.shapes import Shape
from hinge.typing import Array

FELT = 0.01  # of a body's mass or inertia; a link with less is a marker, and what it says does not matter
BEYOND = 3.0  # times as large as it can be, before a shape is taken to be that of the link
DENSEST = 22_600.0  # kg/m³, osmium: no matter is denser
FAR = 100.0  # m; robots are smaller, and millimetres make them a thousand times as large
HEAVY, LIGHT = 100.0, 1e-6  # of the mass of all other moving bodies
DEGREES = 720.0  # the most that anybody means by degrees
COPIES = 3  # links with one inertia and different masses, before it looks copied
UNALIKE = 1.5  # how much their masses differ


def examine(model: Model) -> list[Finding]:
    """Everything that is odd about a robot that can be."""
    return [finding for rule in RULES for finding in rule(model)]


# ---- what the rules measure with -------------------------------------------------------------------------------------


def reach(model: Model) -> float:
    """How far from the base anything is that the file places, with the arm stretched out."""
    along = [0.0] * len(model.parent)
    for i, p in model.outward():
        along[i] = along[p] + math.hypot(*model.placement[i].pose()[1])
    links = [0.0]
    for name, frame in model.frames.items():
        out = max([math.hypot(*s.xyz) + (radius(s) or 0.0) for s in model.shapes.get(name, ())], default=0.0)
        links.append(along[frame.body] + math.hypot(*frame.p) + out)
    return max(links)


def radius(shape: Shape) -> float | None:
    """Of the ball around a shape; None for a mesh, which is not opened."""
    return shape.geometry.reach if shape.size and shape.geometry is not None else None


def _extent(model: Model, name: str) -> float | None:
    """How far from its centre of mass a link reaches; None where it has no shapes, or one of unknown size."""
    com, shapes = model.links[name].com, model.shapes.get(name, ())
    sizes = [radius(shape) for shape in shapes]
    if not shapes or None in sizes:
        return None
    return max(math.dist(shape.xyz, com) + (size or 0.0) for shape, size in zip(shapes, sizes, strict=True))


def _links(model: Model) -> Iterator[tuple[str, LinkInertia, Array, Where]]:
    """The links that have mass, can be at all, and matter to the body they are part of."""
    for name, link in model.links.items():
        if link.mass <= 0.0:
            continue
        inertia, whole = np.array(link.inertia), model.inertia[model.frames[name].body]
        felt = FELT * max(_ball(whole.m), *map(abs, whole.I))
        if (link.mass >= FELT * whole.m or _largest(inertia) >= felt) and not examine_link(
            "", link.mass, inertia, NOWHERE
        ):
            yield name, link, inertia, model.written.get(name, NOWHERE)


def _ball(mass: float) -> float:
    """The least inertia that a body of this mass has: that of a ball of the densest matter, 2/5 m r²."""
    r = (3.0 * max(mass, 0.0) / (4.0 * math.pi * DENSEST)) ** (1 / 3)
    return 0.4 * mass * r * r


def _largest(inertia: Array) -> float:
    return float(np.linalg.eigvalsh((inertia + inertia.T) / 2)[-1])


def _gyration(inertia: Array, mass: float) -> float:
    """The radius at which the mass would have the largest inertia: no part of a body is nearer than its farthest."""
    return math.sqrt(max(_largest(inertia), 0.0) / mass)


def _parallel(link: LinkInertia) -> Array:
    """What moving the axes from the centre of mass to the link's origin adds to the inertia."""
    c = np.array(link.com)
    return link.mass * (float(c @ c) * np.eye(3) - np.outer(c, c))


def _joints(model: Model, *kinds: str) -> Iterator[tuple[str, int, float, float]]:
    """Name, number and limits of the joints of one coordinate of these kinds."""
    for i, _ in model.outward():
        if model.joint[i].kind in kinds and len(model.data[i].lower) == 1:
            yield model.joint_name[i], i, model.data[i].lower[0], model.data[i].upper[0]


def _named(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


# ---- links -----------------------------------------------------------------------------------------------------------


def unit_inertia(model: Model) -> Iterator[Finding]:
    """Inertias of 1, 1, 1: what editors put there by default."""
    for name, link, inertia, where in _links(model):
        if np.array_equal(inertia, np.eye(3)):
            k = _gyration(inertia, link.mass)
            yield Finding("warning", "unit-inertia", f"link {name!r} has inertia 1, 1, 1 kg m², which looks like a "
                          f"default: with {link.mass:g} kg it is a radius of gyration of {k:.2g} m.",
                          "Give that of the link, from its drawing or from a box of its size.", where)  # fmt: skip


def oversized_inertia(model: Model) -> Iterator[Finding]:
    """More inertia than the mass has within the link's shapes, or within the whole robot: I ≤ m r²."""
    whole = reach(model) if model.count else math.inf
    for name, link, inertia, where in _links(model):
        k, extent = _gyration(inertia, link.mass), _extent(model, name)
        within, size = ("the robot reaches", whole) if extent is None else ("its shapes reach", BEYOND * extent)
        if k <= size or size == 0.0 or np.array_equal(inertia, np.eye(3)):
            continue
        moved = inertia - _parallel(link)
        fix = f"With {link.mass:g} kg at most {link.mass * (size / (BEYOND if extent else 1.0)) ** 2:.2g} kg m² fit."
        if any(link.com) and _largest(moved) > 0.0 and _gyration(moved, link.mass) <= size:
            fix += " It fits if it was taken about the link's origin: URDF wants it about the centre of mass."
        yield Finding("warning", "oversized-inertia", f"link {name!r} has inertia {_largest(inertia):.3g} kg m² with "
                      f"{link.mass:g} kg: a radius of gyration of {k:.2g} m, where {within} "
                      f"{size / (BEYOND if extent else 1.0):.2g} m.", fix, where)  # fmt: skip


def too_dense(model: Model) -> Iterator[Finding]:
    """Less inertia than the smallest ball of that mass has, or none."""
    for name, link, inertia, where in _links(model):
        ball, mean = _ball(link.mass), float(np.trace(inertia)) / 3.0
        if (
            np.abs(inertia).max() <= POINT * link.mass
            and link.mass >= 10 * FELT * model.inertia[model.frames[name].body].m
        ):
            yield Finding("warning", "point-mass", f"link {name!r} has {link.mass:g} kg and no inertia: it is a point.",
                          f"A body of that mass has at least {ball:.2g} kg m².", where)  # fmt: skip
        elif POINT * link.mass < mean < ball:
            yield Finding("warning", "too-dense", f"link {name!r} has {link.mass:g} kg with a mean inertia of "
                          f"{mean:.2g} kg m², which no matter is dense enough for.",
                          f"A body of that mass has at least {ball:.2g} kg m².", where)  # fmt: skip


def copied_inertia(model: Model) -> Iterator[Finding]:
    """One inertia in several links whose masses differ."""
    same: dict[tuple[tuple[float, ...], ...], list[str]] = {}
    for name, link, inertia, _ in _links(model):
        if np.any(inertia) and not np.array_equal(inertia, np.eye(3)):
            same.setdefault(link.inertia, []).append(name)
    for names in same.values():
        masses = [model.links[name].mass for name in names]
        if len(names) >= COPIES and max(masses) >= UNALIKE * min(masses):
            yield Finding("note", "copied-inertia", f"{len(names)} links have the same inertia and masses from "
                          f"{min(masses):g} to {max(masses):g} kg: {_named(names)}.",
                          "Check that it was not copied.", model.written.get(names[0], NOWHERE))  # fmt: skip


def odd_mass(model: Model) -> Iterator[Finding]:
    """A body with next to all, or next to nothing, of the mass that moves."""
    total = sum(inertia.m for inertia in model.inertia[1:])
    carried = [sum(model.inertia[j].m for j in below) for below in model.subtree]
    for i, p in model.outward():
        m, name = model.inertia[i].m, model.body_name[i]
        where = model.written.get(name, NOWHERE)
        if m > HEAVY * (total - m) > 0.0:
            yield Finding("warning", "heavy", f"body {name!r} has {m:g} kg, all others that move {total - m:g} kg "
                          "together.", "Masses are in kg: check the unit.", where)  # fmt: skip
        elif 0.0 < carried[i] < LIGHT * total and (p == 0 or carried[p] >= LIGHT * total):
            yield Finding("warning", "light", f"body {name!r} has, with all it carries, {carried[i]:g} kg of the "
                          f"robot's {total:g} kg.", "Masses are in kg: check the unit.", where)  # fmt: skip


def weightless(model: Model) -> Iterator[Finding]:
    """Links between two joints that have neither mass nor inertia; those that carry nothing are told by the doctor."""
    own = [any((I.m, *I.I, *data.armature)) for I, data in zip(model.inertia, model.data, strict=True)]
    carried = [False] * len(own)
    for i, p in model.inward():
        carried[p] |= own[i] or carried[i]
    found = [i for i, _ in model.outward() if carried[i] and not own[i] and model.body_name[i] in model.links]
    if found:
        yield Finding("note", "weightless", f"body {_named([model.body_name[i] for i in found])} has neither mass nor "
                      "inertia and carries others.", "Give it what it weighs, or see that its joint is not in line "
                      "with the next: there forces have no acceleration.", model.data[found[0]].where)  # fmt: skip


def far_away(model: Model) -> Iterator[Finding]:
    """Places too far out for a robot: millimetres, or a centre of mass in the wrong frame."""
    fix = "Lengths are in metres: divide millimetres by 1000."
    for i, _ in model.outward():
        away = math.hypot(*model.placement[i].pose()[1])
        if away > FAR:
            yield Finding("warning", "millimetres", f"joint {model.joint_name[i]!r} is {away:g} m away from the body "
                          "it is on.", fix, model.data[i].where)  # fmt: skip
    whole = reach(model) if model.count else math.inf
    for name, link, _, where in _links(model):
        away = math.hypot(*link.com)
        if away > FAR:
            yield Finding(
                "warning", "millimetres", f"link {name!r} has its centre of mass {away:g} m away.", fix, where
            )
        elif away > 2.0 * whole > 0.0:
            yield Finding("warning", "far-com", f"link {name!r} has its centre of mass {away:.3g} m away, the robot "
                          f"reaches {whole:.3g} m.", "It is given in the link's own frame: check its origin and "
                          "unit.", where)  # fmt: skip


# ---- joints ----------------------------------------------------------------------------------------------------------


def degrees(model: Model) -> Iterator[Finding]:
    """Limits such as -90, 180 where radians are meant; round powers of ten say that there is no limit."""
    for name, i, lower, upper in _joints(model, "revolute"):
        large = max(abs(lower), abs(upper))
        whole = lower % 5.0 == 0.0 and upper % 5.0 == 0.0
        if 2.0 * math.pi < large <= DEGREES and whole and large not in (10.0, 100.0):
            yield Finding("warning", "degrees", f"joint {name!r} has limits {lower:g} and {upper:g} rad, which look "
                          "like degrees.", f"In radians they are {math.radians(lower):.4f} and "
                          f"{math.radians(upper):.4f}.", model.data[i].where)  # fmt: skip


def long_slide(model: Model) -> Iterator[Finding]:
    """A gripper that opens by 40 m; slides on the world, and on such slides, are for driving about."""
    whole, driving = reach(model), {0}
    for name, i, lower, upper in _joints(model, "prismatic"):
        travel, large = upper - lower, max(abs(lower), abs(upper))
        round_number = math.log10(large).is_integer() if large > 0.0 else True
        if model.parent[i] in driving:
            driving.add(i)
        elif 10.0 * whole < travel < 1e4 and travel > 5.0 and not round_number:
            yield Finding("warning", "millimetres", f"joint {name!r} slides by {travel:g} m, the robot reaches "
                          f"{whole:.3g} m.", "Lengths are in metres: divide millimetres by 1000.",
                          model.data[i].where)  # fmt: skip


def cannot_move(model: Model) -> Iterator[Finding]:
    """A range of motion of nothing; that a <limit> is empty has been told by the reader."""
    told = " ".join(finding.what for finding in model.report if finding.code == "empty-limit")
    for i, _ in model.outward():
        name, data = model.joint_name[i], model.data[i]
        if any(low == high for low, high in zip(data.lower, data.upper, strict=True)) and repr(name) not in told:
            yield Finding("warning", "locked", f"joint {name!r} has the same lower and upper limit.",
                          "Make it fixed, continuous if it turns freely, or give it room to move.",
                          data.where)  # fmt: skip


def cannot_be_driven(model: Model) -> Iterator[Finding]:
    """Limits of velocity or effort that are zero."""
    for word, code in (("velocity", "zero-velocity"), ("effort", "zero-effort")):
        none = [i for i, _ in model.outward() if 0.0 in getattr(model.data[i], word)]
        if none:
            names = _named([model.joint_name[i] for i in none])
            yield Finding("note", code, f"the {word} limit is 0 at joint {names}, so that nothing may drive "
                          "them.", "Give what the motor can, or leave the limit out.",
                          model.data[none[0]].where)  # fmt: skip


def neutral_outside(model: Model) -> Iterator[Finding]:
    """A neutral position that the limits forbid: many programs begin there."""
    out: list[int] = []
    for i in model.leaders:
        triple = zip(model.data[i].lower, model.neutral(i), model.data[i].upper, strict=True)
        if any(not low <= x <= high for low, x, high in triple):
            out.append(i)
    if out:
        yield Finding("note", "neutral-outside", "robot.neutral() is outside the limits of joint "
                      f"{_named([model.joint_name[i] for i in out])}.", "Begin elsewhere: robot.random_state gives "
                      "positions within the limits.", model.data[out[0]].where)  # fmt: skip


RULES: tuple[Callable[[Model], Iterator[Finding]], ...] = (
    unit_inertia, oversized_inertia, too_dense, copied_inertia, odd_mass, weightless, far_away, degrees, long_slide,
    cannot_move, cannot_be_driven, neutral_outside,
)  # fmt: skip
