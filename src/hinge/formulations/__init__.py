"""The older equation sets, each in its text's notation; importing this package registers them, listed oldest first."""

from hinge.formulations import uicker_kahn, hollerbach, gibbs_appell, silver, luh  # noqa: F401, I001
from hinge.formulations import absolute, jacobians, strobe, nasser  # noqa: F401
from hinge.formulations import coefficients, euler_lagrange, force_parts  # noqa: F401
