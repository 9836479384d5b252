"""Kernels as files for nvcc: a function that launches each program, a header, and a program that tries them.

cudaError_t arm_inverse_dynamics(const double *q, …, double *out, long long states, cudaStream_t stream);
"""

from __future__ import annotations

from collections.abc import Sequence

from hinge.backends import c
from hinge.backends.cuda.emit import Text, emit
from hinge.backends.cuda.rows import at_a_time, bytes_of
from hinge.backends.statements import Real, braced

TRIED = 100  # states: three warps, and a few


def header(
    prefix: str, title: Sequence[str], sizes: Sequence[tuple[str, int]], routines: Sequence[c.Routine], real: Real
) -> str:
    """What the functions are: conventions, the order of the coordinates, and a comment on each."""
    guard = f"{prefix.upper()}_CUH"
    return "\n".join([
        c.comment(title), f"#ifndef {guard}\n#define {guard}\n#include <cuda_runtime.h>\n",
        *(f"#define {prefix.upper()}_{name} {n}" for name, n in sizes), "",
        *(c.described(one) + _prototype(one, real) + ";\n" for one in routines), f"#endif /* {guard} */\n",
    ])  # fmt: skip


def code(prefix: str, one: c.Routine, real: Real) -> str:
    """The kernels of a program, and the function that launches them."""
    text = emit(one.program, real, f"{one.name}_kernel")
    return "\n".join(
        [f'#include "{prefix}.cuh"\n', text.source, braced(_prototype(one, real), _launched(one, text, real))]
    )


def _prototype(one: c.Routine, real: Real) -> str:
    arrays = [f"const {real.name} *{a.name}" for a in one.inputs] + [f"{real.name} *{a.name}" for a in one.outputs]
    return f'extern "C" cudaError_t {one.name}({", ".join(arrays)}, long long states, cudaStream_t stream)'


def _launched(one: c.Routine, text: Text, real: Real) -> list[str]:
    """Statements that launch the kernels; of several, so many states at a time that what they share has room."""
    arrays = [a.name for a in (*one.inputs, *one.outputs)]
    if not text.columns:
        launch = _launch(text, 0, ", ".join([*arrays, "states"]), "states")
        return ["if (states <= 0) return cudaSuccess;", launch, "return cudaGetLastError();"]
    most = at_a_time(text.columns * bytes_of(real))
    sizes = [0 if x.uniform else x.size for x in one.program.inputs] + [len(x.entries) for x in one.program.outputs]
    here = [f"{name} + first * {n}" for name, n in zip(arrays, sizes, strict=True)]
    taken = ", ".join([*here, "columns", "count"])
    size = f"{text.columns} * sizeof({real.name}) * (states < {most} ? states : {most})"
    return [
        "if (states <= 0) return cudaSuccess;",
        f"{real.name} *columns;",
        f"const cudaError_t fault = cudaMallocAsync((void **)&columns, {size}, stream);",
        "if (fault != cudaSuccess) return fault;",
        f"for (long long first = 0; first < states; first += {most}) {{",
        f"    const long long count = states - first < {most} ? states - first : {most};",
        *(f"    {_launch(text, k, taken, 'count')}" for k in range(len(text.kernels))),
        "}",
        "cudaFreeAsync(columns, stream);",
        "return cudaGetLastError();",
    ]


def _launch(text: Text, k: int, taken: str, count: str) -> str:
    name, threads = text.kernels[k], text.threads[k]
    return f"{name}<<<({count} + {threads - 1}) / {threads}, {threads}, 0, stream>>>({taken});"


def test_main(prefix: str, routines: Sequence[c.Routine], real: Real) -> str:
    """A program that runs each function on states it knows the answers for, and exits with 0 where all is well."""
    kind = real.name
    there = [
        f"{kind} *made;",
        f"if (cudaMalloc((void **)&made, sizeof({kind}) * (n * rows + 1)) != cudaSuccess) return 0;",
        "for (int k = 0; k < rows; k++)",
        f"    cudaMemcpy(made + k * n, row, sizeof({kind}) * n, cudaMemcpyHostToDevice);",
        "return made;",
    ]
    calls = ["int bad = 0;", "cudaError_t fault;"]
    for one in routines:
        given, wanted = list(zip(one.inputs, one.state, strict=True)), list(zip(one.outputs, one.expected, strict=True))
        calls.append("{")
        for (a, values), x in zip([*given, *wanted], [*one.program.inputs, *one.program.outputs], strict=True):
            rows = 1 if getattr(x, "uniform", False) else TRIED
            calls.append(f"    static const {kind} known_{a.name}[] = {c.initializer(values, real)};")
            calls.append(f"    {kind} *const {a.name} = there(known_{a.name}, {values.size}, {rows});")
        calls += [f"    cudaMemset({a.name}, 255, sizeof({kind}) * {values.size * TRIED});" for a, values in wanted]
        calls.append(f"    fault = {one.name}({', '.join(a.name for a, _ in (*given, *wanted))}, {TRIED}, 0);")
        for a, values in wanted:
            row = f"{a.name} + {(TRIED - 1) * values.size}"
            calls.append(f"    static {kind} last_{a.name}[{max(1, values.size)}];")
            calls.append(
                f"    cudaMemcpy(last_{a.name}, {row}, sizeof({kind}) * {values.size}, cudaMemcpyDeviceToHost);"
            )
            said = f'"{one.name}: {a.name}", last_{a.name}, known_{a.name}, {values.size}'
            calls.append(f"    bad += differs({said});")
        calls += ['    if (fault != cudaSuccess) printf("%s\\n", cudaGetErrorString(fault));', "}"]
    return "\n".join([
        f"/* Runs the functions of {prefix}.cuh on states whose results are known; exits with 0 where they agree. */",
        f'#include <math.h>\n#include <stdio.h>\n#include "{prefix}.cuh"\n', c.comparison(real),
        braced(f"static {kind} *there(const {kind} *row, int n, int rows)", there),
        braced("int main(void)", [*calls, "return bad != 0;"]),
    ])  # fmt: skip
