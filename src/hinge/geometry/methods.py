"""The view `robot.geometry`: fields, geodesics, lengths, and branches as products of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.arguments import Array, count, joined, real
from hinge.backends.sympy_input import refuse_sympy
from hinge.calls.target import Target
from hinge.calls.views import View, on_target
from hinge.errors import SizeError
from hinge.geometry import fields
from hinge.geometry.exponentials import ProductOfExponentials, branch
from hinge.model import edit
from hinge.model.states import neutral


def exponentials(target: Target, name: str, q: Any = None) -> ProductOfExponentials:
    """The branch to a link or frame as its product of exponentials, with q as the reference configuration.

    >>> hinge.samples.planar_2r().exponentials("hand").twists[1]
    array([ 0., -1.,  0.,  0.,  0., -1.])
    """
    q = neutral(target.model) if q is None else real("exponentials: q", q, (target.model.nq,))
    if q.ndim != 1:
        raise SizeError(f"exponentials: q has shape {q.shape}; a branch has one reference configuration.")
    return branch(target.model, name, q)


def geodesic(target: Target, q: Any, qd: Any, t: float = 1.0, steps: int = 1000) -> tuple[Array, Array]:
    """The path without gravity, springs or forces: q (…, steps + 1, nq) and qd (…, steps + 1, nv) up to time t.

    >>> hinge.samples.planar_2r().geodesic([0.0, 0.5], [1.0, 0.0], steps=10)[0].shape
    (11, 2)
    """
    refuse_sympy("geodesic", q, qd)
    free = Target(edit.with_gravity(target.model, [0.0, 0.0, 0.0]), target.varied)
    steps = count("geodesic: steps", steps)
    nq, nv = target.model.nq, target.model.nv
    state = joined("geodesic", [real("geodesic: q", q, (nq,)), real("geodesic: qd", qd, (nv,))])
    path, nothing = [(state[..., :nq], state[..., nq:])], np.zeros(nv)
    for _ in range(steps):
        path.append(free.step(*path[-1], nothing, t / steps))
    return np.stack([a for a, _ in path], axis=-2), np.stack([b for _, b in path], axis=-2)


class Geometry(View):
    """Fields, geodesics, lengths, and branches as products of exponentials."""

    exponentials = on_target(exponentials)
    covariant_derivative = on_target(fields.covariant_derivative)
    gradient = on_target(fields.gradient)
    geodesic = on_target(geodesic)
    length = on_target(fields.length)
    energy_integral = on_target(fields.energy_integral)
