"""A straight run of vector instructions, written as LLVM text: one lane a state, in double or single precision."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Precision:
    """A floating-point type: what LLVM calls it, its size in bytes, and NumPy's type for it."""

    name: str
    suffix: str
    integer: str
    bytes: int
    dtype: type[np.floating]


DOUBLE = Precision("double", "f64", "i64", 8, np.float64)
SINGLE = Precision("float", "f32", "i32", 4, np.float32)


class Block:
    """Instructions on vectors of `lanes` numbers: a machine (graph/machine.py) that writes LLVM text."""

    def __init__(self, lanes: int, precision: Precision = DOUBLE):
        self.lanes, self.precision, self.lines = lanes, precision, list[str]()
        self.scalar, self.dtype, self.single = precision.name, precision.dtype, precision.dtype is np.float32
        self.real, self.whole, self.truth = (f"<{lanes} x {t}>" for t in (precision.name, precision.integer, "i1"))
        self.align = precision.bytes * lanes
        self.declared: dict[str, str] = {}
        self._count = 0
        self._made: dict[tuple[Any, ...], Any] = {}

    # writing

    def put(self, instruction: str) -> str:
        """Append an instruction; the name of what it makes."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction that makes nothing."""
        self.lines.append(f"  {instruction}")

    def constant(self, x: float) -> str:
        exact = float(self.precision.dtype(x))  # a single is written as the double it equals
        bits = struct.unpack("<Q", struct.pack("<d", exact))[0]
        return f"splat ({self.scalar} 0x{bits:016X})"

    def lone(self, x: float) -> str:
        """A constant as one number."""
        return self.constant(x).removeprefix(f"splat ({self.scalar} ").removesuffix(")")

    def lane(self, x: str, k: int) -> str:
        """The number in one lane."""
        return self.put(f"extractelement {self.real} {x}, i32 {k}")

    def spread(self, x: str) -> str:
        """One number in every lane."""
        one = self.put(f"insertelement {self.real} poison, {self.scalar} {x}, i32 0")
        return self.put(f"shufflevector {self.real} {one}, {self.real} poison, <{self.lanes} x i32> zeroinitializer")

    def yes(self) -> str:
        """What holds in every lane."""
        return "splat (i1 true)"

    def any(self, truth: str) -> str:
        """Whether it holds in some lane."""
        name = f"llvm.vector.reduce.or.v{self.lanes}i1"
        self.declared[name] = f"declare i1 @{name}({self.truth})"
        return self.put(f"call i1 @{name}({self.truth} {truth})")

    def integer(self, x: int) -> str:
        return f"splat ({self.precision.integer} {x})"

    def call(self, intrinsic: str, *args: str) -> str:
        name = f"{intrinsic}.v{self.lanes}{self.precision.suffix}"
        self.declared[name] = f"declare {self.real} @{name}({', '.join([self.real] * len(args))})"
        return self.put(f"call {self.real} @{name}({', '.join(f'{self.real} {a}' for a in args)})")

    # arithmetic

    def once(self, body: Callable[..., Any], *args: str) -> Any:
        if (body, *args) not in self._made:
            self._made[body, *args] = body(self, *args)
        return self._made[body, *args]

    def binary(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.real} {a}, {b}")

    def add(self, a: str, b: str) -> str:
        return self.binary("fadd", a, b)

    def sub(self, a: str, b: str) -> str:
        return self.binary("fsub", a, b)

    def mul(self, a: str, b: str) -> str:
        return self.binary("fmul", a, b)

    def div(self, a: str, b: str) -> str:
        return self.binary("fdiv", a, b)

    def neg(self, x: str) -> str:
        return self.put(f"fneg {self.real} {x}")

    def sqrt(self, x: str) -> str:
        return self.call("llvm.sqrt", x)

    def floor(self, x: str) -> str:
        return self.call("llvm.floor", x)

    def abs(self, x: str) -> str:
        return self.call("llvm.fabs", x)

    def copysign(self, a: str, b: str) -> str:
        return self.call("llvm.copysign", a, b)

    def fma(self, a: str, b: str, c: str) -> str:
        return self.call("llvm.fma", a, b, c)

    def fms(self, a: str, b: str, c: str) -> str:
        return self.fma(a, b, self.neg(c))

    def fnma(self, a: str, b: str, c: str) -> str:
        return self.fma(self.neg(a), b, c)

    # choices

    def less(self, a: str, b: str) -> str:
        return self.binary("fcmp olt", a, b)

    def equal(self, a: str, b: str) -> str:
        return self.binary("fcmp oeq", a, b)

    def negative(self, x: str) -> str:
        return self.put(f"icmp slt {self.whole} {self.bits(x)}, {self.integer(0)}")

    def select(self, condition: str, a: str, b: str) -> str:
        return self.put(f"select {self.truth} {condition}, {self.real} {a}, {self.real} {b}")

    def number(self, truth: str) -> str:
        return self.select(truth, self.constant(1.0), self.constant(0.0))

    def min(self, a: str, b: str) -> str:
        return self._first("olt", a, b)

    def max(self, a: str, b: str) -> str:
        return self._first("ogt", a, b)

    def _first(self, relation: str, a: str, b: str) -> str:
        """a where it stands in the relation to b, else b; NaN if either is."""
        chosen = self.select(self.binary(f"fcmp {relation}", a, b), a, b)
        return self.select(self.binary("fcmp uno", a, a), a, chosen)

    # whole numbers, and the bits of others

    def bits(self, x: str) -> str:
        return self.put(f"bitcast {self.real} {x} to {self.whole}")

    def from_bits(self, n: str) -> str:
        return self.put(f"bitcast {self.whole} {n} to {self.real}")

    def _on_bits(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.whole} {a}, {b}")

    def int_add(self, a: str, b: str) -> str:
        return self._on_bits("add", a, b)

    def int_and(self, a: str, b: str) -> str:
        return self._on_bits("and", a, b)

    def int_or(self, a: str, b: str) -> str:
        return self._on_bits("or", a, b)

    def int_xor(self, a: str, b: str) -> str:
        return self._on_bits("xor", a, b)

    def left(self, n: str, places: int) -> str:
        return self._on_bits("shl", n, self.integer(places))

    def right(self, n: str, places: int) -> str:
        return self._on_bits("lshr", n, self.integer(places))

    def nonzero(self, n: str) -> str:
        return self._on_bits("icmp ne", n, self.integer(0))

    # from single to double precision and back

    def wider(self) -> Block:
        wide = Block(self.lanes, DOUBLE)
        wide.lines, wide.declared, wide.put = self.lines, self.declared, self.put  # type: ignore[method-assign]
        return wide

    def _as_wide(self, kind: str) -> str:
        return f"<{self.lanes} x {kind}>"

    def widen(self, x: str) -> str:
        return self.put(f"fpext {self.real} {x} to {self._as_wide(DOUBLE.name)}")

    def narrow(self, x: str) -> str:
        return self.put(f"fptrunc {self._as_wide(DOUBLE.name)} {x} to {self.real}")

    def narrow_bits(self, n: str) -> str:
        return self.put(f"trunc {self._as_wide(DOUBLE.integer)} {n} to {self.whole}")

    # the work buffer, a column of lanes a value

    def column(self, k: int | str) -> str:
        return self.put(f"getelementptr {self.real}, ptr %work, i64 {k}")

    def fetch(self, k: int) -> str:
        return self.put(f"load {self.real}, ptr {self.column(k)}, align {self.align}")

    def keep(self, k: int | str, name: str) -> None:
        self.do(f"store {self.real} {name}, ptr {self.column(k)}, align {self.align}")

    def everywhere(self, pointer: str) -> str:
        """The number a pointer leads to, in every lane."""
        return self.spread(self.put(f"load {self.scalar}, ptr {pointer}, align {self.precision.bytes}"))

    def transposed(self, rows: list[str]) -> list[str]:
        """Rows of a square made columns, by swapping ever smaller blocks."""
        n = self.lanes
        step = n // 2
        while step:
            made = list(rows)
            for r in range(n):
                if r & step == 0:
                    low, high = rows[r], rows[r + step]
                    kept = [c if c & step == 0 else n + c - step for c in range(n)]
                    swapped = [c + step if c & step == 0 else n + c for c in range(n)]
                    made[r], made[r + step] = self._shuffled(low, high, kept), self._shuffled(low, high, swapped)
            rows, step = made, step // 2
        return rows

    def narrower(self, lanes: int) -> Block:
        """The same run of instructions, on vectors of fewer numbers."""
        made = Block(lanes, self.precision)
        made.lines, made.declared, made.put = self.lines, self.declared, self.put  # type: ignore[method-assign]
        return made

    def joined(self, parts: list[str], size: int) -> str:
        """Vectors of that size side by side, as one."""
        while len(parts) > 1:
            mask = ", ".join(f"i32 {p}" for p in range(2 * size))
            parts = [
                self.put(
                    f"shufflevector <{size} x {self.scalar}> {a}, <{size} x {self.scalar}> {b}, "
                    f"<{2 * size} x i32> <{mask}>"
                )
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            size *= 2
        return parts[0]

    def split(self, x: str, first: int, size: int) -> str:
        """Some of the numbers of a vector, as a shorter one."""
        mask = ", ".join(f"i32 {p}" for p in range(first, first + size))
        return self.put(f"shufflevector {self.real} {x}, {self.real} poison, <{size} x i32> <{mask}>")

    def _shuffled(self, a: str, b: str, picks: list[int]) -> str:
        mask = ", ".join(f"i32 {p}" for p in picks)
        return self.put(f"shufflevector {self.real} {a}, {self.real} {b}, <{self.lanes} x i32> <{mask}>")
