"""The way from a Python call into machine code, written once for all kernels and compiled once a machine.

`enter` is a METH_FASTCALL function. It looks at what it is given: plain arrays of one state or of any batch, lists and
tuples of numbers, and last a place for the result, or None for it. Where everything is as the kernel says of itself
(`spread.ABOUT`), it makes the results, runs the states and returns; for anything unusual it returns None, and the
ordinary path in Python takes over. `bound` is a METH_NOARGS function on arrays fixed beforehand.

Only the type of an object and the head of NumPy's arrays are read by their layout (`cpython_layout`); all else goes
through functions of Python. Their addresses are handed over at load: none is in the code, which is cached.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from hinge.backends.llvm import spread
from hinge.backends.llvm.building import Building
from hinge.backends.llvm.cpython_layout import DATA, DESCR, DIMENSIONS, FLAGS, NDIM, PLAIN, TYPE, WRITABLE, known
from hinge.backends.llvm.spread import ABOUT, EACH, MOST_ARRAYS, about, each

# the types that are recognised in calls, and the kind of objects that each is of; what else is spoken of
KINDS = {"array type": (np.ndarray, "arrays"), "float type": (float, "numbers"), "int type": (int, "numbers"),
         "list type": (list, "lists"), "tuple type": (tuple, "tuples")}  # fmt: skip
OBJECTS = ("byte type", "None", "empty")
FUNCTIONS = (
    "Py_IncRef", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyTuple_GetItem", "PyTuple_Size", "PyList_GetItem",
    "PyList_Size", "PyFloat_AsDouble", "PyLong_FromLongLong", "PyErr_Occurred", "PyErr_Clear", "PyErr_NoMemory",
    "PyObject_Call", "PyBytes_AsString", "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
LINKS = (*spread.LINKS, *KINDS, *OBJECTS, "PyArray_New", *FUNCTIONS)  # what is handed over at load
MOST_AXES = 16  # of a result
SCRATCH = 512  # numbers that lists may have in one call
LARGE = 1 << 16  # bytes of a result whose memory is worth keeping
# what is found out about the batch: how many axes it has (-1 before the first array), where their lengths are, and
# how many numbers of the scratch are used
AXES, LENGTHS, USED = range(3)


def addresses(empty: Any) -> dict[str, int]:
    """Where Python's objects and functions are; `empty` makes large results. A type that is not known is nowhere."""
    import numpy._core.multiarray as multiarray

    api = ctypes.pythonapi.PyCapsule_GetPointer
    api.restype, api.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = (ctypes.c_void_p * 94).from_address(api(multiarray._ARRAY_API, None))
    table = {name: id(kind) if of in known() else 0 for name, (kind, of) in KINDS.items()}
    table |= zip(OBJECTS, map(id, (np.dtype(np.uint8), None, empty)), strict=True)
    table["PyArray_New"] = functions[93] or 0
    for name in FUNCTIONS:
        table[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    return table


def text() -> str:
    """The module as LLVM text: `connect`, `spread`, `enter` and `bound`."""
    c = Building("entry", LINKS)
    spreading = spread.build(c)
    _enter(c, spreading, _look(c), _make(c), _fits(c))
    _bound(c, spreading)
    return str(c.module)


def _enter(c: Building, spreading: Any, look: Any, make: Any, fits: Any) -> None:
    """enter(self, args, count): self is bytes, what the kernel says of itself."""
    function = c.define("enter", c.ptr, [c.ptr, c.ptr, c.i64], public=True)
    owner, args, count = function.args
    kernel = c.ask("PyBytes_AsString", owner)
    inputs, outputs = about(c, kernel, "inputs"), about(c, kernel, "outputs")
    place, state = c.row(MOST_ARRAYS), c.row(3)
    scratch, lengths, results = c.row(SCRATCH), c.row(MOST_AXES), c.row(MOST_ARRAYS)
    none = c.link("None")

    def demand(condition: Any) -> None:
        with c.b.if_then(c.b.not_(condition), likely=False):
            _unusual(c)

    demand(c.same(count, c.b.add(inputs, c.one)))
    for k, value in ((AXES, -1), (LENGTHS, 0), (USED, 0)):
        c.put(state, c.n(k), c.n(value))

    # what is given, and the batch it makes
    with c.below(inputs) as k:
        found = c.b.call(look, [kernel, k, c.pointer(c.get(args, k)), scratch, state])
        demand(c.b.not_(c.same(found, c.zero)))
        c.put(place, k, found)
    axes = c.get(state, c.n(AXES))
    axes = c.b.select(c.less(axes, c.zero), c.zero, axes)
    demand(c.less(axes, c.n(MOST_AXES - 3)))
    states = c.cell(c.one)
    with c.below(axes) as j:
        length = c.get(c.pointer(c.get(state, c.n(LENGTHS))), j)
        c.put(lengths, j, length)
        c.b.store(c.b.mul(c.read(states), length), states)
    demand(c.less(c.zero, c.read(states)))

    # somewhere for the results
    wanted = c.get(args, inputs)
    mine = c.b.not_(c.same(wanted, none))
    with c.b.if_then(mine):
        demand(c.same(c.b.call(fits, [kernel, c.pointer(wanted), axes, lengths, place, c.read(states)]), c.one))
    with c.below(outputs) as k:
        array = c.b.add(inputs, k)
        theirs = c.b.and_(mine, c.same(k, c.zero))
        with c.b.if_else(theirs) as (given, other):
            with given:
                c.ask("Py_IncRef", c.pointer(wanted), result=c.void)
                c.put(results, k, wanted)
            with other:
                own = each(c, kernel, array, "axes")
                with c.below(own) as j:
                    c.put(lengths, c.b.add(axes, j), _length(c, kernel, array, j))
                made = c.b.call(make, [kernel, array, c.b.add(axes, own), lengths, c.read(states)])
                with c.b.if_then(c.is_null(made), likely=False):
                    _forget(c, results, k)
                    c.b.ret(c.null)
                c.put(results, k, c.address(made))
        c.put(place, array, c.field(c.pointer(c.get(results, k)), DATA, c.i64))

    # the states: a single one at once, several while other threads of Python may run
    with c.b.if_else(c.same(c.read(states), c.one), likely=True) as (single, several):
        with single:
            work = c.pointer(about(c, kernel, "own work"))
            c.call_at(about(c, kernel, "single"), c.void, (place, work))
        with several:
            thread = c.ask("PyEval_SaveThread")
            failed = c.b.call(spreading, [kernel, place, c.read(states)])
            c.ask("PyEval_RestoreThread", thread, result=c.void)
            with c.b.if_then(c.b.not_(c.same(failed, c.zero)), likely=False):
                _forget(c, results, outputs)
                c.b.ret(c.ask("PyErr_NoMemory"))
    with c.b.if_then(c.same(outputs, c.one), likely=True):
        c.b.ret(c.pointer(c.get(results, c.zero)))
    several = c.ask("PyTuple_New", outputs)
    with c.b.if_then(c.is_null(several), likely=False):
        _forget(c, results, outputs)
        c.b.ret(c.null)
    with c.below(outputs) as k:
        c.ask("PyTuple_SetItem", several, k, c.pointer(c.get(results, k)), result=c.i32)  # takes the reference over
    c.b.ret(several)


def _bound(c: Building, spreading: Any) -> None:
    """bound(self, nothing): self is bytes, what the kernel says of itself, then the states and arrays it runs on.

    One state has a work buffer that stands before the arrays; nobody else runs meanwhile.
    """
    function = c.define("bound", c.ptr, [c.ptr, c.ptr], public=True)
    kernel = c.ask("PyBytes_AsString", function.args[0])
    count = c.b.add(about(c, kernel, "inputs"), about(c, kernel, "outputs"))
    fixed = c.item(kernel, c.b.add(c.n(len(ABOUT)), c.b.mul(count, c.n(len(EACH)))))
    states, arrays = c.get(fixed, c.zero), c.item(fixed, c.n(2))
    with c.b.if_else(c.same(states, c.one), likely=True) as (single, several):
        with single:
            c.call_at(about(c, kernel, "single"), c.void, (arrays, c.pointer(c.get(fixed, c.one))))
        with several:
            thread = c.ask("PyEval_SaveThread")
            failed = c.b.call(spreading, [kernel, arrays, states])
            c.ask("PyEval_RestoreThread", thread, result=c.void)
            with c.b.if_then(c.b.not_(c.same(failed, c.zero)), likely=False):
                c.b.ret(c.ask("PyErr_NoMemory"))
    _unusual(c)


def _look(c: Building) -> Any:
    """look(about, k, object, scratch, state): where argument k has its numbers, or 0 where it is unusual."""
    function = c.define("look", c.i64, [c.ptr, c.i64, c.ptr, c.ptr, c.ptr])
    kernel, k, given, scratch, state = function.args
    kind, axes = c.field(given, TYPE, c.i64), each(c, kernel, k, "axes")
    found, extra, lengths = c.cell(c.zero), c.cell(c.zero), c.cell(c.zero)
    with c.b.if_else(c.same(kind, c.link("array type")), likely=True) as (array, other):
        with array:
            c.demand(_is_plain(c, given, about(c, kernel, "number"), PLAIN), c.zero)
            beyond = c.b.sub(c.b.sext(c.field(given, NDIM, c.i32), c.i64), axes)
            c.demand(c.b.not_(c.less(beyond, c.zero)), c.zero)
            dims = c.field(given, DIMENSIONS, c.ptr)
            with c.below(axes) as j:
                c.demand(c.same(c.get(dims, c.b.add(beyond, j)), _length(c, kernel, k, j)), c.zero)
            c.b.store(beyond, extra)
            c.b.store(c.address(dims), lengths)
            c.b.store(c.field(given, DATA, c.i64), found)
        with other:
            c.b.store(_numbers(c, kernel, k, given, kind, scratch, state), found)
    with c.b.if_then(c.same(each(c, kernel, k, "uniform"), c.one)):
        c.b.ret(c.b.select(c.same(c.read(extra), c.zero), c.read(found), c.zero))
    batch = c.get(state, c.n(AXES))
    with c.b.if_then(c.less(batch, c.zero)):  # the first array says what the batch is
        c.put(state, c.n(AXES), c.read(extra))
        c.put(state, c.n(LENGTHS), c.read(lengths))
        c.b.ret(c.read(found))
    c.demand(c.same(batch, c.read(extra)), c.zero)
    with c.below(batch) as j:
        first = c.get(c.pointer(c.get(state, c.n(LENGTHS))), j)
        c.demand(c.same(first, c.get(c.pointer(c.read(lengths)), j)), c.zero)
    c.b.ret(c.read(found))
    return function


def _numbers(c: Building, kernel: Any, k: Any, given: Any, kind: Any, scratch: Any, state: Any) -> Any:
    """The numbers of a list, a tuple or a lone number, put into the scratch; in double precision only."""
    size, used, axes = each(c, kernel, k, "size"), c.get(state, c.n(USED)), each(c, kernel, k, "axes")
    c.demand(c.same(each(c, kernel, k, "bytes"), c.n(8)), c.zero)
    c.demand(c.b.not_(c.less(c.n(SCRATCH), c.b.add(used, size))), c.zero)
    c.put(state, c.n(USED), c.b.add(used, size))
    start = c.item(scratch, used)
    is_list, is_tuple = c.same(kind, c.link("list type")), c.same(kind, c.link("tuple type"))
    with c.b.if_else(c.b.or_(is_list, is_tuple)) as (several, alone):
        with several:
            c.demand(c.same(axes, c.one), c.zero)
            for word, this in (("List", is_list), ("Tuple", is_tuple)):
                with c.b.if_then(this):
                    c.demand(c.same(c.ask(f"Py{word}_Size", given, result=c.i64), size), c.zero)
                    with c.below(size) as j:
                        _number(c, c.ask(f"Py{word}_GetItem", given, j), c.item(start, j))
        with alone:
            c.demand(c.same(axes, c.zero), c.zero)
            _number(c, given, start)
    return c.address(start)


def _number(c: Building, given: Any, place: Any) -> None:
    """Put a float or an int of Python into a place; return 0 where it is neither, or larger than any float."""
    kind = c.field(given, TYPE, c.i64)
    c.demand(c.b.or_(c.same(kind, c.link("float type")), c.same(kind, c.link("int type"))), c.zero)
    c.b.store(c.ask("PyFloat_AsDouble", given, result=c.ir.DoubleType()), place)
    with (
        c.b.if_then(c.same(kind, c.link("int type")), likely=False),
        c.b.if_then(c.b.not_(c.is_null(c.ask("PyErr_Occurred"))), likely=False),
    ):
        c.ask("PyErr_Clear", result=c.void)
        c.b.ret(c.zero)


def _make(c: Building) -> Any:
    """make(about, k, axes, lengths, states): a new array for result k, or null with an error set."""
    function = c.define("make", c.ptr, [c.ptr, c.i64, c.i64, c.ptr, c.i64])
    kernel, k, axes, lengths, states = function.args
    row = c.b.mul(each(c, kernel, k, "size"), each(c, kernel, k, "bytes"))
    with c.b.if_then(c.less(c.b.mul(states, row), c.n(LARGE)), likely=True):
        array, number = c.pointer(c.link("array type")), c.b.trunc(each(c, kernel, k, "type"), c.i32)
        rest = (c.null, c.null, c.int32(0), c.int32(0), c.null)
        c.b.ret(c.ask("PyArray_New", array, c.b.trunc(axes, c.i32), lengths, number, *rest))
    shape = c.ask("PyTuple_New", axes)
    c.demand(c.b.not_(c.is_null(shape)), c.null)
    with c.below(axes) as j:
        c.ask("PyTuple_SetItem", shape, j, c.ask("PyLong_FromLongLong", c.get(lengths, j)), result=c.i32)
    pair = c.ask("PyTuple_New", c.n(2))
    c.demand(c.b.not_(c.is_null(pair)), c.null)
    number = c.pointer(_type(c, kernel, k))
    c.ask("Py_IncRef", number, result=c.void)
    c.ask("PyTuple_SetItem", pair, c.zero, shape, result=c.i32)
    c.ask("PyTuple_SetItem", pair, c.one, number, result=c.i32)
    made = c.ask("PyObject_Call", c.pointer(c.link("empty")), pair, c.null)
    c.ask("Py_DecRef", pair, result=c.void)
    c.b.ret(made)
    return function


def _fits(c: Building) -> Any:
    """fits(about, object, axes, lengths, arrays, states): 1 where an object can take the first result as it is."""
    function = c.define("fits", c.i64, [c.ptr, c.ptr, c.i64, c.ptr, c.ptr, c.i64])
    kernel, given, axes, lengths, arrays, states = function.args
    k = about(c, kernel, "inputs")
    c.demand(c.same(c.field(given, TYPE, c.i64), c.link("array type")), c.zero)
    c.demand(_is_plain(c, given, _type(c, kernel, k), PLAIN | WRITABLE), c.zero)
    own, dims = each(c, kernel, k, "axes"), c.field(given, DIMENSIONS, c.ptr)
    c.demand(c.same(c.b.sext(c.field(given, NDIM, c.i32), c.i64), c.b.add(axes, own)), c.zero)
    with c.below(axes) as j:
        c.demand(c.same(c.get(dims, j), c.get(lengths, j)), c.zero)
    with c.below(own) as j:
        c.demand(c.same(c.get(dims, c.b.add(axes, j)), _length(c, kernel, k, j)), c.zero)

    # it may share no memory with what is read
    start = c.field(given, DATA, c.i64)
    end = c.b.add(start, _extent(c, kernel, k, states))
    with c.below(k) as j:
        first = c.get(arrays, j)
        last = c.b.add(first, _extent(c, kernel, j, states))
        apart = c.b.or_(c.b.icmp_unsigned("<=", last, start), c.b.icmp_unsigned("<=", end, first))
        c.demand(apart, c.zero)
    c.b.ret(c.one)
    return function


def _extent(c: Building, kernel: Any, k: Any, states: Any) -> Any:
    """The bytes of array k."""
    rows = c.b.select(c.same(each(c, kernel, k, "uniform"), c.one), c.one, states)
    return c.b.mul(rows, c.b.mul(each(c, kernel, k, "size"), each(c, kernel, k, "bytes")))


def _is_plain(c: Building, given: Any, number: Any, flags: int) -> Any:
    """Whether an array has numbers of that type, and these flags."""
    there = c.b.and_(c.field(given, FLAGS, c.i32), c.int32(flags))
    return c.b.and_(c.same(c.field(given, DESCR, c.i64), number), c.same(there, c.int32(flags)))


def _type(c: Building, kernel: Any, k: Any) -> Any:
    """The type of the numbers of array k: bytes, or the kernel's own."""
    return c.b.select(c.same(each(c, kernel, k, "bytes"), c.one), c.link("byte type"), about(c, kernel, "number"))


def _length(c: Building, kernel: Any, k: Any, j: Any) -> Any:
    """The length of axis j of array k, for one state."""
    first = len(ABOUT) + EACH.index("n0")
    return c.get(kernel, c.b.add(c.b.add(c.b.mul(k, c.n(len(EACH))), c.n(first)), j))


def _forget(c: Building, results: Any, count: Any) -> None:
    with c.below(count) as k:
        c.ask("Py_DecRef", c.pointer(c.get(results, k)), result=c.void)


def _unusual(c: Building) -> None:
    """Return None."""
    none = c.pointer(c.link("None"))
    c.ask("Py_IncRef", none, result=c.void)
    c.b.ret(none)
