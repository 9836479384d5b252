"""The view `robot.geometry`: fields, geodesics, lengths, and branches as products of exponentials."""

from __future__ import annotations

from hinge.arguments import real
from hinge.calls.target import Target
from hinge.calls.views import View, on_target
from hinge.errors import SizeError
from hinge.geometry import fields, geodesics
from hinge.geometry.exponentials import ProductOfExponentials, branch
from hinge.model.states import neutral
from hinge.typing import Numbers


def exponentials(target: Target, name: str, q: Numbers | None = None) -> ProductOfExponentials:
    """The branch to a link or frame as its product of exponentials, with q as the reference configuration.

    >>> hinge.samples.planar_2r().exponentials("hand").twists[1]
    array([ 0., -1.,  0.,  0.,  0., -1.])
    """
    q = neutral(target.model) if q is None else real("exponentials: q", q, (target.model.nq,))
    if q.ndim != 1:
        raise SizeError(f"exponentials: q has shape {q.shape}; a branch has one reference configuration.")
    return branch(target.model, name, q)


class Geometry(View):
    """Fields, geodesics, lengths, and branches as products of exponentials."""

    exponentials = on_target(exponentials)
    covariant_derivative = on_target(fields.covariant_derivative)
    gradient = on_target(fields.gradient)
    geodesic = on_target(geodesics.geodesic)
    geodesic_between = on_target(geodesics.geodesic_between)
    length = on_target(fields.length)
    energy_integral = on_target(fields.energy_integral)
