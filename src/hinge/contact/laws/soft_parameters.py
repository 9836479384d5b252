"""What gives way in the soft law, as data: pairs of shapes, limits, dry friction, couplings, and frames held together.

    pair = SoftPair(first=0, second=4, weight=(0.2, 3.0), friction=(0.8, 0.8, 0.02, 0.01, 0.01), condim=6)
    law = SoftParameters(pairs=(pair,), inertia=30.0)

Numbers mean what they mean in MJCF files. A weight says how much what is pushed gives way at the reference
configuration: 1/kg of a point, 1/(kg m²) of a turn, the mean over directions, both sides added.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.surfaces import frictions, rows_of
from hinge.dynamics.composite import composite
from hinge.dynamics.kinematics import axes_in_base, poses
from hinge.dynamics.solve import LDL
from hinge.errors import NotCovered
from hinge.graph import Scalar, inner, total
from hinge.model import Model
from hinge.model.file_physics import Softness
from hinge.model.symbols import unknown
from hinge.spatial import IDENTITY, ZERO, Mat3, MotionSpace, Vec3, cross3

Numbers = tuple[float, ...]


SLIPPERY = 1e-5  # the least friction


SOFT = Softness()  # as soft as what says nothing


@dataclass(frozen=True)
class SoftPair:
    """Two shapes that may touch: their bodies, and the numbers of their contacts."""

    first: int
    second: int
    weight: tuple[Scalar, Scalar]  # of points, of turns
    condim: int = 3
    friction: tuple[Scalar, ...] = (1.0, 1.0, 0.005, 0.0001, 0.0001)  # two sliding, one spinning, two rolling
    softness: Softness = SOFT
    solreffriction: Numbers = (0.0, 0.0)  # of friction in an elliptic cone; zeros: that of the normal
    margin: float = 0.0  # m: the gap below which there is a force

    def surfaced(self, given: Mapping[str, Scalar]) -> SoftPair:
        """The pair with other friction, and rows for it."""
        friction = frictions(self.friction[: self.condim - 1], given)
        return replace(self, friction=friction, condim=max(self.condim, rows_of(friction)))


def has_limit(limit: Scalar) -> bool:
    """Return whether there is such a limit, or may be, where it is an input."""
    return unknown((limit,)) or math.isfinite(limit)


class Length(NamedTuple):
    """A sum of coordinates: one of a joint, or several of a fixed tendon."""

    parts: tuple[tuple[int, int, float], ...]  # coordinate, velocity, coefficient
    reference: float = 0.0


@dataclass(frozen=True)
class SoftLimit:
    """A length that stays within a range."""

    length: Length
    lower: Scalar
    upper: Scalar
    weight: Scalar
    softness: Softness = SOFT
    margin: float = 0.0


@dataclass(frozen=True)
class SoftTurn:
    """A ball joint that turns by an angle at most: its first coordinate and velocity."""

    q: int
    v: int
    most: float
    weight: Scalar
    softness: Softness = SOFT
    margin: float = 0.0


@dataclass(frozen=True)
class SoftFriction:
    """A length that dry friction of a given size (N m or N) resists."""

    length: Length
    size: Scalar
    weight: Scalar
    softness: Softness = SOFT


@dataclass(frozen=True)
class SoftCoupling:
    """A length that is a polynomial of another, both from their references; alone it is the first coefficient."""

    length: Length
    other: Length | None
    coefficients: Numbers
    weight: Scalar
    softness: Softness = SOFT


class Seat(NamedTuple):
    """A place on a link or frame of the model."""

    frame: str
    R: Mat3 = IDENTITY
    p: Vec3 = ZERO


@dataclass(frozen=True)
class SoftHold:
    """Two places that stay together; with `turning`, a length (m), also their axes."""

    one: Seat
    two: Seat
    weight: tuple[Scalar, Scalar]
    softness: Softness = SOFT
    turning: float = 0.0


@dataclass(frozen=True)
class SoftParameters:
    """All that gives way on a robot, and how well the forces are found."""

    pairs: tuple[SoftPair, ...] = ()
    limits: tuple[SoftLimit, ...] = ()
    turns: tuple[SoftTurn, ...] = ()
    frictions: tuple[SoftFriction, ...] = ()
    couplings: tuple[SoftCoupling, ...] = ()
    holds: tuple[SoftHold, ...] = ()
    cone: str = "pyramidal"  # or "elliptic"
    impratio: float = 1.0
    inertia: Scalar = 1.0  # the trace of the mass matrix at the reference configuration
    tolerance: float = 1e-8
    iterations: int = 100
    line_iterations: int = 50

    @property
    def gain(self) -> float:
        """What a step has to improve the cost by, so that there is another."""
        return self.tolerance


class Weights:
    """How a robot gives way at its reference configuration."""

    def __init__(self, model: Model, simple: bool = False):
        """Weights of a robot; with `simple`, those of MuJoCo for bodies that only slide along their own axes."""
        self.sliding = _sliding(model) if simple else {}
        q = [list(model.neutral(i)) if i else [] for i in range(len(model.parent))]
        self.model, (self.R, self.r) = model, poses(model, q)
        self.axes = axes_in_base(model, q, self.R, self.r)
        self.inertia, self.inverse = self._inverted(composite(model, q))
        self.link = cache(self._link)

    def _inverted(self, H: Sequence[Sequence[Scalar]]) -> tuple[Scalar, Array]:
        """The trace of the mass matrix and its inverse, of nodes where numbers of the model are inputs."""
        model = self.model
        if any(map(unknown, H)):
            factor = LDL(H, model.joint_label())
            columns = [factor.solve([float(i == k) for i in range(model.nv)]) for k in range(model.nv)]
            return total(H[k][k] for k in range(model.nv)), np.array(columns, object)
        made = np.array(H, float).reshape(model.nv, model.nv)
        try:
            return float(np.trace(made)), np.linalg.inv(made)
        except np.linalg.LinAlgError:
            raise NotCovered(
                f"contacts: something of robot {model.name!r} moves without mass: its mass matrix is singular.\n"
                "  Give all that moves a mass or an inertia, or its joint an armature."
            ) from None

    def _link(self, name: str) -> tuple[Scalar, Scalar]:
        """Of a link: of its centre of mass, and of turns; zeros where it stands still."""
        model, frame = self.model, self.model.frame(name)
        centre = Vec3(tuple(model.links[name].com)) if name in model.links else ZERO
        at = self.R[frame.body] @ (frame.R @ centre + frame.p) + self.r[frame.body]
        path = [S if i and frame.body in model.subtree[i] else MotionSpace() for i, S in enumerate(self.axes)]
        columns = [[*s.ang, *(s.lin + cross3(s.ang, at))] for s in model.generalised_columns(path)]
        if frame.body in self.sliding:
            return 1.0 / self.sliding[frame.body], 0.0
        if self.inverse.dtype == object:
            rows = [[column[k] for column in columns] for k in range(6)]
            squares = [self._square(row) for row in rows]
            return total(squares[3:]) / 3.0, total(squares[:3]) / 3.0
        J = np.array(columns, float).reshape(-1, 6)
        each = np.einsum("ik,ij,jk->k", J, self.inverse, J)
        return float(each[3:].mean()), float(each[:3].mean())

    def _square(self, row: Sequence[Scalar]) -> Scalar:
        """J H⁻¹ Jᵀ of a row of nodes."""
        return inner(row, [inner(column, row) for column in self.inverse.tolist()])

    def velocities(self, i: int) -> list[Scalar]:
        """Of the velocities of joint i: of three turns or shifts the mean over directions."""
        own = np.diag(self.inverse)[self.model.slices[i][1]].tolist()
        if i in self.sliding:
            return [1.0 / self.sliding[i]]
        return own if len(own) % 3 else [sum(own[k - k % 3 :][:3]) / 3.0 for k in range(len(own))]

    def length(self, length: Length) -> Scalar:
        """Of a sum of coordinates."""
        J = np.zeros(self.model.nv)
        for _, v, c in length.parts:
            J[v] += c
        return self._square(J.tolist()) if self.inverse.dtype == object else float(J @ self.inverse @ J)


def _sliding(model: Model) -> dict[int, Scalar]:
    """Return the masses of bodies that MuJoCo calls simple and that only slide, by the bodies of their joints.

    Such a body stands in the world, carries nothing, has its center of mass and its axes of inertia where its frame is,
    and slides along these axes. MuJoCo then takes its mass for the inertia of each of its joints.
    """
    made: dict[int, Scalar] = {}
    for end, _ in model.outward():
        path = [end]
        while model.parent[path[-1]]:
            path.append(model.parent[path[-1]])
        links = [name for name in model.links if model.frames[name].body == end]
        said = model.links[links[0]] if len(links) == 1 else None
        if said is None or not (unknown((said.mass,)) or said.mass):
            continue
        alone = not model.children[end] and all(len(model.children[i]) == 1 for i in path[1:])
        above = [(model.inertia[i].m, *model.inertia[i].I) for i in path[1:]]
        bare = not any(unknown(numbers) or any(numbers) for numbers in above)
        axes = [model.joint[i].line for i in path if model.joint[i].kind == "prismatic"]
        along = len(axes) == len(path) and all(
            axis is not None and sorted(map(abs, axis)) == [0, 0, 1] for axis in axes
        )
        off = [*said.com, *(x for i, row in enumerate(said.inertia) for j, x in enumerate(row) if i != j)]
        if not (alone and bare and along):
            continue
        if unknown(off):
            raise NotCovered(
                f"link {links[0]!r} only slides, and the soft law depends on whether its center of mass and axes of "
                "inertia are those of its frame.\n  Do not vary these, or use law='rigid'."
            )
        if not any(off):
            made |= dict.fromkeys(path, said.mass)
    return made
