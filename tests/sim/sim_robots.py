"""Robots to simulate, and equations of motion written down by hand."""

import numpy as np

import hinge

FIXED = ("euler", "semi_implicit", "implicit", "rk4", "lie_rk4", "midpoint")
START = np.array([1.0, 0.5])


def double_pendulum():
    return hinge.samples.pendulum(2)


def two_rods(t, y, g=9.81):
    """The double pendulum by Lagrange: y = [q1, q2, rates]; rods of 1 m and 1 kg, angles relative to one another."""
    a, b, ad, bd = y[0], y[0] + y[1], y[2], y[2] + y[3]
    M = np.array([[4 / 3, np.cos(a - b) / 2], [np.cos(a - b) / 2, 1 / 3]])
    f = np.array([-np.sin(a - b) * bd**2 / 2 - 1.5 * g * np.sin(a), np.sin(a - b) * ad**2 / 2 - g * np.sin(b) / 2])
    add, bdd = np.linalg.solve(M, f)
    return np.array([ad, bd - ad, add, bdd - add])


def exactly(f, y0, t):
    """The solution at t seconds by another program's method, of eighth order."""
    from scipy.integrate import solve_ivp

    return solve_ivp(f, (0.0, t), y0, method="DOP853", rtol=2.5e-14, atol=1e-14).y[:, -1]


def free_body(inertia=(1.0, 2.0, 3.0), com=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, 0.0)):
    builder = hinge.Builder("body", gravity=gravity)
    builder.link("world")
    builder.link("body", 2.0, com, np.diag(inertia))
    builder.joint("base", "free", "world", "body")
    return hinge.Robot(builder.build())


def flyer():
    """An arm with a ball joint on a free body."""
    builder = hinge.Builder("flyer")
    builder.link("world")
    builder.link("body", 3.0, (0.1, 0.0, 0.0), np.diag([0.3, 0.4, 0.5]))
    builder.link("upper", 1.0, (0.0, 0.0, -0.3), np.diag([0.1, 0.1, 0.02]))
    builder.link("lower", 0.5, (0.0, 0.0, -0.2), np.diag([0.05, 0.05, 0.01]))
    builder.joint("base", "free", "world", "body")
    builder.joint("shoulder", "spherical", "body", "upper", (0.0, 0.2, 0.0))
    builder.joint("elbow", "revolute", "upper", "lower", (0.0, 0.0, -0.6), axis=(1, 0, 0))
    return hinge.Robot(builder.build())


def bounded_arm(lower=-0.4, upper=0.6, **data):
    """Two rods in the vertical plane, angles from the horizontal, the elbow within limits."""
    builder = hinge.Builder("bounded")
    builder.link("base")
    bar = np.diag([0.0, 1 / 12, 1 / 12])
    builder.link("upper", 1.0, (0.5, 0, 0), bar)
    builder.link("lower", 1.0, (0.5, 0, 0), bar)
    builder.joint("shoulder", "continuous", "base", "upper", axis=(0, -1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), axis=(0, -1, 0), lower=lower, upper=upper, **data)
    return hinge.Robot(builder.build())


def rods(gravity=(0, 0, -9.81), mass=1.0, **elbow):
    """Two rods in the vertical plane, with damping, a spring and limits at the elbow, and what else it is given."""
    joint = {"damping": 0.3, "stiffness": 2.0, "lower": -3.0, "upper": 3.0} | elbow
    builder = hinge.Builder("rods", gravity=gravity)
    builder.link("base")
    bar = np.diag([0.01, 1 / 12, 1 / 12])
    builder.link("upper", 1.0, (0.5, 0, 0), bar)
    builder.link("lower", mass, (0.4, 0.1, 0), bar)
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, -1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), axis=(0, -1, 0), **joint)
    return hinge.Robot(builder.build())


def massless_rods():
    """A mass on two rods without any: where they are straight it has no acceleration across them."""
    builder = hinge.Builder("rods")
    builder.link("base")
    builder.link("upper")
    builder.link("lower", 1.0, (1, 0, 0), np.zeros((3, 3)))
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, 1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), axis=(0, 1, 0))
    return hinge.Robot(builder.build())
