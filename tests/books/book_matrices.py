"""featherstone1987 in plain NumPy, in the book's own order: motions [ω; v], forces [f; n], 6×6 matrices, absolute
coordinates. Nothing here is shared with hinge, which keeps forces as [n; f] and never makes a 6×6 matrix.
"""

import numpy as np

ZERO = np.zeros((3, 3))


def skew(v):
    """(2.8)"""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


def transform(E, r):
    """From O to P coordinates, with r from O to P and then the rotation E: (2.18)."""
    return np.block([[E, ZERO], [E @ skew(r).T, E]])


def transpose(A):
    """The spatial transpose: (3.18) for a vector, (3.20) for a matrix."""
    if A.ndim == 1:
        return np.concatenate([A[3:], A[:3]])
    return np.block([[A[3:, 3:].T, A[:3, 3:].T], [A[3:, :3].T, A[:3, :3].T]])


def cross(v):
    """The spatial cross operator: (2.24)."""
    return np.block([[skew(v[:3]), ZERO], [skew(v[3:]), skew(v[:3])]])


def inertia(m, c, I):
    """Mass m, centre of mass c and rotational inertia I about it: (3.3)."""
    return np.block([[-m * skew(c), m * np.eye(3)], [I - m * skew(c) @ skew(c), m * skew(c)]])


def force(f):
    """A force of hinge, couple first, in the book's order; and the other way round."""
    return np.concatenate([f[..., 3:], f[..., :3]], axis=-1)


def absolute(pose):
    """The transform from the coordinates of a frame that stands at a 4×4 pose to absolute ones: (2.19)."""
    return transpose(transform(pose[:3, :3].T, pose[:3, 3]))


def derivative(f, t, h, order=1):
    """The first or second derivative of f at t, exact for polynomials of degree 8."""
    if order == 1:
        weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
        return sum(w * (f(t + k * h) - f(t - k * h)) for k, w in weights.items()) / h
    weights = {1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}
    return (sum(w * (f(t + k * h) + f(t - k * h)) for k, w in weights.items()) - 205 / 72 * f(t)) / h**2


def link_inertias(model, poses):
    """Each moving body's inertia in absolute coordinates, and the transform from its coordinates: section 4.3."""
    X = [absolute(pose) for pose in poses]
    made = []
    for i, Xi in enumerate(X, start=1):
        rigid = model.inertia[i]
        I = np.array(rigid.about_com.full()).reshape(3, 3)
        made.append(Xi @ inertia(rigid.m, np.array(rigid.com), I) @ np.linalg.inv(Xi))
    return made, X
