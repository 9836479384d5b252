"""Identification: which numbers of bodies and joints make a robot move as it was measured to.

turney1981, section 9: compare measured torques with predicted ones, and adjust inertias and friction until they agree.
"""

from hinge.identify.base import Base, base_parameters
from hinge.identify.excitation import Excitation, excite
from hinge.identify.filtering import differentiate
from hinge.identify.fitting import Fit, fit
from hinge.identify.log import Log, read
from hinge.identify.parameters import parameter_names, parameters, pseudo_inertia, with_parameters
from hinge.identify.residual import Monitor, Observer, residual

__all__ = ["Base", "Excitation", "Fit", "Log", "Monitor", "Observer", "base_parameters", "differentiate", "excite",
           "fit", "parameter_names", "parameters", "pseudo_inertia", "read", "residual", "with_parameters"]  # fmt: skip
