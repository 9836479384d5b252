"""The laws a joint class has to keep, checked on numbers; a class of a user's own is checked when it is first used."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from hinge.errors import NOWHERE, HingeError, ModelError, Where
from hinge.model.joints import Joint

STEP, SLACK = 1e-6, 1e-6
_kept: set[type] = set()


def check_own(joint: Joint, where: Where = NOWHERE) -> None:
    """Check the class of a joint once, unless it is one of hinge's own."""
    cls = type(joint)
    if joint.is_ours or cls in _kept:
        return
    check_joint(joint, where)
    _kept.add(cls)


def check_joint(joint: Joint, where: Where = NOWHERE) -> None:
    """Raise a ModelError that names the first law the joint breaks.

    >>> from hinge.model.joints import Revolute
    >>> hinge.check_joint(Revolute())
    """
    name = f"joint type {getattr(joint, 'kind', type(joint).__name__)!r}"
    try:
        broken = next(_broken(joint), None)
    except HingeError:
        raise
    except Exception as problem:
        what = f"{name} cannot be evaluated: {type(problem).__name__}: {problem}."
        raise ModelError("joint-law", what, "Its methods have to work on plain numbers too.", where) from problem
    if broken:
        raise ModelError(
            "joint-law", f"{name} breaks a law of joints: {broken}.", "See the page on joint types of your own.", where
        )


def _broken(joint: Joint) -> Iterator[str]:
    rng = np.random.default_rng(0)
    rest = joint.neutral()
    if len(rest) != joint.nq:
        yield f"neutral() has {len(rest)} entries, nq is {joint.nq}"
    if len(joint.axes(rest)) != joint.nv:
        yield f"axes(q) has {len(joint.axes(rest))} columns, nv is {joint.nv}"
    free = [-math.inf] * joint.nq, [math.inf] * joint.nq
    for q in joint.random(rng, 4, *free).tolist():
        qd = rng.normal(size=joint.nv).tolist()
        R, _ = _pose(joint, q)
        if np.abs(R @ R.T - np.eye(3)).max() > SLACK or np.linalg.det(R) < 0:
            yield "transform(q) does not turn by a rotation"
        rate = joint.rate(q, qd)
        if len(rate) != joint.nq:
            yield f"rate(q, qd) has {len(rate)} entries, nq is {joint.nq}"
        moved = _motion(joint, q, rate)
        if not np.allclose(moved, list(joint.velocity(q, qd)), atol=1e-5):
            yield "axes(q) @ qd is not the motion of transform(q) when q changes at rate(q, qd)"
        ahead, behind = ([a + s * STEP * r for a, r in zip(q, rate, strict=True)] for s in (1, -1))
        change = [
            [(a - b) / (2 * STEP) for a, b in zip(u, v, strict=True)]
            for u, v in zip(joint.axes(ahead), joint.axes(behind), strict=True)
        ]
        if not np.allclose(change, [list(m) for m in joint.axes_rate(q, qd)], atol=1e-5):
            yield "axes change with q, but axes_rate says otherwise: set axes_vary = True"
        step = [STEP * x for x in qd]
        went = [(a - b) / STEP for a, b in zip(joint.integrate(q, step), q, strict=True)]
        if not np.allclose(went, rate, atol=1e-4):
            yield "integrate(q, v) does not begin at rate(q, v)"
        far = [0.3 * x for x in qd]
        if not np.allclose(joint.difference(q, joint.integrate(q, far)), far, atol=1e-9):
            yield "difference(q, integrate(q, v)) is not v"


def _pose(joint: Joint, q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    R, p = joint.transform(q).pose()
    return np.reshape(R, (3, 3)).astype(float), np.array(p, float)


def _motion(joint: Joint, q: list[float], rate: list[float]) -> np.ndarray:
    """The motion of the outer frame in its own coordinates, by differences."""
    R, _ = _pose(joint, q)
    (R1, p1), (R0, p0) = (_pose(joint, [a + s * STEP * r for a, r in zip(q, rate, strict=True)]) for s in (1, -1))
    W = R.T @ (R1 - R0) / (2 * STEP)
    return np.array([W[2, 1], W[0, 2], W[1, 0], *(R.T @ (p1 - p0) / (2 * STEP))])
