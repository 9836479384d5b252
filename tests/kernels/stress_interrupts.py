"""Interrupts at random times, and bound calls from several threads; run as a script: what it looks for ends Python.

    python stress_interrupts.py INTERRUPTS ROUNDS [SEED]

A timer sends signals whose handler raises, in the middle of calls that run over threads: with a result of their own,
with `out=`, bound, of several results, and in simulations. After each one the numbers of the next call are compared
with what they are without interrupts, and no memory may be written that a call has left.
"""

import json
import signal
import sys
import threading
import warnings

import numpy as np

import hinge
from hinge.backends import threads


class Interrupted(BaseException):
    """What the handler raises; no `except Exception` may swallow it."""


def fired(number, frame):
    raise KeyboardInterrupt if fired.usual else Interrupted


fired.usual = True


def interrupted(call, after):
    """Whether the call was interrupted, by a signal that comes after so many seconds."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            call()
            return False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except (KeyboardInterrupt, Interrupted):
        return True


def calls_of(robot, n, rng):
    """Ways to compute, each a function of what to start from: what it gives is compared bit by bit."""
    q, qd = robot.random_state(rng, n)
    out, matrix = np.empty((n, robot.nv)), np.empty((n, robot.nv, robot.nv))
    bound = robot.kernel("mass_matrix").bind(q, matrix)
    small = q[:64], qd[:64]

    def into_a_place():
        return robot.inverse_dynamics(q, qd, qd, out=out)

    def bound_call():
        bound()
        return matrix

    def simulated():
        run = hinge.simulate(robot, t=0.02, q0=small[0], qd0=small[1], record="last")
        if run.info.get("stopped"):
            raise KeyboardInterrupt
        return run.q

    return {
        "plain": lambda: robot.inverse_dynamics(q, qd, qd),
        "place": into_a_place,
        "bound": bound_call,
        "several": lambda: np.concatenate(robot.step(q, qd, qd, 1e-3), axis=-1),
        "status": lambda: robot.forward_dynamics(q, qd, qd, return_status=True)[0],
        "simulated": simulated,
    }


def stress_interrupts(count, seed):
    """How many interrupts came through, and how many calls gave other numbers than they should."""
    rng = np.random.default_rng(seed)
    robot = hinge.samples.chain(np.random.default_rng(0), 12)
    signal.signal(signal.SIGALRM, fired)
    hinge.set_threads(4)
    threads.tell(smallest=1000.0)
    calls = calls_of(robot, 3000, rng)
    want = {name: call().copy() for name, call in calls.items()}
    came, wrong, tried = 0, 0, 0
    names = list(calls)
    while came < count:
        tried += 1
        name = names[int(rng.integers(len(names) if tried % 10 == 0 else len(names) - 1))]
        fired.usual = bool(tried % 2)
        came += interrupted(calls[name], float(rng.uniform(1e-6, 4e-3 if name != "simulated" else 1e-2)))
        again = calls[names[tried % (len(names) - 1)]]()  # what is called next, whichever was interrupted
        wrong += not np.array_equal(again, want[names[tried % (len(names) - 1)]])
    return {"interrupts": came, "calls": tried, "wrong": wrong}


def stress_bound(rounds):
    """How many of these rounds of bound calls, from four threads at once, gave other numbers than they should."""
    robot = hinge.samples.chain(np.random.default_rng(0), 20)
    q, _ = robot.random_state(np.random.default_rng(1), 2000)
    out = np.empty((2000, 20, 20))
    kernel = robot.kernel("mass_matrix")
    want, bound, wrong = kernel(q), kernel.bind(q, out), 0
    for n in range(rounds):
        out[:] = np.nan
        hinge.set_threads(1 + n % 2)
        running = [threading.Thread(target=bound) for _ in range(4)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        wrong += not np.array_equal(out, want)
    return {"rounds": rounds, "wrong": wrong}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # a simulation says that it was interrupted
    interrupts, rounds, *seed = map(int, sys.argv[1:])
    print(json.dumps(stress_interrupts(interrupts, seed[0] if seed else 0) | {"bound": stress_bound(rounds)}))
