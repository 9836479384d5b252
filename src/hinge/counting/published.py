"""What the texts print of counts, beside ours.

The figures are those of turney1981, Tables 8.1, 8.2, 8.3, 8.4, 8.5 and 8.6 and section 8; featherstone1987,
Tables 4-1, 8-2, 8-3, 8-4, 8-5 and 8-6; nasser1990 3.3; and the records of balafoutis1991, featherstone2005 and
mcmillan1995. They are kept in published.toml, each with the method of ours that stands beside it: a general inertia
beside a general one, a principal one beside a principal one.
"""

from __future__ import annotations

import tomllib
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from hinge.backends.count import Cost, count
from hinge.counting import units
from hinge.counting.measure import COUNTED, LENGTHS, arm, cost, polynomial
from hinge.counting.polynomials import Polynomial, fitted
from hinge.counting.sheets import Sheet
from hinge.counting.steps import Steps, depth, processors, stages
from hinge.counting.tally import as_written
from hinge.counting.units import Symbols, better, figures
from hinge.counting.watch import Group, Operation, by_term, operations
from hinge.dynamics.registry import ALGORITHMS
from hinge.model.principal import principal

SIX = 6  # the number of joints that texts compare at
NO_POLYNOMIAL = "no polynomial"
NOT_ON_TALLIES = ("euler_lagrange", "composite_llt", "conjugate_gradient")  # they differentiate, take roots, or compare
TITLES = {"rigid": "general", "screw": "screw on an axis"}
HARDWARE = (1, 3, 6, 36)


@cache
def published() -> dict[str, Any]:
    """What is in published.toml."""
    return tomllib.loads(files("hinge.counting").joinpath("published.toml").read_text(encoding="utf-8"))


def pair(mul: Any, add: Any) -> str:
    """Multiplications and additions; polynomials, which have fractions, are set apart by a semicolon."""
    return f"{mul}; {add}" if isinstance(mul, str | Polynomial) else f"{mul} / {add}"


def shown(polynomials: list[Polynomial | None]) -> str:
    """Two polynomials, and from which n on they hold."""
    start = max((one.start for one in polynomials if one is not None), default=3)
    return pair(*(one or NO_POLYNOMIAL for one in polynomials)) + (f" (n ≥ {start})" if start > 3 else "")


def ours(call: str, method: str, inertia: str = "general") -> str:
    return shown([polynomial(call, method, part, inertia) for part in ("mul", "add")])


@cache
def written(call: str, method: str, inertia: str = "general") -> Cost | None:
    """What a method takes as it is written on an arm of six joints, zeros and ones and what is equal included."""
    return None if method in NOT_ON_TALLIES else as_written(arm(SIX, inertia), call, method)[0]


def totals() -> Sheet:
    """Every total the texts print, and ours."""
    rows, notes = [], dict[str, None]()
    for one in published()["count"]:
        inertia, call, method = one.get("inertia", "general"), one["call"], one["method"]
        printed = [Polynomial.read(one[part]) for part in ("mul", "add")]
        here, plain = cost(call, method, SIX, inertia), written(call, method, inertia)
        place = f"{one['key']}, {one['at']}" if "at" in one else one["key"]
        rows.append(
            (
                place,
                one["what"],
                inertia,
                pair(*printed),
                pair(*(p(SIX) for p in printed)),
                method,
                ours(call, method, inertia),
                pair(here.mul, here.add),
                pair(plain.mul, plain.add) if plain else "",
            )
        )
        for part, text in one.get("instead", {}).items():
            right = Polynomial.read(text)
            notes[f"{place}, {one['what']}: by its own terms, {part} is {right}, {right(SIX)} at n = {SIX}."] = None
        notes[f"{place}, {one['what']}: {one['note']}"] = None
    columns = ("source", "method", "inertia", "printed, mul; add", f"n = {SIX}", "ours", "traced, mul; add",
               f"n = {SIX}", "as written")  # fmt: skip
    return Sheet("What the texts print, and ours", columns, tuple(rows), tuple(notes), 3)


