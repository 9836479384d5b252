"""A model as robot files have it: links by name, each standing on another by a joint whose axis is in its own frame.

A model has bodies; each is one or more links, and its frame is the joint's, which need not be the link's. Everything
on a body is placed here relative to the link that has the body's name. Where the joint is seen the same from that
link's frame, S⁻¹ J S, nothing else is needed; where it is not, a link without mass called BODY(JOINT) carries the joint
and the link is fixed to it. A joint of several freedoms that a format has no word for becomes simpler ones on such
links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import NamedTuple

from hinge.errors import NotCovered
from hinge.formats.write.notes import Notes
from hinge.model.build import unused
from hinge.model.joints import Joint, OnLine
from hinge.model.mechanisms import Fixed
from hinge.model.model import Frame, JointData, LinkInertia, Model
from hinge.model.potentials import refuse
from hinge.model.shapes import Shape
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Vec3, cross3, sym3
from hinge.spatial.rotation import SNAP, snapped_direction, snapped_rotation
from hinge.spatial.transform import Rigid, Transform

Pose = tuple[Mat3, Vec3]
HOME: Pose = (IDENTITY, ZERO)
NO_DATA, WELD = JointData(), Fixed()
DATA = ("lower", "upper", "reference", "rest", "velocity", "effort", "damping", "friction", "stiffness", "armature")
FAR = 1e9  # stands for no limit where a format wants one; an angle beyond it has no sine
SLACK = 1e-13  # relative: links whose sum differs from the body by no more are the body
DUST = 1e-14  # relative: a line that passes a point no farther away passes through it


class Inertia(NamedTuple):
    """Mass, centre of mass, and (xx, yy, zz, yz, xz, xy) about it, in the link's frame."""

    mass: float
    com: Vec3
    moments: tuple[float, ...]

    @property
    def nothing(self) -> bool:
        return self.mass == 0.0 and not any(self.moments)


WEIGHTLESS = Inertia(0.0, ZERO, (0.0,) * 6)


@dataclass(frozen=True)
class Part:
    """A link, and the joint it stands on its parent by; the root has no parent."""

    name: str
    parent: str
    pose: Pose = HOME  # of the joint in the parent link's frame
    joint: Joint = WELD
    joint_name: str = ""  # fixed joints have none yet
    data: JointData = NO_DATA
    mimic: tuple[str, float, float] | None = None
    inertia: Inertia = WEIGHTLESS
    shapes: tuple[Shape, ...] = ()
    helper: bool = False  # not in the model
    of: tuple[int, tuple[int, ...]] = (0, ())  # the body in the model, and the joint's coordinates there it has


def reference(part: Part) -> float:
    """Where a joint of one coordinate stands by default."""
    return part.data.reference[0] if part.data.reference and part.joint.is_single else 0.0


def note_helper(part: Part, notes: Notes) -> None:
    """Say that a link had to be put in, where it is written."""
    if part.helper and part.parent:
        why = f"the file has a link {part.name!r} without mass for it, which the robot has not."
        notes.add("note", "helper-link", "joint", part.joint_name, why)


class Tree(NamedTuple):
    """The parts in the order of the file, parents first, and the frames that are no links: (name, link, pose)."""

    parts: list[Part]
    frames: list[tuple[str, str, Pose]]


def tree(model: Model, spelled: Sequence[str], notes: Notes, suffix: str) -> Tree:
    """The links and joints of a model; `spelled` has the kinds of joint the format has a word for."""
    refuse(model, f"a {suffix} file")
    planted = _Planting(model, spelled, notes, suffix)
    planted.grow()
    made = _in_file_order(planted.parts)
    order = list(dict.fromkeys(part.of[0] for part in made if part.of[0]))
    if order != sorted(order):
        late = next(model.joint_name[b] for a, b in pairwise(order) if b < a)
        why = "a file has coordinates depth first; reading it back gives them in another order."
        notes.add("warning", "order", "joint", late, why, "Find them with robot.coordinates(joint).")
    return Tree(made, planted.frames)


