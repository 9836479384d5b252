"""What a robot does where it may touch things: methods that every robot has."""

from hinge.contact.dynamics import contact_dynamics, contact_kernel, contact_system
from hinge.contact.impact import impact
from hinge.contact.stepping import friction_step


class Touching:
    """Contact, impact and friction."""

    contact_system = contact_system
    contact_dynamics = contact_dynamics
    contact_kernel = contact_kernel
    impact = impact
    friction_step = friction_step
