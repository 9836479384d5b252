"""What a function changes while it is tried out, put back: variables of its module, closures, objects, arrays, dice.

    with undone(control) as trial:
        control(t, q, qd)
        print(trial.changed())

Tracing calls functions of a user's on symbols, and more than once. All that such a function can reach by the names in
its code is written down before, and is the same when the block ends: `count += 1` has not counted. Things that have no
contents to write down, iterators for instance, are copied, and the function sees the copies. Packages that are
installed have no part in this; neither have hinge's own objects, which do not change.
"""

from __future__ import annotations

import copy
import functools
import pickle
import random
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
EMPTY = object()  # what a name, a slot or a cell has that has nothing


@dataclass(eq=False)
class Named:
    """The values that certain names have in a module, a class or an object."""

    names: Iterable[str]
    read: Callable[[str, Any], Any]
    write: Callable[[str, Any], None]
    remove: Callable[[str], None]

    def get(self) -> dict[str, Any]:
        return {name: self.read(name, EMPTY) for name in self.names}

    def put(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            now = self.read(name, EMPTY)
            if value is EMPTY and now is not EMPTY:
                self.remove(name)
            elif value is not now and value is not EMPTY:
                self.write(name, value)


class Kind(NamedTuple):
    """What has contents: how they are read, and put back."""

    types: tuple[type, ...]
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any]


def _refill(x: Any, contents: Any) -> None:
    x.clear()
    (x.extend if hasattr(x, "extend") else x.update)(contents)


