"""The words URDF has, so that an element or attribute that is misspelled is a finding.

Elements of other programs are known too, and quiet; so is all that has a prefix, such as drake:….
"""

from __future__ import annotations

from hinge.errors import did_you_mean
from hinge.formats.xml import Element, shown
from hinge.model.build import Builder
from hinge.model.shapes import Mesh, spelled

LIMITS = ("lower", "upper", "velocity", "effort", "acceleration", "deceleration", "jerk")
SAFETY = ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")

KNOWN = {  # elements of URDF, by the element around them and their tag: attributes, and elements inside
    "robot": ("name version", "link joint material"),
    "robot/link": ("name", "inertial visual collision"),
    "robot/joint": ("name type", "origin parent child axis limit dynamics mimic calibration safety_controller"),
    "robot/material": ("name", "color texture"),
    "link/inertial": ("name", "origin mass inertia"),
    "link/visual": ("name", "origin geometry material"),
    "link/collision": ("name", "origin geometry material"),
    "inertial/mass": ("value", ""),
    "inertial/inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "visual/material": ("name", "color texture"),
    "collision/material": ("name", "color texture"),
    "material/color": ("rgba", ""),
    "material/texture": ("filename", ""),
    "joint/parent": ("link", ""),
    "joint/child": ("link", ""),
    "joint/axis": ("xyz", ""),
    "joint/limit": (" ".join(LIMITS), ""),
    "joint/dynamics": ("damping friction stiffness armature", ""),
    "joint/mimic": ("joint multiplier offset", ""),
    "joint/calibration": ("rising falling reference_position", ""),
    "joint/safety_controller": (" ".join(SAFETY), ""),
    **{f"{tag}/origin": ("xyz rpy quat_xyzw", "") for tag in ("inertial", "visual", "collision", "joint")},
}
EXTENSIONS = {  # what other programs have there, by the same keys: attributes, and elements
    "robot": ("", "gazebo transmission ros2_control sensor mujoco loop_joint isaac_sim plugin"),
    "robot/link": ("type", "contact gravity kinematic surface self_filter sensor collision_checking"),
    "robot/joint": ("dont_collapse", "actuator loop_joint"),
    "link/collision": ("concave group", "verbose surface"),
    "joint/limit": ("current command_effort gear_velocity", ""),
    **{f"{tag}/geometry": ("", "plane ellipsoid cone cdf sdf") for tag in ("visual", "collision")},
}


def check_words(root: Element, builder: Builder) -> None:
    """Add a finding for each element and attribute that URDF does not have in its place."""
    stack = [("robot", root)]
    while stack:
        place, element = stack.pop()
        attributes, inside = _known(place)
        others, elsewhere = (words.split() for words in EXTENSIONS.get(place, ("", "")))
        for name in element.attributes:
            if name not in attributes and name not in others and not _foreign(name):
                what = f"{element} has an attribute {shown(name)!r}, which URDF does not know; it was left out."
                hint = did_you_mean(name, attributes) if attributes else "Remove it."
                builder.finding("warning", "unknown-attribute", what, hint, element.where)
        for part in element.children:
            if part.tag in inside:
                stack.append((f"{element.tag}/{part.tag}", part))
            elif part.tag not in elsewhere and not _foreign(part.tag):
                what = f"{element} has a <{shown(part.tag)}>, which URDF does not know; it was left out."
                hint = did_you_mean(part.tag, inside) if inside else "Remove it."
                builder.finding("warning", "unknown-element", what, hint, part.where)


def _known(place: str) -> tuple[list[str], list[str]]:
    """The attributes and the elements that URDF has in a place; shape classes say how URDF spells them."""
    around, _, tag = place.rpartition("/")
    shapes = spelled("urdf")
    if around == "geometry":
        return ["filename", "scale"] if shapes[tag] is Mesh else list(shapes[tag].urdf_attributes()), []
    if tag == "geometry":
        return [], list(shapes)
    attributes, inside = KNOWN[place]
    return attributes.split(), inside.split()


def _foreign(name: str) -> bool:
    """Whether a name has the prefix of another program, or declares one."""
    return ":" in name or name == "xmlns"
