"""Long programs are cut into pieces that hand values on; where they are cut does not change a bit."""

import numpy as np
import pytest
from kernel_cases import ROBOTS, same_bits, states

import hinge
from hinge.backends import partition as cut


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    """An entry does not say where its program was cut."""
    monkeypatch.setenv("HINGE_CACHE_DIR", "")


def chain(n):
    return hinge.samples.chain(np.random.default_rng(6), n)


@pytest.fixture(scope="module")
def program():
    return chain(40).kernel("forward_dynamics").program


def crossing(program, ends):
    """Values that a later piece reads, each with its own piece and the last that reads it, found the slow way."""
    piece = np.searchsorted(ends, np.arange(len(program.code)), side="right")
    last = {}
    for n, (op, args) in enumerate(program.code):
        if op != "input":
            for a in args:
                if type(a) is int and program.code[a][0] != "input" and piece[a] != piece[n]:
                    last[a] = int(piece[n])
    return {a: (int(piece[a]), k) for a, k in last.items()}


def test_pieces_cover_the_program_and_are_of_a_length_to_digest(program):
    pieces = cut.cut(program)
    lengths = np.diff([0, *pieces.ends])
    assert pieces.ends[-1] == len(program.code)
    assert len(lengths) > 5
    assert all(cut.SHORTEST <= length <= 2 * cut.SHORTEST for length in lengths[:-1])
    assert 0 < lengths[-1] <= 2 * cut.SHORTEST


def test_exactly_the_values_that_cross_are_kept(program):
    pieces = cut.cut(program)
    assert set(pieces.slot) == set(crossing(program, pieces.ends))


def test_no_two_values_share_a_place_while_both_are_needed(program):
    pieces = cut.cut(program)
    lives = crossing(program, pieces.ends)
    taken = {}
    for value, (first, last) in sorted(lives.items()):
        place = pieces.slot[value]
        assert 0 <= place < pieces.slots
        for k in range(first, last + 1):
            assert taken.setdefault((place, k), value) == value


def test_places_are_used_again(program):
    pieces = cut.cut(program)
    assert pieces.slots < 0.8 * len(pieces.slot)


def test_a_short_program_stays_whole():
    pieces = cut.cut(ROBOTS["puma"]().kernel("inverse_dynamics").program)
    assert (len(pieces.ends), pieces.slot, pieces.slots) == (1, {}, 0)


@pytest.mark.sweep
def test_a_long_chain_in_pieces_equals_the_whole(monkeypatch):
    given = states(chain(40), 9)
    in_pieces = chain(40)
    assert len(cut.cut(in_pieces.kernel("forward_dynamics").program).ends) > 5
    want = in_pieces.forward_dynamics(*given)
    np.testing.assert_allclose(want, in_pieces.forward_dynamics(*given, backend="interpret"), rtol=1e-6, atol=1e-6)
    monkeypatch.setattr(cut, "LONGEST", 10**9)
    whole = chain(40)
    assert same_bits(whole.forward_dynamics(*given), want)
    assert same_bits(whole.forward_dynamics(*(x[4] for x in given)), want[4])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "number"), [("tree", np.float64), ("follower", np.float32), ("floating", np.float64)])
def test_robots_in_the_smallest_pieces_equal_the_whole(monkeypatch, name, number):
    """Truths cross too: forward dynamics ends in choosing NaN where a pivot is not positive."""
    given = states(ROBOTS[name](), 21, dtype=number)
    given[0][5] = np.nan
    whole, whole_status = ROBOTS[name]().forward_dynamics(*given, return_status=True)
    monkeypatch.setattr(cut, "SHORTEST", 3)
    monkeypatch.setattr(cut, "LONGEST", 10)
    robot = ROBOTS[name]()
    program = robot.kernel("forward_dynamics").program
    assert len(cut.cut(program).ends) > len(program.code) / 10
    made, status = robot.forward_dynamics(*given, return_status=True)
    rest = np.arange(21) != 5
    assert same_bits(made[rest], whole[rest])
    assert np.isnan(made[5]).all()
    assert same_bits(status, whole_status)
    for what in ("integrate", "difference"):
        wanted = given[:2] if what == "integrate" else [given[0], given[0][::-1].copy()]
        with monkeypatch.context() as patch:
            patch.setattr(cut, "LONGEST", 10**9)
            other = getattr(ROBOTS[name](), what)(*wanted)
        assert np.array_equal(getattr(robot, what)(*wanted), other, equal_nan=True)
