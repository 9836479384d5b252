"""Words for functions that are not kernels: loops, cells and calls, on llvmlite's builder.

What runs around kernels is the same for all of them. It is built here as control flow, and let through LLVM's own
optimiser, which kernels are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class Building:
    """A module in the making; `table` has the addresses of what its functions call, by name."""

    def __init__(self, name: str, table: Sequence[str]) -> None:
        from llvmlite import ir

        self.ir, self.module, self.names = ir, ir.Module(name), tuple(table)
        self.i64, self.i32, self.ptr, self.void = ir.IntType(64), ir.IntType(32), ir.PointerType(), ir.VoidType()
        self.null, self.zero, self.one = ir.Constant(self.ptr, None), self.n(0), self.n(1)
        links = ir.GlobalVariable(self.module, ir.ArrayType(self.i64, len(self.names)), "links")
        links.linkage, links.initializer = "internal", ir.Constant(links.value_type, None)
        self.table = _Pointer(links, self.ptr)
        self._connect()

    def _connect(self) -> None:
        """connect(table): take over the addresses."""
        function = self.define("connect", self.void, [self.ptr], public=True)
        with self.below(self.n(len(self.names))) as k:
            self.put(self.table, k, self.get(function.args[0], k))
        self.b.ret_void()

    def define(self, name: str, result: Any, arguments: list[Any], public: bool = False) -> Any:
        """Begin a function; what is built from now on belongs to it."""
        function = self.ir.Function(self.module, self.ir.FunctionType(result, arguments), name)
        function.linkage = "" if public else "internal"
        self.b = self.ir.IRBuilder(function.append_basic_block("entry"))
        self.b.position_at_end(function.append_basic_block("begin"))
        with self.b.goto_entry_block():
            self.b.branch(function.basic_blocks[1])
        return function

    # numbers, addresses, memory

    def n(self, value: int) -> Any:
        return self.ir.Constant(self.i64, value)

    def int32(self, value: int) -> Any:
        return self.ir.Constant(self.i32, value)

    def address(self, pointer: Any) -> Any:
        return self.b.ptrtoint(pointer, self.i64)

    def pointer(self, address: Any) -> Any:
        return self.b.inttoptr(address, self.ptr)

    def field(self, base: Any, offset: int, kind: Any) -> Any:
        """What stands that many bytes after an object's head."""
        return self.b.load(self.b.gep(base, [self.n(offset)], source_etype=self.ir.IntType(8)), typ=kind)

    def item(self, base: Any, k: Any) -> Any:
        """Where entry k of a row of 64-bit numbers is."""
        return self.b.gep(base, [k], source_etype=self.i64)

    def get(self, base: Any, k: Any) -> Any:
        return self.b.load(self.item(base, k), typ=self.i64)

    def put(self, base: Any, k: Any, value: Any) -> None:
        self.b.store(value, self.item(base, k))

    def row(self, length: int) -> Any:
        """A row of 64-bit numbers on the stack, one a call of the function."""
        with self.b.goto_entry_block():
            return _Pointer(self.b.alloca(self.ir.ArrayType(self.i64, length)), self.ptr)

    def numbers(self, count: Any) -> Any:
        """64-bit numbers on the stack; how many is known when the function runs."""
        return _Pointer(self.b.alloca(self.i64, size=count), self.ptr)

    def cell(self, value: Any) -> Any:
        """A place on the stack that holds a 64-bit number for now."""
        made = self.row(1)
        self.b.store(value, made)
        return made

    def read(self, cell: Any) -> Any:
        return self.b.load(cell, typ=self.i64)

    # tests

    def less(self, a: Any, b: Any) -> Any:
        return self.b.icmp_signed("<", a, b)

    def same(self, a: Any, b: Any) -> Any:
        return self.b.icmp_signed("==", a, b)

    def least(self, a: Any, b: Any) -> Any:
        return self.b.select(self.less(a, b), a, b)

    def is_null(self, pointer: Any) -> Any:
        return self.same(self.address(pointer), self.zero)

    # control

    @contextmanager
    def below(self, count: Any, first: int = 0) -> Iterator[Any]:
        """A loop over k from `first` on, below `count`; its body leaves it by returning or not at all."""
        k = self.cell(self.n(first))
        test, body, after = (self.b.append_basic_block(word) for word in ("test", "body", "after"))
        self.b.branch(test)
        self.b.position_at_end(test)
        self.b.cbranch(self.less(self.read(k), count), body, after)
        self.b.position_at_end(body)
        yield self.read(k)
        self.b.store(self.b.add(self.read(k), self.one), k)
        self.b.branch(test)
        self.b.position_at_end(after)

    def demand(self, condition: Any, otherwise: Any) -> None:
        """Return from the function where a condition does not hold."""
        with self.b.if_then(self.b.not_(condition), likely=False):
            self.b.ret(otherwise)

    # calls

    def link(self, name: str) -> Any:
        """An address that was handed over."""
        at = self.item(self.table, self.n(self.names.index(name)))
        return self.b.load(at, typ=self.i64)

    def ask(self, name: str, *arguments: Any, result: Any = None) -> Any:
        """Call a function that was handed over; it gives a pointer unless another `result` is named."""
        return self.call_at(self.link(name), result or self.ptr, arguments)

    def call_at(self, address: Any, result: Any, arguments: Sequence[Any]) -> Any:
        kind = self.ir.FunctionType(result, [a.type for a in arguments])
        function = _Pointer(self.pointer(address), self.ptr)
        function.function_type = kind
        return self.b.call(function, list(arguments))


class _Pointer:
    """A place in memory of which nobody says what it holds; a function's, where its type is written on it."""

    function_type: Any

    def __init__(self, place: Any, kind: Any) -> None:
        self.place, self.type = place, kind

    def get_reference(self) -> str:
        return str(self.place.get_reference())
