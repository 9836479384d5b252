"""Steps of environments a second on a GPU, with a policy of torch in between and without; and on this CPU.

Prints a table. Needs torch and a GPU.
"""

import time
from itertools import pairwise

import numpy as np
import torch

import hinge

STEPS = 200


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


def main():
    for name in hinge.envs.TASKS:
        cpu = hinge.envs.make(name, 4096, autoreset="same_step")
        actions = np.random.default_rng(0).uniform(-1.0, 1.0, cpu.action_space.shape)
        print(f"{name:22} cpu            4,096 environments {rate(cpu, actions):12,.0f} steps a second")
        for dtype in ("float64", "float32"):
            for count in (4096, 65_536, 524_288):
                begun = time.perf_counter()
                env = hinge.envs.make(name, count, autoreset="same_step", device="cuda", arrays="torch", dtype=dtype)
                shape = env.action_space.shape
                actions = 2.0 * torch.rand(shape, device="cuda") - 1.0
                alone, ready = rate(env, actions), time.perf_counter() - begun
                sizes = env.single_observation_space.shape[0], 64, 64, shape[1]
                layers = [one for a, b in pairwise(sizes) for one in (torch.nn.Linear(a, b), torch.nn.Tanh())]
                policy = torch.nn.Sequential(*layers).cuda()
                both = rate(env, actions, policy)
                print(f"{name:22} gpu {dtype} {count:9,} environments {alone:12,.0f} steps a second, {both:12,.0f} "
                      f"with a policy; ready in {ready:.1f} s")  # fmt: skip


if __name__ == "__main__":
    main()
