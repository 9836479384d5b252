"""What closes a circuit in a tree: joints between two of its bodies, and couplings of joints. Data, and how it is made.

A loop's frames have names, LOOP.a on the predecessor and LOOP.b on the successor, so that whatever moves frames moves
loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hinge.errors import ModelError, did_you_mean
from hinge.model.edit import pose_of
from hinge.model.joint_constraints import withstood
from hinge.model.joint_entries import make_joint
from hinge.model.joints import JOINTS, Joint
from hinge.model.model import Frame, Model
from hinge.spatial.linear3 import IDENTITY, ZERO
from hinge.spatial.vectors import Force, Motion


@dataclass(frozen=True)
class Loop:
    """A joint that closes a circuit: its inner frame is the one named a, its outer frame the one named b."""

    name: str
    joint: Joint
    a: str
    b: str
    powered: bool = False

    @property
    def size(self) -> int:
        """How many constraints it imposes."""
        return 6 - self.joint.nv

    def renamed(self, prefix: str) -> Loop:
        """The same loop in a robot whose names have that prefix."""
        return replace(self, name=f"{prefix}{self.name}", a=f"{prefix}{self.a}", b=f"{prefix}{self.b}")

    @property
    def force_names(self) -> list[str]:
        """What its reaction forces are, a name a constraint."""
        forces, _ = withstood(self.joint.gap, IDENTITY, ZERO, Motion())
        return [f"{self.name}: {_said(force)}" for force in forces]


@dataclass(frozen=True)
class Tie:
    """Two joints kept in step: q - rest = c0 + c1 x + c2 x² + …, with x the other's coordinate from its rest."""

    name: str
    joint: str
    other: str  # or "" where the joint is held
    coefficients: tuple[float, ...]
    rest: tuple[float, float] = (0.0, 0.0)
    powered = False
    size = 1

    def renamed(self, prefix: str) -> Tie:
        """The same tie in a robot whose names have that prefix."""
        other = f"{prefix}{self.other}" if self.other else ""
        return replace(self, name=f"{prefix}{self.name}", joint=f"{prefix}{self.joint}", other=other)

    @property
    def force_names(self) -> list[str]:
        """What it pushes with."""
        return [f"{self.name}: force of joint {self.joint!r}"]


def _said(force: Force) -> str:
    couple = not any(abs(x) > 1e-9 for x in force.lin)
    direction = force.ang if couple else force.lin
    return ("couple about " if couple else "force along ") + f"({', '.join(f'{x + 0.0:.3g}' for x in direction)})"


def close(model: Model, joint: Joint | str, body_a: str, body_b: str, placement_a: Any = (0.0, 0.0, 0.0),
          placement_b: Any = (0.0, 0.0, 0.0), name: str = "", powered: bool = False,
          axis: Sequence[float] | None = None, parameters: Mapping[str, Any] | None = None) -> Model:  # fmt: skip
    """With a joint from a place on one link or frame to a place on another."""
    name = name or f"loop{len(model.loops) + 1}"
    if name in {loop.name for loop in model.loops}:
        raise ModelError("duplicate-loop", f"robot {model.name!r} has a loop {name!r} already.", "Rename it.")
    if isinstance(joint, str):
        if joint not in JOINTS:
            raise ModelError("joint-type", f"loop {name!r} has type {joint!r}.", did_you_mean(joint, JOINTS))
        joint = make_joint(name, joint, axis, parameters or {})
    elif not isinstance(joint, Joint):
        raise ModelError("joint-type", f"loop {name!r} is a {type(joint).__name__}.", "Name a kind, or give a joint.")
    constraints = len(joint.gap(IDENTITY, ZERO))
    if constraints != 6 - joint.nv:
        raise ModelError("joint-type", f"loop {name!r}: gap of a {joint.kind} joint has {constraints} entries.",
                         f"Its {joint.nv} freedoms leave {6 - joint.nv} constraints.")  # fmt: skip
    if powered and joint.axes_vary:
        raise ModelError("powered", f"loop {name!r} cannot be powered: axes of a {joint.kind} joint vary.",
                         "Make it a joint of the tree, and cut another.")  # fmt: skip
    places = [
        model.frame(body).then(*pose_of(f"loop {name!r}: placement_{side}", placement))
        for side, body, placement in (("a", body_a, placement_a), ("b", body_b, placement_b))
    ]
    return joined(model, name, joint, (body_a, body_b), places, bool(powered))


def joined(
    model: Model, name: str, joint: Joint, bodies: tuple[str, str], places: Sequence[Frame], powered: bool
) -> Model:
    """With a loop joint between two bodies, its inner and its outer frame at these places."""
    if places[0].body == places[1].body:
        raise ModelError("loop", f"loop {name!r} joins {bodies[0]!r} and {bodies[1]!r}, which are one rigid body.",
                         "A loop joins two bodies.")  # fmt: skip
    return added(model, Loop(name, joint, f"{name}.a", f"{name}.b", powered), places)


def added(model: Model, loop: Loop | Tie, places: Sequence[Frame] = ()) -> Model:
    """With one more loop, its frames at these places."""
    frames = {**model.frames}
    for side, place in zip("ab", places, strict=False):
        named = f"{loop.name}.{side}"
        if named in frames:
            raise ModelError("duplicate-frame", f"robot {model.name!r} has a frame {named!r} already.", "Rename it.")
        frames[named] = place
    return replace(model, frames=frames, loops=(*model.loops, loop))


def passed(model: Model, a: int, b: int) -> list[int]:
    """E_ki of one loop, an entry a body: +1 on the way to body b, -1 on the way to body a, else 0."""
    E = [0] * len(model.parent)
    for end, sign in ((b, 1), (a, -1)):
        while end > 0:
            E[end] += sign
            end = model.parent[end]
    return E


def circuit(model: Model) -> np.ndarray:
    """E_ki: which way joint i is passed on the way around loop k, featherstone1987 section 9.4."""
    ends = [(model.frame(x.a).body, model.frame(x.b).body) if isinstance(x, Loop) else (0, 0) for x in model.loops]
    return np.array([passed(model, *pair)[1:] for pair in ends], int).reshape(len(ends), model.count)


def names(model: Model) -> tuple[str, ...]:
    """A name for each constraint, and so for each force, of the loops."""
    return tuple(name for loop in model.loops for name in loop.force_names)
