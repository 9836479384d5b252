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

from hinge.backends.sympy_input import Reading, is_sympy, refuse_sympy
from hinge.dynamics.kinematics import axes_in_base, poses
from hinge.errors import GeometryError, NotCovered, SizeError
from hinge.geometry.arrays import Array, flat, in_se3, is_symbolic, mapping, numbers
from hinge.geometry.se3 import displace, exp_along, force, motion, pose_of, product, transform
from hinge.graph import Scalar
from hinge.model import Builder, Frame, Model
from hinge.model.driven import Driven
from hinge.spatial import Force, Mat3, Vec3, dot, vec3

Rows = Sequence[Sequence[Scalar]]


class ProductOfExponentials:
    """A branch of a robot: the twists of its joints (n, 6), and where its bodies and its last frame stand at x = 0."""

    def __init__(self, twists: Any, reference: Any, references: Any = None, joints: Sequence[str] = (),
                 columns: Sequence[int] = (), ratios: Sequence[float] = (), start: Any = None):  # fmt: skip
        """From arrays of numbers, or nested lists that hold the symbols of a robot."""
        if not np.ndim(np.asarray(twists, dtype=object)):
            raise SizeError(f"ProductOfExponentials: twists is a {type(twists).__name__}; it has to be (n, 6).")
        name, n = "ProductOfExponentials", len(twists)
        given = np.broadcast_to(np.eye(4), (n, 4, 4)).tolist() if references is None else references
        self._on_paper = any(map(is_symbolic, (twists, reference, given)))
        if not self._on_paper:
            twists = numbers(name, "twists", twists if n else np.zeros((0, 6)), (n, 6)).tolist()
            reference = in_se3(name, numbers(name, "reference", reference, (4, 4)), False).tolist()
            given = in_se3(name, numbers(name, "references", given, (n, 4, 4)), False).tolist()
        self._twists, self._reference, self._references = twists, reference, given
        self.joints = tuple(joints) or tuple(f"joint{k + 1}" for k in range(n))
        self._columns, self._ratios = list(columns) or list(range(n)), list(ratios) or [1.0] * n
        self._start = [0.0] * n if start is None else list(start)

    def __repr__(self) -> str:
        return f"<ProductOfExponentials of {len(self.joints)} joints>"

    @property
    def twists(self) -> Any:
        """The motion of each joint for a unit of its coordinate, at x = 0, in base coordinates: (n, 6)."""
        return self._shown(self._twists, (len(self._twists), 6))

    @property
    def reference(self) -> Any:
        """Where the frame is at x = 0: (4, 4)."""
        return self._shown(self._reference, (4, 4))

    @property
    def references(self) -> Any:
        """Where each body of the branch is at x = 0: (n, 4, 4)."""
        return self._shown(self._references, (len(self._twists), 4, 4))

    def _shown(self, nested: Any, shape: tuple[int, ...]) -> Any:
        return Reading().written(flat(nested), shape) if self._on_paper else np.array(nested).reshape(shape)

    def coordinates(self, q: Any) -> Any:
        """x (…, n) for the robot's q (…, nq): each joint's coordinate, counted from the reference configuration.

        >>> hinge.samples.planar_2r().exponentials("hand", [0.1, 0.2]).coordinates([0.5, 0.5]).round(3)
        array([0.4, 0.3])
        """
        if is_sympy(q):
            reading, entries = Reading(), list(np.array(q, dtype=object).reshape(-1))
            read = reading.array("coordinates: q", entries, (len(entries),))
            moved = zip(self._columns, self._ratios, self._start, strict=True)
            return reading.written([read[k] * ratio - x for k, ratio, x in moved], (len(self.joints),))
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
        """The Jacobians of every body of the branch: (…, n, 6, n)."""
        return self._maps[f"jacobians_{_word(frame)}"](x)

    def pull_back(self, x: Any, wrenches: Any) -> Any:
        """The generalised force (…, n) of wrenches (…, n, 6) on the bodies, in base coordinates: zefran2004 (15)."""
        return self._maps["pull_back"](x, wrenches)

    @cached_property
    def _maps(self) -> dict[str, Any]:
        n = len(self._twists)
        x: dict[str, tuple[int, ...]] = {"x": (n,)}
        made: dict[str, tuple[Any, dict[str, tuple[int, ...]], tuple[int, ...]]] = {
            "pose": (self._pose, x, (4, 4)),
            "poses": (self._poses, x, (n, 4, 4)),
            "jacobian_base": (lambda x: _across(self._axes(x)), x, (6, n)),
            "jacobian_body": (self._body, x, (6, n)),
            "jacobians_base": (self._all_base, x, (n, 6, n)),
            "jacobians_body": (self._all_body, x, (n, 6, n)),
            "pull_back": (self._pulled, x | {"wrenches": (n, 6)}, (n,)),
        }
        return {name: mapping(name.partition("_b")[0], *one, on_paper=self._on_paper) for name, one in made.items()}

    # over scalars

    def _frames(self, x: Sequence[Scalar]) -> list[Rows]:
        """exp(ξ_1 x_1) ⋯ exp(ξ_i x_i) for every i, and before them the displacement that is none."""
        made: list[Rows] = [np.eye(4).tolist()]
        for twist, by in zip(self._twists, x, strict=True):
            made.append(product.scalar(made[-1], exp_along(twist, by)))
        return made

    def _pose(self, x: Sequence[Scalar]) -> Rows:
        return product.scalar(self._frames(x)[-1], self._reference)  # zefran2004 (7)

    def _poses(self, x: Sequence[Scalar]) -> list[Rows]:
        moved = zip(self._frames(x)[1:], self._references, strict=True)
        return [product.scalar(g, home) for g, home in moved]  # zefran2004 (5), zefran2004 (7)

    def _axes(self, x: Sequence[Scalar]) -> list[Sequence[Scalar]]:
        """The joint twists where the branch has moved to, in base coordinates."""
        return [displace.scalar(g, t) for g, t in zip(self._frames(x)[:-1], self._twists, strict=True)]

    def _body(self, x: Sequence[Scalar]) -> Rows:
        g = self._pose(x)
        return _across([transform.scalar(g, axis) for axis in self._axes(x)])  # zefran2004 (9)

    def _all_base(self, x: Sequence[Scalar]) -> list[Rows]:
        axes, n = self._axes(x), len(self._twists)
        return [_across([a if j <= i else [0.0] * 6 for j, a in enumerate(axes)]) for i in range(n)]

    def _all_body(self, x: Sequence[Scalar]) -> list[Rows]:
        axes, made = self._axes(x), list[Rows]()
        for i, g in enumerate(self._poses(x)):
            seen = [transform.scalar(g, a) if j <= i else [0.0] * 6 for j, a in enumerate(axes)]
            made.append(_across(seen))  # zefran2004 (8), zefran2004 (9)
        return made

    def _pulled(self, x: Sequence[Scalar], wrenches: Rows) -> list[Scalar]:
        axes, beyond, made = self._axes(x), Force(), [0.0] * len(self._twists)
        for i in reversed(range(len(made))):  # what acts on a body is felt by every joint before it
            beyond = beyond + force(wrenches[i])
            made[i] = dot(motion(axes[i]), beyond)  # zefran2004 (15)
        return made


