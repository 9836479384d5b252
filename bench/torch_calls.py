"""What a call with tensors of torch costs over the kernel: medians for one state of an arm, in microseconds.

    python bench/torch_calls.py [--write]

Time is that of the calling thread, so that what else runs on the machine counts little.
"""

import statistics
import time

import figures
import numpy as np
import torch
from measuring import UR5

import hinge


def median(call, *given, calls=200, rounds=15):
    """The median over rounds of the time of a call."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            call(*given)
        times.append((time.thread_time() - start) / calls * 1e6)
    return statistics.median(times)


def measured():
    torch.set_num_threads(1)
    robot = hinge.load(UR5)
    (q,), (qd,) = robot.random_state(np.random.default_rng(0), 1)
    given, weight = (q, qd, np.zeros(robot.nv)), torch.ones(robot.nv, dtype=torch.float64)
    tensors = [torch.tensor(x) for x in given]
    leaves = [torch.tensor(x, requires_grad=True) for x in given]
    rows, told = [["µs over the kernel's own", "kernel", "forward", "forward, recorded", "forward and backward"]], {}
    for name in ("inverse_dynamics", "forward_dynamics"):
        call = getattr(robot, name)

        def gradients(call=call):
            return torch.autograd.grad(call(*leaves), leaves, weight)

        gradients()  # compiles
        bare = median(call, *given)
        over = [median(call, *tensors) - bare, median(call, *leaves) - bare, median(gradients) - bare]
        rows.append([name, f"{bare:.2f}", *(f"{t:.1f}" for t in over)])
        for what, t in zip(("forward", "recorded", "gradient"), over, strict=True):
            told.setdefault(what, figures.number(t, "µs over the kernel, inverse dynamics"))
    return {"table": rows, **told}


if __name__ == "__main__":
    figures.main(__file__, measured, ("torch",))
