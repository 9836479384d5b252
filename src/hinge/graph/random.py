"""A random number that is a function of a key and a counter, so that it is the same on every back end.

    uniform(seed, 1000.0 * state + step)

No state is kept: a number is found by where it is in the stream, in any order, by any lane, on any machine.
Source: Threefry with two words of 32 bits and 20 rounds, by Salmon, Moraes, Dror and Shaw (2011).
"""

from __future__ import annotations

from hinge.graph.machine import Machine, Value, Whole
from hinge.graph.ops import function

WORD = 2**32 - 1
PARITY = 0x1BD11BDA
TURNS = (13, 15, 26, 6, 17, 29, 16, 24)  # places by which a word is rotated, round after round
ROUNDS = 20
LARGEST = 2.0**53  # whole numbers up to here are floats


def threefry(m: Machine, key: tuple[Whole, Whole], counter: tuple[Whole, Whole]) -> tuple[Whole, Whole]:
    """Two words of 32 bits from a key of two and a counter of two, each held in a whole number of 64 bits."""
    word = m.integer(WORD)
    keys = (*key, m.int_xor(m.int_xor(*key), m.integer(PARITY)))

    def plus(a: Whole, b: Whole) -> Whole:
        return m.int_and(m.int_add(a, b), word)

    a, b = plus(counter[0], key[0]), plus(counter[1], key[1])
    for n in range(ROUNDS):
        turn = TURNS[n % 8]
        a = plus(a, b)
        b = m.int_and(m.int_or(m.left(b, turn), m.right(b, 32 - turn)), word)
        b = m.int_xor(a, b)
        if n % 4 == 3:
            k = n // 4 + 1
            a, b = plus(a, keys[k % 3]), plus(b, plus(keys[(k + 1) % 3], m.integer(k)))
    return a, b


def _words(m: Machine, x: Value) -> tuple[Whole, Whole]:
    """The low and the high word of a whole number."""
    scale = 2.0**32
    high = m.floor(m.mul(x, m.constant(1.0 / scale)))
    low = m.fnma(high, m.constant(scale), x)
    first, second = (m.bits(m.add(m.floor(part), m.constant(2.0**52))) for part in (low, high))
    return m.int_and(first, m.integer(WORD)), m.int_and(second, m.integer(WORD))


def _float(m: Machine, n: Whole) -> Value:
    """A whole number below 2^52 as a float."""
    return m.sub(m.from_bits(m.int_or(n, m.bits(m.constant(2.0**52)))), m.constant(2.0**52))


def uniform_number(m: Machine, key: Value, counter: Value) -> Value:
    """A multiple of 2^-53 from zero to less than one, of 2^-24 in single precision.

    Keys and counters are rounded down; below zero and above 2^53 there are none, and the result is NaN.
    """
    wide = m.wider() if m.single else m
    key, counter = (m.widen(x) if m.single else x for x in (key, counter))
    first, second = threefry(wide, _words(wide, key), _words(wide, counter))
    if m.single:
        made = wide.mul(_float(wide, wide.right(first, 8)), wide.constant(2.0**-24))
    else:
        low = m.mul(_float(m, m.right(second, 11)), m.constant(2.0**-53))
        made = m.fma(_float(m, first), m.constant(2.0**-32), low)
    for x in (key, counter):
        below = wide.less(x, wide.constant(0.0))
        inside = wide.less(x, wide.constant(LARGEST + 2.0))
        made = wide.select(inside, wide.select(below, wide.constant(float("nan")), made), wide.constant(float("nan")))
    return m.narrow(made) if m.single else made


uniform = function(
    "uniform", 2, "A random number in [0, 1): uniform(key, counter) of whole numbers up to 2^53.",
    lambda n, key, counter: (0.0, 0.0), numpy=(), body=uniform_number,
)  # fmt: skip
