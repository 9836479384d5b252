"""The registered algorithms as methods, with the signatures and words the registry gives them.

algorithms.pyi beside it says the same to editors and type checkers; it is written from the same table.
"""

from typing import Any

from hinge import constraints, dynamics, formulations, integrators  # noqa: F401  they register themselves
from hinge.dynamics.registry import ALGORITHMS
from hinge.methods import add, install


class Algorithms:
    """What a robot computes: one method for each algorithm."""

    def __getattr__(self, name: str) -> Any:
        """The method of an algorithm that was registered later."""
        if name not in ALGORITHMS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        add(Algorithms, name)
        return getattr(self, name)


install(Algorithms)
