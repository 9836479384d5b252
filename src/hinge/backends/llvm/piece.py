"""A piece of a program as LLVM text: straight-line code, loops, and memory.

A loop is blocks of the same function. What it carries is in registers:

    head:   k = phi [0], [k + 1];  x = phi [init], [x_next]
            arrived = …;  go on while k < trips and some lanes, of those that loops around go on with, have not arrived
    body:   …;  x_next = arrived ? x : …
    exit:   x is what is left

Memory is a column of lanes a number, in the work buffer; an index that is the same in all lanes reads or writes a
whole column, any other one lane after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from hinge.backends.indices import is_whole
from hinge.backends.llvm import streams
from hinge.backends.llvm.block import Block
from hinge.backends.llvm.known import alike, is_written_out, places
from hinge.backends.partition import Long, Pieces
from hinge.graph import OPS, Program
from hinge.graph.order import STRUCTURE, ends

TRUTHS = {name for name, row in OPS.items() if row.truth}

INTEGERS = {  # the operations that indices are made of, on integers; what is fused has had its product taken already
    "add": "add i64 {}, {}", "sub": "sub i64 {}, {}", "mul": "mul i64 {}, {}", "neg": "sub i64 0, {}",
    "fma": "add i64 {}, {}", "fms": "sub i64 {}, {}", "fnma": "sub i64 {1}, {0}",
}  # fmt: skip


class About:
    """What the pieces of a program share: where things are, and what is known of values."""

    def __init__(self, program: Program, layout: Any, pieces: Pieces):
        self.program, self.layout, self.pieces = program, layout, pieces
        self.places, self.ends, self.even = places(program), ends(program), alike(program)
        self.tables: dict[Any, str] = {}


class Piece:
    """Instructions of a program in the making; what earlier pieces kept is fetched, what later ones need is kept."""

    def __init__(self, b: Block, about: About, loops: Sequence[Long] = ()):
        self.b, self.about, self.loops = b, about, loops
        self.program, self.layout, self.pieces = about.program, about.layout, about.pieces
        self.values: dict[int, str] = {}
        self.label = "entry"
        self.counters = {loop.start: f"%k{loop.start}" for loop in loops}
        # truths: lanes that an enclosing loop keeps as they are
        self.arrived = [self.has_arrived(loop) for loop in loops if loop.check]

    def write(self, start: int, end: int) -> None:
        """The instructions from start to end."""
        n, code, b = start, self.program.code, self.b
        while n < end:
            op, args = code[n]
            if op == "loop":
                self.loop(n, self.about.ends[n])
                n = self.about.ends[n]
            elif op in STRUCTURE:
                self.structure(n, op, args)
            elif op != "input":
                given = [self.truth(args[0]), *map(self.number, args[1:])] if op == "select" else map(self.number, args)
                self.values[n] = OPS[op].on(b, *given)
            if n in self.pieces.slot and op != "loop":
                b.keep(self.layout.kept + self.pieces.slot[n], self.number(n))
            for k, j in self.about.places.get(n, ()):
                b.keep(self.layout.outputs[k] + j, self.number(n))
            n += 1

    # values

    def named(self, a: Any) -> str:
        if type(a) is not int:
            return self.b.constant(a)
        if a not in self.values:
            op, args = self.program.code[a]
            if op == "input":
                self.values[a] = self.entry(*args)
            elif op == "counter":
                self.structure(a, op, args)
            else:
                self.values[a] = self.b.fetch(self.layout.kept + self.pieces.slot[a])
                if self.is_truth(a):  # which is kept as a number
                    self.values[a] = self.b.binary("fcmp one", self.values[a], self.b.constant(0.0))
        return self.values[a]

    def is_truth(self, a: Any) -> bool:
        return type(a) is int and self.program.code[a][0] in TRUTHS

    def number(self, a: Any) -> str:
        return self.b.number(self.named(a)) if self.is_truth(a) else self.named(a)

    def truth(self, a: Any) -> str:
        return self.named(a) if self.is_truth(a) else self.b.binary("fcmp une", self.named(a), self.b.constant(0.0))

    def entry(self, k: int, j: int) -> str:
        """Entry j of input k, a lane a state."""
        if self.program.inputs[k].uniform:
            return self.b.everywhere(self.b.put(f"getelementptr {self.b.scalar}, ptr %in{k}, i64 {j}"))
        return self.b.fetch(self.layout.inputs[k] + j)

    # loops

    def loop(self, start: int, end: int) -> None:
        b, code = self.b, self.program.code
        carried = [n for n in range(start, end) if code[n][0] == "carry" and code[n][1][0] == start]
        check = next((n for n in range(start, end) if code[n][0] == "until" and code[n][1][0] == start), 0)
        if is_written_out(self.program, start, end):
            self.written_out(start, end, carried)
            return
        for n in range(start + 1, end + 1):  # what comes from before is fetched before
            for a in code[n][1] if code[n][0] != "input" else ():
                if type(a) is int and a < start and code[a][0] not in ("loop", "end"):
                    self.named(a)
            if code[n][0] == "input":
                self.named(n)
        trips = self.trips(code[start][1][0])
        given = [self.number(code[n][1][1]) for n in carried]
        made, before = dict(b._made), self.label

        name = f"loop{start}"
        self.begin(f"{name}.head")
        k, at = b.put(""), len(b.lines) - 1
        phis = [b.put("") for _ in carried]
        self.counters[start] = k
        self.values.update(zip(carried, phis, strict=True))
        self.write(start + 1, check or start + 1)
        go = b.put(f"icmp slt i64 {k}, {trips}")
        arrived = ""
        if check:
            arrived = self.truth(code[check][1][1])
            go = b.put(f"and i1 {go}, {self.some_go_on([arrived, *self.arrived])}")
            self.arrived.append(arrived)
        b.do(f"br i1 {go}, label %{name}.body, label %{name}.exit")
        b.lines.append(f"{name}.body:")
        self.label = f"{name}.body"
        self.write((check or start) + 1, end)
        following = [self.number(a) for a in code[end][1][1:]]
        if check:
            following = [b.select(arrived, old, new) for old, new in zip(phis, following, strict=True)]
            self.arrived.pop()
        after = b.put(f"add i64 {k}, 1")
        last = self.label
        b.do(f"br label %{name}.head")
        b.lines.append(f"{name}.exit:")
        self.label = f"{name}.exit"
        b.lines[at] = f"  {k} = phi i64 [0, %{before}], [{after}, %{last}]"
        for j, (phi, old, new) in enumerate(zip(phis, given, following, strict=True)):
            b.lines[at + 1 + j] = f"  {phi} = phi {b.real} [{old}, %{before}], [{new}, %{last}]"
        for n in range(start + 1, end):  # what was made in a trip is gone
            if n not in carried and code[n][0] != "input":
                self.values.pop(n, None)
        b._made = made

    def written_out(self, start: int, end: int, carried: Sequence[int]) -> None:
        """A short loop as its trips one after another."""
        code = self.program.code
        now, made = [self.number(code[n][1][1]) for n in carried], dict(self.b._made)
        for k in range(int(code[start][1][0])):
            self.counters[start] = str(k)
            self.values.update(zip(carried, now, strict=True))
            self.write(start + 1, end)
            now = [self.number(a) for a in code[end][1][1:]]
            for n in range(start + 1, end):  # what was made in a trip is gone
                self.values.pop(n, None)
            self.b._made = dict(made)
        self.values.update(zip(carried, now, strict=True))

    # loops that are too long for a piece: what they carry has places in the work buffer

    def begin_long(self, loop: Long) -> None:
        given = [self.number(self.program.code[n][1][1]) for n in loop.carried]
        for n, x in zip(loop.carried, given, strict=True):
            self.b.keep(self.layout.kept + self.pieces.slot[n], x)

    def trips_of(self, loop: Long) -> str:
        return self.trips(self.program.code[loop.start][1][0])

    def has_arrived(self, loop: Long) -> str:
        x = self.b.fetch(self.layout.kept + self.pieces.arrived[loop.start])
        return self.b.binary("fcmp one", x, self.b.constant(0.0))

    def arrive_long(self, loop: Long) -> str:
        """Look which lanes have arrived; whether some have not."""
        b = self.b
        arrived = self.truth(self.program.code[loop.check][1][1])
        b.keep(self.layout.kept + self.pieces.arrived[loop.start], b.number(arrived))
        return self.some_go_on(
            [arrived, *(self.has_arrived(one) for one in self.loops if one.check and one is not loop)]
        )

    def some_go_on(self, kept: Sequence[str]) -> str:
        """Whether some lanes have arrived in none of several loops."""
        b, any_kept = self.b, kept[0]
        for one in kept[1:]:
            any_kept = b.put(f"or {b.truth} {any_kept}, {one}")
        return b.any(b.put(f"xor {b.truth} {any_kept}, {b.yes()}"))

    def carry_long(self, loop: Long) -> None:
        following = [self.number(a) for a in self.program.code[loop.end][1][1:]]
        if loop.check:
            before = [self.number(n) for n in loop.carried]
            arrived = self.has_arrived(loop)
            following = [self.b.select(arrived, x, y) for x, y in zip(before, following, strict=True)]
        for n, x in zip(loop.carried, following, strict=True):
            self.b.keep(self.layout.kept + self.pieces.slot[n], x)

    def begin(self, label: str) -> None:
        self.b.do(f"br label %{label}")
        self.b.lines.append(f"{label}:")
        self.label = label

    def trips(self, a: Any) -> str:
        """How many trips, as a whole number; none where it is not a number."""
        if type(a) is not int:
            return str(int(a))
        x = self.b.lane(self.number(a), 0)
        some = self.b.put(f"fcmp ogt {self.b.scalar} {x}, 0.0")
        safe = self.b.put(f"select i1 {some}, {self.b.scalar} {x}, {self.b.scalar} 0.0")
        return self.b.put(f"fptosi {self.b.scalar} {safe} to i64")

    # memory

    def structure(self, n: int, op: str, args: tuple[Any, ...]) -> None:
        b = self.b
        if op == "counter":
            x = b.put(f"sitofp i64 {self.counters[args[0]]} to {b.scalar}")
            self.values[n] = b.spread(x)
        elif op == "last":
            self.values[n] = self.number(args[1])
        elif op == "fresh":
            base, size = self.layout.scratch[args[0].name], args[0].size
            if args[0].zeros:
                b.do(f"call void @filled(ptr %work, i64 {base}, i64 {size}, {b.real} {b.constant(0.0)})")
        elif op == "load":
            load = self.load if args[0].kind != "rows" else partial(streams.read, self)
            self.values[n] = load(args[0], args[1])
        elif op == "store":
            self.store(args[0], args[1], self.number(args[2]))
        elif op == "write":
            streams.write(self, args[0], args[1], [self.number(x) for x in args[2:]])

    def index(self, memory: Any, x: str) -> tuple[str, str]:
        """A number as an index that is in the array, and whether it was."""
        b = self.b
        if memory.sure:
            return b.put(f"fptosi {b.scalar} {x} to i64"), ""
        low = b.put(f"fcmp oge {b.scalar} {x}, 0.0")
        high = b.put(f"fcmp olt {b.scalar} {x}, {b.lone(float(memory.size))}")
        inside = b.put(f"and i1 {low}, {high}")
        safe = b.put(f"select i1 {inside}, {b.scalar} {x}, {b.scalar} 0.0")
        return b.put(f"fptosi {b.scalar} {safe} to i64"), inside

    def place(self, memory: Any, at: str, lane: str) -> str:
        """Where a number is: in a column of lanes, or in a row that serves all."""
        b = self.b
        if memory.kind == "table":
            name = self.about.tables.setdefault(memory.name, f"@table{len(self.about.tables)}")
            return b.put(f"getelementptr {b.scalar}, ptr {name}, i64 {at}")
        if memory.kind == "input" and self.program.inputs[memory.name].uniform:
            return b.put(f"getelementptr {b.scalar}, ptr %in{memory.name}, i64 {at}")
        base = self.layout.scratch if memory.kind == "scratch" else self.layout.inputs
        column = b.column(b.put(f"add i64 {at}, {base[memory.name]}"))
        return column if not lane else b.put(f"getelementptr {b.scalar}, ptr {column}, i64 {lane}")

    def is_row(self, memory: Any) -> bool:
        """Whether one row of an array serves all lanes."""
        return memory.kind == "table" or (memory.kind == "input" and self.program.inputs[memory.name].uniform)

    def alike(self, a: Any) -> bool:
        return type(a) is not int or self.about.even[a]

    def load(self, memory: Any, a: Any) -> str:
        b, nan = self.b, self.b.constant(float("nan"))
        if self.alike(a):
            at, inside = self.whole(memory, a)
            where = self.place(memory, at, "")
            x = b.everywhere(where) if self.is_row(memory) else b.put(f"load {b.real}, ptr {where}, align {b.align}")
            return b.put(f"select i1 {inside}, {b.real} {x}, {b.real} {nan}") if inside else x
        index, made = self.number(a), "poison"
        for lane in range(b.lanes):
            at, inside = self.index(memory, b.lane(index, lane))
            where = self.place(memory, at, "" if self.is_row(memory) else str(lane))
            x = b.put(f"load {b.scalar}, ptr {where}, align {b.precision.bytes}")
            if inside:
                x = b.put(f"select i1 {inside}, {b.scalar} {x}, {b.scalar} {b.lone(float('nan'))}")
            made = b.put(f"insertelement {b.real} {made}, {b.scalar} {x}, i32 {lane}")
        return made

    def whole(self, memory: Any, a: Any) -> tuple[str, str]:
        """An index that is the same in all lanes; a loop's counter is one already."""
        if type(a) is not int:
            return str(int(a)), ""
        if memory.sure:
            return self.whole_number(a), ""
        return self.index(memory, self.b.lane(self.number(a), 0))

    def whole_number(self, a: Any) -> str:
        """A value that is the same in all lanes, and known to be whole, as an integer."""
        b = self.b
        if not is_whole(self.program, a):
            return b.put(f"fptosi {b.scalar} {b.lane(self.number(a), 0)} to i64")
        if type(a) is not int:
            return str(int(a))
        op, args = self.program.code[a]
        if op == "counter":
            return self.counters[args[0]]
        if op == "load":
            where = self.place(args[0], self.whole_number(args[1]), "")
            return b.put(
                f"fptosi {b.scalar} {b.put(f'load {b.scalar}, ptr {where}, align {b.precision.bytes}')} to i64"
            )
        given = [self.whole_number(x) for x in args]
        if len(given) == 3:
            given = [b.put(f"mul i64 {given[0]}, {given[1]}"), given[2]]
        return b.put(INTEGERS[op].format(*given))

    def store(self, memory: Any, a: Any, x: str) -> None:
        b = self.b
        if self.alike(a):
            at, inside = self.whole(memory, a)
            where = self.place(memory, at, "")
            if inside or self.arrived:
                old = b.put(f"load {b.real}, ptr {where}, align {b.align}")
                for arrived in self.arrived:
                    x = b.select(arrived, old, x)
                x = b.put(f"select i1 {inside}, {b.real} {x}, {b.real} {old}") if inside else x
            b.do(f"store {b.real} {x}, ptr {where}, align {b.align}")
            return
        index = self.number(a)
        for lane in range(b.lanes):
            at, inside = self.index(memory, b.lane(index, lane))
            where, one = self.place(memory, at, str(lane)), b.lane(x, lane)
            old = b.put(f"load {b.scalar}, ptr {where}, align {b.precision.bytes}")
            for arrived in self.arrived:
                stays = b.put(f"extractelement {b.truth} {arrived}, i32 {lane}")
                one = b.put(f"select i1 {stays}, {b.scalar} {old}, {b.scalar} {one}")
            one = b.put(f"select i1 {inside}, {b.scalar} {one}, {b.scalar} {old}") if inside else one
            b.do(f"store {b.scalar} {one}, ptr {where}, align {b.precision.bytes}")
