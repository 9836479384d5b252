"""A straight run of vector instructions, written as LLVM text: one lane a state, in double or single precision."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hinge.backends.llvm.math import arc_tangent, sine_and_cosine


@dataclass(frozen=True)
class Precision:
    """A floating-point type: what LLVM calls it, its size in bytes, and NumPy's type for it."""

    name: str
    suffix: str
    integer: str
    bytes: int
    dtype: type[np.floating]

    @property
    def largest(self) -> float:
        return float(np.finfo(self.dtype).max)


DOUBLE = Precision("double", "f64", "i64", 8, np.float64)
SINGLE = Precision("float", "f32", "i32", 4, np.float32)


class Block:
    """Instructions on vectors of `lanes` numbers."""

    def __init__(self, lanes: int, precision: Precision = DOUBLE):
        self.lanes, self.precision, self.lines = lanes, precision, list[str]()
        self.scalar = precision.name
        self.real, self.whole, self.truth = (f"<{lanes} x {t}>" for t in (precision.name, precision.integer, "i1"))
        self.align = precision.bytes * lanes
        self.declared: dict[str, str] = {}
        self._count = 0
        self._angles: dict[str, tuple[str, str]] = {}

    def wider(self) -> Block:
        """A block in double precision that writes to the same place."""
        wide = Block(self.lanes, DOUBLE)
        wide.lines, wide.declared, wide.put = self.lines, self.declared, self.put  # type: ignore[method-assign]
        return wide

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

    def integer(self, x: int) -> str:
        return f"splat ({self.precision.integer} {x})"

    def call(self, intrinsic: str, *args: str) -> str:
        name = f"{intrinsic}.v{self.lanes}{self.precision.suffix}"
        self.declared[name] = f"declare {self.real} @{name}({', '.join([self.real] * len(args))})"
        return self.put(f"call {self.real} @{name}({', '.join(f'{self.real} {a}' for a in args)})")

    # arithmetic

    def binary(self, op: str, a: str, b: str) -> str:
        return self.put(f"{op} {self.real} {a}, {b}")

    def neg(self, x: str) -> str:
        return self.put(f"fneg {self.real} {x}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.call("llvm.fma", a, b, c)

    def absolute(self, x: str) -> str:
        return self.call("llvm.fabs", x)

    def select(self, condition: str, a: str, b: str) -> str:
        return self.put(f"select {self.truth} {condition}, {self.real} {a}, {self.real} {b}")

    def choose(self, relation: str, a: str, b: str) -> str:
        """a where it stands in the relation to b, else b; NaN if either is."""
        chosen = self.select(self.binary(f"fcmp {relation}", a, b), a, b)
        return self.select(self.binary("fcmp uno", a, a), a, chosen)

    def negative(self, x: str) -> str:
        """Whether the sign bit is set."""
        bits = self.put(f"bitcast {self.real} {x} to {self.whole}")
        return self.put(f"icmp slt {self.whole} {bits}, {self.integer(0)}")

    def angle(self, x: str) -> tuple[str, str]:
        """Sine and cosine, made together."""
        if x not in self._angles:
            self._angles[x] = sine_and_cosine(self, x)
        return self._angles[x]

    # the work buffer, a column of lanes a value

    def column(self, k: int | str) -> str:
        return self.put(f"getelementptr {self.real}, ptr %work, i64 {k}")

    def fetch(self, k: int) -> str:
        return self.put(f"load {self.real}, ptr {self.column(k)}, align {self.align}")

    def keep(self, k: int | str, name: str) -> None:
        self.do(f"store {self.real} {name}, ptr {self.column(k)}, align {self.align}")

    def everywhere(self, pointer: str) -> str:
        """The number a pointer leads to, in every lane."""
        x = self.put(f"load {self.scalar}, ptr {pointer}, align {self.precision.bytes}")
        one = self.put(f"insertelement {self.real} poison, {self.scalar} {x}, i32 0")
        return self.put(f"shufflevector {self.real} {one}, {self.real} poison, <{self.lanes} x i32> zeroinitializer")

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

    def _shuffled(self, a: str, b: str, picks: list[int]) -> str:
        mask = ", ".join(f"i32 {p}" for p in picks)
        return self.put(f"shufflevector {self.real} {a}, {self.real} {b}, <{self.lanes} x i32> <{mask}>")


EMIT: dict[str, Callable[..., str]] = {
    "add": lambda b, x, y: b.binary("fadd", x, y),
    "sub": lambda b, x, y: b.binary("fsub", x, y),
    "mul": lambda b, x, y: b.binary("fmul", x, y),
    "div": lambda b, x, y: b.binary("fdiv", x, y),
    "neg": lambda b, x: b.neg(x),
    "sqrt": lambda b, x: b.call("llvm.sqrt", x),
    "sin": lambda b, x: b.angle(x)[0],
    "cos": lambda b, x: b.angle(x)[1],
    "atan2": arc_tangent,
    "min": lambda b, x, y: b.choose("olt", x, y),
    "max": lambda b, x, y: b.choose("ogt", x, y),
    "less": lambda b, x, y: b.binary("fcmp olt", x, y),
    "select": lambda b, c, x, y: b.select(c, x, y),
    "fma": lambda b, x, y, z: b.fma(x, y, z),
    "fms": lambda b, x, y, z: b.fma(x, y, b.neg(z)),
    "fnma": lambda b, x, y, z: b.fma(b.neg(x), y, z),
}
