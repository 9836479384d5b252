"""Loops and memory of a program as C. Counters are integers, and so are the indices that are made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from hinge.backends.indices import INTEGERS, indices, is_whole
from hinge.backends.routine import Array, Routine
from hinge.backends.statements import Real
from hinge.graph import Program
from hinge.graph.order import ends


def rows_of(array: Array) -> str:
    """What the number of rows of a stream is called."""
    return f"{array.name}_rows"


def is_common(program: Program, n: int) -> bool:
    """Whether all states take loop n as often: no other is around it, and no state leaves it early."""
    code, (trips, *_) = program.code, program.code[n][1]
    shared = type(trips) is float or (code[trips][0] == "input" and program.inputs[code[trips][1][0]].uniform)
    inside = any(m < n < end for m, end in ends(program).items())
    return shared and not inside and not any(op == "until" and args[0] == n for op, args in code)


def scratch(program: Program, real: Real) -> list[str]:
    """The arrays that the function writes and reads itself."""
    made = [args[0] for op, args in program.code if op == "fresh"]
    read = {args[0].name for op, args in program.code if op == "load" and args[0].kind == "scratch"}
    lines = [f"{real.name} m{memory.name}[{memory.size}];" for memory in made]
    return lines + [f"(void)m{memory.name};" for memory in made if memory.name not in read]


class Loops:
    """The loops and the memory of a routine: statements, and the margin of what comes next.

    `here` says what a value is called.
    """

    def __init__(self, one: Routine, real: Real, here: Callable[[Any], str]):
        self.one, self.real, self.here, self.code = one, real, here, one.program.code
        self.margin = ""
        self.integers, self.unasked = indices(one.program)
        self._tables: dict[Any, str] = {}
        self._open: list[int] = []

    @cached_property
    def _ends(self) -> dict[int, int]:
        return ends(self.one.program)

    def tables(self) -> list[str]:
        """The constants that were read."""
        lines = []
        for (table, kind), name in self._tables.items():
            numbers = [str(int(x)) if kind == "int" else self.real.constant(x) for x in table.values]
            fixed = all(map(math.isfinite, table.values))  # infinity is no constant of CUDA's
            how = self.one.table if fixed else "const"
            lines.append(f"{how} {kind} {name}[{len(numbers)}] = {{{', '.join(numbers)}}};")
        return lines

    def _table(self, table: Any, kind: str) -> str:
        return self._tables.setdefault((table, kind), f"table{len(self._tables)}")

    def whole(self, a: Any) -> str:
        """An index as an integer."""
        return f"i{a}" if type(a) is int else str(int(a))

    def integer(self, n: int) -> list[str]:
        """Value n as an integer, where somebody wants it."""
        op, args = self.code[n]
        if n not in self.integers:
            return []
        if op == "counter":
            text = f"(int)k{args[0]}"
        elif op == "load":
            text = f"{self._table(args[0].name, 'int')}[{self.whole(args[1])}]"
        else:
            text = INTEGERS[op].format(*map(self.whole, args))
        return [f"const int i{n} = {text};"]

    def structure(self, n: int) -> Iterable[str]:
        """The statements of an instruction that is no operation."""
        op, args = self.code[n]
        if op == "loop":
            yield from self._begun(n, args[0])
        elif op == "end":
            yield from self._ended(n, args[1:])
        elif op == "until":
            yield f"{self.margin}if ({self.here(args[1])} != {self.real.constant(0.0)}) break;"
        else:
            for line in [*self.integer(n), *([] if n in self.unasked else self._said(n, op, args))]:
                yield self.margin + line

    def _carried(self, n: int) -> list[int]:
        span = range(n, self._ends[n])
        return [m for m in span if self.code[m][0] == "carry" and self.code[m][1][0] == n]

    def _begun(self, n: int, trips: Any) -> Iterable[str]:
        for m in self._carried(n):
            yield f"{self.margin}{self.real.name} t{m} = {self.here(self.code[m][1][1])};"
        counted = type(trips) is not int
        yield f"{self.margin}{'int' if counted else 'long'} k{n};"
        yield from [self.margin + self.one.loop] * bool(self.one.loop)
        more = f"k{n} < {int(trips)}" if counted else f"(double)k{n} < {self.here(trips)}"
        yield f"{self.margin}for (k{n} = 0; {more}; k{n}++) {{"
        self._open.append(n)
        self.margin += "    "
        if self.one.common and self._open == [n] and is_common(self.one.program, n):
            yield self.margin + self.one.common

    def _ended(self, n: int, following: Iterable[Any]) -> Iterable[str]:
        carried = self._carried(self._open.pop())
        for m, a in zip(carried, following, strict=True):
            yield f"{self.margin}const {self.real.name} n{m} = {self.here(a)};"
        yield from [f"{self.margin}t{m} = n{m};" for m in carried]
        self.margin = self.margin[4:]
        yield f"{self.margin}}}"
        yield from [f"{self.margin}(void)t{m};" for m in carried]  # one that nobody asks for afterwards

    def _said(self, n: int, op: str, args: tuple[Any, ...]) -> list[str]:
        """What a counter is, and what is done to an array: an index that is not in it reads NaN, and writes nothing."""
        one, real = self.one, self.real
        if op == "counter":
            return [f"const {real.name} t{n} = ({real.name})k{args[0]};"]
        if op not in ("load", "store", "fresh", "write"):
            return []
        memory = args[0]
        name = f"m{memory.name}"
        if op == "fresh":
            k = f"z{n}"
            clear = f"{{ int {k}; for ({k} = 0; {k} < {memory.size}; {k}++) {name}[{k}] = {real.constant(0.0)}; }}"
            return [clear] if memory.zeros else []
        if memory.kind == "table":
            name = self._table(memory.name, real.name)
        elif memory.kind == "input":
            name = one.inputs[memory.name].name
        at, size = self.here(args[1]), real.constant(float(memory.size))
        sure = memory.sure and memory.kind not in ("rows", "record")
        place = self.whole(args[1]) if sure and is_whole(one.program, args[1]) else f"(int){at}"
        if memory.kind in ("rows", "record"):
            array = (one.inputs if memory.kind == "rows" else one.outputs)[memory.name]
            name, place, size = array.name, f"(long){at} * {memory.size}", f"({real.name}){rows_of(array)}"
        inside = f"{at} >= {real.constant(0.0)} && {at} < {size}"
        if op == "write":
            row = one.row(name, place, [self.here(x) for x in args[2:]])
            return [f"if ({inside}) {{", *(f"    {line}" for line in row), "}"]
        if op == "store":
            kept = f"{name}[{place}] = {self.here(args[2])};"
            return [kept if sure else f"if ({inside}) {kept}"]
        place += f" + {memory.column}" if memory.kind == "rows" else ""
        read = f"{name}[{place}]"
        return [f"const {real.name} t{n} = {read if sure else f'({inside}) ? {read} : NAN'};"]
