"""Digests of the values that a program is traced from, found by reflection.

A kernel on disk is found by the digest of its source: a tuple of the frozen values its program is traced from, such as
the model, the options of a call and the rows of registries that serve it. Nobody writes such a key by hand. A new field
of any of these values is part of every key from the day it exists; a field is left out only by

    field(metadata={"key": "why programs do not depend on it"})

A value that is not data, such as a function of the user, makes the source opaque. The traced program is the key then.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

Write = Callable[[str], None]
Encoder = Callable[[Any, Write], None]
LEFT_OUT = "key"  # in the metadata of a field: the reason why it is not part of keys
PLAIN = {float, str, type(None)}  # types whose repr says everything
_digests: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()  # of objects that compare by identity


class Opaque(Exception):
    """A value that is not data, so that no digest says what a program traced from it computes."""


def digest_of(value: object) -> str:
    """Return a digest of everything a frozen value is made of.

    Data are numbers, strings, None, enums, arrays, tuples, lists, sets and mappings of data; instances of dataclasses,
    named tuples and classes with slots or `key_fields` that hinge defines, with all their fields and the `key_rows` of
    registries that their names select; and hinge's own functions and classes, with what the functions close over.

    Raises
    ------
    Opaque
        For everything else: symbols, functions of the user, instances of classes that hinge does not define.
    """
    parts: list[str] = []
    try:
        _write(value, parts.append)
    except RecursionError:
        raise Opaque("a value that contains itself") from None
    return _joined(parts)


def _joined(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def key_fields(cls: type) -> list[str]:
    """Return the names of the fields of a class that are part of its digest."""
    if "key_fields" in cls.__dict__:
        return list(cls.__dict__["key_fields"])
    if is_dataclass(cls):
        return [one.name for one in fields(cls) if LEFT_OUT not in one.metadata]
    slots = [name for one in cls.__mro__ for name in one.__dict__.get("__slots__", ())]
    if not slots:
        raise Opaque(f"an instance of {cls.__qualname__}")
    return sorted(slots)


def values_of(value: Any) -> Any:
    """Return a value as plain tuples of the numbers and strings in it, without names of types and fields.

    The digest of that outlives a change of names in hinge, as a store of results needs it.
    """
    if isinstance(value, Mapping):
        return tuple((key, values_of(value[key])) for key in sorted(value))
    if isinstance(value, tuple | list):
        return tuple(map(values_of, value))
    if is_dataclass(value) or hasattr(value, "__slots__"):
        return tuple(values_of(getattr(value, name)) for name in key_fields(type(value)))
    return value


def _write(value: Any, write: Write) -> None:
    kind = type(value)
    encoder = _ENCODERS.get(kind)
    if encoder is None:
        encoder = _ENCODERS[kind] = _encoder(kind)
    encoder(value, write)


def _encoder(kind: type) -> Encoder:
    """Return how values of a type are written."""
    if issubclass(kind, Enum):
        return lambda value, write: write(f"{_name(kind)}.{value.name}")
    if issubclass(kind, type):
        return lambda value, write: write(f"class {_name(value)}")
    if issubclass(kind, np.ndarray):
        return _array
    if issubclass(kind, np.generic):
        return lambda value, write: _write(value.item(), write)
    if issubclass(kind, tuple):
        return _sequence(kind)
    names = key_fields(kind)
    head, rows = f"{_name(kind)} {' '.join(names)}", hasattr(kind, "key_rows")

    def instance(value: Any, write: Write) -> None:
        write(head)
        for name in names:
            _write(getattr(value, name), write)
        if rows:
            _write(value.key_rows(), write)

    by_identity = is_dataclass(kind) and kind.__eq__ is object.__eq__
    return _remembered(instance) if by_identity else instance


def _remembered(encoder: Encoder) -> Encoder:
    """Return an encoder that writes the digest of an object, found once."""

    def write_digest(value: Any, write: Write) -> None:
        found = _digests.get(value)
        if found is None:
            parts: list[str] = []
            encoder(value, parts.append)
            found = _digests[value] = _joined(parts)
        write(found)

    return write_digest


def _name(kind: type) -> str:
    """Return the name of a class of hinge, or of Python's own."""
    ours = kind.__module__ == "builtins" or kind.__module__.startswith("hinge.")
    if not ours or "<locals>" in kind.__qualname__:
        raise Opaque(f"a {kind.__qualname__} of {kind.__module__}")
    return f"{kind.__module__}.{kind.__qualname__}"


def _sequence(kind: type) -> Encoder:
    name = kind.__name__ if kind in (tuple, list) else _name(kind)

    def sequence(value: Any, write: Write) -> None:
        if PLAIN.issuperset(map(type, value)):
            write(f"{name} {len(value)} {tuple(value)!r}")
            return
        write(f"{name} {len(value)}")
        for one in value:
            _write(one, write)

    return sequence


def _set(value: Any, write: Write) -> None:
    write(f"set {len(value)}")
    for digest in sorted(map(digest_of, value)):
        write(digest)


def _mapping(value: Mapping[Any, Any], write: Write) -> None:
    write(f"mapping {len(value)}")
    keys = sorted(value) if all(type(k) is str for k in value) else sorted(value, key=digest_of)
    for key in keys:
        _write(key, write)
        _write(value[key], write)


def _array(value: np.ndarray[Any, Any], write: Write) -> None:
    if value.dtype.hasobject:
        raise Opaque("an array of objects")
    content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    write(f"array {value.dtype.str} {value.shape} {content}")


def _function(value: FunctionType, write: Write) -> None:
    """Write a function of hinge and what it closes over. The digest of hinge's sources is part of every key."""
    if not str(value.__module__).startswith("hinge."):
        raise Opaque(f"function {value.__qualname__} of {value.__module__}")
    code = value.__code__
    place = list(islice(code.co_positions(), 4))  # lines and columns: there may be several lambdas in a line
    write(f"function {value.__module__}.{value.__qualname__} {place} {code.co_names} {code.co_code.hex()}")
    cells = value.__closure__ or ()
    _write((value.__defaults__, value.__kwdefaults__, tuple(cell.cell_contents for cell in cells)), write)


_ENCODERS: dict[type, Encoder] = {
    type(None): lambda value, write: write("None"),
    bool: lambda value, write: write(f"bool {value}"),
    int: lambda value, write: write(repr(float(value)) if abs(value) < 1 << 53 else f"int {value}"),  # 1 == 1.0
    float: lambda value, write: write(repr(value)),
    str: lambda value, write: write(f"str {len(value)} {value}"),
    bytes: lambda value, write: write(f"bytes {value.hex()}"),
    tuple: _sequence(tuple),
    list: _sequence(list),
    set: _set,
    frozenset: _set,
    dict: _mapping,
    MappingProxyType: _mapping,
    FunctionType: _function,
    BuiltinFunctionType: lambda value, write: write(f"function {value.__module__}.{value.__qualname__}"),
    MethodType: lambda value, write: _write((value.__func__, value.__self__), write),
    partial: lambda value, write: _write((value.func, value.args, value.keywords), write),
    range: lambda value, write: write(repr(value)),
}
