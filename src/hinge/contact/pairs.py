"""Where two solids touch, or all but touch: points, lines and faces that make contacts.

Against a half-space every solid is a few points: centres and vertices, and the rims of a cylinder's discs. Spheres and
capsules are points and lines with a radius. Boxes meet in the least deep of fifteen directions: the normals of their
faces, and the common perpendiculars of their edges. Cylinders are in a file of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from hinge.arguments import Array
from hinge.contact.contact_points import FLAT, Found, beside_line, between_points, box_face, crossed, cut, rim_points
from hinge.contact.cylinders import cylinder_contacts
from hinge.contact.solids import Solid


def touching(a: Solid, b: Solid, within: float) -> list[Found]:
    """The contacts of two solids whose gap is at most `within`."""
    if a.kind == b.kind == "plane":
        return []
    if "plane" in (a.kind, b.kind):
        solid, ground = (b, a) if a.kind == "plane" else (a, b)
        return [f for f in _on_plane(solid, ground) if f.gap <= within]
    if apart(a, b) > within:
        return []
    if (a.kind, b.kind) not in PAIRS:
        a, b = b, a
    return [f for f in PAIRS[a.kind, b.kind](a, b) if f.gap <= within]


def apart(a: Solid, b: Solid) -> float:
    """How far apart balls around two solids are."""
    return float(np.linalg.norm(a.p - b.p)) - a.reach - b.reach


def covered(a: Solid, b: Solid) -> bool:
    """Whether contacts of two solids that stay true as they roll are known here; of others only where they are."""
    return "plane" in (a.kind, b.kind) or (a.kind, b.kind) in PAIRS or (b.kind, a.kind) in PAIRS


# against a half-space


def _on_plane(solid: Solid, ground: Solid) -> Iterator[Found]:
    n: Array = ground.axis

    def at(point: Array, offset: float = 0.0, edge: Array | None = None) -> Found:
        height = float(n @ (point - ground.p))
        reach = offset if edge is None else offset * float(np.linalg.norm(np.cross(n, edge)))
        return Found(solid, ground, height - reach, point, ground.p, normal=n, edge=edge, offset=offset)

    if solid.kind == "cylinder":
        lies_flat = 1.0 - abs(n @ solid.axis) < FLAT
        for end in solid.ends:
            yield from (at(p) for p in rim_points(solid, end)) if lies_flat else [at(end, solid.size[0], solid.axis)]
    else:
        yield from (at(corner, solid.geometry.rounding) for corner in solid.corners)


# spheres and capsules: points and lines with a radius


def _sphere_sphere(a: Solid, b: Solid) -> Iterator[Found]:
    yield between_points(b, a, b.p, a.p, a.size[0] + b.size[0])


def _sphere_capsule(a: Solid, b: Solid) -> Iterator[Found]:
    yield beside_line(a, b, a.p, b.ends, a.size[0] + b.size[0])


def _capsule_capsule(a: Solid, b: Solid) -> Iterator[Found]:
    offset = a.size[0] + b.size[0]
    ends = [beside_line(a, b, p, b.ends, offset) for p in a.ends] + [
        beside_line(b, a, p, a.ends, offset) for p in b.ends
    ]
    parallel = float(np.linalg.norm(np.cross(a.axis, b.axis))) < FLAT
    if parallel:  # side by side along a line: two points of it
        inside = [f for f in ends if f.other_edge is not None] or ends
        yield from sorted(inside, key=lambda f: f.gap)[:2] if len(inside) > 1 else inside
        return
    passing = crossed(a, b, a.p, a.axis, a.size[1] / 2, b.p, b.axis, b.size[1] / 2, offset)
    yield min([*ends, *passing], key=lambda f: f.gap)


# boxes


def _sphere_box(a: Solid, b: Solid) -> Iterator[Found]:
    yield _ball_on_box(a, b, a.p, a.size[0])


def _ball_on_box(body: Solid, box: Solid, centre: Array, radius: float) -> Found:
    """A point with a radius against the face, edge or corner of a box that is nearest."""
    local, half = box.R.T @ (centre - box.p), np.asarray(box.size) / 2
    clamped = np.clip(local, -half, half)
    out = np.abs(local) > half
    foot = box.p + box.R @ clamped
    if out.sum() <= 1:
        k = int(np.argmax(np.abs(local) - half))
        n = box.R[:, k] * np.sign(local[k] or 1.0)
        height = abs(local[k]) - half[k]
        face = box_face(box, k, n)
        return Found(body, box, height - radius, centre, centre - height * n, normal=n, offset=radius, face=face)
    gap = float(np.linalg.norm(local - clamped)) - radius
    edge = box.R[:, int(np.argmin(out))] if out.sum() == 2 else None
    return Found(body, box, gap, centre, foot, other_edge=edge, offset=radius)


def _capsule_box(a: Solid, b: Solid) -> Iterator[Found]:
    radius = a.size[0]
    ends = [_ball_on_box(a, b, p, radius) for p in a.ends]
    passing = [
        f
        for q, w, half in _edges(b)
        for f in crossed(a, b, a.p, a.axis, a.size[1] / 2, q, w, half, radius)
        if _outward(b, f.point - f.other_point, q)
    ]
    corners = [
        Found(b, a, f.gap, f.point, f.other_point, other_edge=f.other_edge, offset=radius)
        for f in (beside_line(b, a, corner, a.ends, radius) for corner in b.corners)
        if f.other_edge is not None and _outward(b, f.other_point - f.point, f.point)
    ]
    best = min([*ends, *passing, *corners], key=lambda f: f.gap)
    lying = [f for f in ends if f.normal is not None]
    if best.normal is not None:
        yield from lying
    else:
        yield best
        yield from (f for f in lying if f.gap <= best.gap + FLAT)


def _edges(box: Solid) -> Iterator[tuple[Array, Array, float]]:
    """The middle, direction and half length of each edge."""
    half = np.asarray(box.size) / 2
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for a in (-1.0, 1.0):
            for b in (-1.0, 1.0):
                yield box.p + a * half[i] * box.R[:, i] + b * half[j] * box.R[:, j], box.R[:, k], half[k]


def _outward(box: Solid, direction: Array, at: Array) -> bool:
    """Whether a direction at a point of the surface leads away from the box, and not along or into it."""
    away, side = box.R.T @ direction, box.R.T @ (at - box.p)
    return bool((away * side >= -1e-9 * np.abs(side)).all() and (away * side > 0.0).any())


def _box_box(a: Solid, b: Solid) -> Iterator[Found]:
    half_a, half_b = np.asarray(a.size) / 2, np.asarray(b.size) / 2
    between = b.p - a.p

    def depth(L: Array) -> float:
        return float(abs(L @ between) - np.abs(L @ a.R) @ half_a - np.abs(L @ b.R) @ half_b)

    faces = [(depth(s.R[:, k]), s, k) for s in (a, b) for k in range(3)]
    crosses = []
    for i in range(3):
        for j in range(3):
            L = np.cross(a.R[:, i], b.R[:, j])
            length = float(np.linalg.norm(L))
            if length > 1e-3:
                crosses.append((depth(L / length), i, j, L / length))
    gap = max(f[0] for f in faces)
    # of faces that lie on each other the larger one, on which the corners of the smaller one can move
    _, reference, k = max((f for f in faces if f[0] > gap - FLAT), key=lambda f: prod(f[1].size) / f[1].size[f[2]])
    best = max(crosses, key=lambda c: c[0], default=None)
    if best is not None and best[0] > gap + FLAT:
        yield _edge_edge(a, b, half_a, half_b, *best[1:])
    else:
        yield from _face_face(reference, b if reference is a else a, k)


def _edge_edge(a: Solid, b: Solid, half_a: Array, half_b: Array, i: int, j: int, L: Array) -> Found:
    L = L if L @ (b.p - a.p) >= 0.0 else -L
    p, q = a.p.copy(), b.p.copy()
    for k in range(3):
        if k != i:
            p += np.sign(L @ a.R[:, k]) * half_a[k] * a.R[:, k]
        if k != j:
            q -= np.sign(L @ b.R[:, k]) * half_b[k] * b.R[:, k]
    u, w = a.R[:, i], b.R[:, j]
    if np.cross(u, w) @ L < 0.0:
        w = -w
    return Found(b, a, float(L @ (q - p)), q, p, edge=w, other_edge=u)


def _face_face(a: Solid, b: Solid, k: int) -> Iterator[Found]:
    """The face of b that looks at face k of a, cut to the size of that face: its corners."""
    half_a, half_b = np.asarray(a.size) / 2, np.asarray(b.size) / 2
    n = a.R[:, k] * np.sign(a.R[:, k] @ (b.p - a.p) or 1.0)
    facing = n @ b.R
    m = int(np.argmax(np.abs(facing)))
    centre = b.p - np.sign(facing[m]) * half_b[m] * b.R[:, m]
    i, j = (m + 1) % 3, (m + 2) % 3
    corners = [
        centre + s * half_b[i] * b.R[:, i] + t * half_b[j] * b.R[:, j] for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    for side in ((k + 1) % 3, (k + 2) % 3):
        for sign in (-1.0, 1.0):
            corners = cut(corners, sign * a.R[:, side], float(sign * a.R[:, side] @ a.p + half_a[side]))
    top = a.p + n * half_a[k]
    for point in corners:
        yield Found(b, a, float(n @ (point - top)), point, top, normal=n, face=box_face(a, k, n))


PAIRS = {
    ("sphere", "sphere"): _sphere_sphere,
    ("sphere", "capsule"): _sphere_capsule,
    ("sphere", "box"): _sphere_box,
    ("capsule", "capsule"): _capsule_capsule,
    ("capsule", "box"): _capsule_box,
    ("box", "box"): _box_box,
    **{(kind, "cylinder"): cylinder_contacts for kind in ("sphere", "capsule", "box", "cylinder")},
}
