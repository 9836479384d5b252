"""What a contact law is: a class in a file of its own, and a row of the table LAWS (contact/laws).

A step (steps/step.py) asks its law for the state at its end. The law decides when contacts are found, whether dry
friction and stops of joints are met together with them, and what the next step is to remember.

    class Penalty(ContactLaw):
        name = "penalty"
        ...
    LAWS["penalty"] = Penalty        # hinge.simulate(robot, ground=0.0, law="penalty")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from hinge.constraints.multipliers import Held
from hinge.contact.joint_impulses import JointBound
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slots import Slots
from hinge.contact.surfaces import FIELDS
from hinge.graph import Scalar, less, select
from hinge.integrators.methods import Method
from hinge.integrators.steps import Flat, Made, PerJoint
from hinge.model import Model
from hinge.model.file_physics import Touching
from hinge.spatial import Force
from hinge.status import OK, OVERFLOW, UNCONVERGED

Law = TypeVar("Law", bound="ContactLaw")
Forces = Callable[[Scalar], list[Scalar]]  # of contact k (N), along its normal and tangents


class PairSurfaces(NamedTuple):
    """Two bodies that may touch, their surfaces, and by how much a push on them moves them: of points and of turns."""

    first: int
    second: int
    touching: Touching
    restitution: float
    compliance: float
    weight: tuple[Scalar, Scalar]


class Now(NamedTuple):
    """A step of h seconds from q and v at the time t; `memory` is what the law wanted to be remembered.

    `acts` is what is given from outside, and `forward` how accelerations follow from joint forces; both are the step's.
    """

    t: Scalar
    h: Scalar
    q: PerJoint
    v: Flat
    memory: Sequence[Scalar]
    acts: Any
    forward: Any

    @property
    def end(self) -> Scalar:
        return self.t + self.h


class Stepping(Protocol):
    """The step that a law is a stage of, as far as laws use it."""

    @property
    def model(self) -> Model: ...
    @property
    def method(self) -> Method: ...
    @property
    def integrator(self) -> str: ...  # with physics="file": the one that the file names
    @property
    def slopes(self) -> bool: ...  # whether results are to have derivatives

    def body(self, now: Now, t: Scalar) -> Model:
        """Return the model at a time, with what is prescribed there."""

    def joint_bounds(self) -> list[JointBound]:
        """Return the velocities whose joints have dry friction or stops."""

    def acting(self, now: Now, share: Scalar, q: PerJoint, v: Flat) -> tuple[Flat, Sequence[Force]]:
        """Return joint forces and forces on bodies at a share of the step, in some state."""

    def free_motion(self, now: Now, sliding: dict[int, Scalar]) -> Made:
        """Return where the method of integration leads without impulses, with the friction of joints that slide."""

    def held(self, now: Now, q: PerJoint, v: Flat) -> Held | None:
        """Return what loops and constraints forbid at the end; None where there are none."""

    def contacts(self, model: Model, q: PerJoint, like: Scalar) -> Slots:
        """Return the contacts of a configuration."""

    def smooth(self, contacts: SlotContacts, margin: Scalar) -> Scalar:
        """Return the status of derivatives, where the law is so far from where it changes."""


class ContactResult(NamedTuple):
    """Where a law leads: the state, how it was found, and its contacts.

    `status` is one with which a run goes on, negative or OK. `settled` is 0 where equations had to be solved by turns,
    and were not. `forces` are those of a contact along its normal and tangents, of which there are `size`.
    """

    q: PerJoint
    v: Flat
    memory: Sequence[Scalar] = ()
    status: Scalar = float(OK)
    settled: Scalar = 1.0
    pivot: Scalar = 1.0
    made: Made | None = None  # by the method of integration
    slots: Slots | None = None
    forces: Forces | None = None
    size: int = 0
    smooth: Scalar = float(OK)  # the status of its derivatives
    residual: Scalar = 0.0  # how far from met the conditions of the law are


class ContactLaw:
    """How what touches moves during a step. A law is a frozen record of the pairs that may touch, and of settings."""

    name: ClassVar[str]
    method: ClassVar[str] = "rk4"  # of integration, where none is named
    only_method: ClassVar[bool] = False  # whether it goes with no other
    deepest_start: ClassVar[float] = math.inf  # share of the smaller shape's size; deeper starts are refused
    surface_fields: ClassVar[tuple[str, ...]] = tuple(FIELDS)  # that may be given for each rollout
    finds_contacts: ClassVar[bool] = True  # False where nothing can touch
    of_file: ClassVar[bool] = False  # as MuJoCo has it: margins, inner edges of terrain, inertias of sliding bodies
    solves_loops: ClassVar[bool] = False  # loops, limits and dry friction are a part of it, as a file states them

    pairs: tuple[Any, ...]

    @classmethod
    def of(cls: type[Law], model: Model, weights: Any, pairs: Sequence[PairSurfaces], whole: bool) -> Law:
        """Return the law for pairs of a robot, whose bodies give way as `weights` say; `whole` with all that its file
        says besides."""
        raise NotImplementedError

    def weighed(self: Law, model: Model, weights: Any, pushes: Sequence[tuple[Scalar, Scalar]], whole: bool) -> Law:
        """Return the law for other inertias: `pushes` has a pair's weight for each."""
        raise NotImplementedError

    def memory(self, model: Model) -> int:
        """Return how many numbers a step hands on to the next."""
        return 0

    def step(self, step: Stepping, now: Now) -> ContactResult:
        """Return the state at the end of a step."""
        raise NotImplementedError


def contact_status(slots: Slots, settled: Scalar) -> Scalar:
    """Negative, for a run goes on: contacts that there was no room for, or forces that do not meet all conditions."""
    met = select(less(0.5, settled), float(OK), -float(UNCONVERGED))
    return select(less(slots.room + 0.5, slots.found), -float(OVERFLOW), met)
