"""Registers: how many values a program has alive at a time, and an order of instructions that keeps them few.

A program is in the order its algorithm was written in, pass after pass over all bodies. A thread has registers for some
two hundred numbers; of the rest each is written to memory and read again. Limbs that do not meet can go one after the
other, and results one after the other, each with what only it needs just before it. What is alive is counted in each of
these orders. Results are the same to the bit: no operation changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hinge.graph import Output, Program
from hinge.graph.order import STRUCTURE

CHOOSING = frozenset({"select", "less", "min", "max", "neg"})  # what is done last: it makes no new number


@dataclass(frozen=True)
class Flow:
    """Which instructions of a program need which, without inputs: these are read where they are needed."""

    program: Program

    @cached_property
    def needs(self) -> list[list[int]]:
        code = self.program.code
        return [[a for a in args if type(a) is int and code[a][0] != "input"] if op != "input" else []
                for op, args in code]  # fmt: skip

    @cached_property
    def is_straight(self) -> bool:
        """Whether there is no loop and no memory in it."""
        return not any(op in STRUCTURE for op, _ in self.program.code)

    def reached(self, ends: Iterable[int], without: Sequence[bool] | None = None) -> set[int]:
        """The instructions that these need, and they themselves, without those that are there already."""
        found, stack = set[int](), list(ends)
        while stack:
            n = stack.pop()
            if n not in found and not (without and without[n]):
                found.add(n)
                stack += self.needs[n]
        return found

    def orders(self, entries: Iterable[int | float]) -> Iterable[list[int]]:
        """Orders of the instructions that these results need: as it is; limb by limb, both ways; result by result."""
        code = self.program.code
        results = {e for e in entries if type(e) is int and code[e][0] != "input"}
        last, sources, stack = set[int](), set[int](), list(results)
        while stack:
            n = stack.pop()
            if code[n][0] not in CHOOSING:
                sources.add(n)
            elif n not in last:
                last.add(n)
                stack += self.needs[n]
        limbs = self._limbs(sorted(sources))
        yield sorted(self.reached(results))
        both_ways = [limbs, limbs[::-1]] if len(limbs) > 1 else []
        for groups in [*both_ways, [[n] for n in sorted(sources)]]:
            yield self._one_after_another(groups, sorted(last))

    def _limbs(self, sources: Sequence[int]) -> list[list[int]]:
        """These values, those together that have anything in common."""
        home = dict[int, int]()  # instruction → a limb
        into = list[int]()  # limb → the one that it was found to be part of, or itself

        def limb(k: int) -> int:
            while into[k] != k:
                k = into[k]
            return k

        for n in sources:
            into.append(len(into))
            stack = [n]
            while stack:
                m = stack.pop()
                if m in home:
                    into[limb(home[m])] = limb(len(into) - 1)
                else:
                    home[m] = len(into) - 1
                    stack += self.needs[m]
        made = dict[int, list[int]]()
        for n in sources:
            made.setdefault(limb(home[n]), []).append(n)
        return list(made.values())

    def _one_after_another(self, groups: Iterable[Iterable[int]], last: Sequence[int]) -> list[int]:
        """What each group needs and was not there, in the order it has; what is done last, as soon as it can be."""
        order, there, waiting = list[int](), [False] * len(self.needs), list(last)
        for group in groups:
            for n in sorted(self.reached(group, there)):
                order.append(n)
                there[n] = True
            for n in waiting:
                if not there[n] and all(there[a] for a in self.needs[n]):
                    order.append(n)
                    there[n] = True
            waiting = [n for n in waiting if not there[n]]
        return order

    def alive(self, order: Sequence[int], held: Iterable[int | float] = ()) -> int:
        """The most values that are alive at a time in an order: what is needed later, and what is held to the end."""
        until = {e: len(order) for e in held if type(e) is int}
        for at, n in enumerate(order):
            for a in self.needs[n]:
                until[a] = max(at, until.get(a, 0))
        gone = [0] * (len(order) + 1)
        now = most = 0
        for at, n in enumerate(order):
            if n in until:
                now += 1
                gone[until[n]] += 1
            now -= gone[at]
            most = max(most, now)
        return most

    def best(self, entries: Sequence[int | float], hold: bool = False) -> tuple[int, list[int]]:
        """The order with fewest values alive, and how many they are; all results are held, or none."""
        held = entries if hold else ()
        return min(((self.alive(order, held), order) for order in self.orders(entries)), key=lambda one: one[0])


def reordered(program: Program, order: Sequence[int], outputs: Sequence[Output]) -> Program:
    """The program of these instructions, in this order, for these results of it; inputs come first."""
    code = program.code
    used = [*(a for n in order for a in code[n][1]), *(e for one in outputs for e in one.entries)]
    order = sorted({a for a in used if type(a) is int and code[a][0] == "input"}) + list(order)
    number = {n: k for k, n in enumerate(order)}

    def named(a: int | float) -> int | float:
        return number[a] if type(a) is int else a

    made = tuple((op, args if op == "input" else tuple(map(named, args))) for op, args in (code[n] for n in order))
    given = tuple(replace(one, entries=tuple(map(named, one.entries))) for one in outputs)
    return replace(program, code=made, outputs=given)
