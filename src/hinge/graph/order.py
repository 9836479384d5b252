"""From a graph to a program: the live nodes in order, sums and products contracted.

The order is the one the algorithm was written in, body after body: neighbours are the components of one vector, which
can be computed at the same time. Only sines and cosines come first: each is a long chain of instructions, and side by
side they do not wait for each other. A sum with a single-use product becomes one fused instruction here and nowhere
else; no back end contracts on its own, which is why machine code gives the same bits for one state and for many, on
vectors of any width.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hinge.errors import TraceError
from hinge.graph.expr import HOOKS, Expr, Scalar
from hinge.graph.ops import OPS
from hinge.graph.streams import Record

ROWS = -1  # in a shape: as many as there are steps, which a call says


@dataclass(frozen=True)
class Input:
    """An input array: its name, how many numbers a state has, whether all states share one row, and its shape.

    The shape is that of one state as a caller gives it, by default a row of `size` numbers. Of a `stream` a state has
    any number of such rows, which are read as `Rows`. Messages call the length of a row by the `label`, such as "nq".
    """

    name: str
    size: int
    uniform: bool = False
    shape: tuple[int, ...] | None = None
    stream: bool = False
    label: str = field(default="", repr=False, compare=False, metadata={"key": "only messages have it"})

    @property
    def given_shape(self) -> tuple[int, ...]:
        """The shape of one state as a call gives it; ROWS stands for the number of rows of a stream."""
        if self.stream:
            return (ROWS, self.size)
        return (self.size,) if self.shape is None else self.shape


@dataclass(frozen=True)
class Output:
    """An output array: its name, its shape for one state, which value (or constant) each entry is.

    Entries of a `whole` one are small whole numbers, a status for instance, and are given out as bytes. Of a `stream`,
    which is a `Record`, a state has any number of such rows: they are written, and there are no entries.
    """

    name: str
    shape: tuple[int, ...]
    entries: tuple[int | float, ...]
    whole: bool = False
    stream: bool = False


@dataclass(frozen=True)
class Program:
    """Straight-line code: instruction k is `(op, args)` and makes value k; an argument is a value's number or a float.

    An `input` instruction has the number of the input array and the index in its row.
    """

    inputs: tuple[Input, ...]
    code: tuple[tuple[str, tuple[Any, ...]], ...]
    outputs: tuple[Output, ...]

    @property
    def operations(self) -> int:
        """How many operations a state takes; a fused one counts as the two it was made of, a loop as all its trips.

        A loop of which nobody knows how often it is taken counts as one trip; what only some states need, by `when`,
        does not count.
        """
        often, known = taken(self, when=0.0), beforehand(self)
        return int(sum(often[n] * ((op in OPS) + (op in FUSED)) for n, (op, _) in enumerate(self.code) if not known[n]))

    @property
    def streams(self) -> dict[int, tuple[str, int]]:
        """The arrays with any number of rows, by their place among inputs and outputs: name, and width of a row."""
        made = {k: (one.name, one.size) for k, one in enumerate(self.inputs) if one.stream}
        outs = enumerate(self.outputs, len(self.inputs))
        return made | {k: (one.name, one.shape[0]) for k, one in outs if one.stream}

    def __str__(self) -> str:
        return str(HOOKS["listing"](self))


FUSED = ("fma", "fms", "fnma")
OPENING = frozenset({"counter", "carry", "memory", "until", "end"})  # nodes that name the loop they belong to
# what is in a program besides operations
STRUCTURE = OPENING | {"loop", "last", "load", "store", "fresh", "kept", "write"}
LEFT = (
    "a value that was made in the body of a loop is used after the loop.\n"
    "  Carry it in the loop's state, or keep it in a Scratch."
)
Form = tuple[str, tuple[Scalar, ...]]  # an operation and its arguments


def live(roots: Iterable[Scalar], forms: Mapping[int, Form] | None = None, leaves: Container[Expr] = ()) -> list[Expr]:
    """The nodes the roots depend on, in the order they were made.

    `forms` has nodes that were given another form; nobody asks what `leaves` depend on.
    """
    forms = forms or {}
    found: dict[int, Expr] = {}
    stack = [r for r in roots if type(r) is Expr]
    while stack:
        node = stack.pop()
        if node.serial in found:
            continue
        found[node.serial] = node
        if node.op != "input" and not (leaves and node in leaves):
            for a in forms[node.serial][1] if node.serial in forms else node.args:
                if type(a) is Expr and a.serial not in found:
                    stack.append(a)
    return [found[serial] for serial in sorted(found)]


def order(inputs: Sequence[Input], outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Scalar]] | Record],
          contract: bool = True, whole: Container[str] = ()) -> Program:  # fmt: skip
    """The program that computes `outputs` from `inputs`; `whole` ones are bytes.

    An output is a (name, shape, entries), or a Record.
    """
    roots = [x for one in outputs for x in ([one.written] if isinstance(one, Record) else one[2])]
    forms = _contracted(live(roots), roots) if contract else {}
    number = {one.name: k for k, one in enumerate(inputs)}
    records = {one.name: k for k, one in enumerate(outputs) if isinstance(one, Record)}
    writing = _Writing(number, records, forms, regions(live(roots, forms), forms))
    writing.region(None)
    if len(writing.regions) > 1:
        outside = {node.serial for node in writing.regions[None]}
        if any(type(r) is Expr and r.serial not in outside for r in roots):
            raise TraceError(LEFT)

    def output(one: Any) -> Output:
        if isinstance(one, Record):
            return Output(one.name, (one.width,), (), stream=True)
        name, shape, entries = one
        return Output(name, shape, tuple(writing.argument(e) for e in entries), name in whole)

    return Program(tuple(inputs), tuple(writing.code), tuple(map(output, outputs)))


class _Writing:
    """Instructions, region by region: a loop stands where it ends, when all it takes in has been computed."""

    def __init__(self, number: Mapping[str, int], records: Mapping[str, int], forms: Mapping[int, Form],
                 regions: Mapping[Any, list[Expr]]):  # fmt: skip
        self.number, self.records, self.forms, self.regions = number, records, forms, regions
        self.code: list[tuple[str, tuple[Any, ...]]] = []
        self.value: dict[int, int] = {}
        self.begun: dict[Any, int] = {}  # where a loop begins

    def put(self, op: str, *args: Any) -> int:
        self.code.append((op, args))
        return len(self.code) - 1

    def argument(self, x: Scalar) -> int | float:
        return self.value[x.serial] if type(x) is Expr else float(x)

    def arguments(self, args: Iterable[Any]) -> tuple[Any, ...]:
        return tuple([self.value[a.serial] if type(a) is Expr else a for a in args])

    def region(self, loop: Any) -> None:
        value, code, forms = self.value, self.code, self.forms
        for node in _turns_first(self.regions[loop], forms):
            op, args = forms.get(node.serial) or (node.op, node.args)
            if op in STRUCTURE:
                self.structure(node, op, args)
                continue
            value[node.serial] = len(code)
            if op == "input":
                code.append((op, (self.number[args[0]], args[1])))
            else:
                code.append((op, tuple([value[a.serial] if type(a) is Expr else a for a in args])))

    def structure(self, node: Expr, op: str, args: tuple[Any, ...]) -> None:
        """What is not an operation: the parts of a loop, and memory; versions of memory are its order in time."""
        value = self.value
        if op == "end":
            loop, trips, _, *rest = args
            self.begun[loop] = self.put("loop", *self.arguments([trips]))
            self.region(loop)
            following = rest[loop.carried : 2 * loop.carried]
            value[node.serial] = self.put("end", self.begun[loop], *self.arguments(following))
        elif op in ("counter", "carry", "until"):
            value[node.serial] = self.put(op, self.begun[args[0]], *self.arguments(args[2 if op == "carry" else 1 :]))
        elif op == "last":
            value[node.serial] = self.put(op, value[args[0].serial], value[args[1].serial])
        elif op == "write":
            memory = args[0]
            if memory.name not in self.records:
                raise TraceError(
                    f"the record {memory.name!r} is written, and is not among the outputs.\n"
                    "  Give it to order with them."
                )
            self.put(op, replace(memory, name=self.records[memory.name]), *self.arguments(args[1:-1]))
        elif op in ("load", "store", "fresh") and args[0].kind != "record":
            memory = args[0]
            if memory.kind in ("input", "rows"):
                memory = replace(memory, name=self.number[memory.name])
            count = {"load": 2, "store": 3, "fresh": 1}[op]
            value[node.serial] = self.put(op, memory, *self.arguments(args[1:count]))


def regions(nodes: Sequence[Expr], forms: Mapping[int, Form], leaves: Container[Expr] = ()) -> dict[Any, list[Expr]]:
    """The nodes of each loop's body, and under None those of no loop, in the order they were made.

    A node is in the innermost loop whose trips it depends on: what does not depend on them is computed before. What is
    known beforehand, the `leaves`, depends on nothing.
    """
    if not any(node.op in STRUCTURE for node in nodes):
        return {None: list(nodes)}
    home: dict[int, Any] = {}
    around: dict[Any, Any] = {}  # a loop → the one it is in
    made: dict[Any, list[Expr]] = {None: []}

    def inner(a: Any, b: Any) -> Any:
        return b if a is None or (b is not None and b.serial > a.serial) else a

    touched = _touched(nodes)
    for node in nodes:
        op, args = forms.get(node.serial) or (node.op, node.args)
        opening = op in OPENING
        leaf = op == "input" or node in leaves or (opening and args[0] not in touched)  # of a loop that is being traced
        parts = () if leaf else args[:1] if op in ("last", "kept") else args
        if opening and not leaf and (op != "memory" or args[1] in touched[args[0]]):
            own = args[0]
            made.setdefault(own, [])
            around.setdefault(own, None)
            for a in parts[1:]:
                if type(a) is Expr and home[a.serial] != own:
                    around[own] = inner(around[own], home[a.serial])
            place = own if op != "end" else around[own]
        else:
            place = None
            for a in parts:
                if type(a) is Expr:
                    place = inner(place, home[a.serial])
            if place is not None:
                for a in parts:
                    if type(a) is Expr and home[a.serial] != place:
                        around[place] = inner(around[place], home[a.serial])
        home[node.serial] = place
    if any(loop.once for loop in around):
        _sink(nodes, forms, home, around)
    for node in nodes:
        made[home[node.serial]].append(node)
    _within(nodes, forms, home)
    return made


def _within(nodes: Sequence[Expr], forms: Mapping[int, Form], home: Mapping[int, Any]) -> None:
    """Refuse what was made after a loop had ended from what was made in it."""
    ended = {node.args[0]: node.serial for node in nodes if node.op == "end"}
    for node in nodes:
        op, args = forms.get(node.serial) or (node.op, node.args)
        for a in args[:1] if op in ("last", "kept") else args if op != "input" else ():
            if type(a) is Expr and node.serial > ended.get(home.get(a.serial), node.serial):
                raise TraceError(LEFT)


def _sink(nodes: Sequence[Expr], forms: Mapping[int, Form], home: dict[int, Any], around: dict[Any, Any]) -> None:
    """Take into a region that may be skipped what nobody else needs."""
    users: dict[int, list[Any]] = {}  # in which regions a node is used
    span = {node.args[0]: node.serial for node in nodes if node.op == "end"}
    for node in reversed(nodes):
        op, args = forms.get(node.serial) or (node.op, node.args)
        found, place = users.get(node.serial, []), home[node.serial]
        path: list[Any] = []
        if found and op not in OPENING - {"end"} and op != "input":
            path = _between(place, found, around)
        for loop in path:
            if not (loop.once and loop.serial < node.serial < span[loop]):
                break
            home[node.serial] = loop
            if op == "end":
                around[args[0]] = loop
        inside = home[node.serial]
        for k, a in enumerate(args if op != "input" else ()):
            if type(a) is Expr:
                own = op == "end" and args[0].once and 3 + args[0].carried <= k < 3 + 2 * args[0].carried
                users.setdefault(a.serial, []).append(args[0] if own else around[args[0]] if op == "until" else inside)


def _between(outer: Any, inside: Sequence[Any], around: Mapping[Any, Any]) -> list[Any]:
    """The regions that lead from one to the innermost that has all of these in it, without the first."""
    chains = []
    for region in inside:
        chain = [region]
        while chain[-1] is not None:
            chain.append(around[chain[-1]])
        chains.append(chain[::-1])
    common = [level[0] for level in zip(*chains, strict=False) if all(x == level[0] for x in level)]
    return common[common.index(outer) + 1 :] if outer in common else []


def _touched(nodes: Sequence[Expr]) -> dict[Any, set[Any]]:
    """For each loop the names of the scratch arrays and records that it writes to."""
    made: dict[Any, set[Any]] = {}
    for node in nodes:
        if node.op == "end":
            loop, *rest = node.args
            written = rest[2 + 2 * loop.carried :]
            made[loop] = {x.args[0].name if x.op in ("store", "fresh", "write") else x.args[1] for x in written}
    return made


def taken(program: Program, unknown: float = 1.0, when: float = 1.0) -> list[float]:
    """How often each instruction is taken at the most: with so many trips of a loop where that is not known before, and
    so many of what only some states need."""
    skipped = {args[0] for op, args in program.code if op == "until" and program.code[args[0]][1][0] == 1.0}
    made, trips = list[float](), [1.0]
    for n, (op, args) in enumerate(program.code):
        if op == "loop":
            often = args[0] if type(args[0]) is float else unknown
            trips.append(trips[-1] * (when if n in skipped else often))
        made.append(trips[-1])
        if op == "end":
            trips.pop()
    return made


def beforehand(program: Program) -> list[bool]:
    """For each instruction whether it is about counters and tables alone: where things are, not what they are."""
    made = list[bool]()
    for op, args in program.code:
        made_of = [a for a in args if type(a) is int] if op != "input" else []
        plain = op in OPS or op in FUSED or (op == "load" and args[0].kind == "table")
        made.append(op == "counter" or (plain and bool(made_of) and all(made[a] for a in made_of)))
    return made


def ends(program: Program) -> dict[int, int]:
    """For each instruction that begins a loop, the one that ends it."""
    return {args[0]: n for n, (op, args) in enumerate(program.code) if op == "end"}


def _turns_first(nodes: Sequence[Expr], forms: Mapping[int, Form]) -> list[Expr]:
    """The same nodes with sines and cosines, and what they need, before all others but the parts of a loop.

    What waits for a loop or for memory stays in its place.
    """
    here = {node.serial for node in nodes}
    waits: set[int] = set()
    for node in nodes if any(node.op in STRUCTURE for node in nodes) else ():
        op, args = forms.get(node.serial) or (node.op, node.args)
        late = op in STRUCTURE and op not in ("counter", "carry") and not (op == "load" and args[0].kind != "scratch")
        if late or (op != "input" and any(type(a) is Expr and a.serial in waits for a in args)):
            waits.add(node.serial)
    early: set[int] = set()
    for node in reversed(nodes):
        if node.serial in waits:
            continue
        if node.serial in early or (node.op in OPS and OPS[node.op].early):
            _, args = forms.get(node.serial) or (node.op, node.args)
            early.update((node.serial, *(a.serial for a in args if type(a) is Expr and a.serial in here)))
    first = [n for n in nodes if n.op in ("counter", "carry")]
    return (
        first
        + [n for n in nodes if n.serial in early and n.op not in ("counter", "carry")]
        + [n for n in nodes if n.serial not in early and n.op not in ("counter", "carry")]
    )


def _contracted(nodes: Sequence[Expr], roots: Iterable[Scalar]) -> dict[int, Form]:
    """For each sum that takes in a product used nowhere else: the fused operation it becomes."""
    uses: dict[int, int] = {}
    for r in roots:
        if type(r) is Expr:
            uses[r.serial] = uses.get(r.serial, 0) + 1
    for node in nodes:
        if node.op != "input":
            for a in node.args:
                if type(a) is Expr:
                    uses[a.serial] = uses.get(a.serial, 0) + 1

    def free_product(a: Scalar) -> bool:
        return type(a) is Expr and a.op == "mul" and uses[a.serial] == 1

    fused: dict[int, Form] = {}
    for node in nodes:
        if node.op == "add":
            a, b = node.args
            if free_product(b):
                fused[node.serial] = ("fma", (*b.args, a))
            elif free_product(a):
                fused[node.serial] = ("fma", (*a.args, b))
        elif node.op == "sub":
            a, b = node.args
            if free_product(b):
                fused[node.serial] = ("fnma", (*b.args, a))
            elif free_product(a):
                fused[node.serial] = ("fms", (*a.args, b))
    return fused
