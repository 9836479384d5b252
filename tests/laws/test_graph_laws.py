"""Laws of expression graphs: interning, folding, ordering, and differentiation of every operation in the table."""

import gc
import math
import weakref

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from robots import law, seeds
from yardsticks import assert_close, derivative, programmed, run

from hinge.graph import (
    OPS,
    Expr,
    Graph,
    Input,
    TooLong,
    along,
    atan2,
    cos,
    jacobian,
    less,
    live,
    maximum,
    minimum,
    order,
    select,
    sin,
    sqrt,
)
from hinge.graph.collector import uncollected

# interning and folding


def pair():
    graph = Graph()
    return graph.input("x", 0), graph.input("x", 1)


SAME = {
    "x + 0": lambda x, y: (x + 0.0, x),
    "0 + x": lambda x, y: (0.0 + x, x),
    "x - 0": lambda x, y: (x - 0.0, x),
    "0 - x": lambda x, y: (0.0 - x, -x),
    "1 x": lambda x, y: (1.0 * x, x),
    "x / 1": lambda x, y: (x / 1.0, x),
    "-1 x": lambda x, y: (x * -1.0, -x),
    "minus minus x": lambda x, y: (0.0 - (0.0 - x), x),
    "x + y": lambda x, y: (x + y, y + x),
    "x y": lambda x, y: (x * y, y * x),
    "x - -y": lambda x, y: (x - -y, x + y),
    "-x + y": lambda x, y: (-x + y, y - x),
    "-x - y": lambda x, y: (-x - y, -(x + y)),
    "y - x after x - y": lambda x, y: (-(x - y), y - x),
    "-x -y": lambda x, y: (-x * -y, x * y),
    "-x y": lambda x, y: (-x * y, -(x * y)),
    "(x + 2) + 3": lambda x, y: ((x + 2.0) + 3.0, x + 5.0),
    "(2 x) 3": lambda x, y: ((2.0 * x) * 3.0, x * 6.0),
    "x / 4": lambda x, y: (x / 4.0, x * 0.25),
    "2 - (-x)": lambda x, y: (2.0 - -x, x + 2.0),
    "both signs of a factor": lambda x, y: (x * -2.0, -(x * 2.0)),
    "x + (y - x)": lambda x, y: (x + (y - x), y),
    "(y - x) + x": lambda x, y: ((y - x) + x, y),
    "(y / x) x": lambda x, y: ((y / x) * x, y),
    "(y (1 / x)) x": lambda x, y: ((y * (1.0 / x)) * x, y),
    "a choice of one": lambda x, y: (select(less(x, y), x, x), x),
    "a choice that is known": lambda x, y: (select(less(1.0, 2.0), x, y), x),
    "sine twice": lambda x, y: (sin(x + y), sin(y + x)),
    "an integer": lambda x, y: (x * 2, x * 2.0),
    "a NumPy number": lambda x, y: (np.float64(2.0) * x, x * 2.0),
}
NUMBERS = {
    "0 x": (lambda x, y: 0.0 * x, 0.0),
    "0 / x": (lambda x, y: 0.0 / x, 0.0),
    "x - x": (lambda x, y: x - x, 0.0),
    "x + -x": (lambda x, y: x + -x, 0.0),
    "x / x": (lambda x, y: x / x, 1.0),
    "(1 / x) x": (lambda x, y: (1.0 / x) * x, 1.0),
    "sine of a number": (lambda x, y: sin(0.0), 0.0),
    "root of a number": (lambda x, y: sqrt(4.0), 2.0),
    "the smaller of numbers": (lambda x, y: minimum(1.0, 2.0), 1.0),
}


@pytest.mark.parametrize("rule", SAME.values(), ids=SAME.keys())
def test_equal_expressions_are_one_node(rule):
    one, other = rule(*pair())
    assert type(one) is Expr
    assert one is other


@pytest.mark.parametrize(("rule", "number"), NUMBERS.values(), ids=NUMBERS.keys())
def test_what_folds_to_a_number_is_a_number(rule, number):
    made = rule(*pair())
    assert type(made) is float
    assert made == number


def test_different_expressions_are_different_nodes():
    x, y = pair()
    nodes = [x, y, x + y, x - y, x * y, x / y, y / x, -x, sin(x), cos(x), atan2(x, y), atan2(y, x), x + 1.0, x * 2.0]
    assert len({id(node) for node in nodes}) == len(nodes)


# random programs: (operation, where its arguments are among the values so far, a constant)

