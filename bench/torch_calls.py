"""What a call with tensors of torch costs over the kernel: medians for one state of an arm, in microseconds.

    python bench/torch_calls.py [ROBOT.urdf]

Time is that of the calling thread, so that what else runs on the machine counts little.
"""

import statistics
import sys
import time

import numpy as np
import torch

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


torch.set_num_threads(1)
robot = hinge.load(sys.argv[1]) if len(sys.argv) > 1 else hinge.samples.puma560()
(q,), (qd,) = robot.random_state(np.random.default_rng(0), 1)
given, weight = (q, qd, np.zeros(robot.nv)), torch.ones(robot.nv, dtype=torch.float64)
tensors = [torch.tensor(x) for x in given]
leaves = [torch.tensor(x, requires_grad=True) for x in given]


def gradients(call):
    return torch.autograd.grad(call(*leaves), leaves, weight)


for name in ("inverse_dynamics", "forward_dynamics"):
    call = getattr(robot, name)
    gradients(call)  # compiles
    bare = median(call, *given)
    times = {"forward": median(call, *tensors), "forward, recorded": median(call, *leaves),
             "forward and backward": median(gradients, call)}  # fmt: skip
    print(f"{robot.name} {name}: the kernel {bare:.2f}; over it:", end=" ")
    print(", ".join(f"{what} {t - bare:.1f}" for what, t in times.items()))
