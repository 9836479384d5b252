"""Screws: the axis, pitch and magnitude of a twist, a wrench or a displacement; line vectors and free vectors.

Every motion is a turn about a line and a slide along it (Chasles); every system of forces is a force along a line and a
couple about it (Poinsot). The pitch is the slide for a unit of turn, infinite where nothing turns; then any line in the
direction will do, and the one through the origin is given.
Source: featherstone1987, sections 2.3.1 and 2.8.1; zefran2004, section 1.1 has the same of forces.
Differs from the source: of forces the linear part is the line vector and stands second.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hinge.errors import GeometryError
from hinge.geometry.arrays import in_se3, is_symbolic, numbers, over_arrays
from hinge.geometry.se3 import Six, log
from hinge.graph import Scalar, less, maximum, on_paper, select, sqrt
from hinge.spatial import ZERO, Vec3, cross3, dot3, vec3


class Screw(NamedTuple):
    """A directed line, by a unit vector and its point nearest to the origin, with a pitch and a magnitude."""

    direction: Any
    point: Any
    pitch: Any
    magnitude: Any


def _screw(line: Vec3, rest: Vec3) -> tuple[Vec3, Vec3, Scalar, Scalar]:
    """The screw of a line vector and a free vector, both seen from the origin: featherstone1987 2.3.1."""
    aa, bb = dot3(line, line), dot3(rest, rest)
    turns = True if on_paper(aa) else less(0.0, aa)  # on paper, where it says nothing to the contrary
    safe = select(turns, aa, 1.0)
    size = sqrt(select(turns, aa, bb))
    along = Vec3(tuple(select(turns, a, b) for a, b in zip(line, rest, strict=True)))
    point = cross3(line, rest) / safe  # featherstone1987 (2.2)
    pitch = select(turns, dot3(line, rest) / safe, float("inf"))  # featherstone1987 2.3.1
    return along / size, point, pitch, size


SCREW = ((3,), (3,), (), ())


@over_arrays(twist=(6,), gives=SCREW)
def _of_twist(twist: Six) -> Any:
    direction, point, pitch, size = _screw(vec3(twist[:3]), vec3(twist[3:]))
    return list(direction), list(point), pitch, size


@over_arrays(wrench=(6,), gives=SCREW)
def _of_wrench(wrench: Six) -> Any:
    direction, point, pitch, size = _screw(vec3(wrench[3:]), vec3(wrench[:3]))
    return list(direction), list(point), pitch, size


def of_twist(twist: Any) -> Screw:
    """The screw of a motion: direction (…, 3), point (…, 3), pitch (…), magnitude (…).

    >>> hinge.geometry.screws.of_twist([0, 0, 2, 0, 0, 1]).pitch
    np.float64(0.5)
    """
    return Screw(*_of_twist(_something("of_twist", "twist", twist)))


def of_wrench(wrench: Any) -> Screw:
    """The screw of a force.

    >>> hinge.geometry.screws.of_wrench([0, 0, 1, 0, 0, 0]).pitch
    np.float64(inf)
    """
    return Screw(*_of_wrench(_something("of_wrench", "wrench", wrench)))


def of_pose(pose: Any, *, nearest: bool = False) -> Screw:
    """The screw of a displacement: its magnitude is the angle, at most π, or the distance where nothing turns.

    >>> hinge.geometry.screws.of_pose(hinge.geometry.se3.exp([0, 0, 1, 0, 0, 0.5])).magnitude.round(12)
    np.float64(1.0)
    """
    if is_symbolic(pose):
        return Screw(*_of_twist(log(pose)))
    checked = in_se3("geometry.screws.of_pose", numbers("geometry.screws.of_pose", "pose", pose, (4, 4)), nearest)
    return Screw(*_of_twist(_something("of_pose", "the displacement's twist", log(checked))))


def _something(name: str, what: str, six: Any) -> Any:
    """Six numbers that are not all zero: nothing has no axis."""
    if is_symbolic(six):
        return six
    a = numbers(f"geometry.screws.{name}", what, six, (6,))
    none = ~a.any(axis=-1)
    if none.any():
        at = "" if a.ndim == 1 else f"[{', '.join(str(int(k)) for k in np.argwhere(none)[0])}]"
        raise GeometryError(
            f"geometry.screws.{name}: {what}{at} is zero, and has no axis.\n"
            "  Leave such states out, or look at the magnitude first."
        )
    return a


def _sum(direction: Any, point: Any, pitch: Scalar, magnitude: Scalar) -> tuple[Vec3, Vec3]:
    """Line and free vector of a screw, seen from the origin."""
    u, p = vec3(direction), vec3(point)
    turns = True if on_paper(pitch) else less(maximum(pitch, -pitch), float("inf"))
    line = u * select(turns, magnitude, 0.0)
    slide = select(turns, select(turns, pitch, 0.0) * magnitude, magnitude)
    return line, cross3(p, line) + u * slide  # featherstone1987 (2.3)


@over_arrays(direction=(3,), point=(3,), pitch=(), magnitude=(), gives=(6,))
def _twist(direction: Any, point: Any, pitch: Scalar, magnitude: Scalar) -> Six:
    line, rest = _sum(direction, point, pitch, magnitude)
    return [*line, *rest]


@over_arrays(direction=(3,), point=(3,), pitch=(), magnitude=(), gives=(6,))
def _wrench(direction: Any, point: Any, pitch: Scalar, magnitude: Scalar) -> Six:
    line, rest = _sum(direction, point, pitch, magnitude)
    return [*rest, *line]


def twist(screw: Screw) -> Any:
    """The motion of a screw.

    >>> hinge.geometry.screws.twist(hinge.geometry.screws.Screw([0, 0, 1], [1, 0, 0], 0.0, 2.0))
    array([ 0.,  0.,  2.,  0., -2.,  0.])
    """
    return _twist(*screw)


def wrench(screw: Screw) -> Any:
    """The force of a screw.

    >>> hinge.geometry.screws.wrench(hinge.geometry.screws.Screw([0, 0, 1], [1, 0, 0], 0.0, 2.0))
    array([ 0., -2.,  0.,  0.,  0.,  2.])
    """
    return _wrench(*screw)


@over_arrays(direction=(3,), point=(3,), gives=(6,))
def line(direction: Any, point: Any) -> Six:
    """A line vector through a point, as a motion: a turn about that line.

    >>> hinge.geometry.screws.line([0, 0, 1], [1, 0, 0])
    array([ 0.,  0.,  1.,  0., -1.,  0.])
    """
    return [*direction, *cross3(vec3(point), vec3(direction))]  # featherstone1987 (2.2)


@over_arrays(direction=(3,), point=(3,), gives=(6,))
def line_force(direction: Any, point: Any) -> Six:
    """A force along a line through a point.

    >>> hinge.geometry.screws.line_force([0, 0, 1], [1, 0, 0])
    array([ 0., -1.,  0.,  0.,  0.,  1.])
    """
    return [*cross3(vec3(point), vec3(direction)), *direction]


@over_arrays(direction=(3,), gives=(6,))
def free(direction: Any) -> Six:
    """A free vector as a motion: a slide.

    >>> hinge.geometry.screws.free([1, 2, 3])
    array([0., 0., 0., 1., 2., 3.])
    """
    return [*ZERO, *direction]


@over_arrays(direction=(3,), gives=(6,))
def free_force(direction: Any) -> Six:
    """A free vector as a force: a couple.

    >>> hinge.geometry.screws.free_force([1, 2, 3])
    array([1., 2., 3., 0., 0., 0.])
    """
    return [*direction, *ZERO]


@over_arrays(twist=(6,), point=(3,), gives=((6,), (6,)))
def split(twist: Six, point: Any) -> Any:
    """A motion as a line vector through a point and a free vector: featherstone1987 2.3.1.

    >>> hinge.geometry.screws.split([0, 0, 1, 0, 0, 0], [1, 0, 0])[1]
    array([0., 0., 0., 0., 1., 0.])
    """
    w = vec3(twist[:3])
    moment = cross3(vec3(point), w)  # featherstone1987 (2.2)
    return [*w, *moment], [*ZERO, *(vec3(twist[3:]) - moment)]


@over_arrays(wrench=(6,), point=(3,), gives=((6,), (6,)))
def split_force(wrench: Six, point: Any) -> Any:
    """A force as one along a line through a point, and a couple.

    >>> hinge.geometry.screws.split_force([0, 0, 0, 0, 0, 1], [1, 0, 0])[1]
    array([0., 1., 0., 0., 0., 0.])
    """
    f = vec3(wrench[3:])
    moment = cross3(vec3(point), f)
    return [*moment, *f], [*(vec3(wrench[:3]) - moment), *ZERO]


@over_arrays(twist=(6,), to=(3,), gives=(6,))
def shift(twist: Six, to: Any) -> Six:
    """The same motion in coordinates whose origin is at `to`: featherstone1987 (2.3).

    >>> hinge.geometry.screws.shift([0, 0, 1, 0, 0, 0], [1, 0, 0])
    array([0., 0., 1., 0., 1., 0.])
    """
    w = vec3(twist[:3])
    return [*w, *(vec3(twist[3:]) - cross3(vec3(to), w))]  # featherstone1987 (2.3)


@over_arrays(wrench=(6,), to=(3,), gives=(6,))
def shift_force(wrench: Six, to: Any) -> Six:
    """The same force in coordinates whose origin is at `to`.

    >>> hinge.geometry.screws.shift_force([0, 0, 0, 0, 0, 1], [1, 0, 0])
    array([0., 1., 0., 0., 0., 1.])
    """
    f = vec3(wrench[3:])
    return [*(vec3(wrench[:3]) - cross3(vec3(to), f)), *f]
