"""Rows of numbers between memory and threads, one thread a state.

A short row is read and written by its thread, two or four numbers at a time where they fill it, and nobody reads it
again. Of long rows a warp takes its 32 together, which lie side by side, through shared memory: there rows are an odd
number of places apart, so that threads that read the same entry of each do not wait for each other. Of what several
kernels make, each some entries of a row, there are columns first, which threads write side by side; then their rows.
Records lie coordinates first, (rows, width, states), for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hinge.backends.statements import Real

WARP = 32
SHORT = 8  # numbers in a row that a thread reads and writes itself
SHARED = 48 * 1024  # bytes that a block may have of shared memory without asking
WHOLE = 20 * 1024  # bytes of a warp's results that go there at once; of more, so many columns of rows at a time:
PART = {"double": 96, "float": 160}
THREADS = 128  # of a block
TOGETHER = 256  # of a block whose threads wait for each other: as many as a GPU's multiprocessor has at a time
LONG = 10_000  # instructions of a loop, of which a GPU has no more at hand
# how a thread reads and writes: caches may forget rows of floats first; those of doubles are faster kept
READ, WRITE = {"double": "__ldg", "float": "__ldcs"}, {"double": "__stwb", "float": "__stcs"}
BUSY = 1 << 14  # states that keep a GPU busy
ROOM = 1 << 29  # bytes that kernels of one program may share at a time

HELPERS = """\
template <int N, int APART, typename T>
static __device__ void take_rows(const T *from, T *staging, int rows, int lane)
{
    #pragma unroll 32
    for (int i = 0; i < N; i++) {
        const int at = i * 32 + lane, row = at / N;
        if (row < rows) staging[row * APART + at - row * N] = from[at];
    }
}

template <int N, int APART, typename T>
static __device__ void give_rows(T *to, const T *staging, int rows, int lane)
{
    #pragma unroll 32
    for (int i = 0; i < N; i++) {
        const int at = i * 32 + lane, row = at / N;
        if (row < rows) to[at] = staging[row * APART + at - row * N];
    }
}

