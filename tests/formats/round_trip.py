"""Robots written and read back, and how they are compared.

Algorithms run on plain numbers here, state by state: tracing each robot would take most of the time.
"""

import numpy as np

import hinge
from hinge.dynamics.registry import choose
from hinge.model import JOINTS, Builder
from hinge.model.samples import _random_body, _random_rotation

STATES = 1
ONE = ("revolute", "continuous", "prismatic")
SPLIT = ("cylindrical", "universal", "spherical_angles", "planar_outer", "cartesian_2", "cartesian_3")
MJCF = (*ONE, *SPLIT, "spherical")  # what that format says, with the coordinates in their order


def seated(rng, kinds, **options):
    """A tree whose links have frames of their own, each somewhere on the outer side of its joint."""
    builder = Builder("seated", gravity=options.pop("gravity", (0.0, 0.0, -9.81)))
    builder.link("base")
    names = ["base"]
    for k, kind in enumerate(kinds, start=1):
        builder.link(f"link{k}", **_random_body(rng))
        axis = rng.normal(size=3) if kind in (*ONE, "cylindrical") else None
        parent = names[int(rng.integers(max(0, k - 3), k))]
        said = {name: value(JOINTS[kind]) for name, value in options.items()}
        builder.joint(f"joint{k}", kind, parent, f"link{k}", rng.normal(size=3) * 0.3, _random_rotation(rng), axis,
                      child_xyz=rng.normal(size=3) * 0.2, child_rotation=_random_rotation(rng), **said)  # fmt: skip
        names.append(f"link{k}")
    builder.frame("tip", names[-1], (0.1, 0.2, 0.3), _random_rotation(rng))
    return hinge.Robot(builder.build())


def again(robot, folder, suffix, **options):
    """The robot written as `suffix` and read back, and what the writer said."""
    path = folder / f"robot{suffix}"
    report = hinge.write(robot, path)
    return hinge.load(path, **options), report


def plainly(robot, name, *given):
    """An algorithm run on numbers, for one state."""
    model, algorithm = robot.model, choose(robot.model, name)
    seen = {key: quantity.absent(model) for key, quantity in algorithm.inputs.items() if quantity.absent}
    taken = algorithm.taken(frozenset())
    for (key, quantity), values in zip(taken.items(), given, strict=True):
        seen[key] = quantity.take(model, [float(x) for x in values])
    made = algorithm.function(model, **seen)
    return np.array(list(algorithm.result.give(model, made)), float)


def difference(a, b, q, qd):
    """The largest difference of mass matrix and bias force, relative to the largest entry."""
    worst = 0.0
    for x, v in zip(q, qd, strict=True):
        for name, given in (("mass_matrix", (x,)), ("bias_force", (x, v))):
            ours, theirs = plainly(a, name, *given), plainly(b, name, *given)
            assert ours.shape == theirs.shape
            worst = max(worst, np.max(np.abs(ours - theirs), initial=0.0) / np.max(np.abs(ours), initial=1e-300))
    return worst


def same_dynamics(a, b, seed=0, tol=1e-12):
    """Assert that two robots have the same coordinates and the same dynamics."""
    assert (a.nq, a.nv) == (b.nq, b.nv)
    assert difference(a, b, *a.random_state(np.random.default_rng(seed), STATES)) <= tol


def same_names(a, b):
    """Assert that joints have kept their names and order, and that every frame is still there."""
    assert a.joint_names == b.joint_names
    assert not set(a.model.frames) - set(b.model.frames)


def codes(report):
    return [finding.code for finding in report]