EXACT = {  # on small whole numbers these make no rounding, whatever the order they are done in
    "add": lambda a, b, c: a + b, "sub": lambda a, b, c: a - b, "mul": lambda a, b, c: a * b, "neg": lambda a, b, c: -a,
    "shift": lambda a, b, c: a + c, "from": lambda a, b, c: c - a, "scale": lambda a, b, c: a * c,
    "half": lambda a, b, c: a / 2.0, "min": lambda a, b, c: minimum(a, b), "max": lambda a, b, c: maximum(a, b),
    "choose": lambda a, b, c: select(less(a, b), a + c, b), "choose2": lambda a, b, c: select(less(a, c), b, a),
}  # fmt: skip
SMOOTH = {  # each has slopes of at most a few, so rounding is not blown up
    "add": lambda a, b, c: a + b, "sub": lambda a, b, c: a - b, "mul": lambda a, b, c: sin(a) * b,
    "div": lambda a, b, c: a / (b * b + 1.0), "sin": lambda a, b, c: sin(a), "cos": lambda a, b, c: cos(b) * c,
    "sqrt": lambda a, b, c: sqrt(a * a + 0.5), "atan2": lambda a, b, c: atan2(a, b * b + 1.0),
    "third": lambda a, b, c: a / 3.0, "neg": lambda a, b, c: -b, "minus": lambda a, b, c: c - a,
}  # fmt: skip


PRODUCTS = ("mul", "fma", "fms", "fnma")


def programs(table, constants):
    step = st.tuples(st.sampled_from(sorted(table)), st.integers(0, 99), st.integers(0, 99), constants)
    return st.lists(step, min_size=1, max_size=14)


def follow(table, steps, values):
    """All values of a program, over any scalars."""
    values = list(values)
    for op, i, j, c in steps:
        values.append(table[op](values[i % len(values)], values[j % len(values)], c))
    return values


def trace(table, steps, n=3):
    graph = Graph()
    inputs = [graph.input("x", k) for k in range(n)]
    return graph, inputs, follow(table, steps, inputs)


whole = st.integers(-4, 4).map(float)


@given(steps=programs(EXACT, whole), x=st.tuples(whole, whole, whole))
@law(150)
def test_a_folded_program_says_exactly_what_its_operations_say(steps, x):
    direct = follow(EXACT, steps, x)
    assume(max(map(abs, direct)) < 2.0**20)  # with fourteen halvings at most, every value is exact
    _, _, values = trace(EXACT, steps)
    assert run(programmed(values, x=3), x).tolist() == direct


@given(steps=programs(SMOOTH, st.floats(-2, 2)), x=st.tuples(*[st.floats(-2, 2)] * 3))
@law(150)
def test_a_smooth_program_says_what_its_operations_say(steps, x):
    direct = follow(SMOOTH, steps, x)
    size = max(1.0, *map(abs, direct))
    _, _, values = trace(SMOOTH, steps)
    # folding rounds elsewhere; fourteen steps with slopes of up to two or three can carry that four digits up
    assert_close(run(programmed(values, x=3), x), direct, 1e-11, size)


@given(steps=programs(EXACT, whole))
@law(60)
def test_a_program_traced_again_makes_no_new_node(steps):
    graph, inputs, values = trace(EXACT, steps)
    # folding may look at what is there already, as in y - x after x - y; after that it has seen everything
    again = follow(EXACT, steps, inputs)
    known = len(graph)
    for a, b in zip(follow(EXACT, steps, inputs), again, strict=True):
        assert a is b or a == b
    assert len(graph) == known
    assert len(values) == len(again)


@given(steps=programs(EXACT, whole), x=st.tuples(whole, whole, whole))
@law(100)
def test_contracting_sums_and_products_rounds_less_and_changes_nothing_else(steps, x):
    assume(max(map(abs, follow(EXACT, steps, x))) < 2.0**20)  # then nothing is rounded, once or twice
    _, _, values = trace(EXACT, steps)
    entries = values[-2:]
    plain, fused = (order([Input("x", 3)], [("made", (2,), entries)], contract) for contract in (False, True))
    plain_products, fused_products = (sum(op in PRODUCTS for op, _ in p.code) for p in (plain, fused))
    assert fused_products == plain_products  # only a product used nowhere else is fused, so none is done twice
    np.testing.assert_array_equal(run(fused, x), run(plain, x))


@given(steps=programs(SMOOTH, st.floats(-2, 2)))
@law(60)
def test_a_program_has_what_its_outputs_need_each_after_its_arguments(steps):
    _, _, values = trace(SMOOTH, steps)
    program = order([Input("x", 3)], [("made", (1,), values[-1:])], contract=False)
    assert len(program.code) == len(live(values[-1:]))
    for k, (op, args) in enumerate(program.code):
        assert op == "input" or all(a < k for a in args if type(a) is int)
    assert str(program).count("\n") == len(program.code) + 1


