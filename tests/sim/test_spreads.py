"""What rollouts are given: a function of their number, the seed and a name; distributed as the words say."""

import math

import numpy as np
import pytest
from scipy import stats

import hinge
from hinge import SizeError
from hinge.graph import uniform as random
from hinge.sweeps import grid, latin, normal, table, uniform
from hinge.sweeps.spreads import LAWS, Space, kernel, shuffled

MANY = 20_000


def drawn(spread, k, shape=(), total=MANY, seed=0, name="x"):
    return spread.values(name, shape, Space(seed, total), np.asarray(k))


@pytest.mark.parametrize("spread", [uniform(-1.0, 2.0), latin(-1.0, 2.0), normal(0.5, 2.0)], ids=repr)
def test_a_rollout_s_numbers_do_not_depend_on_the_others(spread):
    whole = drawn(spread, np.arange(300), (2,))
    order = np.random.default_rng(0).permutation(300)
    assert np.array_equal(drawn(spread, order, (2,)), whole[order])
    assert np.array_equal(drawn(spread, [77], (2,))[0], whole[77])
    assert not np.array_equal(drawn(spread, np.arange(300), (2,), seed=1), whole)
    assert not np.array_equal(drawn(spread, np.arange(300), (2,), name="y"), whole)
    assert len(np.unique(whole)) == whole.size


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
def test_numbers_have_the_same_bits_on_every_back_end(law):
    """The loop that is compiled, and the law on floats."""
    keys, k = Space(3, 50).keys("x", 2), np.arange(50.0)
    made = kernel(law)(k, np.array([50.0, 2.0]), keys[:, None], rows=2)[..., 0]
    plain = np.array([[LAWS[law].standard(key, at, 50.0) for key in keys.tolist()] for at in k.tolist()])
    assert np.array_equal(made, plain)


@pytest.mark.parametrize(
    ("spread", "known"),
    [(uniform(-1.0, 2.0), stats.uniform(-1.0, 3.0)), (normal(0.5, 2.0), stats.norm(0.5, 2.0))],
    ids=["uniform", "normal"],
)
def test_what_is_drawn_is_distributed_as_it_says(spread, known):
    x = drawn(spread, np.arange(MANY), (3,))
    for column in x.T:
        assert stats.kstest(column, known.cdf).pvalue > 1e-3
    apart = stats.pearsonr(x[:, 0], x[:, 1]), stats.pearsonr(x[:-1, 0], x[1:, 0])
    assert all(one.pvalue > 1e-3 for one in apart)


@pytest.mark.parametrize("total", [1, 2, 3, 7, 100, 101, 9973])
def test_a_latin_hypercube_hits_every_part_once(total):
    x = drawn(latin(0.0, 1.0), np.arange(total), (3,), total)
    parts = np.floor(x * total)
    assert np.array_equal(np.sort(parts, axis=0), np.repeat(np.arange(total)[:, None], 3, axis=1))
    if total > 1000:
        assert stats.pearsonr(parts[:, 0], parts[:, 1]).pvalue > 1e-3
        assert stats.pearsonr(parts[:-1, 0], parts[1:, 0]).pvalue > 1e-3
        assert stats.kstest(x[:, 0] * total - parts[:, 0], stats.uniform.cdf).pvalue > 1e-3


def test_a_number_is_found_in_a_shuffle_of_a_million_billion():
    total = float(2**50)
    made = [shuffled(5.0, k, total) for k in (0.0, 1.0, total / 2.0, total - 1.0)]
    assert len(set(made)) == 4
    assert all(0.0 <= x < total and x == int(x) for x in made)


@pytest.mark.parametrize("total", [2, 3, 4, 5])
def test_all_orders_of_a_few_are_equally_likely(total):
    keys = np.random.default_rng(0).integers(0, 2**52, MANY).astype(float)[:, None]
    drawn = kernel("latin")(np.arange(float(total)), np.array([total, MANY], float), keys, rows=MANY)[..., 0]
    _, seen = np.unique(np.floor(total * drawn), axis=1, return_counts=True)
    assert len(seen) == math.factorial(total)
    assert stats.chisquare(seen).pvalue > 1e-3


def test_grids_are_taken_each_with_each_and_tables_row_after_row():
    space = Space(0, 2, {"a": 3, "b": 2})
    k = np.arange(space.total)
    a = grid([1.0, 2.0, 3.0]).values("a", (), space, k)
    b = grid([[0.0, 1.0], [2.0, 3.0]]).values("b", (2,), space, k)
    rows = table([7.0, 8.0]).values("c", (), space, k)
    assert space.total == 12
    assert a.tolist() == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    assert b[:, 0].tolist() == [0.0, 0.0, 2.0, 2.0] * 3
    assert rows.tolist() == [7.0, 8.0] * 6


def test_random_numbers_are_those_of_the_graph():
    (key,) = Space(11, 5).keys("x", 1)
    assert drawn(uniform(0.0, 1.0), np.arange(5), total=5, seed=11).tolist() == [
        random(key, float(k)) for k in range(5)
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: uniform(2.0, 1.0), "uniform: low is above high. Give them the other way round."),
        (lambda: latin([0.0, 1.0], [1.0, 2.0, 3.0]), "latin: low (2,) and high (3,) do not fit together."),
        (lambda: normal(0.0, -1.0), "normal: deviation is -1; it has to be zero or more."),
        (lambda: grid([]), "grid has shape (0,); give at least one value, (k, …)."),
        (lambda: table([1.0, np.nan]), "table[1] is nan. Give finite numbers."),
        (lambda: uniform(0.0, np.inf), "uniform: high is inf. Give finite numbers."),
    ],
)
def test_what_is_no_spread_is_refused(make, said):
    with pytest.raises(SizeError) as caught:
        make()
    assert str(caught.value) == said


def test_a_spread_prints_as_it_is_written():
    assert repr(hinge.sweeps.uniform([0.5, 1.0], 2.0)) == "uniform([0.5, 1.0], 2.0)"
