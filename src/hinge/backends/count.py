"""The counting back end: how many operations of each kind, and how long the longest chain of them is."""

from __future__ import annotations

from dataclasses import dataclass

from hinge import notebook
from hinge.graph import OPS, Program
from hinge.graph.order import beforehand, taken


@dataclass(frozen=True)
class Cost:
    """Operations for one state.

    `add` counts sums and differences, `mul` products before they are contracted with sums; negations and
    trigonometry are listed apart. `depth` is the longest chain of operations each of which waits for the one before.
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0
    neg: int = 0
    other: int = 0
    depth: int = 0
    method: str = ""

    def time(self, mul: float, add: float, trig: float = 0.0, overhead: float = 0.0, div: float | None = None,
             sqrt: float | None = None) -> float:  # fmt: skip
        """The time of one state on a processor that does one thing after another: featherstone1987 8.4.2.

        Each operation takes its own time and `overhead` besides; a division takes as long as a multiplication and a
        square root as long as a division where they are not given. Comparisons and choices take as long as an
        addition, and signs no time at all.

        >>> Cost(mul=712, add=550, trig=10).time(mul=10e-6, add=2e-6, trig=200e-6, overhead=1e-6) < 12e-3
        True
        """
        div = mul if div is None else div
        sqrt = div if sqrt is None else sqrt
        takes = {"mul": mul, "add": add, "div": div, "sqrt": sqrt, "trig": trig, "other": add}
        return float(sum(getattr(self, kind) * (time + overhead) for kind, time in takes.items()))

    def __str__(self) -> str:
        parts = [f"{getattr(self, k)} {k}" for k in ("mul", "add", "div", "sqrt", "trig", "neg", "other")]
        return ", ".join(p for p in parts if not p.startswith("0 ")) + f"; depth {self.depth} ({self.method})"

    def _repr_html_(self) -> str:
        figures = {name: value for name, value in vars(self).items() if name != "method"}
        return notebook.table(("method", *figures), [(self.method, *figures.values())])


def count(program: Program, method: str = "") -> Cost:
    """The cost of a program. It has to be one whose sums and products are not contracted.

    What is in a loop counts as often as it makes trips at the most; once, where that is not known before it runs. What
    is made of counters and tables alone, an index for instance, does not count, nor what only some states need.
    """
    totals = dict.fromkeys(("mul", "add", "div", "sqrt", "trig", "neg", "other"), 0)
    often, known = taken(program, when=0.0), beforehand(program)
    depth: list[int] = []
    begun: list[int] = []  # how deep it was where each loop around begins
    for n, (op, args) in enumerate(program.code):
        deepest = 0
        for a in args if op != "input" else ():
            if type(a) is int and depth[a] > deepest:
                deepest = depth[a]
        if op in OPS and often[n] and not known[n]:
            totals[OPS[op].counts_as] += int(often[n])
            deepest += op != "neg"
        elif op == "loop":
            begun.append(deepest)
        elif op == "end":  # each trip waits for the one before
            trips = program.code[args[0]][1][0]
            deepest = begun[-1] + (deepest - begun.pop()) * (int(trips) if type(trips) is float and often[n] else 1)
        depth.append(deepest)
    return Cost(**totals, depth=max(depth, default=0), method=method)
