"""The shape types. A shape is one class here and nothing anywhere else; making the class registers it.

Its sizes are its fields, in m and as URDF has them: radii, and whole edges and lengths, along z and about its middle.
A class says what it holds (`solid`, `shell`), how far it reaches in a direction (`parts`, `rounding`), how it is drawn
(`triangles`), and how the file formats spell it. `Shape` is what a file says of one: its role and where it is, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import hypot, inf, pi
from typing import Any, ClassVar

import numpy as np

from hinge.errors import ModelError, did_you_mean
from hinge.model import meshes
from hinge.model.file_physics import Surface
from hinge.model.moments import Moments, centred, joined
from hinge.model.support import Parts
from hinge.typing import Array, Whole

Drawing = tuple[Array, Whole]
SHAPES: dict[str, type[Geometry]] = {}
ROLES = ("visual", "collision")
AROUND = 24  # sides of what is drawn round


@dataclass(frozen=True)
class Shape:
    """A visual or collision shape, where it is on its link, remembered as the file says it and not loaded."""

    role: str
    kind: str
    size: tuple[float, ...] = ()
    file: str = ""
    xyz: tuple[float, ...] = (0.0, 0.0, 0.0)
    rotation: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    name: str = ""
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    rgba: tuple[float, ...] | None = None
    surface: Surface | None = None  # how it touches, where the file says
    heights: Any = None  # of terrain: see height_fields.py

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ModelError("shape-role", f"a shape has the role {self.role!r}.", did_you_mean(self.role, ROLES))

    def key_rows(self) -> tuple[Any, ...]:
        """Return the class that its kind selects."""
        return (SHAPES.get(self.kind),)

    @property
    def geometry(self) -> Geometry | None:
        """Its type with its sizes; None where the kind has no class, or other sizes."""
        known = SHAPES.get(self.kind)
        return None if known is None or len(self.size) != len(known.sizes()) else known.of(self)


@dataclass(frozen=True)
class Geometry:
    """A shape in its own frame: the sum of its parts, with a ball of radius `rounding` around each point of it."""

    kind: ClassVar[str]
    urdf: ClassVar[str] = ""  # how the file formats spell it
    mjcf: ClassVar[str] = ""
    halves: ClassVar[tuple[float, ...]] = ()  # MuJoCo's size over ours: 1 for a radius, 0.5 for an edge or a length

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ours = SHAPES.get(cls.kind)
        if ours is not None and ours.__module__ == __name__ != cls.__module__:
            what = f"class {cls.__name__} has kind {cls.kind!r}, which is hinge's own."
            raise ModelError("shape-type", what, "Rename it.")
        cls.urdf, cls.mjcf = (cls.__dict__.get(word, "") for word in ("urdf", "mjcf"))  # a word is one class's alone
        SHAPES[cls.kind] = cls

    @classmethod
    def sizes(cls) -> tuple[str, ...]:
        """What its sizes are called."""
        return cls.__match_args__  # the names of its fields

    @classmethod
    def of(cls, shape: Shape) -> Geometry | None:
        """One as a model remembers it."""
        return cls(*shape.size)

    @classmethod
    def urdf_attributes(cls) -> Mapping[str, int]:
        """The attributes of its element in URDF, and how many numbers each has."""
        return dict.fromkeys(cls.sizes(), 1)

    @classmethod
    def from_mjcf(cls, size: Sequence[float]) -> tuple[float, ...]:
        """Its sizes from MuJoCo's."""
        return tuple(s / half for s, half in zip(size, cls.halves, strict=True))

    @cached_property
    def mjcf_size(self) -> tuple[float, ...]:
        """MuJoCo's sizes: radii, and halves of edges and lengths."""
        return tuple(getattr(self, name) * half for name, half in zip(self.sizes(), self.halves, strict=True))

    @classmethod
    def fitted(cls, x: float, y: float, z: float, by_box: bool) -> tuple[float, ...]:
        """MuJoCo's sizes of the one that stands for a mesh: x, y, z are half the edges of a box.

        It is the box around the mesh or, without `by_box`, the one that has its inertia.
        """
        return x, y, z

    def solid(self) -> Moments:
        """What it holds, for unit density."""
        raise NotImplementedError(f"a {self.kind} has no volume")

    def shell(self) -> Moments:
        """The same of its surface alone."""
        raise NotImplementedError(f"a {self.kind} has no surface that ends")

    @cached_property
    def corners(self) -> Array:
        """Its corners, or their centres where it is rounded, (n, 3); none where it is round otherwise."""
        return np.empty((0, 3))

    @property
    def rounding(self) -> float:
        """The radius of the ball that goes around its core."""
        return 0.0

    @cached_property
    def parts(self) -> Parts:
        """Box, ellipsoid and hull of points that it is the sum of; the hull of its drawing where it says none."""
        return Parts(points=self.corners if len(self.corners) else self.triangles()[0])

    @cached_property
    def reach(self) -> float:
        """The radius of a ball around its origin that holds it."""
        return float(np.linalg.norm(self.corners, axis=1).max()) + self.rounding

    def core(self, d: Array) -> Array:
        """The farthest points in directions d (…, 3), rounding left out."""
        return self.parts.core(d)

    def support(self, d: Array) -> Array:
        """The farthest points in directions d (…, 3).

        >>> Capsule(0.1, 1.0).support(np.array([0.0, 0.0, 2.0]))
        array([0. , 0. , 0.6])
        """
        return self.core(d) + self.rounding * d / np.linalg.norm(d, axis=-1, keepdims=True)

    def triangles(self, around: int = AROUND) -> Drawing:
        """How it is drawn: vertices (n, 3) and triangles (m, 3), seen counterclockwise; `around` sides where round."""
        raise NotImplementedError(f"a {self.kind} is not drawn")


