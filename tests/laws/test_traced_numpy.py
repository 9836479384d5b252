"""Ordinary NumPy on traced arrays gives what it gives on numbers, or is refused by name."""

import math

import numpy as np
import pytest

import hinge
from hinge.backends import interpret
from hinge.graph import Dual, Expr, Graph, Input, absolute, arccos, arcsin, exp, floor, log, order, power, sin, tanh
from hinge.graph.arrays import Symbols, symbols

M = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
KNOTS, VALUES = [-1.0, 0.0, 0.5, 2.0], [3.0, -1.0, 2.0, 0.5]
WORKS = {
    "powers": lambda q: q**2 + q**-1 + (q * q) ** 0.5 + np.abs(q) ** 0.3 + 2.0**q + np.power(np.abs(q), q),
    "an array of entries": lambda q: np.array([q[0], q[1]]) * q[2],
    "functions of an array of entries": lambda q: (
        np.exp(np.sin(np.array([q[0], q[1]]))) + np.arctan2([q[0], 1.0], q[1])
    ),
    "a number times an entry": lambda q: np.array([1.0, 2.0]) * q[0] + np.float64(3.0) * q[1],
    "products of matrices": lambda q: M @ q + np.dot(M, q) + (q @ q) + q.dot(q) + np.inner(q, q),
    "outer and cross": lambda q: np.outer(q, q) + np.cross(q, [1.0, 2.0, 3.0]) + np.einsum("i,j->ij", q, q),
    "norms": lambda q: [
        np.linalg.norm(q),
        np.linalg.norm(q, 1),
        np.linalg.norm(q, np.inf),
        np.linalg.norm(np.outer(q, q)),
    ],
    "norms of rows": lambda q: np.linalg.norm(np.outer(q, q) + M[0], axis=1),
    "the norm of an array of entries": lambda q: [np.linalg.norm(np.array([q[0], q[1]]))],
    "means": lambda q: [np.mean(q), q.mean(), np.var(q), np.std(q), np.average(q, weights=[1.0, 2.0, 3.0])],
    "sums": lambda q: [np.sum(q), q.sum(), np.prod(q), sum(q), np.cumsum(q)[1], np.trace(np.outer(q, q)), np.ptp(q)],
    "sums along an axis": lambda q: np.sum(M * q, axis=0) + np.mean(M * q, axis=0) + np.max(M * q, axis=0),
    "limits": lambda q: np.clip(q, -0.5, 0.5) + np.minimum(q, 0.1) + np.fmax(q, [0.0, 1.0, -1.0]) + q.clip(None, 0.2),
    "the largest": lambda q: [np.max(q), q.min(), np.amax(np.abs(q))],
    "choices": lambda q: (
        np.where(q < 0.3, q, 2.0 * q) + np.where(q[0] >= q[1], 1.0, q) + np.where((q > 0) & (q < 1), q, 0)
    ),
    "many choices": lambda q: np.select([q < -0.5, q < 0.5], [q * 2.0, q * q], -1.0),
    "comparisons": lambda q: np.where(q <= 0.0, 1, 2) + np.where(q == q[1], 5.0, 7.0) + np.where(q != 0.0, 1.0, 3.0),
    "any and all": lambda q: np.where(np.any(q < -1.0), 1.0, q) + np.where(np.all(q < 1.0), q, 3.0),
    "a hypotenuse": lambda q: [np.hypot(q[0], q[1]), np.sqrt(q[0] ** 2 + 1.0), np.square(q[2]), np.reciprocal(q[0])],
    "a table": lambda q: np.interp(q, KNOTS, VALUES) + np.interp(3.0 * q, KNOTS, VALUES, left=9.0, right=-9.0),
    "functions": lambda q: np.exp(q) + np.log(q * q) + np.tanh(q) + np.arcsin(q / 4) + np.arccos(q / 4) + np.arctan(q),
    "more functions": lambda q: np.cosh(q) + np.log2(q * q) + np.log10(q * q) + np.exp2(q) + np.tan(q),
    "steps": lambda q: np.floor(q) + np.ceil(3 * q) + np.trunc(5 * q) + np.sign(q) + np.heaviside(q, 0.5) + np.abs(q),
    "remainders": lambda q: (5 * q) % 0.37 + (5 * q) // 0.37 + np.mod(q, 1.0) + np.floor_divide(q, 0.23),
    "degrees": lambda q: np.deg2rad(q) + np.degrees(q) + np.radians(q) + np.rad2deg(q),
    "arrays put together": lambda q: np.concatenate([q, [1.0], 2 * q]) + np.hstack([q[:1], q, q]),
    "arrays put side by side": lambda q: (
        np.stack([q, 2 * q]) + np.vstack([q, q]) + np.array([q, q]) + np.tile(q, (2, 1))
    ),
    "shapes": lambda q: (
        np.reshape(np.outer(q, q), (9,)) + np.outer(q, q).T.ravel() + np.repeat(q, 3) + np.atleast_1d(q[0])
    ),
    "entry after entry": lambda q: [np.sin(x) + x**2 - abs(x) + x % 0.37 + x // 0.37 for x in q],
    "written into": lambda q: _written(q),
    "in place": lambda q: _in_place(q),
    "hyperbolic": lambda q: np.sinh(q) / np.sinh(1e-5 * q) + np.sinh(30.0 * q) * 1e-20 + np.cosh(q),
    "zeros and ones": lambda q: np.ones_like(q) + np.zeros_like(q) + np.eye(3) @ q + np.diag(q).sum(axis=0),
    "differences": lambda q: np.diff(q) + np.flip(q)[:2] + np.roll(q, 1)[1:],
    "numbers that are none": lambda q: (
        np.where(np.isnan(np.sqrt(q)), 0.0, 1.0) + np.where(np.isfinite(1.0 / q), q, 0.0)
    ),
    "functions of hinge": lambda q: exp(q) + log(absolute(q)) + tanh(q) + arcsin(0.2 * q) + arccos(0.2 * q) + sin(q),
    "powers of hinge": lambda q: power(q, 3) + power(absolute(q), q) + floor(q) + power(2.0, q),
}


def _written(q):
    made = np.zeros_like(q)
    made[0], made[1:] = q[1], q[0] * q[1:]
    return made


def _in_place(q):
    made = q.copy()
    made += 1.0
    made *= q[0]
    made -= np.ones(3)
    made /= 2.0
    return made


def on_symbols(f, states):
    graph = Graph()
    made = f(symbols([graph.input("q", k) for k in range(3)]))
    entries = np.asarray(made, object)
    flat = [getattr(x, "item", lambda x=x: x)() for x in entries.reshape(-1).tolist()]
    assert all(type(x) is Expr or isinstance(x, int | float) for x in flat)
    assert any(type(x) is Expr for x in flat)
    program = order([Input("q", 3)], [("made", entries.shape, flat)], contract=False)
    out = np.empty((len(states), len(flat)))
    interpret.run(program, [states], [out])
    return out.reshape(len(states), *entries.shape)


STATES = np.concatenate(
    [np.random.default_rng(0).uniform(-1.5, 1.5, (40, 3)), [[0.5, 0.25, 0.5], [-0.5, 0.5, 1.0], [1.0, 1.0, -1.0]]]
)


@pytest.mark.parametrize("name", WORKS)
def test_it_gives_what_it_gives_on_numbers(name):
    with np.errstate(all="ignore"):
        wanted = np.array([np.asarray(WORKS[name](q), float) for q in STATES])
    np.testing.assert_allclose(on_symbols(WORKS[name], STATES), wanted, rtol=1e-13, atol=1e-13)


TABLE = np.arange(5.0)
REFUSED = {
    "np.expm1": (np.expm1, r"np.expm1 cannot be traced: .*\n  Write np.exp\(x\) - 1.0"),
    "np.log1p": (np.log1p, "np.log1p cannot be traced"),
    "np.rint": (np.rint, r"np.rint cannot be traced: .*\n  Write np.floor\(x \+ 0.5\)"),
    "np.round": (np.round, "cannot be traced"),
    "np.argmax": (np.argmax, r"np.argmax cannot be traced: .*\n  Write np.where"),
    "np.sort": (np.sort, r"np.sort cannot be traced: .*\n  Write np.minimum"),
    "np.linalg.inv": (lambda q: np.linalg.inv(np.outer(q, q)), "np.linalg.inv cannot be traced"),
    "np.linalg.solve": (lambda q: np.linalg.solve(np.outer(q, q), q), r"np.linalg.solve cannot be traced: .*\n  Write"),
    "np.linalg.svd": (lambda q: np.linalg.svd(np.outer(q, q)), "np.linalg.svd cannot be traced"),
    "a spectral norm": (lambda q: np.linalg.norm(np.outer(q, q), 2), "np.linalg.norm cannot be traced: ord=2"),
    "where alone": (lambda q: np.where(q > 0), "np.where cannot be traced"),
    "np.searchsorted": (
        lambda q: np.searchsorted(TABLE, q),
        r"np.searchsorted cannot be traced: .*\n  Write np.interp",
    ),
    "a table that is traced": (lambda q: np.interp(0.5, q, TABLE[:3]), "np.interp cannot be traced"),
    "np.allclose": (lambda q: np.allclose(q, 0.0), "cannot be traced|no truth value"),
    "np.nonzero": (np.nonzero, "cannot be traced"),
    "a modulus of another kind": (np.fmod, "np.fmod cannot be traced"),
    "an index": (lambda q: q[q[0]], "cannot be an index"),
    "an index of a list": (lambda q: [1.0, 2.0][q[0]], "cannot be an index"),
    "an index that is a node": (lambda q: [1.0, 2.0][q[0].item()], "cannot be an index"),
    "an index to write to": (lambda q: q.__setitem__(q[0], 1.0), "cannot be an index"),
    "a range": (lambda q: range(q[0]), "cannot be an index"),
    "an if": (lambda q: 1.0 if q[0] < q[1] else 2.0, "no truth value"),
    "math": (lambda q: math.sin(q[0]), "is not a number"),
    "floats": (lambda q: q.astype(float), "is not a number"),
    "max of Python": (lambda q: max(q[0], q[1]), "no truth value"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_traced_is_refused_by_name(name):
    function, said = REFUSED[name]
    graph = Graph()
    q = symbols([graph.input("q", k) for k in range(3)])
    with pytest.raises(hinge.TraceError, match=said):
        function(*[q] * (2 if name.endswith("kind") else 1))


@pytest.mark.parametrize("function", [lambda q, t: [TABLE[q[0]]], lambda q, t: [np.take(TABLE, q[0])]])
def test_an_index_into_numbers_is_refused_where_a_function_is_traced(function):
    with pytest.raises(hinge.TraceError, match=r"constraint '<lambda>' cannot be traced: .*\n  A traced value is"):
        hinge.constrain(hinge.samples.planar_2r(), function, holonomic=True)


def test_shapes_that_do_not_fit_are_told_as_numpy_does():
    q = symbols([Graph().input("q", k) for k in range(3)])
    with pytest.raises(ValueError, match="shape"):
        q + np.ones(4)
    with pytest.raises(ValueError, match="mismatch"):
        np.ones((2, 2)) @ q


def test_one_entry_is_an_array_of_no_axes_and_a_node_stays_a_node():
    graph = Graph()
    x = graph.input("q", 0)
    assert type(np.sin(x)) is Expr
    assert np.sin(x) is sin(x)
    assert type(np.float64(2.0) * x) is Expr
    assert isinstance(np.ones(2) * x, Symbols)
    assert isinstance(symbols([x])[0], Symbols)


def test_functions_work_on_dual_numbers():
    for f, slope in ((exp, math.exp(0.4)), (log, 2.5), (tanh, 1 - math.tanh(0.4) ** 2), (arcsin, 1 / math.sqrt(0.84)),
                     (arccos, -1 / math.sqrt(0.84)), (floor, 0.0), (absolute, 1.0)):  # fmt: skip
        made = f(Dual(0.4, 2.0))
        assert made.real == f(0.4)
        assert made.dual == pytest.approx(2.0 * slope, rel=1e-14)
    assert power(Dual(-2.0, 1.0), 3) == Dual(-8.0, 12.0)
    assert (Dual(4.0, 1.0) ** 0.5).dual == 0.25
    made = power(Dual(2.0, 1.0), 2.5)
    assert made.dual == pytest.approx(2.5 * 2**1.5)


def test_functions_work_on_symbols_of_sympy_and_are_read_back():
    sympy = pytest.importorskip("sympy")
    from hinge.model.symbols import scalar

    x = sympy.Symbol("x", real=True)
    for f, theirs in ((exp, sympy.exp), (log, sympy.log), (tanh, sympy.tanh), (arcsin, sympy.asin),
                      (arccos, sympy.acos), (floor, sympy.floor), (absolute, sympy.Abs)):  # fmt: skip
        assert f(x) == theirs(x)
        node = scalar(theirs(sympy.Symbol("x")))
        assert node is f(scalar(sympy.Symbol("x")))
    assert power(x, 2) == x**2
    assert str(scalar(sympy.Symbol("x") ** sympy.Rational(1, 3))) == "pow(x, 0.333333)"
