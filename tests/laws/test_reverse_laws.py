"""Derivatives of programs with loops, memory, rows and records: forward and reverse agree, and with differences."""

import numpy as np
import pytest
from back_ends import interpreted, native, same_bits

from hinge.backends import interpret
from hinge.backends.llvm import Native
from hinge.errors import NotCovered
from hinge.graph import (
    Graph,
    Input,
    Record,
    Rows,
    Scratch,
    absolute,
    along,
    checkpoints,
    cos,
    evaluated,
    jacobian,
    less,
    order,
    pulled,
    repeat,
    select,
    sin,
    sqrt,
    when,
)
from hinge.graph.loops import entry, traced
from hinge.graph.products import product
from hinge.graph.reverse import Reverse

SIZE = 4


def fibonacci(x):
    """Memory that every trip reads and writes: a[k + 2] = sin a[k] + a[k + 1] / 2."""
    a = Scratch(12, like=x[0])
    a[0], a[1] = x[0], x[1] * x[2]
    traced(x[0].graph, 10, 0, (), lambda k: (a.__setitem__(k + 2.0, sin(a[k]) + 0.5 * a[k + 1.0]), ())[1], None)
    return [a[11], a[6] * x[3]]


def overwritten(x):
    """Numbers that are read, written over and read again, straight and in loops in loops."""
    a = Scratch(3, like=x[0])
    for k in range(3):
        a[k] = x[k]

    def sweep(k, s):
        def inner(j, t):
            a[j] = a[j] * cos(t) + a[2.0 - j] * x[3]
            return (t + sin(a[j]) * 0.3,)

        (t,) = repeat(3, (s,), inner)
        a[1] = a[1] - t * a[0]
        return (t * 0.5,)

    (s,) = repeat(4, (x[0],), sweep)
    a[0] = a[0] * a[0]
    return [a[0], a[1] + s, a[2]]


def local(x):
    """Memory that begins anew in every trip, read by loops inside it."""

    def body(k, y):
        a = Scratch(3, like=y)
        a[0], a[1] = y, x[1] * k
        traced(y.graph, 2, 0, (), lambda j: (a.__setitem__(2.0, a[2] + sin(a[j]) * a[2] + a[j]), ())[1], None)
        return (a[2] * x[2] + 0.1 * y,)

    return repeat(5, (x[0],), body)


def anywhere(x):
    """Indices that are data, some of them in no array."""
    a = Scratch(3, like=x[0])
    a[0], a[1], a[2] = x[:3]
    for at in (x[3] * 2.0, x[2] * 3.0 - 1.0, 1.0 - x[1]):
        a[at] = a[0] * a[2]
    return [a[0], a[1], a[2], select(less(absolute(x[0] - 1.0), 0.999), a[x[0]], 0.0)]


def newton(x):
    """A loop whose states stop when they like, reading and writing memory."""
    a = Scratch(2, like=x[0])
    a[0] = x[1] * x[1] + 0.5

    def step(k, y):
        a[1] = a[1] + 0.1 * y
        return (0.5 * (y + a[0] / y) + 0.01 * a[1],)

    (y,) = repeat(30, (a[0] + 1.0,), step, until=lambda y: less(absolute(y - sqrt(a[0])), 0.2 + 0.05 * absolute(x[2])))
    return [y, a[1]]


def skipped(x):
    """Work that some states do, in a loop, with memory."""
    a = Scratch(2, like=x[0])
    a[0] = x[1]

    def body(k, y):
        def work(z):
            a[1] = a[0] * sin(z)
            a[0] = a[1] + z
            return (z * a[1] - x[3],)

        return when(less(y, x[2]), (y + 0.2,), work)

    return [*repeat(4, (x[0],), body), a[0]]


def by_index(x):
    """An input that is read by an index and by name."""
    graph = x[0].graph
    read = lambda k: entry(graph, "x", SIZE, k)
    (y,) = repeat(SIZE, (x[0],), lambda k, v: (v * read(k) + sin(read(3.0 - k)),))
    return [y, read(floor_of(x[1])) * x[2]]


