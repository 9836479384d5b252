"""How a state moves on in time: methods as data, and one step of each over scalars. Importing this registers `step`."""

from hinge.integrators.methods import METHODS, Method, explicit
from hinge.integrators.tableaus import TABLEAUS, Tableau

__all__ = ["METHODS", "TABLEAUS", "Method", "Tableau", "explicit"]
