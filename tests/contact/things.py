"""Bodies to put into contact."""

import numpy as np

import hinge


def solid(name, mass, size):
    """A loose block with whole edges `size`, its frame at its centre."""
    return loose(name, mass, mass / 12.0 * np.diag([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2,
                                                    size[0] ** 2 + size[1] ** 2]))  # fmt: skip


def loose(name, mass, inertia):
    """A body that moves freely."""
    builder = hinge.Builder(name)
    builder.link("world")
    builder.link(name, mass, inertia=inertia)
    builder.joint("base", "free", "world", name)
    return hinge.Robot(builder.build())


def corners(name, size, **details):
    """The four lower corners of a block against the ground."""
    x, y, z = (s / 2 for s in size)
    return [hinge.Contact(name, (a * x, b * y, -z), normal=(0, 0, 1), **details) for a in (1, -1) for b in (1, -1)]


def standing(height=0.0):
    """q of a loose body, upright."""
    return np.array([1.0, 0, 0, 0, 0, 0, height])


def two_bodies():
    """Two loose bodies as one robot."""
    one, two = (loose(n, m, np.diag([0.2, 0.3, 0.4])) for n, m in (("one", 1.0), ("two", 2.0)))
    return one.attach(two, at="world", prefix="t_")


def turned(rng):
    """A random rotation."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R if np.linalg.det(R) > 0 else -R


KINDS = {
    "face": {"normal": (0.2, 0.3, 0.9)},
    "rim": {"normal": (0.2, 0.3, 0.9), "edge": (1.0, 0.4, 0.3), "offset": 0.2},
    "points": {"offset": 0.1},
    "edge": {"other_edge": (0.5, -0.2, 1.0), "offset": 0.05},
    "edges": {"other_edge": (0.5, -0.2, 1.0), "edge": (1.0, 0.4, 0.3)},
    "ring": {"other_edge": (0.0, 0.0, 1.0), "other_rim": (0.2, 0.1, 0.0), "offset": 0.05},
    "curves": {"other_edge": (0.0, 0.0, 1.0), "other_rim": (0.3, 0.1, 0.0), "edge": (1.0, 0.4, 0.3)},
    "round curves": {"other_edge": (0.0, 0.0, 1.0), "other_rim": (0.3, 0.1, 0.0), "edge": (1.0, 0.0, 0.0),
                     "rim": (0.0, 0.2, 0.1), "offset": 0.05, "other_offset": 0.02},
}  # fmt: skip
