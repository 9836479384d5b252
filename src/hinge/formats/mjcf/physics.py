"""What an MJCF file says of contacts, constraints, tendons and options, into the data of model/file_physics.

A name that the file does not have is refused. What speaks of something that hinge does not model, or that is repeated
and stands for several, is left out with a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from hinge.errors import ModelError, did_you_mean
from hinge.formats.mjcf.document import Document
from hinge.formats.mjcf.settings import Settings, integer, truth, word
from hinge.formats.mjcf.tree import Body
from hinge.formats.mjcf.words import CONSTRAINS, FLAGS, FLAGS_OFF, UNSIMULATED, check
from hinge.formats.xml import ANY, Element, attribute, number, numbers, shown
from hinge.model.build import WORLD, Builder
from hinge.model.file_physics import (
    FIRM,
    NO_LIMIT,
    Equality,
    JointPhysics,
    LeftOut,
    Options,
    Range,
    Softness,
    Surface,
    Tendon,
    Touching,
    Words,
)

CONDIMS = (1, 3, 4, 6)
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast", "discrete")
PLAIN = Surface()


@dataclass
class Names:
    """What the names of a file stand for, of each kind of thing."""

    known: dict[str, dict[str, str]]  # what hinge calls a thing
    apart: dict[str, dict[str, tuple[str, str]]]  # why what speaks of a thing is left out: the feature, the reason
    copies: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # of what is repeated, by kind and name
    turn: dict[tuple[str, str], int] = field(default_factory=dict)  # of copies: which repetition they are of, from 1 on
    carriers: dict[str, Body] = field(default_factory=dict)  # of sites

    @classmethod
    def of(cls, bodies: Iterable[Body]) -> Names:
        """The names in these bodies."""
        kinds = ("body", "joint", "geom", "site", "tendon")
        made = cls({kind: {} for kind in kinds}, {kind: {} for kind in kinds})
        made.known["body"][WORLD] = WORLD
        turn, last = 0, ""
        for body in bodies:
            here = (("body", [(body.element, body.scope)]), ("joint", body.joints), ("geom", body.geoms))
            for kind, elements in (*here, ("site", body.sites)):
                for element, scope in elements:
                    if given := element.attributes.get("name", ""):
                        turn, last = turn + (scope.suffix != last), scope.suffix
                        made._take(kind, scope.name(given), scope.prefix + given)
                        made.turn[kind, scope.name(given)] = turn if scope.suffix else 0
                        if kind == "site":
                            made.carriers[scope.name(given)] = body
        return made

    def _take(self, kind: str, name: str, stem: str) -> None:
        self.known[kind][name] = name
        if stem != name:
            self.apart[kind][stem] = "replicate", "is repeated, and stands for several"
            self.copies.setdefault((kind, stem), []).append(name)

    def repeated(self, kind: str, stem: str) -> list[str]:
        """What is added to the name of a thing for each of its copies; nothing where it is not repeated."""
        if stem in self.known[kind]:
            return []
        return [name.removeprefix(stem) for name in self.copies.get((kind, stem), [])]


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
            feature, why = self.names.apart[kind][name]
            left_out(self.builder, element, feature, f"{kind} {shown(given)!r} {why}")
        elif self.main:  # of a model that is attached, only a part may be
            what = f"{element} speaks of {kind} {shown(given)!r}, which does not exist."
            raise ModelError(f"unknown-{kind}", what, did_you_mean(given, known), (part or element).where)
        return None

    def section(self, tag: str, default: str = "") -> list[Element]:
        """The elements of a section, with what their classes say of them, or of what `default` names."""
        elements = (element for section in self.document.sections(tag) for element in section.children)
        return [self.document.defaults.applied(element, key=default) for element in elements]


def part_left_out(builder: Builder, element: Element, names: Set[str]) -> None:
    """Record those of these attributes that have an effect as features that hinge does not simulate."""
    for name in sorted(element.attributes.keys() & names):
        if any(numbers(element, name, len(element.attributes[name].split()))):
            left_out(builder, element, name, f"it has {name}")


def left_out(builder: Builder, element: Element, feature: str, why: str) -> None:
    """Record that hinge does not simulate an element: a finding now, and an error when physics="file" runs."""
    what = f'{element}: {why}; physics="file" does not simulate it, and runs with ignore=("{feature}",) only.'
    builder.finding("note", "left-out", what, where=element.where)
    builder.left_out.append(LeftOut(feature, str(element)))


def unsimulated(element: Element, angle: float = 1.0) -> Words:
    """Return the attributes of an element that hinge keeps and does not simulate; coordinates in units of `angle`."""
    said = {name: text for name, text in sorted(element.attributes.items()) if name in UNSIMULATED[element.tag]}
    if "springyield" in said and angle != 1.0:
        values = numbers(element, "springyield", len(said["springyield"].split()))
        said["springyield"] = " ".join(repr(angle * x) for x in values)
    return tuple(said.items())


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
        unsimulated(element),
    )  # fmt: skip


def joint_physics(element: Element, settings: Settings, angle: float) -> JointPhysics:
    """How the constraints of a joint give way, and what may drive it; `angle` is the unit of its coordinates."""
    if not element.attributes.keys() & CONSTRAINS:
        return FIRM
    force = limited(element, settings, "actuatorfrcrange", "actuatorfrclimited")
    uneven = force if force[0] != -force[1] else None
    return JointPhysics(softness(element, "limit"), number(element, "margin", 0.0),
                        softness(element, "friction"), uneven, truth(element, "actuatorgravcomp", False),
                        unsimulated(element, angle), tuple(_higher(element)))  # fmt: skip


def _higher(element: Element) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield the coefficients of higher order of a joint's spring and damper."""
    for name in ("stiffness", "damping"):
        rest = numbers(element, name, len(element.attributes.get(name, "0").split()), (0.0,))[1:]
        if any(rest):
            yield name, rest


