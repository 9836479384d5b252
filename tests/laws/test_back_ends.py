"""Every back end gives the bits of the interpreter: machine code of any width, and C."""

from fractions import Fraction

import numpy as np
import pytest
from back_ends import COMPILER, in_c, interpreted, native, same_bits
from hypothesis import given
from hypothesis import strategies as st
from robots import law

from hinge.graph import OPS, Graph, Input, order
from hinge.graph.numbers import fused, fused_in_single

numbers = pytest.mark.parametrize("number", [np.float64, np.float32], ids=["double", "single"])
INPUTS = 4
MADE = [name for name in OPS if name not in ("fma", "fms", "fnma")]  # the others are made when a graph is ordered


def states(seed, n, number):
    """Numbers of all sizes, near one and small whole ones most of all, and some that are none."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, INPUTS)) * 10 ** (rng.uniform(-1, 1, (n, INPUTS)) * rng.choice([1, 1, 30, 300], (n, 1)))
    whole = rng.integers(-4, 5, (n, INPUTS)) * 0.5
    odd = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, 1e9, 1.7e308, 0.75], (n, INPUTS))
    kind = rng.random((n, INPUTS))
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(np.where(kind < 0.7, x, np.where(kind < 0.9, whole, odd)).astype(number))


def random_program(seed, length):
    """Straight-line code over all operations, each of values and constants before it; the last values are given."""
    rng, graph = np.random.default_rng(seed), Graph()
    values = [graph.input("x", k) for k in range(INPUTS)]
    for _ in range(length):
        op = OPS[rng.choice(MADE) if rng.random() < 0.4 else rng.choice(["add", "sub", "mul", "less", "select"])]
        args = [values[-1 - int(rng.integers(min(9, len(values))))] for _ in range(op.arity)]
        if op.arity > 1 and rng.random() < 0.2:
            args[int(rng.integers(op.arity))] = float(rng.choice([0.5, 3.0, -1.25, 1e-3, 1e5, -0.0]))
        values.append(graph.node(op.name, *args))
    entries = values[-12:]
    return order([Input("x", INPUTS)], [("y", (len(entries),), entries)])


@pytest.mark.sampled(1)
@numbers
@given(seed=st.integers(0, 2**31), length=st.integers(4, 60))
@law(12)
def test_a_program_gives_the_same_bits_on_vectors_of_any_width(number, seed, length):
    program, x = random_program(seed, length), states(seed, 45, number)
    wanted = interpreted(program, x)
    for lanes in (1, 4, 8):
        assert same_bits(native(program, x, lanes), wanted).all(), f"{lanes} lanes\n{program}"


@pytest.mark.sampled(1)
@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler here: cc, gcc or clang")
@numbers
@given(seed=st.integers(0, 2**31), length=st.integers(4, 60))
@law(5)
def test_a_program_gives_the_same_bits_in_c(number, seed, length):
    program, x = random_program(seed, length), states(seed, 45, number)
    assert same_bits(in_c(program, x), interpreted(program, x)).all(), str(program)


def every_operation():
    graph = Graph()
    args = [graph.input("x", k) for k in range(3)]
    made = [graph.node(name, *args[: op.arity]) for name, op in OPS.items()]
    return order([Input("x", INPUTS)], [("y", (len(made),), made)], contract=False)


@pytest.mark.sampled(1)
@numbers
def test_every_operation_gives_the_same_bits(number):
    program, x = every_operation(), states(1, 4000, number)
    wanted = interpreted(program, x)
    made = {f"{lanes} lanes": native(program, x, lanes) for lanes in (1, 4, 8)}
    made |= {"C": in_c(program, x)} if COMPILER else {}
    for where, got in made.items():
        for k, name in enumerate(OPS):
            different = np.flatnonzero(~same_bits(got[:, k], wanted[:, k]))
            assert not len(different), (where, name, x[different[0]], got[different[0], k], wanted[different[0], k])


# the fused product and sum of the interpreter, against fractions


def triples(rng, n, digits):
    """Products and sums that are hard to round: that cancel, that fall half-way or all but, of few digits, of any."""
    few = lambda: sign() * np.ldexp(rng.integers(2**53, 2**62, n) >> rng.integers(9, 52, n), rng.integers(-60, 20, n))
    near = lambda: 1 + rng.integers(-2, 3, n) * 2.0**-digits
    sign = lambda: rng.choice([-1, 1], n)
    a, b, c = rng.normal(size=(3, n))
    yield a, b, c
    yield a, b, -a * b * (1 + rng.integers(-3, 4, n) * 2.0**-digits)
    a, b, c = few(), few(), few()
    yield a, b, c
    yield a, b, a * b * 2.0 ** rng.integers(-56, 57, n) * sign()
    for c in (few(), 2.0 ** rng.integers(-50, 50, n) * sign()):
        unit = 2.0 ** (np.floor(np.log2(np.abs(c))) - digits)
        yield unit * rng.choice([0.25, 0.5, 0.75, 1.5], n) * near(), near() * sign(), c


def rounded(x, number):
    """The nearest number to a fraction, the even one of two."""
    if number is np.float64:
        return float(x)
    first = np.float32(float(x))
    around = [np.nextafter(first, np.float32(s)) for s in (-np.inf, np.inf)]
    return min([first, *around], key=lambda y: (abs(Fraction(float(y)) - x), int(y.view(np.uint32)) & 1))


@pytest.mark.parametrize(
    ("number", "f"), [(np.float64, fused), (np.float32, fused_in_single)], ids=["double", "single"]
)
def test_the_interpreter_rounds_a_fused_product_once(number, f):
    rng, twice = np.random.default_rng(20), 0
    digits = 52 if number is np.float64 else 23
    for given_ in triples(rng, 3000, digits):
        with np.errstate(over="ignore"):
            a, b, c = (x.astype(number) for x in given_)
        fits = np.isfinite(c)
        a, b, c = a[fits], b[fits], c[fits]
        exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
        once = np.array([rounded(x, number) for x in exact], number)
        np.testing.assert_array_equal(f(a, b, c), once)
        twice += np.count_nonzero(a * b + c != once)
    assert twice > 1000


def test_the_interpreter_rounds_once_at_the_edges_of_the_range_too():
    rng = np.random.default_rng(21)
    odd = [0.0, -0.0, 1.5, -1.0, 5e-324, 1e-310, 2.0**-537, 2.0**-1022, 1 + 2.0**-52, 1e-160, 1e160, 1.3e154, 1.7e308]
    grid = np.array(np.meshgrid(odd, odd, [*odd, *(-x for x in odd)])).reshape(3, -1)
    wide = 10 ** rng.uniform(-308, 308, (3, 2000)) * rng.choice([-1, 1], (3, 2000))
    small = 10 ** rng.uniform(-165, -150, (2, 2000))
    low = np.stack([small[0], -small[1], small[0] * small[1] * rng.uniform(0.5, 1.5, 2000)])
    for a, b, c in (grid, wide, low):
        got = fused(a, b, c)
        for x, y, z, ours in zip(a.tolist(), b.tolist(), c.tolist(), got.tolist(), strict=True):
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            try:
                wanted = float(exact) if exact else x * y + z
            except OverflowError:
                wanted = np.inf if exact > 0 else -np.inf
            assert (ours, np.signbit(ours)) == (wanted, np.signbit(wanted)), (x, y, z)


def test_what_is_not_finite_passes_through_a_fused_product():
    odd = [0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    a, b, c = np.array(np.meshgrid(odd, odd, odd)).reshape(3, -1)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(fused(a, b, c), a * b + c)
        assert fused(1e200, -1e200, np.inf) == np.inf
        singles = fused_in_single(*(x.astype(np.float32) for x in (a, b, c)))
        np.testing.assert_array_equal(singles, (a * b + c).astype(np.float32))
