"""A program as CUDA C++, as NVRTC takes it: a kernel with one thread a state, or several that each make a part.

    extern "C" __global__ void arm_inverse_dynamics(const double *all_q, …, double *all_tau, long long states)

Statements and functions are those of the C back end: no sum and product meet in one, and sines are written out, so that
with `-fmad=false` the results are the interpreter's to the last bit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hinge.backends import c
from hinge.backends.c_loops import is_common, rows_of, scratch
from hinge.backends.cuda import rows
from hinge.backends.cuda.parts import parts
from hinge.backends.partition import Pieces, Straight
from hinge.backends.statements import Real, braced, shared
from hinge.graph import OPS, Program
from hinge.graph.order import ends

# names that the code here uses
WORDS = frozenset(re.findall(r"\w+", "this_state first_state states staging rows row lane part columns PART COLUMN"))
# what several kernels take besides, and where a state's number of a column is
ROOM = "{} *__restrict__ columns"
COLUMN = "#define COLUMN(k) (columns + (k) * states + this_state)\n"

HEAD = """\
#ifdef __CUDACC_RTC__
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define UINT32_C(n) n##u
#define UINT64_C(n) n##ull
#define NAN __int_as_float(0x7fc00000)
#define INFINITY __int_as_float(0x7f800000)
#else
#include <math.h>
#include <stdint.h>
#endif
#define FMA(a, b, c) fma(a, b, c)
#define FMAF(a, b, c) fmaf(a, b, c)
"""


@dataclass(frozen=True)
class Text:
    """A program as text: kernels that all take the same, and run one after another; the threads of a block of each.

    With PART defined as a number it is the text of that kernel alone. Several kernels have room for so many numbers of
    each state, `columns`.
    """

    source: str
    kernels: tuple[str, ...]
    threads: tuple[int, ...]  # or fewer, where they go `together`
    columns: int = 0
    together: bool = False


def emit(program: Program, real: Real, name: str = "program") -> Text:
    """The program as CUDA C++."""
    used = {op for op, _ in program.code if op in OPS}
    functions = [re.sub(r"^static ", "static __device__ ", text, flags=re.M)
                 for text in shared([row for word, row in OPS.items() if word in used], real)]  # fmt: skip
    cut = parts(program, real)
    if len(cut) == 1:
        stage = rows.Staging({}, {}, 0, rows.TOGETHER, True) if _is_long(cut[0]) else _stage(cut[0], real)
        helpers = [rows.HELPERS] if stage.columns else []
        source = "\n".join([HEAD, *functions, *helpers, _kernel(_routine(cut[0], name), stage, real)])
        return Text(source, (name,), (stage.threads,), together=stage.together)
    whole, first = _routine(program, name), 0
    texts = [_part(f"{name}_{k}", part, whole, real) for k, part in enumerate(cut)]
    for array, output in zip(whole.outputs, program.outputs, strict=True):
        n = len(output.entries)
        if not n:
            continue
        turned = f"give_turned<{n}>(all_{array.name}, columns + {first} * states, states);"
        texts.append(braced(_head(f"{name}_{len(texts)}", whole, real, rows.THREADS, ROOM), [turned]))
        first += n
    kernels = tuple(f"{name}_{k}" for k in range(len(texts)))
    texts = [f"#if !defined PART || PART == {k}\n{text}#endif\n" for k, text in enumerate(texts)]
    return Text(
        "\n".join([HEAD, COLUMN, *functions, rows.TURNED, *texts]), kernels, (rows.THREADS,) * len(texts), first
    )


def _is_long(program: Program) -> bool:
    """Whether all states take the same trips of a loop that is longer than what a GPU has at hand of a program."""
    return any(end - n > rows.LONG and is_common(program, n) for n, end in ends(program).items())


def _stage(program: Program, real: Real) -> rows.Staging:
    """What goes through shared memory."""
    return rows.staging(
        [0 if array.uniform or array.stream else array.size for array in program.inputs],
        [0 if array.whole or array.stream else len(array.entries) for array in program.outputs],
        real,
    )


def _head(name: str, one: c.Routine, real: Real, threads: int, *more: str) -> str:
    """The head of a kernel; `more` is what it takes besides."""
    *arrays, states = _parameters(one, real)
    taken = ", ".join([*arrays, *(text.format(real.name) for text in more), states])
    return f'extern "C" __global__ void __launch_bounds__({threads})\n{name}({taken})'


def _kernel(one: c.Routine, stage: rows.Staging, real: Real) -> str:
    """The kernel that makes all results."""
    program = one.program
    inside = replace(one, program=replace(program, outputs=tuple(replace(o, entries=()) for o in program.outputs)),
                     common="__syncthreads();" if stage.together else "")  # fmt: skip
    body = [
        *_begin(stage, real),
        *_taken(one, stage, real),
        *scratch(program, real),
        *c.statements(inside, real, _uncut(program), 0, len(program.code)),
        *_given(one, stage, real),
    ]
    return braced(_head(one.name, one, real, stage.threads), body)


def _part(name: str, program: Program, whole: c.Routine, real: Real) -> str:
    """A kernel that makes some of the results: each is written to its column when it is made."""
    stage = rows.Staging({}, {}, 0, rows.THREADS)
    columns = tuple(c.Array(f"COLUMN({output.name})", 0, "") for output in program.outputs)
    one = replace(whole, program=program, outputs=columns)
    body = [
        *_begin(stage, real),
        *_taken(one, stage, real),
        *c.statements(one, real, _uncut(program), 0, len(program.code)),
    ]
    return braced(_head(name, whole, real, stage.threads, ROOM), body)


def _uncut(program: Program) -> Pieces:
    return Pieces([Straight(0, len(program.code))], {}, 0, {})


def _routine(program: Program, name: str) -> c.Routine:
    """The program with a name for each array that no other has."""
    made: list[c.Array] = []
    for word in [one.name for one in program.inputs] + [one.name for one in program.outputs]:
        called = c.identifier(word)
        while called in WORDS or any(called == other.name for other in made):
            called += "_"
        made.append(c.Array(called, 0, ""))
    count = len(program.inputs)
    return c.Routine(
        name, program, tuple(made[:count]), tuple(made[count:]), "", row=rows.recorded, loop="#pragma unroll 1"
    )


def _parameters(one: c.Routine, real: Real) -> list[str]:
    """What the kernel takes: all arrays, how many rows each stream has, and how many states there are."""
    arrays, streams = (*one.inputs, *one.outputs), one.program.streams
    kinds = [f"const {real.name}" for _ in one.inputs]
    kinds += ["unsigned char" if output.whole else real.name for output in one.program.outputs]
    made = [f"{kind} *__restrict__ all_{array.name}" for kind, array in zip(kinds, arrays, strict=True)]
    return [*made, *(f"long long {rows_of(arrays[k])}" for k in sorted(streams)), "long long states"]


def _begin(stage: rows.Staging, real: Real) -> list[str]:
    """Which state a thread has. The threads that a last warp has too many have the last state once more.

    Of threads that go together all do: they wait for each other in every trip of a long loop, so that they are at the
    same instructions, which are fetched once for all.
    """
    if stage.together:
        return [
            "const long long this_state = min(blockIdx.x * (long long)blockDim.x + threadIdx.x, states - 1);",
        ]
    if not stage.columns:
        return [
            f"const long long this_state = blockIdx.x * {stage.threads}ll + threadIdx.x;",
            "if (this_state >= states) return;",
        ]
    return [
        f"__shared__ __align__(16) {real.name} all_staging[{stage.size()}];",
        f"{real.name} *const staging = all_staging + (threadIdx.x >> 5) * {rows.WARP * stage.columns};",
        f"const long long first_state = blockIdx.x * {stage.threads}ll + (threadIdx.x & ~31);",
        "if (first_state >= states) return;",
        "const int lane = threadIdx.x & 31, rows = (int)min(32ll, states - first_state), row = min(lane, rows - 1);",
        "const long long this_state = first_state + row;",
    ]


def _taken(one: c.Routine, stage: rows.Staging, real: Real) -> list[str]:
    """What each input array is called for a state."""
    lines = list[str]()
    gathered = {args[0].name for op, args in one.program.code if op == "load" and args[0].kind in ("input", "rows")}
    read = gathered | {args[0] for op, args in one.program.code if op == "input"} | stage.inputs.keys()
    for k, (array, given) in enumerate(zip(one.inputs, one.program.inputs, strict=True)):
        if k not in read:
            continue
        pointer = f"const {real.name} *const {array.name} = all_{array.name}"
        if given.stream and not given.uniform:
            lines.append(f"{pointer} + this_state * {rows_of(array)} * {given.size};")
        elif given.uniform:
            lines.append(f"{pointer};")
        elif k in stage.inputs:
            lines += rows.staged_in(array.name, given.size, stage.inputs[k], real)
        elif k in gathered or given.size > rows.SHORT:
            lines.append(f"{pointer} + this_state * {given.size};")
        elif given.size:
            lines += rows.taken(array.name, given.size, real)
    for array, output in zip(one.outputs, one.program.outputs, strict=True):
        if output.stream:
            lines.append(f"{real.name} *const {array.name} = all_{array.name} + this_state;")
    return [*lines, "__syncwarp();"] if stage.inputs else lines


def _given(one: c.Routine, stage: rows.Staging, real: Real) -> list[str]:
    """The results, written; entries of inputs are read before their places in shared memory are used again."""
    own: dict[int, str] = {}
    lines = list[str]()
    for output in one.program.outputs:
        for a in output.entries if stage.outputs else ():
            if type(a) is int and a not in own and one.program.code[a][0] == "input":
                own[a] = f"given{a}"
                lines.append(f"const {real.name} given{a} = {c.named(one, real, a)};")

    def values(entries: Sequence[int | float]) -> list[str]:
        return [own[a] if a in own and type(a) is int else c.named(one, real, a) for a in entries]

    for k, (array, output) in enumerate(zip(one.outputs, one.program.outputs, strict=True)):
        if output.whole:
            n = len(output.entries)
            lines += [
                f"all_{array.name}[this_state * {n} + {j}] = (unsigned char){x};"
                for j, x in enumerate(values(output.entries))
            ]
        elif k in stage.outputs:
            lines += rows.staged_out(array.name, values(output.entries), stage.outputs[k])
        elif output.entries:
            lines += rows.given(array.name, values(output.entries), real)
    return lines
