"""Frames that an algorithm is about: chosen when it is called, or known before it is traced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hinge.graph import Scalar
from hinge.model import Model
from hinge.spatial import Mat3, Vec3


@dataclass(frozen=True)
class Place:
    """A frame chosen at call time: weights that pick its body, and where it sits on it."""

    on: list[Scalar]  # 1 for its body, else 0
    path: list[Scalar]  # 1 for the bodies between the base and it, else 0
    R: Mat3
    p: Vec3

    @staticmethod
    def take(model: Model, flat: list[Scalar]) -> Place:
        n = len(model.parent)
        return Place(flat[:n], flat[n : 2 * n], Mat3(flat[2 * n : 2 * n + 9]), Vec3(tuple(flat[2 * n + 9 :])))

    @staticmethod
    def row(model: Model, name: str) -> list[float]:
        """The numbers that stand for the frame of that name."""
        frame, n = model.frame(name), len(model.parent)
        on, path = [0.0] * n, [0.0] * n
        on[frame.body], i = 1.0, frame.body
        while i > 0:
            path[i], i = 1.0, model.parent[i]
        return [*on, *path, *frame.R, *frame.p]

    @staticmethod
    def named(model: Model, name: str) -> Place:
        """The frame of that name, its body known."""
        return Place.take(model, Place.row(model, name))


class At(NamedTuple):
    """Frames that a call names, and whose coordinates what is given there has: "body", "base" or "aligned"."""

    names: tuple[str, ...]
    frame: str = "body"
