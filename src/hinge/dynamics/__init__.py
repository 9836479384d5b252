"""What the books say: one file a method, each written once, over scalars.

Importing this package registers every algorithm. The first method registered under a name is the default.
"""

from hinge.dynamics import newton_euler  # noqa: F401  isort: skip
from hinge.dynamics import actuators, articulated, cluster, composite, coordinates, coriolis, energy, hybrid, kinematics  # noqa: F401

from hinge.dynamics import christoffel  # noqa: F401  isort: skip
from hinge.dynamics import regressor  # noqa: F401  isort: skip
from hinge.dynamics.registry import ALGORITHMS, Algorithm, Place, Quantity, algorithm, choose, rivals

__all__ = ["ALGORITHMS", "Algorithm", "Place", "Quantity", "algorithm", "choose", "rivals"]
