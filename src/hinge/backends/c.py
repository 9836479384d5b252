"""A program as C99: a function of plain arrays for one state, without allocation and without a library but math.h.

    void arm_inverse_dynamics(const double *restrict q, …, double *restrict out);

A statement is an instruction: the program already says which sums and products are fused, and those are calls of fma.
Sines and the like are functions of the same file, so that the results are the interpreter's to the last bit. A long
program is cut into functions that hand values on through an array on the stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.backends.cut import Pieces, cut
from hinge.backends.statements import NAMES, Real, braced, shared, statement
from hinge.backends.statements import REALS as REALS
from hinge.graph import OPS, Program

KEYWORDS = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
    asm bool class delete new private public template this throw try using virtual
    kept made FMA FMAF
""")) | NAMES  # of C and C++, and in the last line those that the code here uses  # fmt: skip


@dataclass(frozen=True)
class Array:
    """An array of a function: what it is called, how many numbers it has, and what they are."""

    name: str
    size: int
    words: str


@dataclass(frozen=True)
class Routine:
    """A program as a C function: its name, its arrays, what it computes, and a state to try it on."""

    name: str
    program: Program
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    words: str
    state: tuple[np.ndarray[Any, Any], ...] = ()
    expected: tuple[np.ndarray[Any, Any], ...] = ()


def identifier(text: str) -> str:
    """A name that C takes: letters, digits and underscores, none of the words that C, C++ or the code here uses."""
    made = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "robot"
    if made[0].isdigit():
        made = f"robot_{made}"
    return f"{made}_" if made in KEYWORDS or re.fullmatch(r"[tu]\d+", made) else made


def remark(text: str) -> str:
    """Words that may stand in a comment: they cannot end it, begin another, or spell a trigraph."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return printable.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


# one statement an instruction

FUSED = {"": "FMA", "f": "FMAF"}  # what the functions of each precision end in → the macro that calls one


def code(routines: Sequence[Routine], real: Real) -> str:
    """The functions, one after another, with the few lines they share before them."""
    used = {op for one in routines for op, _ in one.program.code if op != "input"}
    functions = shared([row for name, row in OPS.items() if name in used], real)
    body = "\n".join([*functions, *(_function(one, real) for one in routines)])
    fused = {suffix: macro for suffix, macro in FUSED.items() if f"{macro}(" in body}
    parts = ["#include <math.h>\n" + ("#include <stdint.h>\n" if "uint" in body else "")]
    if fused:
        plain = "\n".join(f"#define {macro}(a, b, c) ((a) * (b) + (c))" for macro in fused.values())
        once = "\n".join(f"#define {macro}(a, b, c) fma{suffix}(a, b, c)" for suffix, macro in fused.items())
        parts.append(
            "/* On a machine that has no such instruction, define HINGE_NO_FMA rather than call a slow function:\n"
            " * results then differ in their last digits. */\n"
            f"#ifdef HINGE_NO_FMA\n{plain}\n#else\n{once}\n#endif\n"
        )
    return "\n".join([*parts, body])


def _function(one: Routine, real: Real) -> str:
    """The function, and before it the pieces of a long one."""
    pieces = cut(one.program)
    if len(pieces.ends) == 1:
        body = [*_ignored(one), *_statements(one, real, pieces, 0, pieces.ends[0])]
        return braced(prototype(one, real), body)
    text, start, calls = list[str](), 0, list[str]()
    names = [a.name for a in (*one.inputs, *one.outputs)]
    for k, end in enumerate(pieces.ends):
        body = _statements(one, real, pieces, start, end)
        used = [n for n in (*names, "kept") if any(re.search(rf"(?<!\w){re.escape(n)}\[", line) for line in body)]
        listed = [p for n, p in zip([*names, "kept"], [*_parameters(one, real), f"{real.name} *kept"], strict=True)
                  if n in used]  # fmt: skip
        text.append(braced(f"static void {one.name}_{k + 1}({', '.join(listed)})", body))
        calls.append(f"{one.name}_{k + 1}({', '.join(used)});")
        start = end
    work = [f"{real.name} kept[{max(1, pieces.slots)}];"]
    return "\n".join([*text, braced(prototype(one, real), [*work, *_ignored(one), *calls])])


def _parameters(one: Routine, real: Real) -> list[str]:
    taken = [f"const {real.name} *restrict {a.name}" for a in one.inputs]
    return taken + [f"{real.name} *restrict {a.name}" for a in one.outputs]


def prototype(one: Routine, real: Real) -> str:
    """The head of the function."""
    return f"void {one.name}({', '.join(_parameters(one, real))})"


def _ignored(one: Routine) -> list[str]:
    """Inputs that this robot's result does not depend on."""
    read = {args[0] for op, args in one.program.code if op == "input"}
    return [f"(void){a.name};" for k, a in enumerate(one.inputs) if k not in read]


