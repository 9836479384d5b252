"""The geometry of mechanics: displacements, screws, spaces of motions, products of exponentials, connections.

Read se3, then screws, inertias, spaces, exponentials, fields.
"""

from hinge.geometry import inertias, screws, se3, spaces
from hinge.geometry.exponentials import ProductOfExponentials
from hinge.geometry.fields import Field

__all__ = ["Field", "ProductOfExponentials", "inertias", "screws", "se3", "spaces"]
