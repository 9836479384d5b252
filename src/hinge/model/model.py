"""The frozen description of a robot that every algorithm reads.

Body 0 is the base, fixed in the world; a body's number is larger than its parent's. Joint i carries body i. Numbers
follow the robot file depth first. Nothing here changes after it is built, and nothing computed is kept here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np

from hinge.errors import NOWHERE, UnknownName, Where, did_you_mean
from hinge.graph.expr import Scalar
from hinge.graph.ops import less, select
from hinge.keys import digest_of, values_of
from hinge.model.clusters import Cluster, clusters
from hinge.model.file_physics import FIRM, PLAIN, FilePhysics, JointPhysics
from hinge.model.joints import Joint
from hinge.model.potentials import PerJoint, Potential
from hinge.model.report import Report
from hinge.model.shapes import Shape
from hinge.model.symbols import symbols_of, unknown
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Vec3, cross3
from hinge.spatial.transform import Rigid, Transform
from hinge.spatial.vectors import Force, Motion
from hinge.typing import Array, Term

TERMS: tuple[Term, ...] = get_args(Term)  # of JointData, what the dynamics are linear in
DIGEST = 1  # the version of `Model.digest`: another one for other values
NUMBERS = 10  # of a rigid body: mass, first moment, second moment


class Frame(NamedTuple):
    """A named place on a body: rotation (frame to body) and origin in the body's coordinates."""

    body: int
    R: Mat3 = IDENTITY
    p: Vec3 = ZERO

    @property
    def transform(self) -> Transform:
        """From the body's coordinates to the frame's."""
        return Transform(Rigid(self.R.T, self.p))

    def then(self, R: Mat3, p: Vec3) -> Frame:
        """The frame that stands at (R, p) in this one."""
        return Frame(self.body, self.R.times(R), self.p + self.R @ p)


class LinkInertia(NamedTuple):
    """What the file says of a link: mass, centre of mass, and inertia about it, in the link's frame."""

    mass: float
    com: tuple[float, ...]
    inertia: tuple[tuple[float, ...], ...]


class Follow(NamedTuple):
    """What a coupled joint does: coordinate = ratio × leader's coordinate + offset."""

    leader: int
    ratio: float
    offset: float


