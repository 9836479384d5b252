"""Dual numbers a + ε b with ε² = 0, as one more scalar.

Every operation of the table works on them by its own row: f(a + ε b) = f(a) + ε b f'(a). So whatever is written over
scalars is written over dual numbers too, and by the principle of transference a formula for vectors at a point becomes
one for motors, lines in space: featherstone1987 2.8.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.graph.expr import Scalar
from hinge.graph.loops import Scratch, repeat
from hinge.graph.ops import OPS, call, less, select
from hinge.graph.scalars import power


class Dual:
    """real + ε dual; the parts are any scalars."""

    __slots__ = ("dual", "real")
    __array_ufunc__ = None  # an array does not swallow dual numbers one by one

    def __init__(self, real: Scalar, dual: Scalar = 0.0):
        self.real, self.dual = real, dual

    def __repr__(self) -> str:
        return f"Dual({self.real!r}, {self.dual!r})"

    def __eq__(self, other: object) -> bool:
        other = _dual(other)
        return bool(self.real == other.real and self.dual == other.dual)

    def __hash__(self) -> int:
        return hash((self.real, self.dual))

    def __add__(self, other: Scalar) -> Dual:
        other = _dual(other)
        return Dual(self.real + other.real, self.dual + other.dual)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Dual:
        other = _dual(other)
        return Dual(self.real - other.real, self.dual - other.dual)

    def __rsub__(self, other: Scalar) -> Dual:
        return _dual(other) - self

    def __neg__(self) -> Dual:
        return Dual(-self.real, -self.dual)

    def __mul__(self, other: Scalar) -> Dual:
        other = _dual(other)
        return Dual(self.real * other.real, self.real * other.dual + self.dual * other.real)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Dual:
        other = _dual(other)
        quotient = self.real / other.real
        return Dual(quotient, (self.dual - quotient * other.dual) / other.real)

    def __rtruediv__(self, other: Scalar) -> Dual:
        return _dual(other) / self

    def __pow__(self, exponent: Scalar) -> Scalar:
        return power(self, exponent)

    def __abs__(self) -> Scalar:
        return Dual.applied("abs", self)

    @staticmethod
    def applied(op: str, *args: Scalar) -> Scalar:
        """An operation of the table on dual numbers; which of two is less, their real parts say."""
        parts = [_dual(a) for a in args]
        if op == "less":
            return less(parts[0].real, parts[1].real)
        if op == "select":
            condition, a, b = parts[0].real, parts[1], parts[2]
            return Dual(select(condition, a.real, b.real), select(condition, a.dual, b.dual))
        reals = [p.real for p in parts]
        value = call(op, *reals)
        slopes = OPS[op].partials(value, *reals)
        rate: Scalar = 0.0
        for slope, part in zip(slopes, parts, strict=True):
            if type(part.dual) is not float or part.dual != 0.0:  # what does not move may have any slope
                rate = rate + slope * part.dual
        return Dual(value, rate)

    # loops and memory: a dual number is two numbers that are carried, or kept side by side

    paired = True

    @staticmethod
    def repeated(count: Scalar, state: Any, body: Any, until: Any, taken: Any = None,
                 moving: Sequence[bool] | None = None) -> tuple[Scalar, ...]:  # fmt: skip
        """A loop over dual numbers: their dual parts are so many more states.

        `taken` is how loops are taken, `repeat` unless something else is given, and `moving` which of the state has a
        dual part.
        """
        n, parts = len(state), [_dual(x) for x in state]
        which = [k for k in range(n) if moving is None or moving[k]]

        def dual(now: Sequence[Scalar]) -> list[Scalar]:
            made = list(now[:n])
            for k, x in zip(which, now[n:], strict=True):
                made[k] = Dual(made[k], x)
            return made

        def both(k: Scalar, *now: Scalar) -> list[Scalar]:
            made = [_dual(x) for x in body(k, *dual(now))]
            return [x.real for x in made] + [made[k].dual for k in which]

        stop = None if until is None else lambda *now: _dual(until(*dual([*now[:n], *[0.0] * len(which)]))).real
        made = (taken or repeat)(count, [x.real for x in parts] + [parts[k].dual for k in which], both, stop)
        return tuple(dual(made))

    def scratch(self, size: int) -> Any:
        """Memory for dual numbers."""
        return _Side(size, self)


class _Side:
    """Two scratch arrays side by side."""

    def __init__(self, size: int, like: Dual) -> None:
        node = next((x for x in (like.real, like.dual) if hasattr(x, "graph")), 0.0)
        self.real, self.dual = Scratch(size, like=node), Scratch(size, like=node)

    def __getitem__(self, k: Scalar) -> Dual:
        k = _dual(k).real
        return Dual(self.real[k], self.dual[k])

    def __setitem__(self, k: Scalar, x: Scalar) -> None:
        k, x = _dual(k).real, _dual(x)
        self.real[k], self.dual[k] = x.real, x.dual


def _dual(x: Any) -> Dual:
    return x if type(x) is Dual else Dual(x)
