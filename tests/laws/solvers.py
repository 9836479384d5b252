"""Solvers written over scalars with loops: Newton's method, projected Gauss-Seidel, L D Lᵀ, and a network.

Each is a program, and beside it the same in NumPy over a batch.
"""

from itertools import pairwise

import numpy as np

from hinge.graph import Graph, Input, Scratch, absolute, cos, less, maximum, order, repeat, sin, tanh
from hinge.graph.loops import entry

SWEEPS = 20


def kepler():
    """E of E - e sin E = M, by Newton's method until it has arrived: from M and e."""
    graph = Graph()
    M, e = graph.input("x", 0), graph.input("x", 1)

    def off(E):
        return E - e * sin(E) - M

    (E,) = repeat(50, (M,), lambda k, E: (E - off(E) / (1.0 - e * cos(E)),), lambda E: less(absolute(off(E)), 1e-13))
    return order([Input("x", 2)], [("E", (), [E])])


def kepler_in_numpy(x):
    M, e = x.T
    E = M.copy()
    for _ in range(50):
        off = E - e * np.sin(E) - M
        going = ~(np.abs(off) < 1e-13)
        if not going.any():
            break
        E = np.where(going, E - off / (1.0 - e * np.cos(E)), E)
    return E[:, None]


def gauss_seidel(n):
    """x ≥ 0 with A x = b where x > 0: sweeps over the unknowns, each put where its own equation wants it."""
    graph = Graph()
    A = [[graph.input("A", n * i + j) for j in range(n)] for i in range(n)]
    b = [graph.input("b", i) for i in range(n)]
    inverse = [1.0 / A[i][i] for i in range(n)]

    def sweep(k, *x):
        x = list(x)
        for i in range(n):
            rest = b[i]
            for j in (*range(i + 1, n), *range(i)):  # what this sweep has made last comes last
                rest = rest - A[i][j] * x[j]
            x[i] = maximum(rest * inverse[i], 0.0)
        return x

    x = repeat(SWEEPS, [maximum(y * inv, 0.0) for y, inv in zip(b, inverse, strict=True)], sweep)
    return order([Input("A", n * n), Input("b", n)], [("x", (n,), x)])


def gauss_seidel_in_numpy(A, b):
    n = b.shape[1]
    A = A.reshape(-1, n, n)
    x = np.maximum(b / np.einsum("kii->ki", A), 0.0)
    for _ in range(SWEEPS):
        for i in range(n):
            rest = b[:, i] - np.einsum("kj,kj->k", A[:, i], x)
            x[:, i] = np.maximum(x[:, i] + rest / A[:, i, i], 0.0)
    return x


def ldl(n):
    """A x = b with A = L D Lᵀ: columns one after another, rows and terms in loops, memory for L, D and x.

    The row of D Lᵀ that a column needs is made once.
    """
    graph = Graph()
    like, wide = graph.input("A", 0), float(n)
    L, D, DL, x = Scratch(n * n, like=like), Scratch(n, like=like), Scratch(n, like=like), Scratch(n, like=like)

    def A(i, j):
        return entry(graph, "A", n * n, i * wide + j)

    for j in map(float, range(n)):

        def term(k, s, j=j):
            DL[k] = L[j * wide + k] * D[k]
            return (s - L[j * wide + k] * DL[k],)

        (pivot,) = repeat(j, (A(j, j),), term)
        D[j], inverse = pivot, 1.0 / pivot

        def row(below, kept, j=j, inverse=inverse):
            i = below + (j + 1.0)
            (s,) = repeat(j, (A(i, j),), lambda k, s: (s - L[i * wide + k] * DL[k],))
            L[i * wide + j] = s * inverse
            return (kept,)

        repeat(n - 1 - j, (like,), row)
    for i in map(float, range(n)):
        (x[i],) = repeat(i, (graph.input("b", int(i)),), lambda k, s, i=i: (s - L[i * wide + k] * x[k],))
    for i in map(float, reversed(range(n))):
        back = lambda k, s, i=i: (s - L[(k + (i + 1.0)) * wide + i] * x[k + (i + 1.0)],)
        (x[i],) = repeat(n - 1 - i, (x[i] / D[i],), back)
    return order([Input("A", n * n), Input("b", n)], [("x", (n,), [x[i] for i in range(n)])])


def ldl_in_numpy(A, b):
    n = b.shape[1]
    return np.linalg.solve(A.reshape(-1, n, n), b[..., None])[..., 0]


def network(sizes):
    """Layers of tanh(W x + c); the weights and offsets are one row for all states."""
    graph = Graph()
    now = [graph.input("x", k) for k in range(sizes[0])]
    total, at = sum((a + 1) * b for a, b in pairwise(sizes)), 0.0
    for wide, tall in pairwise(sizes):
        given, made = Scratch(wide, like=now[0]), Scratch(tall, like=now[0])
        for k, x in enumerate(now):
            given[k] = x

        def unit(i, kept, at=at, wide=wide, tall=tall, given=given, made=made):
            start = entry(graph, "weights", total, i + (at + wide * tall))
            weight = lambda j: entry(graph, "weights", total, i * float(wide) + j + at)
            (s,) = repeat(wide, (start,), lambda j, s: (s + weight(j) * given[j],))
            made[i] = tanh(s)
            return (kept,)

        repeat(tall, (now[0],), unit)
        now, at = [made[i] for i in range(tall)], at + (wide + 1) * tall
    inputs = [Input("x", sizes[0]), Input("weights", int(total), uniform=True)]
    return order(inputs, [("y", (sizes[-1],), now)])


def network_in_numpy(sizes, x, weights):
    at = 0
    for wide, tall in pairwise(sizes):
        W = weights[at : at + wide * tall].reshape(tall, wide)
        x = np.tanh(x @ W.T + weights[at + wide * tall : at + (wide + 1) * tall])
        at += (wide + 1) * tall
    return x


def problems(n, states, seed=0):
    """Positive matrices, row by row, and right-hand sides."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(states, n, n))
    A = B @ B.transpose(0, 2, 1) + n * np.eye(n)
    return np.ascontiguousarray(A.reshape(states, n * n)), 3.0 * rng.normal(size=(states, n))


def orbits(states, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.uniform(0.0, 6.28, states), rng.uniform(0.0, 0.9, states)], axis=1)