# what the file says besides


def options(document: Document, builder: Builder) -> Options:
    """The options of a file; a later element adds to an earlier one."""
    made = Options()
    for element in document.sections("option"):
        disabled, enabled = set(made.disabled), set(made.enabled)
        for flag in element.all("flag"):
            switches = {
                name: word(flag, name, ("enable", "disable"), "enable")
                for name in (FLAGS | FLAGS_OFF) & flag.attributes.keys()
            }
            disabled = disabled - switches.keys() | {name for name in FLAGS if switches.get(name) == "disable"}
            enabled = enabled - switches.keys() | {name for name in FLAGS_OFF if switches.get(name) == "enable"}
            for name in sorted({"override", "diagexact", "sleep", "ipc", "speculative"} & enabled):
                left_out(builder, flag, name, f"it switches {name} on")
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
            tuple(sorted(enabled)),
            tuple(sorted({**dict(made.unsimulated), **dict(unsimulated(element))}.items())),
        )
        if made.timestep <= 0.0 or made.impratio <= 0.0:
            raise ModelError("option", f"{element} has a timestep or an impratio that is not above 0.",
                             "Write a number above 0.", element.where)  # fmt: skip
        if made.integrator == "discrete":
            left_out(builder, element, "discrete", "it has the discrete integrator")
        if made.noslip_iterations:
            left_out(builder, element, "noslip", "it has noslip_iterations")
        if number(element, "density", 0.0) or number(element, "viscosity", 0.0):
            left_out(builder, element, "fluid", "it has a fluid")
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
        endings = _endings(speaker, element, name)
        if endings:
            speaker.names.apart["tendon"][name] = "replicate", "is repeated, and stands for several"
            speaker.names.copies["tendon", name] = [name + ending for ending in endings]
        if element.tag != "fixed":
            if _acts(element, settings):
                left_out(builder, element, "spatial", "a tendon along sites and surfaces")
            for ending in endings or [""]:
                speaker.names.apart["tendon"][name + ending] = "spatial", "runs along sites and surfaces"
            continue
        part_left_out(builder, element, {"springyield"})
        for ending in endings or [""]:
            made += _fixed(speaker, element, name, ending, rests, damping)
    return sorted(made, key=lambda tendon: speaker.names.turn.get(("tendon", tendon.name), 0))


def _endings(speaker: Speaker, tendon: Element, name: str) -> list[str]:
    """What is added to the name of each copy of a tendon that runs over things that are repeated; else nothing."""
    for part in tendon.children:
        for kind in ("joint", "site", "geom"):
            stem = speaker.prefix + part.attributes.get(kind, "")
            if found := speaker.names.repeated(kind, stem):
                for ending in found:
                    speaker.names.turn["tendon", name + ending] = speaker.names.turn[kind, stem + ending]
                return found
    return []


def _fixed(speaker: Speaker, element: Element, stem: str, ending: str, rests: Mapping[str, float],
           damping: Mapping[str, float]) -> list[Tendon]:  # fmt: skip
    """A fixed tendon, or one of its copies; none where it runs over what is not there."""
    settings, builder, name = speaker.document.settings, speaker.builder, stem + ending
    parts = list(element.all("joint"))
    joints = [(_over(speaker, element, part, ending), number(part, "coef")) for part in parts]
    if any(joint is None for joint, _ in joints):
        why = "runs over joints that stand for several, or are not there"
        speaker.names.apart["tendon"][name] = "replicate", why
        return []
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
        name, tuple((joint, c) for joint, c in joints if joint), 0.0, stiffness, damper + damping.get(stem, 0.0),
        ends, limited(element, settings, "range", "limited"),
        number(element, "margin", 0.0), softness(element, "limit"), number(element, "frictionloss", 0.0),
        softness(element, "friction"), limited(element, settings, "actuatorfrcrange", "actuatorfrclimited"),
    )  # fmt: skip
    speaker.names.known["tendon"][name] = name
    return [tendon]


def _over(speaker: Speaker, tendon: Element, part: Element, ending: str) -> str | None:
    """The joint that a tendon, or one of its copies, runs over."""
    copy = speaker.prefix + attribute(part, "joint") + ending
    return copy if ending and copy in speaker.names.known["joint"] else speaker.called("joint", tendon, "joint", part)


def _linear(element: Element, name: str, builder: Builder) -> float:
    """A coefficient that may be followed by those of higher powers, which are left out."""
    first, *rest = leading(element, name, (0.0,) * 3)
    if any(rest):
        left_out(builder, element, "nonlinear", f"it has {name} of higher order")
    return first


def _acts(element: Element, settings: Settings) -> bool:
    """Whether a tendon has forces of its own: a spring, a damper, friction or a limit."""
    said = ("stiffness", "damping", "frictionloss")
    forces = any(x for name in said for x in leading(element, name, (0.0,) * 3))
    return forces or limited(element, settings, "range", "limited") != NO_LIMIT


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
            left_out(speaker.builder, element, "flex", "a constraint of a flexible body")
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
        if on == "site":
            one_body, other = (speaker.names.carriers[speaker.prefix + given[end]] for end in ("site1", "site2"))
            one = replace(one, links=(one_body.link, other.link))
        if kind == "weld":
            one = replace(one, torquescale=number(element, "torquescale", 1.0))
        if on in ("joint", "tendon"):
            one = replace(one, polycoef=leading(element, "polycoef", one.polycoef))
        made.append(one)
    return made
