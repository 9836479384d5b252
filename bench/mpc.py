"""MPC of a Panda, horizon 30, along a figure eight in closed loop: errors, limits, the time of every call, one core.

python bench/mpc.py [rate in Hz]

The lowest rate is that of the slowest call, by the clock on the wall and by the processor's time; on a busy machine
only the latter is ours. The first call makes a plan from nothing and is not counted: a robot stands still meanwhile.
"""

import gc
import sys
import time

import numpy as np

import hinge
from hinge.identify import parameters, with_parameters
from hinge.optimal import Problem, effort, mpc, posture, reach, speed

HORIZON, STEP, DURATION, SETTLED = 30, 0.01, 4.0, 1.0  # steps, s, s, s
REST = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7])
arm = hinge.samples.panda()
middle = arm.pose(REST, "tool")


def eight(period):
    """The poses of a figure eight, 0.4 m wide, in which the tool does not turn."""

    def path(t):
        pose, turn = np.tile(middle, (*np.shape(t), 1, 1)), 2.0 * np.pi / period * np.asarray(t)
        pose[..., 1, 3] += 0.2 * np.sin(turn)
        pose[..., 2, 3] += 0.1 * np.sin(2.0 * turn)
        return pose

    return path


def heavier(share):
    """The arm with bodies that weigh more than the controller thinks."""
    numbers = parameters(arm)
    numbers[: 10 * arm.model.count] *= 1.0 + share
    return with_parameters(arm, numbers)


def driven(problem, plant, path, rate, iterations):
    """A run, and the time of each call: on the wall, and of the processor."""
    control, times = mpc(problem, rate=rate, iterations=iterations, given={"target": path}), []

    def law(t, q, qd):
        begun = time.perf_counter(), time.thread_time()
        tau = control(t, q, qd)
        times.append((time.perf_counter() - begun[0], time.thread_time() - begun[1]))
        return tau

    law.sample, law.status = 1, control.status
    gc.collect()
    gc.disable()
    run = hinge.simulate(plant, DURATION, q0=REST, control=law, method="semi_implicit", step=1.0 / rate)
    gc.enable()
    return run, np.array(times[1:])


def main():
    rate = float(sys.argv[1]) if len(sys.argv) > 1 else 1000.0
    weights = [100.0, 100.0, 100.0, 1e4, 1e4, 1e4]
    costs = [reach(arm, "tool", "target", weights), posture(arm, REST, 0.1), speed(0.05), effort(1e-6)]
    limits = ("effort", "position", "velocity")
    problem = Problem(arm, HORIZON, STEP, costs, limits=limits, given={"target": middle})
    print(f"{rate:g} Hz, horizon {HORIZON} of {STEP:g} s; errors after {SETTLED:g} s; shares of the limits")
    print("period heavier iterations status     error [mm]  turn [mrad] velocity effort     call [ms] lowest rate [Hz]")
    print(
        "   [s]     [%]                    largest   mean     largest                     mean   most   wall  processor"
    )
    for period, share, iterations in ((3.0, 0.0, 1), (3.0, 0.05, 1), (2.0, 0.05, 1), (2.0, 0.05, 2)):
        path = eight(period)
        run, times = driven(problem, heavier(share) if share else arm, path, rate, iterations)
        late = run.t >= SETTLED
        pose, wanted = arm.pose(run.q[late], "tool"), path(run.t[late])
        error = 1e3 * np.linalg.norm(pose[:, :3, 3] - wanted[:, :3, 3], axis=1)
        cosine = 0.5 * (np.trace(pose[:, :3, :3].swapaxes(1, 2) @ wanted[:, :3, :3], axis1=1, axis2=2) - 1.0)
        turn = 1e3 * np.arccos(np.clip(cosine, -1.0, 1.0)).max()
        fast, strong = np.abs(run.qd / arm.limits.velocity).max(), np.abs(run.tau / arm.limits.effort).max()
        wall, processor = times.max(axis=0)
        said = hinge.Status(int(run.status)).name
        print(
            f"{period:6.1f} {100 * share:7.0f} {iterations:10} {said:6}  {error.max():8.2f} {error.mean():6.2f} "
            f"{turn:11.2f} {fast:8.3f} {strong:6.3f}  {1e3 * times[:, 1].mean():7.3f} {1e3 * processor:6.3f} "
            f"{1.0 / wall:6.0f}  {1.0 / processor:9.0f}"
        )


if __name__ == "__main__":
    main()
