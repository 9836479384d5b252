"""Counts as polynomials in the number of joints, with fractions and no rounding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

FITTED, VERIFIED = range(3, 9), range(9, 13)
DEGREE = 4
TERM = re.compile(r"([+-]?)\s*(\d+(?:/\d+)?)?\s*(n(?:\^(\d))?)?")
POWERS = " ⁰¹²³⁴"


@dataclass(frozen=True)
class Polynomial:
    """Coefficients of 1, n, n², …; `start` is the least n it holds for."""

    coefficients: tuple[Fraction, ...]
    start: int = 3

    def __call__(self, n: int) -> Fraction:
        return sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __str__(self) -> str:
        shown = ""
        for k, c in reversed(list(enumerate(self.coefficients))):
            if c:
                size = "" if abs(c) == 1 and k else str(abs(c)) + (" " if k and c.denominator > 1 else "")
                power = ("", "n")[k > 0] + (POWERS[k + 1] if k > 1 else "")
                sign = ("- " if c < 0 else "+ ") if shown else ("-" if c < 0 else "")
                shown += f" {sign}{size}{power}" if shown else f"{sign}{size}{power}"
        return shown or "0"

    @staticmethod
    def read(text: str) -> Polynomial:
        """From "81/6 n^3 + 165/2 n^2 + 5n"."""
        found: dict[int, Fraction] = {}
        for sign, size, n, power in TERM.findall(text):
            if size or n:
                k = int(power or 1) if n else 0
                found[k] = found.get(k, Fraction(0)) + Fraction(size or 1) * (-1 if sign == "-" else 1)
        return Polynomial(tuple(found.get(k, Fraction(0)) for k in range(max(found, default=0) + 1)))


def through(points: Mapping[int, int]) -> tuple[Fraction, ...]:
    """The coefficients of the polynomial of least degree through some points, by Newton's divided differences."""
    at = sorted(points)
    column, first = [Fraction(points[n]) for n in at], list[Fraction]()
    for width in range(len(at)):
        first.append(column[0])
        column = [(b - a) / (at[k + width + 1] - at[k]) for k, (a, b) in enumerate(pairwise(column))]
    made = [Fraction(0)]
    for n, c in reversed(list(zip(at, first, strict=True))):  # Horner: made (x - n) + c
        made = [c - n * made[0], *(a - n * b for a, b in zip(made, [*made[1:], Fraction(0)], strict=True))]
    while len(made) > 1 and not made[-1]:
        made.pop()
    return tuple(made)


def fitted(counts: Mapping[int, int]) -> Polynomial | None:
    """The polynomial that counts lie on: found on FITTED, and right on VERIFIED too; None where there is none.

    The first links of an arm move less than the others do, and a program makes use of it, so that some polynomials
    hold from a link or two later on than others; `start` says from which.
    """
    for start in FITTED[:3]:
        seen = {n: counts[n] for n in FITTED if n >= start}
        for degree in range(min(DEGREE + 1, len(seen))):
            some = {n: seen[n] for n in list(seen)[: degree + 1]}
            made = Polynomial(through(some), start)
            if all(made(n) == counts[n] for n in counts if n >= start):
                return made
    return None
