"""The words MJCF has where it says what a robot is; one it does not have is a mistake, and would be passed over.

Sections that only look or measure are not checked, nor are <frame> and <replicate>, in which MuJoCo allows anything.
"""

from __future__ import annotations

from collections.abc import Collection

from hinge.errors import ModelError, did_you_mean
from hinge.formats.xml import Element, shown


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DRIVES = """armature class cranklength cranksite ctrllimited ctrlrange damping delay forcelimited forcerange gear group
    interp joint jointinparent lengthrange name nsample refsite site slidersite tendon user """
SERVES = DRIVES + "dampratio inheritrange kp kv "
TURNS = "quat axisangle euler xyaxes zaxis "
ATTRIBUTES = {
    "worldbody": _words(""),
    "compiler": _words("""alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict convexhull
        coordinate discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough
        savecanonical savecompiled saveinertial settotalmass strippath texturedir usethread"""),
    "body": _words(TURNS + "childclass fuse gravcomp mocap name pos simple sleep user"),
    "inertial": _words(TURNS + "diaginertia fullinertia mass pos"),
    "joint": _words("""actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping frictionloss
        group limited margin name pos range ref solimpfriction solimplimit solreffriction solreflimit springdamper
        springref springyield stiffness type user"""),
    "freejoint": _words("align group name"),
    "geom": _words(TURNS + """adhesion castshadow class conaffinity condim contype density fitscale fluidcoef fluidshape
        friction fromto gap group hfield margin mass material mesh name pos priority rgba shellinertia size solimp
        solmix solref surfacevel type user"""),
    "site": _words(TURNS + "class fromto group material mesh name pos rgba size type user"),
    "attach": _words("body frame model prefix"),
    "option": _words("""actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone density gravity
        impratio integrator iterations jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance
        noslip_iterations noslip_tolerance o_friction o_margin o_solimp o_solref sdf_initpoints sdf_iterations
        sleep_tolerance solver timestep tolerance viscosity wind"""),
    "key": _words("act ctrl mpos mquat name plastic qpos qvel time"),
    "pair": _words("adhesion class condim friction gap geom1 geom2 margin name solimp solref solreffriction"),
    "exclude": _words("body1 body2 name"),
    "fixed": _words("""actuatorfrclimited actuatorfrcrange armature class damping frictionloss group limited margin name
        range solimpfriction solimplimit solreffriction solreflimit springlength springyield stiffness user"""),
    "connect": _words("active anchor body1 body2 class name site1 site2 solimp solref"),
    "weld": _words("active anchor body1 body2 class name relpose site1 site2 solimp solref torquescale"),
    "general": _words(DRIVES + """actdim actearly actlimited actrange biasprm biastype body dynprm dyntype ffrange
        gainprm gaintype inheritrange input velrange"""),
    "motor": _words(DRIVES),
    "position": _words(SERVES + "timeconst"),
    "intvelocity": _words(SERVES + "actlimited actrange"),
    "velocity": _words(DRIVES + "kv"),
    "damper": _words(DRIVES + "kv"),
    "hfield": _words("content_type elevation file name ncol nrow size"),
    "mesh": _words("""builtin class content_type face file inertia material maxhullvert name normal params refpos
        refquat scale smoothnormal texcoord vertex"""),
}  # fmt: skip
NUMBERS = _words(TURNS + """actuatorfrcrange armature axis boundinertia boundmass conaffinity condim contype ctrl
    damping density diaginertia fitscale friction frictionloss fromto fullinertia gap gear gravcomp group
    inertiagrouprange margin mass mpos mquat pos priority qpos qvel range ref refpos refquat rgba scale settotalmass
    size solimp solmix solref springdamper springref stiffness time user""")  # fmt: skip
SECTIONS = _words("""actuator asset compiler contact custom default deformable equality extension keyframe option sensor
    size statistic tendon visual worldbody""")
ACTUATORS = _words("""adhesion cylinder damper dcmotor general intvelocity motor muscle orientation pid plugin position
    velocity""")