class Limits(NamedTuple):
    """Limits of the coordinates (rad, m), velocities and joint forces; infinite where the file gives none."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


@dataclass(frozen=True)
class JointData:
    """What the file says of a joint besides its geometry: positions an entry a coordinate, all else a velocity."""

    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    stiffness: tuple[float, ...] = ()
    armature: tuple[float, ...] = ()
    reference: tuple[float, ...] = ()  # the coordinates the file calls neutral; the joint's own where it says none
    rest: tuple[float, ...] = ()  # where the spring is slack; the reference where it says none
    other: Mapping[str, Any] = field(default_factory=dict, metadata={"key": "words of the file, kept to be written"})
    where: Where = field(default=NOWHERE, metadata={"key": "only messages name the line"})
    physics: JointPhysics = FIRM

    @classmethod
    def unsaid(cls, joint: Joint) -> JointData:
        """That of a joint of which nothing is said: it has no limits, and nothing resists it."""
        none, inf = (0.0,) * joint.nv, (math.inf,) * joint.nv
        return cls((-math.inf,) * joint.nq, (math.inf,) * joint.nq, inf, inf, none, none, none, none)


@dataclass(frozen=True, eq=False)
class Model:
    """A robot. Tuples have an entry a body, the base's first."""

    name: str
    gravity: tuple[float, ...]
    parent: tuple[int, ...]
    joint: tuple[Joint, ...]
    placement: tuple[Transform, ...]
    inertia: tuple[RigidInertia, ...]
    body_name: tuple[str, ...]
    joint_name: tuple[str, ...]
    data: tuple[JointData, ...]
    frames: Mapping[str, Frame]
    follows: Mapping[int, Follow] = field(default_factory=dict)
    shapes: Mapping[str, tuple[Shape, ...]] = field(
        default_factory=dict, metadata={"key": "programs about contact are traced from a ContactModel, which has them"}
    )
    report: Report = field(default_factory=Report, metadata={"key": "findings about the file"})
    file: str = field(default="", metadata={"key": "a path; meshes are read when a ContactModel is made"})
    links: Mapping[str, LinkInertia] = field(default_factory=dict)
    seats: tuple[tuple[Mat3, Vec3], ...] = ()  # of a re-framed model: its frames in the user's
    terms: frozenset[str] = frozenset({"armature"})  # what of JointData is in the dynamics
    extras: Mapping[str, Any] = field(default_factory=dict)  # what else the file says, kept and not computed with
    written: Mapping[str, Where] = field(  # where the file says what `links` has
        default_factory=dict, metadata={"key": "only messages name the line"}
    )
    loops: tuple[Any, ...] = ()  # joints that close a circuit: model/loops.py
    given: tuple[Scalar, ...] = ()  # of a model with varied numbers put in: these, in the order they were named
    potentials: tuple[Potential, ...] = ()  # of forces besides gravity
    physics: FilePhysics = PLAIN  # what an MJCF file says besides the tree

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.count} bodies, nq = {self.nq}, nv = {self.nv}>"

    @cached_property
    def digest(self) -> str:
        """A digest of the values that a run of the robot depends on, by which stores of results know it.

        It has no names of types and fields, so that stores outlive a change of these. Kernels have keys of their own:
        hinge/keys.py.
        """
        joints = [(joint.kind, joint) for joint in self.joint]
        seats = [self.frames.get(name) for name in self.body_name]
        loops = [(loop, [self.frames.get(f"{loop.name}.{side}") for side in "ab"]) for loop in self.loops]
        potentials = [one.told(self) for one in self.potentials]
        lifted = [(x, self.links[link], self.frames[link]) for link, x in self.extras.get("gravcomp", {}).items()]
        sites = [self.frames.get(one.target) for one in self.physics.actuators if one.on == "site"]
        tree = self.gravity, self.parent, joints, self.placement, self.inertia, self.follows, self.data, seats
        return digest_of(values_of((DIGEST, *tree, loops, potentials, self.physics, lifted, sites)))

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols it was built from, in alphabetical order."""
        return tuple(symbols_of(self))

    # the tree: λ, μ and ν of featherstone1987 7.2

    @property
    def count(self) -> int:
        """The number of moving bodies."""
        return len(self.parent) - 1

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Each body's successors."""
        made: list[list[int]] = [[] for _ in self.parent]
        for i, p in self.outward():
            made[p].append(i)
        return tuple(tuple(c) for c in made)

    @cached_property
    def subtree(self) -> tuple[frozenset[int], ...]:
        """Each body with everything it carries: (7.8)."""
        made: list[set[int]] = [{i} for i in range(len(self.parent))]
        for i, p in self.inward():
            made[p] |= made[i]
        return tuple(frozenset(s) for s in made)

    def outward(self) -> Iterator[tuple[int, int]]:
        """(body, parent), parents before children."""
        return ((i, self.parent[i]) for i in range(1, len(self.parent)))

    def inward(self) -> Iterator[tuple[int, int]]:
        """(body, parent), children before parents."""
        return ((i, self.parent[i]) for i in range(len(self.parent) - 1, 0, -1))

    def toward_base(self, i: int) -> Iterator[tuple[int, int]]:
        """(body, parent) from body i inward, as long as the parent moves."""
        while self.parent[i] > 0:
            yield i, self.parent[i]
            i = self.parent[i]

    def per_body(self, n: int) -> list[list[Any]]:
        """n empty columns with an entry a body."""
        return [[None] * len(self.parent) for _ in range(n)]

    def by_body(self, entries: Sequence[Any]) -> Sequence[Any]:
        return entries  # with an entry a body, to be read like a column

    # coordinates: joint coordinates are G q + c, where q is what the user gives

    @cached_property
    def leaders(self) -> tuple[int, ...]:
        """The bodies whose joints have coordinates of their own, in order."""
        return tuple(i for i, _ in self.outward() if i not in self.follows)

    @cached_property
    def nq(self) -> int:
        return sum(self.joint[i].nq for i in self.leaders)

    @cached_property
    def nv(self) -> int:
        return sum(self.joint[i].nv for i in self.leaders)

    @cached_property
    def slices(self) -> tuple[tuple[slice, slice], ...]:
        """Each joint's part of the user's q and qd; a follower's is its leader's."""
        made: list[tuple[slice, slice]] = [(slice(0, 0), slice(0, 0))] * len(self.parent)
        q = v = 0
        for i in self.leaders:
            joint = self.joint[i]
            made[i] = slice(q, q + joint.nq), slice(v, v + joint.nv)
            q, v = q + joint.nq, v + joint.nv
        for i, follow in self.follows.items():
            made[i] = made[follow.leader]
        return tuple(made)

    def joint_positions(self, q: Sequence[Scalar]) -> list[list[Scalar]]:
        """The coordinates of each joint: G q + c."""
        split = [list(q[at]) for at, _ in self.slices]
        for i, follow in self.follows.items():
            split[i] = [follow.ratio * x + follow.offset for x in split[i]]
        return split

    def joint_velocities(self, qd: Sequence[Scalar]) -> list[list[Scalar]]:
        """The velocities of each joint: G qd. Accelerations go the same way."""
        split = [list(qd[at]) for _, at in self.slices]
        for i, follow in self.follows.items():
            split[i] = [follow.ratio * x for x in split[i]]
        return split

    def flat(self, per_joint: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """The entries of the joints that lead, one after the other: the user's coordinates, or velocities."""
        return [x for i in self.leaders for x in per_joint[i]]

    def generalised_forces(self, tau: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """Joint forces gathered onto the user's coordinates: Gᵀ tau."""
        total: list[Scalar] = [0.0] * self.nv
        for i, _ in self.outward():
            ratio, at = self.ratio(i), self.slices[i][1].start
            for k, force in enumerate(tau[i]):
                total[at + k] = total[at + k] + ratio * force
        return total

    def generalised_matrix(self, blocks: Mapping[tuple[int, int], Sequence[Sequence[Scalar]]]) -> list[list[Scalar]]:
        """The matrix Gᵀ A G over the user's velocities, from the blocks of A that are not zero."""
        total: list[list[Scalar]] = [[0.0] * self.nv for _ in range(self.nv)]
        for (i, j), rows in blocks.items():
            ratio = self.ratio(i) * self.ratio(j)
            top, left = self.slices[i][1].start, self.slices[j][1].start
            for r, row in enumerate(rows):
                for c, entry in enumerate(row):
                    total[top + r][left + c] = total[top + r][left + c] + ratio * entry
        return total

    def generalised_columns(self, columns: Sequence[Sequence[Motion]]) -> list[Motion]:
        """The motions J G made by each of the user's velocities, from those made by each joint's."""
        total = [Motion()] * self.nv
        for i, _ in self.outward():
            ratio, at = self.ratio(i), self.slices[i][1].start
            for k, motion in enumerate(columns[i]):
                total[at + k] = total[at + k] + motion * ratio
        return total

    @property
    def in_terms(self) -> tuple[tuple[str, int, int], ...]:
        """(term, body, velocity of its joint) for each number of the joints that `terms` puts into the dynamics."""
        names = [name for name in TERMS if name in self.terms]
        return tuple((name, i, k) for name in names for i, _ in self.outward() for k in range(self.joint[i].nv))

    @property
    def parameter_count(self) -> int:
        """How many numbers of bodies and joints the dynamics are linear in."""
        return NUMBERS * self.count + len(self.in_terms)

    def joint_label(self, body: int | None = None) -> Callable[[int], str]:
        """A function that names the joint entry k belongs to: of that body's velocities, or of all."""
        owner = [body] * self.joint[body].nv if body else [i for i in self.leaders for _ in range(self.joint[i].nv)]
        return lambda k: f"joint {self.joint_name[owner[k] or 0]!r}"

    @cached_property
    def clusters(self) -> tuple[Cluster, ...]:
        """The bodies that move together, in clusters; those that are coupled to none are alone."""
        return clusters(self)

    def ratio(self, i: int) -> float:
        """How fast joint i moves for each unit of the user's velocity."""
        return self.follows[i].ratio if i in self.follows else 1.0

    @property
    def coupling(self) -> Array:
        """G: joint velocities from the user's, joints in depth-first order."""
        bodies = [i for i, _ in self.outward()]
        G, row = np.zeros((sum(self.joint[i].nv for i in bodies), self.nv)), 0
        for i in bodies:
            at, ratio = self.slices[i][1].start, self.ratio(i)
            for k in range(self.joint[i].nv):
                G[row, at + k] = ratio
                row += 1
        return G

    @property
    def coupling_offset(self) -> Array:
        """c: the joint coordinates where the user's are zero."""
        bodies = [i for i, _ in self.outward()]
        offsets = [self.follows[i].offset if i in self.follows else 0.0 for i in bodies]
        return np.repeat(np.array(offsets, float), [self.joint[i].nq for i in bodies])

    @cached_property
    def loop_rows(self) -> int:
        """How many constraints the loops impose: r."""
        return sum(loop.size for loop in self.loops)

    @cached_property
    def powered(self) -> tuple[Any, ...]:
        """The loops whose joints have actuators."""
        return tuple(loop for loop in self.loops if loop.powered)

    # what the algorithms read besides the tree

    @property
    def gravity_motion(self) -> Motion:
        """The acceleration of free fall, in base coordinates."""
        return Motion(ZERO, Vec3(self.gravity))

    def neutral(self, i: int) -> Sequence[float]:
        """The coordinates at which joint i stands by default: what the file calls its reference, or zero."""
        return self.data[i].reference or self.joint[i].neutral()

    def slack(self, i: int) -> Sequence[float]:
        """The coordinates at which the spring of joint i, if it has one, makes no force."""
        return self.data[i].rest or self.neutral(i)

    def armature(self, i: int) -> tuple[float, ...]:
        """Rotor inertia felt along each velocity of joint i, after its gear (kg m² or kg), where `terms` has it."""
        return self._term(i, "armature")

    def resistance(self, i: int, q: PerJoint, qd: PerJoint) -> list[Scalar]:
        """What of the force of joint i potentials take, and its damping, friction and spring so far as `terms` has."""
        made, terms = [0.0] * self.joint[i].nv, {name: self._term(i, name) for name in TERMS[1:]}
        if any(unknown(term) or any(term) for term in terms.values()):
            taken = [self.taken(name, i, term, q[i], qd[i]) for name, term in terms.items()]
            made = [d + f + k for d, f, k in zip(*taken, strict=True)]
        for one in self.potentials:
            made = [a + b for a, b in zip(made, one.force(self, i, q), strict=True)]
        return made

    def taken(self, term: str, i: int, sizes: Sequence[Scalar], q: Sequence[Scalar], qd: Sequence[Scalar],
              qdd: Sequence[Scalar] = ()) -> list[Scalar]:  # fmt: skip
        """What armature, damping, friction or stiffness of those sizes takes of the forces of joint i."""
        if term == "stiffness":
            return self.joint[i].spring(self.slack(i), q, sizes)[1]
        sign = [select(less(0.0, x), 1.0, select(less(x, 0.0), -1.0, 0.0)) for x in qd]
        felt = {"armature": qdd, "damping": qd, "friction": sign}[term]
        return [size * x for size, x in zip(sizes, felt, strict=True)]

    def stored(self, i: int, q: Sequence[Scalar]) -> Scalar:
        """The energy in the spring of joint i, so far as `terms` has it."""
        return self.joint[i].spring(self.slack(i), q, self._term(i, "stiffness"))[0]

    def _term(self, i: int, name: str) -> tuple[float, ...]:
        return (getattr(self.data[i], name) if name in self.terms else ()) or (0.0,) * self.joint[i].nv

    def in_user_frame(self, i: int, f: Force) -> Force:
        """A force on body i in the coordinates of the frame that has the body's name."""
        frame = self.frames[self.body_name[i]]
        return Force(frame.R.T @ (f.ang - cross3(frame.p, f.lin)), frame.R.T @ f.lin)

    def frame(self, name: str) -> Frame:
        """The frame of that name: a link, a frame or a site; "world" is the base where nothing else is called so."""
        if isinstance(name, str) and (name in self.frames or name == self.body_name[0]):
            return self.frames.get(name, Frame(0))
        raise UnknownName(f"robot {self.name!r} has no body or frame {name!r}. {did_you_mean(name, self.frames)}")

    def joint_number(self, name: str) -> int:
        """The number of the moving joint of that name, which is its body's."""
        try:
            return self._joint_numbers[name]
        except KeyError:
            known = did_you_mean(name, self._joint_numbers)
            raise UnknownName(f"robot {self.name!r} has no moving joint {name!r}. {known}") from None

    @cached_property
    def _joint_numbers(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.joint_name) if i}