def floor_of(x):
    return select(less(x, 0.0), 0.0, 2.0)


def long_carry(x):
    """A loop that is long for what it carries: the middle of its states is computed again."""
    return repeat(23, (x[0], x[1]), lambda k, p, v: (p + 0.1 * v, v - 0.1 * sin(p) * x[2] + 0.01 * k))


def until_long(x):
    return repeat(23, (x[0], 0.1), lambda k, p, t: (p + t * x[1], t + 0.1), until=lambda p, t: less(1.0 + x[3], t))


def layers(x):
    """Products with large matrices inside a loop: a network that feeds itself."""
    W = np.random.default_rng(0).normal(size=(18, SIZE)) * 0.3
    back = np.random.default_rng(1).normal(size=(SIZE, 18)) * 0.3

    def step(k, *now):
        hidden = [sin(h) for h in product(np.vstack([W] * 4), np.array(now, object))[:18]]
        return [a + b for a, b in zip(now, back @ np.array(hidden, object), strict=True)]

    return repeat(3, x, step)


PROGRAMS = [fibonacci, overwritten, local, anywhere, newton, skipped, by_index, long_carry, until_long, layers]


def made(function):
    graph = Graph()
    x = [graph.input("x", k) for k in range(SIZE)]
    return x, [graph.scalar(y) for y in function(x)]


def program(outputs, **more):
    inputs = [Input("x", SIZE), *(Input(name, size) for name, size in more.items())]
    return order(inputs, [("y", (len(outputs),), outputs)])


def states(n=21):
    return np.random.default_rng(8).uniform(0.1, 1.4, (n, SIZE))


def differences(function, h=1e-6):
    """By central differences, where two steps agree."""
    _, y = made(function)
    plain = program(y)
    J = []
    for step in (h, 4 * h):
        moved = [[interpreted(plain, states() + s * step * np.eye(SIZE)[k]) for s in (1, -1)] for k in range(SIZE)]
        J.append(np.stack([(up - down) / (2 * step) for up, down in moved], axis=-1))
    return J[0], np.abs(J[0] - J[1]).max(axis=(1, 2)) < 1e-5


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kept", [1 << 18, 3], ids=["kept", "segments"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_forward_and_reverse_are_what_differences_say(function, kept, monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_KEPT", kept)
    x, y = made(function)
    weights = np.random.default_rng(2).normal(size=len(y))
    forward = program([e for row in jacobian(y, x) for e in row])
    back = program(pulled(y, weights.tolist(), x))
    J = interpreted(forward, states()).reshape(-1, len(y), SIZE)
    want, good = differences(function)
    assert good.sum() > 10
    np.testing.assert_allclose(J[good], want[good], rtol=1e-6, atol=1e-6)
    got = interpreted(back, states())
    np.testing.assert_allclose(got, np.einsum("nij,i->nj", J, weights), rtol=1e-11, atol=1e-11)
    for lanes in (1, 8):
        assert same_bits(native(back, states(), lanes), got).all()
        assert same_bits(native(forward, states(), lanes), interpreted(forward, states())).all()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kept", [1 << 18, 3], ids=["kept", "segments"])
@pytest.mark.parametrize("function", [f for f in PROGRAMS if f is not layers])
def test_second_derivatives_agree_whichever_way(function, kept, monkeypatch):
    """Forward over reverse, reverse over reverse and reverse over forward: u · H v of one weighted sum."""
    monkeypatch.setattr(checkpoints, "MOST_KEPT", kept)
    x, y = made(function)
    rng = np.random.default_rng(3)
    w, v = (rng.normal(size=n).tolist() for n in (len(y), SIZE))
    slope = pulled(y, w, x)
    first = along(slope, dict(zip(x, v, strict=True)))  # H v
    second = pulled(slope, v, x)  # vᵀ H
    rates = along(y, dict(zip(x, v, strict=True)))
    third = pulled(rates, w, x)
    wanted = _hessian(function, w, v)
    made_all = [interpreted(program(z), states()) for z in (first, second, third)]
    for got in made_all[1:]:
        np.testing.assert_allclose(got, made_all[0], rtol=1e-10, atol=1e-10)
    off = lambda a, b: np.abs(a - b).max(axis=1) / (1.0 + np.abs(b).max(axis=1))
    good = off(*wanted) < 1e-6
    assert good.sum() > 10
    assert off(made_all[0], wanted[0])[good].max() < 1e-5