class _Planting:
    """A tree while it is grown from a model."""

    def __init__(self, model: Model, spelled: Sequence[str], notes: Notes, suffix: str) -> None:
        self.model, self.spelled, self.notes, self.suffix = model, spelled, notes, suffix
        self.names, self.joints = set(model.frames), set(model.joint_name[1:])
        self.on: list[list[str]] = [[] for _ in model.parent]  # the names on each body
        for name, frame in model.frames.items():
            self.on[frame.body].append(name)
        self.body_name = [self.link_of(i) for i in range(len(model.parent))]
        self.parts: list[Part] = []
        self.frames: list[tuple[str, str, Pose]] = []
        ends = ((e.first, e.second, e.links) for e in model.physics.equalities)
        self.carriers = {name: link for *sites, links in ends for name, link in zip(sites, links, strict=True)}
        self.standing: list[list[tuple[str, Frame]]] = []  # of each body: the links on it so far, its own first

    def grow(self) -> None:
        self.root()
        for i, p in self.model.outward():
            self.carry(i, p)

    def place(self, i: int, frame: Frame, name: str) -> tuple[str, Pose]:
        """The link of body i that something is best placed by, and where it stands there.

        It is the body's own, unless the rotation there has entries so small that a reader takes them for zero; then it
        is the first link where it has none, such as the one it was read on. A site of an equality is best placed by the
        link that the file has it on, whose weight counts.
        """
        own = self.carriers.get(name)
        standing = sorted(self.standing[i], key=lambda one: one[0] != own)
        poses = ((link, _relative(seat, frame)) for link, seat in standing)
        first = next(poses)
        if _survives(first[1]):
            return first
        other = next((one for one in poses if _survives(one[1])), None)
        if other is None:
            why = f"a rotation to it has entries below {SNAP:g}, which are read as zero."
            self.notes.add("note", "snapped", "link", name, why)
        return other or first

    # ---- bodies

    def link_of(self, i: int) -> str:
        """The link that a body's joint is for: the one of its name, or that which a BODY(JOINT) was put in for."""
        name, end = self.model.body_name[i], f"({self.model.joint_name[i]})"
        link = name.removesuffix(end)
        carrier = self.model.links.get(name)
        if link == name or link not in self.on[i] or link not in self.model.links or carrier is None:
            return name
        if not _said(carrier).nothing or name in self.model.shapes or self.model.frames[name] != Frame(i):
            return name
        self.on[i].remove(name)
        self.names.remove(name)
        return link

    def root(self) -> None:
        """The base: the first link that stands where the base does, or one without mass called "world".

        Joints are placed by the next such link, if that one is bare: by base_link rather than by the world.
        """
        model = self.model
        at_home = [name for name in self.on[0] if name in model.links and model.frames[name] == Frame(0)]
        made = not at_home
        if made:
            at_home = [unused("world", self.names)]
            self.names.add(at_home[0])
        name = at_home[0]
        inertia = WEIGHTLESS if made else _said(model.links[name])
        self.parts.append(Part(name, "", inertia=inertia, shapes=model.shapes.get(name, ()), helper=made))
        self.fix(0, name, Frame(0))
        bare = inertia.nothing and name not in model.shapes
        if bare and len(at_home) > 1 and not any(model.joint[i].kind == "free" for i in model.children[0]):
            self.standing[0].sort(key=lambda standing: standing[0] != at_home[1])

    def carry(self, i: int, p: int) -> None:
        """The joint of a body, the link that has its name, and what is fixed to that."""
        model = self.model
        name, seat = self.body_name[i], model.frames[self.body_name[i]]
        inner, seen = Frame(p, *model.placement[i].pose()), _seen_from(model.joint[i], (seat.R, seat.p))
        parent, at = self.place(p, inner if seen is None else inner.then(seat.R, seat.p), name)
        steps = self.steps(i, seen or model.joint[i])
        for k, (step, joint, data, which) in enumerate(steps, start=1):
            last = k == len(steps)
            if last and seen is None:  # A J1 J2 S = A J1 S (S⁻¹ J2 S)
                seen = _seen_from(joint, (seat.R, seat.p))
                if seen is not None:
                    joint, at = seen, _pose(Frame(i, *at).then(seat.R, seat.p))
            helper = not last or seen is None
            link = self.helper(name, step) if helper else name
            made = Part(link, parent, at, joint, step, data, self.mimic(i), helper=helper, of=(i, which))
            self.parts.append(made)
            parent, at = link, HOME
        if seen is None:
            self.parts.append(Part(name, parent, _pose(seat)))
        whole = self.whole(i)
        own = whole or (_said(model.links[name]) if name in model.links else WEIGHTLESS)
        self.parts[-1] = replace(self.parts[-1], inertia=own, shapes=model.shapes.get(name, ()))
        self.fix(i, name, seat, weightless=whole is not None)

    def fix(self, i: int, name: str, seat: Frame, weightless: bool = False) -> None:
        """What else is on a body, placed by its link: other links, and frames."""
        model = self.model
        self.standing.append([(name, seat)])
        for other in self.on[i]:
            if other == name:
                continue
            frame = model.frames[other]
            parent, pose = self.place(i, frame, other)
            if other in model.links:
                inertia = WEIGHTLESS if weightless else _said(model.links[other])
                self.parts.append(Part(other, parent, pose, inertia=inertia, shapes=model.shapes.get(other, ())))
                self.standing[i].append((other, frame))
            else:
                self.frames.append((other, parent, pose))

    # ---- joints

    def steps(self, i: int, joint: Joint) -> list[tuple[str, Joint, JointData, tuple[int, ...]]]:
        """The joint as joints that the format has a word for: name, joint, data, and which coordinates it has."""
        name, data = self.model.joint_name[i], self.model.data[i]
        plain = len(fields(joint)) == (joint.line is not None)  # numbers of its own no file has
        if not joint.is_ours and not (joint.kind in self.spelled and plain):
            raise NotCovered(f"joint {name!r} is of a class of your own, {joint.kind!r}: no file can say it.")
        if joint.kind in self.spelled:
            return [(name, joint, data, tuple(range(joint.nq)))]
        simple = joint.chain()
        if not simple or any(one.kind not in self.spelled for one, _ in simple):
            can = " A .toml file can, where the robot is an arm." if joint.dh else ""
            raise NotCovered(f"joint {name!r} is {joint.kind}, which a {self.suffix} file has no word for.{can}")
        made = list[tuple[str, Joint, JointData, tuple[int, ...]]]()
        for k, (one, at) in enumerate(simple, start=1):
            step = unused(f"{name}_{k}", self.joints)
            self.joints.add(step)
            made.append((step, one, picked(data, at), at))
        listed = ", ".join(repr(step) for step, _, _, _ in made)
        self.notes.add("note", "split", "joint", name, f"it is {joint.kind}, and is written as the joints {listed}.")
        order = [k for _, at in simple for k in at]
        if order != sorted(order):
            why = f"of its coordinates [0, 1, 2] the joints it is written as have {order}."
            self.notes.add("warning", "order", "joint", name, why, "Order q and qd of the robot read back accordingly.")
        return made

    def helper(self, body: str, joint: str) -> str:
        name = unused(f"{body}({joint})", self.names)
        self.names.add(name)
        return name

    def mimic(self, i: int) -> tuple[str, float, float] | None:
        follow = self.model.follows.get(i)
        return None if follow is None else (self.model.joint_name[follow.leader], follow.ratio, follow.offset)

    # ---- inertias

    def whole(self, i: int) -> Inertia | None:
        """All the inertia of a body, in its link's frame, where its links do not add up to it; else None."""
        model, name = self.model, self.body_name[i]
        total = RigidInertia()
        for link in self.on[i]:
            if link in model.links:
                said = model.links[link]
                here = RigidInertia.at_com(said.mass, Vec3(said.com), said.inertia)
                total = total + model.frames[link].transform.T @ here
        if _same(total, model.inertia[i]):
            return None
        why = "the inertia of all on the body is written here, because it is not the sum of what was said of its links."
        self.notes.add("note", "inertia", "link", name, why)
        R, p = model.frames[name].R, model.frames[name].p
        moved = Transform(Rigid(R, -(R.T @ p))).T @ model.inertia[i]
        if moved.m == 0.0 and any(moved.h):
            raise NotCovered(f"link {name!r} has a first moment of mass but no mass: no file can say it.")
        return Inertia(moved.m, moved.com, tuple(moved.about_com)) if moved.m else Inertia(0.0, ZERO, tuple(moved.I))


