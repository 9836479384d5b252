"""Constraints on the motion of a tree: kinematic loops, and any A(q, t) qd = b(q, t).

Read general and multipliers for constraints given as functions; loops, loop_dynamics, inertias and loop_articulated for
joints that close a circuit.
"""

from hinge.constraints import inertias, loop_articulated, loop_dynamics, loops  # noqa: F401  they register themselves
