"""A robot in a scene: its parts on frames that move, and marks that can be switched on.

Everything is a node of the scene's tree below one name: NAME/bodies/BODY/PART, NAME/axes, NAME/forces, ….
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.calls.numbers import limits_of
from hinge.robot import Robot
from hinge.spatial.linear3 import Mat3
from hinge.spatial.rotation import quaternion_from_rotation
from hinge.viewing import shapes
from hinge.viewing.cast import body_poses
from hinge.viewing.marks import AXIS, COM, CONTACT, FORCE, TRAIL
from hinge.viewing.reel import GHOST

NONE = np.zeros((0, 3)), np.zeros((0, 3))
FOLLOWING = {"joint axes", "centre of mass", "forces", "contact forces", "trails"}  # drawn anew at each state


def wxyz(R: Array) -> Array:
    """The quaternion of a rotation (3, 3)."""
    return np.array(quaternion_from_rotation(Mat3(np.ravel(R).tolist())), float)


class Figure:
    """A robot as it stands; `stand` moves it. One that is `like` another is of the same robot, in the same place."""

    def __init__(self, scene: Any, robot: Robot, name: str, ghost: bool = False, like: Figure | None = None):
        self.scene, self.robot, self.name = scene, robot, name
        neutral = robot.neutral()
        poses = body_poses(robot, neutral)
        self.parts: list[shapes.Part]
        self.left: list[str]  # what could not be drawn as its file says
        self.parts, self.left = (like.parts, like.left) if like else shapes.parts(robot.model, poses)
        self.size = max(shapes.extent(self.parts, poses), 0.1)
        self.place: Array = like.place if like else np.zeros(3)
        self.root = scene.add_frame(f"/{name}", show_axes=False, position=self.place)
        axes = {"show_axes": False, "axes_length": self.size / 12, "axes_radius": self.size / 300}
        self.frames = [scene.add_frame(f"/{name}/bodies/{body}", **axes) for body in robot.body_names]
        self.meshes = []
        for k, part in enumerate(self.parts):
            path = f"/{name}/bodies/{robot.body_names[part.body - 1]}/{k}" if part.body else f"/{name}/base/{k}"
            mesh = scene.add_mesh_simple(
                path,
                part.vertices.astype(np.float32),
                part.faces.astype(np.uint32),
                color=part.color,
                opacity=GHOST if ghost else part.opacity,
                flat_shading=False,
                side="double",
            )
            self.meshes.append((mesh, GHOST if ghost else part.opacity))
        self.marks: dict[str, list[Any]] = {}
        self.shown: set[str] = set()
        self.q: Array = neutral
        self.tau: Array | None = None
        self.pushes = NONE
        self.ways = np.zeros((0, 0, 3))
        self.stand(neutral)

    def stand(
        self,
        q: Array,
        tau: Array | None = None,
        pushes: tuple[Array, Array] = NONE,
        ways: Array | None = None,
        poses: Array | None = None,
    ) -> None:
        """Move to a configuration, with what is drawn of it.

        `tau` are joint forces, `pushes` points (n, 3) and arrows there, `ways` those that tips have come, (m, T, 3),
        and `poses` those of base and bodies where they are known.
        """
        self.q, self.tau, self.pushes = np.asarray(q, float), tau, pushes
        self.ways = self.ways if ways is None else ways
        self.poses = body_poses(self.robot, self.q) if poses is None else poses
        for frame, T in zip(self.frames, self.poses[1:], strict=True):
            frame.wxyz = wxyz(T[:3, :3])
            frame.position = T[:3, 3]
        for mark in self.shown & FOLLOWING:
            self._draw(mark)

    def mark(self, what: str, on: bool) -> None:
        """Show a kind of mark, or hide it."""
        (self.shown.add if on else self.shown.discard)(what)
        if what == "frames":
            for frame in self.frames:
                frame.show_axes = on
        elif what == "translucent":
            for mesh, usual in self.meshes:
                mesh.opacity = GHOST if on else usual
        elif on:
            self._draw(what)
        else:
            self._clear(what)

    def arrows(self, name: str, points: Array, vectors: Array, color: tuple[int, int, int] = CONTACT) -> None:
        """Arrows from points (n, 3) along vectors (n, 3), in m."""
        made = np.stack([points, points + vectors], axis=1)
        long = np.linalg.norm(vectors, axis=1) > 1e-4 * self.size
        self._clear(name)
        if long.any():
            r, path = self.size / 150, f"/{self.name}/{name}"
            sizes = {"shaft_radius": r, "head_radius": 2.5 * r, "head_length": 5 * r}
            self.marks[name] = [self.scene.add_arrows(path, made[long].astype(np.float32), color, **sizes)]

    def _clear(self, what: str) -> None:
        for node in self.marks.pop(what, ()):
            node.remove()

    def _draw(self, what: str) -> None:
        if what == "centre of mass":
            if what not in self.marks:
                path = f"/{self.name}/com"
                self.marks[what] = [self.scene.add_icosphere(path, radius=self.size / 40, color=COM, subdivisions=2)]
            self.marks[what][0].position = self.robot.center_of_mass(self.q)
        elif what == "contact forces":
            self.arrows(what, *self.pushes)
        elif what == "trails":
            self._trails()
        elif what == "link names":
            self.marks[what] = [self._label(body) for body in self.robot.body_names]
        elif what == "frame names":
            self.marks[what] = [self._label(name) for name in self.own_frames()]
        else:
            points, lines = self._axes()
            if what == "joint axes":
                self.arrows(what, points - lines * self.size / 10, lines * self.size / 5, AXIS)
            else:
                self.arrows(what, points, lines * self._pushed()[:, None] * self.size / 3, FORCE)

    def own_frames(self) -> list[str]:
        """Links without a joint of their own, sites and the like, on bodies that move."""
        model = self.robot.model
        return [name for name, one in model.frames.items() if one.body and name != model.body_name[one.body]]

    def _label(self, name: str) -> Any:
        frame = self.robot.model.frame(name)
        path = f"/{self.name}/bodies/{self.robot.model.body_name[frame.body]}/name of {name}"
        return self.scene.add_label(path, name, position=np.array(tuple(frame.p), float))

    def _trails(self) -> None:
        """The ways that tips have come, as lines."""
        lines = np.stack([self.ways[:, :-1], self.ways[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.float32)
        if not len(lines):
            self._clear("trails")
        elif "trails" in self.marks:
            self.marks["trails"][0].points = lines
        else:
            thick = {"thickness": self.size / 200}
            self.marks["trails"] = [self.scene.add_line_segments(f"/{self.name}/trails", lines, TRAIL, **thick)]

    def _axes(self) -> tuple[Array, Array]:
        """For each velocity a point on its axis and the direction, in base coordinates."""
        points, lines = [], []
        J = {}
        for i in self.robot.model.leaders:
            body = self.robot.model.body_name[i]
            if body not in J:
                J[body] = self.robot.jacobian(self.q, body, frame="aligned")
            _, at = self.robot.model.slices[i]
            for column in J[body][:, at].T:
                turning = np.linalg.norm(column[:3]) > 1e-9
                points.append(self.poses[i, :3, 3])
                direction = column[:3] if turning else column[3:]
                lines.append(direction / (np.linalg.norm(direction) or 1.0))
        return np.reshape(points, (-1, 3)), np.reshape(lines, (-1, 3))

    def _pushed(self) -> Array:
        """Joint forces as a share of their limits, or of the largest where there is none."""
        tau = np.zeros(self.robot.nv) if self.tau is None else np.nan_to_num(np.asarray(self.tau, float))
        limit = limits_of(self.robot.target).effort
        most = np.where(np.isfinite(limit) & (limit > 0.0), limit, max(float(np.abs(tau).max(initial=0.0)), 1e-9))
        return np.clip(tau / most, -1.0, 1.0)