def breakdown(table: dict[str, Any]) -> Sheet:
    """A table of the texts that goes term by term."""
    inertia, method = table.get("inertia", "general"), table["method"]
    groups = [Group(", ".join(term for term, _, _ in part["printed"]), part["lines"]) for part in table["parts"]]
    done = {n: by_term(operations(arm(n, inertia), "inverse_dynamics", method), groups) for n in LENGTHS}
    rows, total = [], [Polynomial(()), Polynomial(())]
    for group, part in zip(groups, table["parts"], strict=True):
        printed = [_sum([Polynomial.read(one[k]) for one in part["printed"]]) for k in (1, 2)]
        total = [_sum([a, b]) for a, b in zip(total, printed, strict=True)]
        rows.append((group.term, pair(*printed), shown([_term(done, group.term, kind) for kind in ("mul", "add")])))
    rows.append(("forming the transforms", "", shown([_term(done, "other", kind) for kind in ("mul", "add")])))
    rows.append(("total", pair(*total), ours("inverse_dynamics", method, inertia)))
    title = f"turney1981, {table['at']}, and {method} line by line ({inertia} inertia)"
    return Sheet(title, ("term", "printed, mul; add", "ours, mul; add"), tuple(rows))


def _sum(some: list[Polynomial]) -> Polynomial:
    size = max(len(one.coefficients) for one in some)
    return Polynomial(
        tuple(sum((one.coefficients[k] for one in some if k < len(one.coefficients)), Fraction(0)) for k in range(size))
    )


def _term(done: dict[int, dict[tuple[str, int], dict[str, int]]], term: str, kind: str) -> Polynomial | None:
    return fitted({n: sum(v[kind] for (t, _), v in made.items() if t == term) for n, made in done.items()})


def simultaneous() -> Sheet:
    """Steps with one serial processor a group of terms, and the depth of the same graph."""
    table = published()["steps"]
    groups = [Group(one["term"], one["lines"]) for one in table["out"] + table["back"]]
    out, back = [(one["term"], one["ahead"]) for one in table["out"]], [one["term"] for one in table["back"]]
    by_stage, by_processor, deep = dict[int, Steps](), dict[int, int](), dict[int, int]()
    for n in LENGTHS:
        done = operations(arm(n, table["inertia"]), "inverse_dynamics", table["method"])
        by_stage[n], by_processor[n], deep[n] = (
            stages(done, groups, out, back, n),
            processors(done, groups),
            depth(done),
        )
    printed = [Polynomial.read(table[part]) for part in ("mul", "add")]
    stage = [{n: getattr(one, part) for n, one in by_stage.items()} for part in ("mul", "add")]
    rows = (
        ("printed: stage by stage", pair(*printed), sum(p(SIX) for p in printed)),
        ("ours, stage by stage", shown([fitted(one) for one in stage]), sum(by_stage[SIX])),
        (
            "ours, a processor a term that waits for its numbers",
            fitted(by_processor) or NO_POLYNOMIAL,
            by_processor[SIX],
        ),
        ("ours, depth: nothing waits but for its numbers", fitted(deep) or NO_POLYNOMIAL, deep[SIX]),
    )
    note = published()["notes"]["steps"]
    return Sheet("turney1981, Table 8.6: simultaneous steps of turney (principal inertia)",
                 ("schedule", "steps", f"n = {SIX}, together"), rows, (note,))  # fmt: skip


def single_operations() -> Sheet:
    """Spatial operations one by one, with 6×6 matrices as what they are compared with."""
    made = {"rigid": units.units(Symbols.rigid), "screw": units.units(Symbols.screw)}
    rows, printed_before = [], dict[str, Steps]()
    for one in published()["unit"]:
        unit, general = made[one["factor"]][one["operation"]], made["rigid"][one["operation"]]
        printed, here, whole = Steps(one["mul"], one["add"]), figures(unit.ours), figures(unit.whole)
        before = {
            "Table 8-3": whole,
            "Table 8-4": printed_before.get(one["operation"], whole),
            "Table 8-5": figures(general.ours),
        }
        factor = better(before[one["at"]], here, 2 if one["factor"] == "screw" else 1)
        printed_before.setdefault(one["operation"], printed)
        what = one["operation"] + (" + symmetry" if one.get("symmetric") or one["at"] == "Table 8-4" else "")
        rows.append((one["at"], TITLES[one["factor"]], what, whole, printed, one["improvement"], here, f"{factor:.2f}"))
    notes = (published()["notes"]["unit"],)
    columns = ("table", "transform", "of a", "6×6", "printed", "improvement", "ours", "improvement, ours")
    return Sheet("featherstone1987: single operations, mul / add", columns, tuple(rows), notes, 3)


def kept() -> Sheet:
    """How many numbers quantities are kept as."""
    here = units.storage()
    rows = tuple((name, *printed, here[name]) for name, printed in published()["storage"].items())
    note = f"A screw on a coordinate axis is kept as {here['screw']} numbers: cosine, sine and shift."
    return Sheet("featherstone1987, Table 8-2: numbers kept", ("quantity", "matrix", "printed", "ours"), rows, (note,))


