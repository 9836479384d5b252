"""What an MJCF file says of contacts, constraints, tendons and options, into the data of model/file_physics.

A name that the file does not have is refused. What speaks of something that hinge does not model, or that is repeated
and stands for several, is left out with a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from hinge.errors import ModelError, did_you_mean
from hinge.formats.mjcf.document import Document
from hinge.formats.mjcf.settings import Settings, integer, truth, word
from hinge.formats.mjcf.tree import Body
from hinge.formats.mjcf.words import CONSTRAINS, FLAGS, check
from hinge.formats.xml import ANY, Element, attribute, number, numbers, shown
from hinge.model.build import WORLD, Builder
from hinge.model.file_physics import (
    FIRM,
    NO_LIMIT,
    Equality,
    JointPhysics,
    Options,
    Range,
    Softness,
    Surface,
    Tendon,
    Touching,
)

CONDIMS = (1, 3, 4, 6)
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")
PLAIN = Surface()


@dataclass
class Names:
    """What the names of a file stand for, of each kind of thing."""

    known: dict[str, dict[str, str]]  # what hinge calls a thing
    apart: dict[str, dict[str, str]]  # why what speaks of a thing is left out
    copies: dict[str, list[str]] = field(default_factory=dict)  # of a joint that is repeated

    @classmethod
    def of(cls, bodies: Iterable[Body]) -> Names:
        """The names in these bodies."""
        kinds = ("body", "joint", "geom", "site", "tendon")
        made = cls({kind: {} for kind in kinds}, {kind: {} for kind in kinds})
        made.known["body"][WORLD] = WORLD
        for body in bodies:
            here = (("body", [(body.element, body.scope)]), ("joint", body.joints), ("geom", body.geoms))
            for kind, elements in (*here, ("site", body.sites)):
                for element, scope in elements:
                    if given := element.attributes.get("name", ""):
                        made._take(kind, scope.name(given), scope.prefix + given)
        return made

    def _take(self, kind: str, name: str, stem: str) -> None:
        self.known[kind][name] = name
        if stem != name:
            self.apart[kind][stem] = "is repeated, and stands for several"
            if kind == "joint":
                self.copies.setdefault(stem, []).append(name)


@dataclass
class Speaker:
    """One of the models a file is made of, which speaks of things by their names in it."""

    document: Document
    prefix: str
    main: bool
    names: Names
    builder: Builder

    def called(self, kind: str, element: Element, word: str, part: Element | None = None) -> str | None:
        """What hinge calls the thing an element, or a part of it, names; None where what speaks of it is left out."""
        given = attribute(part or element, word)
        known, name = self.names.known[kind], self.prefix + given
        if name in known:
            return known[name]
        if name in self.names.apart[kind]:
            left_out(self.builder, [element], f"{kind} {shown(given)!r} {self.names.apart[kind][name]}")
        elif self.main:  # of a model that is attached, only a part may be
            what = f"{element} speaks of {kind} {shown(given)!r}, which does not exist."
            raise ModelError(f"unknown-{kind}", what, did_you_mean(given, known), (part or element).where)
        return None

    def section(self, tag: str, default: str = "") -> list[Element]:
        """The elements of a section, with what their classes say of them, or of what `default` names."""
        elements = (element for section in self.document.sections(tag) for element in section.children)
        return [self.document.defaults.applied(element, key=default) for element in elements]


def part_left_out(builder: Builder, element: Element, names: Set[str]) -> None:
    """A finding on those of these attributes that say something."""
    for name in element.attributes.keys() & names:
        if any(numbers(element, name, len(element.attributes[name].split()))):
            left_out(builder, [element], f"it has {name}")


def left_out(builder: Builder, elements: Sequence[Element], why: str) -> None:
    """A finding on elements that are no part of what a file's physics amounts to here."""
    names = ", ".join(map(str, elements[:3])) + (f" and {len(elements) - 3} more" if len(elements) > 3 else "")
    builder.finding("note", "left-out", f'{names}: {why}; physics="file" leaves it out.', where=elements[0].where)


# numbers


