"""Contact laws: a class in a file for each, and the table from which `law=` takes them."""

from hinge.contact.law import ContactLaw
from hinge.contact.laws.none import NoContact
from hinge.contact.laws.rigid import RigidLaw
from hinge.contact.laws.soft import SoftLaw

DEFAULT, OF_FILES = RigidLaw.name, SoftLaw.name  # the law where none is named, and that of physics="file"
LAWS: dict[str, type[ContactLaw]] = {"rigid": RigidLaw, "soft": SoftLaw}

__all__ = ["DEFAULT", "LAWS", "OF_FILES", "ContactLaw", "NoContact", "RigidLaw", "SoftLaw"]
