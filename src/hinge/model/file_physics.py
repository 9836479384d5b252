"""What an MJCF file says besides the tree, as data: how shapes touch, limits, equalities, tendons, actuators, options.

Numbers are MuJoCo's, in SI units, with its defaults put in. Bodies, joints, shapes and sites are spoken of by name, so
that whatever numbers bodies anew leaves this alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

Range = tuple[float, float]
NO_LIMIT: Range = (-inf, inf)
TINY = 1e-15  # what counts as nothing
LEAST, MOST = 1e-4, 0.9999  # of an impedance
Words = tuple[tuple[str, str], ...]  # attributes as the file has them
FEATURES = {  # of MJCF that physics="file" does not simulate; a user may ignore them by these names
    "adhesion": "adhesion of surfaces",
    "cylinder": "hydraulic and pneumatic cylinders",
    "dcmotor": "motors with electrical dynamics",
    "delay": "actuators with a delay",
    "diagexact": "exact diagonals of constraint inertias",
    "discrete": "the discrete integrator, without which steps are those of Euler",
    "dyntype": "actuators with a state of their own (filters, integrators)",
    "flex": "flexible bodies",
    "fluid": "forces of a fluid (density, viscosity, wind)",
    "free-armature": "armature of free joints, which MuJoCo adds along the axes of the world",
    "gaintype": "gains and biases other than fixed and affine ones",
    "ipc": "contacts by a barrier (ipc)",
    "limited-servo": "implicit steps with servos on tendons and sites of joints that have a force range",
    "muscle": "muscles",
    "nonlinear": "springs and dampers of higher order",
    "noslip": "the solver's correction against slip (noslip_iterations)",
    "orientation": "servos of orientations",
    "override": "contact parameters for all contacts",
    "pid": "PID servos with a state",
    "plugin": "plugins",
    "replicate": "references to elements that are repeated",
    "sleep": "bodies that sleep",
    "spatial": "tendons along sites and surfaces",
    "speculative": "speculative contacts",
    "springdamper": "springs stated by a time constant and a damping ratio",
    "springyield": "springs that yield",
    "surfacevel": "surfaces that move",
    "transmission": "actuators on sliders, bodies, reference sites and joints of several coordinates",
}


class LeftOut(NamedTuple):
    """An element of the file that hinge does not simulate, by the name of the feature (see FEATURES)."""

    feature: str
    element: str


@dataclass(frozen=True)
class Softness:
    """How a constraint gives way."""

    solref: tuple[float, ...] = (0.02, 1.0)  # time constant (s) and damping ratio; or stiffness and damping, negative
    solimp: tuple[float, ...] = (
        0.9,
        0.95,
        0.001,
        0.5,
        2.0,
    )  # least and greatest impedance, width (m, rad), midpoint, power
    least: float = 2.0  # time steps that a time constant has at least; none where the flag refsafe is off

    @property
    def impedance(self) -> tuple[float, ...]:
        """`solimp` within the bounds it is kept in; without a width it is the mean."""
        d0, d1, width, middle, power = self.solimp
        d0, d1, middle = (min(max(x, LEAST), MOST) for x in (d0, d1, middle))
        ends = (d0, d1) if width > TINY else (0.5 * (d0 + d1),) * 2
        return *ends, width if width > TINY else 1.0, middle, max(power, 1.0)

    @property
    def pull(self) -> tuple[float, ...]:
        """(k, b, t, s): with steps of h seconds and T = max(t, s h), stiffness is k / T² and damping b / T.

        A time constant is at least `least` steps. A `solref` with one number of either kind is the default. The
        greatest impedance counts even where `solimp` has no width, and the impedance is the mean.
        """
        most = min(max(self.solimp[1], LEAST), MOST)
        t, ratio = self.solref if (self.solref[0] > 0.0) == (self.solref[1] > 0.0) else Softness.solref
        return (
            (1.0 / (most * ratio) ** 2, 2.0 / most, t, self.least)
            if t > 0.0
            else (-t / most**2, -ratio / most, 1.0, 0.0)
        )


@dataclass(frozen=True)
class Touching:
    """The parameters of contact between two shapes."""

    condim: int = 3  # 1: no friction, 3: sliding, 4: and torsion, 6: and rolling
    friction: tuple[float, ...] = (1.0, 1.0, 0.005, 0.0001, 0.0001)  # two of sliding, torsion (m), two of rolling (m)
    softness: Softness = Softness()
    solreffriction: tuple[float, ...] = (0.0, 0.0)  # the solref of friction; zeros where it is that of the normal
    margin: float = 0.0  # m: the gap below which there is a force
    gap: float = 0.0  # m: by how much more shapes may be apart and still be listed


@dataclass(frozen=True)
class Surface:
    """What a shape says of how it touches others."""

    contype: int = 1
    conaffinity: int = 1
    condim: int = 3
    priority: int = 0
    friction: tuple[float, ...] = (1.0, 0.005, 0.0001)  # sliding, torsion (m), rolling (m)
    softness: Softness = Softness()
    solmix: float = 1.0
    margin: float = 0.0
    gap: float = 0.0
    unsimulated: Words = ()  # attributes that hinge keeps and does not simulate

    def meets(self, other: Surface) -> bool:
        """Whether the type of one is among those that the other has an affinity for."""
        return bool(self.contype & other.conaffinity or other.contype & self.conaffinity)


def mixed(a: Surface, b: Surface) -> Touching:
    """The parameters of two shapes that touch: those of the one with the higher priority, or of both.

    >>> mixed(Surface(friction=(0.5, 0.0, 0.0), condim=1), Surface(friction=(0.2, 0.0, 0.0))).friction
    (0.5, 0.5, 0.0, 0.0, 0.0)
    """
    margin, gap = a.margin + b.margin, a.gap + b.gap
    if a.priority != b.priority:
        first = max(a, b, key=lambda one: one.priority)
        return Touching(first.condim, _each(first.friction), first.softness, margin=margin, gap=gap)
    weights = [x if x >= TINY else 0.0 for x in (a.solmix, b.solmix)]
    share = weights[0] / sum(weights) if any(weights) else 0.5

    def between(x: tuple[float, ...], y: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(share * s + (1.0 - share) * t for s, t in zip(x, y, strict=True))

    one, other = a.softness, b.softness
    plain = one.solref[0] > 0.0 and other.solref[0] > 0.0  # else stiffnesses, of which the greater counts
    solref = between(one.solref, other.solref) if plain else tuple(map(min, one.solref, other.solref))
    softness = Softness(solref, between(one.solimp, other.solimp))
    return Touching(max(a.condim, b.condim), _each(tuple(map(max, a.friction, b.friction))), softness,
                    margin=margin, gap=gap)  # fmt: skip


def _each(friction: tuple[float, ...]) -> tuple[float, ...]:
    """The five numbers of friction that the three of a surface stand for."""
    slide, spin, roll = friction
    return slide, slide, spin, roll, roll


@dataclass(frozen=True)
class JointPhysics:
    """What a joint says of its constraints and of what drives it."""

    limit: Softness = Softness()
    margin: float = 0.0  # rad, m: how far from a limit it begins to act
    friction: Softness = Softness()
    force: Range | None = None  # what actuators may make of it, where that is more one way than the other
    lifted: bool = False  # whether gravity compensation counts among what actuators make
    unsimulated: Words = ()  # attributes that hinge keeps and does not simulate
    higher: tuple[tuple[str, tuple[float, ...]], ...] = ()  # coefficients of higher order, of stiffness and damping


@dataclass(frozen=True)
class Tendon:
    """A fixed tendon: its length is a sum of coordinates of joints, each with a coefficient, and an offset."""

    name: str
    joints: tuple[tuple[str, float], ...]
    offset: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    slack: Range = (0.0, 0.0)  # the lengths between which its spring is slack
    range: Range = NO_LIMIT
    margin: float = 0.0
    limit: Softness = Softness()
    frictionloss: float = 0.0
    friction: Softness = Softness()
    force: Range = NO_LIMIT  # what actuators may make of it together

    def renamed(self, prefix: str) -> Tendon:
        joints = tuple((prefix + joint, c) for joint, c in self.joints)
        return replace(self, name=prefix + self.name, joints=joints)

    def holding(self, joints: Mapping[str, float]) -> Tendon:
        """With joints held at coordinates, which are part of its offset."""
        held = sum(c * joints[name] for name, c in self.joints if name in joints)
        left = tuple((name, c) for name, c in self.joints if name not in joints)
        return replace(self, joints=left, offset=self.offset + held)


@dataclass(frozen=True)
class Equality:
    """A constraint: `kind` connect, weld, joint or tendon, on two bodies, sites, joints or tendons."""

    name: str
    kind: str
    first: str
    second: str = ""  # nothing where there is one alone, and for bodies the world
    on: str = "body"  # body, site, joint or tendon
    anchor: tuple[float, ...] = (0.0, 0.0, 0.0)  # of a connect in the first body, of a weld in the second
    relpose: tuple[float, ...] | None = None  # of a weld: the second in the first; None: as they stand at qpos0
    torquescale: float = 1.0
    polycoef: tuple[float, ...] = (0.0, 1.0, 0.0, 0.0, 0.0)
    softness: Softness = Softness()
    active: bool = True
    links: tuple[str, str] = ("", "")  # of sites: the links that they are on, whose weights MuJoCo takes

    def renamed(self, prefix: str) -> Equality:
        second = prefix + self.second if self.second else ""
        links = prefix + self.links[0] if self.links[0] else "", prefix + self.links[1] if self.links[1] else ""
        return replace(self, name=prefix + self.name, first=prefix + self.first, second=second, links=links)


@dataclass(frozen=True)
class Actuator:
    """What makes a force of a control: (gain · s) control + bias · s, where s is 1, length and velocity."""

    name: str
    on: str  # joint, tendon or site; something else where it is not active
    target: str
    gear: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    gain: tuple[float, ...] = (1.0, 0.0, 0.0)
    bias: tuple[float, ...] = (0.0, 0.0, 0.0)
    dampratio: float = 0.0  # of a servo, in place of the last of `bias`: a share of critical damping at qpos0
    control: Range = NO_LIMIT
    force: Range = NO_LIMIT
    width: int = 1  # how many controls it has
    active: bool = True  # not where its group is switched off, or hinge does not model it

    def renamed(self, prefix: str) -> Actuator:
        return replace(self, name=prefix + self.name, target=prefix + self.target)


@dataclass(frozen=True)
class Options:
    """How the file wants to be simulated; `disabled` has the flags that it switches off."""

    timestep: float = 0.002
    integrator: str = "Euler"
    cone: str = "pyramidal"
    solver: str = "Newton"
    impratio: float = 1.0
    iterations: int = 100
    tolerance: float = 1e-8
    ls_iterations: int = 50
    ls_tolerance: float = 0.01
    noslip_iterations: int = 0
    disabled: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()  # flags that it switches on
    unsimulated: Words = ()  # attributes that hinge keeps and does not simulate


@dataclass(frozen=True)
class FilePhysics:
    """All that a file says besides the tree; shapes and joints have their own part of it."""

    options: Options = Options()
    actuators: tuple[Actuator, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    equalities: tuple[Equality, ...] = ()
    excludes: tuple[tuple[str, str], ...] = ()  # bodies that do not touch
    pairs: tuple[tuple[str, str, Touching], ...] = ()  # shapes that do, whatever they say themselves
    left_out: tuple[LeftOut, ...] = ()  # what hinge does not simulate

    @property
    def nu(self) -> int:
        """How many controls there are."""
        return sum(one.width for one in self.actuators)

    def holding(self, joints: Mapping[str, float]) -> FilePhysics:
        """With joints held at coordinates: what drives them is switched off, and tendons run over them no more."""
        off = [replace(one, active=False) if one.on == "joint" and one.target in joints else one
               for one in self.actuators]  # fmt: skip
        tendons = [tendon.holding(joints) for tendon in self.tendons]
        return replace(self, actuators=tuple(off), tendons=tuple(tendons))

    def joined(self, other: FilePhysics, prefix: str) -> FilePhysics:
        """With what another robot's file says, whose names have that prefix; options are this one's."""
        return replace(
            self,
            actuators=(*self.actuators, *(one.renamed(prefix) for one in other.actuators)),
            tendons=(*self.tendons, *(one.renamed(prefix) for one in other.tendons)),
            equalities=(*self.equalities, *(one.renamed(prefix) for one in other.equalities)),
            excludes=(*self.excludes, *((prefix + a, prefix + b) for a, b in other.excludes)),
            pairs=(*self.pairs, *other.pairs),
            left_out=(*self.left_out, *other.left_out),
        )


PLAIN, FIRM = FilePhysics(), JointPhysics()  # of what says nothing
