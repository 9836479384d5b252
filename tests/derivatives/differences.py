"""Derivatives by differences: any algorithm by any of its inputs, along `integrate` where these are positions."""

import numpy as np

from hinge.dynamics.registry import KNOWN, PLACE, POSITION, default, required_inputs

WEIGHTS = np.array([3 / 4, -3 / 20, 1 / 60])  # central differences of sixth order
ROUNDED = {"resolved_rate", "resolved_acceleration"}  # damped answers, rounded to 1e-12: long steps, fewer digits
RANGES = {"h": (0.01, 0.05), "known": (0.0, 1.0)}


def inputs(robot, rng, name):
    """Random inputs of an algorithm at one state that closes all loops, by name; a frame is a name."""
    made = {}
    for one, quantity in required_inputs(name).items():
        if quantity is PLACE:
            made[one] = str(rng.choice(robot.frame_names[2:]))
        elif quantity is POSITION:
            made[one] = robot.random_state(rng, 1)[0][0]
            made[one] = robot.assemble(made[one], strict=True).q if robot.loops else made[one]
        else:
            made[one] = rng.uniform(*RANGES.get(one, (-2.0, 2.0)), quantity.shape(robot.model))
            made[one] = made[one].round() if quantity is KNOWN else made[one]
    return made


def slots(name):
    """The inputs of an algorithm that it has derivatives by."""
    return [one for one, quantity in required_inputs(name).items() if quantity not in (PLACE, KNOWN)]


def positions(name):
    """Which of an algorithm's results are positions."""
    return [quantity is POSITION for quantity in default(name).returns.values()]


def by_differences(robot, name, given, by, **keywords):
    """The derivatives of every result of an algorithm, a list, by one of its inputs."""
    where = required_inputs(name)[by] is POSITION

    def at(t):
        """The result where each number of the input has moved by t, a row each."""
        x = np.asarray(given[by], float)
        moved = (
            robot.integrate(x, t * np.eye(robot.nv), **keywords)
            if where
            else x + t * np.eye(x.size).reshape(-1, *x.shape)
        )
        return getattr(robot, name)(*(given | {by: moved}).values(), **keywords)

    return [
        np.moveaxis(one, 0, -1)
        for one in rates(robot, at, positions(name), 4e-3 if name in ROUNDED else 1e-3, **keywords)
    ]


def rates(robot, f, where=(False,), h=1e-3, **keywords):
    """The rates at t = 0 of what f(t) gives, a list; of positions as velocities.

    What is left out is h⁶/140 of the seventh derivative, and rounding adds 2e-16/h of f.
    """
    several = lambda made: made if isinstance(made, tuple) else (made,)
    now = several(f(0.0))
    made = [0.0] * len(now)
    for k, weight in enumerate(WEIGHTS, start=1):
        ends = several(f(k * h)), several(f(-k * h))
        for j, position in enumerate(where):
            ahead, behind = (robot.difference(now[j], x[j], **keywords) if position else x[j] for x in ends)
            made[j] = made[j] + weight / h * (ahead - behind)
    return made


def near(got, want, rel=1e-9, scale=1.0):
    """Equal to `rel` of the largest entry wanted, or of `scale` where that is larger; gives how far off it is."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    size = max(scale, np.max(np.abs(want), initial=0.0))
    off = np.max(np.abs(got - want), initial=0.0) / size
    assert off <= rel, f"off by {off:.1e} of {size:.3g}"
    return off
