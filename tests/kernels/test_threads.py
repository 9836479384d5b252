"""How many threads there are, how a batch is shared among them, and calls from many threads at once."""

import os
import sys
import threading

import numpy as np
import pytest
from kernel_cases import python, same_bits, states, tree

import hinge
from hinge.backends import threads


@pytest.mark.parametrize("n", [0, -1, 1.0, 2.5, "2", [2], float("nan")])
def test_what_is_no_number_of_threads_is_refused(n):
    hinge.set_threads(3)
    with pytest.raises(ValueError, match="Give 1 or more, or None") as caught:
        hinge.set_threads(n)
    assert str(caught.value) == f"set_threads: {n!r} is not a number of threads. Give 1 or more, or None."
    assert threads.number() == 3


def available():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def test_the_environment_says_how_many_threads_there_are(monkeypatch):
    assert threads.number() == available()
    monkeypatch.setenv("HINGE_THREADS", "3")
    assert threads.number() == 3
    hinge.set_threads(5)
    assert threads.number() == 5
    hinge.set_threads(None)
    assert threads.number() == 3


@pytest.mark.parametrize("value", ["", "0", "-2", "many", "1.5"])
def test_an_environment_that_says_nothing_is_passed_over(monkeypatch, value):
    monkeypatch.setenv("HINGE_THREADS", value)
    assert threads.number() == available()


@pytest.mark.parametrize("n", [1, 3])
def test_a_process_uses_as_many_threads_as_its_environment_says(n):
    code = """
import numpy as np, threading, hinge
arm = hinge.samples.planar_2r()
z = np.zeros((300_000, 2))
arm.inverse_dynamics(z, z, z)
print(sum(t.name.startswith("hinge") for t in threading.enumerate()))
"""
    ran = python(code, HINGE_THREADS=str(n))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert min(1, n - 1) <= int(ran.stdout) <= n - 1  # a pool starts a thread only where none of it is idle


def parts_of(states, block, length):
    parts = []
    threads.share(lambda first, n: parts.append((first, n)), states, block, length)
    return sorted(parts)


@pytest.mark.parametrize("block", [2, 4, 8, 16])
def test_the_parts_of_a_batch_are_whole_blocks_and_cover_it_once(monkeypatch, block):
    monkeypatch.setattr(threads, "SMALLEST", 1e-9)
    for n in range(1, 9):
        hinge.set_threads(n)
        for states_ in [*range(1, 70), 1031, 4096]:
            parts = parts_of(states_, block, 100)
            assert 1 <= len(parts) <= n
            assert [first for first, _ in parts] == [sum(k for _, k in parts[:j]) for j in range(len(parts))]
            assert sum(k for _, k in parts) == states_
            assert all(k > 0 and k % block == 0 for _, k in parts[:-1])
            assert parts[-1][1] > 0


def test_little_work_is_not_handed_out():
    hinge.set_threads(8)
    assert parts_of(100, 4, 500) == [(0, 100)]
    assert len(parts_of(100_000, 4, 500)) == 8
    hinge.set_threads(1)
    assert parts_of(1_000_000, 4, 5000) == [(0, 1_000_000)]


def test_a_fault_in_any_part_is_raised_after_all_have_ended(monkeypatch):
    monkeypatch.setattr(threads, "SMALLEST", 1e-9)
    hinge.set_threads(4)
    for bad in range(4):
        ended = []

        def part(first, n, bad=bad, ended=ended):
            ended.append(first)
            if first == 4 * bad:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            threads.share(part, 16, 4, 100)
        assert sorted(ended) == [0, 4, 8, 12]


# ---- many threads call at once


def at_once(n, work):
    """Run work(k) in n threads that begin together; the results in order."""
    barrier, made, problems = threading.Barrier(n), [None] * n, []

    def run(k):
        barrier.wait()
        try:
            made[k] = work(k)
        except BaseException as problem:
            problems.append(problem)

    running = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert problems == []
    return made


def test_eight_threads_share_a_robot_that_has_compiled_nothing(cold):
    robot, given = tree(), states(tree(), 100)
    names = ["inverse_dynamics", "forward_dynamics"] * 4
    made = at_once(8, lambda k: getattr(robot, names[k])(*given))
    for name, got in zip(names, made, strict=True):
        assert same_bits(got, getattr(tree(), name)(*given))


def test_eight_threads_that_call_one_state_at_a_time_do_not_disturb_each_other():
    robot = tree()
    given = states(robot, 8 * 300)
    want = robot.forward_dynamics(*given)

    def work(k):
        rows = range(300 * k, 300 * k + 300)
        return np.stack([robot.forward_dynamics(*(x[r] for x in given)) for r in rows])

    assert same_bits(np.concatenate(at_once(8, work)), want)


def test_eight_threads_that_share_batches_over_threads_do_not_disturb_each_other(monkeypatch):
    robot = tree()
    given = [states(robot, 200 + k, k) for k in range(8)]
    want = [robot.forward_dynamics(*g) for g in given]
    monkeypatch.setattr(threads, "SMALLEST", 1e-9)
    hinge.set_threads(3)
    made = at_once(8, lambda k: [robot.forward_dynamics(*given[k]) for _ in range(20)])
    for runs, one in zip(made, want, strict=True):
        assert all(same_bits(run, one) for run in runs)


def test_the_number_of_threads_may_change_while_batches_run(monkeypatch):
    robot = tree()
    given = states(robot, 500)
    want = robot.inverse_dynamics(*given)
    monkeypatch.setattr(threads, "SMALLEST", 1e-9)

    def work(k):
        if k == 0:
            for n in range(200):
                hinge.set_threads(1 + n % 5)
            return True
        return all(same_bits(robot.inverse_dynamics(*given), want) for _ in range(60))

    assert at_once(4, work) == [True] * 4


def test_large_results_of_eight_threads_do_not_share_memory():
    robot = hinge.samples.planar_2r()
    given = [states(robot, 6000, k) for k in range(8)]
    want = [robot.inverse_dynamics(*g) for g in given]
    hinge.set_threads(1)

    def work(k):
        good = True
        for _ in range(30):
            one = robot.inverse_dynamics(*given[k])
            other = robot.gravity_force(given[k][0])
            good &= same_bits(one, want[k]) and not np.shares_memory(one, other)
        return good

    assert at_once(8, work) == [True] * 8


def other_thread_gets_in(call):
    """Whether another thread can run during the call, where Python itself never interrupts a thread."""
    go, order = threading.Event(), []

    def other():
        go.wait()
        order.append("other")

    waiting = threading.Thread(target=other)
    interval = sys.getswitchinterval()
    waiting.start()
    try:
        sys.setswitchinterval(100.0)
        go.set()
        call()
        order.append("call")
    finally:
        sys.setswitchinterval(interval)
    waiting.join()
    return order == ["other", "call"]


def test_other_threads_run_while_a_batch_is_computed():
    robot = hinge.samples.puma560()
    given = states(robot, 100_000)
    out = np.empty_like(given[1])
    kernel = robot.kernel("forward_dynamics")
    hinge.set_threads(1)
    for call in (lambda: kernel(*given, out=out), lambda: kernel(*given)):
        assert any(other_thread_gets_in(call) for _ in range(50))
