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
