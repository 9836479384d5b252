"""Tracing leaves what a controller reaches as it was, and finds out the one that keeps something."""

import itertools
import random
from collections import deque
from typing import ClassVar

import numpy as np
import pytest

import hinge
from hinge.calls.controllers import Untraceable, on_numbers, trace_control, traced_key
from hinge.graph.arrays import Symbols
from hinge.graph.undoing import undone

ARM = hinge.samples.planar_2r()
count, log, book, integral = 0, [], {"i": np.zeros(2), "deep": [{"x": 0.0}]}, np.zeros(2)
queue, dice, fixed = deque(maxlen=3), np.random.default_rng(5), np.array([1.0, 2.0])


def counting(t, q, qd):
    global count
    count += 1
    return -q * (1.0 if count < 1000 else 0.0)


def rebinding(t, q, qd):
    global integral
    integral = integral + q
    return -integral


def filling(t, q, qd):
    book["i"] = book["i"] + q
    book["deep"][0]["x"] += 1.0
    return -book["i"]


def logging(t, q, qd):
    log.append(q)
    return -q


def new_name(t, q, qd):
    global made_here
    made_here = q
    return -q


def queueing(t, q, qd):
    queue.append(t)
    return -q * len(queue)


def throwing(t, q, qd):
    return -q + dice.normal(size=2) + random.random() + np.random.normal()


def through_another(t, q, qd):
    return counting(t, q, qd)


def on_itself(t, q, qd):
    on_itself.calls += 1
    return -q


on_itself.calls = 0


class Held:
    """A controller with state on the object, on its class, and in the module."""

    calls = 0
    seen: ClassVar = []
    __slots__ = ("last",)

    def __init__(self):
        self.last = np.zeros(2)

    def control(self, t, q, qd):
        Held.calls += 1
        self.seen.append(q)
        self.last = self.last + q
        return logging(t, q, qd) - self.last

    def __call__(self, t, q, qd):
        return self.control(t, q, qd)


class Hidden:
    """A controller that keeps the last position in a private slot, which Python knows by another name."""

    __slots__ = ("__last",)

    def __init__(self):
        self.__last = np.zeros(2)

    @property
    def last(self):
        return self.__last

    def __call__(self, t, q, qd):
        self.__last = self.__last + q
        return -self.__last


def in_closures():
    steps, total, inner = itertools.count(), np.zeros(2), {"n": 0}

    def control(t, q, qd):
        nonlocal total
        total = total + next(steps)
        inner["n"] += 1
        return -q * total

    return control, lambda: (next(steps), total.tolist(), inner["n"])


def state():
    held = [getattr(x, "tolist", lambda x=x: x)() for x in (book["i"], integral)]
    thrown = dice.bit_generator.state, random.getstate(), np.random.get_state()[1].tolist()
    deep = book["deep"][0]["x"]
    return count, len(log), held, deep, list(queue), thrown, Held.calls, len(Held.seen), on_itself.calls


KEEPING = [counting, rebinding, filling, logging, new_name, queueing, throwing, through_another, on_itself, Held(),
           Held().control, Hidden(), hinge.control.saturate(ARM, counting, 5.0)]  # fmt: skip


@pytest.mark.parametrize("control", KEEPING, ids=lambda c: getattr(c, "__qualname__", type(c).__name__))
def test_a_controller_that_keeps_something_is_found_out_and_nothing_is_changed(control):
    before = state()
    with pytest.raises(Untraceable, match="depends on more than t, q and qd"):
        trace_control(ARM.target, control)
    assert state() == before
    assert "made_here" not in globals()
    last = getattr(control, "last", np.zeros(2))
    assert type(last) is np.ndarray
    assert not last.any()


def test_closures_and_iterators_are_left_alone():
    control, now = in_closures()
    with pytest.raises(Untraceable):
        trace_control(ARM.target, control)
    assert now() == (0, [0.0, 0.0], 0)


def test_simulation_leaves_numbers_behind_and_no_symbols():
    log.clear()
    with pytest.warns(UserWarning, match="keeps something that changes from call to call"):
        run = hinge.simulate(ARM, 0.05, control=logging, step=1e-2)
    assert [type(q) for q in log] == [np.ndarray] * len(log)
    assert np.array_equal(log[:6], run.q)
    log.clear()


def test_a_constraint_leaves_the_module_alone():
    def level(q, t):
        log.append(q)
        return [q[0] + q[1] - 0.3]

    hinge.constrain(ARM, level, holonomic=True).forward([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    assert not any(isinstance(x, Symbols) for x in log)


def test_a_field_leaves_the_module_alone():
    def outward(q):
        log.append(q)
        return [q[0], q[1]]

    ARM.covariant_derivative(outward, outward)([0.1, 0.2])
    assert not any(isinstance(x, Symbols) for x in log)


class Lazy:
    """A controller that makes its gains when it is first asked."""

    def __init__(self):
        self.gains = None

    def __call__(self, t, q, qd):
        if self.gains is None:
            self.gains = np.array([3.0, 4.0])
        return -self.gains * q


def test_what_is_made_once_does_no_harm():
    control = Lazy()
    traced = trace_control(ARM.target, control)
    assert control.gains is None
    t, q = np.zeros(1), np.array([[1.0, 2.0]])
    np.testing.assert_array_equal(on_numbers(ARM.target, traced)(t, q, q), [[-3.0, -8.0]])


def test_a_block_puts_back_what_raised_halfway():
    def fails():
        fixed[:] = 7.0
        book["more"] = 1
        log.append(1)
        raise KeyError

    before = len(log)
    with undone(fails) as trial:
        with pytest.raises(KeyError):
            fails()
        assert trial.changed()
    assert fixed.tolist() == [1.0, 2.0]
    assert "more" not in book
    assert len(log) == before


# further inputs, and the key of a trace


def policy(t, q, qd, weights, bias):
    return np.tanh(weights @ np.concatenate([q, qd]) + bias) * t


def test_a_controller_takes_further_inputs():
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(5, 2, 4)), rng.normal(size=5)
    traced = trace_control(ARM.target, policy, (W[0], b[0]))
    t, q, qd = rng.normal(size=5), rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    made = on_numbers(ARM.target, traced, inputs=(W[0], b[0]))(t, q, qd, W, b)
    wanted = [policy(*x) for x in zip(t, q, qd, W, b, strict=True)]
    np.testing.assert_allclose(made, wanted, rtol=1e-14)


def test_the_key_is_that_of_what_is_computed():
    def made(gain):
        return lambda t, q, qd: -gain * q + np.interp(t, [0.0, 1.0], [0.0, gain])

    keys = [traced_key(ARM.target, trace_control(ARM.target, made(k))) for k in (2.0, 2.0, np.nextafter(2.0, 3.0))]
    assert keys[0] == keys[1] != keys[2]
    weights = np.ones((2, 4)), np.zeros(())
    key = traced_key(ARM.target, trace_control(ARM.target, policy, weights), weights)
    assert key == traced_key(ARM.target, trace_control(ARM.target, policy, [w + 1.0 for w in weights]), weights)