def _cell(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return [EMPTY]


def _fill(cell: CellType, contents: list[Any]) -> None:
    if contents[0] is not EMPTY:
        cell.cell_contents = contents[0]
    elif _cell(cell)[0] is not EMPTY:
        del cell.cell_contents


def _dice(kind: type, read: Callable[[Any], Any], write: Callable[[Any, Any], Any]) -> Kind:
    return Kind((kind,), lambda x: pickle.dumps(read(x)), lambda x, state: write(x, pickle.loads(state)))


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """All that has contents. It is asked for when something is tried out: NumPy's dice take time to import."""
    return (
        Kind((Named,), Named.get, Named.put),
        Kind((CellType,), _cell, _fill),
        Kind((dict,), dict, _refill),
        Kind((list, bytearray), list, _refill),
        Kind((deque,), list, _refill),
        Kind((set,), set, _refill),
        Kind((np.ndarray,), np.array, lambda x, contents: x.__setitem__(..., contents)),
        _dice(random.Random, random.Random.getstate, random.Random.setstate),
        _dice(np.random.RandomState, lambda x: x.get_state(legacy=False), np.random.RandomState.set_state),
        _dice(np.random.Generator, lambda x: x.bit_generator.state, lambda x, s: setattr(x.bit_generator, "state", s)),
        _dice(np.random.BitGenerator, lambda x: x.state, lambda x, s: setattr(x, "state", s)),
    )


@functools.cache
def installed(module: str) -> bool:
    """Whether a module comes with Python, with a package that was installed, or with hinge."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names or root == "hinge":
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    folders = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(file.startswith(folder) for folder in folders)


@functools.cache
def names_in(code: CodeType) -> tuple[str, ...]:
    """The names of variables and attributes in a function's code, and in functions within it."""
    inner = (name for c in code.co_consts if isinstance(c, CodeType) for name in names_in(c))
    return tuple(dict.fromkeys((*code.co_names, *inner)))


@dataclass
class Saved:
    """Something with contents: those it had, and those it has while the function is tried out."""

    thing: Any
    kind: Kind
    contents: Any
    during: Any = None


@dataclass
class undone:
    """A block that leaves behind no change to what a function can reach."""

    function: Any
    saved: dict[int, Saved] = field(default_factory=dict)
    seen: dict[Any, Any] = field(default_factory=dict)

    def __enter__(self) -> undone:
        self.home = str(getattr(self.function, "__module__", ""))
        self._look(self.function)
        self.own = list(self.saved.values())
        for root in (random._inst, np.random.mtrand._rand):
            self._look(root)
        twins: dict[int, Any] = {}
        for one in self.saved.values():
            one.during = _with_twins(one.contents, twins)
            if one.during is not one.contents:
                one.kind.write(one.thing, one.during)
        return self

    def __exit__(self, *problem: Any) -> None:
        for one in self.saved.values():
            if not _same(one.kind.read(one.thing), one.contents):
                one.kind.write(one.thing, one.contents)

    def changed(self) -> bool:
        """Whether anything is other than it was at the beginning."""
        return any(not _same(one.kind.read(one.thing), one.during) for one in self.saved.values())

    def still(self) -> bool:
        """Whether all that the function can reach is, later on, what it was at the beginning."""
        return all(_same(one.kind.read(one.thing), one.contents) for one in self.own)

    def _look(self, root: Any) -> None:
        stack = [root]
        while stack:
            x = stack.pop()
            if isinstance(x, PLAIN) or id(x) in self.seen:
                continue
            self.seen[id(x)] = x
            stack.extend(self._within(x))

    def _within(self, x: Any) -> Iterator[Any]:
        """Write down the contents of a thing, and give what it is made of."""
        kind = next((k for k in kinds() if isinstance(x, k.types)), None)
        if kind is not None and not (isinstance(x, np.ndarray) and not x.flags.writeable):
            contents = kind.read(x)
            self.saved[id(x)] = Saved(x, kind, contents)
            yield from _parts(contents)
        if isinstance(x, FunctionType):
            yield from (*(x.__closure__ or ()), x.__defaults__, x.__kwdefaults__, vars(x))
            yield from self._variables(x.__globals__, names_in(x.__code__))
        elif isinstance(x, MethodType):
            yield from (x.__self__, x.__func__)
        elif isinstance(x, functools.partial):
            yield from (x.func, x.args, x.keywords, vars(x))
        elif isinstance(x, staticmethod | classmethod):
            yield x.__func__
        elif isinstance(x, property):
            yield from (x.fget, x.fset)
        elif isinstance(x, type):
            yield from self._class(x)
        elif isinstance(x, tuple | frozenset):
            yield from x
        elif not isinstance(x, ModuleType):
            yield from self._object(x)

    def _mine(self, module: str) -> bool:
        return not installed(module) or (module == self.home and module.partition(".")[0] != "hinge")

    def _variables(self, namespace: dict[str, Any], names: tuple[str, ...]) -> Iterator[Any]:
        """The variables of a module that a function's code names, and those of modules among them."""
        if not self._mine(str(namespace.get("__name__", ""))):
            return
        yield Named(names, namespace.get, namespace.__setitem__, namespace.__delitem__)
        for name in names:
            value = namespace.get(name)
            if isinstance(value, ModuleType) and (id(value), names) not in self.seen:
                self.seen[id(value), names] = value
                yield from self._variables(vars(value), names)

    def _class(self, x: type) -> Iterator[Any]:
        if self._mine(x.__module__):
            names = [name for name in vars(x) if not name.startswith("__") or name in ("__call__", "__init__")]
            write, remove = functools.partial(type.__setattr__, x), functools.partial(type.__delattr__, x)
            yield Named(names, lambda name, other: vars(x).get(name, other), write, remove)

    def _object(self, x: Any) -> Iterator[Any]:
        if type(x).__module__.partition(".")[0] == "hinge":
            if hasattr(type(x), "__dataclass_params__"):  # a record, which may hold what is a user's
                yield from vars(x).values() if hasattr(x, "__dict__") else ()
            return
        yield from type(x).__mro__
        if hasattr(x, "__dict__"):
            yield vars(x)
        slots = [s for c in type(x).__mro__ for s in _slots(c)]
        if slots:
            write, remove = functools.partial(object.__setattr__, x), functools.partial(object.__delattr__, x)
            yield Named(slots, functools.partial(getattr, x), write, remove)


def _slots(c: type) -> tuple[str, ...]:
    """The slots of a class by the names that its objects know them by."""
    given = vars(c).get("__slots__", ())
    named = (given,) if isinstance(given, str) else tuple(given)
    return tuple(f"_{c.__name__.lstrip('_')}{s}" if s.startswith("__") and not s.endswith("__") else s
                 for s in named if s not in ("__dict__", "__weakref__"))  # fmt: skip


def _parts(contents: Any) -> Iterable[Any]:
    if isinstance(contents, dict):
        return contents.values()
    if isinstance(contents, np.ndarray):
        return contents.flat if contents.dtype == object else ()
    return () if isinstance(contents, bytes) else contents


def _with_twins(contents: Any, twins: dict[int, Any]) -> Any:
    """Contents with copies of what has no contents of its own to put back; the same contents where there is none."""
    if not isinstance(contents, dict | list):
        return contents
    keys = list(contents) if isinstance(contents, dict) else range(len(contents))
    bare = [k for k in keys if _is_bare(contents[k])]
    swapped = copy.copy(contents) if bare else contents
    for k in bare:
        swapped[k] = twins.setdefault(id(contents[k]), _twin(contents[k]))
    return swapped


def _is_bare(x: Any) -> bool:
    """Whether a thing has no contents that could be written down, and may yet change."""
    return hasattr(type(x), "__next__") and not hasattr(x, "__dict__")


def _twin(x: Any) -> Any:
    try:
        return copy.deepcopy(x)
    except Exception:  # whatever a class of somebody else's raises where it cannot be copied
        return x


def _same(a: Any, b: Any) -> bool:
    """Whether two contents are the same things, or equal numbers."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        alike = a.shape == b.shape and a.dtype == b.dtype
        return alike and (all(map(_alike, a.flat, b.flat)) if a.dtype == object else a.tobytes() == b.tobytes())
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(_alike, a.values(), b.values()))
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    return bool(a == b)


def _alike(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, (*PLAIN, np.ndarray)):
        return False
    return _same(a, b) or ((a != a) is True and (b != b) is True)
