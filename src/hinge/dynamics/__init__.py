"""What the books say: one file a method, each written once, over scalars.

Importing this package registers every algorithm, in any order: which method is a name's default its priority says.
"""

from hinge.dynamics import (  # noqa: F401  they register themselves
    actuators,
    articulated,
    christoffel,
    cluster,
    composite,
    coordinates,
    coriolis,
    energy,
    file_forces,
    forward_derivatives,
    hybrid,
    implied,
    inverse_derivatives,
    kinematics,
    newton_euler,
    regressor,
    resolved_motion,
    sensors,
    turney,
    weightless,
)
from hinge.dynamics.place import Place
from hinge.dynamics.registry import ALGORITHMS, Algorithm, Quantity, algorithm, choose, rivals

__all__ = ["ALGORITHMS", "Algorithm", "Place", "Quantity", "algorithm", "choose", "rivals"]
