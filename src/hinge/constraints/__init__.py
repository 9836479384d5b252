"""Constraints on the motion of a tree: kinematic loops, and any A(q, t) qd = b(q, t).

Read general and multipliers for constraints given as functions; loops for those of joints that close a circuit.
"""
