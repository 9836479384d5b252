"""The registered algorithms as methods, with the signatures and words the registry gives them.

algorithms.pyi beside it says the same to editors and type checkers; it is written from the same table.
"""

from hinge import constraints, dynamics, formulations, integrators  # noqa: F401  they register themselves
from hinge.methods import install


class Algorithms:
    """What a robot computes: one method for each algorithm."""


install(Algorithms)
