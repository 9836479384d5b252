"""Twice the file takes twice the work: lines, questions and comparisons are counted."""

import re
import sys

import pytest

import hinge
from hinge.formats import dh_file
from hinge.logs.tables import Parquet, _Arrow
from hinge.model.build import unused

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def lines_of(do):
    """How many lines of Python it runs."""
    count = 0

    def step(frame, event, argument):
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        do()
    finally:
        sys.settrace(before)
    return count


def mimics(n):
    """A chain whose joints follow one another."""
    links = (
        f'<link name="l{k}">{INERTIAL}</link><joint name="j{k}" type="continuous"><parent link="l{k - 1}"/>'
        f'<child link="l{k}"/>' + (f'<mimic joint="j{k - 1}"/>' if k > 1 else "") + "</joint>"
        for k in range(1, n + 1)
    )
    return f'<robot name="r"><link name="l0"/>{"".join(links)}</robot>'


def loose(n):
    bodies = '<body><freejoint/><geom size="0.1"/></body>' * n
    return f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"


@pytest.mark.parametrize("written", [mimics, loose])
def test_a_robot_of_twice_the_joints_takes_twice_the_work(written):
    small, large = written(100), written(200)
    hinge.load(small)
    assert lines_of(lambda: hinge.load(large)) < 2.2 * lines_of(lambda: hinge.load(small))


def test_followers_of_followers_are_led_by_the_first():
    follows = hinge.load(mimics(50).replace('joint="j1"/>', 'joint="j1" multiplier="2" offset="3"/>')).model.follows
    assert [(follow.leader, follow.ratio, follow.offset) for follow in follows.values()] == [(1, 2.0, 3.0)] * 49
    assert list(follows) == list(range(2, 51))


class Asked(set):
    """A set that counts how often it is asked."""

    def __init__(self, *entries):
        super().__init__(*entries)
        self.times = 0

    def __contains__(self, entry):
        self.times += 1
        return super().__contains__(entry)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 1000, 4096])
def test_a_free_name_is_the_next_one_and_is_found_without_trying_all(n):
    taken = Asked(["base", *(f"base_{k}" for k in range(2, n + 1))])
    assert unused("base", taken) == f"base_{n + 1}"
    assert taken.times <= 4 + 2 * n.bit_length()


def test_a_free_name_is_free_where_some_are_missing():
    taken = {"a", "a_2", "a_4", "a_5", "a_16"}
    for _ in range(20):
        name = unused("a", taken)
        assert name not in taken
        taken.add(name)


class Letters(str):
    """A column's name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other):
        Letters.compared += 1
        return str.__eq__(self, other)

    def __hash__(self):
        return str.__hash__(self)

    def strip(self):
        return self


def test_a_log_of_many_columns_compares_each_once():
    _Arrow.__init__(log := object.__new__(Parquet), "wide.csv", [Letters(f"c{k}") for k in range(1000)])
    assert len(log.columns) == 1000
    assert Letters.compared < 10_000
    with pytest.raises(hinge.LogError, match="has two columns 'c7'"):
        _Arrow.__init__(object.__new__(Parquet), "wide.csv", ["c7", *(f"c{k}" for k in range(10))])


def test_a_search_in_a_table_begins_once_a_word():
    """Where it may begin is what makes a search of a long word quadratic: only at its start."""
    begins = re.compile(dh_file._DOTTED.pattern[: dh_file._DOTTED.pattern.index("(?:")] + r"[\w\"'-]")
    assert len(begins.findall("# " + "a" * 2000)) == 1
    assert dh_file._DOTTED.search("x" * 50 + " = 1\n" + "a." * 31 + "b = 1") is None
    assert dh_file._DOTTED.search("a . " * 31 + "'b'.c = 1")
    with pytest.raises(hinge.ModelError, match="32 deep"):
        hinge.load("a." * 40 + "b = 1\n[[joint]]\na = 1\n")


@pytest.mark.parametrize("text", ["[[joint]]", "a = 1\n \t[[ joint\t]]\n", "\n\n\n[[joint]]\na = 1\n"])
def test_a_table_is_known_by_its_joints(text):
    assert dh_file.is_table(text)
    assert not dh_file.is_table("<!-- " + text)