def _word(frame: str) -> str:
    if frame not in ("base", "body"):
        raise NotCovered(f"a product of exponentials has Jacobians for frame='base' and frame='body', not {frame!r}.")
    return frame


def _across(columns: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [[column[k] for column in columns] for k in range(6)]


def branch(model: Model, name: str, q: Any) -> ProductOfExponentials:
    """The branch of a robot to a frame, with q as its reference configuration."""
    frame, q = model.frame(name), [float(x) for x in q]
    at = model.joint_positions(q)
    R, r = poses(model, at)
    S = axes_in_base(model, at, R, r)
    path = [frame.body, *(p for _, p in model.toward_base(frame.body))][::-1] if frame.body else []
    twists, names, columns, ratios, start, homes = [], [], [], [], [], []
    for i in path:
        _has_constant_twists(model, i)
        home = _home(model.frame(model.body_name[i]), R, r)  # zefran2004 (5): of the frame that has the body's name
        for k, axis in enumerate(S[i]):
            twists.append(list(axis))
            names.append(model.joint_name[i])
            columns.append(model.slices[i][0].start + k)
            ratios.append(model.ratio(i))
            start.append(model.ratio(i) * q[columns[-1]])
            homes.append(home)
    return ProductOfExponentials(twists, _home(frame, R, r), homes, names, columns, ratios, start)


def _home(frame: Frame, R: Sequence[Mat3], r: Sequence[Vec3]) -> Rows:
    """Return the pose of a frame where each body i has rotation R[i] and origin r[i]."""
    return pose_of(R[frame.body].times(frame.R), r[frame.body] + R[frame.body] @ frame.p)


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
    refuse_sympy("from_twists", twists, pose, references)
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
