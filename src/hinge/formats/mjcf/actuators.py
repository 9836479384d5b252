"""The actuators of an MJCF file, into the data of model/file_physics.

An actuator is a law, how it makes a force, and the rest: gear, ranges, group. A class has both, and adds to the class
around it. `general` goes on with the law of its class whatever that is; any other kind is a row of KINDS, and goes on
with the nearest law of its own kind or of `general`, of its class or of one around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from hinge.errors import ModelError
from hinge.formats.mjcf.physics import Speaker, leading, left_out, limited
from hinge.formats.mjcf.settings import Defaults, integer, word
from hinge.formats.mjcf.words import check
from hinge.formats.xml import Element, number, numbers, shown
from hinge.model.file_physics import FEATURES, NO_LIMIT, Actuator, Range

TARGETS = {"joint": "joint", "jointinparent": "joint", "tendon": "tendon", "site": "site",
           "cranksite": "crank", "body": "body"}  # fmt: skip
RANGES = ("ctrllimited", "forcelimited", "ctrlrange", "forcerange")
GAINS = ("fixed", "affine", "muscle", "pid", "so3", "dcmotor", "user")
BIASES = ("none", "affine", "muscle", "so3", "dcmotor", "user")
DYNAMICS = ("none", "integrator", "filter", "filterexact", "muscle", "pid", "dcmotor", "user")
NONE = (0.0,) * 10


@dataclass(frozen=True)
class Law:
    """How an actuator makes a force of its control, and the kind of element that says so."""

    kind: str = "general"
    gaintype: str = "fixed"
    gain: tuple[float, ...] = (1.0, *NONE[1:])
    biastype: str = "none"
    bias: tuple[float, ...] = NONE
    dyntype: str = "none"
    inheritrange: float = 0.0

    @property
    def servo(self) -> bool:
        """Whether its control is a length."""
        return (self.gaintype, self.biastype) == ("fixed", "affine") and self.gain[0] == -self.bias[1]

    @property
    def unmodelled(self) -> tuple[str, str]:
        """The feature that hinge does not simulate, and the reason in words; two empty strings if there is none."""
        if self.kind != "general" and self.kind not in KINDS:
            return self.kind, f"the law of a {self.kind}"
        known = {"gaintype": ("fixed", "affine"), "biastype": ("none", "affine"), "dyntype": ("none",)}
        found = {name: getattr(self, name) for name in known if getattr(self, name) not in known[name]}
        features = [kind for kind in found.values() if kind in FEATURES]  # muscle, pid, dcmotor
        features += ["dyntype" if name == "dyntype" else "gaintype" for name in found]
        return next(iter(features), ""), ", ".join(f"{name} {kind}" for name, kind in found.items())


@dataclass(frozen=True)
class Draft:
    """An actuator while defaults and its own element are read, the laws of the classes around it among it."""

    law: Law = Law()
    outer: tuple[Law, ...] = ()  # of the classes around, the nearest first
    words: Mapping[str, str] = field(default_factory=dict)  # of ranges
    gear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    delay: float = 0.0
    group: int = 0
    inputs: str = ""

    def read(self, element: Element) -> Draft:
        """With what one more element says."""
        given = element.attributes
        return Draft(
            self._law(element), self.outer, {**self.words, **{word: given[word] for word in RANGES if word in given}},
            leading(element, "gear", self.gear), number(element, "delay", self.delay),
            integer(element, "group", self.group), given.get("input", self.inputs),
        )  # fmt: skip

    def _law(self, element: Element) -> Law:
        kind = element.tag
        if kind == "general":
            law = self.law
            return Law(
                kind, word(element, "gaintype", GAINS, law.gaintype), leading(element, "gainprm", law.gain),
                word(element, "biastype", BIASES, law.biastype), leading(element, "biasprm", law.bias),
                word(element, "dyntype", DYNAMICS, law.dyntype), number(element, "inheritrange", law.inheritrange),
            )  # fmt: skip
        if kind not in KINDS:
            return Law(kind, gaintype=kind)
        near = [law for law in (self.law, *self.outer) if law.kind in (kind, "general")]
        return KINDS[kind](near[0] if near else Law(), element)

    @property
    def width(self) -> int:
        """How many controls it has."""
        kind = self.law.gaintype
        if kind in ("orientation", "so3"):
            return 4 if self.inputs == "quat" else 3
        if kind in ("pid", "dcmotor"):
            return len([one for one in self.inputs.split() if one != "none"]) if self.inputs else 1 + (kind == "pid")
        return 1


def draft_of(defaults: Defaults, name: str, known: dict[str, Draft]) -> Draft:
    """What a class says of actuators; `known` has what others said, and takes in what is found."""
    chain = [name]
    while chain[-1] in defaults.above and chain[-1] not in known:
        chain.append(defaults.above[chain[-1]])
    draft = Draft()
    for one in reversed(chain):
        if one not in known:
            known[one] = replace(draft, outer=(draft.law, *draft.outer))
            for element in defaults.actuators.get(one, ()):
                known[one] = known[one].read(element)
        draft = known[one]
    return draft


# kinds


def _motor(law: Law, element: Element) -> Law:
    return Law("motor")


def _position(law: Law, element: Element) -> Law:
    kp, kv, ratio = number(element, "kp", law.gain[0]), _above(element, "kv"), _above(element, "dampratio")
    if kv is not None and ratio is not None:
        raise ModelError("actuator", f"{element} has both kv and dampratio.", "Keep one.", element.where)
    last = law.bias[2] if kv is None else -kv
    lag = _above(element, "timeconst")
    dyntype = "filterexact" if lag else "none" if lag is not None or law.kind == "general" else law.dyntype
    return Law("position", "fixed", (kp, *NONE[1:]), "affine", (0.0, -kp, last if ratio is None else ratio, *NONE[3:]),
               dyntype, number(element, "inheritrange", law.inheritrange))  # fmt: skip


def _integrated(law: Law, element: Element) -> Law:
    return replace(_position(law, element), kind="intvelocity", dyntype="integrator")


def _velocity(law: Law, element: Element) -> Law:
    kv = number(element, "kv", law.gain[0])
    return Law("velocity", "fixed", (kv, *NONE[1:]), "affine", (0.0, 0.0, -kv, *NONE[3:]))


def _damper(law: Law, element: Element) -> Law:
    kv = _above(element, "kv")
    if kv is None:
        kv = -law.gain[2] if law.gaintype == "affine" else 0.0
    return Law("damper", "affine", (0.0, 0.0, -kv, *NONE[3:]))


def _above(element: Element, name: str) -> float | None:
    """A number that is not below zero, where it is given."""
    if name not in element.attributes:
        return None
    if number(element, name) < 0.0:
        raise ModelError("actuator", f'{element} has {name}="{shown(element.attributes[name])}", below 0.',
                         "Write zero or more.", element.where)  # fmt: skip
    return number(element, name)


KINDS: dict[str, Callable[[Law, Element], Law]] = {
    "motor": _motor,
    "position": _position,
    "intvelocity": _integrated,
    "velocity": _velocity,
    "damper": _damper,
}


# actuators


@dataclass
class Actuators:
    """Reads the actuators of a model; `scalar` has the ranges of joints with one coordinate, `ropes` of tendons."""

    speaker: Speaker
    scalar: Mapping[str, Range]
    ropes: Mapping[str, Range]
    off: frozenset[int]  # groups that are switched off
    drafts: dict[str, Draft] = field(default_factory=dict)  # of classes

    def read(self) -> list[Actuator]:
        made: list[Actuator] = []
        for section in self.speaker.document.sections("actuator"):
            for element in section.children:
                made += self._one(element, len(made))
        turn = self.speaker.names.turn  # MuJoCo has copies last, one repetition after another
        return sorted(made, key=lambda one: turn.get((one.on, one.target), 0))

    def _one(self, element: Element, number_: int) -> list[Actuator]:
        """An actuator, or one for each copy of its joint."""
        check(element)
        defaults, of_class = self.speaker.document.defaults, element.attributes.get("class", "main")
        defaults.of(of_class, element)
        draft = draft_of(defaults, of_class, self.drafts).read(element)
        name = self.speaker.prefix + element.attributes.get("name", f"actuator_{number_}")
        way = next((way for way in TARGETS if way in element.attributes), None)
        if way is None:
            raise ModelError("missing", f"{element} drives nothing.", 'Write joint="…", or what else it drives.',
                             element.where)  # fmt: skip
        on, stem = TARGETS[way], self.speaker.prefix + element.attributes[way]
        names = self.speaker.names
        if on not in names.known:
            return [self._made(element, draft, name, on, stem)]
        if endings := names.repeated(on, stem):
            return [self._copy(element, draft, name + ending, on, stem + ending) for ending in endings]
        target = self.speaker.called(on, element, way)
        if target is None and not self.speaker.main:
            return []
        return [self._made(element, draft, name, on, target or stem, known=target is not None)]

    def _copy(self, element: Element, draft: Draft, name: str, on: str, target: str) -> Actuator:
        """The actuator of one copy of what is repeated."""
        names = self.speaker.names
        if target in names.known[on]:
            return self._made(element, draft, name, on, target)
        feature, why = names.apart[on].get(target, ("replicate", "is repeated"))
        left_out(self.speaker.builder, element, feature, f"{on} {shown(target)!r} {why}")
        return self._made(element, draft, name, on, target, known=False)

    def _made(self, element: Element, draft: Draft, name: str, on: str, target: str, known: bool = True) -> Actuator:
        settings, law = self.speaker.document.settings, draft.law
        feature, why = law.unmodelled
        if draft.delay and not why:
            feature, why = "delay", "a delay"
        if not why:
            feature, why = "transmission", self._untransmitted(element, on, target)
        off = draft.group in self.off
        if why and known and not off:
            left_out(self.speaker.builder, element, feature, f"an actuator with {why}")
        gain = law.gain[:3] if law.gaintype == "affine" else (law.gain[0], 0.0, 0.0)
        bias, ratio = law.bias[:3] if law.biastype == "affine" else (0.0, 0.0, 0.0), 0.0
        if law.servo and bias[2] > 0.0:
            bias, ratio = (*bias[:2], 0.0), bias[2]
        on_by_kind = {"ctrllimited": "true"} if law.kind == "damper" else {}
        said = Element(element.tag, {"name": name, **draft.words, **on_by_kind}, where=element.where)
        control = limited(said, settings, "ctrlrange", "ctrllimited")
        if law.servo and law.inheritrange > 0.0:
            if control != NO_LIMIT:
                raise ModelError("actuator", f"{element} has both ctrlrange and inheritrange.", "Keep one.",
                                 element.where)  # fmt: skip
            control = self._inherited(element, law.inheritrange, on, target)
        force = limited(said, settings, "forcerange", "forcelimited")
        active = known and not why and not off
        return Actuator(name, on, target, draft.gear, gain, bias, ratio, control, force, draft.width, active)

    def _untransmitted(self, element: Element, on: str, target: str) -> str:
        """Which way to what it drives hinge does not model, or nothing."""
        if on == "joint":
            return "" if target in self.scalar else "a joint of several coordinates"
        if on == "site":
            return "a refsite" if "refsite" in element.attributes else ""
        return "" if on == "tendon" else f"a {on}"

    def _inherited(self, element: Element, share: float, on: str, target: str) -> Range:
        low, high = {"joint": self.scalar, "tendon": self.ropes}.get(on, {}).get(target, NO_LIMIT)
        if not -inf < low < high < inf:
            raise ModelError("actuator", f"{element} has inheritrange, and {on} {shown(target)!r} has no range.",
                             "Write ctrlrange.", element.where)  # fmt: skip
        middle, half = (low + high) / 2, share * (high - low) / 2
        return middle - half, middle + half


def groups_off(options: list[Element]) -> frozenset[int]:
    """The groups of actuators that a file switches off."""
    word = "actuatorgroupdisable"
    given = [numbers(one, word, len(one.attributes[word].split())) for one in options if word in one.attributes]
    return frozenset(int(x) for row in given for x in row)
