"""Robots and problems for tests of `ddp`, and what they cost and how that changes, by rollouts and differences."""

import numpy as np

import hinge
from hinge.optimal import Problem


def slider(effort=np.inf):
    """A mass of 2 kg on a rail: a double integrator."""
    builder = hinge.Builder("slider")
    builder.link("rail")
    builder.link("mass", 2.0, (0, 0, 0), np.eye(3))
    builder.joint("slide", "prismatic", "rail", "mass", axis=(1, 0, 0), effort=effort)
    return hinge.Robot(builder.build())


def rods(effort=np.inf, **elbow):
    """Two rods that hang, of which the second may be told what it follows."""
    builder = hinge.Builder("rods")
    builder.link("base")
    for k, parent in enumerate(("base", "rod1"), 1):
        builder.link(f"rod{k}", 1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
        builder.joint(f"joint{k}", "continuous", parent, f"rod{k}", (0, 0, 1.0 - k), axis=(0, 1, 0), effort=effort,
                      **(elbow if k == 2 else {}))  # fmt: skip
    return hinge.Robot(builder.build())


def top():
    """A body on a ball joint with a wheel on it."""
    builder = hinge.Builder("top")
    builder.link("base")
    builder.link("body", 1.0, (0.0, 0.1, -0.4), np.diag([0.2, 0.3, 0.1]))
    builder.link("wheel", 0.5, (0.1, 0.0, 0.0), np.diag([0.05, 0.05, 0.08]))
    builder.joint("ball", "spherical", "base", "body")
    builder.joint("axle", "continuous", "body", "wheel", (0, 0, -0.8), axis=(0, 1, 0))
    return hinge.Robot(builder.build())


def flyer():
    """An arm of one joint on a free body."""
    builder = hinge.Builder("flyer")
    builder.link("world")
    builder.link("body", 2.0, (0.1, 0.0, 0.0), np.diag([0.3, 0.4, 0.5]))
    builder.link("arm", 1.0, (0.0, 0.0, -0.3), np.diag([0.1, 0.1, 0.02]))
    builder.joint("base", "free", "world", "body")
    builder.joint("elbow", "revolute", "body", "arm", (0.0, 0.2, 0.0), axis=(1, 0, 0))
    return hinge.Robot(builder.build())


def swinging(robot, goal, horizon=8, step=0.05, **more):
    """A problem with costs of every kind: residuals and numbers, of positions, rates, forces and time."""
    goal = np.asarray(goal, float)
    running = [
        lambda u: 0.3 * u,
        lambda q, qd: 0.02 * (qd @ qd) * (2.0 + np.cos(q[0])),
        lambda t, q: 0.1 * np.sin(q + t),
    ]
    final = [lambda q: 3.0 * robot.difference(goal, q), lambda qd: qd]
    return Problem(robot, horizon, step, running, final, **more)


def price(problem, q, qd, u, given=None):
    """What a path costs, term by term in NumPy."""
    total = 0.0
    for k in range(problem.horizon + 1):
        known = {"t": k * problem.step, "q": q[k], "qd": qd[k], "u": u[k] if k < problem.horizon else None}
        known |= problem.given | (given or {})
        for term in problem.running if k < problem.horizon else problem.final:
            made = np.asarray(term.function(*(known[name] for name in term.takes)), float)
            total += made if made.ndim == 0 else 0.5 * made @ made
    return float(total)


def replayed(problem, q0, qd0, u, given=None, parameters=None):
    """What forces u (…, horizon, nu) cost from a state, by `hinge.rollout`."""
    run = hinge.rollout(problem.robot, q0, qd0, problem.horizon, problem.step, taus=problem.tau(np.asarray(u)),
                        parameters=parameters, **problem.rolls)  # fmt: skip
    flat = [a.reshape(-1, *a.shape[-2:]) for a in (run.q, run.qd, np.asarray(u))]
    return np.reshape([price(problem, *path, given) for path in zip(*flat, strict=True)], np.shape(u)[:-2])


def slope(problem, q0, qd0, u, h=1e-5, given=None, parameters=None, at=None):
    """The derivative of what forces u (horizon, nu) cost, by central differences; `at` are the forces to ask for."""
    away = h * np.eye(u.size).reshape(u.size, *u.shape)[slice(None) if at is None else at]
    n = len(away)
    there = replayed(problem, np.tile(q0, (2 * n, 1)), np.tile(qd0, (2 * n, 1)), np.concatenate([u + away, u - away]),
                     given, parameters)  # fmt: skip
    made = (there[:n] - there[n:]) / (2.0 * h)
    return made.reshape(u.shape) if at is None else made


def at_random(robot, seed, effort=1.0, horizon=8, count=()):
    """States and forces to begin with."""
    rng = np.random.default_rng(seed)
    q = robot.integrate(np.broadcast_to(robot.neutral(), (*count, robot.nq)), 0.4 * rng.normal(size=(*count, robot.nv)))
    return q, 0.3 * rng.normal(size=(*count, robot.nv)), effort * rng.normal(size=(*count, horizon, robot.nv))
