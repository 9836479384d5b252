"""Operations counted, compared with what the texts print, and saved: `hinge count`, `hinge count --table`."""

from hinge.counting.approximation import Approximation, approximate
from hinge.counting.measure import costs

__all__ = ["Approximation", "approximate", "costs"]
