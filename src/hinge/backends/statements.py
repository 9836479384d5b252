"""The machine that writes C: a statement an instruction, and a static function for each function of the table.

No sum and product meet in one statement, so a compiler that keeps to the standard contracts nothing on its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.graph import OPS, Op


@dataclass(frozen=True)
class Real:
    """A floating-point type of C: its name, what its functions and constants end in, NumPy's type, and a tolerance."""

    name: str
    suffix: str
    dtype: type[np.floating[Any]]
    close: float  # of the largest entry: how far a result on another machine may be from ours
    whole: str  # the unsigned whole numbers of the same size

    def constant(self, x: float) -> str:
        """The shortest decimal that is read back as this very number."""
        with np.errstate(over="ignore"):
            value = self.dtype(x)
        if math.isnan(value):
            return "NAN"
        if math.isinf(value):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        text = f"{value!s}{self.suffix}"
        return f"({text})" if text.startswith("-") else text


REALS = {
    "double": Real("double", "", np.float64, 1e-9, "uint64_t"),
    "float": Real("float", "f", np.float32, 1e-3, "uint32_t"),
}
DOUBLE = REALS["double"]

# a primitive operation as an expression; a truth is a condition
SAY: dict[str, Callable[..., str]] = {
    "add": lambda real, a, b: f"{a} + {b}",
    "sub": lambda real, a, b: f"{a} - {b}",
    "mul": lambda real, a, b: f"{a} * {b}",
    "div": lambda real, a, b: f"{a} / {b}",
    "neg": lambda real, a: f"-{a}",
    "sqrt": lambda real, a: f"sqrt{real.suffix}({a})",
    "floor": lambda real, a: f"floor{real.suffix}({a})",
    "abs": lambda real, a: f"fabs{real.suffix}({a})",
    "min": lambda real, a, b: f"({a} < {b} || {a} != {a}) ? {a} : {b}",  # NaN if either is
    "max": lambda real, a, b: f"({a} > {b} || {a} != {a}) ? {a} : {b}",
    "less": lambda real, a, b: f"{a} < {b}",
    "select": lambda real, c, a, b: f"({c}) ? {a} : {b}",
    "fma": lambda real, a, b, c: f"FMA{real.suffix.upper()}({a}, {b}, {c})",
    "fms": lambda real, a, b, c: f"FMA{real.suffix.upper()}({a}, {b}, -{c})",
    "fnma": lambda real, a, b, c: f"FMA{real.suffix.upper()}(-{a}, {b}, {c})",
}


