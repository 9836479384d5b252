"""Contact and impact: forces that push and never pull, and velocities that change at once.

Read forces, then contacts, dynamics, impact.
"""

from hinge.contact.contact_model import Ground
from hinge.contact.contacts import Contact, edge_contact, patch_contact, patch_error, polygon_contact
from hinge.contact.dynamics import ContactDynamics, ContactSystem, contact_dynamics, contact_kernel, contact_system
from hinge.contact.forces import ContactForces, ContactState, contact_forces
from hinge.contact.friction import FrictionForces, friction_forces
from hinge.contact.impact import Impact, TwoBodyImpact, impact, impact_projection, two_body_impact
from hinge.contact.results import ContactRecord, ContactStep
from hinge.contact.sets import ContactSets, contact_sets
from hinge.contact.stepping import FrictionStep, friction_step

__all__ = [
    "Contact", "ContactDynamics", "ContactForces", "ContactRecord", "ContactSets", "ContactState", "ContactStep",
    "ContactSystem", "FrictionForces", "FrictionStep", "Ground", "Impact", "TwoBodyImpact",
    "contact_dynamics", "contact_forces",
    "contact_kernel", "contact_sets", "contact_system", "edge_contact", "friction_forces",
    "friction_step", "impact", "impact_projection",
    "patch_contact", "patch_error", "polygon_contact", "two_body_impact",
]  # fmt: skip
