"""Kinematic loops: joints that close a circuit. Importing this package registers its algorithms.

What a loop is as data, and how a graph of joints becomes a tree and loops, is in model/loops and model/spanning.
Read kinematics, dynamics, articulated; rank, assembly, mobility.
"""

from hinge.loops import articulated, dynamics, kinematics  # noqa: F401  they register themselves
