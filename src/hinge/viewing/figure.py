"""A robot in a scene: its parts on frames that move, and marks that can be switched on.

Everything is a node of the scene's tree below one name: NAME/bodies/BODY/PART, NAME/axes, NAME/forces, ….
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.robot import Robot
from hinge.spatial.linear3 import Mat3
from hinge.spatial.rotation import quaternion_from_rotation
from hinge.viewing import shapes
from hinge.viewing.reel import body_poses

AXIS, FORCE, CONTACT, COM = (214, 39, 40), (255, 127, 14), (44, 160, 44), (148, 103, 189)
NONE = np.zeros((0, 3)), np.zeros((0, 3))
MARKS = ("frames", "joint axes", "centre of mass", "forces", "contact forces")


def wxyz(R: Array) -> Array:
    """The quaternion of a rotation (3, 3)."""
    return np.array(quaternion_from_rotation(Mat3(np.ravel(R).tolist())), float)


class Figure:
    """A robot as it stands; `stand` moves it."""

    def __init__(self, scene: Any, robot: Robot, name: str, ghost: bool = False):
        self.scene, self.robot, self.name = scene, robot, name
        neutral = robot.neutral()
        poses = body_poses(robot, neutral)
        self.parts, self.left = shapes.parts(robot.model, poses)
        self.size = max(shapes.extent(self.parts, poses), 0.1)
        self.frames = [
            scene.add_frame(f"/{name}/bodies/{body}", show_axes=False, axes_length=self.size / 12,
                            axes_radius=self.size / 300)
            for body in robot.body_names
        ]  # fmt: skip
        for k, part in enumerate(self.parts):
            path = f"/{name}/bodies/{robot.body_names[part.body - 1]}/{k}" if part.body else f"/{name}/base/{k}"
            scene.add_mesh_simple(path, part.vertices.astype(np.float32), part.faces.astype(np.uint32),
                                  color=part.color, opacity=0.25 if ghost else part.opacity, flat_shading=False,
                                  side="double")  # fmt: skip
        self.marks: dict[str, Any] = {}
        self.shown: set[str] = set()
        self.q: Array = neutral
        self.tau: Array | None = None
        self.pushes = NONE
        self.stand(neutral)

    def stand(self, q: Array, tau: Array | None = None, pushes: tuple[Array, Array] = NONE) -> None:
        """Move to a configuration; `tau` are joint forces to be drawn, `pushes` points (n, 3) and arrows there."""
        self.q, self.tau, self.pushes = np.asarray(q, float), tau, pushes
        poses = body_poses(self.robot, self.q)
        for frame, T in zip(self.frames, poses[1:], strict=True):
            frame.wxyz = wxyz(T[:3, :3])
            frame.position = T[:3, 3]
        for mark in self.shown - {"frames"}:
            self._draw(mark, poses)

    def mark(self, what: str, on: bool) -> None:
        """Show a kind of mark, or hide it."""
        (self.shown.add if on else self.shown.discard)(what)
        if what == "frames":
            for frame in self.frames:
                frame.show_axes = on
        elif on:
            self._draw(what, body_poses(self.robot, self.q))
        elif what in self.marks:
            self.marks.pop(what).remove()

    def arrows(self, name: str, points: Array, vectors: Array, color: tuple[int, int, int] = CONTACT) -> None:
        """Arrows from points (n, 3) along vectors (n, 3), in m."""
        made = np.stack([points, points + vectors], axis=1)
        long = np.linalg.norm(vectors, axis=1) > 1e-4 * self.size
        if name in self.marks:
            self.marks.pop(name).remove()
        if long.any():
            r, path = self.size / 150, f"/{self.name}/{name}"
            sizes = {"shaft_radius": r, "head_radius": 2.5 * r, "head_length": 5 * r}
            self.marks[name] = self.scene.add_arrows(path, made[long].astype(np.float32), color, **sizes)

    def _draw(self, what: str, poses: Array) -> None:
        if what == "centre of mass":
            com = self.robot.center_of_mass(self.q)
            if what not in self.marks:
                path = f"/{self.name}/com"
                self.marks[what] = self.scene.add_icosphere(path, radius=self.size / 40, color=COM, subdivisions=2)
            self.marks[what].position = com
            return
        if what == "contact forces":
            self.arrows(what, *self.pushes)
            return
        points, lines = self._axes(poses)
        if what == "joint axes":
            self.arrows(what, points - lines * self.size / 10, lines * self.size / 5, AXIS)
        elif what == "forces":
            self.arrows(what, points, lines * self._pushed()[:, None] * self.size / 3, FORCE)

    def _axes(self, poses: Array) -> tuple[Array, Array]:
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
                points.append(poses[i, :3, 3])
                direction = column[:3] if turning else column[3:]
                lines.append(direction / (np.linalg.norm(direction) or 1.0))
        return np.reshape(points, (-1, 3)), np.reshape(lines, (-1, 3))

    def _pushed(self) -> Array:
        """Joint forces as a share of their limits, or of the largest where there is none."""
        tau = np.zeros(self.robot.nv) if self.tau is None else np.nan_to_num(np.asarray(self.tau, float))
        limit = self.robot.limits.effort
        most = np.where(np.isfinite(limit) & (limit > 0.0), limit, max(float(np.abs(tau).max(initial=0.0)), 1e-9))
        return np.clip(tau / most, -1.0, 1.0)
