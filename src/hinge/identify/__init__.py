"""Identification: which numbers of bodies and joints make a robot move as it was measured to.

turney1981, section 9: compare measured torques with predicted ones, and adjust inertias and friction until they agree.
"""

from hinge.identify.parameters import parameter_names, parameters, pseudo_inertia, with_parameters

__all__ = ["parameter_names", "parameters", "pseudo_inertia", "with_parameters"]
