"""Contact and impact: forces that push and never pull, and velocities that change at once.

Read forces, then contacts, dynamics, impact.
"""

from hinge.contact.forces import ContactForces, ContactState, contact_forces
from hinge.contact.sets import ContactSets, contact_sets

__all__ = ["ContactForces", "ContactSets", "ContactState", "contact_forces", "contact_sets"]
