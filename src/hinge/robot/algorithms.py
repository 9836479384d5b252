"""The registered algorithms as methods of a robot, with the signatures and words the registry gives them.

algorithms.pyi beside it says the same to editors and type checkers; it is written from the same tables.
"""

from hinge import constraints, dynamics, formulations, integrators, loops  # noqa: F401  they register themselves
from hinge.calls.views import install
from hinge.dynamics.registry import ALGORITHMS, HEARD
from hinge.robot.views import MEMBERS, Front


class Algorithms(Front):
    """What a robot computes: a method for each algorithm that is in no other view."""


HEARD.append(lambda name: None if name in MEMBERS else install(Algorithms, {name: name}))  # what comes later
install(Algorithms, {name: name for name in ALGORITHMS if name not in MEMBERS})
