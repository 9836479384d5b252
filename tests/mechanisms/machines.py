"""Robots, states and yardsticks that the mechanism tests share."""

from functools import cache

import numpy as np
import pytest

import hinge
from hinge.model import JOINTS

MOVING = tuple(kind for kind, cls in JOINTS.items() if cls.nv and cls.__module__.startswith("hinge."))
PLAIN = tuple(kind for kind in MOVING if JOINTS[kind].rates_are_velocities)
SINGLE = tuple(kind for kind in MOVING if JOINTS[kind].nq == JOINTS[kind].nv == 1)
PARAMETERS = {"helical": {"pitch": 0.13}, "rolling": {"radius": 0.35}}
LIMITS = {"spherical_angles": {"lower": (-3.0, -1.1, -3.0), "upper": (3.0, 1.1, 3.0)}}  # away from where it is singular


def near(made, want, slack=1e-10, scale=1.0):
    """Equal to `slack` of the largest entry wanted, or of `scale` where that is larger."""
    made, want = np.asarray(made, float), np.asarray(want, float)
    assert made.shape == want.shape
    assert np.all(np.isfinite(made))
    worst, size = np.max(np.abs(made - want), initial=0.0), max(scale, np.max(np.abs(want), initial=0.0))
    assert worst <= slack * size, f"off by {worst:.3g}, of {size:.3g}"


def refused(kind, do, *args, **options):
    """The whole message of an error of exactly that kind."""
    with pytest.raises(hinge.HingeError) as caught:
        do(*args, **options)
    assert type(caught.value) is kind
    return str(caught.value)


# parts


def random_body(rng):
    """The mass properties of a cloud of points."""
    points, weights = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.3, 1.0, 6)
    com = weights @ points / weights.sum()
    spread = points - com
    inertia = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for w, p in zip(weights, spread, strict=True))
    return {"mass": weights.sum(), "com": com, "inertia": inertia}


def random_rotation(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def pose(R=None, p=(0.0, 0.0, 0.0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.eye(3) if R is None else R, p
    return T


def skew(v):
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def moved(T):
    """The 6×6 matrix that takes motions from a frame at pose T to the frame that T is given in."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


# robots


def grown(seed, kinds, parents=None, base="fixed", mimic=None, name="machine", links=None, **options):
    """A robot of general bodies, one a kind: a chain, or hung as `parents` says; `options` go to every joint."""
    rng = np.random.default_rng(seed)
    builder, names = hinge.Builder(name), ["base"]
    builder.link("base", **random_body(rng))
    for k, kind in enumerate(kinds, start=1):
        builder.link(f"link{k}", **random_body(rng))
        parent = names[parents[k - 1] if parents else k - 1]
        R, p, axis = random_rotation(rng), rng.normal(size=3) * 0.3, rng.normal(size=3)
        parameters = PARAMETERS.get(kind, {}) | LIMITS.get(kind, {}) if isinstance(kind, str) else {}
        if isinstance(kind, str) and JOINTS[kind].about_z:
            axis = None
        builder.joint(f"joint{k}", kind, parent, f"link{k}", p, R, axis, mimic=(mimic or {}).get(k),
                      **parameters, **options)  # fmt: skip
        names.append(f"link{k}")
    return hinge.Robot(builder.build(base=base))


@cache
def machine(which):
    """Robots that several tests share, by name; together they have every kind of joint."""
    return {
        "tree": lambda: grown(1, ("revolute", "universal", "spherical", "cylindrical", "planar"), (0, 1, 1, 3, 2)),
        "odd": lambda: grown(2, ("helical", "rolling", "sphere_in_cylinder", "planar_outer"), (0, 1, 1, 2)),
        "slides": lambda: grown(3, ("cartesian_3", "spherical_angles", "cartesian_2", "prismatic", "continuous")),
        "floating": lambda: grown(4, ("revolute", "universal", "prismatic"), (0, 1, 0), base="floating"),
        "coupled": lambda: grown(
            5, ("revolute", "prismatic", "revolute", "universal", "helical"), (0, 1, 1, 2, 3),
            mimic={3: ("joint1", -1.3, 0.2), 5: ("joint2", 0.7, 0.0)},
        ),
    }[which]()  # fmt: skip


MACHINES = ("tree", "odd", "slides", "floating")
machines = pytest.mark.parametrize("which", MACHINES)


def state(robot, seed, n=None):
    """q, qd, qdd and tau, of one state or of n."""
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, n or 1)
    made = q, qd, rng.normal(size=qd.shape), 3.0 * rng.normal(size=qd.shape)
    return made if n else tuple(x[0] for x in made)


def stiffness(robot, q, **options):
    """How much rounding in forces of tens of N may weigh in accelerations: by the condition of the mass matrix."""
    return 30.0 * np.max(np.linalg.cond(robot.mass_matrix(q, **options)))


def rate(f, h=1e-4):
    """df/dt at 0 by central differences of fourth order: good to 1e-9 or so of smooth functions of unit size."""
    return (8.0 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12.0 * h)
