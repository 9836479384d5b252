"""What trials of an algorithm on a rolled model teach: which scalars differ, which are carried, where each is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hinge.graph import Expr, Scalar

Time = tuple[float, float]  # a loop or single body, and an access in it
Life = tuple[Time, Time]  # of a scalar in memory: when it is first and last used


class Slot(NamedTuple):
    """One scalar of the things in a column."""

    column: int
    scalar: int


class Carry(NamedTuple):
    """A scalar that a loop carries, from body to body of its chain or in the entry of one body outside of it."""

    clock: int
    slot: Slot
    body: int  # -1: from body to body


def same(a: Any, b: Any) -> bool:
    """Whether two scalars are one: the same node or table, or the same number."""
    return a is b or (isinstance(a, float) and isinstance(b, float) and a == b)


class Learned:
    """What trials have taught of an algorithm on a model: which scalars differ, which are carried, where each is."""

    def __init__(self) -> None:
        self._differ: set[tuple[Slot, int]] = set()
        self._wanted: set[Slot] = set()  # what is read after a loop that has carried it
        self.carries: set[Carry] = set()
        self.places: dict[Slot, int] = {}
        self.width = 0
        self.begin()

    def begin(self) -> None:
        """A trial begins."""
        self.new = False
        self.lives: dict[Slot, dict[int, Life]] = {}

    def differ(self, slot: Slot, run: int) -> None:
        self.new |= (slot, run) not in self._differ
        self._differ.add((slot, run))

    def differs(self, slot: Slot, run: int) -> bool:
        return (slot, run) in self._differ

    def want(self, slot: Slot) -> None:
        self.new |= slot not in self._wanted
        self._wanted.add(slot)

    def wanted(self, slot: Slot) -> bool:
        return slot in self._wanted

    def carry(self, one: Carry) -> None:
        """What is carried need not be kept: what seemed to differ is found out anew."""
        if one not in self.carries:
            self.carries.add(one)
            self._differ.clear()
            self.new = True

    def carries_of(self, clock: int) -> list[Carry]:
        return sorted(one for one in self.carries if one.clock == clock)

    def use(self, slot: Slot, run: int, start: Time, end: Time) -> None:
        lives = self.lives.setdefault(slot, {})
        a, b = lives.get(run, (start, end))
        lives[run] = min(a, start), max(b, end)

    def look(self, roll: Any) -> None:
        """What a run that has ended says: runs that were read from at once have to agree, or be in memory."""
        for slot, runs in roll.linked:
            held = [roll.held.get((slot, r)) for r in runs]
            if not all(isinstance(x, float) and same(x, held[0]) for x in held):
                for r in runs:
                    self.differ(slot, r)

    def settle(self, roll: Any, roots: Sequence[Scalar]) -> None:
        """A place in memory for every scalar that the results depend on; it is used again when it is dead."""
        needed: set[Slot] = set()
        carries: set[Carry] = set()
        seen: set[int] = set()
        stack = [x for x in roots if type(x) is Expr]
        while stack:
            node = stack.pop()
            if type(node) is not Expr or node.serial in seen:
                continue
            seen.add(node.serial)
            if node in roll.read:
                slot = roll.read[node]
                stack += () if slot in needed else roll.written.get(slot, ())
                needed.add(slot)
            elif node.op == "carry":
                carries.add(roll.carry_of[node])
                stack += [node.args[2], roll.following[node]]
            else:
                stack += node.args[1:] if node.op == "last" else node.args
        self.carries = carries
        sharing: list[list[dict[int, Life]]] = []  # the lives of those that have a place
        for slot in sorted(needed):
            lives = self.lives[slot]
            free = (k for k, others in enumerate(sharing) if not any(_meet(lives, one) for one in others))
            place = self.places[slot] = next(free, len(sharing))
            if place == len(sharing):
                sharing.append([])
            sharing[place].append(lives)
        self.width = len(sharing)


def _meet(a: dict[int, Life], b: dict[int, Life]) -> bool:
    """Whether two scalars are in memory at the same time, in some run."""
    return any(r in b and not (life[1] < b[r][0] or b[r][1] < life[0]) for r, life in a.items())
