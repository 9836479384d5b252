"""What a function of the table is written against: the few words that every back end has.

    def hypotenuse(m, x, y):
        return m.sqrt(m.fma(x, x, m.mul(y, y)))

A body runs on a machine, and what a machine makes of it is its affair: `Numbers` computes on arrays, the LLVM block
and the C function write text. A word rounds once or not at all, so that all of them give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Value = Any  # a floating-point number, or its name
Truth = Any  # whether something holds
Whole = Any  # an unsigned whole number of as many bits as a Value has


class Machine(Protocol):
    """Arithmetic in one precision; also the words of every primitive operation, by its name in the table."""

    dtype: Any  # NumPy's type of a Value
    single: bool  # whether that is single precision

    def once(self, body: Callable[..., Any], *args: Value) -> Any:
        """What a body makes of these arguments, made no more than once."""

    def constant(self, x: float, /) -> Value:
        """The number nearest to x."""

    def number(self, truth: Truth, /) -> Value:
        """One where it holds, else zero."""

    def add(self, a: Value, b: Value, /) -> Value: ...
    def sub(self, a: Value, b: Value, /) -> Value: ...
    def mul(self, a: Value, b: Value, /) -> Value: ...
    def div(self, a: Value, b: Value, /) -> Value: ...
    def neg(self, a: Value, /) -> Value: ...
    def sqrt(self, a: Value, /) -> Value: ...
    def floor(self, a: Value, /) -> Value: ...
    def abs(self, a: Value, /) -> Value: ...
    def min(self, a: Value, b: Value, /) -> Value: ...
    def max(self, a: Value, b: Value, /) -> Value: ...
    def fma(self, a: Value, b: Value, c: Value, /) -> Value:
        """a b + c, rounded once."""

    def fms(self, a: Value, b: Value, c: Value, /) -> Value:
        """a b - c, rounded once."""

    def fnma(self, a: Value, b: Value, c: Value, /) -> Value:
        """c - a b, rounded once."""

    def less(self, a: Value, b: Value, /) -> Truth: ...
    def equal(self, a: Value, b: Value, /) -> Truth: ...
    def negative(self, a: Value, /) -> Truth:
        """Whether the sign bit is set."""

    def select(self, truth: Truth, a: Value, b: Value, /) -> Value: ...
    def copysign(self, a: Value, b: Value, /) -> Value: ...

    def bits(self, x: Value, /) -> Whole:
        """The bits of a number, as they are in memory."""

    def from_bits(self, n: Whole, /) -> Value: ...
    def integer(self, n: int, /) -> Whole: ...
    def int_add(self, a: Whole, b: Whole, /) -> Whole: ...
    def int_and(self, a: Whole, b: Whole, /) -> Whole: ...
    def int_or(self, a: Whole, b: Whole, /) -> Whole: ...
    def int_xor(self, a: Whole, b: Whole, /) -> Whole: ...
    def left(self, n: Whole, places: int, /) -> Whole:
        """Shifted towards the high bits, which are lost."""

    def right(self, n: Whole, places: int, /) -> Whole:
        """Shifted towards the low bits, which are lost; zeros come in."""

    def nonzero(self, n: Whole, /) -> Truth: ...

    def wider(self) -> Machine:
        """The same machine in double precision."""

    def widen(self, x: Value, /) -> Value:
        """A single as a double, for the wider machine."""

    def narrow(self, x: Value, /) -> Value:
        """A double of the wider machine, rounded to a single."""

    def narrow_bits(self, n: Whole, /) -> Whole:
        """The low bits of a whole number of the wider machine."""


def in_double(body: Callable[..., Any]) -> Callable[..., Any]:
    """A body that is written for double precision: singles are widened, and what it makes is rounded to single."""

    def either(m: Machine, *args: Value) -> Value:
        if not m.single:
            return body(m, *args)
        return m.narrow(body(m.wider(), *(m.widen(x) for x in args)))

    either.__name__, either.__doc__ = body.__name__, body.__doc__
    return either
