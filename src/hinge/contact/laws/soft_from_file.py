"""The soft law as an MJCF file has it: pairs, limits, dry friction and equalities, with all their numbers.

law = SoftLaw(**SoftFile(model, Weights(model)).parameters(pairs))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hinge.contact.laws.soft_parameters import (
    Length,
    Seat,
    SoftCoupling,
    SoftFriction,
    SoftHold,
    SoftLimit,
    SoftPair,
    SoftTurn,
    Weights,
    has_limit,
)
from hinge.dynamics.kinematics import poses
from hinge.errors import NotCovered
from hinge.graph import Scalar
from hinge.model import Model
from hinge.model.file_physics import Equality, Tendon
from hinge.model.symbols import unknown
from hinge.spatial import Mat3, Vec3
from hinge.spatial.rotation import rotation_from_quaternion

Part = TypeVar("Part", SoftPair, SoftLimit, SoftTurn, SoftFriction, SoftCoupling, SoftHold)


class SoftFile:
    """What of a file gives way besides contacts."""

    def __init__(self, model: Model, weights: Weights):
        self.model, self.weights = model, weights
        self.own = [w for i in model.leaders for w in weights.velocities(i)]
        self.off = set(model.physics.options.disabled)
        self.reference = [list(model.neutral(i)) if i else [] for i in range(len(model.parent))]

    def parameters(self, pairs: Sequence[SoftPair]) -> dict[str, Any]:
        """Return all fields of the law, with pairs of shapes."""
        options, none = self.model.physics.options, "constraint" in self.off
        limits = [] if none or "limit" in self.off else list(self._limits())
        holds = [] if none or "equality" in self.off else [self._held(e) for e in self._equalities("connect", "weld")]
        ties = [] if none or "equality" in self.off else [self._tied(e) for e in self._equalities("joint", "tendon")]
        return {
            "pairs": self._timed(pairs),
            "limits": self._timed(one for one in limits if isinstance(one, SoftLimit)),
            "turns": self._timed(one for one in limits if isinstance(one, SoftTurn)),
            "frictions": self._timed([] if none or "frictionloss" in self.off else self._frictions()),
            "couplings": self._timed(ties),
            "holds": self._timed(holds),
            "cone": options.cone,
            "impratio": options.impratio,
            "inertia": self.weights.inertia,
            "tolerance": options.tolerance,
            "iterations": options.iterations,
            "line_iterations": options.ls_iterations,
        }

    def _timed(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """Return parts of the law with the time constants as the file has them where its flag refsafe is off."""
        if "refsafe" not in self.off:
            return tuple(parts)
        return tuple(replace(one, softness=replace(one.softness, least=0.0)) for one in parts)

    def _joint(self, i: int) -> Length:
        """The coordinate of a joint that has one."""
        at_q, at_v = self.model.slices[i]
        return Length(((at_q.start, at_v.start, 1.0),))

    def _tendon(self, tendon: Tendon) -> Length:
        parts = [(*self._joint(self.model.joint_number(name)).parts[0][:2], c) for name, c in tendon.joints]
        return Length(tuple(parts))

    def _limits(self) -> Iterator[SoftLimit | SoftTurn]:
        model = self.model
        for i in model.leaders:
            data, joint, (at_q, at_v) = model.data[i], model.joint[i], model.slices[i]
            soft, margin = data.physics.limit, data.physics.margin
            if joint.is_single and any(has_limit(x) for x in (*data.lower, *data.upper)):
                yield SoftLimit(self._joint(i), data.lower[0], data.upper[0], self.own[at_v.start], soft, margin)
            elif joint.kind == "spherical" and "range" in data.other:
                yield SoftTurn(at_q.start, at_v.start, data.other["range"], self.own[at_v.start], soft, margin)
        for tendon in model.physics.tendons:
            if any(map(math.isfinite, tendon.range)):
                length = self._tendon(tendon)
                yield SoftLimit(length, *tendon.range, self.weights.length(length), tendon.limit, tendon.margin)

    def _frictions(self) -> Iterator[SoftFriction]:
        model = self.model
        for i in model.leaders:
            for k, size in enumerate(model.data[i].friction):
                v = model.slices[i][1].start + k
                if unknown((size,)) or size:
                    yield SoftFriction(Length(((0, v, 1.0),)), size, self.own[v], model.data[i].physics.friction)
        for tendon in model.physics.tendons:
            if tendon.frictionloss:
                length = self._tendon(tendon)
                yield SoftFriction(length, tendon.frictionloss, self.weights.length(length), tendon.friction)

    def _equalities(self, *kinds: str) -> list[Equality]:
        return [one for one in self.model.physics.equalities if one.active and one.kind in kinds]

    def _tied(self, one: Equality) -> SoftCoupling:
        """Two joints or tendons, each from where it is at the reference configuration."""
        named = {tendon.name: tendon for tendon in self.model.physics.tendons}

        def length(name: str) -> tuple[Length, Scalar]:
            made = self._tendon(named[name]) if one.kind == "tendon" else self._joint(self.model.joint_number(name))
            flat = self.model.flat(self.reference)
            weight = self.weights.length(made) if one.kind == "tendon" else self.own[made.parts[0][1]]
            return made._replace(reference=sum(c * flat[q] for q, _, c in made.parts)), weight

        (first, weight), (second, other) = length(one.first), length(one.second) if one.second else (None, 0.0)
        return SoftCoupling(first, second, one.polycoef, weight + other, one.softness)

    def _held(self, one: Equality) -> SoftHold:
        """Two places: those of sites, or of bodies with an anchor, as they stand at the reference configuration."""
        first, second = one.first, one.second or "world"
        (a, b), (c, d) = (self._link(link or name) for name, link in zip((first, second), one.links, strict=True))
        if one.on == "site":
            seats = Seat(first), Seat(second)
        elif one.kind == "connect":
            anchor = Vec3(one.anchor)
            seats = Seat(first, p=anchor), Seat(second, p=self._seen(first, second, anchor))
        else:
            seats = self._welded(first, second, one)
        return SoftHold(*seats, (a + c, b + d), one.softness, one.torquescale if one.kind == "weld" else 0.0)

    def _link(self, name: str) -> tuple[Scalar, Scalar]:
        """How much a link gives way, or the one that a site is on."""
        frames = self.model.frames
        if name == "world" or not self.model.frame(name).body:
            return 0.0, 0.0
        if name in self.model.links:
            return self.weights.link(name)
        own = next((link for link in self.model.links if frames[link].body == frames[name].body), None)
        if own is None:
            raise NotCovered(f"equality on {name!r}: no link carries it. Name a body.")
        return self.weights.link(own)

    def _pose(self, name: str) -> tuple[Mat3, Vec3]:
        """The axes and the origin of a frame at the reference configuration."""
        R, r = poses(self.model, self.reference)
        frame = self.model.frame(name)
        return R[frame.body].times(frame.R), R[frame.body] @ frame.p + r[frame.body]

    def _seen(self, first: str, second: str, point: Vec3) -> Vec3:
        """A point of one body in the coordinates of another."""
        (R, p), (Q, q) = self._pose(first), self._pose(second)
        return Q.T @ (R @ point + p - q)

    def _welded(self, first: str, second: str, one: Equality) -> tuple[Seat, Seat]:
        (R, p), (Q, q) = self._pose(first), self._pose(second)
        anchor = Vec3(one.anchor)
        if one.relpose is None:
            turn = R.T.times(Q)
            return Seat(first, turn, turn @ anchor + R.T @ (q - p)), Seat(second, p=anchor)
        turn, place = rotation_from_quaternion(one.relpose[3:]), Vec3(one.relpose[:3])  # the place is the anchor's
        return Seat(first, turn, place), Seat(second, p=anchor)
