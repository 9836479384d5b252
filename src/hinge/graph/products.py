"""Products of large matrices with traced vectors, as loops: a layer of a network is a few instructions, not thousands.

The matrix is an array of numbers, which become a table, or an input of the program, which is read by an index. Sums go
from the first column to the last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hinge.graph.expr import Expr, Scalar
from hinge.graph.loops import Scratch, Table, entry, traced

LARGE = 256  # entries of a matrix from which on a product is a loop
Entry = Callable[[Scalar, Scalar], Scalar]  # of a row and a column


def product(a: Any, b: Any) -> Any:
    """a @ b of a large matrix and a vector of nodes, in either order, as an array of nodes; None of all others."""
    shapes = np.ndim(a), np.ndim(b)
    if shapes not in ((2, 1), (1, 2)):
        return None
    matrix, vector = (np.asarray(a), b) if shapes == (2, 1) else (np.asarray(b).T, a)
    node = next((x for x in vector if type(x) is Expr), None)
    if node is None or matrix.size < LARGE or matrix.shape[1] != len(vector):
        return None
    read = _reader(matrix, node)
    if read is None:
        return None
    rows, columns = matrix.shape
    given, made = Scratch(columns, like=node), Scratch(rows, like=node)
    for j, x in enumerate(vector):
        given[j] = x

    def row(i: Scalar) -> tuple[Scalar, ...]:
        step = lambda j, s: (s + read(i, j) * given[j],)
        (made[i],) = traced(node.graph, columns, 0, (0.0,), step, None)
        return ()

    traced(node.graph, rows, 0, (), row, None)
    whole = np.empty(rows, object)
    whole[:] = [made[i] for i in range(rows)]
    return whole


def _reader(matrix: Any, node: Expr) -> Entry | None:
    """How the entries of a matrix are read, where they are numbers or lie evenly in one input."""
    rows, columns = matrix.shape
    if matrix.dtype != object:
        table = Table(matrix.astype(float).reshape(-1).tolist())
        return lambda i, j: table[i * float(columns) + j]
    flat = matrix.reshape(-1).tolist()
    if not all(type(x) is Expr and x.op == "input" and x.graph is node.graph for x in flat):
        return None
    names, places = {x.args[0] for x in flat}, np.array([x.args[1] for x in flat]).reshape(rows, columns)
    base, down, along = places[0, 0], places[min(1, rows - 1), 0] - places[0, 0], places[0, 1] - places[0, 0]
    if len(names) > 1 or not np.array_equal(
        places, base + np.add.outer(down * np.arange(rows), along * np.arange(columns))
    ):
        return None
    (name,), size = names, int(places.max()) + 1
    return lambda i, j: entry(node.graph, name, size, i * float(down) + j * float(along) + float(base))
