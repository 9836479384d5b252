"""What there is to see of a robot: triangles on its bodies.

A link is drawn as its visual shapes, else as its collision shapes. A body without either, or whose meshes cannot be
read, is drawn from what is known of it: a drum about its joint's axis, rods to the joints and frames it carries, and,
through, the box of uniform density that has its mass and inertia.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.model import meshes
from hinge.model.coasting import FREE
from hinge.model.model import Model
from hinge.model.shapes import Box, Cylinder, Mesh, Plane, Shape
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import shortest_turn
from hinge.typing import Whole

COLORS = ((78, 121, 167), (242, 142, 43), (89, 161, 79), (225, 87, 89), (118, 183, 178), (237, 201, 72))
PLAIN, DARK = (188, 192, 200), (70, 74, 82)
Color = tuple[int, int, int]
MOST = 200_000  # triangles of a mesh that a browser takes without complaint


class Part(NamedTuple):
    """A piece of a body, in the body's coordinates: vertices (n, 3) in m, triangles (m, 3), colour and opacity."""

    body: int
    vertices: Array
    faces: Whole
    color: Color
    opacity: float | None = None


class Floor(NamedTuple):
    """A plane without end: a point on it (3), m, and the direction that is up from it (3)."""

    point: Array
    normal: Array


def floors(model: Model) -> list[Floor]:
    """The planes of the world that the robot's file has."""
    made = []
    for link, shapes in model.shapes.items():
        frame = model.frame(link)
        R, p = np.reshape(tuple(frame.R), (3, 3)), np.array(tuple(frame.p))
        for shape in shapes:
            if frame.body == 0 and shape.kind == Plane.kind:
                made.append(Floor(p + R @ np.array(shape.xyz, float), R @ np.array(shape.rotation, float)[:, 2]))
    return made


def parts(model: Model, poses: Array) -> tuple[list[Part], list[str]]:
    """All there is to see, and what could not be drawn as the file says it; `poses` are of base and bodies, neutral.

    Planes of the world are not among it: `floors` has them.
    """
    made: list[Part] = []
    left: list[str] = []
    loose = [body for body in range(1, model.count + 1) if model.joint[body].nv == FREE]
    own = {body: COLORS[k % len(COLORS)] for k, body in enumerate(loose)} if len(loose) > 1 else {}
    for link, shapes in model.shapes.items():
        frame, found = model.frame(link), []
        R, p = np.reshape(tuple(frame.R), (3, 3)), np.array(tuple(frame.p))
        for role in ("visual", "collision"):  # the second where nothing can be drawn of the first
            for shape in (one for one in shapes if one.role == role):
                if frame.body == 0 and shape.kind == Plane.kind:
                    continue
                try:
                    vertices, faces = triangles(shape)
                except ValueError as wrong:
                    left.append(f"{link}: {wrong}")
                    continue
                color, opacity = _color(shape, own.get(frame.body, PLAIN))
                found.append(Part(frame.body, vertices @ R.T + p, faces, color, opacity))
            if found:
                break
        made += found
    drawn = {part.body for part in made}
    for body in range(model.count + 1):
        if body not in drawn:
            made += _from_mass(model, body, poses)
    return made, left


def triangles(shape: Shape) -> tuple[Array, Whole]:
    """A shape in its link's coordinates: vertices and triangles."""
    geometry = shape.geometry
    if geometry is None:
        raise ValueError(f"a {shape.kind} is not drawn")
    vertices, faces = _mesh(geometry) if isinstance(geometry, Mesh) else geometry.triangles()
    return vertices @ np.array(shape.rotation, float).T + np.array(shape.xyz, float), faces


def _mesh(mesh: Mesh) -> tuple[Array, Whole]:
    name = os.path.basename(mesh.file) or "a mesh"
    if not meshes.found(mesh.file):
        raise ValueError(f"mesh {name} was not found; hinge.load(..., packages=[…]) says where to look")
    try:
        vertices, faces = mesh.triangles()
    except Exception as wrong:  # readers of meshes raise whatever they like
        raise ValueError(f"mesh {name} cannot be read: {getattr(wrong, 'strerror', None) or wrong}") from None
    if len(faces) > MOST:
        raise ValueError(f"mesh {name} has {len(faces)} triangles; at most {MOST} are drawn")
    return vertices, faces


def size(poses: Array) -> float:
    """How large a robot is, roughly, in m."""
    return float(np.linalg.norm(np.ptp(poses[:, :3, 3], axis=0))) or 1.0


def balls(parts: list[Part]) -> tuple[Array, Array, Array]:
    """For each part a ball around it in its body's coordinates: centres (n, 3), radii (n) in m, and bodies (n)."""
    centres = np.array([0.5 * (part.vertices.min(axis=0) + part.vertices.max(axis=0)) for part in parts])
    radii = [np.linalg.norm(part.vertices - c, axis=1).max() for part, c in zip(parts, centres, strict=True)]
    return centres.reshape(-1, 3), np.array(radii), np.array([part.body for part in parts], int)


def extent(parts: list[Part], poses: Array) -> float:
    """How large what is drawn of moving bodies is, in m; `poses` are of base and bodies."""
    seen = [part.vertices @ poses[part.body, :3, :3].T + poses[part.body, :3, 3] for part in parts if part.body]
    return float(np.linalg.norm(np.ptp(np.concatenate(seen), axis=0))) if seen else 1.0


def _from_mass(model: Model, body: int, poses: Array) -> Iterator[Part]:
    """A body without shapes."""
    thick = size(poses) / 25
    color = COLORS[body % len(COLORS)] if body else DARK
    here = np.linalg.inv(poses[body])
    children = [
        child for child in range(1, model.count + 1) if model.parent[child] == body and model.joint[child].nv < FREE
    ]  # what floats hangs on nothing
    ends = [(here @ poses[child])[:3, 3] for child in children]
    if body and not children:
        ends += [np.array(tuple(frame.p), float) for frame in model.frames.values() if frame.body == body]
    for end in ends:
        yield from _rod(body, np.zeros(3), end, thick / 2, color)
    for axis in model.joint[body].axes(model.neutral(body)) if body else ():
        line = np.array([float(x) for x in (axis.ang if any(axis.ang) else axis.lin)])
        line *= 1.6 * thick / (np.linalg.norm(line) or 1.0)
        yield from _rod(body, -line, line, thick, DARK)
    inertia = model.inertia[body]
    if body and inertia.m > 0.0:
        about = inertia.about_com
        moments, axes = np.linalg.eigh(np.array([[about.at(i, j) for j in range(3)] for i in range(3)], float))
        edges = np.sqrt(np.maximum(6.0 / inertia.m * (moments.sum() - 2.0 * moments), 0.0))
        vertices, faces = Box(*np.maximum(edges, thick / 2)).triangles()
        yield Part(body, vertices @ (axes * np.linalg.det(axes)).T + np.array(tuple(inertia.com)), faces, color, 0.3)


def _rod(body: int, start: Array, end: Array, radius: float, color: Color) -> Iterator[Part]:
    length = float(np.linalg.norm(end - start))
    if length > radius:
        R = np.array(shortest_turn(Vec3((end - start) / length)))
        vertices, faces = Cylinder(radius, length).triangles()
        yield Part(body, vertices @ R.T + (start + end) / 2, faces, color)


def _color(shape: Shape, plain: Color) -> tuple[Color, float | None]:
    if shape.rgba is None:
        return plain, None
    r, g, b, a = (float(np.clip(x, 0.0, 1.0)) for x in shape.rgba)
    return (round(255 * r), round(255 * g), round(255 * b)), None if a >= 1.0 else max(a, 0.1)