def leading(element: Element, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """Numbers of which the last may be left out, and then are those of the default."""
    if name not in element.attributes:
        return default
    count = len(element.attributes[name].split())
    if count > len(default):
        what = f'{element} has {name}="{shown(element.attributes[name])}": {count} values.'
        raise ModelError("number", what, f"Write at most {len(default)} numbers.", element.where)
    return (*numbers(element, name, count), *default[count:])


def softness(element: Element, ending: str = "") -> Softness:
    plain = PLAIN.softness
    return Softness(
        leading(element, f"solref{ending}", plain.solref), leading(element, f"solimp{ending}", plain.solimp)
    )


def limited(element: Element, settings: Settings, name: str, switch: str) -> Range:
    """The two ends of a range, where it is switched on; infinite where not."""
    on = word(element, switch, ("auto", "true", "false"), "auto")
    low, high = numbers(element, name, 2, (0.0, 0.0), largest=ANY)
    if on == "false" or (on == "auto" and (not settings.autolimits or low == high == 0.0)):
        return NO_LIMIT
    if low >= high:
        raise ModelError("limits", f'{element} has {name}="{low:g} {high:g}".', "Write the lower end first.",
                         element.where)  # fmt: skip
    return low, high


def _friction(element: Element, default: tuple[float, ...]) -> tuple[float, ...]:
    made = leading(element, "friction", default)
    if min(made) < 0.0:
        raise ModelError("friction", f'{element} has friction="{shown(element.attributes["friction"])}", below 0.',
                         "Write zero or more.", element.where)  # fmt: skip
    return made


def _condim(element: Element) -> int:
    made = integer(element, "condim", 3)
    if made not in CONDIMS:
        what = f"{element} has condim {made}."
        raise ModelError("condim", what, f"Write one of {', '.join(map(str, CONDIMS))}.", element.where)
    return made


# what shapes and joints say


def surface(element: Element) -> Surface:
    """How a geom touches others."""
    return Surface(
        integer(element, "contype", 1), integer(element, "conaffinity", 1), _condim(element),
        integer(element, "priority", 0), _friction(element, PLAIN.friction), softness(element),
        number(element, "solmix", 1.0), number(element, "margin", 0.0), number(element, "gap", 0.0),
    )  # fmt: skip


def joint_physics(element: Element, settings: Settings) -> JointPhysics:
    """How the constraints of a joint give way, and what may drive it."""
    if not element.attributes.keys() & CONSTRAINS:
        return FIRM
    force = limited(element, settings, "actuatorfrcrange", "actuatorfrclimited")
    uneven = force if force[0] != -force[1] else None
    return JointPhysics(softness(element, "limit"), number(element, "margin", 0.0),
                        softness(element, "friction"), uneven, truth(element, "actuatorgravcomp", False))  # fmt: skip


# what the file says besides


def options(document: Document, builder: Builder) -> Options:
    """The options of a file; a later element adds to an earlier one."""
    made = Options()
    for element in document.sections("option"):
        disabled = set(made.disabled)
        for flag in element.all("flag"):
            given = FLAGS & flag.attributes.keys()
            off = {name for name in given if word(flag, name, ("enable", "disable"), "enable") == "disable"}
            disabled = disabled - given | off
            if flag.attributes.get("override", "disable") == "enable":
                left_out(builder, [flag], "contact parameters for all contacts")
        made = Options(
            number(element, "timestep", made.timestep),
            word(element, "integrator", INTEGRATORS, made.integrator),
            word(element, "cone", ("pyramidal", "elliptic"), made.cone),
            word(element, "solver", ("PGS", "CG", "Newton"), made.solver),
            number(element, "impratio", made.impratio),
            integer(element, "iterations", made.iterations),
            number(element, "tolerance", made.tolerance),
            integer(element, "ls_iterations", made.ls_iterations),
            number(element, "ls_tolerance", made.ls_tolerance),
            integer(element, "noslip_iterations", made.noslip_iterations),
            tuple(sorted(disabled)),
        )
        if made.timestep <= 0.0 or made.impratio <= 0.0:
            raise ModelError("option", f"{element} has a timestep or an impratio that is not above 0.",
                             "Write a number above 0.", element.where)  # fmt: skip
    return made


def pair_names(document: Document, prefix: str) -> set[str]:
    """The geoms that pairs name, which touch whatever they say themselves."""
    pairs = [pair for section in document.sections("contact") for pair in section.all("pair")]
    return {prefix + pair.attributes.get(end, "") for pair in pairs for end in ("geom1", "geom2")}


def contacts(speaker: Speaker) -> tuple[list[tuple[str, str]], list[tuple[str, str, Touching]]]:
    """Bodies that do not touch, and shapes that do."""
    excludes, pairs = [], []
    for element in speaker.section("contact"):
        check(element)
        part_left_out(speaker.builder, element, {"adhesion"})
        kind = "body" if element.tag == "exclude" else "geom"
        first, second = (speaker.called(kind, element, f"{kind}{k}") for k in (1, 2))
        if first is None or second is None:
            continue
        if element.tag == "exclude":
            excludes.append((first, second))
            continue
        plain = Touching()
        pairs.append((first, second, Touching(
            _condim(element), _friction(element, plain.friction), softness(element),
            leading(element, "solreffriction", plain.solreffriction), number(element, "margin", 0.0),
            number(element, "gap", 0.0),
        )))  # fmt: skip
    return excludes, pairs


def tendons(speaker: Speaker, rests: Mapping[str, float], damping: Mapping[str, float]) -> list[Tendon]:
    """The fixed tendons; `rests` has where the springs of joints of one coordinate are slack, `damping` what actuators
    add."""
    made, settings, builder = [], speaker.document.settings, speaker.builder
    for k, element in enumerate(speaker.section("tendon", "tendon")):
        name = speaker.prefix + element.attributes.get("name", f"tendon_{k}")
        if element.tag != "fixed":
            left_out(builder, [element], "a tendon along sites and surfaces")
            speaker.names.apart["tendon"][name] = "runs along sites and surfaces"
            continue
        part_left_out(builder, element, {"springyield"})
        parts = list(element.all("joint"))
        joints = [(speaker.called("joint", element, "joint", part), number(part, "coef")) for part in parts]
        if any(joint is None for joint, _ in joints):
            speaker.names.apart["tendon"][name] = "runs over joints that stand for several, or are not there"
            continue
        for joint, _ in joints:
            if joint not in rests:
                raise ModelError("tendon", f"{element} runs over joint {joint!r}, which has several coordinates.",
                                 "Only hinges and slides can be in a fixed tendon.", element.where)  # fmt: skip
        slack = numbers(element, "springlength", len(element.attributes.get("springlength", "-1").split()), (-1.0,))
        rest = sum(c * rests[joint] for joint, c in joints if joint)
        ends = (slack[0], slack[-1]) if set(slack) != {-1.0} else (rest, rest)  # as joints rest where it says none
        if ends[0] > ends[1] or len(slack) > 2:
            raise ModelError("tendon", f"{element} has springlength {shown(element.attributes['springlength'])!r}.",
                             "Write a length, or a lower and an upper one.", element.where)  # fmt: skip
        stiffness, damper = (_linear(element, name, builder) for name in ("stiffness", "damping"))
        tendon = Tendon(
            name, tuple((joint, c) for joint, c in joints if joint), 0.0, stiffness, damper + damping.get(name, 0.0),
            ends, limited(element, settings, "range", "limited"),
            number(element, "margin", 0.0), softness(element, "limit"), number(element, "frictionloss", 0.0),
            softness(element, "friction"), limited(element, settings, "actuatorfrcrange", "actuatorfrclimited"),
        )  # fmt: skip
        made.append(tendon)
        speaker.names.known["tendon"][name] = name
    return made


def _linear(element: Element, name: str, builder: Builder) -> float:
    """A coefficient that may be followed by those of higher powers, which are left out."""
    first, *rest = leading(element, name, (0.0,) * 3)
    if any(rest):
        builder.finding("note", "nonlinear", f"{element} has {name} of higher order, which is left out.",
                        where=element.where)  # fmt: skip
    return first


def equalities(speaker: Speaker) -> list[Equality]:
    """The constraints the file lists."""
    made = []
    for k, element in enumerate(speaker.section("equality", "equality")):
        kind, given = element.tag, element.attributes
        if kind in ("connect", "weld"):
            check(element)
        name = speaker.prefix + (given.get("name") or f"{kind}_{k}")
        on = "body" if kind in ("connect", "weld") else kind
        if on == "body" and ("body1" not in given or (kind == "connect" and "anchor" not in given)):
            on = "site"
        if on not in ("body", "site", "joint", "tendon"):
            left_out(speaker.builder, [element], "a constraint of a flexible body")
            continue
        first = speaker.called(on, element, f"{on}1")
        second = speaker.called(on, element, f"{on}2") if on == "site" or given.get(f"{on}2") else ""
        if first is None or second is None:
            continue
        one = Equality(name, kind, first, second, on, softness=softness(element), active=truth(element, "active", True))
        if on == "body":
            pose = numbers(element, "relpose", 7, (0.0,) * 7)
            one = replace(
                one, anchor=numbers(element, "anchor", 3, one.anchor), relpose=pose if any(pose[3:]) else None
            )
        if kind == "weld":
            one = replace(one, torquescale=number(element, "torquescale", 1.0))
        if on in ("joint", "tendon"):
            one = replace(one, polycoef=leading(element, "polycoef", one.polycoef))
        made.append(one)
    return made
