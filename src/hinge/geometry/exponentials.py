"""Serial linkages as products of exponentials.

    g_i(x) = exp(ξ_1 x_1) ⋯ exp(ξ_i x_i) g_i(0)

A joint's twist ξ is its motion for a unit of its coordinate in the reference configuration, in base coordinates.
Source: zefran2004, sections 1.2 and 2.3.
Differs from the source: twists have their angular part first, and a wrench is a column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hinge.dynamics.kinematics import axes_in_base, poses
from hinge.errors import GeometryError, NotCovered
from hinge.geometry.arrays import Array, in_se3, mapping, numbers
from hinge.geometry.se3 import displace, exp_along, motion, parts, pose_of, transform
from hinge.graph import Scalar
from hinge.model import Builder, Model
from hinge.model.driven import Driven
from hinge.spatial import Force, Vec3, dot, vec3

Rows = Sequence[Sequence[Scalar]]


class ProductOfExponentials:
    """A branch of a robot: the twists of its joints (n, 6), and where its bodies and its last frame stand at x = 0."""

    def __init__(self, twists: Any, reference: Any, references: Any = None, joints: Sequence[str] = (),
                 columns: Sequence[int] = (), ratios: Sequence[float] = (), start: Any = None):  # fmt: skip
        self.twists = numbers("ProductOfExponentials", "twists", np.asarray(twists, float).reshape(-1, 6), (6,))
        self.reference = in_se3("ProductOfExponentials", numbers("ProductOfExponentials", "reference", reference,
                                                                 (4, 4)), False)  # fmt: skip
        n = len(self.twists)
        given = np.broadcast_to(np.eye(4), (n, 4, 4)) if references is None else references
        self.references = in_se3("ProductOfExponentials", numbers("ProductOfExponentials", "references", given,
                                                                  (n, 4, 4)), False)  # fmt: skip
        self.joints = tuple(joints) or tuple(f"joint{k + 1}" for k in range(n))
        self._columns, self._ratios = list(columns) or list(range(n)), np.array(ratios or [1.0] * n)
        self._start = np.zeros(n) if start is None else np.asarray(start, float)

    def __repr__(self) -> str:
        return f"<ProductOfExponentials of {len(self.joints)} joints>"

    def coordinates(self, q: Any) -> Array:
        """x (…, n) for the robot's q (…, nq): each joint's coordinate, counted from the reference configuration.

        >>> hinge.samples.planar_2r().exponentials("hand", [0.1, 0.2]).coordinates([0.5, 0.5]).round(3)
        array([0.4, 0.3])
        """
        return np.asarray(q)[..., self._columns] * self._ratios - self._start

    def pose(self, x: Any) -> Any:
        """Where the frame is: (…, 4, 4) for x (…, n)."""
        return self._maps["pose"](x)

    def poses(self, x: Any) -> Any:
        """Extended forward kinematics: where every body of the branch is, (…, n, 4, 4)."""
        return self._maps["poses"](x)

    def jacobian(self, x: Any, frame: str = "base") -> Any:
        """The frame's motion for each joint's rate (…, 6, n): its spatial velocity, or with "body" its own."""
        return self._maps[f"jacobian_{_word(frame)}"](x)

    def jacobians(self, x: Any, frame: str = "base") -> Any:
        """The same for every body of the branch: (…, n, 6, n)."""
        return self._maps[f"jacobians_{_word(frame)}"](x)

    def pull_back(self, x: Any, wrenches: Any) -> Any:
        """The generalised force (…, n) of wrenches (…, n, 6) on the bodies, in base coordinates: zefran2004 (15)."""
        return self._maps["pull_back"](x, wrenches)

    @cached_property
    def _maps(self) -> dict[str, Any]:
        n = len(self.twists)
        x: dict[str, tuple[int, ...]] = {"x": (n,)}
        return {
            "pose": mapping("pose", self._pose, x, (4, 4)),
            "poses": mapping("poses", self._poses, x, (n, 4, 4)),
            "jacobian_base": mapping("jacobian", lambda x: _across(self._axes(x)), x, (6, n)),
            "jacobian_body": mapping("jacobian", self._body, x, (6, n)),
            "jacobians_base": mapping("jacobians", self._all_base, x, (n, 6, n)),
            "jacobians_body": mapping("jacobians", self._all_body, x, (n, 6, n)),
            "pull_back": mapping("pull_back", self._pulled, x | {"wrenches": (n, 6)}, (n,)),
        }

    # over scalars

    def _frames(self, x: Sequence[Scalar]) -> list[Rows]:
        """exp(ξ_1 x_1) ⋯ exp(ξ_i x_i) for every i, and before them the displacement that is none."""
        made: list[Rows] = [np.eye(4).tolist()]
        for twist, by in zip(self.twists, x, strict=True):
            made.append(_product(made[-1], exp_along(twist.tolist(), by)))
        return made

    def _pose(self, x: Sequence[Scalar]) -> Rows:
        return _product(self._frames(x)[-1], self.reference.tolist())  # zefran2004 (7)

    def _poses(self, x: Sequence[Scalar]) -> list[Rows]:
        frames = self._frames(x)[1:]
        return [
            _product(g, home.tolist()) for g, home in zip(frames, self.references, strict=True)
        ]  # zefran2004 (5), zefran2004 (7)

    def _axes(self, x: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        """The joint twists where the branch has moved to, in base coordinates."""
        frames = self._frames(x)
        return [displace.scalar(g, t.tolist()) for g, t in zip(frames, self.twists, strict=False)]

    def _body(self, x: Sequence[Scalar]) -> Rows:
        g = self._pose(x)
        return _across([transform.scalar(g, axis) for axis in self._axes(x)])  # zefran2004 (9)

    def _all_base(self, x: Sequence[Scalar]) -> list[Rows]:
        axes, n = self._axes(x), len(self.twists)
        return [_across([a if j <= i else [0.0] * 6 for j, a in enumerate(axes)]) for i in range(n)]

    def _all_body(self, x: Sequence[Scalar]) -> list[Rows]:
        axes, made = self._axes(x), list[Rows]()
        for i, g in enumerate(self._poses(x)):
            seen = [transform.scalar(g, a) if j <= i else [0.0] * 6 for j, a in enumerate(axes)]
            made.append(_across(seen))  # zefran2004 (8), zefran2004 (9)
        return made

    def _pulled(self, x: Sequence[Scalar], wrenches: Rows) -> list[Scalar]:
        axes, beyond, made = self._axes(x), Force(), [0.0] * len(self.twists)
        for i in reversed(range(len(made))):  # what acts on a body is felt by every joint before it
            beyond = beyond + Force(vec3(wrenches[i][:3]), vec3(wrenches[i][3:]))
            made[i] = dot(motion(axes[i]), beyond)  # zefran2004 (15)
        return made


def _word(frame: str) -> str:
    if frame not in ("base", "body"):
        raise NotCovered(f"a product of exponentials has Jacobians for frame='base' and frame='body', not {frame!r}.")
    return frame


def _product(a: Rows, b: Rows) -> list[list[Scalar]]:
    (R, p), (S, s) = parts(a), parts(b)
    return pose_of(R.times(S), p + R @ s)


def _across(columns: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [[column[k] for column in columns] for k in range(6)]


def branch(model: Model, name: str, q: Any) -> ProductOfExponentials:
    """The branch of a robot to a frame, with q as its reference configuration."""
    frame, flat = model.frame(name), [float(x) for x in q]
    at = model.joint_positions(flat)
    R, r = poses(model, at)
    S = axes_in_base(model, at, R, r)
    path = [frame.body, *(p for _, p in model.toward_base(frame.body))][::-1] if frame.body else []
    twists, names, columns, ratios, start, homes = [], [], [], [], [], []
    for i in path:
        _has_constant_twists(model, i)
        for k, axis in enumerate(S[i]):
            twists.append(list(axis))
            names.append(model.joint_name[i])
            columns.append(model.slices[i][0].start + k)
            ratios.append(model.ratio(i))
            start.append(model.ratio(i) * flat[columns[-1]])
            homes.append(pose_of(R[i], r[i]))
    last = pose_of(R[frame.body].times(frame.R), r[frame.body] + R[frame.body] @ frame.p)
    return ProductOfExponentials(np.array(twists).reshape(-1, 6), last, np.array(homes).reshape(-1, 4, 4), names,
                                 columns, ratios, start)  # fmt: skip


def _has_constant_twists(model: Model, i: int) -> None:
    """Refuse a joint that is no product of exponentials of its coordinates, in their order."""
    joint = model.joint[i]
    simple = [joint] if joint.nv == 1 else [one for one, _ in joint.chain()]
    ordered = [k for _, at in joint.chain() for k in at] if joint.nv > 1 else [0]
    whole = not isinstance(joint, Driven) and joint.rates_are_velocities and ordered == list(range(joint.nq))
    if not whole or not all(one.is_single and not one.axes_vary for one in simple):
        raise NotCovered(
            f"joint {model.joint_name[i]!r} is {joint.kind}, which is no product of exponentials of its coordinates.\n"
            "  Joints of one freedom with a constant twist are, and those made of such, one after the other."
        )


def model_from_twists(twists: Any, pose: Any, bodies: Sequence[Mapping[str, Any]] = (), references: Any = None,
                      name: str = "arm", **options: Any) -> Model:  # fmt: skip
    """A serial arm whose joints have these twists at q = 0, and whose frame "tool" is then at `pose`."""
    arm = ProductOfExponentials(twists, pose, references)
    builder, place, parent = Builder(name, **options), np.zeros(3), "base"
    builder.link("base")
    bodies = list(bodies) or [{}] * len(arm.twists)
    if len(bodies) != len(arm.twists):
        raise GeometryError(f"from_twists: there are {len(arm.twists)} twists and {len(bodies)} bodies.")
    for k, (twist, home, body) in enumerate(zip(arm.twists, arm.references, bodies, strict=True), start=1):
        kind, axis, point, parameters = _joint_of(k, twist)
        R, p = home[:3, :3], home[:3, 3]
        com, inertia = (
            np.asarray(body.get("com", np.zeros(3)), float),
            np.asarray(body.get("inertia", np.zeros((3, 3)))),
        )
        builder.link(f"link{k}", float(body.get("mass", 0.0)), R @ com + p - point, R @ inertia @ R.T)
        builder.joint(f"joint{k}", kind, parent, f"link{k}", point - place, axis=axis, **parameters)
        builder.frame(f"body{k}", f"link{k}", p - point, R)
        place, parent = point, f"link{k}"
    builder.frame("tool", parent, arm.reference[:3, 3] - place, arm.reference[:3, :3])
    return builder.build()


def _joint_of(k: int, twist: Array) -> tuple[str, Vec3, Array, dict[str, Any]]:
    """The kind of joint a twist stands for, its direction, a point on its line, and its pitch."""
    w, v = twist[:3], twist[3:]
    size = float(np.linalg.norm(w)) or float(np.linalg.norm(v))
    if abs(size - 1.0) > 1e-9:
        how = "is zero, and has no axis" if size == 0.0 else f"is {size:.6g} long"
        raise GeometryError(f"from_twists: twist {k} {how}.\n  Its ω has to have length one, or where it slides its v.")
    if not w.any():
        return "prismatic", vec3(v.tolist()), np.zeros(3), {}
    point, pitch = np.cross(w, v), float(w @ v)  # zefran2004 (6)
    if abs(pitch) < 1e-12:
        return "revolute", vec3(w.tolist()), point, {}
    return "helical", vec3(w.tolist()), point, {"pitch": pitch}