def _hessian(function, w, v):
    x, y = made(function)
    slope = program(pulled(y, w, x))
    v = np.array(v)
    return [
        (interpreted(slope, states() + h * v) - interpreted(slope, states() - h * v)) / (2 * h) for h in (1e-6, 4e-6)
    ]


def test_a_walk_back_is_taken_for_each_weight_and_gives_the_outputs_too():
    x, y = made(overwritten)
    reverse = Reverse(y, x)
    rows = [reverse.pulled([1.0 if i == k else 0.0 for i in range(len(y))]) for k in range(len(y))]
    whole = program([*reverse.made, *(e for row in rows for e in row)])
    got = interpreted(whole, states())
    np.testing.assert_array_equal(got[:, : len(y)], interpreted(program(y), states()))
    forward = interpreted(program([e for row in jacobian(y, x) for e in row]), states())
    np.testing.assert_allclose(got[:, len(y) :], forward, rtol=1e-11, atol=1e-11)


def test_values_are_put_into_inputs_that_are_read_by_an_index():
    x, y = made(by_index)
    numbers = states(1)[0].tolist()
    want = interpreted(program(y), np.array([numbers]))[0]
    np.testing.assert_allclose(evaluated(y, dict(zip(x, numbers, strict=True))), want, rtol=1e-14)
    swapped = evaluated(y, dict(zip(x, x[::-1], strict=True)))
    np.testing.assert_allclose(
        interpreted(program(swapped), states()), interpreted(program(y), states()[:, ::-1].copy()), rtol=1e-14
    )


# ---- rows and records

STEPS = 12


class Rollout:
    """A pendulum pushed by rows of forces, read twice a step, that writes rows of a path; its trips may be an input."""

    def __init__(self, count=None):
        graph = self.graph = Graph()
        self.x = [graph.input("x", k) for k in range(3)]
        self.u, self.path = Rows(graph, "u", 2), Record(graph, "path", 2)
        n = graph.input("n", 0) if count is None else count

        def step(k, p, v):
            self.path[k] = [p * v, sin(p)]
            now, soon = self.u[k], self.u[k + 1.0]
            push = self.x[2] * (now[0] + 0.5 * soon[1] * p)
            return p + 0.1 * v, v - 0.1 * sin(p) + 0.1 * push

        self.end = repeat(n, self.x[:2], step)

    def rates(self):
        return {x: self.graph.input("v", k) for k, x in enumerate(self.x)} | {self.u: Rows(self.graph, "du", 2)}

    def run(self, outputs, how=interpret.run, states=5, **more):
        rng = np.random.default_rng(4)
        given = {"x": rng.normal(size=(states, 3)), "n": np.array([float(STEPS)]),
                 "u": rng.normal(size=(states, STEPS + 1, 2))} | more  # fmt: skip
        inputs = [Input("x", 3), Input("n", 1, uniform=True), Input("u", 2, stream=True)]
        known = {one.name for one in inputs}
        inputs += [Input(name, a.shape[-1], stream=a.ndim == 3) for name, a in more.items() if name not in known]
        plain, records = (
            [x for x in outputs if not isinstance(x, Record)],
            [x for x in outputs if isinstance(x, Record)],
        )
        outs = [np.full((states, len(plain)), 77.0), *(np.full((states, STEPS + 1, 2), 77.0) for _ in records)]
        how(order(inputs, [("y", (len(plain),), plain), *records]), [given[i.name] for i in inputs], outs)
        return outs


WAYS = [interpret.run, lambda p, a, o: Native(p, width=4).run(a, o)]