# differentiation


@pytest.mark.parametrize("op", [name for name in OPS if name not in ("uniform", "held")])  # which have no slope
@given(seed=seeds)
@law(12)
def test_every_operation_differentiates_as_differences_say(op, seed):
    rng, row = np.random.default_rng(seed), OPS[op]
    args = rng.uniform(0.3, 2.0, row.arity) * rng.choice([-1.0, 1.0], row.arity)
    with np.errstate(invalid="ignore"):
        if not np.isfinite(float(row.meaning(*args))):
            args = np.abs(args)
        if not np.isfinite(float(row.meaning(*(1.5 * args)))):
            args = 0.35 * args  # well within what is defined up to one
    assume(np.min(np.abs(np.subtract.outer(args, args))[~np.eye(row.arity, dtype=bool)], initial=1.0) > 0.02)  # kinks
    assume(np.min(np.abs(args - np.round(args))) > 0.01)  # and steps
    graph = Graph()
    inputs = [graph.input("x", k) for k in range(row.arity)]
    made = run(programmed(jacobian([graph.node(op, *inputs)], inputs)[0], x=row.arity), args)
    slopes = [derivative(lambda t, e=e: float(row.meaning(*(args + t * e)))) for e in np.eye(row.arity)]
    assert_close(made, slopes, 1e-10)


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.7), (0.7, 0.3)])
def test_a_choice_differentiates_as_what_is_chosen(a, b):
    x, y = pair()
    entries = [select(less(x, y), x * x, y * x), minimum(x * x, y * x), maximum(x * x, y * x)]
    rows = run(programmed([e for row in jacobian(entries, [x, y]) for e in row], x=2), [a, b]).reshape(3, 2)
    first, second = (2 * a, 0.0), (b, a)
    low, high = (first, second) if a < b else (second, first)
    np.testing.assert_allclose(rows, [first if a < b else second, low, high], rtol=1e-15)


@given(steps=programs(SMOOTH, st.floats(-2, 2)), seed=seeds)
@law(60)
def test_derivatives_of_programs_are_graphs_and_differentiate_again(steps, seed):
    rng = np.random.default_rng(seed)
    x, d, e = rng.uniform(-1.5, 1.5, (3, 3))
    _, inputs, values = trace(SMOOTH, steps)
    first = along(values[-1:], dict(zip(inputs, d.tolist(), strict=True)))
    second = along(first, dict(zip(inputs, e.tolist(), strict=True)))
    assert all(type(n) in (Expr, float) for n in first + second)
    value = lambda at: follow(SMOOTH, steps, at.tolist())[-1]
    slope = programmed(first, x=3)
    found = derivative(lambda t: value(x + t * d))
    scale = max(1.0, abs(value(x)), abs(found))
    assert_close(run(slope, x), [found], 1e-9, scale)
    again = derivative(lambda t: run(slope, x + t * e))
    assert_close(run(programmed(second, x=3), x), again, 1e-8, max(scale, np.max(np.abs(again))))
    rows = run(programmed(jacobian(values[-1:], inputs)[0], x=3), x)
    assert_close(rows @ d, run(slope, x)[0], 1e-11, scale)


def test_a_quantity_that_does_not_move_has_rate_zero():
    x, y = pair()
    assert along([x, 2.0, y * y], {x: 1.0}) == [1.0, 0.0, 0.0]
    assert jacobian([x + y], []) == [[]]
    assert math.isclose(run(programmed(along([x * y], {x: y, y: 1.0}), x=2), [3.0, 5.0])[0], 5.0 * 5.0 + 3.0)


def test_the_collector_is_off_while_an_algorithm_is_traced_and_as_before_afterwards():
    seen = []

    @uncollected()
    def traced(fails):
        seen.append(gc.isenabled())
        if fails:
            raise TooLong

    traced(False)
    with pytest.raises(TooLong):
        traced(True)
    assert gc.isenabled()
    gc.disable()
    try:
        traced(False)
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert seen == [False] * 3


def test_nodes_are_gone_with_their_last_user():
    class Kept(Graph):
        __slots__ = ("__weakref__",)

    graph = Kept()
    root = sin(graph.input("q", 0)) + 1.0
    gone = weakref.ref(graph)
    graph.let_go()
    assert len(graph) == 3
    with uncollected():
        del graph, root
        assert gone() is None
