"""The limbs of a robot: chains of joints between the places where its tree branches."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from hinge.model.coasting import FREE
from hinge.model.model import Model

APART = r"\s_\-./:"  # what is between words of a name


class Limb(NamedTuple):
    """A chain of bodies, from the trunk outwards, and the joints in it that have coordinates of their own."""

    name: str
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    labels: tuple[str, ...]  # the joints' names without the words that all of them have
    last: bool  # whether nothing branches off at its end


def limbs(model: Model) -> list[Limb]:
    """All limbs with coordinates, trunk first. A body on a free joint is one of its own.

    A limb is called by the words that its joints' names begin with, and its first and last joint.

    >>> from hinge.viewing.limbs import limbs
    >>> [one.name for one in limbs(hinge.samples.puma560().model)]
    ['joint1 … joint6']
    """
    made: list[Limb] = []
    starts = list(reversed(model.children[0]))
    while starts:
        chain = [starts.pop()]
        while len(model.children[chain[-1]]) == 1 and model.joint[chain[-1]].nv < FREE:
            chain.append(model.children[chain[-1]][0])
        ends = model.children[chain[-1]]
        starts += reversed(ends)
        joints = tuple(i for i in chain if i in model.leaders and model.joint[i].nq)
        if joints:
            name, labels = _named([model.joint_name[i] for i in joints])
            taken = {limb.name for limb in made}
            name = name if name not in taken else f"{name} ({model.body_name[chain[-1]]})"
            made.append(Limb(name, tuple(chain), joints, labels, not ends))
    return made


def tips(model: Model) -> list[str]:
    """The ends of the limbs at which nothing branches off: of the last body's frames the one farthest out."""
    made = []
    for body in (limb.bodies[-1] for limb in limbs(model) if limb.last):
        away = {name: sum(float(x) ** 2 for x in frame.p) for name, frame in model.frames.items() if frame.body == body}
        made.append(max([model.body_name[body], *away], key=lambda name: away.get(name, 0.0)))
    return made


def _named(names: list[str]) -> tuple[str, tuple[str, ...]]:
    """What joints are called together, and each among them."""
    if len(names) == 1:
        return names[0], tuple(names)
    head = "".join(_shared([re.findall(f"[^{APART}]*[{APART}]+", name) for name in names]))
    tail = "".join(reversed(_shared([re.findall(f"[{APART}]+[^{APART}]*", name)[::-1] for name in names])))
    short = tuple(name[len(head) : len(name) - len(tail)] or name for name in names)
    ends = f"{short[0]} … {short[-1]}"
    return (f"{re.sub(f'[{APART}]+$', '', head)}: {ends}" if head else ends), short


def _shared(rows: list[list[str]]) -> list[str]:
    """The words that all rows begin with."""
    return [column[0] for column in takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))]
