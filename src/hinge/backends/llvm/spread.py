"""A batch over threads, in machine code.

The threads are the system's own and know nothing of Python. All of them have ended before `spread` returns, so nothing
that is raised in Python, a Ctrl-C for one, can leave a thread behind that still writes. In C it would read

    int64_t spread(const int64_t *about, void **arrays, int64_t states)
    {
        int64_t n = min(threads, states * about[LENGTH] / enough, states / about[LANES]);
        if (n <= 1) return run(about, arrays, states);
        struct task tasks[n];                     /* a run of whole blocks each */
        for (k = 1; k < n; k++) start(&tasks[k]);
        part(&tasks[0]);
        for (k = 1; k < n; k++) join(&tasks[k]);
        return whether any of them found no memory;
    }

Results do not depend on the split.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from hinge.backends.llvm.building import Building

# what a kernel says of itself: a row of 64-bit numbers, then a row for each array, inputs before outputs
ABOUT = ("kernel", "single", "work bytes", "own work", "number", "inputs", "outputs", "length", "lanes")
EACH = ("size", "axes", "uniform", "stream", "type", "bytes", "n0", "n1", "n2")
MOST_ARRAYS = 24  # of a kernel that is entered without Python
MOST_THREADS = 256
LINE = 64  # bytes in a cache line; work buffers are aligned to it
LINKS = ("threads", "allocate", "free", "start thread", "join thread", "close thread")
# a task: what the kernel is about, how many states, whether it failed, its thread, then its arrays, and how many rows a
# state has in those that are streams
WHAT, STATES, FAILED, THREAD, ARRAYS = range(5)
WINDOWS = sys.platform == "win32"


def addresses() -> dict[str, int]:
    """Where the system's functions are."""
    if WINDOWS:
        library, names = ctypes.windll.kernel32, ("CreateThread", "WaitForSingleObject", "CloseHandle")  # type: ignore[attr-defined]
    else:
        library, names = ctypes.CDLL(None), ("pthread_create", "pthread_join", "pthread_self")  # the last is not called
    functions = dict(zip(LINKS[3:], (getattr(library, name) for name in names), strict=True))
    functions |= {"allocate": ctypes.pythonapi.PyMem_RawMalloc, "free": ctypes.pythonapi.PyMem_RawFree}
    return {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in functions.items()}


def about(c: Building, kernel: Any, word: str) -> Any:
    """A number that a kernel says of itself."""
    return c.get(kernel, c.n(ABOUT.index(word)))


def each(c: Building, kernel: Any, k: Any, word: str) -> Any:
    """A number that a kernel says of its array k."""
    return c.get(kernel, c.b.add(c.b.mul(k, c.n(len(EACH))), c.n(len(ABOUT) + EACH.index(word))))


def build(c: Building) -> Any:
    """`spread` in a module; 0, or 1 where memory was missing."""
    run = _run(c)
    part = _part(c, run)
    function = c.define("spread", c.i64, [c.ptr, c.ptr, c.i64], public=True)
    kernel, arrays, states = function.args
    lanes, setting = about(c, kernel, "lanes"), c.pointer(c.link("threads"))
    amount = c.b.mul(c.b.mul(states, about(c, kernel, "length")), _most_rows(c, kernel, arrays))
    n = c.least(c.get(setting, c.zero), c.b.sdiv(amount, c.get(setting, c.one)))
    n = c.least(c.least(n, c.b.sdiv(states, lanes)), c.n(MOST_THREADS))
    with c.b.if_then(c.less(n, c.n(2))):
        c.b.ret(c.b.call(run, [kernel, arrays, states]))
    step = c.b.mul(_up(c, states, c.b.mul(n, lanes)), lanes)
    n = _up(c, states, step)  # whole blocks may need fewer
    size = c.b.add(c.b.mul(_count(c, kernel), c.n(2)), c.n(ARRAYS))
    tasks = c.numbers(c.b.mul(n, size))
    with c.below(n) as k:
        _fill(c, kernel, arrays, c.item(tasks, c.b.mul(k, size)), c.b.mul(k, step), states, step)
    with c.below(n, 1) as k:
        _start(c, part, c.item(tasks, c.b.mul(k, size)))
    c.b.call(part, [tasks])
    bad = c.cell(c.get(tasks, c.n(FAILED)))
    with c.below(n, 1) as k:
        task = c.item(tasks, c.b.mul(k, size))
        _join(c, task)
        c.b.store(c.b.or_(c.read(bad), c.get(task, c.n(FAILED))), bad)
    c.b.ret(c.read(bad))
    return function


