"""A program as C99: a function of plain arrays for one state, without allocation and without a library but math.h.

    void arm_inverse_dynamics(const double *restrict q, …, double *restrict out);

A statement is an instruction: the program already says which sums and products are fused, and those are calls of fma.
Sines and the like are functions of the same file, so that the results are the interpreter's to the last bit. A long
program is cut into functions that hand values on through an array on the stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.backends.c_loops import Loops, rows_of, scratch
from hinge.backends.partition import Pieces, cut
from hinge.backends.routine import Array as Array
from hinge.backends.routine import Routine as Routine
from hinge.backends.statements import NAMES, Real, braced, shared, statement
from hinge.backends.statements import REALS as REALS
from hinge.graph import OPS
from hinge.graph.order import STRUCTURE

KEYWORDS = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
    asm bool class delete new private public template this throw try using virtual
    kept made FMA FMAF
""")) | NAMES  # of C and C++, and in the last line those that the code here uses  # fmt: skip


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
    used = {op for one in routines for op, _ in one.program.code if op in OPS}
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
    pieces, names = cut(one.program, whole_loops=True), _named(one)
    if len(pieces.ends) == 1:
        body = statements(one, real, pieces, 0, pieces.ends[0])
        return braced(prototype(one, real), [*scratch(one.program, real), *_ignored(names, body), *body])
    text, start, calls = list[str](), 0, list[str]()
    own = [f"m{args[0].name}" for op, args in one.program.code if op == "fresh"]
    for k, end in enumerate(pieces.ends):
        body = statements(one, real, pieces, start, end)
        used = [n for n in (*names, "kept", *own) if _mentioned(n, body)]
        parameters = [*_parameters(one, real), *(f"{real.name} *{n}" for n in ("kept", *own))]
        listed = [p for n, p in zip([*names, "kept", *own], parameters, strict=True) if n in used]
        text.append(braced(f"static void {one.name}_{k + 1}({', '.join(listed)})", body))
        calls.append(f"{one.name}_{k + 1}({', '.join(used)});")
        start = end
    work = [f"{real.name} kept[{pieces.slots}];"] if _mentioned("kept", calls) else []
    work += scratch(one.program, real)
    return "\n".join([*text, braced(prototype(one, real), [*work, *_ignored(names, calls), *calls])])


def _parameters(one: Routine, real: Real) -> list[str]:
    kinds = {a.name: f"const {real.name} *restrict" for a in one.inputs}
    kinds |= {a.name: f"{real.name} *restrict" for a in one.outputs}
    return [f"{kinds.get(name, 'const long')} {name}" for name in _named(one)]


def _named(one: Routine) -> list[str]:
    """What a function takes: its arrays, and after a stream how many rows it has."""
    made = []
    for k, array in enumerate((*one.inputs, *one.outputs)):
        made += [array.name, rows_of(array)] if k in one.program.streams else [array.name]
    return made


def prototype(one: Routine, real: Real) -> str:
    """The head of the function."""
    return f"void {one.name}({', '.join(_parameters(one, real))})"


def _mentioned(name: str, lines: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line) for line in lines)


def _ignored(names: Sequence[str], lines: Sequence[str]) -> list[str]:
    """What this robot's result does not depend on."""
    return [f"(void){name};" for name in names if not _mentioned(name, lines)]


def named(one: Routine, real: Real, a: Any) -> str:
    """What a value is called where it was made, or a constant."""
    if type(a) is not int:
        return real.constant(a)
    op, args = one.program.code[a]
    if op == "input":
        return f"{one.inputs[args[0]].name}[{args[1]}]"
    return named(one, real, args[1]) if op == "last" else f"t{a}"


def statements(one: Routine, real: Real, pieces: Pieces, start: int, end: int) -> list[str]:
    """Instructions start to end; what earlier pieces kept is read from there, what later ones need is kept."""
    program, lines, places = one.program, list[str](), _places(one)

    def here(a: Any) -> str:
        earlier = type(a) is int and a < start and program.code[a][0] != "input"
        return f"kept[{pieces.slot[a]}]" if earlier else named(one, real, a)

    loops = Loops(one, real, here)
    several: dict[str, str] = {}  # results of functions that have more than one

    def said(n: int) -> str:
        row, args = OPS[program.code[n][0]], [here(a) for a in program.code[n][1]]
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
        op = program.code[n][0]
        if op in STRUCTURE:
            lines += loops.structure(n)
            several.clear()  # what was made in a loop is gone with it
        elif op != "input":
            lines += [loops.margin + line for line in loops.integer(n)]
            if n not in loops.unasked:
                text = said(n)
                lines.append(f"{loops.margin}const {real.name} t{n} = {text};")
        if op != "input" and n in pieces.slot and op not in ("loop", "end"):
            lines.append(f"{loops.margin}kept[{pieces.slot[n]}] = {here(n)};")
        lines += [f"{place} = {here(n)};" for place in places.get(n, ())]
    if end == len(program.code):
        lines += [f"{place} = {real.constant(x)};" for x, place in _constants(one)]
    return [*loops.tables(), *lines]


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


