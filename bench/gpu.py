"""Kernels on a GPU: time a state, and the share of what a copy on the same card reaches.

python bench/gpu.py ur5.urdf panda.urdf,panda_finger_joint1 g1.urdf   (with CuPy, on a machine with a GPU)
python bench/gpu.py rollouts panda.urdf                               (steps a second)

Joints named after a file are locked for derivatives.
"""

import itertools
import sys
import time

import cupy
import numpy as np

import hinge
from hinge.backends.cuda.device import gpu

STATES, TRIPS, ROUNDS = 1 << 20, 20, 3
ROLLOUTS, STEPS, H = 1 << 17, 1000, 1e-4
NAMES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
NUMBERS = (np.float32, np.float64)
SLOPES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


def seconds(call, trips=TRIPS):
    """The shortest time of a call on the GPU, of a few rounds of many."""
    call()
    best = np.inf
    for _ in range(ROUNDS):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        for _ in range(trips):
            call()
        last.record()
        last.synchronize()
        best = min(best, 1e-3 * cupy.cuda.get_elapsed_time(first, last) / trips)
    return best


def bandwidth():
    """Bytes a second of a copy, read and written."""
    x = cupy.zeros(1 << 28, cupy.float32)
    y = cupy.empty_like(x)
    return 2 * x.nbytes / seconds(lambda: cupy.copyto(y, x))


def row(robot, name, number, copied):
    """The row of the table for one kernel; derivatives are packed."""
    how = {"packed": True} if name in SLOPES else {}
    start = time.perf_counter()
    kernel = robot.kernel(name, backend="cuda", **how)
    code = kernel.code(np.dtype(number))
    ready = time.perf_counter() - start
    rng, rows = np.random.default_rng(0), []
    q, qd = robot.random_state(rng, 4096)
    for one in kernel.plan.inputs:
        rows.append(cupy.asarray(np.tile((q if one.name == "q" else qd).astype(number), (STATES // 4096, 1))))
    outs = [cupy.empty((STATES, *shape), number) for shape in kernel.plan.outputs]
    addresses, stream = [x.data.ptr for x in (*rows, *outs)], cupy.cuda.get_current_stream().ptr
    taken = seconds(lambda: code.launch(gpu(), addresses, (), STATES, stream))
    share = sum(x.nbytes for x in (*rows, *outs)) / taken / copied
    small, call = [x[:64] for x in rows], getattr(robot, name)
    made = call(*small, **how)  # and the call from Python, for a small batch
    start = time.perf_counter()
    for _ in range(1000):
        made = call(*small, **how)
    called = (time.perf_counter() - start) / 1000
    cupy.cuda.Device().synchronize()
    assert np.array_equal(made.get(), outs[0][:64].get(), equal_nan=True)
    return (
        f"| {robot.name} | {name} | {np.dtype(number).name} | {1e9 * taken / STATES:.4f} | {100 * share:.0f} % "
        f"| {1e6 * called:.0f} | {ready:.1f} |"
    )


def computed_torque(robot):
    """A policy that drives all joints to a target, its inverse dynamics traced into the step."""
    return lambda t, q, qd, target: robot.inverse_dynamics(q, qd, 100.0 * (target - q) - 20.0 * qd)


def rollout_row(robot, method, number, controlled, every, rollouts=ROLLOUTS):
    """The row of the table for rollouts, from the call to the end of the work on the GPU."""
    rng = np.random.default_rng(0)
    q, qd = (np.tile(x.astype(number), (rollouts // 1024, 1)) for x in robot.random_state(rng, 1024))
    q, qd = cupy.asarray(q), cupy.asarray(0.1 * qd)
    given = {"tau": cupy.zeros_like(qd)}
    if controlled:
        given = {"policy": computed_torque(robot), "inputs": [cupy.zeros(robot.nq, number)]}
    start = time.perf_counter()
    made = hinge.rollout(robot, q, qd, STEPS, H, method=method, record=every, **given)
    cupy.cuda.Device().synchronize()
    ready = time.perf_counter() - start
    del made
    taken = seconds(lambda: hinge.rollout(robot, q, qd, STEPS, H, method=method, record=every, **given), 3)
    words = f"rollout {method}, {'computed torque' if controlled else 'held torque'}"
    words += "" if every >= STEPS else f", record every {every}"
    return f"| {robot.name} | {words} | {np.dtype(number).name} | {1e-9 * rollouts * STEPS / taken:.2f} | {ready:.1f} |"


def main_rollouts(files):
    print(f"{gpu().name}; {ROLLOUTS} rollouts of {STEPS} steps, arrays of CuPy in and out.\n")
    print("| robot | rollout | numbers | 10⁹ steps a second | s of the first call |")
    print("|---|---|---|---|---|")
    for word in files:
        robot = hinge.load(word)
        for method in ("semi_implicit", "rk4"):
            for number in (np.float32, np.float64):
                for controlled in (False, True):
                    print(rollout_row(robot, method, number, controlled, STEPS), flush=True)
        if robot.nv < 20:
            for every in (10, 1):
                print(rollout_row(robot, "semi_implicit", np.float32, True, every), flush=True)


def main(words):
    copied = bandwidth()
    print(
        f"{gpu().name}; a copy reads and writes {copied / 1e12:.2f} TB/s; {STATES} states, rows as users have them.\n"
    )
    print("| robot | kernel | numbers | ns a state | of a copy | µs a call of 64 states | s to compile |")
    print("|---|---|---|---|---|---|---|")
    for word in words:
        file, *locked = word.split(",")
        robot = hinge.load(file)
        for name, number in itertools.product(NAMES, NUMBERS):
            print(row(robot, name, number, copied), flush=True)
        arm = robot.lock(locked) if locked else robot
        for name, number in itertools.product(SLOPES, NUMBERS):
            print(row(arm, name, number, copied), flush=True)


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "rollouts"]
    (main_rollouts if "rollouts" in sys.argv else main)(words)
