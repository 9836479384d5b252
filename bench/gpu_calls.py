"""What a call from Python costs on arrays that live on a GPU: the median for 64 states of an arm, and the least, in µs.

    python bench/gpu_calls.py [--write]     (with CuPy, torch or JAX, on a machine with a GPU)

Nobody waits for results while the clock runs: it is the Python of a call, memory for its result, and the launch.
"""

import statistics
import time

import figures
import numpy as np

import hinge
from hinge.backends.cuda.device import gpu

STATES, CALLS, ROUNDS = 64, 300, 15


def median(call, *given, wait, **how):
    """The median over rounds of the time of a call, and the least."""
    times = []
    for _ in range(ROUNDS):
        wait()
        start = time.perf_counter()
        for _ in range(CALLS):
            call(*given, **how)
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    wait()
    return statistics.median(times), min(times)


def cupy_times(robot, given):
    import cupy

    q, qd, qdd = (cupy.asarray(x) for x in given)
    wait, out = cupy.cuda.Device().synchronize, cupy.empty_like(q)
    yield "CuPy", median(robot.inverse_dynamics, q, qd, qdd, wait=wait)
    yield "CuPy, out=", median(robot.inverse_dynamics, q, qd, qdd, out=out, wait=wait)
    yield "CuPy's own q + qd", median(lambda: q + qd, wait=wait)


def torch_times(robot, given):
    import torch

    tensors = [torch.tensor(x, device="cuda") for x in given]
    leaves = [x.clone().requires_grad_() for x in tensors]
    wait, out, weight = torch.cuda.synchronize, torch.empty_like(tensors[0]), torch.ones_like(tensors[0])
    yield "torch", median(robot.inverse_dynamics, *tensors, wait=wait)
    yield "torch, out=", median(robot.inverse_dynamics, *tensors, out=out, wait=wait)
    yield "torch, recorded", median(robot.inverse_dynamics, *leaves, wait=wait)

    def gradients():
        return torch.autograd.grad(robot.inverse_dynamics(*leaves), leaves, weight)

    class Plain(torch.autograd.Function):
        """As much of a function as torch asks for."""

        @staticmethod
        def forward(ctx, *given):
            ctx.save_for_backward(*given)
            return torch.empty_like(given[0])

        @staticmethod
        def backward(ctx, weight):
            return tuple(map(torch.empty_like, ctx.saved_tensors))

    def plain():
        return torch.autograd.grad(Plain.apply(*leaves), leaves, weight)

    yield "torch, with the gradient", median(gradients, wait=wait)
    yield "torch's own, of a function that computes nothing", median(plain, wait=wait)
    yield "torch's own q + qd", median(lambda: tensors[0] + tensors[1], wait=wait)


def jax_times(robot, given):
    import jax

    arrays = [jax.numpy.asarray(x, jax.numpy.float32) for x in given]
    made = []

    def wait():
        while made:
            made.pop().block_until_ready()

    def called(call):
        made[:] = [call(*arrays)]

    compiled = jax.jit(robot.inverse_dynamics)
    plain = jax.jit(lambda q, qd, qdd: q + qd + qdd)
    yield "JAX", median(called, robot.inverse_dynamics, wait=wait)
    yield "JAX, jit", median(called, compiled, wait=wait)
    yield "JAX's own q + qd + qdd, jit", median(called, plain, wait=wait)


def measured():
    robot = hinge.samples.puma560()
    q, qd = robot.random_state(np.random.default_rng(0), STATES)
    rows = [["call of inverse_dynamics", "median", "least"]]
    for times in (cupy_times, torch_times, jax_times):
        try:
            rows += [[what, f"{taken:.1f}", f"{least:.1f}"] for what, (taken, least) in times(robot, (q, qd, qd))]
        except ImportError as missing:
            rows.append([str(missing), "", ""])
    return {"table": rows}


if __name__ == "__main__":
    figures.main(__file__, measured, (), f"one {gpu().name}, beside {{}}")
