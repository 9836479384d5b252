"""The SymPy back end: a program's results as expressions, in symbols that have the robot's names.

A short program is multiplied out and written as a textbook would (polynomial.py). A long one keeps the form of the
graph: nested expressions, or with `shared` a list of definitions first, each used more than once, as sympy.cse gives.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from hinge.backends.polynomial import Nested, Part, Poly, Ring, TooLong, factored
from hinge.errors import NotCovered
from hinge.graph import OPS, Input, Program, live, order
from hinge.graph.order import STRUCTURE
from hinge.graph.scalars import apply, unrolled
from hinge.model.symbols import Name

Names = Mapping[str, Sequence[str]]  # for each input array what its entries are called
APART = {"qdd", "tau", "actuators"}  # terms are gathered by the entries of these arrays first
PLAIN = 12  # a number is written as a fraction where its denominator is no larger
FRACTIONS = 10_000  # the same of a number whose decimals do not end
DECIMALS = 10  # with more decimals than these a number is not one that somebody wrote down
ROUNDING = 4e-15  # relative size of what arithmetic may have done to a number
LETTERS = {  # of what an algorithm gives, in LaTeX
    "inverse_dynamics": "tau", "tau": "tau", "forward_dynamics": "qddot", "qdd": "qddot", "gravity_force": "G",
    "mass_matrix": "H", "inverse_mass_matrix": "(H^{-1})", "coriolis_matrix": "C", "jacobian": "J",
    "kinetic_energy": "T", "potential_energy": "V",
}  # fmt: skip


def sympy_module() -> Any:
    """SymPy, or an error that says how to get it."""
    try:
        import sympy
    except ImportError:
        raise NotCovered('equations need SymPy, which is not installed.\n  pip install "hinge[equations]"') from None
    return sympy


def textbook(
    program: Program, names: Names, digits: int | None = None, arrays: Mapping[str, str] | None = None
) -> tuple[Any, ...] | None:
    """Each output as a matrix or a scalar, multiplied out and shortened; None where that is too long.

    Decimals are rounded to so many digits. An input that is an entry of an array has that array's name in `arrays`.
    """
    program = without_loops(program)
    ring = Ring()
    writing = _Writing(ring, names, digits, arrays or {})
    try:
        made = [[writing.entry(ring.gathered(a)) for a in output] for output in ring.run(program)]
    except TooLong:
        return None
    return _shaped(program, made)


def without_loops(
    program: Program, what: str = "equations", instead: str = 'Use source(…, "c") or source(…, "listing").'
) -> Program:
    """The program with its loops written out."""
    if any(op == "loop" for op, _ in program.code):
        program = unrolled(program)
    if any(op in STRUCTURE for op, _ in program.code):
        raise NotCovered(
            f"the program has memory, or loops that end early, which {what} do not write out.\n  {instead}"
        )
    return program


def nested(program: Program, names: Names, digits: int | None = None) -> tuple[Any, ...]:
    """Each output as a matrix or a scalar, in the form the program has."""
    return _shaped(program, _as_they_are(program, names, False, digits)[1])


def definitions(
    program: Program, names: Names, digits: int | None = None
) -> tuple[list[tuple[Any, Any]], tuple[Any, ...]]:
    """A definition for each value that is used more than once, and the outputs in terms of them."""
    shared, made = _as_they_are(program, names, True, digits)
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


def number(x: float, digits: int | None = None) -> Any:
    """A number as one would write it: a simple fraction, a few decimals, another fraction, of π, a root; or as it is.

    Decimals are rounded to so many digits.
    """
    sympy = sympy_module()
    form, made = _read(x)
    if isinstance(made, float):
        return sympy.nan if x != x else sympy.Float(made if digits is None else float(f"{made:.{digits}g}"))
    exact = sympy.Rational(made.numerator, made.denominator)
    if form == "root":
        return _times(sympy.Integer(1 if x > 0.0 else -1), sympy.sqrt(exact))
    return exact if form == "plain" else _times(exact, sympy.pi ** int(form))


@functools.lru_cache(4096)
def _read(x: float) -> tuple[str, float | Fraction]:
    """A number as a fraction, times the power of π or under the root that it is said with; else as a decimal."""
    if not abs(x) < 1e12:
        return "plain", x
    short = next((y for k in range(1, DECIMALS + 1) if _near(y := float(f"{x:.{k}g}"), x)), None)
    long = [("plain", x), ("1", x / math.pi), ("2", x / math.pi**2), ("root", x * x)] if short is None else []
    for form, value, largest in (("plain", x, PLAIN), *((*one, FRACTIONS) for one in long)):
        made = Fraction(value).limit_denominator(largest)
        if _near(made.numerator / made.denominator, value):
            return form, made
    return "plain", x if short is None else short


def _near(y: float, x: float) -> bool:
    return abs(y - x) <= ROUNDING * abs(x)


def _times(*factors: Any) -> Any:
    """A product as it is, without ones and without products in it."""
    sympy = sympy_module()
    flat = [x for f in factors for x in (f.args if f.is_Mul else (f,)) if x is not sympy.S.One]
    return sympy.Mul(*flat) if len(flat) > 1 else flat[0] if flat else sympy.S.One


def _opposite(x: Any) -> Any:
    """A product, or a lone factor, with the other sign."""
    first, *rest = x.args if x.is_Mul else (x,)
    return _times(-first, *rest) if first.is_Number else _times(sympy_module().S.NegativeOne, x)


Scaled = tuple[float, Any]  # a number, and what it multiplies


def _as_they_are(
    program: Program, names: Names, share: bool, digits: int | None
) -> tuple[list[tuple[Any, Any]], list[list[Any]]]:
    """Each instruction on symbols; with `share`, values that are used again have names."""
    program = without_loops(program)
    sympy = sympy_module()
    uses = [0] * len(program.code)
    for op, args in program.code:
        for a in args if op != "input" else ():
            if type(a) is int:
                uses[a] += 1
    taken = {str(name) for entries in names.values() for name in entries}
    fresh = (x for x in sympy.numbered_symbols("x") if x.name not in taken)
    values: list[Scaled] = []
    shared: list[tuple[Any, Any]] = []
    one = sympy.S.One

    def value(a: Any) -> Scaled:
        return values[a] if type(a) is int else (a, one)

    def whole(a: Scaled) -> Any:
        return a[1] if a[0] == 1.0 else _times(number(a[0], digits), a[1])

    def terms(a: Scaled) -> Sequence[Any]:
        """The terms of a sum that is used once, or the value as it is."""
        if not (share and a[1].is_Add and abs(a[0]) == 1.0):
            return (whole(a),)
        return a[1].args if a[0] == 1.0 else tuple(map(_opposite, a[1].args))

    def made(op: str, *args: Scaled) -> Scaled:
        """Numbers are kept before products, so that each product has one, and a sum has differences."""
        if op == "neg":
            return -args[0][0], args[0][1]
        if op == "mul":
            return args[0][0] * args[1][0], _times(args[0][1], args[1][1])
        if op == "div":
            return args[0][0], _times(args[0][1], sympy.Pow(whole(args[1]), -1))
        if op in ("add", "sub"):
            return 1.0, sympy.Add(*terms(args[0]), *terms(args[1] if op == "add" else made("neg", args[1])))
        return 1.0, apply(op, *map(whole, args))

    with sympy.evaluate(False):  # the form of the program, which SymPy would multiply out without end
        for n, (op, args) in enumerate(program.code):
            if op == "input":
                values.append((1.0, _leaf(names[program.inputs[args[0]].name][args[1]])))
                continue
            values.append(made(op, *map(value, args)))
            if share and uses[n] > 1 and OPS[op].counts_as != "neg" and whole(values[n]).args:
                shared.append((next(fresh), whole(values[n])))
                values[n] = 1.0, shared[-1][0]
        return shared, [[whole(value(entry)) for entry in output.entries] for output in program.outputs]


def lines(
    labels: Sequence[str], shared: Sequence[tuple[Any, Any]], made: Sequence[Any], in_latex: bool, ends: Sequence[str]
) -> str:
    """Definitions and then each entry that is not zero, an equation a line: plain, or aligned for LaTeX.

    `ends` are the ends of the names of the velocities, which forces and accelerations have too.
    """
    sympy = sympy_module()
    equations = [(name, value) for name, value in shared]
    for label, result in zip(labels, made, strict=True):
        if not isinstance(result, sympy.MatrixBase):
            equations.append((_label(label, (), in_latex, ends), result))
            continue
        rows, columns = result.shape
        for i in range(rows):
            for j in range(columns):
                at = (i + 1, j + 1) if columns > 1 else (i + 1,)
                if result[i, j] != 0:
                    equations.append((_label(label, at, in_latex, ends), result[i, j]))
    if not in_latex:
        return "".join(f"{name} = {sympy.sstr(value, full_prec=False)}\n" for name, value in equations)
    written = [f"{name if isinstance(name, str) else latex(name)} &= {latex(value)}" for name, value in equations]
    return "\\begin{align*}\n" + " \\\\\n".join(written) + "\n\\end{align*}\n"


def _label(name: str, at: Sequence[int], in_latex: bool, ends: Sequence[str]) -> str:
    if not in_latex:
        return f"{name}[{', '.join(map(str, at))}]" if at else name
    letter = LETTERS.get(name, "")
    if len(letter) > 1 and letter.isalpha() and len(at) == 1:
        return latex(sympy_module().Symbol(letter + ends[at[0] - 1]))
    word = letter or "\\mathrm{" + name.replace("_", "\\_") + "}"
    between = "" if all(k < 10 for k in at) else ","
    return f"{word}_{{{between.join(map(str, at))}}}" if at else word


def latex(x: Any, **settings: Any) -> str:
    """Equations, or anything of SymPy's, as LaTeX: `lc1` is l with the index c1, and `Ixy` is I with xy.

    Rates of functions of time have dots. `settings` are those of `sympy.latex`.

    >>> import sympy
    >>> print(hinge.latex(sympy.Symbol("m1") * sympy.Symbol("lc1") ** 2))
    l_{c1}^{2} m_{1}
    """
    sympy = sympy_module()
    names = {}
    for symbol in x.free_symbols:
        indexed = re.fullmatch(r"([A-Za-z])([a-z]|[xyz]{2})(\d*)", symbol.name)
        if indexed and not sympy.latex(sympy.Symbol(indexed[1] + indexed[2])).startswith("\\"):
            names[symbol] = f"{indexed[1]}_{{{indexed[2]}{indexed[3]}}}"
    settings = {"symbol_names": names, **settings}
    if not x.has(sympy.core.function.AppliedUndef):
        return str(sympy.latex(x, **settings))
    from sympy.physics.vector import vlatex

    return str(vlatex(x, **settings))


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


def _leaf(name: str) -> Any:
    """The symbol of that name, or what a name knows to stand for it."""
    return name.symbol if isinstance(name, Name) else sympy_module().Symbol(name)


class _Writing:
    """Polynomials as expressions of SymPy."""

    def __init__(self, ring: Ring, names: Names, digits: int | None, arrays: Mapping[str, str]):
        self.sympy, self.ring, self.names, self.digits, self.arrays = sympy_module(), ring, names, digits, arrays
        self._made: dict[int, Any] = {}
        self._ranks: dict[int, tuple[bool, str]] = {}

    def entry(self, a: Poly) -> Any:
        """A polynomial, its factors taken out in the order of their names: the same whatever was computed first."""
        found = sorted({g for term in a for g, _ in term}, key=self._rank)
        place = {g: k for k, g in enumerate(found)}
        ranked = {tuple(sorted((place[g], e) for g, e in term)): c for term, c in a.items()}
        return self.nested(factored(ranked, lambda term: self._apart([found[k] for k, _ in term])), found)

    def _rank(self, g: int) -> tuple[bool, str]:
        if g not in self._ranks:
            self._ranks[g] = self.ring.generators[g].kind != "input", str(self.generator(g))
        return self._ranks[g]

    def nested(self, a: Nested, found: Sequence[int]) -> Any:
        parts = [self._product(part, found) for part in a.parts]
        return parts[0] if len(parts) == 1 else self.sympy.Add(*parts)

    def _product(self, part: Part, found: Sequence[int]) -> Any:
        c, term, inner, power = part
        factors = [number(c, self.digits)] if c != 1.0 or not (term or inner) else []
        powers = [(self.generator(found[k]), e) for k, e in term]
        factors += [x if e == 1 else x ** number(e) for x, e in powers]
        factors += [self.nested(inner, found) ** power] if inner else []
        return factors[0] if len(factors) == 1 else self.sympy.Mul(*factors)  # a lone one may be a truth

    def _apart(self, term: Sequence[int]) -> Any:
        """Accelerations and forces are told one from another, what velocities make from what rest makes."""
        inputs = [self.ring.generators[g].of for g in term if self.ring.generators[g].kind == "input"]
        arrays = [(self.arrays.get(of[0], of[0]), of) for of in inputs]
        return tuple((array, of if array in APART else ()) for array, of in arrays if array in (*APART, "qd"))[:1]

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


def entries(scalars: Sequence[Any], arrays: Mapping[str, str] | None = None) -> list[Any]:
    """Nodes of named symbols as expressions, simplified together; all as they are where one is too long for that.

    `arrays` says of which array a symbol is an entry.
    """
    inputs = [Input(node.args[0], 1) for node in live(scalars) if node.op == "input"]
    different([one.name for one in inputs])
    program = order(inputs, [("x", (len(scalars),), list(scalars))], contract=False)
    names = {one.name: [one.name] for one in inputs}
    return list((textbook(program, names, arrays=arrays) or nested(program, names))[0])


def different(names: Iterable[str], where: str = "") -> None:
    """Refuse two symbols of one name, which nobody could tell apart in a result."""
    seen: dict[str, str] = {}
    for name in names:
        if seen.setdefault(str(name), name) != name:
            raise NotCovered(
                f"{where}two symbols are called {str(name)!r}, with unlike assumptions.\n"
                "  Give one of them another name."
            )