def header(
    prefix: str, title: Sequence[str], sizes: Sequence[tuple[str, int]], routines: Sequence[Routine], real: Real
) -> str:
    """What the functions are: conventions, the order of the coordinates, and a comment on each."""
    guard = f"{prefix.upper()}_H"
    parts = [comment(title), f"#ifndef {guard}\n#define {guard}\n"]
    parts += ["\n".join(f"#define {prefix.upper()}_{name} {n}" for name, n in sizes) + "\n"]
    parts += ['#ifdef __cplusplus\nextern "C" {\n#define restrict /* C++ has no such word */\n#endif\n']
    parts += [described(one) + prototype(one, real) + ";\n" for one in routines]
    return "\n".join([*parts, "#ifdef __cplusplus\n#undef restrict\n}\n#endif\n", f"#endif /* {guard} */\n"])


def described(one: Routine) -> str:
    """What a function does, takes and gives, as a comment."""
    width = max(len(f"{a.name}[{a.size}]") for a in (*one.inputs, *one.outputs))
    return comment(
        [one.words, *(f"  {f'{a.name}[{a.size}]':<{width}}  {a.words}" for a in (*one.inputs, *one.outputs))]
    )


def comment(lines: Sequence[str]) -> str:
    """Lines as a comment."""
    return "/* " + "\n".join((f" * {remark(line)}" if k else remark(line)).rstrip() for k, line in enumerate(lines)) \
        + "\n */\n"  # fmt: skip


def test_main(prefix: str, routines: Sequence[Routine], real: Real) -> str:
    """A program that runs each function on a state it knows the answer for, and exits with 0 where all is well."""
    parts = [
        f"/* Runs the functions of {prefix}.c on a state whose results are known; exits with 0 where they agree. */\n"
        f'#include <math.h>\n#include <stdio.h>\n#include "{prefix}.h"\n',
        comparison(real),
    ]
    calls = ["int bad = 0;"]
    for one in routines:
        calls.append("{")
        for a, values in zip(one.inputs, one.state, strict=True):
            calls.append(f"    static const {real.name} {a.name}[] = {initializer(values, real)};")
        for a, values in zip(one.outputs, one.expected, strict=True):
            calls.append(f"    static const {real.name} {a.name}_wanted[] = {initializer(values, real)};")
            calls.append(f"    {real.name} {a.name}[{max(1, values.size)}];")
        known = zip((*one.inputs, *one.outputs), (*one.state, *one.expected), strict=True)
        rows = {rows_of(a): values.size // max(1, a.size) for a, values in known}
        calls.append(f"    {one.name}({', '.join(str(rows.get(name, name)) for name in _named(one))});")
        calls += [
            f'    bad += differs("{one.name}: {a.name}", {a.name}, {a.name}_wanted, {values.size});'
            for a, values in zip(one.outputs, one.expected, strict=True)
        ]
        calls.append("}")
    return "\n".join([*parts, braced("int main(void)", [*calls, "return bad != 0;"])])


def comparison(real: Real) -> str:
    """A function that says how far a row is from the one that is wanted, and whether that is too far."""
    return (
        f"static int differs(const char *what, const {real.name} *got, const {real.name} *wanted, int n)\n"
        "{\n    double error = 0.0, size = 1.0;\n    int k, bad = 0;\n"
        "    for (k = 0; k < n; k++)\n        size = fmax(size, fabs((double)wanted[k]));\n"
        "    for (k = 0; k < n; k++) {\n"
        "        const double off = fabs((double)got[k] - (double)wanted[k]);\n"
        f"        bad += !(off <= {real.close!r} * size); /* also where it is not a number */\n"
        "        error = fmax(error, off);\n    }\n"
        '    printf("%s %s: largest difference %.1e of %.3g\\n", bad ? "BAD" : "ok", what, error, size);\n'
        "    return bad;\n}\n"
    )


def initializer(values: np.ndarray[Any, Any], real: Real) -> str:
    """Numbers as the initializer of an array."""
    return "{" + ", ".join(real.constant(x) for x in values.reshape(-1)) + "}" if values.size else "{0}"
