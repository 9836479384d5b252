"""States of a model as arrays: the reference configuration, limits, states at random."""

from __future__ import annotations

import numpy as np

from hinge.arguments import Array, affordable, count
from hinge.graph import Scalar, absolute, maximum, minimum
from hinge.model.model import Limits, Model


def neutral(model: Model) -> Array:
    """The coordinates (nq) with every joint at its reference."""
    return np.array([x for i in model.leaders for x in model.neutral(i)], float)


def limits(model: Model) -> Limits:
    """Return limits of coordinates (nq), velocities and joint forces (nv); infinite where there is none.

    A joint that others follow has limits that keep these within their own. Efforts are those of its own drive.
    """
    arrays = [np.array(entries, float) for entries in limit_entries(model)]
    for array in arrays:
        array.setflags(write=False)
    return Limits(*arrays)


def limit_entries(model: Model) -> list[list[Scalar]]:
    """Return the entries of the four arrays of limits, which may be scalars of any kind."""
    each = [(*joint_limits(model, i), model.data[i].effort) for i in model.leaders]
    return [[x for one in each for x in one[k]] for k in range(4)]


def joint_limits(model: Model, i: int) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...], tuple[Scalar, ...]]:
    """Return lower, upper and velocity limits of a joint that leads, within which all that follow it keep theirs."""
    data = model.data[i]
    lower, upper, velocity = data.lower, data.upper, data.velocity
    for j, follow in model.follows.items():
        if follow.leader != i:
            continue
        other = model.data[j]
        ends = [[(x - follow.offset) / follow.ratio for x in end] for end in (other.lower, other.upper)]
        lower = tuple(maximum(x, minimum(a, b)) for x, a, b in zip(lower, *ends, strict=True))
        upper = tuple(minimum(x, maximum(a, b)) for x, a, b in zip(upper, *ends, strict=True))
        share = absolute(follow.ratio)
        velocity = tuple(minimum(x, y / share) for x, y in zip(velocity, other.velocity, strict=True))
    return lower, upper, velocity


def random_state(
    model: Model, rng: np.random.Generator | int, n: int, within: Limits | None = None
) -> tuple[Array, Array]:
    """n random states: q (n, nq) within the limits, qd (n, nv) normal with unit deviation; `rng` may be a seed.

    The limits are `within`, by default those of the model.
    """
    if not isinstance(rng, np.random.Generator | np.random.RandomState):
        seed = count("random_state: rng", rng, 0, ", or a generator of numpy.random")
        rng = np.random.default_rng(seed)
    n = count("random_state: n", n, 0)
    affordable(f"random_state: {n} states", n * (model.nq + model.nv), "Draw them some at a time.")
    parts = [np.empty((n, 0))]
    for i in model.leaders:
        lower, upper, _ = joint_limits(model, i)
        if within is not None:
            at = model.slices[i][0]
            lower, upper = within.lower[at].tolist(), within.upper[at].tolist()
        parts.append(model.joint[i].random(rng, n, lower, upper))
    return np.concatenate(parts, axis=1), rng.normal(size=(n, model.nv))


def labels(model: Model) -> tuple[list[str], list[str]]:
    """Names of coordinates and velocities: the joint's, with a number where it has several."""
    q, v = [], []
    for i in model.leaders:
        joint, name = model.joint[i], model.joint_name[i]
        q += [name] if joint.nq == 1 else [f"{name}[{k}]" for k in range(joint.nq)]
        v += [name] if joint.nv == 1 else [f"{name}[{k}]" for k in range(joint.nv)]
    return q, v
