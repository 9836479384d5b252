"""One step of a simulation over scalars, from state to state: everything that happens during a run is part of it.

A controller or given forces, limits of the actuators, joint terms, external forces, a base that moves, joints that are
prescribed, loops and constraints act while the method of integration runs; dry friction, stops and contacts strike as
the contact law says; then what has drifted is brought back. Traced once, a step is the body of a loop: sim/rollouts.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hinge.calls.call import Call
from hinge.calls.controllers import saturated
from hinge.calls.target import Target
from hinge.constraints.elimination import determined
from hinge.constraints.general import stabilised
from hinge.constraints.multipliers import Held, Keeping, constrained
from hinge.contact.contact_model import NOTHING, ContactModel
from hinge.contact.contact_slopes import smoothness
from hinge.contact.joint_impulses import JointBound, joint_bounds
from hinge.contact.law import ContactResult, Now
from hinge.contact.slot_contacts import SlotContacts
from hinge.contact.slots import Slots
from hinge.dynamics.composite import composite
from hinge.dynamics.registry import ALGORITHMS, FORCE, Algorithm
from hinge.dynamics.solve import LDL
from hinge.errors import NotCovered
from hinge.graph import Graph, Rows, Scalar, less, maximum, minimum, repeat, select, when
from hinge.graph.scalars import chosen, largest
from hinge.integrators import METHODS
from hinge.integrators.probes import Probe, projected
from hinge.integrators.steps import Flat, Made, PerJoint, System
from hinge.loops.dynamics import forward_stabilised, loop_project
from hinge.loops.kinematics import OPEN, closing
from hinge.model import Model, varied
from hinge.model.driven import put, sizes
from hinge.model.model import TERMS
from hinge.model.regroup import regrouped
from hinge.model.states import joint_limits
from hinge.model.symbols import unknown
from hinge.model.vary import Parameter
from hinge.spatial import Force
from hinge.status import DIVERGED, NONFINITE, OK, SINGULAR, UNCLOSED, UNCONVERGED
from hinge.steps.inputs import Acts, Outside
from hinge.typing import Term

Answer = Algorithm | Callable[[Flat], tuple[Flat, list[Scalar]]]  # a method, or accelerations from joint forces
SPRING = 200.0  # rad/s: how fast a limit that is a spring pushes back, without swinging
FLAGS = {"stiffness": "spring", "damping": "damper", "friction": "frictionloss"}  # of a file, by joint terms
FAST, FASTEST = 1e3, 1e8  # rad/s, m/s: what is lost at the first has diverged, and at the second all is lost
NO_PROBE = Probe(0.0)


@dataclass(frozen=True)
class Physics:
    """What acts in a simulation besides the controller, and the method; two that are equal make the same step."""

    method: str = "rk4"
    terms: frozenset[str] = frozenset({"armature"})
    effort: bool = False  # forces are kept within the effort limits
    stops: bool = False  # position limits are stops
    springs: tuple[tuple[Scalar, Scalar], ...] | None = None  # stiffness and damping of limits, one a velocity
    constraint: Any = None  # a Constrained, whose constraints are kept
    loops: str = ""  # how loops and constraints are kept from drifting: see closed.py
    loop_time: float = 0.0  # s: time constant with which loops that came open close again, where they do
    keep: int = 1  # every how many steps the equations of motion are set up
    rank: int = 0  # how many velocities the loops determine, where these are found from the others
    touch: ContactModel = NOTHING  # what may touch, and by which law
    integrator: str = ""  # with what an MJCF file says: the one it names; springs and dampers of the file act
    slopes: bool = False  # contacts have derivatives, by the implicit function

    def key_rows(self) -> tuple[Any, ...]:
        """Return the rows of registries that its names select: the method, and what competes for forward dynamics."""
        return METHODS[self.method], tuple(ALGORITHMS["forward_dynamics"].values())

    @property
    def traced_terms(self) -> frozenset[str]:
        """The joint terms that the dynamics have in them; friction strikes at the end of a step."""
        return self.terms - {"friction"}

    def numbers(self, target: Target) -> tuple[Parameter, ...]:
        """What stands side by side in `parameters`: numbers of a varied robot, then friction and restitution."""
        return (*target.vary, *self.touch.surfaces)


def joint_terms_of(model: Model, physics: Physics) -> tuple[Term, ...]:
    """Return the joint terms that acted in a run: with the physics of a file all that it does not switch off."""
    if not physics.integrator:
        return tuple(term for term in TERMS if term in physics.terms)
    return tuple(term for term in TERMS if FLAGS.get(term) not in model.physics.options.disabled)


def refuse_beside_contacts(model: Model, physics: Physics) -> None:
    """Refuse what does not go with contacts."""
    law, row = physics.touch.law, METHODS[physics.method]
    if row.adaptive or row.late == 0.0 or not row.asks:
        fitting = "'rk4' or 'semi_implicit'"
        raise NotCovered(f"contacts do not go with method {physics.method!r}. Use {fitting}.")
    if law.only_method and physics.method != law.method:
        raise NotCovered(
            f"law={law.name!r} is a step of its own, which method={law.method!r} names; {physics.method!r} was given."
        )
    if physics.keep > 1 or physics.constraint is not None:
        raise NotCovered("contacts do not go with keep= and constraint=. Leave them out.")
    if law.solves_loops and (model.loops or physics.stops or physics.springs or "friction" in physics.terms):
        raise NotCovered(
            f"law={law.name!r} has loops, limits and dry friction of joints as an MJCF file states them.\n"
            '  Use physics="file", or law="rigid".'
        )


class Moved(NamedTuple):
    """A state after a step, how it fared, and what the contact law found."""

    q: PerJoint
    v: Flat
    status: Scalar
    met: ContactResult
    probe: Probe = NO_PROBE  # from which a run sees whether the method is stable


def limit_springs(inverse: Sequence[Scalar]) -> tuple[tuple[Scalar, Scalar], ...]:
    """Return stiffness and damping of limits, one a velocity, from the diagonal of the inverse of the mass matrix.

    They move what the joint feels at rest at one pace, SPRING.
    """
    return tuple((SPRING**2 / x, 2.0 * SPRING / x) for x in inverse)


def inverse_inertias(model: Model) -> list[Scalar]:
    """The diagonal of the inverse of the mass matrix at the reference configuration, driven joints at rest."""
    driven, n = sizes(model), model.nv
    at_rest = put(model, [0.0] * (driven[0] + 2 * driven[1])) if driven[1] else model
    at_rest = replace(at_rest, terms=frozenset({"armature"}))
    q = at_rest.joint_positions([x for i in model.leaders for x in model.neutral(i)])
    H = LDL(composite(at_rest, q), model.joint_label())
    return [H.solve([float(i == k) for i in range(n)])[k] for k in range(n)]


class Step:
    """One step of a robot in a graph, which `advance` takes: from a state to the one h seconds later.

    `of` puts in what varies as inputs, and what is found from numbers of the model before a run, such as how much
    bodies give way, is found from these.
    """

    def __init__(self, graph: Graph, target: Target, model: Model, physics: Physics, outside: Outside) -> None:
        self.target, self.model, self.physics = target, model, physics
        self.law, self.method = physics.touch.law, METHODS[physics.method]
        self.integrator, self.slopes = physics.integrator, physics.slopes
        self._outside, self._graph = outside, graph

    @classmethod
    def of(cls, graph: Graph, target: Target, physics: Physics, outside: Outside) -> Step:
        """Return a step in a graph, with what is given from outside as inputs."""
        model, touch = replace(target.traced, terms=physics.traced_terms), physics.touch
        given = outside.flat(graph, "parameters") if "parameters" in outside.arrays else []
        if target.vary:
            own = given[: sum(one.size for one in target.vary)]
            model = varied(model, target.vary, own)
            if physics.springs is not None:
                physics = replace(physics, springs=limit_springs(inverse_inertias(model)))
            touch = touch.weighed(target, own)
        if touch.surfaces:
            touch = touch.surfaced(given[-len(touch.surfaces) :])
        return cls(graph, target, regrouped(model), replace(physics, touch=touch), outside)

    @property
    def forward(self) -> Any:
        """The method of forward dynamics with the fewest operations."""
        terms = tuple(sorted(self.physics.traced_terms))
        return Call.parse(self.target, "forward_dynamics", joint_terms=terms, regroup=True).fewest[0]

    def acts(self, n: Scalar) -> Acts:
        """Return what acts in step n."""
        return self._outside.acts(self._graph, self.model, n)

    def commanded(self, acts: Acts, t: Scalar, q: Flat, v: Flat) -> Flat:
        """Return the joint forces that are asked for, within the limits of the actuators."""
        tau = acts.forces(t, q, v)
        return saturated(self.model, tau) if self.physics.effort else tau

    def advance(self, acts: Acts, t: Scalar, h: Scalar, q: PerJoint, v: Flat, memory: Sequence[Scalar] = (),
                forward: Answer | None = None) -> Moved:  # fmt: skip
        """Return the state h seconds after t.

        `memory` is what the law wanted to be remembered; `forward` gives accelerations where nothing is held.
        """
        now = Now(t, h, q, v, memory, acts, forward or self.forward)
        met = self.law.step(self, now)
        q, v, off = self.project(now, met.q, met.v)
        fared = _fared(self.model, q, v, now.v, met.pivot, met.settled)
        says = select(less(OPEN * OPEN, off), float(UNCLOSED), met.status)
        made = met.made
        probe = (made.probe or _mean_probe(now.v, made.v, h)) if made else None
        status = select(less(fared, 0.5), says, fared)
        return Moved(q, v, status, met, probe or _mean_probe(now.v, v, h))

    def advance_in_parts(self, n: Scalar, acts: Acts, t: Scalar, h: Scalar, state: Sequence[Scalar],
                         forward: Answer | None = None, smooth: bool = False) -> list[Scalar]:  # fmt: skip
        """Return the state h seconds after t, its probe, with `smooth` the status of its derivatives, and its status.

        Where forces jump within step n, it is taken in parts; a part that fails ends it.
        """
        model, outside = self.model, self._outside
        nq, size = model.nq, model.nq + model.nv

        def part(t: Scalar, h: Scalar, *at: Scalar) -> list[Scalar]:
            q, v = model.joint_positions(at[:nq]), list(at[nq:size])
            moved = self.advance(outside.before(acts, t + h), t, h, q, v, list(at[size:]), forward)
            more = [moved.met.smooth] if smooth else []
            return [*model.flat(moved.q), *moved.v, *moved.met.memory, *moved.probe, *more, moved.status]

        if "cuts" not in outside.arrays:
            return part(t, h, *state)
        (width,) = outside.shape("cuts")
        knots = Rows(self._graph, "cuts", width)[n]

        def one(j: Scalar, *now: Scalar) -> list[Scalar]:
            begin, end = (minimum(chosen(at, j), t + h) for at in ([t, *knots], [*knots, t + h]))
            skipped = select(less(begin, end), now[-1], 1.0)
            *after, status = when(less(skipped, 0.5), now, lambda *at: part(begin, end - begin, *at[: len(state)]))
            if smooth:
                after[-1] = maximum(after[-1], now[-2])
            return [*after, status]

        return list(repeat(width + 1, [*state, *NO_PROBE, *[float(OK)] * smooth, 0.0], one))

    # what contact laws ask for: see contact/law.py

    def body(self, now: Now, t: Scalar) -> Model:
        """Return the model at a time, with what is prescribed there."""
        return now.acts.body(t)

    def joint_bounds(self) -> list[JointBound]:
        """Return the velocities whose joints have dry friction or stops."""
        return joint_bounds(self.model, "friction" in self.physics.terms, self.physics.stops)

    def acting(self, now: Now, share: Scalar, q: PerJoint, v: Flat) -> tuple[Flat, Sequence[Force]]:
        """Return joint forces and forces on bodies at a share of the step, in some state."""
        tau = self.commanded(now.acts, now.t + share * now.h, self.model.flat(q), v)
        return tau, now.acts.external(now.acts.body(now.t), q)

    def free_motion(self, now: Now, sliding: dict[int, Scalar]) -> Made:
        """Return where the method of integration leads without impulses, with the friction of joints that slide."""
        return self.method.advance(self.model, self._system(now, sliding), now.q, now.v, now.h)

    def held(self, now: Now, q: PerJoint, v: Flat) -> Held | None:
        """Return what loops and constraints forbid at the end; None where there are none."""
        held = self._holding(now.end, 0.0, lambda t: now.acts.body(now.end))
        return held(q, v) if held else None

    def contacts(self, model: Model, q: PerJoint, like: Scalar) -> Slots:
        """Return the contacts of a configuration."""
        return self.physics.touch.found(model, q, like, self.slopes)

    def smooth(self, contacts: SlotContacts, margin: Scalar) -> Scalar:
        """Return the status of derivatives, where the law is so far from where it changes."""
        return smoothness(self.physics.touch, self.model, contacts, margin) if self.slopes else float(OK)

    def project(self, now: Now, q: PerJoint, v: Flat) -> tuple[PerJoint, Flat, Scalar]:
        """Return the state brought back to loops and constraints, and the square of how far loops are open then."""
        if self.law.solves_loops:
            return q, v, 0.0
        body, physics = now.acts.body(now.end), self.physics
        if physics.loops == "project" and physics.constraint is not None:
            return *physics.constraint.projected_state(body, q, v, now.end), 0.0
        if physics.loops == "project":
            (q, v), *_ = loop_project(body, q, body.joint_velocities(v))
        elif physics.loops == "independent":
            q, v = _independent(body, q, v, physics.rank)
        else:
            return q, v, 0.0
        return q, v, closing(body, q).state.off

    def _system(self, now: Now, sliding: dict[int, Scalar]) -> System:
        """What moves during a step, with the dry friction of joints that slide."""
        model, physics, acts, (t, h) = self.model, self.physics, now.acts, now[:2]

        def forces(c: Scalar, at: PerJoint, speed: Flat) -> Flat:
            tau = list(self.commanded(acts, t + c * h, model.flat(at), speed))
            for k, f in sliding.items():
                tau[k] = tau[k] - f
            return tau if physics.springs is None else _sprung(model, physics.springs, tau, at, speed)

        held = self._holding(t, h, acts.body)

        def acceleration(c: Scalar, at: PerJoint, speed: Flat) -> tuple[Flat, list[Scalar]]:
            body, speeds, tau = acts.body(t + c * h), model.joint_velocities(speed), forces(c, at, speed)
            if not isinstance(now.forward, Algorithm):
                accelerations: tuple[Flat, list[Scalar]] = now.forward(tau)
                return accelerations
            given = FORCE.take(model, tau), acts.external(body, at), acts.base(t + c * h)
            if physics.constraint is not None:
                qdd, _, pivots = physics.constraint.accelerated(
                    body, at, speed, given[0], t + c * h, *given[1:], time=physics.loop_time
                )
                return qdd, pivots
            if physics.loop_time:
                qdd, pivots, *margins = forward_stabilised(body, at, speeds, *given, physics.loop_time)
            else:
                qdd, pivots, *margins = now.forward.function(body, at, speeds, *given)
            return qdd, [*pivots, *margins]

        held_at = None if held is None else lambda c, at, speed: held(at, speed, c)
        return System(acceleration, forces, held_at, lambda c: acts.body(t + c * h),
                      lambda at: acts.external(acts.body(t), at), lambda c: acts.base(t + c * h))  # fmt: skip

    def _holding(self, t: Scalar, h: Scalar, body: Callable[[Scalar], Model]) -> Callable[..., Held] | None:
        """A function (q, v, c) that gives what loops and constraints hold; None without them."""
        physics, model = self.physics, self.model
        if physics.constraint is not None:

            def restricted(q: PerJoint, v: Flat, c: Scalar = 0.0) -> Held:
                A, _, bias = physics.constraint.rows(body(t + c * h), q, v, t + c * h, physics.loop_time)
                return Held(A, bias)

            return restricted
        if not model.loops:
            return None

        def closed(q: PerJoint, v: Flat, c: Scalar = 0.0) -> Held:
            loops = closing(model, q, model.joint_velocities(v))
            if not physics.loop_time:
                return Held(loops.A, loops.c, loops.state)
            bias = stabilised(loops.A, [0.0] * len(loops.A), loops.c, loops.gap, v, physics.loop_time)
            return Held(loops.A, bias, loops.state)

        return closed


def _mean_probe(before: Flat, after: Flat, h: Scalar) -> Probe:
    """Return the probe of a step without stages."""
    return Probe((projected(after) - projected(before)) / h)


def _sprung(model: Model, springs: Sequence[tuple[Scalar, Scalar]], tau: Flat, q: PerJoint, v: Flat) -> Flat:
    """Joint forces with what limits that are springs push back with."""
    for i in model.leaders:
        if not model.joint[i].is_single:
            continue
        (lower, upper, _), at = joint_limits(model, i), model.slices[i][1].start
        stiffness, damping = springs[at]
        for limit, sign in ((lower[0], 1.0), (upper[0], -1.0)):
            if unknown((limit,)) or math.isfinite(limit):
                beyond = sign * (limit - q[i][0])  # positive where the limit is passed
                push = maximum(stiffness * beyond - sign * damping * v[at], 0.0)
                tau[at] = tau[at] + select(less(0.0, beyond), sign * push, 0.0)
    return tau


class _Dependent:
    """In place of a mass matrix: the dependent velocities give way, all alike, and the others do not."""

    def __init__(self, gives: Sequence[Scalar]):
        self.gives = gives

    def solve(self, forces: Sequence[Scalar]) -> Flat:
        return [f * g for f, g in zip(forces, self.gives, strict=True)]


def _independent(model: Model, q: PerJoint, v: Flat, rank: int) -> tuple[PerJoint, Flat]:
    """The state whose independent coordinates and velocities stand as they are, the others found from them."""
    change = _Dependent(determined(closing(model, q).A, rank))
    for _ in range(2):
        loops = closing(model, q)
        moved = model.joint_velocities(constrained(change, [0.0] * model.nv, loops.A, loops.gap, loops.state)[0])
        q = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
    kept = [x - y for x, y in zip(v, change.solve(v), strict=True)]
    loops = closing(model, q)
    return q, Keeping(change, loops.A, loops.state).kept(kept)[0]


def _fared(model: Model, q: PerJoint, v: Flat, before: Flat, pivot: Scalar, settled: Scalar) -> Scalar:
    """The status of a state after a step: it has diverged where it is, or was, so fast that nothing is; where some
    number is none without that, somebody gave a force that is none."""
    fast, faster = largest(before), largest([*v, *(0.0 * x for x in model.flat(q))])
    blown = select(less(0.0, pivot), select(less(faster, FASTEST), 0.0, less(FASTEST, faster)), 0.0)
    diverged = select(less(fast, FAST), blown, 1.0)
    fared = select(less(faster, FASTEST), select(less(0.5, settled), float(OK), float(UNCONVERGED)), float(NONFINITE))
    fared = select(less(0.0, pivot), fared, select(less(pivot, 1.0), float(SINGULAR), float(NONFINITE)))
    return select(less(fared, 0.5), fared, select(diverged, float(DIVERGED), fared))