def _up(c: Building, a: Any, b: Any) -> Any:
    """a / b, rounded up."""
    return c.b.sdiv(c.b.add(a, c.b.sub(b, c.one)), b)


def _run(c: Building) -> Any:
    """run(about, arrays, states): the kernel, on a work buffer of its own."""
    function = c.define("run", c.i64, [c.ptr, c.ptr, c.i64])
    kernel, arrays, states = function.args
    raw = c.ask("allocate", c.b.add(about(c, kernel, "work bytes"), c.n(LINE)))
    c.demand(c.b.not_(c.is_null(raw)), c.one)
    work = c.pointer(c.b.and_(c.b.add(c.address(raw), c.n(LINE - 1)), c.n(-LINE)))
    c.call_at(about(c, kernel, "kernel"), c.void, (arrays, states, work))
    c.ask("free", raw, result=c.void)
    c.b.ret(c.zero)
    return function


def _part(c: Building, run: Any) -> Any:
    """part(task): what a thread does."""
    function = c.define("part", c.ptr, [c.ptr])
    (task,) = function.args
    kernel, states = c.pointer(c.get(task, c.n(WHAT))), c.get(task, c.n(STATES))
    c.put(task, c.n(FAILED), c.b.call(run, [kernel, c.item(task, c.n(ARRAYS)), states]))
    c.b.ret(c.null)
    return function


def _fill(c: Building, kernel: Any, arrays: Any, task: Any, first: Any, states: Any, step: Any) -> None:
    """Write down a task: which states, and where their rows begin in each array."""
    c.put(task, c.n(WHAT), c.address(kernel))
    c.put(task, c.n(STATES), c.least(step, c.b.sub(states, first)))
    count = _count(c, kernel)
    with c.below(count) as j:
        row = c.cell(c.b.mul(each(c, kernel, j, "size"), each(c, kernel, j, "bytes")))
        with c.b.if_then(c.same(each(c, kernel, j, "stream"), c.one)):
            rows = c.get(arrays, c.b.add(count, j))
            c.put(task, c.b.add(c.b.add(count, j), c.n(ARRAYS)), rows)
            c.b.store(c.b.mul(c.read(row), rows), row)
        skip = c.b.mul(c.b.mul(first, c.read(row)), c.b.sub(c.one, each(c, kernel, j, "uniform")))
        c.put(task, c.b.add(j, c.n(ARRAYS)), c.b.add(c.get(arrays, j), skip))


def _count(c: Building, kernel: Any) -> Any:
    """How many arrays there are."""
    return c.b.add(about(c, kernel, "inputs"), about(c, kernel, "outputs"))


def _most_rows(c: Building, kernel: Any, arrays: Any) -> Any:
    """How many rows the longest stream has, which says how often a program goes round; 1 where there are none."""
    most, count = c.cell(c.one), _count(c, kernel)
    with c.below(count) as j, c.b.if_then(c.same(each(c, kernel, j, "stream"), c.one)):
        rows = c.get(arrays, c.b.add(count, j))
        c.b.store(c.b.select(c.less(c.read(most), rows), rows, c.read(most)), most)
    return c.read(most)


def _start(c: Building, part: Any, task: Any) -> None:
    """Begin a thread; where the system gives none, do its work here, and leave 0 in its place."""
    place = c.item(task, c.n(THREAD))
    if WINDOWS:
        made = c.ask("start thread", c.null, c.zero, part, task, c.int32(0), c.null)
        c.b.store(c.address(made), place)
        refused = c.is_null(made)
    else:
        refused = c.b.not_(c.same(c.ask("start thread", place, c.null, part, task, result=c.i32), c.int32(0)))
    with c.b.if_then(refused):
        c.b.call(part, [task])
        c.b.store(c.zero, place)


def _join(c: Building, task: Any) -> None:
    thread = c.get(task, c.n(THREAD))
    with c.b.if_then(c.b.not_(c.same(thread, c.zero))):
        if WINDOWS:
            c.ask("join thread", c.pointer(thread), c.int32(-1), result=c.i32)
            c.ask("close thread", c.pointer(thread), result=c.i32)
        else:
            c.ask("join thread", thread, c.null, result=c.i32)