SHARED = _words("armature ctrllimited ctrlrange damping forcelimited forcerange gear group")  # by all actuators
LEADING = _words("""biasprm damping dynprm friction gainprm gear solimp solimpfriction solimplimit solref solreffriction
    solreflimit stiffness""")  # numbers of which the last may be left out
UNSIMULATED = {  # attributes that are kept, and that a run does not simulate
    "geom": _words("adhesion fluidcoef fluidshape surfacevel"),
    "joint": _words("springdamper springyield"),
    "option": ATTRIBUTES["option"]
    - _words("""cone gravity impratio integrator iterations ls_iterations ls_tolerance
        noslip_iterations solver timestep tolerance"""),
}
TOUCHES = UNSIMULATED["geom"] | _words("""contype conaffinity condim priority friction solref solimp solmix margin
    gap""")  # of geoms
CONSTRAINS = UNSIMULATED["joint"] | _words("""solreflimit solimplimit solreffriction solimpfriction margin
    actuatorfrcrange actuatorgravcomp stiffness damping""")  # of joints
FLAGS = _words("""actuation autoreset clampctrl constraint contact damper equality eulerdamp filterparent frictionloss
    gravity island limit midphase multiccd nativeccd refsafe sensor spring warmstart""")  # that are on by default
FLAGS_OFF = _words("diagexact energy fwdinv invdiscrete ipc override sleep speculative")  # that are off by default
DEFAULTS = ACTUATORS | _words("camera default equality geom joint light material mesh pair site tendon texture")
TREE = _words("""attach body camera composite flexcomp frame freejoint geom inertial joint light plugin replicate
    site""")


ENDS = _words("active class name solimp solref ")  # of all equalities
SPOKEN = {  # attributes of elements that are named after others, by the element around them
    "option/flag": FLAGS | FLAGS_OFF,
    "fixed/joint": _words("joint coef"),
    "tendon/spatial": ATTRIBUTES["fixed"] | _words("material rgba width"),
    "spatial/site": _words("site"),
    "spatial/geom": _words("geom sidesite"),
    "spatial/pulley": _words("divisor"),
    "equality/joint": ENDS | _words("joint1 joint2 polycoef"),
    "equality/tendon": ENDS | _words("tendon1 tendon2 polycoef"),
    "equality/flex": ENDS | _words("flex"),
    "equality/flexvert": ENDS | _words("flex"),
    "equality/flexstrain": ENDS | _words("flex cell"),
}
CHILDREN = {  # the elements of sections outside the tree
    "option": _words("flag"),
    "contact": _words("pair exclude"),
    "tendon": _words("fixed spatial"),
    "fixed": _words("joint"),
    "spatial": _words("site geom pulley"),
    "equality": _words("connect weld joint tendon flex flexvert flexstrain"),
    "actuator": ACTUATORS,
}
LEAVES = dict.fromkeys(("joint", "freejoint", "inertial", "site", "attach"), _words("")) | {"geom": _words("plugin")}


def check_section(section: Element) -> None:
    """Refuse all that MJCF does not have in a section outside the tree."""
    check(section, CHILDREN[section.tag])
    for child in section.children:
        parts = CHILDREN.get(child.tag) if section.tag == "tendon" else None
        check(child, parts, section.tag)
        for part in child.children if parts else ():
            check(part, around=child.tag)


def check(element: Element, children: Collection[str] | None = None, around: str = "") -> None:
    """Refuse attributes that MJCF does not have in this element and, where `children` are named, other elements.

    `around` is the tag of the element around it, where its tag alone does not say which words it has.
    """
    known = SPOKEN.get(f"{around}/{element.tag}", ATTRIBUTES.get(element.tag, element.attributes.keys()))
    for name in sorted(element.attributes.keys() - known):
        hint = did_you_mean(name, known)
        raise ModelError("unknown-attribute", f"{element} has an attribute {shown(name)!r}, which MJCF does not know.",
                         hint, element.where)  # fmt: skip
    if children is not None:
        for child in element.children:
            if child.tag not in children:
                raise ModelError("unknown-element", f"{element} has a <{shown(child.tag)}>, which MJCF does not know.",
                                 did_you_mean(child.tag, children), child.where)  # fmt: skip
