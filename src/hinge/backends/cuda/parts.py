"""A long program in parts: kernels that each make some of its results, and what these need besides.

What two results have in common is made once where they are in one part, and twice where they are not; but in one part
more values are alive at a time, and those that registers do not hold go to memory and back. Results that were made one
after the other are together first; then those parts that have most in common become one, as long as that is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hinge.backends.cuda.registers import Flow, reordered
from hinge.backends.statements import Real
from hinge.graph import Output, Program

REGISTERS = {"float": 230, "double": 110}  # numbers that a thread has at hand
MANY = {"float": 500, "double": 350}  # numbers alive that are worth several kernels
SPILT = 40  # operations that the way to memory and back takes
KERNEL = 100  # operations that it takes to begin another kernel
WIDEST = 200  # results of a kernel, without constants
FIRST, GROUPS = 24, 60  # results that are together before parts are compared, or more for no more groups than these
LONGEST, MOST = 60_000, 5000  # instructions and results of a program that is compared with itself in parts


def cost(program: Program) -> float:
    """Operations of a state, and those that go by on the way to memory and back."""
    alive, _ = _ordered(program, REGISTERS["float"])
    return program.operations + SPILT * max(0, alive - REGISTERS["float"])


def parts(program: Program, real: Real) -> list[Program]:
    """The program, in a better order where registers do not hold it; in several parts where that does not help.

    The results of a part are called by their numbers among all entries of all results, a column each.
    """
    alive, ordered = _ordered(program, REGISTERS[real.name] // 2)
    flow, entries = Flow(program), [e for one in program.outputs for e in one.entries]
    too_long = len(program.code) > LONGEST or len(entries) > MOST
    if alive <= MANY[real.name] or too_long or not flow.is_straight:
        return [ordered]
    groups = _Together(flow, entries, REGISTERS[real.name]).groups()
    if len(groups) == 1:
        return [ordered]
    made = list[Program]()
    for group in groups:
        _, order = flow.best([entries[k] for k in group])
        made.append(reordered(program, order, [Output(str(k), (), (entries[k],)) for k in group]))
    return made


def _ordered(program: Program, enough: int) -> tuple[int, Program]:
    """How many values are alive, and the program in the order with fewest where that is more than enough."""
    flow, entries = Flow(program), [e for one in program.outputs for e in one.entries]
    alive = flow.alive(range(len(program.code)), entries)
    if alive <= enough or not flow.is_straight:
        return alive, program
    fewest, order = flow.best(entries, hold=True)
    return (fewest, reordered(program, order, program.outputs)) if fewest < 0.9 * alive else (alive, program)


class _Together:
    """Results put into groups."""

    def __init__(self, flow: Flow, entries: Sequence[int | float], registers: int):
        self.flow, self.entries, self.registers = flow, entries, registers
        self.needs = self._needs()
        self._costs: dict[tuple[int, ...], float] = {}

    def _needs(self) -> list[int]:
        """The instructions that each result needs, as bits of a number."""
        flow = self.flow
        uses = [0] * len(flow.needs)
        for needed in flow.needs:
            for a in needed:
                uses[a] += 1
        results = {e for e in self.entries if type(e) is int}
        bits = dict[int, int]()
        for n, needed in enumerate(flow.needs):
            own = 0 if flow.program.code[n][0] == "input" else 1 << n
            for a in needed:
                own |= bits[a]
            bits[n] = own
            for a in needed:
                uses[a] -= 1
                if not uses[a] and a not in results:
                    bits.pop(a, None)
        return [bits[e] if type(e) is int else 0 for e in self.entries]

    def groups(self) -> list[tuple[int, ...]]:
        """The groups that cost least together."""
        made = self._in_the_order_made()
        bits = [self._bits(group) for group in made]
        dearer = set[tuple[int, ...]]()
        while True:
            pairs = sorted(self._pairs(made, bits), reverse=True)
            for _, i, j in pairs:
                both = tuple(sorted(made[i] + made[j]))
                if both not in dearer:
                    if self.cost(both) < self.cost(made[i]) + self.cost(made[j]):
                        made[j], bits[j] = both, bits[i] | bits[j]
                        del made[i], bits[i]
                        break
                    dearer.add(both)
            else:
                return made

    def _pairs(self, made: Sequence[Sequence[int]], bits: Sequence[int]) -> Iterable[tuple[float, int, int]]:
        """What two groups have in common, as a share of all they need, and which they are."""
        for i in range(len(made)):
            for j in range(i):
                if sum(bool(self.needs[at]) for at in (*made[i], *made[j])) <= WIDEST:
                    yield (bits[i] & bits[j]).bit_count() / max(1, (bits[i] | bits[j]).bit_count()), i, j

    def _bits(self, group: Iterable[int]) -> int:
        bits = 0
        for at in group:
            bits |= self.needs[at]
        return bits

    def cost(self, group: tuple[int, ...]) -> float:
        """What a kernel for these results costs."""
        if group not in self._costs:
            alive, order = self.flow.best([self.entries[at] for at in group])
            self._costs[group] = KERNEL + len(order) + SPILT * max(0, alive - self.registers)
        return self._costs[group]

    def _in_the_order_made(self) -> list[tuple[int, ...]]:
        """Runs of results that were made one after the other, cut where it costs least."""
        every = sorted(range(len(self.entries)), key=self._when)
        least, begins = [0.0, *[float("inf")] * len(every)], [0] * (len(every) + 1)
        longest = max(FIRST, len(every) // GROUPS)
        for first in range(len(every)):
            bits = 0
            for last in range(first, min(len(every), first + longest)):
                bits |= self.needs[every[last]]
                cost = least[first] + bits.bit_count() + KERNEL
                if cost < least[last + 1]:
                    least[last + 1], begins[last + 1] = cost, first
        made, end = list[tuple[int, ...]](), len(every)
        while end:
            made.append(tuple(sorted(every[begins[end] : end])))
            end = begins[end]
        return made[::-1]

    def _when(self, at: int) -> int:
        """When the numbers were made that a result is the last step from; signs and choices come later."""
        code, e = self.flow.program.code, self.entries[at]
        while type(e) is int and code[e][0] in ("select", "neg"):
            op, args = code[e]
            e = max((a for a in args[op == "select" :] if type(a) is int), default=-1.0)
        return max(self.flow.needs[e], default=e) if type(e) is int else -1
