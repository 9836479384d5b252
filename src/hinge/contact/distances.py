"""How far apart links are, and whether any touch: queries of a robot, compiled, for planners and checks.

Every pair of shapes is measured by a search over directions, and of two links the nearest shapes count. A pair with a
half-space is measured by the farthest point alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, real
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.contact.collision_pairs import HalfSpace, Names, Pairs, afloat, pairs_of, plane_of
from hinge.contact.collision_shapes import Posed, Shapes, column
from hinge.contact.contact_model import refuse_shapeless
from hinge.contact.convex_contacts import Separation, plane_separation, separation
from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import POSITION, SCALAR, Algorithm, Quantity, unregistered
from hinge.errors import NotCovered
from hinge.graph import Scalar, Scratch, less, repeat, select, when
from hinge.model import Model
from hinge.model.height_fields import HeightField
from hinge.model.shapes import Geometry
from hinge.typing import Backend, Flags, Numbers, Statuses

WIDTH, FAR = 7, 1e30  # of a pair: distance, normal, point on the first link


class Distances(NamedTuple):
    """Distances (…, n) in m, negative where links overlap; points (…, n, 2, 3) on either link and the normal (…, n, 3)
    from the first to the second, in base coordinates; the n pairs by name; and the status (…)."""

    distance: Array
    points: Array
    normal: Array
    pairs: tuple[Names, ...]
    status: Statuses


def distances(target: Target, q: Numbers, pairs: Sequence[Names] | None = None, ground: Any = None,
              exclude: Sequence[Names] = (), backend: Backend | None = None) -> Distances:  # fmt: skip
    """How far apart links are: signed distances (…, n), the nearest or deepest points, and normals between them.

    Takes q (…, nq). `pairs` names links, (link, link) each; without it all that may touch: no neighbours, and none of a
    robot's own that overlap at its neutral configuration, less those of `exclude`. `ground` is a height (m), a (normal,
    offset) or None; it is called "ground". Meshes are their hulls.

    >>> robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).body("box", "box", (0.2, 0.2, 0.2), 1.0).robot
    >>> q = robot.neutral()
    >>> q[6], q[13] = 0.5, 0.1
    >>> robot.distances(q, ground=0.0).distance.round(3)
    array([0.2, 0.4, 0. ])
    """
    query = Query.of(pairs, ground, exclude)
    measured = target.memo(queried, target, query)
    if not measured.rows:
        raise NotCovered(
            f"distances: robot {target.name!r} has no two collision shapes that may touch.\n"
            "  Give ground=, or links that have collision shapes; <collision> of a URDF, geoms of an MJCF file."
        )
    names = tuple(dict.fromkeys(measured.names))
    call = Call.outside_registry(target, (_distances_algorithm, measured), backend, status=True)
    flat, status = call.kernel(real("distances: q", q))
    made = flat.reshape(*flat.shape[:-1], len(names), WIDTH)
    gap, normal, p = made[..., 0], made[..., 1:4], made[..., 4:]
    return Distances(gap, np.stack([p, p + gap[..., None] * normal], axis=-2), normal, names, status)


def collides(target: Target, q: Numbers, pairs: Sequence[Names] | None = None, ground: Any = None,
             exclude: Sequence[Names] = (), backend: Backend | None = None) -> Flags | np.bool:  # fmt: skip
    """Whether any two links overlap: (…), True also where q (…, nq) is not finite. Pairs are as in `distances`.

    >>> robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot
    >>> robot.collides([[1.0, 0, 0, 0, 0, 0, 0.05], [1.0, 0, 0, 0, 0, 0, 0.15]], ground=0.0)
    array([ True, False])
    """
    query = Query.of(pairs, ground, exclude)
    measured = target.memo(queried, target, query)
    q = real("collides: q", q)
    if not measured.rows:
        if pairs is None:
            refuse_shapeless(target, "collides")
        return np.zeros(q.shape[:-1], bool)
    kernel = Call.outside_registry(target, (_collides_algorithm, measured), backend).kernel
    return np.asarray(kernel(q)) != 0.0


def _collides_algorithm(measured: Pairs) -> Algorithm:
    def touch(model: Model, q: Any) -> Scalar:
        shapes, like, here = _placed(model, q, measured)
        hit = like * 0.0

        def look(found: Separation, row: Scalar, hit: Scalar) -> tuple[Scalar, ...]:
            return (select(less(0.0, found.gap), hit, 1.0),)

        for rows, measure in here:
            (hit,) = _over(measured, shapes, rows, measure, look, (hit,), like, near=True)
        return hit

    return unregistered("collides", touch, {"q": POSITION}, {"hit": SCALAR})


class Query(NamedTuple):
    """What a query is about, resolved: equal queries of a robot have the same kernel."""

    pairs: tuple[Names, ...] | None
    ground: HalfSpace | None
    exclude: tuple[Names, ...]

    @classmethod
    def of(cls, pairs: Sequence[Names] | None, ground: Any, exclude: Sequence[Names]) -> Query:
        named = None if pairs is None else tuple(map(_names, pairs))
        return cls(named, plane_of(ground), tuple(map(_names, exclude)))


def _names(pair: Any) -> Any:
    return pair if isinstance(pair, str) else tuple(pair)


def queried(target: Target, query: Query) -> Pairs:
    """The pairs that a query is about; of those nobody names, none on one robot that overlap at the neutral state."""
    model = target.model
    found = pairs_of(model, ground=query.ground, pairs=query.pairs, exclude=query.exclude, by_kind=False)
    if query.pairs is not None or not found.rows:
        return found
    base = [afloat(model, shape.body) for shape in found.shapes]
    inner = found.chosen([k for k, (i, j) in enumerate(found.rows) if base[i] == base[j]])
    if not inner.rows:
        return found
    neutral = np.array([x for i in model.leaders for x in model.neutral(i)], float)
    call = Call.outside_registry(target, (_distances_algorithm, inner), status=True)
    gaps = dict(zip(dict.fromkeys(inner.names), call.kernel(neutral)[0][::WIDTH], strict=True))
    overlapping = {names for names, gap in gaps.items() if gap < 0.0}
    return found.chosen([k for k, names in enumerate(found.names) if names not in overlapping])


def _distances_algorithm(pairs: Pairs) -> Algorithm:
    """From q to distance, normal and first point of each two links."""
    place = {names: k for k, names in enumerate(dict.fromkeys(pairs.names))}
    slots = column([place[names] for names in pairs.names], range(len(pairs.rows)))

    def measured(model: Model, q: Any) -> list[Scalar]:
        shapes, like, here = _placed(model, q, pairs)
        kept = Scratch(WIDTH * len(place), like, zeros=False)
        for k in range(len(place)):
            kept[float(WIDTH * k)] = FAR

        def nearer(found: Separation, row: Scalar, same: Scalar) -> tuple[Scalar, ...]:
            at = float(WIDTH) * slots(row)
            farther = less(kept[at], found.gap)
            for j, x in enumerate((found.gap, *found.normal, *found.p)):
                kept[at + float(j)] = select(farther, kept[at + float(j)], x)
            return (same,)

        for rows, measure in here:
            _over(pairs, shapes, rows, measure, nearer, (like,), like)
        return [kept[float(k)] for k in range(WIDTH * len(place))]

    gives = {"made": Quantity("of pairs of links", lambda m: (WIDTH * len(place),))}
    return unregistered("distances", measured, {"q": POSITION}, gives)


Measure = Callable[[Posed, Posed], Separation]


def _measure(a: Geometry, b: Geometry) -> Measure:
    """What measures the distance of two shapes."""
    if isinstance(a, HeightField):
        raise NotCovered(f"the distance of a {b.kind} to terrain is not covered. Name other links in pairs=.")
    return plane_separation if a.kind == "plane" else separation


def _placed(model: Model, q: Any, pairs: Pairs) -> tuple[Shapes, Scalar, list[tuple[list[int], Measure]]]:
    """The shapes in a state, a scalar of it, and the pairs by how they are measured."""
    seen = pairs.seen_from(model)
    like = next(x for row in q for x in row)
    R, r = poses(model, q)
    shapes = Shapes(seen.shapes, R, r, like)
    return shapes, like, [(rows, measure) for measure, rows in seen.classes(_measure).items()]


def _over(pairs: Pairs, shapes: Shapes, rows: Sequence[int], measure: Measure, body: Callable[..., Any],
          state: tuple[Scalar, ...], like: Scalar, near: bool = False) -> tuple[Scalar, ...]:  # fmt: skip
    """The state after body(separation, row, *state) of each pair, in a loop; only of pairs whose balls overlap."""
    both = [pairs.rows[k] for k in rows]
    firsts, seconds = [i for i, _ in both], [j for _, j in both]
    everything = range(len(rows))
    number, first, second = (column(x, everything) for x in (rows, firsts, seconds))
    one, other, close = shapes.reader(firsts), shapes.reader(seconds), shapes.near(both, [0.0] * len(rows))

    def pair(k: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
        i, j = first(k), second(k)
        enough = {"enough": 0.0} if near and measure is separation else {}
        measured = lambda *state: body(measure(one(i), other(j), **enough), number(k), *state)
        return when(close(k, i, j), state, measured) if near else measured(*state)

    return repeat(len(rows), state, pair)
