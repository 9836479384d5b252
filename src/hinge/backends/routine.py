"""A program as a C function: its name, its arrays, and how rows of records are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.graph import Program


@dataclass(frozen=True)
class Array:
    """An array of a function: what it is called, how many numbers it has, and what they are."""

    name: str
    size: int
    words: str


def row_of(name: str, place: str, values: Sequence[str]) -> list[str]:
    """A row of a record, which begins at a place of its array, written."""
    return [f"{name}[{place} + {j}] = {x};" for j, x in enumerate(values)]


@dataclass(frozen=True)
class Routine:
    """A program as a C function: its name, its arrays, what it computes, a state to try it on, how rows are written."""

    name: str
    program: Program
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    words: str
    state: tuple[np.ndarray[Any, Any], ...] = ()
    expected: tuple[np.ndarray[Any, Any], ...] = ()
    row: Callable[[str, str, Sequence[str]], list[str]] = row_of
    table: str = "static const"  # how constants are kept
    loop: str = ""  # what is said of a loop
    common: str = ""  # what begins a trip that all states take
