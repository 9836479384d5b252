"""How deep two convex solids are in each other: the least shift that parts them, from their farthest points alone.

The difference of the solids holds the origin, which is as deep in it as they are in each other. Four corners of it that
have a volume are found, and then, beyond the face that is nearest to the origin, one corner after another, until there
is none farther out. Faces that a new corner sees are replaced by those between it and their rim. The method is by van
den Bergen (2001). Heights of faces have signs, so that the first corners need not hold the origin.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.contact.gjk import Farthest
from hinge.contact.round_contacts import chosen, unit
from hinge.graph import Scalar, Scratch, Table, absolute, less, maximum, repeat, select, sqrt, when
from hinge.spatial import ZERO, Vec3, cross3, dot3

CORNERS, RIM = 64, 64
FACES = 2 * CORNERS
CLOSE = 1e-9  # of the size: a corner that is this little farther out is none
FAR, TINY = 1e30, 1e-15
SIGN, SLOT, FRESH = Table([1, -1, 1, -1, 1, -1]), Table([0, 1, 2, 2, 3, 3]), Table([1, 1, 1, 0, 1, 0])
X, Y, Z = (Vec3(float(i == k) for i in range(3)) for k in range(3))


class Depth(NamedTuple):
    """How deep, the direction that leads out of the first solid, and the point of it that is deepest in the second."""

    depth: Scalar
    normal: Vec3
    p: Vec3


class _Face(NamedTuple):
    """Three corners by number, the normal that leads outwards and its height above the origin."""

    corners: tuple[Scalar, Scalar, Scalar]
    normal: Vec3
    height: Scalar


def depth(farthest: Farthest, like: Scalar) -> Depth:
    """How deep two solids that overlap are in each other."""
    return _Polytope(farthest, like).expanded()


class _Polytope:
    """Corners (of the difference, and the first solid's part) and faces, in memory."""

    def __init__(self, farthest: Farthest, like: Scalar):
        self.farthest, self.like = farthest, like
        self.corners, self.faces, self.rim = (
            Scratch(size, like, zeros=False) for size in (6 * CORNERS, 7 * FACES, 2 * RIM)
        )

    def expanded(self) -> Depth:
        size, flat, normal = self._first()
        found = (FAR, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k, (i, j, m) in enumerate(((0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2))):
            found = self._kept(float(k), self._face(float(i), float(j), float(m)), found)

        def round(_: Scalar, done: Scalar, corners: Scalar, faces: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
            n = Vec3(best[4:])
            w, a = self.farthest(n)
            out = less(best[0] + CLOSE * size, dot3(n, w))
            more = select(out, less(corners, CORNERS - 0.5), 0.0)

            def grow(corners: Scalar, faces: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
                self._put(corners, w, a)
                return (corners + 1.0, *self._replaced(w, corners, faces))

            return (select(more, 0.0, 1.0), *when(more, (corners, faces, *best), grow))

        start = (select(flat, 1.0, 0.0), 4.0, 4.0, *found)
        _, _, _, *best = repeat(CORNERS, start, round, until=lambda done, *_: less(0.5, done))
        n = chosen(flat, normal, Vec3(best[4:]))
        height = select(flat, 0.0, best[0])
        return Depth(height, n, self._foot(select(flat, 0.0, best[1]), select(flat, 1.0, best[2]),
                                           select(flat, 2.0, best[3]), n * height))  # fmt: skip

    def _first(self) -> tuple[Scalar, Scalar, Vec3]:
        """Four corners that have a volume: in a direction and its opposite, off that line, off that plane.

        Gives their size, whether they have no volume, and the normal of the first three.
        """

        def find(k: Scalar, best: Scalar, like: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
            w = [Vec3(state[6 * j : 6 * j + 3]) for j in range(3)]
            line, n = w[1] - w[0], cross3(w[1] - w[0], w[2] - w[0])
            beside, above = unit(_beside(line), Y)[0], unit(n, Z)[0]
            d = chosen(less(k, 1.5), X, chosen(less(k, 3.5), beside, above))
            x, a = self.farthest(d * SIGN[k])
            reach = absolute(dot3(x - w[0], d))
            better = select(FRESH[k], 1.0, less(best, reach))
            made = []
            for j in range(4):
                mine = select(less(absolute(SLOT[k] - float(j)), 0.5), better, 0.0)
                made += [select(mine, new, old) for new, old in zip((*x, *a), state[6 * j : 6 * j + 6], strict=True)]
            return (select(better, reach, best), like, *made)

        _, _, *state = repeat(6, (0.0, self.like, *([0.0] * 24)), find)
        w, a = ([Vec3(state[6 * j + at : 6 * j + at + 3]) for j in range(4)] for at in (0, 3))
        n = cross3(w[1] - w[0], w[2] - w[0])
        volume, size = dot3(n, w[3] - w[0]), maximum(*(sqrt(dot3(w[j] - w[0], w[j] - w[0])) for j in (1, 3)))
        turned = less(0.0, volume)  # the fourth lies below the others, seen counterclockwise
        order = [(w[0], a[0]), *((chosen(turned, w[i], w[j]), chosen(turned, a[i], a[j])) for i, j in ((2, 1), (1, 2)))]
        for k, (x, y) in enumerate([*order, (w[3], a[3])]):
            self._put(float(k), x, y)
        return size, less(absolute(volume), 1e-13 * size * size * size), unit(n, unit(_beside(w[1] - w[0]), Z)[0])[0]

    def _put(self, k: Scalar, w: Vec3, a: Vec3) -> None:
        for j, x in enumerate((*w, *a)):
            self.corners[6.0 * k + float(j)] = x

    def _corner(self, k: Scalar, at: int = 0) -> Vec3:
        """A corner of the difference; with at=3 the first solid's part of it."""
        return Vec3(self.corners[6.0 * k + float(at + j)] for j in range(3))

    def _face(self, i: Scalar, j: Scalar, k: Scalar) -> _Face:
        """The face of three corners; one without extent is far out and seen from nowhere."""
        x, y, z = (self._corner(c) for c in (i, j, k))
        n, area = unit(cross3(y - x, z - x), ZERO)
        return _Face((i, j, k), n, select(less(TINY, area), dot3(n, x), FAR))

    def _kept(self, k: Scalar, face: _Face, best: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """A face stored; the lower of it and the best so far."""
        flat = (face.height, *face.corners, *face.normal)
        for j, x in enumerate(flat):
            self.faces[7.0 * k + float(j)] = x
        lower = less(face.height, best[0])
        return tuple(select(lower, x, y) for x, y in zip(flat, best, strict=True))

    def _replaced(self, w: Vec3, corner: Scalar, faces: Scalar) -> tuple[Scalar, ...]:
        """How many faces there are when those that a corner sees are replaced, and the lowest."""

        def look(k: Scalar, seen: Scalar, kept: Scalar, rim: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
            height, i, j, m, *n = (self.faces[7.0 * k + float(c)] for c in range(7))
            face = _Face((i, j, m), Vec3(n), height)
            visible = less(height, dot3(face.normal, w))
            (rim,) = when(visible, (rim,), lambda rim: self._rimmed(face, rim))

            def keep(kept: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
                return (kept + 1.0, *self._kept(kept, face, best))

            kept, *best = when(select(visible, 0.0, 1.0), (kept, *best), keep)
            return (seen + 1.0, kept, rim, *best)

        none = (FAR, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        ended = lambda seen, *_: less(faces - 0.5, seen)
        _, kept, rim, *best = repeat(FACES, (0.0, 0.0, 0.0, *none), look, until=ended)

        def close(k: Scalar, kept: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
            face = self._face(self.rim[2.0 * k], self.rim[2.0 * k + 1.0], corner)
            return (kept + 1.0, *self._kept(kept, face, best))

        def beyond(kept: Scalar, *_: Scalar) -> Scalar:
            return less(before + rim - 0.5, kept)

        before = kept
        return repeat(RIM, (kept, *best), close, until=beyond)

    def _rimmed(self, face: _Face, rim: Scalar) -> tuple[Scalar, ...]:
        """How long the rim is with the edges of a face that is seen: one that is there the other way round goes."""

        def edge(k: Scalar, rim: Scalar) -> tuple[Scalar, ...]:
            i, j, m = face.corners
            x = select(less(k, 0.5), i, select(less(k, 1.5), j, m))
            y = select(less(k, 0.5), j, select(less(k, 1.5), m, i))

            def compare(e: Scalar, at: Scalar, now: Scalar) -> tuple[Scalar, ...]:
                off = absolute(self.rim[2.0 * e] - y) + absolute(self.rim[2.0 * e + 1.0] - x)
                return select(less(off, 0.5), e, at), now + 1.0

            at, _ = repeat(
                RIM, (-1.0, 0.0), compare, until=lambda at, now: select(less(-0.5, at), 1.0, less(rim - 0.5, now))
            )
            there = less(-0.5, at)
            place = select(there, at, rim)
            for c, end in enumerate((x, y)):
                self.rim[2.0 * place + float(c)] = select(there, self.rim[2.0 * (rim - there) + float(c)], end)
            return (rim + 1.0 - 2.0 * there,)

        return repeat(3, (rim,), edge)

    def _foot(self, i: Scalar, j: Scalar, k: Scalar, at: Vec3) -> Vec3:
        """The first solid's part of a point of a face."""
        x, y, z = (self._corner(c) for c in (i, j, k))
        e, f, to = y - x, z - x, at - x
        n = cross3(e, f)
        area = dot3(n, n)
        safe = select(less(0.0, area), area, 1.0)
        s, t = dot3(cross3(to, f), n) / safe, dot3(cross3(e, to), n) / safe
        p, q, r = (self._corner(c, 3) for c in (i, j, k))
        return p + (q - p) * s + (r - p) * t


def _beside(e: Vec3) -> Vec3:
    """A vector at right angles to another: its product with the axis, x or y, that it is less along."""
    return chosen(less(absolute(e[0]), absolute(e[1])), cross3(e, X), cross3(e, Y))
