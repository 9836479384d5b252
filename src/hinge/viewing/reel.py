"""What a film shows: parts of bodies, where they are at each picture, forces of contacts, the floor, and the camera.

Pictures are a page's business (film_page.py) or of pixels made here (render.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.calls.poses import poses
from hinge.contact.contact_model import Ground
from hinge.errors import SizeError, TrajectoryError
from hinge.model.height_fields import HeightField
from hinge.robot import Robot
from hinge.sim import Trajectory
from hinge.viewing import shapes
from hinge.viewing.shapes import Floor, Part

LONG, LONGEST = 0.5, 0.75  # of a robot's size: the arrow of its weight, and the longest
TERRAIN = (196, 190, 178)
FLASHES, PALE = 5, 0.15  # of a picture of several times: how many, and how much is seen of the first
STEADY = 1.0  # s: how long the camera takes to follow


class Reel(NamedTuple):
    """A film before it is drawn: F pictures of B bodies, the base among them, with up to n forces."""

    name: str
    t: Array  # (F,) s
    rate: float  # pictures a second
    parts: list[Part]
    poses: Array  # (F, B, 4, 4)
    points: Array  # (F, n, 3) m
    pushes: Array  # (F, n, 3) m: forces as they are drawn
    floor: Floor
    target: Array  # (F, 3) m: where the camera looks
    radius: float  # m: how far from there something is seen

    @property
    def cell(self) -> float:
        """Between lines of the floor, in m: one, two or five times a power of ten."""
        power = 10.0 ** np.floor(np.log10(self.radius / 4.0))
        return float(power * max(k for k in (1, 2, 5) if k * power <= self.radius / 4.0))


def reel(run: Trajectory, rollout: int = 0, rate: float = 30.0, speed: float = 1.0) -> Reel:
    """The film of one rollout, `speed` times as fast as it was."""
    playable(run)
    q, _, t = one_rollout(run, rollout)
    count = max(1, int(np.floor((t[-1] - t[0]) / speed * rate + 1e-9)) + 1)
    at = np.minimum(np.searchsorted(t, t[0] + np.arange(count) * speed / rate - 1e-9), len(t) - 1)
    robot = run.robot
    where = body_poses(robot, q[at])
    parts, _ = shapes.parts(robot.model, body_poses(robot, robot.neutral()))
    parts += terrain(run)
    target, radius = _camera(parts, where, rate)
    points, pushes = forces_drawn(run, rollout, shapes.extent(parts, where[0]))
    floor = floor_of(robot, run, parts, where)
    return Reel(robot.name, t[at], rate, parts, where, points[at], pushes[at], floor, target, radius)


def strobe(made: Reel, count: int = FLASHES) -> Reel:
    """A film of one picture: the robot at places equally far apart, the earlier the paler; forces are the last ones."""
    steps = np.linalg.norm(np.diff(made.poses[..., :3, 3], axis=0), axis=(1, 2))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], count)).clip(0, len(way) - 1))
    bodies, parts = made.poses.shape[1], [part for part in made.parts if not part.body]
    for k, seen in enumerate(np.linspace(PALE, 1.0, len(at))):
        parts += [_shone(part, k * bodies, float(seen)) for part in made.parts if part.body]
    poses = made.poses[at].reshape(1, -1, 4, 4)
    target, radius = _camera(parts, poses, made.rate)
    last = slice(-1, None)
    return made._replace(t=made.t[last], parts=parts, poses=poses, points=made.points[last], pushes=made.pushes[last],
                         target=target, radius=radius)  # fmt: skip


def _shone(part: Part, bodies: int, seen: float) -> Part:
    """A part of the same body so many bodies later, and less of it seen."""
    opacity = part.opacity if seen == 1.0 else seen * (1.0 if part.opacity is None else part.opacity)
    return part._replace(body=part.body + bodies, opacity=opacity)


def body_poses(robot: Robot, q: Array) -> Array:
    """Where the base and each body are, (…, bodies + 1, 4, 4): frames of bodies, on which a link may have its own."""
    links = np.tile(np.eye(4), (robot.model.count, 1, 1))
    for link, name in zip(links, robot.body_names, strict=True):
        frame = robot.model.frame(name)
        link[:3] = np.column_stack([np.reshape(tuple(frame.R), (3, 3)), tuple(frame.p)])
    base = np.broadcast_to(np.eye(4), (*q.shape[:-1], 1, 4, 4))
    return np.concatenate([base, poses(robot.target, q, robot.body_names) @ np.linalg.inv(links)], axis=-3)


def playable(run: Trajectory) -> None:
    """Refuse a trajectory in which some rollout has no state to show."""
    if "q" not in run.states or not np.isfinite(run.q).all(axis=-1).any(axis=-1).all():
        raise SizeError("view: the trajectory has no coordinates to show. Simulate with fields=('q', 'qd').")


def one_rollout(run: Trajectory, k: int) -> tuple[Array, Array | None, Array]:
    """States of one rollout while it was good: q (T, nq), tau (T, nv) or None, t."""
    q = _of(run, "q", k)
    assert q is not None
    good = np.isfinite(q).all(axis=1)
    tau = _of(run, "tau", k)
    return q[good], None if tau is None else tau[good], run.t[good]


def _of(run: Trajectory, name: str, k: int) -> Array | None:
    """What was recorded of a rollout under that name, (T, n)."""
    a = getattr(run, name) if name in run.states else None
    return None if a is None else a.reshape(-1, *a.shape[-2:])[k]


def forces_drawn(run: Trajectory, k: int, size: float) -> tuple[Array, Array]:
    """Contact points of a rollout, and forces there as arrows in m: the robot's weight is half as long as it is.

    Both are (T, n, 3); n is 0 where it is not known what touched.
    """
    none = np.zeros((len(run), 0, 3))
    weight = run.robot.mass * float(np.linalg.norm(run.robot.model.gravity)) or 1.0
    if run.course is None or "qd" not in run.states:
        return none, none
    try:
        made = run.course.alone(k).contacts(run.t, _of(run, "q", k), _of(run, "qd", k), _of(run, "tau", k))
    except TrajectoryError:
        return none, none
    length = np.linalg.norm(made.forces, axis=-1, keepdims=True)
    arrows = made.forces * size / np.maximum(weight / LONG, length / LONGEST)
    there = made.pairs >= 0
    most = int(there.sum(axis=-1).max(initial=0))
    first = np.argsort(~there, axis=-1, kind="stable")[:, :most, None]
    return np.take_along_axis(made.points, first, axis=1), np.take_along_axis(arrows, first, axis=1)


def _ground(run: Trajectory | None) -> Ground | None:
    """What a run was told to stand on."""
    touch = None if run is None or run.course is None else run.course.physics.touch
    return None if touch is None else touch.ground


def terrain(run: Trajectory | None) -> list[Part]:
    """The terrain of a run, as a part of the base."""
    ground = _ground(run)
    if ground is None or ground.heights is None:
        return []
    vertices, faces = HeightField(ground.heights).triangles()
    return [Part(0, vertices + [0.0, 0.0, ground.height], faces, TERRAIN)]


def floor_of(robot: Robot, run: Trajectory | None, parts: list[Part], where: Array) -> Floor:
    """What a run stands on: its ground, or a plane of the file; else a floor just below all that is seen."""
    ground = _ground(run)
    if ground is not None and ground.heights is None:
        up = np.array(ground.normal)
        return Floor(ground.height * up, up)
    planes = shapes.floors(robot.model)
    if planes:
        return planes[0]
    up = np.array([0.0, 0.0, 1.0])
    lowest = [((part.vertices @ T[:, 2, :3].T + T[:, 2, 3]).min()) for part in parts for T in (where[:, part.body],)]
    return Floor(up * min([0.0, *map(float, lowest)]), up)


def _moved(centres: Array, bodies: Array, where: Array) -> Array:
    """Points of bodies (n, 3) as they move, (F, n, 3)."""
    T = where[:, bodies]
    return np.einsum("fnij,nj->fni", T[..., :3, :3], centres) + T[..., :3, 3]


def _camera(parts: list[Part], where: Array, rate: float) -> tuple[Array, float]:
    """Where the camera looks in each picture, which is along slowly and never up and down, and how far one sees."""
    centres, radii, bodies = shapes.balls([part for part in parts if part.body] or parts)
    at = _moved(centres, bodies, where)
    middle = 0.5 * ((at - radii[:, None]).min(axis=1) + (at + radii[:, None]).max(axis=1))
    half = min(round(0.5 * STEADY * rate), len(middle) - 1)
    padded = np.pad(middle, ((half, half), (0, 0)), mode="edge")
    sums = np.cumsum(np.vstack([np.zeros(3), padded]), axis=0)
    target = (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)
    target[:, 2] = middle[:, 2].mean()
    return target, float((np.linalg.norm(at - target[:, None], axis=-1) + radii).max())
