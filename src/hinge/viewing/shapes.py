"""What there is to see of a robot: triangles on its bodies.

A link is drawn as its visual shapes, else as its collision shapes. A body without either, or whose meshes cannot be
read, is drawn from what is known of it: a drum about its joint's axis, rods to the joints and frames it carries, and,
through, the box of uniform density that has its mass and inertia.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.errors import NOWHERE
from hinge.formats.mjcf.mesh import load
from hinge.model.model import Model, Shape
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import shortest_turn

COLORS = ((78, 121, 167), (242, 142, 43), (89, 161, 79), (225, 87, 89), (118, 183, 178), (237, 201, 72))
PLAIN, DARK = (188, 192, 200), (70, 74, 82)
MOST = 200_000  # triangles of a mesh that a browser takes without complaint
AROUND = 24  # sides of what is round


class Part(NamedTuple):
    """A piece of a body, in the body's coordinates: vertices (n, 3) in m, triangles (m, 3), colour and opacity."""

    body: int
    vertices: Array
    faces: Array
    color: tuple[int, int, int]
    opacity: float | None = None


def parts(model: Model, poses: Array) -> tuple[list[Part], list[str]]:
    """All there is to see, and what could not be drawn as the file says it; `poses` are of base and bodies, neutral."""
    made: list[Part] = []
    left: list[str] = []
    for link, shapes in model.shapes.items():
        frame, found = model.frame(link), []
        R, p = np.reshape(tuple(frame.R), (3, 3)), np.array(tuple(frame.p))
        for role in ("visual", "collision"):  # the second where nothing can be drawn of the first
            for shape in (one for one in shapes if one.role == role):
                try:
                    vertices, faces = triangles(shape)
                except ValueError as wrong:
                    left.append(f"{link}: {wrong}")
                    continue
                color, opacity = _color(shape)
                found.append(Part(frame.body, vertices @ R.T + p, faces, color, opacity))
            if found:
                break
        made += found
    drawn = {part.body for part in made}
    for body in range(model.count + 1):
        if body not in drawn:
            made += _from_mass(model, body, poses)
    return made, left


def triangles(shape: Shape) -> tuple[Array, Array]:
    """A shape in its link's coordinates: vertices and triangles. Sizes are whole edges and lengths, as in URDF."""
    size = shape.size
    if shape.kind == "box":
        vertices, faces = _box(size)
    elif shape.kind in ("sphere", "ellipsoid"):
        vertices, faces = _turned([(0.0, -1.0), *_arc(-1.0, 1.0), (0.0, 1.0)])
        vertices = vertices * np.array(size if len(size) == 3 else size * 3)
    elif shape.kind in ("cylinder", "capsule"):
        radius, half = size[0], size[1] / 2
        profile = [(0.0, -half), (radius, -half), (radius, half), (0.0, half)]
        if shape.kind == "capsule":
            ends = _arc(-1.0, 0.0), _arc(0.0, 1.0)
            profile = [(radius * r, radius * z - half) for r, z in [(0.0, -1.0), *ends[0]]]
            profile += [(radius * r, radius * z + half) for r, z in [*ends[1], (0.0, 1.0)]]
        vertices, faces = _turned(profile)
    elif shape.kind == "plane":
        vertices, faces = _box((4.0, 4.0, 0.002))
    elif shape.kind == "mesh":
        vertices, faces = _mesh(shape)
    else:
        raise ValueError(f"a {shape.kind} is not drawn")
    return vertices @ np.array(shape.rotation, float).T + np.array(shape.xyz, float), faces


def _mesh(shape: Shape) -> tuple[Array, Array]:
    name = os.path.basename(shape.file) or "a mesh"
    if not os.path.isfile(shape.file):
        raise ValueError(f"mesh {name} was not found; hinge.load(..., packages=[…]) says where to look")
    try:
        if name.endswith(".msh"):
            vertices, faces = load(shape.file, NOWHERE)
        else:
            import trimesh

            mesh: Any = trimesh.load(shape.file, force="mesh", process=False, skip_materials=True)
            vertices, faces = np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)
    except Exception as wrong:  # readers of meshes raise whatever they like
        raise ValueError(f"mesh {name} cannot be read: {wrong}") from None
    if len(faces) > MOST:
        raise ValueError(f"mesh {name} has {len(faces)} triangles; at most {MOST} are drawn")
    return vertices * np.array(shape.scale), faces


def _box(size: Any) -> tuple[Array, Array]:
    corners = np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * np.array(size) / 2
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    vertices = np.concatenate([corners[list(side)] for side in sides])  # each side its own, so that edges are sharp
    faces = np.concatenate([[(4 * k, 4 * k + 1, 4 * k + 2), (4 * k, 4 * k + 2, 4 * k + 3)] for k in range(6)])
    return vertices, faces


def _arc(start: float, stop: float) -> list[tuple[float, float]]:
    """Points (r, z) of a half circle, by z at its ends; the poles are left out."""
    angles = np.linspace(np.arcsin(start), np.arcsin(stop), AROUND // 2 + 1)
    return [(float(np.cos(a)), float(np.sin(a))) for a in angles if np.cos(a) > 1e-9]


def _turned(profile: list[tuple[float, float]]) -> tuple[Array, Array]:
    """A profile (r, z) turned about z."""
    turn = np.arange(AROUND) * (2 * np.pi / AROUND)
    rings = [np.stack([r * np.cos(turn), r * np.sin(turn), np.full(AROUND, z)], axis=1) for r, z in profile]
    at = np.arange(AROUND)
    after = (at + 1) % AROUND
    faces = []
    for k, ((r, _), (s, _)) in enumerate(pairwise(profile)):
        low, high = k * AROUND, (k + 1) * AROUND
        if r:  # at a pole one of the two has no area
            faces.append(np.stack([low + at, low + after, high + after], axis=1))
        if s:
            faces.append(np.stack([low + at, high + after, high + at], axis=1))
    return np.concatenate(rings), np.concatenate(faces)


def size(poses: Array) -> float:
    """How large a robot is, roughly, in m."""
    return float(np.linalg.norm(np.ptp(poses[:, :3, 3], axis=0))) or 1.0


def _from_mass(model: Model, body: int, poses: Array) -> Iterator[Part]:
    """A body without shapes."""
    thick = size(poses) / 25
    color = COLORS[body % len(COLORS)] if body else DARK
    here = np.linalg.inv(poses[body])
    children = [child for child in range(1, model.count + 1) if model.parent[child] == body]
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
        vertices, faces = _box(np.maximum(edges, thick / 2))
        yield Part(body, vertices @ (axes * np.linalg.det(axes)).T + np.array(tuple(inertia.com)), faces, color, 0.3)


def _rod(body: int, start: Array, end: Array, radius: float, color: tuple[int, int, int]) -> Iterator[Part]:
    length = float(np.linalg.norm(end - start))
    if length > radius:
        R = np.array(shortest_turn(Vec3((end - start) / length)))
        vertices, faces = triangles(Shape("visual", "cylinder", (radius, length)))
        yield Part(body, vertices @ R.T + (start + end) / 2, faces, color)


def _color(shape: Shape) -> tuple[tuple[int, int, int], float | None]:
    if shape.rgba is None:
        return PLAIN, None
    r, g, b, a = (float(np.clip(x, 0.0, 1.0)) for x in shape.rgba)
    return (round(255 * r), round(255 * g), round(255 * b)), None if a >= 1.0 else max(a, 0.1)
