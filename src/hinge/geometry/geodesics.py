"""Geodesics of the mass matrix: free motions from a state, and the shortest between two configurations.

The one that joins two configurations is found by shooting: Newton's method on the velocity it begins with, from the
straight line in coordinates and from some beside it. One that arrives is taken where geodesics that begin beside it do
not meet it before its end, for then nothing near it is shorter; of several the shortest.
Source: zefran2004, section 2.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array, count, joined, real
from hinge.backends.sympy_input import refuse_sympy
from hinge.calls.target import Target
from hinge.geometry.fields import constrained, has_symbols, refused
from hinge.model import Model
from hinge.model.potentials import forceless
from hinge.status import NONFINITE, OK, UNCONVERGED
from hinge.typing import Numbers, Statuses

STARTS, BESIDE = 16, 4.0  # velocities tried, and how far the last is from the first, relative
TURNS = 40
ARRIVED = 1e-11  # rad, m: how near the end is, relative to the way where that is long
CHANGE = 1e-5  # by which velocities are varied, relative in the same way
TOGETHER = 64  # pairs of configurations that are worked on at once


class Geodesic(NamedTuple):
    """A path from one configuration to another in unit time, and how it fared."""

    q: Array
    qd: Array
    status: Statuses


def geodesic(target: Target, q: Numbers, qd: Numbers, t: float = 1.0, steps: int = 1000) -> tuple[Array, Array]:
    """The path without gravity, springs or forces: q (…, steps + 1, nq) and qd (…, steps + 1, nv) up to time t.

    >>> hinge.samples.planar_2r().geodesic([0.0, 0.5], [1.0, 0.0], steps=10)[0].shape
    (11, 2)
    """
    refuse_sympy("geodesic", q, qd)
    steps = count("geodesic: steps", steps)
    nq, nv = target.model.nq, target.model.nv
    state = joined("geodesic", [real("geodesic: q", q, (nq,)), real("geodesic: qd", qd, (nv,))])
    return followed(free(target), state[..., :nq], state[..., nq:], t, steps)


def geodesic_between(target: Target, q0: Numbers, q1: Numbers, steps: int = 100) -> Geodesic:
    """The shortest path from q0 to q1 by the mass matrix, in unit time: a free motion that arrives there.

    Gives q (…, steps + 1, nq), qd (…, steps + 1, nv) and status (…). It is the shortest of those found, and nothing
    near it is shorter; where none was found status is UNCONVERGED and the path NaN. Its speed is constant: its length
    is √(2T) at any point of it. Limits of joints are not looked at.

    >>> path = hinge.samples.planar_2r().geodesic_between([0.0, 0.5], [1.0, -0.2])
    >>> path.q[-1].round(9), path.status
    (array([ 1. , -0.2]), array(0, dtype=uint8))
    """
    refuse_sympy("geodesic_between", q0, q1)
    steps, nq = count("geodesic_between: steps", steps), target.model.nq
    for why in (constrained, has_symbols, _looped):
        refused(target.model, "geodesic_between", why)
    ends = [real(f"geodesic_between: {name}", q, (nq,)) for name, q in (("q0", q0), ("q1", q1))]
    both = joined("geodesic_between", ends).astype(float)
    rows = both.reshape(-1, 2 * nq)
    made = between(free(target), rows[:, :nq], rows[:, nq:], steps)
    return Geodesic(*(a.reshape((*both.shape[:-1], *a.shape[1:])) for a in made))


def _looped(model: Model) -> str:
    return "it has kinematic loops" if model.loops else ""


def free(target: Target) -> Target:
    """The same robot on which nothing acts."""
    return Target(forceless(target.model, ["armature"]), target.varied)


def followed(robot: Target, q: Array, qd: Array, t: float, steps: int) -> tuple[Array, Array]:
    """The motion from a state: q (…, steps + 1, nq) and qd (…, steps + 1, nv)."""
    path, nothing = [(q, qd)], np.zeros(robot.model.nv)
    for _ in range(steps):
        path.append(robot.step(*path[-1], nothing, t / steps))
    return np.stack([a for a, _ in path], axis=-2), np.stack([b for _, b in path], axis=-2)


def between(robot: Target, q0: Array, q1: Array, steps: int) -> Geodesic:
    """The shortest geodesics found from q0 to q1, (n, nq) each, of a robot on which nothing acts."""
    v, status = np.full((len(q0), robot.model.nv), np.nan), np.full(len(q0), NONFINITE, np.uint8)
    known = np.flatnonzero(np.isfinite(robot.difference(q0, q1)).all(axis=-1))
    for k in range(0, len(known), TOGETHER):
        some = known[k : k + TOGETHER]
        v[some] = _aimed(robot, q0[some], q1[some], steps)
        status[some] = np.where(np.isfinite(v[some]).all(axis=-1), OK, UNCONVERGED)
    return Geodesic(*followed(robot, q0, v, 1.0, steps), status)


def _aimed(robot: Target, q0: Array, q1: Array, steps: int) -> Array:
    """The velocities (n, nv) that lead from q0 to q1 in unit time; NaN where none was found."""
    n, nv = len(q0), robot.model.nv
    way = np.repeat(robot.difference(q0, q1), STARTS, axis=0)
    start, goal = np.repeat(q0, STARTS, axis=0), np.repeat(q1, STARTS, axis=0)
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    beside = np.random.default_rng(0).normal(size=(STARTS, nv))
    beside *= np.linspace(0.0, BESIDE, STARTS)[:, None] / np.linalg.norm(beside, axis=-1, keepdims=True)
    v, scale = way + length * np.tile(beside, (n, 1)), np.maximum(length, 1.0)
    cost = np.full(len(v), np.inf)  # of those that arrived
    left = np.arange(len(v))
    for _ in range(TURNS):
        change = CHANGE * scale[left]
        paths = _paths(robot, start[left], v[left], change, steps)
        gaps = robot.difference(goal[left][:, None], paths[:, :, -1])
        near = np.abs(gaps[:, 0]).max(axis=-1) <= ARRIVED * scale[left, 0]
        found = left[near][_apart(robot, paths[near], change[near])]
        cost[found] = robot.kinetic_energy(start[found], v[found])
        on = ~near & np.isfinite(gaps).all(axis=(-1, -2))
        left, gaps = left[on], gaps[on]
        if not len(left):
            break
        slope = np.swapaxes(gaps[:, 1 : nv + 1] - gaps[:, nv + 1 :], 1, 2) / (2.0 * change[on][..., None])
        step = (np.linalg.pinv(slope) @ gaps[:, 0, :, None])[..., 0]
        step *= np.minimum(1.0, 0.5 * scale[left] / np.maximum(np.linalg.norm(step, axis=-1, keepdims=True), 1e-300))
        v[left] -= step
    best = cost.reshape(n, STARTS).argmin(axis=1) + STARTS * np.arange(n)
    return np.where(np.isfinite(cost[best])[:, None], v[best], np.nan)


def _paths(robot: Target, q0: Array, v: Array, change: Array, steps: int) -> Array:
    """Where velocities lead (m, 2 nv + 1, steps + 1, nq): they themselves, and each with one entry more and less."""
    moved = change[..., None] * np.eye(v.shape[-1])
    tried = v[:, None] + np.concatenate([0.0 * moved[:, :1], moved, -moved], axis=1)
    return followed(robot, np.broadcast_to(q0[:, None], (*tried.shape[:-1], q0.shape[-1])), tried, 1.0, steps)[0]


def _apart(robot: Target, paths: Array, change: Array) -> Array:
    """Whether the paths that begin beside one do not meet it again (m)."""
    nv, steps = robot.model.nv, paths.shape[2] - 1
    fields = robot.difference(paths[:, nv + 1 :, 1:], paths[:, 1 : nv + 1, 1:]) / (2.0 * change[..., None, None])
    times = np.arange(1, steps + 1) / steps
    with np.errstate(invalid="ignore"):  # a path that is lost is apart from nothing
        spread = np.linalg.det(np.moveaxis(fields, 1, 2) / times[:, None, None])  # 1 at first; zero where two meet
    return (spread > 0.0).all(axis=-1)
