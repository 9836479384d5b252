"""Programs with loops and memory: the same bits on every back end, in any batch; derivatives as differences say."""

import numpy as np
import pytest
from back_ends import COMPILER, in_c, interpreted, native, same_bits
from sweeps import swept

from hinge.backends import partition as cut
from hinge.errors import SizeError, TraceError
from hinge.graph import (
    Graph,
    Input,
    Scratch,
    Table,
    absolute,
    cos,
    evaluated,
    jacobian,
    less,
    maximum,
    minimum,
    order,
    pulled,
    repeat,
    replay,
    select,
    sin,
    sqrt,
    when,
)
from hinge.graph.loops import entry

SIZE = 3


class Drawn:
    """A random program over scalars: straight runs, loops in loops, memory and choices, as a seed says."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, *given):
        self.rng = np.random.default_rng(self.seed)
        values, self.arrays = list(given), [Scratch(4, like=given[0])]
        self.table = Table(self.rng.normal(size=6).tolist())
        for _ in range(4):
            values = self.block(values, 0)
        return values[-5:]

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def block(self, values, depth):
        """A few more values: operations, and at times a loop."""
        made = list(values)
        for _ in range(int(self.rng.integers(2, 5))):
            made.append(self.operation(made))
        kind = int(self.rng.integers(5))
        if depth < 2 and kind < 3:
            made += [self.loop, self.newton, self.choice][kind](made, depth)
        return made

    def operation(self, values):
        a, b, c = self.pick(values), self.pick(values), self.pick(values)
        kinds = [
            lambda: 0.5 * a + b * 0.25, lambda: sin(a) * b, lambda: cos(a - b), lambda: sqrt(absolute(a) + 0.1),
            lambda: maximum(minimum(a, 2.0), b * 0.5), lambda: select(less(a, b), a, c), lambda: a / (1.0 + b * b),
            lambda: a - 0.3 * c, lambda: self.table[int(self.rng.integers(6))] * a,
        ]  # fmt: skip
        return kinds[int(self.rng.integers(len(kinds)))]()

    def loop(self, values, depth):
        """A loop that carries two, with what is around it taken in, and memory written and read by its counter."""
        state, seed = (self.pick(values), self.pick(values)), int(self.rng.integers(1 << 30))

        def body(k, x, y):
            self.rng = np.random.default_rng(seed)  # each trip is the same
            inside = self.block([*values[-3:], x, y, self.table[k] * 0.1], depth + 1)
            for row in self.arrays:
                row[k] = 0.5 * inside[-1]
                inside.append(row[3 - k] * 0.5)
            # bounded, so that no program runs away
            return tuple(sin(v) for v in inside[-2:])

        made = list(repeat(4, state, body))
        self.rng = np.random.default_rng(seed + 1)  # the same however often the body ran
        return made

    def newton(self, values, depth):
        """A loop that ends when it has arrived, which differs from state to state."""
        a = absolute(self.pick(values)) + 0.5
        return list(repeat(30, (a + 1.0,), lambda k, x: (0.5 * (x + a / x),),
                           until=lambda x: less(absolute(x * x - a), 1e-5 * a)))  # fmt: skip

    def choice(self, values, depth):
        """Work that some states need and others do not."""
        a, b, seed = self.pick(values), self.pick(values), int(self.rng.integers(1 << 30))

        def body(x):
            self.rng = np.random.default_rng(seed)
            return (sin(self.block([*values[-3:], x], depth + 1)[-1]),)

        made = list(when(less(a, b), (self.pick(values),), body))
        self.rng = np.random.default_rng(seed + 1)
        return made


def traced(function):
    graph = Graph()
    x = [graph.input("x", k) for k in range(SIZE)]
    return x, [graph.scalar(y) for y in function(*x)]


def program(outputs):
    return order([Input("x", SIZE)], [("y", (len(outputs),), outputs)])


def rows(number=np.float64, n=19):
    return np.random.default_rng(5).normal(size=(n, SIZE)).astype(number)


SEEDS = range(40)
compiled_seeds = pytest.mark.parametrize("seed", swept(SEEDS, lambda seed: seed < 14))  # compiling takes the time


@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", [np.float64, np.float32], ids=["double", "single"])
@compiled_seeds
def test_every_back_end_gives_the_same_bits(seed, number):
    made, x = program(traced(Drawn(seed))[1]), rows(number)
    want = interpreted(made, x)
    assert np.isfinite(want).all()
    for lanes in (1, 4, 8):
        assert same_bits(native(made, x, lanes), want).all()
    if COMPILER and seed < 12:
        assert same_bits(in_c(made, x), want).all()


@pytest.mark.sampled(14)
@pytest.mark.parametrize("longest", [60, 12, 4, 2])
@compiled_seeds
def test_loops_over_several_functions_give_the_same_bits(monkeypatch, seed, longest):
    monkeypatch.setattr(cut, "SHORTEST", max(1, longest // 2))
    monkeypatch.setattr(cut, "LONGEST", longest)
    made, x = program(traced(Drawn(seed))[1]), rows()
    assert same_bits(native(made, x, 4), interpreted(made, x)).all()


def test_the_programs_that_are_drawn_have_loops_memory_and_choices():
    codes = [[op for op, _ in program(traced(Drawn(seed))[1]).code] for seed in SEEDS]
    assert sum("loop" in code for code in codes) > 30
    assert sum("until" in code for code in codes) > 15
    assert sum("store" in code for code in codes) > 15
    assert any(code.count("loop") > 3 for code in codes)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_is_the_same_alone_and_in_any_batch(seed):
    made, x = program(traced(Drawn(seed))[1]), rows()
    for run in (interpreted, lambda p, a: native(p, a, 4)):
        whole = run(made, x)
        for part in (slice(0, 1), slice(3, 8), slice(18, 19)):
            assert same_bits(run(made, np.ascontiguousarray(x[part])), whole[part]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_is_what_the_function_does_on_numbers(seed):
    made, x = program(traced(Drawn(seed))[1]), rows(n=5)
    plain = np.array([[float(y) for y in Drawn(seed)(*map(float, row))] for row in x])
    np.testing.assert_allclose(interpreted(made, x), plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_runs_again_on_nodes_and_on_numbers(seed):
    made, x = program(traced(Drawn(seed))[1]), rows(n=5)
    graph = Graph()
    again = program([graph.scalar(y) for y in replay(made, [[graph.input("x", k) for k in range(SIZE)]])[0]])
    np.testing.assert_allclose(interpreted(again, x), interpreted(made, x), rtol=1e-9, atol=1e-9)
    plain = np.array([replay(made, [row.tolist()])[0] for row in x])
    np.testing.assert_allclose(interpreted(made, x), plain, rtol=1e-9, atol=1e-9)


def smooth(seed, x):
    """The states around which differences say something: no choice goes the other way nearby."""
    made, step = program(traced(Drawn(seed))[1]), 1e-6
    there = interpreted(made, x)
    coarse, fine = (_differences(made, x, h) for h in (4 * step, step))
    return np.isfinite(there).all(axis=1) & (np.abs(coarse - fine).max(axis=(1, 2)) < 1e-5), fine


def _differences(made, x, h):
    columns = []
    for k in range(SIZE):
        up, down = x.copy(), x.copy()
        up[:, k] += h
        down[:, k] -= h
        columns.append((interpreted(made, up) - interpreted(made, down)) / (2 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(25))
def test_forward_derivatives_are_what_differences_say(seed):
    (x, y), states = traced(Drawn(seed)), rows(n=40)
    good, want = smooth(seed, states)
    assert good.sum() > 3
    flat = program([e for row in jacobian(y, x) for e in row])
    made = interpreted(flat, states).reshape(len(states), len(y), SIZE)
    np.testing.assert_allclose(made[good], want[good], rtol=1e-4, atol=1e-4)
    for lanes in (1, 8):
        assert same_bits(native(flat, states, lanes), interpreted(flat, states)).all()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(25))
def test_reverse_derivatives_are_the_forward_ones(seed):
    (x, y), states = traced(Drawn(seed)), rows()
    weights = np.random.default_rng(seed).normal(size=len(y)).tolist()
    forward = program([e for row in jacobian(y, x) for e in row])
    back = program(pulled(y, weights, x))
    J = interpreted(forward, states).reshape(len(states), len(y), SIZE)
    np.testing.assert_allclose(interpreted(back, states), np.einsum("nij,i->nj", J, weights), rtol=1e-8, atol=1e-8)
    assert same_bits(native(back, states, 4), interpreted(back, states)).all()


# ---- by hand


def test_trips_that_are_an_input_are_counted_when_it_runs():
    graph = Graph()
    x, n = graph.input("x", 0), graph.input("n", 0)
    (y,) = repeat(n, (x,), lambda k, v: (v + k,))
    made = order([Input("x", 1), Input("n", 1, uniform=True)], [("y", (1,), [y])])
    from hinge.backends import interpret
    from hinge.backends.llvm import Native

    for trips in (0.0, 1.0, 7.0, -3.0, np.nan):
        out, plain = np.empty((5, 1)), np.empty((5, 1))
        given = [np.arange(5.0)[:, None], np.array([trips])]
        Native(made).run(given, [out])
        interpret.run(made, given, [plain])
        n = int(max(0.0, np.nan_to_num(trips)))
        np.testing.assert_array_equal(out[:, 0], np.arange(5.0) + n * (n - 1) / 2)
        np.testing.assert_array_equal(plain, out)


def test_an_index_from_data_reads_nan_where_there_is_nothing_and_writes_nothing():
    graph = Graph()
    x = graph.input("x", 0)
    row = Scratch(3, like=x)
    row[0], row[1], row[2] = 5.0, 6.0, 7.0
    row[x] = 9.0
    outputs = [Table([1.0, 2.0])[x], row[0], row[1], row[2]]
    made = order([Input("x", 1)], [("y", (4,), outputs)])
    states = np.array([[0.0], [1.0], [2.0], [-1.0], [3.0], [np.nan], [1e300], [0.5]])
    want = [[1, 9, 6, 7], [2, 5, 9, 7], [np.nan, 5, 6, 9], [np.nan, 5, 6, 7], [np.nan, 5, 6, 7], [np.nan, 5, 6, 7],
            [np.nan, 5, 6, 7], [1, 9, 6, 7]]  # fmt: skip
    np.testing.assert_array_equal(interpreted(made, states), want)
    for lanes in (1, 4, 8):
        np.testing.assert_array_equal(native(made, states, lanes), want)
    if COMPILER:
        np.testing.assert_array_equal(in_c(made, states), want)


def test_an_index_that_leaves_its_array_is_refused_when_the_program_is_made():
    x = Graph().input("x", 0)
    with pytest.raises(TraceError) as caught:
        repeat(5, (x,), lambda k, v: (v * Table([1.0, 2.0, 3.0])[k],))
    assert str(caught.value) == (
        "an index runs from 0 to 4 over an array of 3 numbers.\n"
        "  Change the number of trips, or the length of the array."
    )
    with pytest.raises(SizeError, match="Table: index 3 of an array of 3 numbers"):
        Table([1.0, 2.0, 3.0])[3]


def test_what_a_body_gives_has_to_be_the_state():
    x = Graph().input("x", 0)
    with pytest.raises(SizeError, match="the body gives 2 scalars; the state has 1"):
        repeat(5, (x,), lambda k, v: (v, v))
    with pytest.raises(SizeError, match=r"count is 2\.5"):
        repeat(2.5, (x,), lambda k, v: (v,))


def test_a_scratch_of_a_body_is_gone_after_the_loop():
    x, made = Graph().input("x", 0), []

    def body(k, v):
        made.append(Scratch(2, like=v))
        made[0][0] = v
        return (made[0][0] + made[0][1],)

    (y,) = repeat(3, (x,), body)
    out = interpreted(order([Input("x", 1)], [("y", (1,), [y])]), np.array([[2.0]]))
    assert out == 2.0
    with pytest.raises(TraceError, match="used after the loop"):
        made[0][0]


def test_what_does_not_depend_on_the_trip_is_computed_before_the_loop():
    _, y = traced(lambda a, b, c: repeat(9, (a,), lambda k, v: (v * sin(b) + sqrt(c * c + 1.0),)))
    code = [op for op, _ in program(y).code]
    assert code.index("sin") < code.index("loop")
    assert code.index("sqrt") < code.index("loop")


def test_values_put_into_a_loop_run_it_again():
    x, y = traced(lambda a, b, c: repeat(5, (a,), lambda k, v: (v * b + c,)))
    assert evaluated(y, {x[0]: 1.0, x[1]: 2.0, x[2]: 3.0}) == [125.0]


def test_a_program_on_numbers_reads_nan_beyond_the_ends_of_an_input():
    graph = Graph()
    made = order([Input("k", 1), Input("x", SIZE)], [("y", (1,), [entry(graph, "x", SIZE, graph.input("k", 0))])])
    got = [replay(made, [[k], [5.0, 6.0, 7.0]])[0][0] for k in (-1.0, 0.0, 2.0, 3.0)]
    np.testing.assert_array_equal(got, [np.nan, 5.0, 7.0, np.nan])


def test_what_is_made_in_a_loop_is_not_used_after_it():
    x, left = Graph().input("x", 0), []

    def body(k, v):
        left.append(v * k)
        return (v + left[0],)

    (y,) = repeat(3, (x,), body)
    for used in (left[0], left[0] + y, repeat(2, (x,), lambda k, v: (v + left[0],))[0]):
        with pytest.raises(TraceError, match="made in the body of a loop is used after the loop"):
            order([Input("x", 1)], [("y", (2,), [y, used])])


def test_operations_count_as_often_as_they_are_taken():
    _, y = traced(lambda a, b, c: repeat(9, (a,), lambda k, v: (v * b + Table([1.0] * 20)[k * 2.0],)))
    assert program(y).operations == 18


def test_what_only_some_states_need_does_not_count():
    _, y = traced(lambda a, b, c: when(less(a, b), (a,), lambda v: repeat(9, (v,), lambda k, w: (w * b + c,))))
    assert program(y).operations == 2  # the condition, and its opposite


def test_a_choice_that_a_loop_carries_has_derivatives():
    x, y = traced(lambda a, b, c: repeat(4, (a, less(b, c)), lambda k, v, up: (select(up, v * b, v * c), up))[:1])
    made = interpreted(program([e for row in jacobian(y, x) for e in row]), rows())
    a, b, c = rows().T
    np.testing.assert_allclose(made[:, 0], np.where(b < c, b, c) ** 4, rtol=1e-12)
    np.testing.assert_allclose(made[:, 1], np.where(b < c, 4 * a * b**3, 0.0), rtol=1e-12)
