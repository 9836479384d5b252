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


def test_an_environment_that_says_nothing_is_passed_over(monkeypatch):
    monkeypatch.setenv("HINGE_THREADS", "")
    assert threads.number() == available()


@pytest.mark.parametrize("value", ["0", "-2", "many", "1.5"])
def test_an_environment_that_says_no_number_of_threads_is_refused(monkeypatch, value):
    with monkeypatch.context() as patch:
        patch.setenv("HINGE_THREADS", value)
        with pytest.raises(
            hinge.SizeError, match=f"HINGE_THREADS='{value}' is not a number of threads. Give 1 or more"
        ):
            threads.number()


THREADS = """
import sys, threading, numpy as np, hinge
arm, most, going = hinge.samples.puma560(), 0, True

def watch():
    global most
    while going:
        with open("/proc/self/status") as file:
            most = max(most, int(next(line for line in file if line.startswith("Threads:")).split()[1]))

z = np.zeros((int(sys.argv[1]), 6))
arm.inverse_dynamics(z[:1], z[:1], z[:1])
watching = threading.Thread(target=watch)
watching.start()
for _ in range(40):
    arm.inverse_dynamics(z, z, z)
going = False
watching.join()
print(most - 2)
"""


@pytest.mark.sampled(1)
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system does not tell how many threads run")
@pytest.mark.parametrize(("n", "states", "besides"), [(1, 300_000, 0), (3, 300_000, 2), (5, 300_000, 4), (3, 1000, 0)])
def test_a_process_uses_as_many_threads_as_its_environment_says_where_that_pays(n, states, besides):
    ran = python(THREADS, states, HINGE_THREADS=str(n), OPENBLAS_NUM_THREADS="1")
    assert (ran.returncode, ran.stderr, int(ran.stdout)) == (0, "", besides)


@pytest.mark.parametrize("n", range(2, 9))
def test_the_parts_of_a_batch_cover_it_once(n):
    robot = hinge.samples.planar_2r()
    given = states(robot, 1031)
    want = robot.inverse_dynamics(*given)
    hinge.set_threads(n)
    threads.tell(smallest=0.0)
    for size in [*range(1, 70), 1031]:
        out = np.full((size + 9, 2), 7.0)
        robot.inverse_dynamics(*(x[:size] for x in given), out=out[:size])
        assert same_bits(out[:size], want[:size])
        assert (out[size:] == 7.0).all()


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


def test_eight_threads_that_share_batches_over_threads_do_not_disturb_each_other():
    robot = tree()
    given = [states(robot, 200 + k, k) for k in range(8)]
    want = [robot.forward_dynamics(*g) for g in given]
    hinge.set_threads(3)
    threads.tell(smallest=0.0)
    made = at_once(8, lambda k: [robot.forward_dynamics(*given[k]) for _ in range(20)])
    for runs, one in zip(made, want, strict=True):
        assert all(same_bits(run, one) for run in runs)


def test_the_number_of_threads_may_change_while_batches_run():
    robot = tree()
    given = states(robot, 500)
    want = robot.inverse_dynamics(*given)

    def work(k):
        if k == 0:
            for n in range(200):
                hinge.set_threads(1 + n % 5)
                threads.tell(smallest=0.0)
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
