"""Kernels on a GPU: time a state, the share of what a copy on the same card reaches, and rollouts.

    python bench/gpu.py [--write]     (with CuPy, on a machine with a GPU)

Derivatives are packed, and those of the Panda are of its arm: the hand is locked.
"""

import itertools
import time

import cupy
import figures
import numpy as np
from measuring import G1, PANDA, UR5

import hinge
from hinge.backends.cuda.device import gpu

STATES, TRIPS, ROUNDS = 1 << 20, 20, 3
ROLLOUTS, STEPS, H = 1 << 17, 1000, 1e-4
NAMES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
NUMBERS = (np.float32, np.float64)
SLOPES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
ROBOTS = {
    "UR5": (UR5, ()),
    "Panda with hand; derivatives of the arm": (PANDA, ("panda_finger_joint1",)),
    "G1": (G1, ()),
}


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
    ns, of_copy, small_call = f"{1e9 * taken / STATES:.4f}", f"{100 * share:.0f} %", f"{1e6 * called:.0f}"
    return [robot.name, name, np.dtype(number).name, ns, of_copy, small_call, f"{ready:.1f}"]


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
    rate = f"{1e-9 * rollouts * STEPS / taken:.2f}"
    return [robot.name, words, np.dtype(number).name, rate, f"{ready:.1f}"]


def rollouts():
    """The table of rollouts."""
    rows = [["robot", "rollout", "numbers", "10⁹ steps a second", "s of the first call"]]
    for file, _ in ROBOTS.values():
        robot = hinge.load(file)
        for method, number, controlled in itertools.product(("semi_implicit", "rk4"), NUMBERS, (False, True)):
            rows.append(rollout_row(robot, method, number, controlled, STEPS))
        for every in (10, 1) if robot.nv < 20 else ():
            rows.append(rollout_row(robot, "semi_implicit", np.float32, True, every))
    return rows


def in_short(kernels):
    """A row a robot: ns a state in float32, and what that is of a copy."""
    rows = [["robot", "nv", "inverse dynamics", "forward dynamics", "mass matrix", "dID, packed", "dFD, packed"]]
    cells = [f"{float(row[3]):.3g} ({row[4]})" for row in kernels[1:] if row[2] == "float32"]
    for k, (words, (file, locked)) in enumerate(ROBOTS.items()):
        nv = hinge.load(file).nv
        size = f"{nv}; {nv - len(locked)}" if locked else str(nv)
        rows.append([words, size, *cells[5 * k : 5 * k + 5]])
    return rows


def measured():
    copied = bandwidth()
    kernels = [["robot", "kernel", "numbers", "ns a state", "of a copy", "µs a call of 64 states", "s to compile"]]
    for file, locked in ROBOTS.values():
        robot = hinge.load(file)
        kernels += [row(robot, name, number, copied) for name, number in itertools.product(NAMES, NUMBERS)]
        arm = robot.lock(locked) if locked else robot
        kernels += [row(arm, name, number, copied) for name, number in itertools.product(SLOPES, NUMBERS)]
    runs = rollouts()
    panda = ("panda", "rollout semi_implicit, computed torque", "float32")
    return {
        "kernels": kernels,
        "in_short": in_short(kernels),
        "rollouts": runs,
        "copy": figures.number(copied / 1e12, "TB/s of a copy, read and written"),
        "panda": figures.number(float(next(r[3] for r in runs if tuple(r[:3]) == panda)), "10⁹ steps a second"),
        "compile": figures.number(float(kernels[1][6]), "s to compile inverse dynamics of UR5"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("cupy",), f"one {gpu().name}, beside {{}}")
