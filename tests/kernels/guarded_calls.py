"""Calls kernels with arrays that end or begin at a forbidden page, so that a byte touched beyond them is a fault.

Run as a script, since a fault ends the interpreter; it prints how many calls of each kind gave the bits that ordinary
arrays give. `beyond read` and `beyond write` pretend that an array is a number longer than its memory: that has to be
a fault, or the guard is none.
"""

import ctypes
import json
import mmap
import sys
from collections import Counter

import numpy as np
from kernel_cases import floating, follower, point_mass_arm, same_bits, states

import hinge
from hinge.backends.llvm import DOUBLE, SINGLE, Native, lanes
from hinge.backends.llvm.batch_loop import FAR
from hinge.graph import Graph, Input, Record, Rows, order, repeat, sin

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
PAGE, NOTHING = mmap.PAGESIZE, 0
PRECISION = {np.float64: DOUBLE, np.float32: SINGLE}
CASES = {
    "inverse_dynamics": ("q", "qd", "qdd"), "forward_dynamics": ("q", "qd", "tau"), "mass_matrix": ("q",),
    "kinetic_energy": ("q", "qd"), "integrate": ("q", "qd"), "regressor": ("q", "qd", "qdd"),
}  # fmt: skip


def guarded(shape, number, at_end=True):
    """An empty array between two pages that may not be touched: up to the second, or from the first on."""
    size = int(np.prod(shape)) * np.dtype(number).itemsize
    inner = -(-size // PAGE) * PAGE or PAGE
    memory = mmap.mmap(-1, inner + 2 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (start, start + PAGE + inner):
        if libc.mprotect(page, PAGE, NOTHING):
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = PAGE + inner - size if at_end else PAGE
    return np.frombuffer(memory, number, int(np.prod(shape)), offset).reshape(shape)


def copied(array, at_end):
    made = guarded(array.shape, array.dtype, at_end)
    made[...] = array
    return made


class Calls:
    """Every way to call a kernel, with guarded arrays; what it gives is compared with what ordinary ones give."""

    def __init__(self):
        self.tally = Counter()

    def same(self, kind, made, want):
        for one, other in zip(made, want, strict=True):
            assert same_bits(one, other), kind
        self.tally[kind] += 1

    def kernel(self, kernel, given, at_end, kind):
        """A call, one that writes where it is told, and a bound one."""
        want = kernel(*given)
        want = want if isinstance(want, tuple) else (want,)
        inputs = [copied(x, at_end) for x in given]
        made = kernel(*inputs)
        self.same(kind, made if isinstance(made, tuple) else (made,), want)
        outs = [guarded(x.shape, x.dtype, at_end) for x in want]
        made = kernel(*inputs, out=outs[0])
        self.same(f"{kind}, out=", made if isinstance(made, tuple) else (made,), want)
        assert (made[0] if isinstance(made, tuple) else made) is outs[0]
        outs = [guarded(x.shape, x.dtype, at_end) for x in want]
        kernel.bind(*inputs, *outs)()
        self.same(f"{kind}, bound", outs, want)

    def entry(self, kernel, state, at_end):
        """The builtin behind a plain call."""
        enter, inputs = kernel.code(state[0].dtype).enter, [copied(x, at_end) for x in state]
        made, out = enter(*inputs, None), guarded((want := kernel(*state)).shape, want.dtype, at_end)
        assert made is not None
        assert enter(*inputs, out) is out
        self.same("fast entry", (made, out), (want, want))


def every_call(calls):
    for robot in (hinge.samples.puma560(), floating(), follower()):
        for number in (np.float64, np.float32):
            width = lanes(PRECISION[number])
            for name, needs in CASES.items():
                kernel = robot.kernel(name)
                for at_end in (True, False):
                    one = [x[0].copy() for x in states(robot, 1, 3, number)][: len(needs)]
                    calls.kernel(kernel, one, at_end, f"one state {np.dtype(number)}")
                    calls.entry(kernel, one, at_end)
                    for n in (0, 1, 2, width - 1, width, width + 1, 3 * width + width // 2, 1031):
                        many = states(robot, n, 5, number)[: len(needs)]
                        calls.kernel(kernel, many, at_end, f"batch {np.dtype(number)}")
    singular = point_mass_arm()
    for n in (1, 5, 13, 1031):  # a byte for each state besides
        q, qd, tau = states(singular, n)
        calls.kernel(singular.kernel("forward_dynamics", status=True), (q, qd, tau), True, "status")


def over_threads(calls):
    arm = hinge.samples.puma560()
    for count in (2, 3, 7):
        hinge.set_threads(count)
        for number in (np.float64, np.float32):
            for n in (count, 4099, 20011):
                for at_end in (True, False):
                    given = states(arm, n, 1, number)
                    calls.kernel(arm.kernel("inverse_dynamics"), given, at_end, "threads")
    hinge.set_threads(1)


def past_the_cache(calls):
    """Results so large that they are written without reading what is there."""
    arm = hinge.samples.puma560()
    for number in (np.float64, np.float32):
        one = arm.regressor(*np.zeros((3, 6), number))
        for more in (1, 37):
            given = states(arm, FAR // one.nbytes + more, 1, number)
            calls.kernel(arm.kernel("regressor"), given, True, "large results")


def streamed(calls):
    """Rows that are read at every step and written at every second one, in one call and bound."""
    wide, log_wide = 3, 5
    graph = Graph()
    x, n = [graph.input("x", k) for k in range(2)], graph.input("records", 0)
    forces, log = Rows(graph, "forces", wide), Record(graph, "log", log_wide)

    def record(k, a, b):
        u, v = forces[2.0 * k], forces[2.0 * k + 1.0]
        after = sin(a + u[0] * v[1]), b + u[2] - v[0] * a
        log[k] = [a, b, *after, v[2]]
        return after

    made = repeat(n, x, record)
    inputs = [Input("x", 2), Input("records", 1, uniform=True), Input("forces", wide, stream=True)]
    program = order(inputs, [("y", (2,), list(made)), log])
    rng = np.random.default_rng(2)
    for number in (np.float64, np.float32):
        code = Native(program, PRECISION[number])
        for count in (1, 2, lanes(PRECISION[number]) + 1, 29):
            for records in (1, 4, 9):  # of which there is one row less to write, and to read, than are asked for
                given = [
                    rng.normal(size=(count, 2)),
                    np.array([records + 1.0]),
                    rng.normal(size=(count, 2 * records + 1, wide)),
                ]
                given = [x.astype(number) for x in given]
                shapes = (count, 2), (count, records, log_wide)
                want = [np.full(shape, 7.0, number) for shape in shapes]
                code.run(given, want)
                for at_end in (True, False):
                    arrays = [copied(x, at_end) for x in given]
                    for bound in (False, True):
                        outs = [copied(np.full(shape, 7.0, number), at_end) for shape in shapes]
                        code.bind(arrays, outs)() if bound else code.run(arrays, outs)
                        calls.same("streams, bound" if bound else "streams", outs, want)


def beyond(which):
    """A call that reads or writes a number too many, as the array says that there is one."""
    arm = hinge.samples.puma560()
    longer = np.lib.stride_tricks.as_strided(guarded((5,), float), (6,))
    arrays = {"read": (longer, np.empty(6)), "write": (np.zeros(6), longer)}[which]
    arm.kernel("gravity_force").bind(*arrays)()


if __name__ == "__main__":
    if sys.argv[1:2] == ["beyond"]:
        beyond(sys.argv[2])
    else:
        hinge.set_threads(1)
        calls = Calls()
        for kind in (every_call, over_threads, past_the_cache, streamed):
            kind(calls)
        print(json.dumps(calls.tally))
