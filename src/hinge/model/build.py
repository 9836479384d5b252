"""The builder: links and joints by name, in any order, into a frozen model.

    builder = Builder("pendulum")
    builder.link("base")
    builder.link("rod", mass=1.0, com=(0, 0, -0.5), inertia=[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.01]])
    builder.joint("pivot", "revolute", "base", "rod", axis=(0, 1, 0))
    model = builder.build()

Robot files are read through it, so what cannot be a robot is refused here, by name and line, whoever wrote it.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from hinge.errors import NOWHERE, ModelError, Where, did_you_mean
from hinge.model.doctor import examine_joints, examine_link
from hinge.model.file_physics import FIRM, FilePhysics, JointPhysics, LeftOut
from hinge.model.joint_entries import JointEntry, LinkEntry, axis_direction, make_joint
from hinge.model.joint_laws import check_own
from hinge.model.joints import Free, Joint
from hinge.model.loops import joined
from hinge.model.mechanisms import Fixed
from hinge.model.model import Follow, Frame, JointData, LinkInertia, Model
from hinge.model.numbers import each, numbers
from hinge.model.report import Finding, Report
from hinge.model.shapes import Shape
from hinge.model.spanning import check_powered, spanning_tree
from hinge.model.symbols import is_symbolic, unknown
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import IDENTITY, Mat3, Vec3, cross3, dot3
from hinge.spatial.rotation import SNAP, shortest_turn, snapped_direction, snapped_rotation
from hinge.spatial.transform import Transform

EARTH, WORLD = (0.0, 0.0, -9.81), "world"
Triple = Sequence[float] | np.ndarray[Any, Any]
Rotation = Sequence[Sequence[float]] | np.ndarray[Any, Any]
NO_TURN: Rotation = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass
class _Growing:
    """The tree while it is being walked: one entry a body."""

    parent: list[int] = field(default_factory=lambda: [-1])
    joint: list[Joint] = field(default_factory=lambda: [Fixed()])
    placement: list[Transform] = field(default_factory=lambda: [Transform()])
    inertia: list[RigidInertia] = field(default_factory=lambda: [RigidInertia()])
    body_name: list[str] = field(default_factory=lambda: [WORLD])
    joint_name: list[str] = field(default_factory=lambda: [""])
    data: list[JointData] = field(default_factory=lambda: [JointData()])

    def body(self, parent: int, joint: Joint, placement: Transform, body: str, name: str, data: JointData) -> int:
        self.parent.append(parent)
        self.joint.append(joint)
        self.placement.append(placement)
        self.inertia.append(RigidInertia())
        self.body_name.append(body)
        self.joint_name.append(name)
        self.data.append(data)
        return len(self.parent) - 1


class Builder:
    """Collects links, joints and frames, and builds the model."""

    def __init__(self, name: str = "robot", gravity: Sequence[float] = EARTH, file: str = ""):
        self.name, self.file, self.snap, self.physics = name, file, SNAP, FilePhysics()
        self.gravity = numbers(f"robot {name!r}", "gravity", gravity, (3,), Where(file))
        self._links: dict[str, LinkEntry] = {}
        self._joints: dict[str, JointEntry] = {}
        self._frames: list[tuple[str, str, Mat3, Vec3, Where]] = []
        self._findings: list[Finding] = []
        self._snapped: list[str] = []
        self.left_out: list[LeftOut] = []  # what physics="file" does not simulate
        self.extras: dict[str, Any] = {}  # what a file says besides, kept in the model

    def link(self, name: str, mass: float = 0.0, com: Triple = (0.0, 0.0, 0.0),
             inertia: Rotation | None = None, shapes: Sequence[Shape] = (),
             where: Where = NOWHERE) -> None:  # fmt: skip
        """Add a link: mass in kg, centre of mass in m, 3×3 inertia about it in kg m², all in the link's own axes."""
        if name in self._links:
            first = self._links[name].where.line
            hint = f"The first one is at line {first}. " if first else ""
            raise ModelError("duplicate-link", f"there are two links named {name!r}.", f"{hint}Rename one.", where)
        what = f"link {name!r}"
        (m,) = numbers(what, "mass", [mass], (1,), where)
        c = numbers(what, "com", com, (3,), where)
        flat = (0.0,) * 9 if inertia is None else numbers(what, "inertia", inertia, (3, 3), where)
        rows = (flat[0:3], flat[3:6], flat[6:9])
        said, inertia_here = LinkInertia(m, c, rows), RigidInertia.at_com(m, Vec3(c), rows)
        self._links[name] = LinkEntry(name, said, inertia_here, tuple(shapes), where)
        if not unknown((m, *flat)) and (m or any(flat)):
            self._findings.extend(examine_link(name, m, np.array(rows), where))

    def joint(self, name: str, kind: str | Joint, parent: str, child: str, xyz: Triple = (0.0, 0.0, 0.0),
              rotation: Rotation = NO_TURN, axis: Triple | None = None,
              lower: Any = None, upper: Any = None, velocity: Any = None, effort: Any = None,
              damping: Any = 0.0, friction: Any = 0.0, stiffness: Any = 0.0, armature: Any = 0.0,
              child_xyz: Triple = (0.0, 0.0, 0.0), child_rotation: Rotation = NO_TURN,
              reference: Any = None, rest: Any = None,
              mimic: tuple[str, float, float] | None = None, data: Mapping[str, Any] | None = None, named: bool = True,
              where: Where = NOWHERE, physics: JointPhysics = FIRM, **parameters: Any) -> None:  # fmt: skip
        """Add a joint that carries link `child` on link `parent`.

        `xyz` (m) and `rotation` (its columns are the joint's axes) place the joint in the parent; `axis` is in joint
        coordinates. `child_xyz` and `child_rotation` place the child's frame on the moving side. Limits are in rad or
        m, rad/s or m/s, N m or N. `reference` is where the joint stands by default, `rest` where its spring is slack.
        `mimic` is (leader, ratio, offset). A fixed joint's name is a frame's too, unless it is not `named` in the file.
        """
        if name in self._joints:
            hint = f"The first one is at line {self._joints[name].where.line}. " if where.line else ""
            raise ModelError("duplicate-joint", f"there are two joints named {name!r}.", f"{hint}Rename one.", where)
        what = f"joint {name!r}"
        parameters |= {k: numbers(what, k, [x], (1,), where)[0] for k, x in parameters.items()
                       if isinstance(x, float) or is_symbolic(x)}  # fmt: skip
        p, child_p = (numbers(what, n, x, (3,), where) for n, x in (("xyz", xyz), ("child_xyz", child_xyz)))
        joint = kind if isinstance(kind, Joint) else make_joint(name, kind, axis, parameters, where)
        check_own(joint, where)
        if joint.about_z and axis is not None:
            upright = np.array(shortest_turn(snapped_direction(axis_direction(name, joint.kind, axis, where))))
            for label, given in (("rotation", rotation), ("child_rotation", child_rotation)):
                numbers(what, label, given, (3, 3), where)  # refuses what cannot be multiplied
            rotation, child_rotation = np.asarray(rotation) @ upright, upright.T @ np.asarray(child_rotation)
        sizes = {"lower": (joint.nq, -math.inf), "upper": (joint.nq, math.inf),
                 "velocity": (joint.nv, math.inf), "effort": (joint.nv, math.inf)}  # fmt: skip
        sizes |= dict.fromkeys(("damping", "friction", "stiffness", "armature"), (joint.nv, 0.0))
        said = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort, "damping": damping,
                "friction": friction, "stiffness": stiffness, "armature": armature}  # fmt: skip
        entries = {k: each(what, k, said[k], n, default, where) for k, (n, default) in sizes.items()}
        if mimic is not None:
            mimic = mimic[0], *numbers(what, "mimic ratio and offset", mimic[1:], (2,), where, False)
            if mimic[1] == 0.0:
                raise ModelError("ratio", f"{what} follows joint {mimic[0]!r} with ratio 0.",
                                 "It would not move: make it a fixed joint.", where)  # fmt: skip
        for low, high in zip(entries["lower"], entries["upper"], strict=True):
            if low > high:
                raise ModelError("limits", f"joint {name!r} has lower limit {low:g} above upper limit {high:g}.",
                                 "Swap them, or leave both out for a joint without limits.", where)  # fmt: skip
        for word in ("velocity", "effort"):
            if min(entries[word], default=0.0) < 0.0:
                raise ModelError("limits", f"{what} has {word} limit {min(entries[word]):g}, below zero.",
                                 "Write how much it may be in either direction, or leave it out.", where)  # fmt: skip
        R = self._snap(what, "rotation", name, rotation, where)
        seat = self._snap(what, "child_rotation", name, child_rotation, where), Vec3(child_p)
        terms = [x for k in ("damping", "friction", "stiffness", "armature") for x in entries[k]]
        if not unknown(terms) and min(terms, default=0.0) < 0.0:
            self.finding("error", "negative", f"{what} has negative damping, friction, stiffness or armature.",
                         "Give zero or more.", where)  # fmt: skip
        if joint.singular_at is not None:
            k, angle = joint.singular_at
            if entries["lower"][k] < angle < entries["upper"][k] or entries["lower"][k] < -angle < entries["upper"][k]:
                self.finding("warning", "singular", f"{what} can reach coordinate {k} = ±{angle:.4g}, where its axes "
                             "are dependent.", "Limit that coordinate, or use a spherical joint.", where)  # fmt: skip
        for label, value in (("reference", reference), ("rest", rest)):
            entries[label] = () if value is None else each(what, label, value, joint.nq, 0.0, where)
        made = JointData(**entries, other=dict(data or {}), where=where, physics=physics)
        self._joints[name] = JointEntry(name, joint, parent, child, R, Vec3(p), seat, made, mimic, where, named)

    def frame(self, name: str, link: str, xyz: Triple = (0.0, 0.0, 0.0),
              rotation: Rotation = NO_TURN, where: Where = NOWHERE) -> None:  # fmt: skip
        """Add a named frame on a link; `rotation` takes frame coordinates to the link's."""
        what = f"frame {name!r}"
        p, R = numbers(what, "xyz", xyz, (3,), where), self._snap(what, "rotation", name, rotation, where)
        self._frames.append((name, link, R, Vec3(p), where))

    def finding(self, severity: str, code: str, what: str, fix: str = "", where: Where = NOWHERE) -> None:
        """Put a finding into the model's report."""
        self._findings.append(Finding(severity, code, what, fix, where))

    def build(self, base: str = "fixed", mimic: str = "couple", strict: bool = False, loops: bool = False,
              powered: Sequence[str] = ()) -> Model:  # fmt: skip
        """The model: `base` "fixed" or "floating", `mimic` "couple" or "free"; `strict` refuses what has findings.

        With `loops` joints may make loops: those with the fewest constraints are cut, `powered` ones last.
        """
        if loops or powered:
            return self._build_closed(loops, powered, base=base, mimic=mimic, strict=strict)
        if base not in ("fixed", "floating"):
            raise ModelError("base", f'base="{base}" is not a kind of base.', 'Give base="fixed" or base="floating".')
        if mimic not in ("couple", "free"):
            raise ModelError("mimic", f'mimic="{mimic}" is not known.', 'Give mimic="couple" or mimic="free".')
        children = self._children()
        root = self._root(children)
        grown, frames, carried = self._grow(root, children, base)
        follows = self._follows(carried) if mimic == "couple" else {}
        report = self._report(grown, follows, strict)
        shapes = {link.name: link.shapes for link in self._links.values() if link.shapes}
        return Model(
            self.name, self.gravity, tuple(grown.parent), tuple(grown.joint), tuple(grown.placement),
            tuple(grown.inertia), tuple(grown.body_name), tuple(grown.joint_name), tuple(grown.data),
            frames, follows, shapes, report, self.file, physics=self.physics,
            links={link.name: link.said for link in self._links.values()}, extras=dict(self.extras),
            written={link.name: link.where for link in self._links.values() if link.where is not NOWHERE},
        )  # fmt: skip

    # reading what was given

    def _build_closed(self, loops: bool, powered: Sequence[str], **options: Any) -> Model:
        """Return the model of joints that make loops: a tree, and the joints that were cut as loop joints."""
        check_powered(loops, powered, self._joints)
        kept, cut = spanning_tree(list(self._links), list(self._joints.values()), set(powered))
        tree = copy(self)
        tree._findings = [*self._findings]
        tree._joints = {joint.name: joint for joint in kept}
        for joint in cut:
            if replace(joint.data, where=JointData().where, reference=()) != JointData.unsaid(joint.joint):
                tree.finding(
                    "warning",
                    "cut-joint",
                    f"joint {joint.name!r} closes a loop: its limits, damping, friction, stiffness, armature and rest "
                    "are not kept.",
                    "Name it in powered= to keep it in the tree, or leave them out.",
                    joint.where,
                )
        model = tree.build(**options)
        for joint in cut:
            R, p = joint.seat
            places = [model.frame(joint.parent).then(joint.R, joint.p), model.frame(joint.child).then(R.T, R.T @ -p)]
            ends = joint.parent, joint.child
            model = joined(model, joint.name, joint.joint, ends, places, joint.name in powered)
        return model

    def _snap(self, what: str, label: str, name: str, rotation: Rotation, where: Where) -> Mat3:
        given = Mat3(numbers(what, label, rotation, (3, 3), where))
        if given == IDENTITY:
            return IDENTITY
        if unknown(given):
            return given
        off = max(abs(g - e) for g, e in zip(given.T.times(given), IDENTITY, strict=True))
        if off > 1e-6 or dot3(cross3(given.column(0), given.column(1)), given.column(2)) < 0.0:
            raise ModelError("rotation", f"{what} has a {label} that is none: its columns are not orthogonal unit "
                             "vectors in right-handed order.", "Give a rotation matrix.", where)  # fmt: skip
        snapped = snapped_rotation(given, self.snap)
        if any(abs(a - b) > 1e-14 for a, b in zip(given, snapped, strict=True)):
            self._snapped.append(name)
        return snapped

    # the tree

    def _children(self) -> dict[str, list[JointEntry]]:
        children: dict[str, list[JointEntry]] = {name: [] for name in self._links}
        carrier: dict[str, JointEntry] = {}
        for joint in self._joints.values():
            for role, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in self._links:
                    raise ModelError("unknown-link", f"joint {joint.name!r} has {role} link {link!r}, which does not "
                                     "exist.", did_you_mean(link, self._links), joint.where)  # fmt: skip
            if joint.child in carrier:
                other = carrier[joint.child].name
                raise ModelError("two-parents", f"link {joint.child!r} is carried by joint {other!r} and by joint "
                                 f"{joint.name!r}.", "A link has one joint that carries it; close loops separately.",
                                 joint.where)  # fmt: skip
            carrier[joint.child] = joint
            children[joint.parent].append(joint)
        return children

    def _root(self, children: Mapping[str, Sequence[JointEntry]]) -> str:
        if not self._links:
            raise ModelError("empty", f"robot {self.name!r} has no links.", "Add at least one.", Where(self.file))
        carried = {joint.child for joint in self._joints.values()}
        roots = [name for name in self._links if name not in carried]
        if len(roots) > 1:
            shown = ", ".join(repr(r) for r in roots[:4]) + (", …" if len(roots) > 4 else "")
            raise ModelError("two-roots", f"links {shown} are carried by no joint.",
                             "A robot has one root: connect the others to it, with fixed joints if need be.",
                             self._links[roots[1]].where)  # fmt: skip
        reached, stack = set(roots), list(roots)
        while stack:
            for joint in children[stack.pop()]:
                reached.add(joint.child)
                stack.append(joint.child)
        lost = [joint for joint in self._joints.values() if joint.child not in reached]
        if lost:
            names = ", ".join(repr(j.name) for j in lost[:6]) + (", …" if len(lost) > 6 else "")
            raise ModelError("cycle", f"joints {names} lead back to where they start.",
                             "A robot is a tree; remove one joint of the cycle and close the loop separately.",
                             lost[0].where)  # fmt: skip
        return roots[0]

    def _grow(self, root: str, children: Mapping[str, Sequence[JointEntry]], base: str
              ) -> tuple[_Growing, dict[str, Frame], dict[int, JointEntry]]:  # fmt: skip
        """Walk the tree depth first; fixed joints add to the body they are on, others begin a body."""
        grown, carried = _Growing(), dict[int, JointEntry]()
        frames: dict[str, Frame] = {}
        welds: list[JointEntry] = []
        start = Frame(0)
        if base == "floating":
            taken = {joint.name for joint in self._joints.values()}
            data = JointData((-math.inf,) * 7, (math.inf,) * 7, (math.inf,) * 6, (math.inf,) * 6,
                             where=self._links[root].where)  # fmt: skip
            start = Frame(grown.body(0, Free(), Transform(), root, unused("base", taken), data))
        stack: list[tuple[JointEntry | None, Frame]] = [(None, start)]
        while stack:
            joint, at = stack.pop()
            name = root
            if joint is not None:
                name, at = joint.child, at.then(joint.R, joint.p)
                if joint.joint.nv:
                    at = Frame(grown.body(at.body, joint.joint, at.transform, name, joint.name, joint.data))
                    carried[at.body] = joint
                else:
                    welds.append(joint)
                at = at.then(*joint.seat)
            frames[name] = at
            grown.inertia[at.body] = grown.inertia[at.body] + at.transform.T @ self._links[name].inertia
            stack.extend((child, at) for child in reversed(children[name]))
        for weld in welds:
            frames.setdefault(weld.name if weld.named else weld.child, frames[weld.child])
        for name, link, R, p, where in self._frames:
            if name in frames:
                raise ModelError("duplicate-frame", f"frame {name!r} has the name of a link or another frame.",
                                 "Links, frames and sites share one name space: rename it.", where)  # fmt: skip
            if link not in self._links:
                raise ModelError("unknown-link", f"frame {name!r} is on link {link!r}, which does not exist.",
                                 did_you_mean(link, self._links), where)  # fmt: skip
            frames[name] = frames[link].then(R, p)
        return grown, frames, carried

    def _follows(self, carried: Mapping[int, JointEntry]) -> dict[int, Follow]:
        """Mimic joints, each led by a joint that follows no other."""
        number, made = {joint.name: i for i, joint in carried.items()}, dict[int, Follow]()
        for joint in carried.values():
            chain: dict[str, tuple[str, float, float]] = {}  # from a follower up to one that is made, or leads
            while joint.mimic is not None and number[joint.name] not in made:
                if (leader := joint.mimic[0]) not in number:
                    why = "does not move" if leader in self._joints else "does not exist"
                    what = f"joint {joint.name!r} mimics joint {leader!r}, which {why}; it is left to move by itself."
                    if not chain:  # said once
                        self.finding("error", "mimic", what, did_you_mean(leader, number), joint.where)
                    break
                chain[joint.name] = joint.mimic
                if leader in chain:
                    ring = " → ".join([*[*chain][[*chain].index(leader) :], leader])
                    raise ModelError("mimic-cycle", f"joint {joint.name!r} mimics itself: {ring}.",
                                     "One joint of the ring has to lead.", joint.where)  # fmt: skip
                joint = carried[number[leader]]
            for name, (leader, ratio, offset) in reversed(chain.items()):
                above = made.get(number[leader], Follow(number[leader], 1.0, 0.0))
                follower, leading = self._joints[name], carried[above.leader]
                for one in (follower, leading):
                    if not one.joint.is_single:
                        raise ModelError("mimic", f"joint {name!r} mimics joint {leading.name!r}, but {one.name!r} is "
                                         f"{one.joint.kind}.", "Only joints with one coordinate can lead or follow.",
                                         follower.where)  # fmt: skip
                made[number[name]] = Follow(above.leader, ratio * above.ratio, ratio * above.offset + offset)
        return dict(sorted(made.items()))

    def _report(self, grown: _Growing, follows: Mapping[int, Follow], strict: bool) -> Report:
        findings = list(self._findings)
        if self._snapped:
            names = ", ".join(repr(n) for n in self._snapped[:5]) + (", …" if len(self._snapped) > 5 else "")
            what = f"rotation entries within 1e-11 of 0 or ±1 were set to it, at {names}."
            findings.append(Finding("note", "snapped", what, where=Where(os.path.basename(self.file))))
        findings.extend(examine_joints(grown, {i: follow.leader for i, follow in follows.items()}))
        worst = next((f for f in findings if f.severity != "note"), None)
        if strict and worst is not None:
            raise ModelError(worst.code, worst.what, worst.fix, worst.where)
        return Report(tuple(findings))


def unused(name: str, taken: set[str]) -> str:
    """`name`, or name_2, name_3, … where it is taken: the first of them if they were taken in turn."""
    if name not in taken:
        return name
    power = next(p for p in count(1) if f"{name}_{2**p}" not in taken)
    k = bisect_left(range(2**power), True, lo=2, key=lambda k: f"{name}_{k}" not in taken)
    return f"{name}_{k}"
