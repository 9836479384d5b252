"""A mechanism given as a graph of links and joints: which joints are cut, and the tree that is left.

Of all ways to cut as many joints as there are loops, one with the fewest constraints in the joints cut; among those,
one that cuts the fewest powered joints; then the joint given last. Joints are taken in that order, the last to cut
first, and each that would close a loop is cut: what remains is a spanning tree of greatest weight, so no other choice
is better.
Source: featherstone1987, section 9.4.
Differs from the source: joints that have to stay in the tree do, whatever they weigh: those that follow others or lead
them, and those whose class does not say how far a pose is from its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hinge.errors import ModelError, NotCovered, did_you_mean
from hinge.model.joints import _OnLine
from hinge.model.loops import joined
from hinge.model.mechanisms import Fixed
from hinge.model.model import JointData, Model
from hinge.spatial.linear3 import IDENTITY, ZERO

if TYPE_CHECKING:
    from hinge.model.build import Builder, _Joint


def build_closed(builder: Builder, loops: bool, powered: Sequence[str], **options: Any) -> Model:
    """The model of a builder whose joints make loops: a tree, and the joints that were cut as loop joints."""
    joints = builder._joints
    if not loops:
        raise ModelError("powered", f"powered={powered!r} was given without loops=True.", "Give both, or neither.")
    if isinstance(powered, str):
        raise ModelError("powered", f"powered={powered!r} is one name.", "Give a list of joint names.")
    for name in powered:
        if name not in joints:
            raise ModelError("unknown-joint", f"powered joint {name!r} does not exist.", did_you_mean(name, joints))
    tied = {j.name for j in joints.values() if j.mimic} | {j.mimic[0] for j in joints.values() if j.mimic}
    kept, cut = _spanned(list(joints.values()), set(powered), tied)
    tree = copy(builder)
    tree._findings = [*builder._findings]
    tree._joints = {j.name: j for j in _directed(_first(builder), kept)}
    for joint in cut:
        if replace(joint.data, where=JointData().where, reference=()) != JointData.unsaid(joint.joint):
            tree.finding("warning", "cut-joint", f"joint {joint.name!r} closes a loop: its limits, damping, friction, "
                         "stiffness, armature and rest are not kept.", "Name it in powered= to keep it in the tree, or "
                         "leave them out.", joint.where)  # fmt: skip
    model = tree.build(**options)
    for joint in cut:
        R, p = joint.seat
        places = [model.frame(joint.parent).then(joint.R, joint.p), model.frame(joint.child).then(R.T, R.T @ -p)]
        ends = joint.parent, joint.child
        model = joined(model, joint.name, joint.joint, ends, places, joint.name in powered)
    return model


def _spanned(joints: list[_Joint], powered: set[str], tied: set[str]) -> tuple[list[_Joint], list[_Joint]]:
    """The joints of the tree and those that are cut, each in the order given."""

    def reluctance(joint: _Joint) -> tuple[bool, int, bool]:
        return joint.name in tied or not _closes(joint), 6 - joint.joint.nv, joint.name in powered

    island: dict[str, str] = {}

    def of(link: str) -> str:
        while island.get(link, link) != link:
            link = island[link]
        return link

    cut: list[_Joint] = []
    for joint in sorted(joints, key=reluctance, reverse=True):  # a stable sort: the last given comes last
        one, other = of(joint.parent), of(joint.child)
        if one != other:
            island[one] = other
        elif reluctance(joint)[0]:
            raise ModelError("cycle", f"joint {joint.name!r} closes a loop and cannot be cut, nor can another of it.",
                             "It follows or leads another joint, or its kind closes no loop.", joint.where)  # fmt: skip
        else:
            cut.append(joint)
    gone = {joint.name for joint in cut}
    return [j for j in joints if j.name not in gone], [j for j in joints if j.name in gone]


def _closes(joint: _Joint) -> bool:
    try:
        joint.joint.gap(IDENTITY, ZERO)
    except NotCovered:
        return False
    return True


def _first(builder: Builder) -> str:
    """The root: the first link that no joint carries; in a ring the first of all."""
    carried = {joint.child for joint in builder._joints.values()}
    return next((name for name in builder._links if name not in carried), next(iter(builder._links), ""))


def _directed(root: str, joints: list[_Joint]) -> list[_Joint]:
    """The joints of a tree, all leading away from its root; in the order given."""
    away: dict[str, _Joint] = {}
    reached, left = {root}, list(joints)
    while left:
        ready = [j for j in left if (j.parent in reached) != (j.child in reached)]
        if not ready:
            return [away.get(j.name, j) for j in joints]  # parts that hang on nothing are refused when it is built
        for joint in ready:
            away[joint.name] = joint if joint.parent in reached else _reversed(joint)
            reached.add(away[joint.name].child)
        left = [j for j in left if j.name not in away]
    return [away[j.name] for j in joints]


def _reversed(joint: _Joint) -> _Joint:
    """The same joint seen from its child, with the same coordinate."""
    kind = joint.joint
    if not isinstance(kind, _OnLine | Fixed):
        raise ModelError("reversed", f"joint {joint.name!r} leads from {joint.parent!r} to {joint.child!r}, and the "
                         f"tree passes it backwards: a {kind.kind} joint cannot be turned around.",
                         "Swap its parent and child, or give the links in another order.", joint.where)  # fmt: skip
    (R, p), (S, s) = (joint.R, joint.p), joint.seat
    turned = replace(kind, axis=-kind.axis) if isinstance(kind, _OnLine) else kind
    return replace(joint, joint=turned, parent=joint.child, child=joint.parent, R=S.T, p=S.T @ -s, seat=(R.T, R.T @ -p))