@dataclass(frozen=True)
class Sphere(Geometry):
    """A ball."""

    radius: float
    kind, urdf, mjcf, halves = "sphere", "sphere", "sphere", (1.0,)
    parts = Parts()

    @classmethod
    def fitted(cls, x: float, y: float, z: float, by_box: bool) -> tuple[float, ...]:
        return (max(x, y, z) if by_box else (x + y + z) / 3,)

    def solid(self) -> Moments:
        return Ellipsoid(self.radius, self.radius, self.radius).solid()

    def shell(self) -> Moments:
        square = self.radius**2
        return centred(4 * pi * square, square / 3, square / 3, square / 3)

    @cached_property
    def corners(self) -> Array:
        return np.zeros((1, 3))

    @property
    def rounding(self) -> float:
        return self.radius

    def triangles(self, around: int = AROUND) -> Drawing:
        return Ellipsoid(self.radius, self.radius, self.radius).triangles(around)


@dataclass(frozen=True)
class Capsule(Geometry):
    """A cylinder and the two halves of a ball at its ends; its length is that of the cylinder."""

    radius: float
    length: float
    kind, urdf, mjcf, halves = "capsule", "capsule", "capsule", (1.0, 0.5)

    @classmethod
    def fitted(cls, x: float, y: float, z: float, by_box: bool) -> tuple[float, ...]:
        r = max(x, y) if by_box else (x + y) / 2
        return r, max(0.0, z - (r if by_box else r / 2))

    def solid(self) -> Moments:
        r, h = self.mjcf_size
        caps = centred(4 / 3 * pi * r**3, r * r / 5, r * r / 5, r * r / 5 + h * h + 3 / 4 * h * r)
        return joined([Cylinder(r, self.length).solid(), caps])

    def shell(self) -> Moments:
        r, h = self.mjcf_size
        return joined([_tube(r, h), centred(4 * pi * r * r, r * r / 3, r * r / 3, r * r / 3 + h * h + h * r)])

    @cached_property
    def corners(self) -> Array:
        return np.outer([-0.5, 0.5], [0.0, 0.0, self.length])

    @property
    def rounding(self) -> float:
        return self.radius

    @cached_property
    def parts(self) -> Parts:
        return Parts(half=(0.0, 0.0, self.length / 2))

    def triangles(self, around: int = AROUND) -> Drawing:
        r, h = self.mjcf_size
        ends = [(0.0, -1.0), *_arc(-1.0, 0.0, around)], [*_arc(0.0, 1.0, around), (0.0, 1.0)]
        return turned([(r * x, r * z + at) for end, at in zip(ends, (-h, h), strict=True) for x, z in end], around)


@dataclass(frozen=True)
class Ellipsoid(Geometry):
    """An ellipsoid, by its semi-axes."""

    x: float
    y: float
    z: float
    kind, mjcf, halves = "ellipsoid", "ellipsoid", (1.0, 1.0, 1.0)

    def solid(self) -> Moments:
        a, b, c = self.mjcf_size
        return centred(4 / 3 * pi * a * b * c, a * a / 5, b * b / 5, c * c / 5)

    def shell(self) -> Moments:
        """As MuJoCo has it: area by Thomsen's formula (1 % off at worst), moments of a layer a micrometre thick."""
        a, b, c = self.mjcf_size
        p, layer = 1.6075, 1e-6
        area = 4 * pi * (((a * b) ** p + (b * c) ** p + (c * a) ** p) / 3) ** (1 / p)
        inner, outer = self.solid(), Ellipsoid(a + layer, b + layer, c + layer).solid()
        return Moments(area, np.zeros(3), area * (outer.second - inner.second) / (outer.content - inner.content))

    @cached_property
    def reach(self) -> float:
        return max(self.mjcf_size)

    @cached_property
    def parts(self) -> Parts:
        return Parts(radii=self.mjcf_size)

    def triangles(self, around: int = AROUND) -> Drawing:
        vertices, faces = turned([(0.0, -1.0), *_arc(-1.0, 1.0, around), (0.0, 1.0)], around)
        return vertices * self.mjcf_size, faces


