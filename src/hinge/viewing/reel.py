"""What a film shows: parts of bodies and where they are in each picture, forces, trails, the floor, the camera.

Pictures are a page's business (film_page.py) or of pixels made here (render.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.contact_model import Ground
from hinge.errors import one_of
from hinge.model.height_fields import HeightField
from hinge.robot import Robot
from hinge.sim import Trajectory
from hinge.typing import Whole
from hinge.viewing import shapes
from hinge.viewing.cast import LAYOUTS, Runs, Take, body_poses, places, takes, traced
from hinge.viewing.shapes import Floor, Part

TERRAIN = (196, 190, 178)
GHOST = 0.3  # the opacity of rollouts that others are seen through
FLASHES, PALE = 5, 0.15  # of a picture of several times: how many, and how much is seen of the first
STEADY = 1.0  # s: how long the camera takes to follow


class Reel(NamedTuple):
    """A film before it is drawn: F pictures of B bodies, bases among them, with up to n forces and m trails."""

    name: str
    t: Array  # (F,) s
    rate: float  # pictures a second
    parts: list[Part]
    poses: Array  # (F, B, 4, 4)
    points: Array  # (F, n, 3) m
    pushes: Array  # (F, n, 3) m: forces as they are drawn
    trails: Array  # (m, F, 3) m: where a tip is in each picture
    floor: Floor
    target: Array  # (F, 3) m: where the camera looks
    radius: float  # m: how far from there something is seen

    @property
    def cell(self) -> float:
        """Between lines of the floor, in m: one, two or five times a power of ten."""
        power = 10.0 ** np.floor(np.log10(self.radius / 4.0))
        return float(power * max(k for k in (1, 2, 5) if k * power <= self.radius / 4.0))


class _Shot(NamedTuple):
    """One rollout as a film has it."""

    parts: list[Part]
    poses: Array
    points: Array
    pushes: Array
    trails: Array
    floor: Floor
    target: Array
    radius: float

    def at(self, place: Array) -> _Shot:
        """The same elsewhere."""
        poses = self.poses.copy()
        poses[..., :3, 3] += place
        points, trails, target = (x + place for x in (self.points, self.trails, self.target))
        return self._replace(poses=poses, points=points, trails=trails, target=target)


def reel(
    run: Runs,
    rollout: int | Sequence[int] = 0,
    rate: float = 30.0,
    speed: float = 1.0,
    layout: str = "grid",
    trails: Sequence[str] | bool = (),
) -> Reel:
    """The film of one rollout or of several together, `speed` times as fast as they were."""
    one_of("layout", layout, LAYOUTS)
    cast = takes("film", run, rollout)
    longest = max(cast, key=lambda take: float(take.t[-1]))
    first = min(float(take.t[0]) for take in cast)
    count = max(1, int(np.floor((longest.t[-1] - first) / speed * rate + 1e-9)) + 1)
    times = first + np.arange(count) * speed / rate
    robots = {id(take.robot): take.robot for take in cast}
    drawn = {key: shapes.parts(one.model, body_poses(one, one.neutral()))[0] for key, one in robots.items()}
    shots = [_shot(take, _rows(take, times), rate, trails, drawn[id(take.robot)]) for take in cast]
    floor = min((shot.floor for shot in shots), key=lambda one: float(one.point[2]))
    apart = places(layout, len(shots), max(shot.radius for shot in shots), floor.normal)
    shots = [shot.at(place) for shot, place in zip(shots, apart, strict=True)]
    target = np.mean([shot.target for shot in shots], axis=0)
    return Reel(
        ", ".join(dict.fromkeys(take.robot.name for take in cast)),
        longest.t[_rows(longest, times)],
        rate,
        _together(shots, layout == "ghosts"),
        np.concatenate([shot.poses for shot in shots], axis=1),
        np.concatenate([shot.points for shot in shots], axis=1),
        np.concatenate([shot.pushes for shot in shots], axis=1),
        np.concatenate([shot.trails for shot in shots]),
        floor,
        target,
        max(_reach(*_balls(shot.parts, shot.poses), target) for shot in shots),
    )


def _together(shots: list[_Shot], ghosts: bool) -> list[Part]:
    """The parts of all, with their bodies numbered on; of ghosts only what moves, and that is seen through."""
    made: list[Part] = []
    bodies = 0
    for k, shot in enumerate(shots):
        through = ghosts and k > 0
        for part in shot.parts:
            if part.body or not through:
                opacity = GHOST if through else part.opacity
                made.append(part._replace(body=part.body + bodies, opacity=opacity))
        bodies += shot.poses.shape[1]
    return made


def strobe(made: Reel, count: int = FLASHES) -> Reel:
    """A film of one picture: the robot at places equally far apart, the earlier the paler; forces are the last ones."""
    steps = np.linalg.norm(np.diff(made.poses[..., :3, 3], axis=0), axis=(1, 2))
    way = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.unique(np.searchsorted(way, np.linspace(0.0, way[-1], count)).clip(0, len(way) - 1))
    bodies, parts = made.poses.shape[1], [part for part in made.parts if not part.body]
    for k, seen in enumerate(np.linspace(PALE, 1.0, len(at))):
        parts += [_shone(part, k * bodies, float(seen)) for part in made.parts if part.body]
    poses = made.poses[at].reshape(1, -1, 4, 4)
    target, radius = watched(parts, poses, made.rate)
    last = slice(-1, None)
    shown = {name: getattr(made, name)[last] for name in ("t", "points", "pushes")}
    return made._replace(parts=parts, poses=poses, target=target, radius=radius, **shown)


def _shone(part: Part, bodies: int, seen: float) -> Part:
    """A part of the same body so many bodies later, and less of it seen."""
    opacity = part.opacity if seen == 1.0 else seen * (1.0 if part.opacity is None else part.opacity)
    return part._replace(body=part.body + bodies, opacity=opacity)


def _rows(take: Take, times: Any) -> Whole:
    """The recorded states that are shown at these times; one that was lost stays where it was good."""
    return np.minimum(np.searchsorted(take.t, times - 1e-9), len(take.t) - 1)


def _shot(take: Take, rows: Whole, rate: float, trails: Sequence[str] | bool, drawn: list[Part]) -> _Shot:
    robot, where = take.robot, take.bodies(rows)
    parts = drawn + terrain(take.run)
    points, pushes = take.forces(shapes.extent(parts, where[0]))
    ways = take.paths(traced("film", robot, trails), rows)
    floor = floor_of(robot, take.run, parts, where)
    return _Shot(parts, where, points[rows], pushes[rows], ways, floor, *watched(parts, where, rate))


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


def _balls(parts: list[Part], where: Array) -> tuple[Array, Array]:
    """Balls around what moves, or else what is there: centres (F, n, 3) and radii (n) in m; one where nothing is."""
    if not parts:
        return np.zeros((len(where), 1, 3)), np.array([0.5])
    centres, radii, bodies = shapes.balls([part for part in parts if part.body] or parts)
    T = where[:, bodies]
    return np.einsum("fnij,nj->fni", T[..., :3, :3], centres) + T[..., :3, 3], radii


def _reach(at: Array, radii: Array, target: Array) -> float:
    """How far from what the camera looks at, (F, 3), something of these balls ever is."""
    return float((np.linalg.norm(at - target[:, None], axis=-1) + radii).max())


def watched(parts: list[Part], where: Array, rate: float) -> tuple[Array, float]:
    """Where the camera looks in each picture, which is along slowly and never up and down, and how far one sees."""
    at, radii = _balls(parts, where)
    middle = 0.5 * ((at - radii[:, None]).min(axis=1) + (at + radii[:, None]).max(axis=1))
    half = min(round(0.5 * STEADY * rate), len(middle) - 1)
    padded = np.pad(middle, ((half, half), (0, 0)), mode="edge")
    sums = np.cumsum(np.vstack([np.zeros(3), padded]), axis=0)
    target = (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)
    target[:, 2] = middle[:, 2].mean()
    return target, _reach(at, radii, target)
