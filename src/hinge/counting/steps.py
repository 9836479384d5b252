"""Steps on machines that do several things at once.

`depth` is how long a computation takes when nothing waits but for what it needs. turney1981, Table 8.6 has less: one
serial processor a group of terms, and all of a stage wait for the slowest. `processors` has such processors, each
starting an operation as soon as its numbers are there and the one before it is done. `at_once` has a machine that does
one operation on several pairs of numbers in a step: featherstone1987 8.3.5.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple

from hinge.counting.watch import Group, Operation, by_term, terms


class Steps(NamedTuple):
    """Steps that multiply, and steps that add."""

    mul: int
    add: int

    def __str__(self) -> str:
        return f"{self.mul} / {self.add}"


def depth(done: Sequence[Operation]) -> int:
    """The longest chain of operations each of which waits for the one before."""
    ready: list[int] = []
    for one in done:
        ready.append(max((ready[k] for k in one.needs), default=0) + 1)
    return max(ready, default=0)


def processors(done: Sequence[Operation], groups: Sequence[Group]) -> int:
    """Steps with a serial processor for each term of each body, which does its operations in order."""
    free, ready = dict[tuple[str, int], int](), list[int]()
    for one, term in zip(done, terms(done, groups), strict=True):
        who = term, one.line.body
        start = max([free.get(who, 0), *(ready[k] for k in one.needs)])
        ready.append(start + 1)
        free[who] = start + 1
    return max(ready, default=0)


def stages(
    done: Sequence[Operation], groups: Sequence[Group], out: Sequence[tuple[str, int]], back: Sequence[str], n: int
) -> Steps:
    """Steps as the text counts them: stage by stage, and in each the processor with most to do.

    `out` has the terms of the way out, and how many links ahead of the stage each is; what the pipeline needs before
    its first stage is done one after the other. `back` has those of the way back.
    """
    counts, none = by_term(done, groups), {"mul": 0, "add": 0}

    def most(kind: str) -> int:
        first = [counts.get((t, k), none)[kind] for t, ahead in out for k in range(1, 1 + ahead)]
        going = [max(counts.get((t, i + ahead), none)[kind] for t, ahead in out) for i in range(1, n + 1)]
        coming = [max(counts.get((t, i), none)[kind] for t in back) for i in range(1, n + 1)]
        return sum(first) + sum(going) + sum(coming)

    return Steps(most("mul"), most("add"))


def at_once(done: Sequence[Operation], width: int) -> Steps:
    """Steps of a machine that does one operation on up to `width` pairs of numbers at once.

    Of what can be done, that on which most depends is done first. Sines and cosines are there already; divisions count
    as multiplications.
    """
    urgent = [1] * len(done)
    for k in reversed(range(len(done))):
        for need in done[k].needs:
            urgent[need] = max(urgent[need], urgent[k] + 1)
    waits = [{need for need in one.needs if done[need].kind != "trig"} for one in done]
    users: list[list[int]] = [[] for _ in done]
    ready: dict[str, list[tuple[int, int]]] = {"mul": [], "add": []}  # the most urgent first
    total = {"mul": 0, "add": 0}

    def offer(k: int) -> None:
        if not waits[k] and done[k].kind != "trig":
            insort(ready["add" if done[k].kind == "add" else "mul"], (-urgent[k], k))

    for k, needs in enumerate(waits):
        for need in needs:
            users[need].append(k)
        offer(k)
    while any(ready.values()):
        kind = max(ready, key=lambda kind: -sum(late for late, _ in ready[kind][:width]))
        now, ready[kind] = ready[kind][:width], ready[kind][width:]
        for k in (k for _, k in now):
            for user in users[k]:
                waits[user].discard(k)
                offer(user)
        total[kind] += 1
    return Steps(total["mul"], total["add"])
