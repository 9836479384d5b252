"""The view `robot.contact`: what a robot does where it touches things."""

from hinge.calls.views import View, on_target
from hinge.contact.distances import collides, distances
from hinge.contact.dynamics import contact_dynamics, contact_kernel, contact_system
from hinge.contact.impact import impact
from hinge.contact.stepping import friction_step
from hinge.steps.contact_step import contact_step


class Contacts(View):
    """Accelerations, forces and impulses of a robot that may touch things."""

    system = on_target(contact_system)
    dynamics = on_target(contact_dynamics)
    kernel = on_target(contact_kernel)
    distances = on_target(distances)
    collides = on_target(collides)
    impact = on_target(impact)
    friction_step = on_target(friction_step)
    step = on_target(contact_step)
