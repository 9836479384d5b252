"""MPC of a Panda, horizon 30, along a figure eight in closed loop: errors, limits, the time of every call, one core.

python bench/mpc.py

The lowest rate is that of the slowest call, by the clock on the wall and by the processor's time; on a busy machine
only the latter is ours. The first call makes a plan from nothing and is not counted: a robot stands still meanwhile.
"""

import gc
import time

import figures
import numpy as np

import hinge
from hinge.identify import parameters, with_parameters
from hinge.optimal import Problem, effort, mpc, posture, reach, speed

RATE, HORIZON, STEP, DURATION, SETTLED = 1e3, 30, 0.01, 4.0, 1.0  # Hz, steps, s, s, s
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


def measured():
    weights = [100.0, 100.0, 100.0, 1e4, 1e4, 1e4]
    costs = [reach(arm, "tool", "target", weights), posture(arm, REST, 0.1), speed(0.05), effort(1e-6)]
    limits = ("effort", "position", "velocity")
    problem = Problem(arm, HORIZON, STEP, costs, limits=limits, given={"target": middle})
    columns = ["period, s", "heavier, %", "iterations", "largest error, mm", "largest turn, mrad",
               "of the velocity limit", "of the effort limit", "mean call, ms", "slowest call, ms",
               "lowest rate, Hz"]  # fmt: skip
    rows, lowest = [columns], []
    for period, share, iterations in ((3.0, 0.0, 1), (3.0, 0.05, 1), (2.0, 0.05, 1), (2.0, 0.05, 2)):
        path = eight(period)
        run, times = driven(problem, heavier(share) if share else arm, path, RATE, iterations)
        assert run.status == hinge.Status.OK
        late = run.t >= SETTLED
        pose, wanted = arm.pose(run.q[late], "tool"), path(run.t[late])
        error = 1e3 * np.linalg.norm(pose[:, :3, 3] - wanted[:, :3, 3], axis=1)
        cosine = 0.5 * (np.trace(pose[:, :3, :3].swapaxes(1, 2) @ wanted[:, :3, :3], axis1=1, axis2=2) - 1.0)
        turn = 1e3 * np.arccos(np.clip(cosine, -1.0, 1.0)).max()
        fast, strong = np.abs(run.qd / arm.limits.velocity).max(), np.abs(run.tau / arm.limits.effort).max()
        wall, processor = times.max(axis=0)
        lowest.append((1.0 / wall, 1.0 / processor))
        told = (f"{error.max():.2f}", f"{turn:.2f}", f"{fast:.2f}", f"{strong:.2f}")
        took = (f"{1e3 * times[:, 0].mean():.2f}", f"{1e3 * wall:.2f}", f"{1.0 / wall:.0f}")
        rows.append([f"{period:g}", f"{100 * share:g}", f"{iterations}", *told, *took])
    wall, processor = np.array(lowest).min(axis=0)
    return {"table": rows, "lowest": figures.number(wall, "Hz"), "processor": figures.number(processor, "Hz")}


if __name__ == "__main__":
    figures.main(__file__, measured, ())