@pytest.mark.parametrize("count", [STEPS, None], ids=["known", "input"])
@pytest.mark.parametrize("how", WAYS)
def test_rates_and_pulls_of_a_rollout_with_rows_and_a_record_are_one_number(how, count):
    """w · (J v) = (wᵀ J) · v, over the state, the forces, the end and the path."""
    rng = np.random.default_rng(5)
    v, w, du, dpath = (rng.normal(size=s) for s in ((5, 3), (5, 2), (5, STEPS + 1, 2), (5, STEPS + 1, 2)))
    dpath[:, STEPS:] = 0.0
    one = Rollout(count)
    rates = dict(zip(one.x, [one.graph.input("v", k) for k in range(3)], strict=True)) | {
        one.u: Rows(one.graph, "du", 2)
    }
    *end, rate = along([*one.end, one.path], rates)
    got, path, _ = one.run([*end, rate, one.path], how, v=v, du=du)
    forward = (w * got).sum(axis=1) + (dpath * np.where(path == 77.0, 0.0, path)).sum(axis=(1, 2))

    two = Rollout(count)
    weights = [*(two.graph.input("w", k) for k in range(2)), Rows(two.graph, "dpath", 2)]
    *by, rows = pulled([*two.end, two.path], weights, [*two.x, two.u], rows=STEPS + 1)
    assert rows.name == "by_u"
    got, pushed, _ = two.run([*by, rows, two.path], how, w=w, dpath=dpath)
    np.testing.assert_allclose(forward, (v * got).sum(axis=1) + (du * pushed).sum(axis=(1, 2)), rtol=1e-12)


def test_rates_of_a_path_are_what_differences_say():
    rng = np.random.default_rng(6)
    x, u, v, du = (rng.normal(size=s) for s in ((5, 3), (5, STEPS + 1, 2), (5, 3), (5, STEPS + 1, 2)))
    one = Rollout(STEPS)
    rates = dict(zip(one.x, [one.graph.input("v", k) for k in range(3)], strict=True)) | {
        one.u: Rows(one.graph, "du", 2)
    }
    *end, rate = along([*one.end, one.path], rates)
    got = one.run([*end, rate, one.path], x=x, u=u, v=v, du=du)
    h, plain = 1e-6, Rollout(STEPS)
    up, down = (plain.run([*plain.end, plain.path], x=x + s * h * v, u=u + s * h * du) for s in (1, -1))
    np.testing.assert_allclose(got[0], (up[0] - down[0]) / (2 * h), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(got[1][:, :STEPS], ((up[1] - down[1]) / (2 * h))[:, :STEPS], rtol=1e-6, atol=1e-8)


def test_more_trips_than_were_said_have_no_derivative_and_none_said_are_refused():
    one = Rollout()
    with pytest.raises(NotCovered) as caught:
        pulled(one.end, [1.0, 1.0], one.x)
    assert str(caught.value) == (
        "the reverse derivative of a loop needs to know how many trips it has at the most.\n"
        "  Give repeat a number for count, or say with rows= how many."
    )
    one = Rollout()
    by = pulled(one.end, [1.0, 1.0], one.x, rows=STEPS - 1)
    assert np.isnan(one.run([*by, one.path])[0]).all()
    assert np.isfinite(one.run([*by, one.path], n=np.array([STEPS - 1.0]))[0]).all()


def test_a_long_loop_keeps_a_number_of_states_that_grows_with_the_root_of_its_trips():
    def kept(trips):
        graph = Graph()
        x = [graph.input("x", k) for k in range(SIZE)]
        y = repeat(trips, x, lambda k, *now: [sin(a) for a in now])
        code = program(pulled(y, [1.0] * SIZE, x)).code
        return sum(args[0].size for op, args in code if op == "fresh")

    short = checkpoints.MOST_KEPT // SIZE
    assert kept(short) == short * SIZE
    assert kept(100 * short) < 8 * SIZE * np.sqrt(100 * short)


def test_what_does_not_move_is_not_carried_back():
    x, y = made(lambda x: repeat(9, (x[0], x[1], x[2]), lambda k, a, b, c: (a * cos(b), b + c, less(b, c))))
    back = program(pulled(y[:1], [1.0], x[:1]))
    ends = [len(args) - 1 for op, args in back.code if op == "end"]
    assert ends == [3, 1]  # the states forward, and one derivative back
