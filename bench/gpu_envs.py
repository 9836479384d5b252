"""Steps of environments a second on a GPU, with a policy of torch in between and without; and on this CPU.

python bench/gpu_envs.py [--write]     (with torch, on a machine with a GPU)
"""

import os
import time
from itertools import pairwise

import figures
import numpy as np
import torch

import hinge
from hinge.backends.cuda.device import gpu

STEPS, FEW, SIZES = 200, 4096, (4096, 65_536, 524_288)


def rate(env, actions, policy=None):
    """Environments' steps a second."""
    seen, _ = env.reset(seed=0)
    with torch.no_grad():
        for count in (20, STEPS):
            torch.cuda.synchronize()
            begun = time.perf_counter()
            for _ in range(count):
                seen, *_ = env.step(actions if policy is None else policy(seen))
            torch.cuda.synchronize()
    return env.num_envs * STEPS / (time.perf_counter() - begun)


def millions(rate):
    """A rate with two or three digits."""
    return f"{float(f'{rate / 1e6:.3g}'):,g} million"


def measured():
    head = ["", f"{FEW:,}, {{}} cores", *(f"{count:,}, GPU" for count in SIZES), "and a network of torch"]
    rows = [[word.format(os.cpu_count()) for word in head]]
    for name in hinge.envs.TASKS:
        cpu = hinge.envs.make(name, FEW, autoreset="same_step")
        cells = [millions(rate(cpu, np.random.default_rng(0).uniform(-1.0, 1.0, cpu.action_space.shape)))]
        for dtype in ("float64", "float32"):
            for count in SIZES:
                env = hinge.envs.make(name, count, autoreset="same_step", device="cuda", arrays="torch", dtype=dtype)
                shape = env.action_space.shape
                actions = 2.0 * torch.rand(shape, device="cuda") - 1.0
                cells.append(millions(rate(env, actions)))
            sizes = env.single_observation_space.shape[0], 64, 64, shape[1]
            layers = [one for a, b in pairwise(sizes) for one in (torch.nn.Linear(a, b), torch.nn.Tanh())]
            cells.append(millions(rate(env, actions, torch.nn.Sequential(*layers).cuda())))
            rows.append([f'"{name}", {dtype}', *cells])
            cells = [""]
    return {"table": rows}


if __name__ == "__main__":
    figures.main(__file__, measured, ("torch",), f"one {gpu().name}, beside {{}}")