def _said(link: LinkInertia) -> Inertia:
    return Inertia(link.mass, Vec3(link.com), tuple(sym3(link.inertia)))


def _same(a: RigidInertia, b: RigidInertia) -> bool:
    """Whether two inertias differ by rounding only."""
    reach = max(map(abs, (*b.I, *b.h, b.m)))
    pairs = zip((a.m, *a.h, *a.I), (b.m, *b.h, *b.I), strict=True)
    return all(abs(x - y) <= SLACK * reach for x, y in pairs)


# ---- joints and places -----------------------------------------------------------------------------------------------


def _seen_from(joint: Joint, seat: Pose) -> Joint | None:
    """The joint in the coordinates of a frame fixed to its outer side, S⁻¹ J S; None where it is not of its kind there.

    A joint with a line is, where the line passes through that frame's origin; one that only slides is in any case.
    """
    R, p = seat
    if seat == HOME:
        return joint
    if not isinstance(joint, OnLine):
        return None
    off = cross3(joint.axis, p)
    turns = any(any(motion.ang) for motion in joint.axes([0.0] * joint.nq))
    if turns and max(map(abs, off)) > DUST * max(map(abs, p)):
        return None
    return replace(joint, axis=snapped_direction(R.T @ joint.axis))


def _relative(seat: Frame, frame: Frame) -> Pose:
    """Where a frame of a body stands in another of the same body."""
    if seat.R == IDENTITY and seat.p == ZERO:
        return _pose(frame)
    return _pose(Frame(0, seat.R.T.times(frame.R), seat.R.T @ (frame.p - seat.p)))