template <int WIDTH, int APART, int N, typename T>
static __device__ void give_part(T *to, const T *staging, int rows, int lane)
{
    #pragma unroll 8
    for (int row = 0; row < rows; row++) {
        #pragma unroll
        for (int column = 0; column < WIDTH; column += 32)
            if (column + lane < WIDTH) to[row * N + column + lane] = staging[row * APART + column + lane];
    }
}
"""


def apart(width: int) -> int:
    """How many places rows of that width are apart in shared memory: an odd number."""
    return width | 1


def bytes_of(real: Real) -> int:
    return np.dtype(real.dtype).itemsize


@dataclass(frozen=True)
class Staging:
    """What goes through shared memory: which inputs and outputs, in how many columns, and the threads of a block."""

    inputs: dict[int, int]  # → the column where it begins
    outputs: dict[int, int]  # → how many columns go at a time
    columns: int
    threads: int
    together: bool = False  # whether the threads of a block wait for each other in long loops

    def size(self) -> int:
        """Numbers of shared memory that a block has."""
        return self.threads * self.columns


def staging(inputs: Sequence[int], outputs: Sequence[int], real: Real) -> Staging:
    """How rows of these lengths go; a length of zero says that the thread sees to it itself."""
    most = SHARED // (WARP * bytes_of(real))
    taken, columns = dict[int, int](), 0
    for k, n in enumerate(inputs):
        if n > SHORT and columns + apart(n) <= most:
            taken[k], columns = columns, columns + apart(n)
    given = frozenset(k for k, n in enumerate(outputs) if n > SHORT)
    widths = {k: _width(outputs[k], columns, real) for k in given}
    columns = max([columns, *map(apart, widths.values())])
    warps = min(THREADS // WARP, most // columns) if columns else THREADS // WARP
    return Staging(taken, widths, columns, warps * WARP)


def _width(n: int, columns: int, real: Real) -> int:
    """How many columns of results go at a time: all of them, where inputs have as much room or it is not too much."""
    return n if apart(n) <= max(columns, WHOLE // (WARP * bytes_of(real))) else PART[real.name]


def vector(n: int, real: Real) -> int:
    """How many numbers of a row of n are read at a time."""
    return next(w for w in (16 // bytes_of(real), 2, 1) if n % w == 0)


def taken(name: str, n: int, real: Real) -> list[str]:
    """A short row, read by its thread."""
    w = vector(n, real)
    lines = [f"{real.name} {name}[{n}];"]
    if w == 1:
        return [*lines, *(f"{name}[{j}] = all_{name}[this_state * {n} + {j}];" for j in range(n))]
    kind = f"{real.name}{w}"
    for i in range(n // w):
        place = f"reinterpret_cast<const {kind} *>(all_{name} + this_state * {n}) + {i}"
        parts = " ".join(f"{name}[{i * w + j}] = part.{'xyzw'[j]};" for j in range(w))
        lines.append(f"{{ const {kind} part = {READ[real.name]}({place}); {parts} }}")
    return lines


def given(name: str, values: Sequence[str], real: Real) -> list[str]:
    """A short row, written by its thread."""
    n = len(values)
    w = vector(n, real)
    if w == 1:
        return [f"all_{name}[this_state * {n} + {j}] = {x};" for j, x in enumerate(values)]
    kind = f"{real.name}{w}"
    return [
        f"{WRITE[real.name]}(reinterpret_cast<{kind} *>(all_{name} + this_state * {n}) + {i}, "
        f"make_{kind}({', '.join(values[i * w : (i + 1) * w])}));"
        for i in range(n // w)
    ]


def recorded(name: str, place: str, values: Sequence[str]) -> list[str]:
    """A row of a record, each number beside those of the other states."""
    return [f"{name}[({place} + {j}) * states] = {x};" for j, x in enumerate(values)]


def staged_in(name: str, n: int, column: int, real: Real) -> list[str]:
    """A long row, fetched by the warp; its thread finds it in shared memory."""
    begins = f"staging + {WARP * column}"
    return [
        f"take_rows<{n}, {apart(n)}>(all_{name} + first_state * {n}, {begins}, rows, lane);",
        f"const {real.name} *const {name} = {begins} + row * {apart(n)};",
    ]


def staged_out(name: str, values: Sequence[str], width: int) -> list[str]:
    """A long row, written by the warp, so many columns at a time."""
    n, lines = len(values), list[str]()
    for first in range(0, n, width):
        w = min(width, n - first)
        lines.append("__syncwarp();")
        lines += [f"staging[lane * {apart(w)} + {j}] = {x};" for j, x in enumerate(values[first : first + w])]
        lines.append("__syncwarp();")
        to = f"all_{name} + first_state * {n} + {first}"
        how = f"give_rows<{n}, {apart(n)}>" if w == n else f"give_part<{w}, {apart(w)}, {n}>"
        lines.append(f"{how}({to}, staging, rows, lane);")
    return lines


TURNED = """\
/* columns, a number of each state one after the other, into rows: by each warp those of its states, 32 at a time */
template <int N, typename T, typename R>
static __device__ void give_turned(R *to, const T *columns, long long states)
{
    __shared__ T tiles[4][32][33];
    T (*const tile)[33] = tiles[threadIdx.x >> 5];
    const int lane = threadIdx.x & 31;
    const long long first = blockIdx.x * 128ll + (threadIdx.x & ~31);
    const int rows = (int)min(32ll, states - first);
    if (rows <= 0) return;
    for (int column = 0; column < N; column += 32) {
        #pragma unroll
        for (int k = 0; k < 32; k++)
            if (column + k < N && lane < rows) tile[k][lane] = columns[(column + k) * states + first + lane];
        __syncwarp();
        #pragma unroll 8
        for (int row = 0; row < rows; row++)
            if (column + lane < N) to[(first + row) * N + column + lane] = (R)tile[lane][row];
        __syncwarp();
    }
}
"""


def at_a_time(size: int) -> int:
    """How many states there is room for, where kernels share so many bytes of each."""
    return max(ROOM // size // BUSY, 1) * BUSY