class Statements:
    """The statements of a C function: a machine (graph/machine.py) whose values are names."""

    def __init__(self, real: Real, lines: list[str] | None = None):
        self.real, self.dtype, self.single = real, real.dtype, real.suffix == "f"
        self.lines = [] if lines is None else lines

    def put(self, kind: str, text: str) -> str:
        """Append a definition; the name of what it defines."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"const {kind} {name} = {text};")
        return name

    def __getattr__(self, name: str) -> Callable[..., str]:
        """The word for a primitive operation."""
        if name not in SAY:
            raise AttributeError(name)
        kind = "int" if OPS[name].truth else self.real.name
        return lambda *args: self.put(kind, SAY[name](self.real, *args))

    def once(self, body: Callable[..., Any], *args: str) -> Any:
        return body(self, *args)

    def constant(self, x: float) -> str:
        return self.real.constant(x)

    def number(self, truth: str) -> str:
        return self.put(self.real.name, f"{truth} ? {self.constant(1.0)} : {self.constant(0.0)}")

    def equal(self, a: str, b: str) -> str:
        return self.put("int", f"{a} == {b}")

    def negative(self, x: str) -> str:
        return self.put("int", f"signbit({x}) != 0")

    def copysign(self, a: str, b: str) -> str:
        return self.put(self.real.name, f"copysign{self.real.suffix}({a}, {b})")

    # whole numbers, and the bits of others

    def integer(self, n: int) -> str:
        return f"UINT{8 * np.dtype(self.dtype).itemsize}_C({n})"

    def bits(self, x: str) -> str:
        return self._whole(f"bits_of_{self.real.name}({x})")

    def from_bits(self, n: str) -> str:
        return self.put(self.real.name, f"{self.real.name}_of_bits({n})")

    def _whole(self, text: str) -> str:
        return self.put(self.real.whole, text)

    def int_add(self, a: str, b: str) -> str:
        return self._whole(f"{a} + {b}")

    def int_and(self, a: str, b: str) -> str:
        return self._whole(f"{a} & {b}")

    def int_or(self, a: str, b: str) -> str:
        return self._whole(f"{a} | {b}")

    def int_xor(self, a: str, b: str) -> str:
        return self._whole(f"{a} ^ {b}")

    def left(self, n: str, places: int) -> str:
        return self._whole(f"{n} << {places}")

    def right(self, n: str, places: int) -> str:
        return self._whole(f"{n} >> {places}")

    def nonzero(self, n: str) -> str:
        return self.put("int", f"{n} != 0")

    # from single to double precision and back

    def wider(self) -> Statements:
        return Statements(DOUBLE, self.lines)

    def widen(self, x: str) -> str:
        return self.put("double", f"(double){x}")

    def narrow(self, x: str) -> str:
        return self.put(self.real.name, f"({self.real.name}){x}")

    def narrow_bits(self, n: str) -> str:
        return self._whole(f"({self.real.whole}){n}")


def braced(head: str, body: Iterable[str]) -> str:
    """A function: its head, and its statements."""
    return "\n".join([head, "{", *(f"    {line}" for line in body), "}", ""])


def statement(row: Op, real: Real, *args: str) -> str:
    """A primitive operation as an expression of numbers."""
    if row.name == "select":
        args = (f"{args[0]} != {real.constant(0.0)}", *args[1:])
    text = SAY[row.name](real, *args)
    return f"({text}) ? {real.constant(1.0)} : {real.constant(0.0)}" if row.truth else text


def shared(rows: Iterable[Op], real: Real) -> list[str]:
    """What the functions among these rows need: their static functions, and what those need in turn."""
    made = [_function(row, real) for row in {row.body: row for row in rows if row.body}.values()]
    helpers = [helper for one in REALS.values() for helper in _punned(one)]
    return [*(text for name, text in helpers if f"{name}(" in "\n".join(made)), *made]


def _punned(real: Real) -> list[tuple[str, str]]:
    """From numbers to bits and back: names and functions."""
    union = f"union {{ {real.name} x; {real.whole} n; }} u;"
    bits, number = f"bits_of_{real.name}", f"{real.name}_of_bits"
    return [
        (bits, braced(f"static {real.whole} {bits}({real.name} x)", [union, "u.x = x;", "return u.n;"])),
        (number, braced(f"static {real.name} {number}({real.whole} n)", [union, "u.n = n;", "return u.x;"])),
    ]


def _function(row: Op, real: Real) -> str:
    """The body of a row as a static function; several results are a struct of the same name."""
    assert row.body is not None
    name, s = row.body.__name__, Statements(real)
    arguments = [f"x{k}" for k in range(row.arity)]
    made = row.body(s, *arguments)
    taken = ", ".join(f"{real.name} {x}" for x in arguments)
    if row.part is None:
        return braced(f"static {real.name} {name}({taken})", _needed(s.lines, f"return {made};"))
    kind = f"struct {name}"
    result = f"const {kind} made = {{{{{', '.join(made)}}}}};"
    body = [*_needed(s.lines, result), "return made;"]
    return f"{kind} {{ {real.name} at[{len(made)}]; }};\n" + braced(f"static {kind} {name}({taken})", body)


def _needed(lines: list[str], last: str) -> list[str]:
    """The statements that the last one depends on, and that one."""
    kept, words = [last], set(re.findall(r"\w+", last))
    for line in reversed(lines):
        left, right = line.split(" = ", 1)
        if left.split()[-1] in words:
            kept.append(line)
            words.update(re.findall(r"\w+", right))
    return kept[::-1]


NAMES = {row.body.__name__ for row in OPS.values() if row.body}  # that the code uses