def _pose(frame: Frame) -> Pose:
    return snapped_rotation(frame.R), frame.p


def _survives(pose: Pose) -> bool:
    """Whether a reader that takes small entries of a rotation for zero leaves this one."""
    return not any(0.0 < abs(x) < SNAP for x in pose[0])


def picked(data: JointData, at: Sequence[int]) -> JointData:
    """What is said of some of a joint's coordinates, whose rates are its velocities."""
    kept = {name: tuple(getattr(data, name)[k] for k in at) for name in DATA if getattr(data, name)}
    return replace(data, **kept, other={})  # type: ignore[arg-type]


# ---- order -----------------------------------------------------------------------------------------------------------


def _in_file_order(parts: Sequence[Part]) -> list[Part]:
    """Depth first, as a nested file has them; links without joints beyond them first, others in the joints' order."""
    first: dict[str, int] = {}  # the first body of the model on each link, or beyond it
    for part in reversed(parts):
        first[part.name] = part.of[0] or first.get(part.name, 0)
        if first[part.name]:
            first[part.parent] = min(first[part.name], first.get(part.parent, first[part.name]))
    below: dict[str, list[Part]] = {}
    for part in sorted(parts[1:], key=lambda part: first[part.name]):
        below.setdefault(part.parent, []).append(part)
    made, stack = list[Part](), [parts[0]]
    while stack:
        made.append(stack.pop())
        stack.extend(reversed(below.get(made[-1].name, ())))
    return made
