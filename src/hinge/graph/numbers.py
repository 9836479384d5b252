"""The machine of the plain interpreter: NumPy arrays, one number a state, in double or single precision.

NumPy has no fused product and sum; the one here is rounded once, as the instruction is. The product and the sum are
taken apart into what they round to and what rounding takes away, exactly, as Dekker and Knuth do, and put together
again. Where that falls half-way between two numbers, what was rounded away before decides, as Boldo and Melquiond say.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

Array = Any  # an array of floats, or one number
SPLIT = 134217729.0  # 2^27 + 1
FEW = 8  # numbers that are done sooner one by one than by NumPy
FAR, NEAR = 2.0**990, 2.0**-960  # between these no part of a product or sum leaves the range of doubles


class Numbers:
    """Arithmetic on arrays of one floating type. See graph/machine.py for what each word means."""

    def __init__(self, dtype: Any = np.float64):
        self.dtype: Any = np.dtype(dtype).type
        self.single = self.dtype is np.float32
        self._whole = np.uint32 if self.single else np.uint64
        self._made: dict[Any, Any] = {}

    @classmethod
    def of(cls, *args: Any) -> Numbers:
        """The machine for these numbers: in single precision where every array among them is."""
        types = {x.dtype for x in args if hasattr(x, "dtype")}
        return cls(np.float32 if types == {np.dtype(np.float32)} else np.float64)

    def once(self, body: Callable[..., Any], *args: Any) -> Any:
        key = (body, *map(id, args))
        if key not in self._made:
            self._made[key] = args, body(self, *args)  # the arguments are kept, so that no other takes their place
        return self._made[key][1]

    def constant(self, x: float) -> Array:
        return self.dtype(x)

    def number(self, truth: Any) -> Array:
        return np.asarray(truth).astype(self.dtype)[()]

    add, sub, mul, div = map(staticmethod, (operator.add, operator.sub, operator.mul, operator.truediv))
    neg, sqrt, floor, abs = (staticmethod(f) for f in (np.negative, np.sqrt, np.floor, np.abs))
    less, equal = map(staticmethod, (np.less, np.equal))
    negative, copysign = (staticmethod(f) for f in (np.signbit, np.copysign))

    def select(self, truth: Any, a: Array, b: Array) -> Array:
        return _plain(np.where(truth, a, b))

    def min(self, a: Array, b: Array) -> Array:
        return _plain(np.where((a < b) | (a != a), a, b))

    def max(self, a: Array, b: Array) -> Array:
        return _plain(np.where((a > b) | (a != a), a, b))

    def fma(self, a: Array, b: Array, c: Array) -> Array:
        return fused_in_single(a, b, c) if self.single else fused(a, b, c)

    def fms(self, a: Array, b: Array, c: Array) -> Array:
        return self.fma(a, b, np.negative(c))

    def fnma(self, a: Array, b: Array, c: Array) -> Array:
        return self.fma(np.negative(a), b, c)

    # whole numbers, and the bits of others

    def integer(self, n: int) -> Array:
        return self._whole(n)

    def bits(self, x: Array) -> Array:
        return np.asarray(x, self.dtype)[...].view(self._whole)

    def from_bits(self, n: Array) -> Array:
        return np.asarray(n, self._whole)[...].view(self.dtype)

    int_add, int_and, int_or, int_xor = (
        staticmethod(f) for f in (np.add, np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    )

    def left(self, n: Array, places: int) -> Array:
        return np.left_shift(n, self._whole(places))

    def right(self, n: Array, places: int) -> Array:
        return np.right_shift(n, self._whole(places))

    def nonzero(self, n: Array) -> Array:
        return np.not_equal(n, self._whole(0))

    # from single to double precision and back

    def wider(self) -> Numbers:
        return Numbers(np.float64)

    def widen(self, x: Array) -> Array:
        return np.asarray(x).astype(np.float64)

    def narrow(self, x: Array) -> Array:
        return np.asarray(x).astype(self.dtype)

    def narrow_bits(self, n: Array) -> Array:
        return np.asarray(n).astype(self._whole)


def _plain(a: Array) -> Array:
    """Return an array without axes as a scalar, and any other as it is."""
    return a[()]


# one rounding for a product and a sum


def fused(a: Array, b: Array, c: Array) -> Array:
    """a b + c of doubles, rounded once."""
    if type(a) is type(b) is type(c) is np.float64:
        return np.float64(_one(float(a), float(b), float(c)))
    if max(getattr(x, "size", 1) for x in (a, b, c)) <= FEW:
        return np.asarray(_each(a, b, c), np.float64)[()]
    try:
        with np.errstate(over="raise", under="raise", invalid="raise"):  # then each step is exact, or rounds once
            r, other, tie, nearer = _steps(a, b, c)
    except FloatingPointError:
        return _fused_at_the_edges(*np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (a, b, c))))
    return np.where(nearer(), other, r) if tie.any() else r


def _steps(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any, Callable[[], Any]]:
    """a b + c, the number next to it on the other side, whether they tie, and whether that one is the nearer then."""
    p = a * b
    g, h = SPLIT * a, SPLIT * b
    ah, bh = g - (g - a), h - (h - b)
    al, bl = a - ah, b - bh
    lost = (((p - ah * bh) - ah * bl) - al * bh) - al * bl  # p is this much more than a b
    s = p + c
    v = s - p
    more = ((s - v) - p) + (v - c)  # s is this much more than p + c
    w = more + lost
    r = s - w
    d = (s - r) - w  # what rounding took away; at half a unit, what w was rounded by decides
    twice = d + d
    other = r + twice

    def nearer() -> Any:
        v = w - more
        rounded = (more - (w - v)) + (lost - v)  # more + lost is this much more than w
        return tie & (rounded != 0.0) & ((rounded < 0.0) != (d < 0.0))

    tie = (other - r == twice) & (other != r)
    return r, other, tie, nearer


def _fused_at_the_edges(a: Array, b: Array, c: Array) -> Array:
    """A fused product and sum where some numbers are huge, tiny or not finite: those one by one."""
    with np.errstate(all="ignore"):
        p = np.abs(a * b)
        usual = (np.maximum(np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(c), p)) < FAR) & (p > NEAR)
        r, other, _, nearer = _steps(*(np.where(usual, x, 1.0) for x in (a, b, c)))
        made = np.where(nearer(), other, r)
        made[~usual] = _each(a[~usual], b[~usual], c[~usual])
    return made[()]


def _one(a: float, b: float, c: float) -> float:
    p = a * b
    if NEAR < abs(p) < FAR and abs(a) < FAR and abs(b) < FAR and abs(c) < FAR:
        r, other, tie, nearer = _steps(a, b, c)
        return other if tie and nearer() else r
    if not (isfinite(a) and isfinite(b)) or not (a and b):
        return p + c
    if not isfinite(c):
        return c
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else -float("inf")


_each = np.frompyfunc(_one, 3, 1)


def fused_in_single(a: Array, b: Array, c: Array) -> Array:
    """a b + c of singles, rounded once: in doubles the product is exact, and the sum is rounded to odd."""
    a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    p = a * b
    s = np.asarray(p + c)
    v = s - p
    lost = (p - (s - v)) + (c - v)  # s is this much less than p + c
    inexact = np.abs(lost) > 0.0
    toward_zero = inexact & ((lost < 0.0) != (s < 0.0))
    bits = (s.view(np.int64) - toward_zero) | inexact
    return bits.view(np.float64).astype(np.float32)[()]
