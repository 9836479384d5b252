"""Motion under constraints, with the forces that keep them.

    H qdd + C = tau + Aᵀ λ        A qdd + c = 0

The forces come first, from (A H⁻¹ Aᵀ) λ = -c - A H⁻¹ (tau - C), then the accelerations.
Source: zefran2004, section 3, and featherstone1987, section 9.4.
Differs from the source: constraints may depend on each other. Those that say nothing new are left out as they are met,
which changes no acceleration, and their forces are zero. `Semidefinite` decides how many count, here and wherever else
a rank is needed. A row counts if enough of it is left after elimination of the others. Less than `OWN` and `ALL` is
rounding. More is allowed where the state violates the constraints: a violation `off` means that the state is `off` / σ
away from one that keeps them, with σ the least singular value that counts, and rows that repeat each other there differ
by as much here. H may be singular where A is not: H + ρ Aᵀ A moves in the same way, and what has no inertia is moved by
the constraints that hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, inner, less, maximum, minimum, on_paper, repeat, select, total, when
from hinge.graph.scalars import largest
from hinge.model import Model

Rows = Sequence[Sequence[Scalar]]
OWN = 1e-11  # of a pivot before elimination: what is left below this share of it is rounding
ALL = 1e-13  # the same against the mean of all pivots
COARSE = 1e6  # how much larger rounding is in single precision
APART = 30.0  # rows that repeat each other differ by up to this times the distance of a state from one that keeps them
FAR = 1e-4  # of the mean pivot: more than this is no repetition, however far the state is off
SMALL = 1e-5  # of the mean pivot: with less left, the largest pivots have to come first
CLEAR = 0.1  # the same where a row was passed over that may say the same better
HUGE = 1e36  # more than any pivot can be
EMPTY = 1e-12  # m or rad, per unit of velocity: a constraint with no larger entry than this touches nothing
TURNS = 3  # in which what is left by small pivots is made up for
MET = 1e-9  # of the largest acceleration: what is left of a constraint that is met
LENT = 1e-13  # of a diagonal entry of H + ρ Aᵀ A: a pivot below that is none


class State(NamedTuple):
    """How constraints stand at a state: squares of how far it is off, of levers, and of how fast it goes off.

    What is off is an angle; a length is one by its constraint's lever. `speed` is the largest velocity there.
    """

    off: Scalar
    levers: Sequence[Scalar]
    rate: Scalar = 0.0
    speed: Scalar = 0.0

    @classmethod
    def exact(cls, size: int) -> State:
        """So many constraints that are kept, all alike."""
        return cls(0.0, [1.0] * size)


class Held(NamedTuple):
    """Constraints A qdd + c = 0 at a state, and how they stand there."""

    A: Rows
    c: Sequence[Scalar]
    state: State | None = None


class Semidefinite:
    """Λ = L D Lᵀ for a symmetric matrix without negative eigenvalues; rows with no pivot left are passed over.

    Where a pivot of such a matrix is zero, so is the rest of its row: no exchange of rows is needed. Where one is small
    and not zero, what is left of later rows is not known well: `doubt`, and Λ is inverted by its largest pivots.
    """

    def __init__(self, rows: Rows, A: Rows, state: State | None = None):
        """From the rows of Λ = A H⁻¹ Aᵀ, up to the diagonal, and of A, whose size tells what is rounding."""
        L = [list(row[: k + 1]) for k, row in enumerate(rows)]
        self.size, self.inverse, self.given = len(L), [0.0] * len(L), [list(row) for row in L]
        self.good: list[Scalar] = []
        off, levers, *_ = state or State.exact(self.size)
        mean = total([row[-1] / lever for row, lever in zip(L, levers, strict=True)]) * (1.0 / max(1, self.size))
        self.none = select(
            less(mean, HUGE), 0.0, mean
        )  # a row that is not finite is not passed over: no force is known
        self.off, self.grain = off, _grain(mean)
        self.levers, self.over = levers, 1.0 / maximum(mean, 1.0 / HUGE)
        self.usual = [mean * lever for lever in levers]
        self.rounding = [
            select(less(inner(a, a), EMPTY**2), HUGE, row[-1] * (OWN * self.grain)) for a, row in zip(A, L, strict=True)
        ]
        least = self.least(1.0)
        share: Scalar = 1.0
        passed: Scalar = 0.0
        for k in range(self.size):
            pivot = L[k][k]
            good = True if on_paper(pivot) else less(least[k], pivot)  # on paper they are taken to be independent
            self.good.append(good)
            self.inverse[k] = select(good, 1.0 / select(good, pivot, 1.0), self.none)
            if not on_paper(pivot):
                share = minimum(share, select(good, self._share(k, pivot), 1.0))
            passed = maximum(passed, select(good, 0.0, less(least[k], HUGE)))
            column = [L[i][k] for i in range(k + 1, self.size)]
            for i in range(k + 1, self.size):
                scaled = L[i][k] * self.inverse[k]
                for j in range(k + 1, i + 1):
                    L[i][j] = L[i][j] - scaled * column[j - k - 1]
                L[i][k] = scaled
        self.L, self.plain_share = L, share
        small = less(share * share, maximum(SMALL * SMALL, APART * APART * off))  # one pivot may repeat another
        self.doubt = (
            False if any(map(on_paper, self.inverse)) else select(passed, maximum(small, less(share, CLEAR)), small)
        )
        self._inverse, self.share, self.rank = self._inverted()

    def _share(self, k: int, pivot: Scalar) -> Scalar:
        """A pivot of row k as a share of the usual one."""
        return pivot / self.levers[k] * self.over

    def least(self, share: Scalar) -> list[Scalar]:
        """Return the least pivot of each row that counts, next to pivots of at least this share of the usual ones."""
        apart = maximum(repetition(self.off, share), ALL * self.grain)
        return [rounding + usual * apart for rounding, usual in zip(self.rounding, self.usual, strict=True)]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with Λ x = b, where there is one; entries of rows that were passed over are zero."""
        return list(when(self.doubt, self.quick(b), lambda *_: self.careful(b)))

    def careful(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The same by the inverse, which is known where there is doubt."""
        return [inner(row, b) for row in self._inverse]

    def quick(self, b: Sequence[Scalar]) -> list[Scalar]:
        """The same in the order of rows, for pivots that leave no doubt."""
        x = list(b)
        for k in range(self.size):
            for j in range(k):
                x[k] = x[k] - self.L[k][j] * x[j]
        x = [entry * inverse for entry, inverse in zip(x, self.inverse, strict=True)]
        for k in reversed(range(self.size)):
            for i in range(k + 1, self.size):
                x[k] = x[k] - self.L[i][k] * x[i]
            x[k] = select(self.good[k], x[k], self.none)
        return x

    def _inverted(self) -> tuple[list[list[Scalar]], Scalar, Scalar]:
        """Return the inverse of Λ on the rows that count, the share of the least pivot there, and how many rows count.

        Where there is doubt, these come from exchanges in place, the largest pivot first. Where there is none, the
        inverse is not needed and is zero. It is zero for the other rows too.
        """
        n = self.size
        places = [(i, j) for i in range(n) for j in range(i + 1)]

        def whole(flat: Sequence[Scalar]) -> list[list[Scalar]]:
            known = dict(zip(places, flat, strict=True))
            return [[known[max(i, j), min(i, j)] for j in range(n)] for i in range(n)]

        def exchange(_: Scalar, *now: Scalar) -> list[Scalar]:
            share, M, done = now[0], whole(now[1:-n]), now[-n:]
            least = self.least(share)
            pivots = [select(done[k], 0.0, select(less(least[k], M[k][k]), M[k][k], 0.0)) for k in range(n)]
            shares = [self._share(k, x) for k, x in enumerate(pivots)]
            most, chosen = largest(shares), list[Scalar]()
            for x in shares:  # the first of the largest, if one is left
                chosen.append(select(less(0.5, total(chosen)), 0.0, select(less(x, most), 0.0, less(0.0, x))))
            pivot, column = _picked(chosen, pivots), [_picked(chosen, row) for row in M]
            some = less(0.0, pivot)
            over = select(some, 1.0 / select(some, pivot, 1.0), 0.0)
            shrunk, made = [x * over for x in column], []
            for i, j in places:
                cleared = M[i][j] - shrunk[i] * column[j]
                crossed = select(chosen[i], shrunk[j], select(chosen[j], shrunk[i], cleared))
                made.append(select(chosen[i], -over, cleared) if i == j else crossed)
            share = select(some, minimum(share, most), share)
            return [share, *made, *(maximum(d, c) for d, c in zip(done, chosen, strict=True))]

        def exchanged(*_: Scalar) -> list[Scalar]:
            share, *made = repeat(n, [1.0, *(self.given[i][j] for i, j in places), *[0.0] * n], exchange)
            M, done = whole(made[:-n]), made[-n:]
            inverse = [select(done[i], select(done[j], -M[i][j], 0.0), 0.0) for i, j in places]
            return [*inverse, share, total(done)]

        rank = total([select(good, 1.0, 0.0) for good in self.good])
        *flat, share, rank = when(self.doubt, [*[0.0] * len(places), self.plain_share, rank], exchanged)
        return whole(flat), share, rank


def repetition(off: Scalar, share: Scalar) -> Scalar:
    """Return the share of the usual pivot that a row which repeats others has left, at most, where a state is off.

    `off` is the square of the violation, `share` that of the least pivot that counts: the state is √(off / share) away
    from one that keeps the constraints.
    """
    return minimum(APART * APART * off / share, FAR)


def _picked(chosen: Sequence[Scalar], entries: Sequence[Scalar]) -> Scalar:
    """The entry that is chosen, or 0."""
    made: Scalar = 0.0
    for here, x in zip(chosen, entries, strict=True):
        made = select(here, x, made)
    return made


def independent_rows(A: Rows, state: State, free: Sequence[Scalar]) -> Scalar:
    """Return how many rows of A count at a state, by the same rule as in the dynamics.

    `free` is 1 for the velocities that may change and 0 for the others.
    """
    lower = [[total([a * b * f for a, b, f in zip(A[k], A[j], free, strict=True)]) for j in range(k + 1)]
             for k in range(len(A))]  # fmt: skip
    return Semidefinite(lower, [[a * f for a, f in zip(row, free, strict=True)] for row in A], state).rank


class Keeping:
    """Constraints A qdd + c = 0 on motions of a mass matrix that is factored: W = H⁻¹ Aᵀ, and A H⁻¹ Aᵀ factored."""

    def __init__(self, H: Any, A: Rows, state: State | None = None):
        self.A, self.W, self.lent = A, [H.solve(row) for row in A], getattr(H, "lent", 0.0)
        lower = [[inner(A[k], self.W[j]) for j in range(k + 1)] for k in range(len(A))]
        self.factors = Semidefinite(lower, A, state)

    def kept(self, free: Sequence[Scalar], c: Sequence[Scalar] | None = None) -> tuple[list[Scalar], list[Scalar]]:
        """Accelerations that keep the constraints, from those that do not, and the multipliers."""
        n, asked = len(free), [0.0] * len(self.A) if c is None else list(c)

        def nearer(solve: Callable[[Any], list[Scalar]], *now: Scalar) -> list[Scalar]:
            more = solve([-inner(row, now[:n]) - ck for row, ck in zip(self.A, asked, strict=True)])
            moved = [x + total([w[i] * f for w, f in zip(self.W, more, strict=True)]) for i, x in enumerate(now[:n])]
            return [*moved, *(a + b for a, b in zip(now[n:], more, strict=True))]  # featherstone1987 (9.17)

        def carefully(*_: Scalar) -> Sequence[Scalar]:
            return repeat(TURNS, start, lambda _, *now: nearer(self.factors.careful, *now))

        start = [*free, *[0.0] * len(self.A)]
        made = when(self.factors.doubt, nearer(self.factors.quick, *start), carefully)
        return list(made[:n]), [f + self.lent * ck for f, ck in zip(made[n:], asked, strict=True)]


def constrained(
    H: Any, forces: Sequence[Scalar], A: Rows, c: Sequence[Scalar], state: State | None = None
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and multipliers, from the factors of H, tau - C, the constraints' matrix A and c."""
    return Keeping(H, A, state).kept(H.solve(forces), c)


def met(held: Held, factors: Semidefinite, free: Sequence[Scalar], qdd: Sequence[Scalar], pull: float = 0.0) -> Scalar:
    """1 where A qdd + c is zero, up to rounding and to what the state is off; 0 where it is not.

    `factors` are those of A H⁻¹ Aᵀ and `free` the accelerations without constraints; c has in it what brings a state
    back at a rate `pull` (1/s).
    """
    off, levers, rate, speed = held.state or State.exact(len(held.A))
    fast, turning = largest([*free, *qdd]), speed + 2.0 * pull
    size = fast * fast + square(held.c, levers)
    slip = rate * turning * turning + off * pull**4  # what a state that is off puts into c
    rounding = MET * _grain(size)
    bound = (rounding * rounding + repetition(off, factors.share)) * size + APART * APART * slip / factors.share
    left = [inner(row, qdd) + c for row, c in zip(held.A, held.c, strict=True)]
    return select(less(bound, square(left, levers)), 0.0, 1.0)


def square(entries: Sequence[Scalar], levers: Sequence[Scalar]) -> Scalar:
    """The largest square of an entry a constraint, as an angle or the rate of one."""
    return largest(x * x / lever for x, lever in zip(entries, levers, strict=True))


class Lent:
    """The factors of H + ρ Aᵀ A, for bodies whose only inertia is what the constraints lend them."""

    def __init__(self, H: Rows, A: Rows, joint_label: Callable[[int], str]):
        columns, n = list(zip(*A, strict=True)), range(len(H))
        self.lent = total([H[k][k] for k in n]) / total([inner(row, row) for row in A])
        rows = [[H[i][j] + self.lent * inner(columns[i], columns[j]) for j in range(i + 1)] for i in n]
        self.factors = LDL(rows, joint_label)
        self.pivots = [_real(p, rows[k][k]) for k, p in enumerate(self.factors.pivots)]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """(H + ρ Aᵀ A)⁻¹ b."""
        return self.factors.solve(b)


def factored(model: Model, H: Rows, A: Rows) -> LDL | Lent:
    """A mass matrix factored, with the constraints' help where a coordinate moves nothing that has inertia."""
    return Lent(H, A, model.joint_label()) if massless(H) and A else LDL(H, model.joint_label())


def massless(H: Rows) -> bool:
    """Whether a coordinate of a mass matrix moves nothing that has inertia, in any state."""
    return any(type(row[k]) is float and row[k] == 0.0 for k, row in enumerate(H))


def _real(pivot: Scalar, before: Scalar) -> Scalar:
    """A pivot, or 0 where what is left of the entry before elimination is rounding."""
    return select(less(LENT * before, pivot), pivot, select(less(before, HUGE), 0.0, before))


def _grain(x: Scalar) -> Scalar:
    """1 in double precision; in single precision, which has no number between 1 and 1 + 2⁻⁴⁰, as much more."""
    return select(less(1.0, select(less(x, HUGE), 1.0 + 2.0**-40, 1.0)), 1.0, COARSE)
