"""A scene: robots and loose bodies in one world, and the contacts among them.

    scene = hinge.Scene()
    scene.ground()
    scene.body("block", "box", (0.4, 0.2, 0.1), mass=3.0)
    contacts = scene.contacts(scene.robot.neutral())

The scene is one robot, so that everything a robot computes is there: loose bodies first, then the robots that were
added, whose names begin with the scene's name for them. Links that a joint connects do not touch each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hinge.arguments import Array, finite, number, real
from hinge.calls.poses import poses
from hinge.contact.contact_points import Found
from hinge.contact.contacts import Contact
from hinge.contact.distances import distances
from hinge.contact.pairs import apart, covered, touching
from hinge.contact.solids import Solid, link_solids, placed, touches
from hinge.errors import ModelError, SizeError, UnknownName, did_you_mean
from hinge.model import Builder
from hinge.model.build import EARTH
from hinge.model.shapes import SHAPES, Shape
from hinge.robot import Robot
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import shortest_turn

UNKNOWN = np.zeros((0, 3))  # the face of a solid whose faces are not known


class Scene:
    """Robots, loose bodies and half-spaces."""

    def __init__(self, gravity: Sequence[float] | None = None):
        """An empty world; `gravity` is (0, 0, -9.81) unless given."""
        self.gravity = tuple(EARTH if gravity is None else gravity)
        self._robots: list[tuple[str, Robot, Any]] = []
        self._bodies: list[tuple[str, str, tuple[float, ...], float]] = []
        self._planes: list[Solid] = []

    def add(self, robot: Robot, name: str, placement: Any = (0.0, 0.0, 0.0)) -> Scene:
        """Add a robot, its base at a pose in the world; its names become "NAME/…"."""
        self._fresh(name)
        self._robots.append((name, robot, placement))
        return self

    def body(self, name: str, kind: str, size: float | Sequence[float], mass: float) -> Scene:
        """A loose body of even density, as URDF sizes it: "sphere" (radius), "box", "cylinder" (radius, length) …"""
        self._fresh(name)
        loose = [one for one in SHAPES if SHAPES[one].sizes() and touches(one)]
        if kind not in loose:
            raise UnknownName(f"body {name!r}: there is no loose body of kind {kind!r}. {did_you_mean(kind, loose)}")
        lengths, weight = np.atleast_1d(finite(f"body {name!r}: size", size)), number(f"body {name!r}: mass", mass)
        n = len(SHAPES[kind].sizes())
        if lengths.shape != (n,) or not (lengths > 0.0).all() or not weight > 0.0:
            raise SizeError(
                f"body {name!r}: size {size!r} and mass {mass!r} do not make a {kind}.\n"
                f"  Give {n} lengths (m) and a mass (kg), all positive."
            )
        self._bodies.append((name, kind, tuple(lengths.tolist()), weight))
        return self

    def ground(self, height: float = 0.0) -> Scene:
        """Add the half-space below a height."""
        return self.half_space((0.0, 0.0, 1.0), number("ground: height", height))

    def half_space(self, normal: Sequence[float], offset: float = 0.0) -> Scene:
        """Add the half-space normal · x ≤ offset."""
        if "robot" in self.__dict__:
            raise SizeError("scene: a half-space comes too late: the scene's robot has been made. Add it before.")
        n, offset = finite("half_space: normal", normal), number("half_space: offset", offset)
        length = float(np.linalg.norm(n))
        if n.shape != (3,) or not length > 0.0:
            raise SizeError(f"half_space: normal is {normal!r}. Give a direction of three numbers.")
        n = n / length
        self._planes.append(Solid("plane", (), None, np.array(shortest_turn(Vec3(n))), n * offset / length))
        return self

    def _fresh(self, name: str) -> None:
        if "robot" in self.__dict__:
            raise SizeError(f"scene: {name!r} comes too late: the scene's robot has been made. Add it before.")
        if name in {"world", *(n for n, *_ in self._robots), *(n for n, *_ in self._bodies)}:
            raise ModelError("duplicate-link", f"the scene has something called {name!r} already.", "Rename one.")

    @cached_property
    def robot(self) -> Robot:
        """Everything in the scene as one robot; from now on nothing can be added to it."""
        builder = Builder("scene", self.gravity)
        builder.link("world", shapes=[_shape(plane) for plane in self._planes])
        for name, kind, size, mass in self._bodies:
            solid = SHAPES[kind](*size).solid()
            inertia = solid.scaled(mass / solid.content).inertia
            builder.link(name, mass, solid.center, inertia, [Shape("collision", kind, size)])
            builder.joint(name, "free", "world", name)
        model = builder.build()
        made = Robot(model)
        for name, robot, placement in self._robots:
            made = made.attach(robot, at="world", placement=placement, prefix=f"{name}/")
        return made

    @cached_property
    def _solids(self) -> list[tuple[str, Shape]]:
        planes = [_shape(plane) for plane in self._planes]  # which are solids of their own
        return [one for one in link_solids(self.robot.model) if one[1] not in planes]

    def contacts(self, q: Any, within: float = 1e-3, restitution: float = 0.0, friction: float = 0.0) -> list[Contact]:
        """The contacts of one configuration q (nq): all with a gap of at most `within` (m)."""
        q = finite("contacts: q", q)
        if np.isnan(real("contacts: within", within)).any():
            raise SizeError("contacts: within is nan. Give a distance in m.")
        if q.shape != (self.robot.nq,):
            raise SizeError(f"contacts: q has shape {q.shape}, the scene has nq = {self.robot.nq}; give one state.")
        links = [link for link, _ in self._solids]
        T = dict(zip(links, poses(self.robot.target, q, links), strict=True))
        solids = [placed(link, shape, T[link]) for link, shape in self._solids]
        pairs = [(a, b) for k, a in enumerate(solids) for b in [*solids[k + 1 :], *self._planes] if self._may(a, b)]
        found = [f for a, b in pairs if covered(a, b) for f in touching(a, b, within)]
        others = {(a.link, b.link): (a, b) for a, b in pairs if not covered(a, b) and apart(a, b) <= within}
        if others:
            found += self._nearest(q, others, within)
        return [_contact(f, T, restitution, friction) for f in found]

    def _nearest(self, q: Array, links: Mapping[Any, tuple[Solid, Solid]], within: float) -> list[Found]:
        """A contact each of links whose hulls are near: a point of one on a plane of the other, as they stand."""
        made = distances(self.robot.target, q)
        rows = zip(made.pairs, made.distance, made.points, made.normal, strict=True)
        return [
            Found(links[names][1], links[names][0], float(gap), points[1], points[0], normal=normal, face=UNKNOWN)
            for names, gap, points, normal in rows
            if names in links and gap <= within
        ]

    def _may(self, a: Solid, b: Solid) -> bool:
        """Whether two solids are on different bodies that no joint connects."""
        model = self.robot.model
        i, j = (0 if s.link is None else model.frame(s.link).body for s in (a, b))
        joined = (model.parent[i] == j and j) or (model.parent[j] == i and i)
        fixed_base = 0 in (i, j) and not (a.link is None or b.link is None) and 0 in (model.parent[i], model.parent[j])
        return i != j and not joined and not fixed_base


def _shape(plane: Solid) -> Shape:
    """A half-space as a collision shape of the world."""
    return Shape(
        "collision", "plane", xyz=tuple(plane.p.tolist()), rotation=tuple(map(tuple, plane.R.reshape(3, 3).tolist()))
    )


def _contact(found: Found, T: dict[str, Array], restitution: float, friction: float) -> Contact:
    """A contact in the coordinates of its links."""

    def local(solid: Solid, x: Array | None, point: bool) -> Any:
        if x is None or solid.link is None:
            return None if x is None else tuple(x.tolist())
        R, p = T[solid.link][:3, :3], T[solid.link][:3, 3]
        return tuple((R.T @ (x - p if point else x)).tolist())

    body, other = found.body, found.other
    return Contact(
        str(body.link), local(body, found.point, True), local(other, found.normal, False), other.link,
        local(other, found.other_point, True), local(body, found.edge, False), local(other, found.other_edge, False),
        found.offset, restitution, friction, other_offset=found.other_offset, rim=local(body, found.rim, False),
        other_rim=local(other, found.other_rim, False),
        face=None if found.face is None else tuple(local(other, corner, True) for corner in found.face),
    )  # fmt: skip
