"""Numbers of a model outside of kernels, with the parameters of a call applied, row by row.

    limits = limits_of(target, rows)    # rows (…, size) of varied numbers, as `inputs.parameters` makes them
    limits.upper                        # (…, nq)

A kernel has its parameters as inputs. Code around kernels reads the limits of a varied robot here and nowhere else; the
nominal ones of such a robot raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.calls import inputs
from hinge.calls.target import Target
from hinge.errors import NotCovered
from hinge.graph import Expr, Graph, Scalar
from hinge.graph.arrays import symbols
from hinge.graph.scalars import evaluated
from hinge.model import states
from hinge.model.model import Limits
from hinge.model.vary import Parameter, starts, varied

OF_LIMITS = ("lower", "upper", "velocity", "effort", "ratio", "offset")  # fields of parameters that limits depend on


def varied_names(target: Target, fields: Sequence[str]) -> list[str]:
    """Return the names of what varies of a robot among these fields."""
    return [one.name for one in target.vary if one.field in fields]


def refuse_varied(target: Target, what: str, fields: Sequence[str], instead: str) -> None:
    """Raise where a number is read that depends on the parameters of a call."""
    names = varied_names(target, fields)
    if names:
        raise NotCovered(
            f"robot {target.name!r} varies {', '.join(map(repr, names))}: the parameters of a call decide its {what}.\n"
            f"  {instead}"
        )


def limits_of(target: Target, rows: Any = None) -> Limits:
    """Return limits (…, nq) and (…, nv) with rows (…, size) of varied numbers applied; without rows the nominal ones.

    The rows may be nodes: then the limits are. Limits that nothing varied changes have no batch axes.
    """
    if rows is None or not varied_names(target, OF_LIMITS):
        return states.limits(target.model)
    some, columns = _columns(target, rows)
    graph = Graph()
    nodes = [graph.input("parameters", k) for k in range(len(columns))]
    entries = states.limit_entries(varied(target.model, some, nodes))
    known = dict(zip(nodes, columns, strict=True))
    return Limits(*(_stacked(evaluated(one, known)) for one in entries))


def limits_with(call: str, target: Target, parameters: Mapping[str, Any] | None) -> Limits:
    """Return the limits with the parameters of a call, by name; those that are not given have their nominal values."""
    if parameters is None and not varied_names(target, OF_LIMITS):  # symbols need no values here
        return states.limits(target.model)
    rows = inputs.parameters(call, target.model, target.vary, parameters)
    return limits_of(target, rows[0] if rows else None)


def _columns(target: Target, rows: Any) -> tuple[list[Parameter], list[Any]]:
    """The parameters that limits depend on, and the columns of the rows that have their numbers."""
    some, columns = [], []
    for one, start in zip(target.vary, starts(target.vary), strict=True):
        if one.field in OF_LIMITS:
            some.append(one)
            columns += [_column(rows[..., start + k]) for k in range(one.size)]
    return some, columns


def _column(x: Any) -> Any:
    """Numbers as they are, a node in an array as itself."""
    return x.item() if isinstance(x, np.ndarray) and x.dtype.kind == "O" else x


def _stacked(entries: Sequence[Scalar | Array]) -> Array:
    """Numbers, or rows of them, side by side along a last axis."""
    if any(type(x) is Expr for x in entries):
        return symbols(entries)
    parts = np.broadcast_arrays(*(np.asarray(x) for x in entries)) if len(entries) else []
    made = np.stack(parts, axis=-1) if len(entries) else np.empty(0)
    made.setflags(write=False)
    return made
