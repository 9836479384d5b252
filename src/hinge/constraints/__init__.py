"""Constraints on the motion of a tree, any A(q, t) qd = b(q, t), and what forces on some bodies do to others.

Read general and multipliers, then elimination and inertias.
"""

from hinge.constraints import inertias  # noqa: F401  it registers itself
