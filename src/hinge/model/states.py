"""States of a model as arrays: the reference configuration, limits, states at random."""

from __future__ import annotations

import numpy as np

from hinge.arguments import Array, affordable, count
from hinge.model.model import Limits, Model


def neutral(model: Model) -> Array:
    """The coordinates (nq) with every joint at its reference."""
    return np.array([x for i in model.leaders for x in model.neutral(i)], float)


def limits(model: Model) -> Limits:
    """Limits of coordinates (nq), velocities and joint forces (nv); infinite where there is none."""
    data = [model.data[i] for i in model.leaders]
    columns = ("lower", "upper", "velocity", "effort")
    return Limits(*(np.array([x for d in data for x in getattr(d, c)], float) for c in columns))


def random_state(model: Model, rng: np.random.Generator | int, n: int) -> tuple[Array, Array]:
    """n random states: q (n, nq) within the limits, qd (n, nv) normal with unit deviation; `rng` may be a seed."""
    if not isinstance(rng, np.random.Generator | np.random.RandomState):
        seed = count("random_state: rng", rng, 0, ", or a generator of numpy.random")
        rng = np.random.default_rng(seed)
    n = count("random_state: n", n, 0)
    affordable(f"random_state: {n} states", n * (model.nq + model.nv), "Draw them some at a time.")
    parts = [np.empty((n, 0))]
    for i in model.leaders:
        data = model.data[i]
        parts.append(model.joint[i].random(rng, n, data.lower, data.upper))
    return np.concatenate(parts, axis=1), rng.normal(size=(n, model.nv))


def labels(model: Model) -> tuple[list[str], list[str]]:
    """Names of coordinates and velocities: the joint's, with a number where it has several."""
    q, v = [], []
    for i in model.leaders:
        joint, name = model.joint[i], model.joint_name[i]
        q += [name] if joint.nq == 1 else [f"{name}[{k}]" for k in range(joint.nq)]
        v += [name] if joint.nv == 1 else [f"{name}[{k}]" for k in range(joint.nv)]
    return q, v
