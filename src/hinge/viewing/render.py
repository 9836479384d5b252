"""Pictures of a film in pixels, without a graphics card: triangles in a depth buffer, a floor with a grid, shadows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.typing import Whole
from hinge.viewing.figure import CONTACT
from hinge.viewing.reel import Reel
from hinge.viewing.triangles import Surface, arrow, surface

FROM = np.array([0.53, -0.75, 0.41])  # where the camera is, seen from what it looks at
LIGHT = (1.0, 0.3, 2.0)  # where light comes from: right, ahead and up from the floor
FOCUS = 2.4  # focal length over half the height of the picture
THICK, HEAD = 0.012, 0.06  # of what is seen: radius and head of an arrow
SKY, SHEET, LINES = np.array([238.0, 241.0, 245.0]), np.array([247.0] * 3), np.array([173.0, 181.0, 194.0])
SHADE = np.array([64.0, 71.0, 89.0])


class _Camera(NamedTuple):
    eye: Array
    axes: Array  # right, up and back, row by row
    wide: int
    high: int

    def seen(self, x: Array) -> tuple[Array, Array]:
        """Points (…, 3) as pixels (…, 2), and how far in front they are."""
        p = (x - self.eye) @ self.axes.T
        ahead = np.maximum(-p[..., 2], 1e-9)
        scale = 0.5 * self.high * FOCUS / ahead
        return np.stack([0.5 * self.wide + scale * p[..., 0], 0.5 * self.high - scale * p[..., 1]], axis=-1), -p[..., 2]

    def rays(self) -> Array:
        """Directions through the pixels, (high, wide, 3)."""
        y, x = np.mgrid[0.5 : self.high, 0.5 : self.wide]
        d = np.stack([x - 0.5 * self.wide, 0.5 * self.high - y, np.full(x.shape, -0.5 * self.high * FOCUS)], axis=-1)
        return d @ self.axes


class Studio:
    """Draws pictures of a film, (high, wide, 3) bytes each; `finer` pixels are made of each side of one."""

    def __init__(self, reel: Reel, size: tuple[int, int] = (640, 400), finer: int = 2) -> None:
        self.reel, self.finer = reel, finer
        self.wide, self.high = size[0] * finer, size[1] * finer
        self.parts = [(part, surface(part.vertices, part.faces)) for part in reel.parts]
        self.arrow = arrow(THICK * reel.radius)
        up = reel.floor.normal
        right = np.cross(np.eye(3)[int(np.argmin(np.abs(up)))], up)
        right /= np.linalg.norm(right)
        self.floor_axes = np.stack([right, np.cross(up, right), up])
        light = np.array(LIGHT) @ self.floor_axes
        self.light = light / np.linalg.norm(light)

    def camera(self, k: int) -> _Camera:
        """The camera of picture k: all that is ever seen is in it."""
        distance = 0.95 * self.reel.radius * np.hypot(FOCUS / min(1.0, self.wide / self.high), 1.0)
        back = FROM / np.linalg.norm(FROM)
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(back, right), back])
        return _Camera(self.reel.target[k] + distance * back, axes, self.wide, self.high)

    def picture(self, k: int) -> Array:
        """Picture k."""
        camera = self.camera(k)
        groups = self._placed(k)
        solid, through = (
            [(x[s.faces], n[s.faces], c, alpha or 1.0) for x, n, s, c, alpha in groups if (alpha is None) == opaque]
            for opaque in (True, False)
        )
        image = self._floor(camera, self.reel.target[k], [x for x, *_ in solid])
        depth = np.full(self.wide * self.high, np.inf)
        for made in filter(None, (solid, through)):
            self._shaded(camera, image, depth, made)
        fine = image.reshape(self.high // self.finer, self.finer, self.wide // self.finer, self.finer, 3)
        return np.clip(fine.mean(axis=(1, 3)), 0.0, 255.0).astype(np.uint8)

    def _placed(self, k: int) -> list[tuple[Array, Array, Surface, Array, float | None]]:
        """Corners and normals of all that is there, in space, with their triangles, colours and opacities."""
        made = []
        for part, shape in self.parts:
            T = self.reel.poses[k, part.body]
            R = T[:3, :3].T
            made.append(
                (shape.corners @ R + T[:3, 3], shape.normals @ R, shape, np.array(part.color, float), part.opacity)
            )
        for point, push in zip(self.reel.points[k], self.reel.pushes[k], strict=True):
            length = float(np.linalg.norm(push))
            if length > 1e-3 * self.reel.radius:
                head = min(HEAD * self.reel.radius, 0.5 * length)
                z = push / length
                x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
                x /= np.linalg.norm(x)
                R = np.stack([x, np.cross(z, x), z])
                for shape, start, long in zip(self.arrow, (0.0, length - head), (length - head, head), strict=True):
                    corners = (shape.corners * [1.0, 1.0, long] + [0.0, 0.0, start]) @ R + point
                    made.append((corners, shape.normals @ R, shape, np.array(CONTACT, float), None))
        return made

    def _floor(self, camera: _Camera, target: Array, casting: list[Array]) -> Array:
        """The sky, the floor with its grid, and the shadows that are on it."""
        floor, radius, cell = self.reel.floor, self.reel.radius, self.reel.cell
        coarse = camera._replace(wide=camera.wide // self.finer, high=camera.high // self.finer)
        rays, up = coarse.rays(), floor.normal
        slant = rays @ up
        ahead = ((floor.point - camera.eye) @ up) / np.where(np.abs(slant) > 1e-12, slant, 1e-12)
        x = camera.eye + rays * ahead[..., None]
        p = (x - floor.point) @ self.floor_axes[:2].T / cell
        wide = np.maximum(sum(np.abs(np.gradient(p, axis=k)) for k in (0, 1)), 1e-12)
        ink = np.zeros(slant.shape)
        for every, strength, bold in ((1.0, 0.35, 1.0), (5.0, 0.75, 1.4)):
            near = (np.abs((p / every - 0.5) % 1.0 - 0.5) * every / wide).min(axis=-1)
            apart = np.clip(1.0 - 2.5 * wide.max(axis=-1) / every, 0.0, 1.0)  # lines that run together are none
            ink = np.maximum(ink, strength * apart * (1.0 - np.minimum(near / bold, 1.0)))
        under = target + up * ((floor.point - target) @ up)
        far = np.linalg.norm(x - under, axis=-1) / (14.0 * radius)
        share = np.clip((1.0 - far) / 0.65, 0.0, 1.0) * (ahead > 0.0)
        image = SKY + (SHEET + (LINES - SHEET) * ink[..., None] - SKY) * share[..., None]
        image = image.repeat(self.finer, axis=0).repeat(self.finer, axis=1).reshape(-1, 3)
        if casting:
            corners = np.concatenate(casting)
            height = (corners - floor.point) @ up / (self.light @ up)
            dark = np.unique(_pixels(camera, corners - height[..., None] * self.light)[0])
            image[dark] += 0.28 * (SHADE - image[dark])
        return image

    def _shaded(self, camera: _Camera, image: Array, depth: Array, made: list[tuple[Array, Array, Array, float]]
                ) -> None:  # fmt: skip
        """Draw triangles with their colours and opacities where they are nearer than what is there."""
        corners, normals = (np.concatenate([one[k] for one in made]) for k in (0, 1))
        colors = np.concatenate([np.broadcast_to(one[2], (len(one[0]), 3)) for one in made])
        share = np.concatenate([np.full(len(one[0]), one[3]) for one in made])
        pixel, triangle, weights, far = _pixels(camera, corners)
        nearest = depth.copy()
        np.minimum.at(nearest, pixel, far)
        first = (far == nearest[pixel]) & (far < depth[pixel])
        pixel, triangle, weights, far = pixel[first], triangle[first], weights[first], far[first]
        n = np.einsum("ij,ijk->ik", weights, normals[triangle])
        n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
        to = camera.eye - np.einsum("ij,ijk->ik", weights, corners[triangle])
        to /= np.linalg.norm(to, axis=1, keepdims=True)
        n *= np.where(np.einsum("ij,ij->i", n, to) < 0.0, -1.0, 1.0)[:, None]
        on = n @ self.light
        lit = 0.55 * np.maximum(on, 0.0) + 0.45 + 0.12 * (n @ self.reel.floor.normal)
        mirrored = 2.0 * on[:, None] * n - self.light
        shine = 30.0 * np.maximum(np.einsum("ij,ij->i", mirrored, to), 0.0) ** 24
        image[pixel] += share[triangle, None] * (colors[triangle] * lit[:, None] + shine[:, None] - image[pixel])
        depth[pixel] = far


def _pixels(camera: _Camera, corners: Array) -> tuple[Whole, Whole, Array, Array]:
    """The pixels that triangles (m, 3, 3) cover, of which triangle, where in it, and how far in front."""
    at, far = camera.seen(corners)
    edges = at[:, 1:] - at[:, :1]
    area = edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]
    seen = (np.abs(area) > 1e-9) & (far.min(axis=1) > 1e-6)
    triangle, y = _counted(at[..., 1].min(axis=1) * seen, at[..., 1].max(axis=1) * seen, camera.high)
    start, way = at[triangle], np.roll(at, -1, axis=1)[triangle] - at[triangle]
    with np.errstate(divide="ignore", invalid="ignore"):  # edges along a row
        share = (y[:, None] + 0.5 - start[..., 1]) / way[..., 1]
        cut = np.where(np.abs(share - 0.5) <= 0.5 + 1e-9, start[..., 0] + share * way[..., 0], np.nan)
    row, x = _counted(np.fmin.reduce(cut, axis=1) - 1.0, np.fmax.reduce(cut, axis=1) + 1.0, camera.wide)
    triangle, y = triangle[row], y[row]
    dx, dy = x + 0.5 - at[triangle, 0, 0], y + 0.5 - at[triangle, 0, 1]
    e = edges[triangle]
    b = (dx * e[:, 1, 1] - dy * e[:, 1, 0]) / area[triangle]
    c = (dy * e[:, 0, 0] - dx * e[:, 0, 1]) / area[triangle]
    inside = (b >= 0.0) & (c >= 0.0) & (b + c <= 1.0)
    triangle, b, c = triangle[inside], b[inside], c[inside]
    weights = np.stack([1.0 - b - c, b, c], axis=1) / far[triangle]
    total = weights.sum(axis=1)
    return (y * camera.wide + x)[inside], triangle, weights / total[:, None], 1.0 / total


def _counted(low: Array, high: Array, end: int) -> tuple[Any, Any]:
    """The pixels below `end` with centres in each of many stretches: which stretch, and which pixel."""
    first, last = (np.clip(np.nan_to_num(x), 0, end).astype(int) for x in (np.ceil(low - 0.5), np.floor(high + 0.5)))
    count = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, first[which] + np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
