"""Which line of an algorithm asks for an operation, and for which body.

An algorithm reads like its text, an equation a line, so operations counted by line are operations counted by equation:
the breakdowns of turney1981, Tables 8.2, 8.3, 8.4 and 8.5. An operation that several lines need belongs to the first.
"""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

from hinge.dynamics.registry import ALGORITHMS
from hinge.graph import OPS, Graph
from hinge.graph.collector import uncollected
from hinge.graph.expr import Expr, Scalar
from hinge.graph.order import live
from hinge.robot import Robot


class Line(NamedTuple):
    """A line of an algorithm with those it calls, the innermost first, and the body it was run for."""

    text: str
    body: int


class Watched(Graph):
    """A graph that knows who asked for each node."""

    __slots__ = ("_code", "asked")

    def __init__(self, function: Any) -> None:
        super().__init__()
        self._code = inspect.unwrap(function).__code__  # the algorithm's own, and not that of what the registry adds
        self.asked: dict[int, Line] = {}

    def node(self, op: str, *args: Scalar) -> Expr:
        made = super().node(op, *args)
        if made.serial not in self.asked:
            self.asked[made.serial] = self._line(sys._getframe(1))
        return made

    def _line(self, frame: FrameType | None) -> Line:
        texts, inner = list[str](), frame
        while frame is not None:
            texts.append(_text(frame.f_code.co_filename, frame.f_lineno))
            if frame.f_code is self._code:
                at = frame.f_locals
                if inner is not None and _is_generator(inner):  # already at the next body
                    at = at | inner.f_locals
                return Line("\n".join(texts), at.get("i", at.get("r", 0)))
            inner, frame = frame, frame.f_back
        return Line("", 0)


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR) and frame.f_code.co_name != "<genexpr>"


@cache
def _text(file: str, number: int) -> str:
    return linecache.getline(file, number).strip()


class Operation(NamedTuple):
    """An operation of a traced algorithm: what it counts as, those whose results it needs, and who asked for it."""

    kind: str
    needs: tuple[int, ...]
    line: Line


@dataclass(frozen=True)
class Group:
    """A term of a breakdown: an operation belongs to it whose lines have one of these texts in them."""

    term: str
    lines: Sequence[str]

    def has(self, line: Line) -> bool:
        return any(all(part in line.text for part in text.split(" < ")) for text in self.lines)


@uncollected()
def operations(robot: Robot, name: str, method: str) -> list[Operation]:
    """What a method does on a robot, in order; signs are part of what they are signs of."""
    algorithm, model = ALGORITHMS[name][method], robot.target.traced
    graph = Watched(algorithm.function)
    seen = {}
    for key, q in algorithm.inputs.items():
        given = [graph.input(key, k) for k in range(q.size(model))]
        seen[key] = q.take(model, given) if q.absent is None else q.absent(model)
    made = algorithm.function(model, **seen)
    roots = algorithm.result.give(model, made[0] if algorithm.pivots else made)
    graph.let_go()
    return listed(roots, graph.asked)


def listed(roots: Sequence[Scalar], asked: Mapping[int, Line] | None = None) -> list[Operation]:
    """What has to be done for some results, in order."""
    found, number = list[Operation](), dict[int, int | None]()  # of a node, the operation that makes it
    for node in live(roots):
        if node.op == "input" or OPS[node.op].counts_as == "neg":
            number[node.serial] = None if node.op == "input" else number[node.args[0].serial]
            continue
        needs = [number[a.serial] for a in node.args if type(a) is Expr]
        number[node.serial] = len(found)
        line = asked[node.serial] if asked else Line("", 0)
        found.append(Operation(OPS[node.op].counts_as, tuple(k for k in needs if k is not None), line))
    return found


def terms(done: Sequence[Operation], groups: Sequence[Group]) -> list[str]:
    """The term each operation belongs to; what no group has is called "other"."""
    found: dict[str, str] = {}
    for one in done:
        if one.line.text not in found:
            found[one.line.text] = next((g.term for g in groups if g.has(one.line)), "other")
    return [found[one.line.text] for one in done]


def by_term(done: Sequence[Operation], groups: Sequence[Group]) -> dict[tuple[str, int], dict[str, int]]:
    """(term, body) → how many operations of each kind."""
    made: dict[tuple[str, int], dict[str, int]] = {}
    for one, term in zip(done, terms(done, groups), strict=True):
        kinds = made.setdefault((term, one.line.body), {"mul": 0, "add": 0})
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return made
