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

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hinge.errors import ModelError, NotCovered, did_you_mean
from hinge.model.joint_entries import JointEntry
from hinge.model.joints import OnLine
from hinge.model.mechanisms import Fixed
from hinge.spatial.linear3 import IDENTITY, ZERO


def check_powered(loops: bool, powered: Sequence[str], joints: Mapping[str, JointEntry]) -> None:
    """Refuse names of powered joints that are no joints, and names without loops=True."""
    if not loops:
        raise ModelError("powered", f"powered={powered!r} was given without loops=True.", "Give both, or neither.")
    if isinstance(powered, str):
        raise ModelError("powered", f"powered={powered!r} is one name.", "Give a list of joint names.")
    for name in powered:
        if name not in joints:
            raise ModelError("unknown-joint", f"powered joint {name!r} does not exist.", did_you_mean(name, joints))


def spanning_tree(
    links: Sequence[str], joints: list[JointEntry], powered: set[str]
) -> tuple[list[JointEntry], list[JointEntry]]:
    """Return the joints of the tree, all leading away from its root, and the joints that are cut."""
    tied = {j.name for j in joints if j.mimic} | {j.mimic[0] for j in joints if j.mimic}
    kept, cut = _spanned(joints, powered, tied)
    return _directed(_first(links, joints), kept), cut


def _spanned(joints: list[JointEntry], powered: set[str], tied: set[str]) -> tuple[list[JointEntry], list[JointEntry]]:
    """The joints of the tree and those that are cut, each in the order given."""

    def reluctance(joint: JointEntry) -> tuple[bool, int, bool]:
        return joint.name in tied or not _closes(joint), 6 - joint.joint.nv, joint.name in powered

    island: dict[str, str] = {}

    def of(link: str) -> str:
        while island.get(link, link) != link:
            link = island[link]
        return link

    cut: list[JointEntry] = []
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


def _closes(joint: JointEntry) -> bool:
    try:
        joint.joint.gap(IDENTITY, ZERO)
    except NotCovered:
        return False
    return True


def _first(links: Sequence[str], joints: Sequence[JointEntry]) -> str:
    """The root: the first link that no joint carries; in a ring the first of all."""
    carried = {joint.child for joint in joints}
    return next((name for name in links if name not in carried), next(iter(links), ""))


def _directed(root: str, joints: list[JointEntry]) -> list[JointEntry]:
    """The joints of a tree, all leading away from its root; in the order given."""
    away: dict[str, JointEntry] = {}
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


def _reversed(joint: JointEntry) -> JointEntry:
    """The same joint seen from its child, with the same coordinate."""
    kind = joint.joint
    if not isinstance(kind, OnLine | Fixed):
        raise ModelError("reversed", f"joint {joint.name!r} leads from {joint.parent!r} to {joint.child!r}, and the "
                         f"tree passes it backwards: a {kind.kind} joint cannot be turned around.",
                         "Swap its parent and child, or give the links in another order.", joint.where)  # fmt: skip
    (R, p), (S, s) = (joint.R, joint.p), joint.seat
    turned = replace(kind, axis=-kind.axis) if isinstance(kind, OnLine) else kind
    return replace(joint, joint=turned, parent=joint.child, child=joint.parent, R=S.T, p=S.T @ -s, seat=(R.T, R.T @ -p))
