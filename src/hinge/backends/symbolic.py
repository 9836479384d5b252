"""The SymPy back end: a program's results as expressions, in symbols that have the robot's names.

A short program is multiplied out and written as a textbook would (polynomial.py). A long one keeps the form of the
graph: nested expressions, or with `shared` a list of definitions first, each used more than once, as sympy.cse gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hinge.backends.polynomial import Nested, Poly, Ring, Term, TooLong, factored
from hinge.errors import NotCovered
from hinge.graph import OPS, Input, Program, live, order
from hinge.graph.order import STRUCTURE
from hinge.graph.scalars import apply, unrolled

Names = Mapping[str, Sequence[Any]]  # for each input array what its entries are called, or what stands for them
APART = {"qdd", "tau", "actuators"}  # terms are gathered by the entries of these arrays first
PLAIN = 12  # a number is written as a fraction where its denominator is no larger


def sympy_module() -> Any:
    """SymPy, or an error that says how to get it."""
    try:
        import sympy
    except ImportError:
        raise NotCovered("equations need SymPy, which is not installed.\n  pip install hinge[equations]") from None
    return sympy


def textbook(program: Program, names: Names) -> tuple[Any, ...] | None:
    """Each output as a matrix or a scalar, multiplied out and shortened; None where that is too long."""
    program = _without_loops(program)
    ring = Ring()
    writing = _Writing(ring, names)
    try:
        made = [[writing.entry(ring.gathered(a)) for a in output] for output in ring.run(program)]
    except TooLong:
        return None
    return _shaped(program, made)


def _without_loops(program: Program) -> Program:
    """The program with its loops written out."""
    if any(op == "loop" for op, _ in program.code):
        program = unrolled(program)
    if any(op in STRUCTURE for op, _ in program.code):
        raise NotCovered("the program has memory, or loops that end early, which equations do not write out.\n"
                         "  Use source(…, \"c\") or source(…, \"listing\").")  # fmt: skip
    return program


def nested(program: Program, names: Names) -> tuple[Any, ...]:
    """Each output as a matrix or a scalar, in the form the program has."""
    return _shaped(program, _as_they_are(program, names, share=False)[1])


def definitions(program: Program, names: Names) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
    """A definition for each value that is used more than once, and the outputs in terms of them."""
    shared, made = _as_they_are(program, names, share=True)
    return shared, _shaped(program, made)


def _shaped(program: Program, entries: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """Scalars, columns, matrices, and arrays of more indices, as the outputs are."""
    sympy = sympy_module()
    made = []
    for output, flat in zip(program.outputs, entries, strict=True):
        if len(output.shape) > 2:
            made.append(sympy.ImmutableDenseNDimArray(list(flat), output.shape))
            continue
        rows, columns = (*output.shape, 1, 1)[:2]
        made.append(sympy.Matrix(rows, columns, list(flat)) if output.shape else flat[0])
    return tuple(made)


def size(results: Sequence[Any]) -> int:
    """How many parts the results have when all is written out; what they share is looked at once."""
    roots = [x for result in results for x in _entries(result)]
    parts: dict[int, int] = {}
    stack = list(roots)
    while stack:
        x = stack[-1]
        waiting = [a for a in x.args if id(a) not in parts]
        if waiting:
            stack += waiting
        else:
            parts[id(x)] = 1 + sum(parts[id(a)] for a in x.args)
            stack.pop()
    return sum(parts[id(x)] for x in roots)


def _entries(result: Any) -> list[Any]:
    """The entries of a matrix or an array, or a scalar alone."""
    if not hasattr(result, "shape"):
        return [result]
    return list(sympy_module().flatten(result.tolist())) if len(result.shape) > 2 else list(result)


def number(x: float) -> Any:
    """A number as one would write it: whole, a simple fraction, or decimal."""
    sympy = sympy_module()
    if x != x:
        return sympy.nan
    for below in range(1, PLAIN + 1) if abs(x) < 1e12 else ():
        if abs(round(x * below) / below - x) <= 2.3e-16 * abs(x):  # the number next to it will do
            return sympy.Rational(round(x * below), below)
    return sympy.Float(x)


def _as_they_are(program: Program, names: Names, share: bool) -> tuple[list[tuple[Any, Any]], list[list[Any]]]:
    """Each instruction on symbols; with `share`, values that are used again have names."""
    program = _without_loops(program)
    sympy = sympy_module()
    uses = [0] * len(program.code)
    for op, args in program.code:
        for a in args if op != "input" else ():
            if type(a) is int:
                uses[a] += 1
    taken = {_leaf(name) for entries in names.values() for name in entries}
    fresh = (x for x in sympy.numbered_symbols("x") if x not in taken)
    values: list[Any] = []
    shared: list[tuple[Any, Any]] = []

    def value(a: Any) -> Any:
        return values[a] if type(a) is int else number(a)

    with sympy.evaluate(False):  # the form of the program, which SymPy would multiply out without end
        for n, (op, args) in enumerate(program.code):
            if op == "input":
                values.append(_leaf(names[program.inputs[args[0]].name][args[1]]))
                continue
            made = apply(op, *map(value, args))
            if share and uses[n] > 1 and OPS[op].counts_as != "neg" and made.args:
                name = next(fresh)
                shared.append((name, made))
                made = name
            values.append(made)
    return shared, [[value(entry) for entry in output.entries] for output in program.outputs]


def lines(labels: Sequence[str], shared: Sequence[tuple[Any, Any]], made: Sequence[Any], latex: bool) -> str:
    """Definitions and then each entry that is not zero, an equation a line: plain, or aligned for LaTeX."""
    sympy = sympy_module()
    equations = [(name, value) for name, value in shared]
    for label, result in zip(labels, made, strict=True):
        if not isinstance(result, sympy.MatrixBase):
            equations.append((_label(label, (), latex), result))
            continue
        rows, columns = result.shape
        for i in range(rows):
            for j in range(columns):
                at = (i + 1, j + 1) if columns > 1 else (i + 1,)
                if result[i, j] != 0:
                    equations.append((_label(label, at, latex), result[i, j]))
    if not latex:
        return "".join(f"{name} = {sympy.sstr(value, full_prec=False)}\n" for name, value in equations)
    written = [f"{name if isinstance(name, str) else sympy.latex(name)} &= {sympy.latex(value)}"
               for name, value in equations]  # fmt: skip
    return "\\begin{align*}\n" + " \\\\\n".join(written) + "\n\\end{align*}\n"


def _label(name: str, at: Sequence[int], latex: bool) -> str:
    if not latex:
        return f"{name}[{', '.join(map(str, at))}]" if at else name
    word = "\\mathrm{" + name.replace("_", "\\_") + "}"
    return f"{word}_{{{','.join(map(str, at))}}}" if at else word


def python(name: str, arrays: Names, shared: Sequence[tuple[Any, Any]], made: Sequence[Any]) -> str:
    """A function of plain sequences that gives lists, for one state."""
    sympy = sympy_module()

    def code(x: Any) -> str:
        return str(sympy.pycode(x, fully_qualified_modules=False))

    def listed(x: Any) -> str:
        if not isinstance(x, sympy.MatrixBase):
            return code(x)
        rows = [[code(x[i, j]) for j in range(x.shape[1])] for i in range(x.shape[0])]
        shown = [row[0] if x.shape[1] == 1 else f"[{', '.join(row)}]" for row in rows]
        return "[\n        " + ",\n        ".join(shown) + ",\n    ]" if rows else "[]"

    body = [f"    {', '.join(names)}{',' * (len(names) == 1)} = {array}" for array, names in arrays.items() if names]
    body += [f"    {code(x)} = {code(value)}" for x, value in shared]
    body += [f"    return {', '.join(map(listed, made))}"]
    return "\n".join(["from math import *", "", "", f"def {name}({', '.join(arrays)}):", *body, ""])


def _leaf(name: Any) -> Any:
    """The symbol of that name, or what stands for it."""
    return sympy_module().Symbol(name) if isinstance(name, str) else name


class _Writing:
    """Polynomials as expressions of SymPy."""

    def __init__(self, ring: Ring, names: Names):
        self.sympy, self.ring, self.names = sympy_module(), ring, names
        self._made: dict[int, Any] = {}

    def entry(self, a: Poly) -> Any:
        return self.nested(factored(a, self._apart))

    def nested(self, a: Nested) -> Any:
        parts = [self._product(*part) for part in a.parts]
        return parts[0] if len(parts) == 1 else self.sympy.Add(*parts)

    def _product(self, c: float, term: Term, inner: Nested | None) -> Any:
        factors = [number(c)] if c != 1.0 or not (term or inner) else []
        factors += [self.generator(g) if e == 1 else self.generator(g) ** number(e) for g, e in term]
        factors += [self.nested(inner)] if inner else []
        return factors[0] if len(factors) == 1 else self.sympy.Mul(*factors)  # a lone one may be a truth

    def _apart(self, term: Term) -> Any:
        """Accelerations and forces are told one from another, what velocities make from what rest makes."""
        inputs = [self.ring.generators[g].of for g, _ in term if self.ring.generators[g].kind == "input"]
        return tuple(of if of[0] in APART else of[0] for of in inputs if of[0] in APART or of[0] == "qd")[:1]

    def generator(self, g: int) -> Any:
        if g not in self._made:
            self._made[g] = self._generator(g)
        return self._made[g]

    def _generator(self, g: int) -> Any:
        kind, of = self.ring.generators[g].kind, self.ring.generators[g].of
        if kind == "input":
            return _leaf(self.names[of[0]][of[1]])
        args = [self.entry(self.ring.gathered(dict(key))) for key in of]
        return args[0] if kind == "sum" else apply(kind.removesuffix(" of"), *args)


def scalar(x: Any) -> Any:
    """A node of named symbols as an expression."""
    return entries([x])[0]


def entries(scalars: Sequence[Any], known: Mapping[str, Any] | None = None) -> list[Any]:
    """Nodes of named symbols as expressions, simplified together; all as they are where one is too long for that.

    `known` has what stands for a name, where that is not the plain symbol.
    """
    inputs = [Input(node.args[0], 1) for node in live(scalars) if node.op == "input"]
    program = order(inputs, [("x", (len(scalars),), list(scalars))], contract=False)
    names = {one.name: [(known or {}).get(one.name, one.name)] for one in inputs}
    return list((textbook(program, names) or nested(program, names))[0])
