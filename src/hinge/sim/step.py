"""One step of a simulation over scalars, from state to state: everything that happens during a run is part of it.

A controller or given forces, limits of the actuators, joint terms, external forces, a base that moves, joints that are
prescribed, loops and constraints act while the method of integration runs; dry friction and stops strike at its end;
then what has drifted is brought back. Traced once, a step is the body of a loop: sim/rollouts.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hinge.calls.controllers import saturated
from hinge.calls.target import Target
from hinge.constraints.elimination import determined
from hinge.constraints.general import stabilised
from hinge.constraints.multipliers import Held, Keeping, constrained
from hinge.contact.contact_model import ContactModel
from hinge.dynamics.composite import composite
from hinge.dynamics.registry import ALGORITHMS, FORCE, Algorithm
from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, less, maximum, minimum, select
from hinge.graph.scalars import largest
from hinge.integrators import METHODS
from hinge.integrators.floating import Floating, carried
from hinge.integrators.probes import Probe, projected
from hinge.integrators.steps import Flat, PerJoint, System
from hinge.loops.dynamics import forward_stabilised, loop_project
from hinge.loops.kinematics import OPEN, closing
from hinge.model import Model
from hinge.model.driven import put, sizes
from hinge.model.model import TERMS
from hinge.model.states import joint_limits
from hinge.model.symbols import unknown
from hinge.model.vary import Parameter
from hinge.sim.impulses import After, bounded, rubbed, struck
from hinge.sim.touching import Touched, softly, struck_together
from hinge.spatial import Force, Motion
from hinge.status import DIVERGED, NONFINITE, OK, SINGULAR, UNCLOSED, UNCONVERGED
from hinge.typing import Term

Answer = Algorithm | Callable[[Flat], tuple[Flat, list[Scalar]]]  # a method, or accelerations from joint forces
SPRING = 200.0  # rad/s: how fast a limit that is a spring pushes back, without swinging
FLAGS = {"stiffness": "spring", "damping": "damper", "friction": "frictionloss"}  # of a file, by joint terms
FAST, FASTEST = 1e3, 1e8  # rad/s, m/s: what is lost at the first has diverged, and at the second all is lost


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
    touch: ContactModel | None = None  # what may touch
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
        return (*target.vary, *(() if self.touch is None else self.touch.surfaces))


def joint_terms_of(model: Model, physics: Physics) -> tuple[Term, ...]:
    """Return the joint terms that acted in a run: with the physics of a file all that it does not switch off."""
    if not physics.integrator:
        return tuple(term for term in TERMS if term in physics.terms)
    return tuple(term for term in TERMS if FLAGS.get(term) not in model.physics.options.disabled)


class Acts(NamedTuple):
    """What is given from outside, as functions of the time: joint forces, forces on bodies, the base, driven joints."""

    forces: Callable[[Scalar, Flat, Flat], Flat]
    external: Callable[[Model, PerJoint], Sequence[Force]]
    base: Callable[[Scalar], tuple[Motion, Motion]]
    body: Callable[[Scalar], Model]
    status: Callable[[Scalar, Flat, Flat], Scalar]  # what the controller says of itself: OK or UNREACHED


class Moved(NamedTuple):
    """A state after a step, and how it fared."""

    q: PerJoint
    v: Flat
    status: Scalar
    made: Any  # what the method of integration has to say besides
    memory: Sequence[Scalar] = ()  # what the next step may begin from
    touched: Touched | None = None  # what contacts did
    probe: Probe = Probe(0.0)  # from which a run sees whether the method is stable


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


def asked(model: Model, physics: Physics, acts: Acts, t: Scalar, q: Flat, v: Flat) -> Flat:
    """The joint forces that are asked for, within the limits of the actuators."""
    tau = acts.forces(t, q, v)
    return saturated(model, tau) if physics.effort else tau


def stepped(
    model: Model,
    physics: Physics,
    acts: Acts,
    forward: Answer,
    t: Scalar,
    h: Scalar,
    q: PerJoint,
    v: Flat,
    memory: Sequence[Scalar] = (),
) -> Moved:
    """A step of h seconds from q and v at the time t; `forward` gives accelerations where nothing is held.

    `memory` is what the last step handed on.
    """
    method, touch = METHODS[physics.method], physics.touch
    if touch is not None and touch.soft is not None:
        body = acts.body(t)

        def acting(c: Scalar, at: PerJoint, speeds: Flat) -> tuple[Flat, Sequence[Force]]:
            return asked(model, physics, acts, t + c * h, model.flat(at), speeds), acts.external(body, at)

        soft = softly(touch, body, q, v, acting, h, list(memory), physics.integrator, physics.slopes)
        fared = _fared(model, soft.q, soft.v, v, 1.0, 1.0)
        status = select(less(fared, 0.5), soft.status, fared)
        return Moved(soft.q, soft.v, status, None, soft.memory, soft, _mean_probe(v, soft.v, h))
    rows = bounded(model, "friction" in physics.terms, physics.stops)
    sliding = rubbed(rows, v) if touch is None else {}
    made = method.advance(model, system(model, physics, acts, forward, t, h, sliding), q, v, h)
    end, sure = t + h, made.pivot
    body, says = acts.body(end), float(OK)
    held = holding(body, physics, end) if rows or touch is not None else None
    now_held = held(made.q, made.v) if held else None
    after: After | Touched
    if touch is None:
        after = struck(body, rows, (model.flat(q), v), made.q, made.v, h, method.late, now_held)
        settled = minimum(made.settled, after.settled)
    else:
        before = carried(Floating(acts.body(t), q), v, Floating(body, made.q))
        after = struck_together(touch, body, rows, before, made.q, made.v, h, method.late, now_held, physics.slopes)
        settled, says = made.settled, after.status
    at, speed, off = _kept(body, physics, end, after.q, after.v)
    fared = _fared(model, at, speed, v, sure, settled)
    open_too_far = select(less(OPEN * OPEN, off), float(UNCLOSED), says)
    touched = after if isinstance(after, Touched) else None
    probe = made.probe or _mean_probe(v, made.v, h)
    return Moved(at, speed, select(less(fared, 0.5), open_too_far, fared), made, touched=touched, probe=probe)


def _mean_probe(before: Flat, after: Flat, h: Scalar) -> Probe:
    """Return the probe of a step without stages."""
    return Probe((projected(after) - projected(before)) / h)


def system(
    model: Model, physics: Physics, acts: Acts, forward: Answer, t: Scalar, h: Scalar, sliding: dict[int, Scalar]
) -> System:
    """What moves during a step that begins at t, with the dry friction of joints that slide."""

    def forces(c: Scalar, at: PerJoint, speed: Flat) -> Flat:
        tau = list(asked(model, physics, acts, t + c * h, model.flat(at), speed))
        for k, f in sliding.items():
            tau[k] = tau[k] - f
        return tau if physics.springs is None else _sprung(model, physics.springs, tau, at, speed)

    held = holding(model, physics, t, h, acts.body)

    def acceleration(c: Scalar, at: PerJoint, speed: Flat) -> tuple[Flat, list[Scalar]]:
        body, speeds, tau = acts.body(t + c * h), model.joint_velocities(speed), forces(c, at, speed)
        if not isinstance(forward, Algorithm):
            return forward(tau)
        given = FORCE.take(model, tau), acts.external(body, at), acts.base(t + c * h)
        if physics.constraint is not None:
            qdd, _, pivots = physics.constraint.accelerated(
                body, at, speed, given[0], t + c * h, *given[1:], time=physics.loop_time
            )
            return qdd, pivots
        if physics.loop_time:
            qdd, pivots, *margins = forward_stabilised(body, at, speeds, *given, physics.loop_time)
        else:
            qdd, pivots, *margins = forward.function(body, at, speeds, *given)
        return qdd, [*pivots, *margins]

    held_at = None if held is None else lambda c, at, speed: held(at, speed, c)
    return System(acceleration, forces, held_at, lambda c: acts.body(t + c * h),
                  lambda at: acts.external(acts.body(t), at), lambda c: acts.base(t + c * h))  # fmt: skip


def holding(
    model: Model, physics: Physics, t: Scalar, h: Scalar = 0.0, body: Callable[[Scalar], Model] | None = None
) -> Callable[..., Held] | None:
    """A function (q, v, c) that gives what loops and constraints hold; None without them.

    `body` gives the model at a time, where driven joints move.
    """
    if physics.constraint is not None:

        def restricted(q: PerJoint, v: Flat, c: Scalar = 0.0) -> Held:
            now = body(t + c * h) if body else model
            A, _, bias = physics.constraint.rows(now, q, v, t + c * h, physics.loop_time)
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


def _kept(model: Model, physics: Physics, t: Scalar, q: PerJoint, v: Flat) -> tuple[PerJoint, Flat, Scalar]:
    """The state brought back to loops and constraints, and the square of how far loops are open after that."""
    if physics.loops == "project" and physics.constraint is not None:
        return *physics.constraint.projected_state(model, q, v, t), 0.0
    if physics.loops == "project":
        (q, v), *_ = loop_project(model, q, model.joint_velocities(v))
    elif physics.loops == "independent":
        q, v = _independent(model, q, v, physics.rank)
    else:
        return q, v, 0.0
    return q, v, closing(model, q).state.off


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
