"""The way out of each other of two convex solids that overlap, from their farthest points in directions alone.

The difference of the solids holds the origin, which is as deep in it as they are in each other. Four corners of it that
have a volume are found, and then, beyond the face that is nearest to the origin, one corner after another, until there
is none farther out. Faces that a new corner sees are replaced by those between it and their rim. The method is by van
den Bergen (2001). Heights of faces have signs, so that the first corners need not hold the origin.
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.contact.gjk import Farthest
from hinge.contact.round_contacts import chosen, unit
from hinge.graph import Scalar, Scratch, Table, absolute, less, maximum, repeat, select, sqrt, when
from hinge.spatial import ZERO, Vec3, cross3, dot3

ROUNDS, RIM = 48, 16  # corners that are added, and edges that the faces which one sees may have around them
FACES = 4 + RIM * ROUNDS
CLOSE = 1e-4  # of the size: a corner that is this little farther out is none
SEEN = 1e-7  # of the size: a corner that is this little above a face does not see it
FAR, TINY = 1e30, 1e-15
SIGN, SLOT, FRESH = Table([1, -1, 1, -1, 1, -1]), Table([0, 1, 2, 2, 3, 3]), Table([1, 1, 1, 0, 1, 0])
Lowest = tuple[Scalar, ...]  # the height of the lowest face so far, and its normal
X, Y, Z = (Vec3(float(i == k) for i in range(3)) for k in range(3))


def way_out(farthest: Farthest, like: Scalar) -> tuple[Vec3, Scalar]:
    """The direction of the least shift that parts two solids, or one that is all but as short, and how large they are.

    Of flat or thin ones that cross it is the direction across.
    """
    return _Polytope(farthest, like).lowest()


class _Polytope:
    """Corners by number, and faces: height above the origin, three corners, normal. A face that is gone is far out.

    The k-th corner after the first four has room for faces of its own, so all lanes write at the same places.
    """

    def __init__(self, farthest: Farthest, like: Scalar):
        self.farthest, self.like = farthest, like
        self.corners, self.faces, self.rim = (
            Scratch(size, like, zeros=False) for size in (3 * (4 + ROUNDS), 7 * FACES, 2 * RIM)
        )

    def lowest(self) -> tuple[Vec3, Scalar]:
        """The normal of the face that is nearest to the origin when there are no corners beyond it."""
        size, flat, normal = self._first()
        best = (FAR, *normal)
        for k, corners in enumerate(((0.0, 1.0, 2.0), (0.0, 3.0, 1.0), (0.0, 2.0, 3.0), (1.0, 3.0, 2.0))):
            best = self._made(float(k), corners, 1.0, best)

        def round(k: Scalar, done: Scalar, height: Scalar, *n: Scalar) -> tuple[Scalar, ...]:
            w = self.farthest(Vec3(n))[0]
            out = less(height + CLOSE * size, dot3(Vec3(n), w))
            grow = lambda height, *n: self._replaced(k, w, size, (FAR, *n))
            return (select(out, 0.0, 1.0), *when(out, (height, *n), grow))

        start = (select(flat, 1.0, 0.0), *best)
        _, _, *n = repeat(ROUNDS, start, round, until=lambda done, *_: less(0.5, done))
        return chosen(flat, normal, Vec3(n)), size

    def _first(self) -> tuple[Scalar, Scalar, Vec3]:
        """Four corners that have a volume: in a direction and its opposite, off that line, off that plane.

        Gives their size, whether they have no volume, and the normal of the first three.
        """

        def find(k: Scalar, best: Scalar, like: Scalar, *state: Scalar) -> tuple[Scalar, ...]:
            w = [Vec3(state[3 * j : 3 * j + 3]) for j in range(3)]
            line, n = w[1] - w[0], cross3(w[1] - w[0], w[2] - w[0])
            beside, above = unit(_beside(line), Y)[0], unit(n, Z)[0]
            d = chosen(less(k, 1.5), X, chosen(less(k, 3.5), beside, above))
            x = self.farthest(d * SIGN[k])[0]
            reach = absolute(dot3(x - w[0], d))
            better = select(FRESH[k], 1.0, less(best, reach))
            made = []
            for j in range(4):
                mine = select(less(absolute(SLOT[k] - float(j)), 0.5), better, 0.0)
                made += [select(mine, new, old) for new, old in zip(x, state[3 * j : 3 * j + 3], strict=True)]
            return (select(better, reach, best), like, *made)

        _, _, *state = repeat(6, (0.0, self.like, *([0.0] * 12)), find)
        w = [Vec3(state[3 * j : 3 * j + 3]) for j in range(4)]
        n = cross3(w[1] - w[0], w[2] - w[0])
        volume, size = dot3(n, w[3] - w[0]), maximum(*(sqrt(dot3(w[j] - w[0], w[j] - w[0])) for j in (1, 3)))
        turned = less(0.0, volume)  # the fourth lies below the others, seen counterclockwise
        for k, x in enumerate((w[0], chosen(turned, w[2], w[1]), chosen(turned, w[1], w[2]), w[3])):
            self._put(float(k), x)
        return size, less(absolute(volume), 1e-13 * size * size * size), unit(n, unit(_beside(w[1] - w[0]), Z)[0])[0]

    def _put(self, k: Scalar, w: Vec3) -> None:
        for j, x in enumerate(w):
            self.corners[3.0 * k + float(j)] = x

    def _made(self, at: Scalar, corners: Sequence[Scalar], condition: Scalar, best: Sequence[Scalar]) -> Lowest:
        """A face is put in its place where a condition holds; the lower of it and the best so far."""
        x, y, z = (Vec3(self.corners[3.0 * c + float(j)] for j in range(3)) for c in corners)
        n, area = unit(cross3(y - x, z - x), ZERO)
        height = select(condition, select(less(TINY, area), dot3(n, x), FAR), FAR)
        for j, number in enumerate((height, *corners, *n)):
            self.faces[7.0 * at + float(j)] = number
        lower = less(height, best[0])
        return tuple(select(lower, a, b) for a, b in zip((height, *n), best, strict=True))

    def _replaced(self, k: Scalar, w: Vec3, size: Scalar, none: Lowest) -> Lowest:
        """The faces that a further corner sees replaced by those between it and their rim; the lowest of all."""
        corner = k + 4.0
        self._put(corner, w)

        def look(f: Scalar, seen: Scalar, rim: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
            height, *rest = (self.faces[7.0 * f + float(c)] for c in range(7))
            corners, n = rest[:3], rest[3:]
            visible = less(height + SEEN * size, dot3(Vec3(n), w))
            (rim,) = when(visible, (rim,), lambda rim: self._rimmed(corners, rim))
            height = select(visible, FAR, height)
            self.faces[7.0 * f] = height
            lower = less(height, best[0])
            return (seen + 1.0, rim, *(select(lower, a, b) for a, b in zip((height, *n), best, strict=True)))

        last = 4.0 + RIM * k
        _, rim, *best = repeat(FACES, (0.0, 0.0, *none), look, until=lambda seen, *_: less(last - 0.5, seen))

        def close(e: Scalar, *best: Scalar) -> tuple[Scalar, ...]:
            there = less(e, rim - 0.5)
            ends = (select(there, self.rim[2.0 * e + float(c)], 0.0) for c in (0, 1))
            return self._made(last + e, (*ends, corner), there, best)

        return repeat(RIM, best, close)

    def _rimmed(self, corners: Sequence[Scalar], rim: Scalar) -> tuple[Scalar, ...]:
        """How long the rim is with the edges of a face that is seen: one that is there the other way round goes."""

        def edge(k: Scalar, rim: Scalar) -> tuple[Scalar, ...]:
            i, j, m = corners
            x = select(less(k, 0.5), i, select(less(k, 1.5), j, m))
            y = select(less(k, 0.5), j, select(less(k, 1.5), m, i))

            def compare(e: Scalar, at: Scalar) -> tuple[Scalar, ...]:
                off = absolute(self.rim[2.0 * e] - y) + absolute(self.rim[2.0 * e + 1.0] - x)
                return (select(less(off, 0.5), select(less(e, rim - 0.5), e, at), at),)

            (at,) = repeat(RIM, (rim,), compare)
            there = less(at, rim - 0.5)
            for c, end in enumerate((x, y)):
                last = self.rim[2.0 * maximum(rim - 1.0, 0.0) + float(c)]
                self.rim[2.0 * at + float(c)] = select(there, last, end)
            return (rim + select(there, -1.0, 1.0),)

        return repeat(3, (rim,), edge)


def _beside(e: Vec3) -> Vec3:
    """A vector at right angles to another: its product with the axis, x or y, that it is less along."""
    return chosen(less(absolute(e[0]), absolute(e[1])), cross3(e, X), cross3(e, Y))
