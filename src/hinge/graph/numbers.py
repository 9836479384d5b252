"""The machine of the plain interpreter: NumPy arrays, one number a state, in double or single precision.

NumPy has no fused product and sum; the one here is rounded once, as the instruction is. The product and the sum are
taken apart into what they round to and what rounding takes away, exactly, as Dekker and Knuth do, and put together
again. Where that falls half-way between two numbers, what was rounded away before decides, as Boldo and Melquiond say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # an array of floats, or one number
SPLIT = np.array(134217729.0)  # 2^27 + 1
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
        return np.asarray(truth).astype(self.dtype)

    add, sub, mul, div = (staticmethod(f) for f in (np.add, np.subtract, np.multiply, np.divide))
    neg, sqrt, floor, abs = (staticmethod(f) for f in (np.negative, np.sqrt, np.floor, np.abs))
    less, equal, select = (staticmethod(f) for f in (np.less, np.equal, np.where))
    negative, copysign = (staticmethod(f) for f in (np.signbit, np.copysign))

    def min(self, a: Array, b: Array) -> Array:
        return np.where((a < b) | (a != a), a, b)

    def max(self, a: Array, b: Array) -> Array:
        return np.where((a > b) | (a != a), a, b)

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


# one rounding for a product and a sum


def fused(a: Array, b: Array, c: Array) -> Array:
    """a b + c of doubles, rounded once."""
    try:
        with np.errstate(over="raise", under="raise", invalid="raise"):  # then each step below is exact, or rounds once
            return _fused(a, b, c)
    except FloatingPointError:
        return _fused_at_the_edges(*np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (a, b, c))))


def _fused(a: Array, b: Array, c: Array) -> Array:
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
    d = (s - r) - w  # what rounding took away; half a unit is a tie, and what w was rounded by decides it
    twice = d + d
    other = r + twice
    tie = (other - r == twice) & (other != r)
    if tie.any():
        v = w - more
        rounded = (more - (w - v)) + (lost - v)  # more + lost is this much more than w
        r = np.where(tie & (rounded != 0.0) & ((rounded < 0.0) != (d < 0.0)), other, r)
    return r


def _fused_at_the_edges(a: Array, b: Array, c: Array) -> Array:
    """The same where some numbers are huge, tiny or not finite."""
    from fractions import Fraction

    with np.errstate(all="ignore"):
        p = a * b
        made = np.where(np.isinf(c) & np.isfinite(a) & np.isfinite(b), c, p + c)
        largest = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(p), np.abs(c)))
        usual = (largest < FAR) & ((np.abs(p) > NEAR) | (a == 0.0) | (b == 0.0))
        made[usual] = _fused(a[usual], b[usual], c[usual])
        for k in np.argwhere(~usual & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
            at = tuple(k)
            exact = Fraction(float(a[at])) * Fraction(float(b[at])) + Fraction(float(c[at]))
            made[at] = _nearest(exact) if exact else made[at]
    return made[()]


def _nearest(x: Any) -> float:
    """The float next to a fraction."""
    try:
        return float(x)
    except OverflowError:
        return float("inf") if x > 0 else -float("inf")


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