def _statements(one: Routine, real: Real, pieces: Pieces, start: int, end: int) -> list[str]:
    """Instructions start to end; what earlier pieces kept is read from there, what later ones need is kept."""
    program, lines, places = one.program, list[str](), _places(one)

    def named(a: Any) -> str:
        if type(a) is not int:
            return real.constant(a)
        op, args = program.code[a]
        if op == "input":
            return f"{one.inputs[args[0]].name}[{args[1]}]"
        return f"t{a}" if a >= start else f"kept[{pieces.slot[a]}]"

    several: dict[str, str] = {}  # results of functions that have more than one

    def said(n: int) -> str:
        row, args = OPS[program.code[n][0]], [named(a) for a in program.code[n][1]]
        if row.body is None:
            return statement(row, real, *args)
        name = row.body.__name__
        call = f"{name}({', '.join(args)})"
        if row.part is None:
            return call
        if call not in several:
            several[call] = f"u{n}"
            lines.append(f"const struct {name} u{n} = {call};")
        return f"{several[call]}.at[{row.part}]"

    for n in range(start, end):
        if program.code[n][0] != "input":
            lines.append(f"const {real.name} t{n} = {said(n)};")
            if n in pieces.slot:
                lines.append(f"kept[{pieces.slot[n]}] = t{n};")
        lines += [f"{place} = {named(n)};" for place in places.get(n, ())]
    if end == len(program.code):
        lines += [f"{place} = {real.constant(x)};" for x, place in _constants(one)]
    return lines


def _places(one: Routine) -> dict[int, list[str]]:
    """For each value that is an output: where it goes."""
    made: dict[int, list[str]] = {}
    for array, output in zip(one.outputs, one.program.outputs, strict=True):
        for j, entry in enumerate(output.entries):
            if type(entry) is int:
                made.setdefault(entry, []).append(f"{array.name}[{j}]")
    return made


def _constants(one: Routine) -> list[tuple[float, str]]:
    return [
        (float(entry), f"{array.name}[{j}]")
        for array, output in zip(one.outputs, one.program.outputs, strict=True)
        for j, entry in enumerate(output.entries)
        if type(entry) is not int
    ]


# the files


def header(prefix: str, title: Sequence[str], sizes: Sequence[tuple[str, int]], routines: Sequence[Routine],
           real: Real) -> str:  # fmt: skip
    """What the functions are: conventions, the order of the coordinates, and a comment on each."""
    guard = f"{prefix.upper()}_H"
    parts = [_comment(title), f"#ifndef {guard}\n#define {guard}\n"]
    parts += ["\n".join(f"#define {prefix.upper()}_{name} {n}" for name, n in sizes) + "\n"]
    parts += ['#ifdef __cplusplus\nextern "C" {\n#define restrict /* C++ has no such word */\n#endif\n']
    for one in routines:
        width = max(len(f"{a.name}[{a.size}]") for a in (*one.inputs, *one.outputs))
        arrays = [f"  {f'{a.name}[{a.size}]':<{width}}  {a.words}" for a in (*one.inputs, *one.outputs)]
        parts += [_comment([one.words, *arrays]) + prototype(one, real) + ";\n"]
    return "\n".join([*parts, "#ifdef __cplusplus\n#undef restrict\n}\n#endif\n", f"#endif /* {guard} */\n"])


def _comment(lines: Sequence[str]) -> str:
    return "/* " + "\n".join((f" * {remark(line)}" if k else remark(line)).rstrip() for k, line in enumerate(lines)) \
        + "\n */\n"  # fmt: skip


def test_main(prefix: str, routines: Sequence[Routine], real: Real) -> str:
    """A program that runs each function on a state it knows the answer for, and exits with 0 where all is well."""
    parts = [
        f"/* Runs the functions of {prefix}.c on a state whose results are known; exits with 0 where they agree. */\n"
        f'#include <math.h>\n#include <stdio.h>\n#include "{prefix}.h"\n',
        f"static int differs(const char *what, const {real.name} *got, const {real.name} *wanted, int n)\n"
        "{\n    double error = 0.0, size = 1.0;\n    int k, bad = 0;\n"
        "    for (k = 0; k < n; k++)\n        size = fmax(size, fabs((double)wanted[k]));\n"
        "    for (k = 0; k < n; k++) {\n"
        "        const double off = fabs((double)got[k] - (double)wanted[k]);\n"
        f"        bad += !(off <= {real.close!r} * size); /* also where it is not a number */\n"
        "        error = fmax(error, off);\n    }\n"
        '    printf("%s %s: largest difference %.1e of %.3g\\n", bad ? "BAD" : "ok", what, error, size);\n'
        "    return bad;\n}\n",
    ]
    calls = ["int bad = 0;"]
    for one in routines:
        calls.append("{")
        for a, values in zip(one.inputs, one.state, strict=True):
            calls.append(f"    static const {real.name} {a.name}[] = {_row(values, real)};")
        for a, values in zip(one.outputs, one.expected, strict=True):
            calls.append(f"    static const {real.name} {a.name}_wanted[] = {_row(values, real)};")
            calls.append(f"    {real.name} {a.name}[{max(1, a.size)}];")
        calls.append(f"    {one.name}({', '.join(a.name for a in (*one.inputs, *one.outputs))});")
        calls += [f'    bad += differs("{one.name}: {a.name}", {a.name}, {a.name}_wanted, {a.size});'
                  for a in one.outputs]  # fmt: skip
        calls.append("}")
    return "\n".join([*parts, braced("int main(void)", [*calls, "return bad != 0;"])])


def _row(values: np.ndarray[Any, Any], real: Real) -> str:
    return "{" + ", ".join(real.constant(x) for x in values.reshape(-1)) + "}" if values.size else "{0}"