def rate_of_a_product() -> Sheet:
    """The example of a recurrence, with matrices of one entry."""
    printed, rows = published()["rate_of_a_product"], []
    for n in map(int, printed["recurrence"]):
        row = [n]
        for name, rate in (("term_by_term", units.rate_term_by_term), ("recurrence", units.rate_by_recurrence)):
            row += [printed[name][str(n)], *_products(rate, n)]
        rows.append(tuple(row))
    note = published()["notes"]["rate_of_a_product"]
    columns = ("n", "term by term, printed", "as written", "traced", "recurrence, printed", "as written", "traced")
    return Sheet("featherstone1987, Table 4-1: an example of a recurrence", columns, tuple(rows), (note,))


def _products(rate: Any, n: int) -> list[int]:
    from hinge.counting.tally import DONE, Tally
    from hinge.counting.watch import listed

    DONE.update(mul=0)
    rate(*[[Tally(k + 2.0) for k in range(n)] for _ in range(2)])
    as_is = DONE["mul"]
    s = Symbols()
    return [as_is, figures(listed([rate(s.scalars(n), s.scalars(n))])).mul]


def hardware() -> Sheet:
    """Steps on machines that do 3, 6 or 36 operations at once."""
    rows = []
    for kind, made in (("general", units.units(Symbols.rigid)), ("screw", units.units(Symbols.screw))):
        for name, unit in made.items():
            rows.append((f"{name}, {kind} transform", *units.at_widths(unit.ours, HARDWARE)))
            if kind == "general":
                rows.append((f"{name}, 6×6 matrices", *units.at_widths(unit.whole, HARDWARE)))
    for call, method in (("inverse_dynamics", "newton_euler"), ("inverse_dynamics", "turney"),
                         ("mass_matrix", "composite"), ("forward_dynamics", "articulated")):  # fmt: skip
        done: list[Operation] = [one for one in operations(arm(SIX), call, method) if one.kind != "other"]
        rows.append((f"{method}, n = {SIX}", *units.at_widths(done, HARDWARE)))
    note = published()["notes"]["hardware"]
    columns = ("", *(f"{width} at once" for width in HARDWARE))
    return Sheet("featherstone1987 8.3.5: several operations at once", columns, tuple(rows), (note,))


def coordinates() -> Sheet:
    """The same equations in one set of coordinates and another."""
    rows = [(name, ours("inverse_dynamics", method), _pair(cost("inverse_dynamics", method, SIX))) for name, method in (
        ("all in base coordinates", "newton_euler_base"), ("forces in link coordinates (Orin)", "newton_euler_orin"),
        ("all in link coordinates (Luh)", "luh"), ("all in link coordinates, spatial", "newton_euler"))]  # fmt: skip
    for call, method in (("inverse_dynamics", "newton_euler"), ("inverse_dynamics", "turney"),
                         ("mass_matrix", "composite"), ("forward_dynamics", "articulated")):  # fmt: skip
        found = {
            n: count(ALGORITHMS[call][method].trace(principal(arm(n).target.traced), contract=False)) for n in LENGTHS
        }
        shows = shown([fitted({n: getattr(c, part) for n, c in found.items()}) for part in ("mul", "add")])
        rows.append((f"{method}, frames at the centre of mass", shows, _pair(found[SIX])))
        rows.append((f"{method}, frames on the joints", ours(call, method), _pair(cost(call, method, SIX))))
    return Sheet("Coordinates and frames, general inertia", ("", "mul; add", f"n = {SIX}"), tuple(rows))


def _pair(one: Cost) -> str:
    return pair(one.mul, one.add)


def all_methods() -> Sheet:
    """Every method that covers general arms, and why the others do not."""
    rows, left_out = [], []
    for call in (*COUNTED, "coriolis_coefficients"):
        for method, algorithm in ALGORITHMS[call].items():
            if reason := algorithm.reason(arm(SIX).model):
                left_out.append(f"{call}, {method}: {reason}.")
                continue
            here, plain = cost(call, method, SIX), written(call, method) if call in COUNTED else None
            deep = polynomial(call, method, "depth") or NO_POLYNOMIAL
            rows.append((call, method, ours(call, method), pair(here.mul, here.add), here.div, here.trig, deep,
                         pair(plain.mul, plain.add) if plain else ""))  # fmt: skip
    columns = ("", "method", "mul; add", f"n = {SIX}", "div", "trig", "depth", f"as written, n = {SIX}")
    note = published()["notes"]["polynomials"]
    return Sheet("Every method on general arms", columns, tuple(rows), (note, *left_out), 2)