@dataclass(frozen=True)
class Cylinder(Geometry):
    """A cylinder with flat ends."""

    radius: float
    length: float
    kind, urdf, mjcf, halves = "cylinder", "cylinder", "cylinder", (1.0, 0.5)

    @classmethod
    def fitted(cls, x: float, y: float, z: float, by_box: bool) -> tuple[float, ...]:
        return max(x, y) if by_box else (x + y) / 2, z

    def solid(self) -> Moments:
        r, h = self.mjcf_size
        return centred(2 * pi * r * r * h, r * r / 4, r * r / 4, h * h / 3)

    def shell(self) -> Moments:
        r, h = self.mjcf_size
        return joined([_tube(r, h), centred(2 * pi * r * r, r * r / 4, r * r / 4, h * h)])

    @cached_property
    def reach(self) -> float:
        return hypot(*self.mjcf_size)

    @cached_property
    def parts(self) -> Parts:
        return Parts(half=(0.0, 0.0, self.length / 2), radii=(self.radius, self.radius, 0.0))

    def triangles(self, around: int = AROUND) -> Drawing:
        r, h = self.mjcf_size
        return turned([(0.0, -h), (r, -h), (r, h), (0.0, h)], around)


@dataclass(frozen=True)
class Box(Geometry):
    """A box, by its edges."""

    x: float
    y: float
    z: float
    kind, urdf, mjcf, halves = "box", "box", "box", (0.5, 0.5, 0.5)

    @classmethod
    def urdf_attributes(cls) -> Mapping[str, int]:
        return {"size": 3}

    def solid(self) -> Moments:
        a, b, c = self.mjcf_size
        return centred(8 * a * b * c, a * a / 3, b * b / 3, c * c / 3)

    def shell(self) -> Moments:
        a, b, c = self.mjcf_size
        x = centred(8 * b * c, a * a, b * b / 3, c * c / 3)
        y = centred(8 * c * a, a * a / 3, b * b, c * c / 3)
        z = centred(8 * a * b, a * a / 3, b * b / 3, c * c)
        return joined([x, y, z])

    @cached_property
    def corners(self) -> Array:
        return CUBE * self.mjcf_size

    @cached_property
    def parts(self) -> Parts:
        return Parts(half=self.mjcf_size)

    def triangles(self, around: int = AROUND) -> Drawing:
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        vertices = np.concatenate([self.corners[list(side)] for side in sides])  # its own each, so that edges are sharp
        faces = np.concatenate([[(4 * k, 4 * k + 1, 4 * k + 2), (4 * k, 4 * k + 2, 4 * k + 3)] for k in range(6)])
        return vertices, faces


@dataclass(frozen=True)
class Mesh(Geometry):
    """Triangles of a file, opened when they are asked for; what touches is their hull."""

    file: str = ""
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    kind, urdf, mjcf = "mesh", "mesh", "mesh"

    @classmethod
    def sizes(cls) -> tuple[str, ...]:
        return ()

    @classmethod
    def of(cls, shape: Shape) -> Geometry:
        return cls(shape.file, shape.scale)

    @cached_property
    def corners(self) -> Array:
        return meshes.hull(self.file) * self.scale

    def triangles(self, around: int = AROUND) -> Drawing:
        vertices, faces = meshes.read(self.file)
        return vertices * self.scale, faces


@dataclass(frozen=True)
class Plane(Geometry):
    """The half-space below the plane of its x and y axes; drawn as a thin plate of it."""

    kind, mjcf = "plane", "plane"
    parts = Parts()

    @cached_property
    def mjcf_size(self) -> tuple[float, ...]:
        return 0.0, 0.0, 1.0  # without end

    @cached_property
    def reach(self) -> float:
        return inf

    def triangles(self, around: int = AROUND) -> Drawing:
        return Box(4.0, 4.0, 0.002).triangles()


CUBE = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])


def spelled(format: str) -> dict[str, type[Geometry]]:
    """The shapes that a file format ("urdf", "mjcf") has, by its words for them."""
    return {word: shape for shape in SHAPES.values() if (word := getattr(shape, format))}


def _tube(r: float, h: float) -> Moments:
    """The side of a cylinder, of half length h."""
    return centred(4 * pi * r * h, r * r / 2, r * r / 2, h * h / 3)


def _arc(start: float, stop: float, around: int) -> list[tuple[float, float]]:
    """Points (r, z) of a half circle, by z at its ends; the poles are left out."""
    angles = np.linspace(np.arcsin(start), np.arcsin(stop), around // 2 + 1)
    return [(float(np.cos(a)), float(np.sin(a))) for a in angles if np.cos(a) > 1e-9]


def turned(profile: Sequence[tuple[float, float]], around: int = AROUND) -> Drawing:
    """A profile of points (r, z), upwards, turned about z: vertices and triangles."""
    at = np.arange(around)
    angle, after = at * (2 * np.pi / around), (at + 1) % around
    rings = [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(around, z)], axis=1) for r, z in profile]
    faces = []
    for k, ((r, _), (s, _)) in enumerate(pairwise(profile)):
        low, high = k * around, (k + 1) * around
        both = (r, (low + at, low + after, high + after)), (s, (low + at, high + after, high + at))
        faces += [np.stack(three, axis=1) for wide, three in both if wide]  # at a pole one of the two has no area
    return np.concatenate(rings), np.concatenate(faces)
