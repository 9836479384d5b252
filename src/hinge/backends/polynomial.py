"""A program multiplied out: its results as polynomials in the inputs, their sines and cosines.

Every value becomes a sum of terms, a number times powers of generators. The square of a sine is one less the square
of the cosine, so that what is equal is the same sum and cancels. Afterwards the sums of two angles are gathered,
cos a cos b - sin a sin b being cos(a + b), and common factors are taken out. Quotients by sums, roots and choices
are generators of their own. A program that would become too long is given up: `TooLong`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hinge.graph import Program

Power = tuple[int, float]  # a generator's number and its exponent
Term = tuple[Power, ...]  # sorted by generator
Poly = dict[Term, float]
Angle = tuple[tuple[Term, float], ...]  # a sum of inputs, each times a number; () is the constant among them
ONE: Term = ()
LONGEST = 600  # terms of a value
BUDGET = 100_000  # products of terms in a program
TRIED, PAIRS = 100, 12  # terms of a polynomial, and pairs of its angles, up to which their sums are tried
ROUNDING = 8e-15  # a sum this much smaller than what was added is what rounding left of nothing


class TooLong(Exception):
    """The program has too many terms to be read by anybody."""


@dataclass(frozen=True)
class Generator:
    """What polynomials are made of: ("input", array, index), ("cos", angle), ("sum", terms), or another function."""

    kind: str
    of: tuple[Any, ...]


class Ring:
    """The generators met so far, and the arithmetic of polynomials in them."""

    def __init__(self) -> None:
        self.generators: list[Generator] = []
        self._number: dict[Generator, int] = {}
        self._spent = 0
        self._chosen: set[int] = set()  # generators that depend on a condition

    def number(self, kind: str, *of: Any) -> int:
        """The number of a generator."""
        made = Generator(kind, of)
        if made not in self._number:
            self._number[made] = len(self.generators)
            self.generators.append(made)
        return self._number[made]

    def power(self, kind: str, *of: Any, exponent: float = 1) -> Poly:
        return {((self.number(kind, *of), exponent),): 1.0}

    # arithmetic

    def add(self, a: Poly, b: Poly, sign: float = 1.0) -> Poly:
        made = dict(a)
        for term, c in b.items():
            _accumulate(made, term, sign * c)
        return self._bounded(made)

    def mul(self, a: Poly, b: Poly) -> Poly:
        self._spent += len(a) * len(b)
        if self._spent > BUDGET:
            raise TooLong
        made: Poly = {}
        for s, x in a.items():
            for t, y in b.items():
                for term, c in self._product(s, t):
                    _accumulate(made, term, c * x * y)
        return self._bounded(made)

    def _bounded(self, a: Poly) -> Poly:
        if len(a) > LONGEST:
            raise TooLong
        return a

    def _product(self, s: Term, t: Term) -> list[tuple[Term, float]]:
        powers = dict(s)
        for g, e in t:
            powers[g] = powers.get(g, 0) + e
        for g, e in powers.items():
            if e >= 2 and self.generators[g].kind == "sin":  # sin² = 1 - cos²
                rest = _term({**powers, g: e - 2})
                cos2 = _term({self.number("cos", *self.generators[g].of): 2})
                return self._product(rest, ONE) + [(u, -c) for u, c in self._product(rest, cos2)]
        return [(_term(powers), 1.0)]

    # what a program does

    def run(self, program: Program) -> list[list[Poly]]:
        """The entries of each output."""
        values: list[Poly] = []

        def value(a: Any) -> Poly:
            return values[a] if type(a) is int else constant(a)

        for op, args in program.code:
            if op == "input":
                values.append(self.power("input", program.inputs[args[0]].name, args[1]))
            else:
                values.append(_OPS.get(op, _function(op))(self, *map(value, args)))
        return [[value(entry) for entry in output.entries] for output in program.outputs]

    def inverse(self, a: Poly) -> Poly:
        """One over it: powers where it is a single term, else what its terms share times the inverse of their sum."""
        if len(a) == 1:
            ((term, c),) = a.items()
            return {tuple((g, -e) for g, e in term): 1.0 / c if c else math.nan}
        shared = {g: min(dict(term).get(g, 0) for term in a) for term in a for g, _ in term}
        rest = {_term({g: dict(term).get(g, 0) - e for g, e in shared.items()}): c for term, c in a.items()}
        made = self.function("sum", _key(rest))
        ((inside, _),) = made.items()
        return {_term({g: -e for g, e in (*shared.items(), *inside)}): 1.0}

    def turned(self, kind: str, x: Poly) -> Poly:
        """Sine or cosine of a sum of inputs, with quarter turns and the sign of its first one taken out."""
        quarters = x.get(ONE, 0.0) / (math.pi / 2)
        if round(quarters) and abs(quarters - round(quarters)) <= 1e-15 * abs(quarters):
            turns = (round(quarters) + (kind == "cos")) % 4  # cos x = sin(x + π/2)
            made = self.turned("cos" if turns % 2 else "sin", {term: c for term, c in x.items() if term != ONE})
            return made if turns < 2 else {term: -c for term, c in made.items()}
        angle = _key(x)
        if any(len(term) > 1 or (term and term[0][1] != 1) for term, _ in angle):
            return self.function(f"{kind} of", angle)
        return self.of_angle(kind, angle)

    def of_angle(self, kind: str, angle: Angle) -> Poly:
        lead = next((c for term, c in angle if term), 0.0)
        sign = -1.0 if lead < 0.0 and kind == "sin" else 1.0
        upright = tuple((term, -c) for term, c in angle) if lead < 0.0 else angle
        return {((self.number(kind, upright), 1),): sign}

    def function(self, name: str, *args: Any) -> Poly:
        """Another function of polynomials; a condition on what depends on a condition is nothing one could read."""
        depends = any(g in self._chosen for key in args for term, _ in key for g, _ in term)
        if depends and name in ("less", "min", "max"):
            raise TooLong
        made = self.power(name, *args)
        if depends or name in ("select", "min", "max"):
            self._chosen.add(self.number(name, *args))
        return made

    # making it shorter

    def gathered(self, a: Poly) -> Poly:
        """With sums and differences of angles, in whichever of the angles and their sums it is shortest."""
        base, made = a, self._gathered(a)
        while len(made) > 2 and len(base) <= TRIED:
            angles, sums = self._angles(base), set(self._angles(made))
            pairs = [(p, q) for p in angles for q in angles if p != q and _angle_sum(p, q, 1.0) in sums][:PAIRS]
            others = [other for p, q in pairs if (other := self._in_sum(base, p, q)) is not None]
            tried = [(other, self._gathered(other)) for other in others]
            shortest = min(tried, key=lambda both: _length(both[1]), default=(base, made))
            if _length(shortest[1]) >= _length(made):
                break
            base, made = shortest
        return self._squared(made)

    def _squared(self, a: Poly) -> Poly:
        """With sin² where 1 - cos² is there."""
        made = dict(a)
        for term, c in a.items():
            for g, e in term:
                rest = _term({**dict(term), g: e - 2})
                if self.generators[g].kind == "cos" and e >= 2 and term in made and _equal(made.get(rest, 0.0), -c):
                    s = self.number("sin", *self.generators[g].of)
                    sine = _term({**dict(rest), s: dict(rest).get(s, 0) + 2})
                    if sine not in made:
                        del made[term], made[rest]
                        made[sine] = -c
        return made

    def _in_sum(self, a: Poly, p: Angle, q: Angle) -> Poly | None:
        """In the angle p + q instead of q; None where that cannot be or is long."""
        total = _angle_sum(p, q, 1.0)
        cq, sq = self.number("cos", q), self.number("sin", q)
        (cp, sp), (ct, st) = ((self.of_angle("cos", x), self.of_angle("sin", x)) for x in (p, total))
        cos_q = self.add(self.mul(ct, cp), self.mul(st, sp))
        sin_q = self.add(self.mul(st, cp), self.mul(ct, sp), -1.0)
        made: Poly = {}
        for term, c in a.items():
            powers = dict(term)
            e, f = powers.pop(cq, 0), powers.pop(sq, 0)
            if e < 0 or f < 0 or e + f > 4:
                return None
            part = {_term(powers): c}
            for factor in [cos_q] * int(e) + [sin_q] * int(f):
                part = self.mul(part, factor)
            made = self.add(made, part)
        return made

    def _gathered(self, a: Poly) -> Poly:
        """With sums and differences of two angles where both products are there."""
        made, again = dict(a), True
        while again:
            again = False
            angles = self._angles(made)
            for k, p in enumerate(angles):
                for q in angles[:k]:
                    again = self._gather(made, q, p) or again
        return made

    def _angles(self, a: Poly) -> list[Angle]:
        numbers = sorted({g for term in a for g, _ in term if self.generators[g].kind in ("sin", "cos")})
        return list(dict.fromkeys(self.generators[g].of[0] for g in numbers))

    def _gather(self, a: Poly, p: Angle, q: Angle) -> bool:
        """cos p cos q ∓ sin p sin q = cos(p ± q), and sin p cos q ± cos p sin q = sin(p ± q)."""
        (cp, sp), (cq, sq) = ((self.number("cos", x), self.number("sin", x)) for x in (p, q))
        found = False
        for term, c in list(a.items()):
            powers = dict(term)
            for kind, (x, y), (u, v), same in (("cos", (cp, cq), (sp, sq), -1.0), ("sin", (sp, cq), (cp, sq), 1.0)):
                if not (powers.get(x, 0) >= 1 and powers.get(y, 0) >= 1) or term not in a:
                    continue
                rest = {**powers, x: powers[x] - 1, y: powers[y] - 1}
                partner = _term({**rest, u: rest.get(u, 0) + 1, v: rest.get(v, 0) + 1})
                d = a.get(partner, 0.0)
                if partner == term or not _equal(abs(d), abs(c)):
                    continue
                del a[term], a[partner]
                other = 1.0 if d * c * same > 0.0 else -1.0
                for t, e in self.mul({_term(rest): c}, self.of_angle(kind, _angle_sum(p, q, other))).items():
                    _accumulate(a, t, e)
                found = True
                break
        return found


def constant(x: float) -> Poly:
    return {ONE: float(x)} if x else {}


def _equal(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-12 * abs(b)


def _length(a: Poly) -> tuple[int, float]:
    return len(a), sum(abs(e) for term in a for _, e in term)


def _term(powers: dict[int, float]) -> Term:
    return tuple(sorted((g, e) for g, e in powers.items() if e))


def _joined(a: dict[int, float], b: dict[int, float]) -> Term:
    """The product of two."""
    return _term({g: a.get(g, 0) + b.get(g, 0) for g in a | b})


def _accumulate(a: Poly, term: Term, c: float) -> None:
    before = a.get(term, 0.0)
    total = before + c
    if abs(total) <= ROUNDING * abs(c):
        a.pop(term, None)
    else:
        a[term] = total


def _key(a: Poly) -> tuple[tuple[Term, float], ...]:
    return tuple(sorted(a.items()))


def _angle_sum(p: Angle, q: Angle, sign: float) -> Angle:
    made = dict(p)
    for term, c in q:
        _accumulate(made, term, sign * c)
    return _key(made)


def _function(name: str) -> Callable[..., Poly]:
    return lambda ring, *args: ring.function(name, *(_key(a) for a in args))


_OPS: dict[str, Callable[..., Poly]] = {
    "add": lambda r, a, b: r.add(a, b),
    "sub": lambda r, a, b: r.add(a, b, -1.0),
    "mul": lambda r, a, b: r.mul(a, b),
    "div": lambda r, a, b: r.mul(a, r.inverse(b)),
    "neg": lambda r, a: {term: -c for term, c in a.items()},
    "sin": lambda r, a: r.turned("sin", a),
    "cos": lambda r, a: r.turned("cos", a),
    "fma": lambda r, a, b, c: r.add(r.mul(a, b), c),
    "fms": lambda r, a, b, c: r.add(r.mul(a, b), c, -1.0),
    "fnma": lambda r, a, b, c: r.add(c, r.mul(a, b), -1.0),
}


# common factors


class Part(NamedTuple):
    """A product: a number, powers of generators, and perhaps a sum to some power."""

    number: float
    term: Term
    inner: Nested | None = None
    power: int = 1


@dataclass(frozen=True)
class Nested:
    """A sum of such products."""

    parts: tuple[Part, ...]


def factored(a: Poly, apart: Callable[[Term], Any] = lambda term: None) -> Nested:
    """The polynomial over its common denominator, with common factors taken out.

    They are looked for among the terms for which `apart` says the same first.
    """
    below, sign = _below(a), -1.0 if all(c < 0.0 for c in a.values()) else 1.0
    groups: dict[Any, list[tuple[Term, float]]] = {}
    for term, c in sorted(a.items()):
        powers = dict(term)
        above = _term({**powers, **{g: powers.get(g, 0) - e for g, e in below}})
        groups.setdefault(apart(term), []).append((above, sign * c if below else c))
    made = Nested(tuple(part for group in groups.values() for part in _parts(group)))
    return Nested((Part(sign, below, made),)) if below else made


def _below(a: Poly) -> Term:
    """The denominator of several terms that are all divided by something."""
    terms = [dict(term) for term in a]
    if len(a) < 2 or not any(all(powers.get(g, 0) < 0 for powers in terms) for g in terms[0]):
        return ONE
    return _term({g: min(0, *(powers.get(g, 0) for powers in terms)) for powers in terms for g in powers})


def _parts(terms: Sequence[tuple[Term, float]]) -> Iterable[Part]:
    square = _square(terms)
    if square is not None:
        yield square
        return
    best = _most_shared(terms)
    if best is None:
        yield from (Part(c, term) for term, c in terms)
        return
    group = [(dict(term), c) for term, c in terms if best in dict(term)]
    common = {g: min(powers.get(g, 0) for powers, _ in group) for g in group[0][0]}
    common = {g: e for g, e in common.items() if e > 0 or (e < 0 and all(powers.get(g) == e for powers, _ in group))}
    sizes = {abs(c) for _, c in group}
    scale = (sizes.pop() if len(sizes) == 1 else 1.0) * (-1.0 if all(c < 0.0 for _, c in group) else 1.0)
    inner = [(_term({g: e - common.get(g, 0) for g, e in powers.items()}), c / scale) for powers, c in group]
    within = tuple(_parts(inner))
    whole = within[0] if len(within) == 1 else Part(1.0, ONE, Nested(within))  # a square needs no brackets
    yield whole._replace(number=scale * whole.number, term=_joined(common, dict(whole.term)))
    yield from _parts([(term, c) for term, c in terms if best not in dict(term)])


def _square(terms: Sequence[tuple[Term, float]]) -> Part | None:
    """The square of a sum of two, if these terms are one: c a² + 2 c r a b + c r² b² = c (a + r b)²."""
    even = [(term, c) for term, c in terms if all(e % 2 == 0 for _, e in term)]
    if len(terms) != 3 or len(even) != 2:
        return None
    ((mixed, m),) = (one for one in terms if one not in even)
    (a, c), (b, d) = (({g: e // 2 for g, e in term}, x) for term, x in even)
    r = m / (2.0 * c)
    if mixed != _joined(a, b) or not _equal(c * r * r, d):
        return None
    return Part(c, ONE, Nested((Part(1.0, _term(a)), Part(r, _term(b)))), 2)


def _most_shared(terms: Sequence[tuple[Term, float]]) -> int | None:
    """The generator that most terms have, always to the same power."""
    seen: dict[int, list[float]] = {}
    for term, _ in terms:
        for g, e in term:
            seen.setdefault(g, []).append(e)
    shared = {g: len(powers) for g, powers in seen.items() if len(powers) > 1 and len(set(powers)) == 1}
    return max(shared, key=lambda g: (shared[g], -g)) if shared else None
