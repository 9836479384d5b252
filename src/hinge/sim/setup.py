"""What a simulation is given, checked and brought into the form that a step takes: states, physics, what acts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from hinge import arguments
from hinge.arguments import Array, duration
from hinge.calls import inputs as arguments_of
from hinge.calls.controllers import Untraceable, known_control
from hinge.calls.numbers import limits_of
from hinge.contact.contact_model import NOTHING, ContactModel
from hinge.errors import NotCovered, SizeError, TraceError, one_of
from hinge.graph import Expr, Graph, Input, Scalar, order
from hinge.graph.arrays import on_symbols, symbols
from hinge.graph.scalars import evaluated
from hinge.integrators import METHODS
from hinge.loops.assembly import START, refuse_open
from hinge.loops.rank import loop_rank
from hinge.model.driven import sizes
from hinge.model.vary import Parameter
from hinge.robot import Robot
from hinge.robot.constrained import Constrained
from hinge.sim.forces import held_or_by_step
from hinge.sim.touching import touching
from hinge.steps.inputs import Outside
from hinge.steps.step import Physics, limit_springs, refuse_beside_contacts
from hinge.typing import AnyArray, Frame, Limits, LoopWay, Numbers

DEFAULT_TERMS = ("armature",)
LOOP_TIME = 0.05  # s: the time constant of loops='baumgarte' unless given
ROUNDED = 1e-15  # of an entry of a quaternion: what rounding leaves of length one
FAR_FROM_UNIT = 0.25  # of an entry of a quaternion: by how much normalizing it may change it
TURN = 0.02  # rad or m: what a joint may move in a step where the step is chosen for it
SAME_TIME = 1e-9  # of a step: times so close are one
HOST = (1, 0)  # of DLPack: the CPU
WAYS: tuple[LoopWay, ...] = get_args(LoopWay)


def start(
    robot: Robot, q0: Numbers | None, qd0: Numbers | None, *others: tuple[int, ...]
) -> tuple[Array, Array, tuple[int, ...]]:
    """The states at the beginning, a row a rollout, and the axes of the rollouts; `others` are axes to go with."""
    if not isinstance(robot, Robot):
        raise SizeError(f"simulate takes a robot first; a {type(robot).__name__} was given.")
    if not robot.nv:
        raise NotCovered(f"robot {robot.name!r} has no moving joint: there is nothing to simulate.")
    for name, given in (("q0", q0), ("qd0", qd0)):
        if getattr(given, "__dlpack_device__", lambda: HOST)()[0] != HOST[0]:
            raise NotCovered(
                f"simulate: {name} is on another device; its record is in arrays of NumPy.\n"
                '  Use hinge.rollout, or give arrays of NumPy, with backend="cuda" to compute there.'
            )
    q = arguments.real("q0", robot.neutral() if q0 is None else q0, (robot.nq,)).astype(float)
    qd = arguments.real("qd0", np.zeros(robot.nv) if qd0 is None else qd0, (robot.nv,)).astype(float)
    for name, a in (("q0", q), ("qd0", qd)):
        if not np.all(np.isfinite(a)):
            where = tuple(int(k) for k in np.argwhere(~np.isfinite(a))[0])
            raise SizeError(f"{name} has a value that is not finite, at {where}.")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], *others)
    except ValueError:
        more = "".join(f", {shape}" for shape in others if shape)
        raise SizeError(f"q0 {q.shape} and qd0 {qd.shape}{more} do not fit together.") from None
    q, qd = (np.array(np.broadcast_to(a, (*batch, a.shape[-1])).reshape(-1, a.shape[-1]), order="C") for a in (q, qd))
    if robot.nq != robot.nv:
        near = unit(robot, q)
        _refuse_far(robot, q, near)
        q = near
    return q, qd, batch


def _refuse_far(robot: Robot, q: Array, near: Array) -> None:
    """Raise where a quaternion is far from unit length; what rounding leaves of one is normalized."""
    far = np.abs(near - q) > FAR_FROM_UNIT
    if far.any():
        row, k = (int(x) for x in np.argwhere(far)[0])
        model = robot.model
        i = next(i for i in model.leaders if k in range(model.nq)[model.slices[i][0]])
        shown = np.array2string(q[row, model.slices[i][0]], precision=4, separator=", ")
        raise SizeError(
            f"q0: joint {model.joint_name[i]!r} has {shown}, whose quaternion is far from unit length.\n"
            "  hinge has the quaternion first, as (w, x, y, z), and the position of a floating base after it. "
            "hinge.interop converts the coordinates of other libraries."
        )


def unit(robot: Robot, q: Array, tolerance: float = ROUNDED) -> Array:
    """Return coordinates with quaternions of unit length; a quaternion of length zero becomes NaN.

    A quaternion whose entries would change by at most `tolerance` stays as it is, so that a run continues from exactly
    the state in which another ended.
    """
    q, model = q.copy(), robot.model
    for i in model.leaders:
        joint, at = model.joint[i], model.slices[i][0]
        if joint.nq != joint.nv:
            given = q[:, at]
            with np.errstate(all="ignore"):
                made = np.stack(np.broadcast_arrays(*joint.normal(list(given.T))), axis=1)
                lengths = [x > 0.0 for x in joint.positive(list(given.T))]
            near = (np.abs(made - given) <= tolerance).all(axis=1, keepdims=True)
            has_length = np.all(lengths, axis=0).reshape(-1, 1)
            q[:, at] = np.where(has_length, np.where(near, given, made), np.nan)
    return q


def physics(robot: Robot, q: Array, qd: Array, method: str, terms: Sequence[str], effort: bool, limits: str,
            constraint: Any = None, loops: str | None = None, loop_time: float = 0.05, keep: int = 1,
            touch: ContactModel = NOTHING, integrator: str = "", numbers: Array | None = None
            ) -> Physics:  # fmt: skip
    """What acts in a step besides what is given from outside; `numbers` are those of a varied robot, a row a state."""
    if not isinstance(effort, bool | np.bool):
        raise SizeError(f"effort is {effort!r}. Give True to keep joint forces within the robot's effort limits.")
    if integrator and tuple(terms) != DEFAULT_TERMS:
        raise NotCovered(
            f'joint_terms={tuple(terms)!r} has no effect with physics="file", which has all terms of the file. '
            "Leave it out."
        )
    one_of("method", method, METHODS)
    one_of("limits", limits, get_args(Limits))
    row = METHODS[method]
    why = row.refuses(robot.model)
    if why:
        raise NotCovered(
            f"method {method!r} does not cover robot {robot.name!r}: {why}.\n  Use 'lie_rk4', 'rk4' or 'dopri5'."
        )
    held, time, rank = _held(robot, q, qd, constraint, loops, loop_time, numbers)
    if not row.asks and (constraint is not None or robot.loops):
        raise NotCovered(
            f"loops and constraints need a method that asks for accelerations, and {method!r} does not.\n  Use 'rk4'."
        )
    if row.adaptive and held in ("project", "independent"):
        raise NotCovered(f"loops={held!r} goes with fixed steps: {method!r} takes loops='baumgarte', or none.")
    one_stage = row.tableau is not None and row.tableau.stages == 1
    if keep > 1 and (not one_stage or constraint is not None or robot.loops or sizes(robot.model)[1]):
        why = "loops, constraints and driven joints need the equations of each step" if one_stage else (
            f"{method!r} needs the equations more than once a step; use 'euler' or 'semi_implicit'")  # fmt: skip
        raise NotCovered(f"keep={keep} does not go here: {why}.")
    made = Physics(method, frozenset(arguments_of.joint_terms(terms)), bool(effort), limits == "stop",
                   _springs(robot) if limits == "spring" else None, constraint, held, time, keep, rank, touch,
                   integrator)  # fmt: skip
    if made.stops:
        _inside(robot, q, numbers)
    if touch.active:
        refuse_beside_contacts(robot.model, made)
    return made


def own_numbers(robot: Robot, given: Array | None, batch: tuple[int, ...]) -> Array | None:
    """Return the numbers of a varied robot among those that are given, one row, or one for each of a batch of rollouts.

    None where nothing varies.
    """
    size = sum(one.size for one in robot.target.vary)
    if given is None or not size:
        return None
    own = given[..., :size]
    return own if own.ndim == 1 else np.broadcast_to(own, (*batch, size)).reshape(-1, size)


def _held(
    robot: Robot, q: Array, qd: Array, constraint: Any, loops: str | None, time: float, numbers: Array | None
) -> tuple[str, float, int]:
    """How loops and constraints are kept from drifting: the way, a time constant, and how many velocities depend."""
    if loops is not None:
        one_of("loops", loops, WAYS)
    if constraint is not None:
        if not isinstance(constraint, Constrained) or constraint.robot is not robot:
            raise SizeError("constraint has to be what hinge.constrain made of this very robot.")
        if loops == "independent":
            raise NotCovered("loops='independent' is for kinematic loops. Constraints take 'project' or 'baumgarte'.")
        return loops or "", duration("loop_time", time) if loops == "baumgarte" else 0.0, 0
    if not robot.loops:
        if loops is not None:
            raise NotCovered(f"loops={loops!r} was given, and robot {robot.name!r} has none. Leave it out.")
        return "", 0.0, 0
    if sizes(robot.model)[1]:
        raise NotCovered(f"robot {robot.name!r} has loops, which do not go with driven joints in a simulation.")
    further = [] if numbers is None else [numbers]
    for k, (at, speed) in enumerate(zip(q, qd, strict=True)):
        refuse_open(robot.target, at, speed, START, [x if x.ndim == 1 else x[k] for x in further])
    if loops == "baumgarte" and not (np.isfinite(time) and time > 0.0):
        raise SizeError(f"loop_time={time!r} is not a time. Give a positive number of seconds.")
    independent = loops == "independent"
    rank = int(np.max(loop_rank(robot.target, q, np.ones(robot.nv), further))) if independent else 0
    return loops or "", float(time) if loops == "baumgarte" else 0.0, rank


def refuse_violated(physics: Physics, made: Outside, q: Array, qd: Array, t: float) -> None:
    """Raise where a run begins off its constraint, with the amount, or its base moves under contacts."""
    if physics.touch.active and ("base_motion" in made.arrays or made.base is not None):
        raise NotCovered("contacts do not go with base_motion=. Leave one of them out.")
    if physics.constraint is None:
        return
    given = [made.arrays[name] for name in ("parameters", "prescribed") if name in made.arrays]
    if made.driven is not None:
        now = Graph().input("t", 0)
        given.append(np.array(evaluated(made.driven(now), {now: float(t)})))
    physics.constraint.refuse_violated(q, qd, t, START, given)


def _springs(robot: Robot) -> tuple[tuple[Scalar, Scalar], ...]:
    """Stiffness and damping of limits, one a velocity; those of a varied robot are found in the program."""
    if robot.target.vary:
        return ()
    inverse = robot.inverse_mass_matrix(robot.neutral(), **_driven_at_rest(robot))
    return limit_springs(np.diagonal(inverse).tolist())


def _driven_at_rest(robot: Robot) -> dict[str, Any]:
    nq, nv = sizes(robot.model)
    return {"prescribed": (np.zeros(nq), np.zeros(nv))} if nv else {}


def _inside(robot: Robot, q: Array, numbers: Array | None) -> None:
    """Raise where a joint begins beyond its stops."""
    model, limits = robot.model, limits_of(robot.target, numbers)
    lower, upper = (np.broadcast_to(x, q.shape) for x in (limits.lower, limits.upper))
    for i in model.leaders:
        if not model.joint[i].is_single:
            continue
        (column,) = range(model.nq)[model.slices[i][0]]
        at, low, high = q[:, column], lower[:, column], upper[:, column]
        beyond = np.flatnonzero((at < low) | (at > high))
        if len(beyond):
            k = beyond[0]
            limit = low[k] if at[k] < low[k] else high[k]
            raise SizeError(
                f"q0 has joint {model.joint_name[i]!r} at {at[k]:g}, beyond its limit {limit:g}. "
                'limits="stop" starts within the limits.'
            )


def outside(robot: Robot, batch: tuple[int, ...], parameters: Array | None, external: Mapping[str, Any] | None,
            external_frame: str, base_motion: Any, prescribed: Any) -> Outside:  # fmt: skip
    """What acts from outside, short of joint forces."""
    made = Outside()
    if parameters is not None:
        rows(made, "parameters", parameters, batch, 1)
    if external:
        made.loaded, wrenches = arguments_of.external_forces(robot.model, external, external_frame, True)
        rows(made, "external", wrenches, batch, 2)
    if callable(base_motion):
        made.base = in_time("base_motion", base_motion, 12)
    elif base_motion is not None:
        rows(made, "base_motion", arguments_of.base_motion("simulate", base_motion), batch, 2)
    nq, nv = sizes(robot.model)
    if callable(prescribed) and nv:
        made.driven = in_time("prescribed", prescribed, nq + 2 * nv)
    else:
        for array in arguments_of.prescribed("simulate", robot.model, prescribed):
            rows(made, "prescribed", array, batch, 1)
    made.key = tuple(_time_key(law) for law in (made.base, made.driven) if law is not None)
    return made


def acting(robot: Robot, q: Array, qd: Array, batch: tuple[int, ...], steps: int, *, tau: Any, taus: Any, policy: Any,
           inputs: Sequence[Any], method: str, parameters: Array | None, joint_terms: Sequence[str], effort: bool,
           limits: str, external: Any, external_frame: str, base_motion: Any, prescribed: Any, constraint: Any,
           loops: str | None, loop_time: float, t0: float, contacts: Any, ground: Any, law: str | None, ctrl: Any,
           surfaces: Sequence[Parameter], own: tuple[int, ...] = (), **more: Any
           ) -> tuple[Physics, Outside]:  # fmt: skip
    """What moves rollouts of so many steps that begin at these states: all that `hinge.rollout` is told."""
    refuse_idle(policy, inputs, 0, external, external_frame, loops, loop_time)
    touch, integrator = touching(robot, contacts, ground, law, more["physics"], surfaces, more["ignore"])
    numbers = own_numbers(robot, parameters, batch)
    known = physics(
        robot, q, qd, method, joint_terms, effort, limits, constraint, loops, loop_time, 1, touch, integrator, numbers
    )
    if METHODS[method].adaptive:
        raise NotCovered(f"method {method!r} chooses its own steps. Use hinge.simulate, or another method.")
    made = outside(robot, batch, parameters, external, external_frame, base_motion, prescribed)
    refuse_violated(known, made, q, qd, t0)
    if integrator:
        controlled(made, robot, ctrl, batch, steps)
    elif ctrl is not None:
        refuse_controls()
    if policy is not None:
        try:
            driven_by(made, robot, policy, inputs, batch, own)
        except Untraceable as why:
            raise TraceError(f"the policy cannot be traced: {str(why).rstrip('.')}.") from None
    elif tau is not None:
        rows(made, "tau", arguments.finite("tau", tau, (robot.nv,)), batch, 1, shared=False)
    elif taus is not None:
        if np.shape(taus)[-2:] != (steps, robot.nv):
            raise SizeError(f"taus has shape {np.shape(taus)}; give {(*batch, steps, robot.nv)}, a row a step.")
        pushed_by(made, robot, taus, batch, steps, "taus")
    return known, made


def refuse_idle(control: Any, inputs: Sequence[Any], sample: int, external: Any, external_frame: str, loops: str | None,
                loop_time: float) -> None:  # fmt: skip
    """Raise where a word has no effect, because it is about another that was not given."""
    one_of("external_frame", external_frame, get_args(Frame))
    idle = {
        "inputs": (len(inputs) and not callable(control), "a control function is given them. Give a function"),
        "sample": (sample and not callable(control), "it says when a control function is asked. Give a function"),
        "external_frame": (external_frame != "body" and not external, "it says the axes of external=. Give both"),
        "loop_time": (loop_time != LOOP_TIME and loops != "baumgarte", "it is of loops='baumgarte'. Give both"),
    }
    for name, (given, why) in idle.items():
        if given:
            raise NotCovered(f"{name}= has no effect: {why}, or neither.")


def rows(made: Outside, name: str, given: Any, batch: tuple[int, ...], own: int, shared: bool = True) -> None:
    """Put an array among what is given: a row a rollout, or one for all; its last `own` axes belong to a rollout."""
    array = np.asarray(given, float)
    axes = array.shape[: array.ndim - own]
    if shared and not axes:
        made.shared.add(name)
        made.arrays[name] = array
        return
    try:
        whole = np.broadcast_to(array, (*batch, *array.shape[array.ndim - own :]))
    except ValueError:
        raise SizeError(f"{name} has shape {array.shape}; there are {batch} rollouts.") from None
    made.arrays[name] = np.ascontiguousarray(whole.reshape(-1, *whole.shape[len(batch) :]))


def fed(law: Any, given: Sequence[Any]) -> tuple[Any, ...]:
    """What a controller is given besides the state: what the user gives, and numbers of its own for each rollout."""
    return (*given, *getattr(law, "inputs", ()))


def driven_by(
    made: Outside, robot: Robot, law: Any, given: Sequence[Any], batch: tuple[int, ...], own: tuple[int, ...] = ()
) -> None:
    """Put a policy among what acts: it is traced, with what it is given besides the state. Raises Untraceable.

    Of what it has of its own with the axes `own` first, it is given the first.
    """
    arrays = [np.asarray(a, float) for a in fed(law, given)]
    arrays = [a if k < len(given) else _first(a, own) for k, a in enumerate(arrays)]
    for k, a in enumerate(arrays):
        unambiguous(robot, k, a.shape, batch)
    if not all(np.all(np.isfinite(a)) for a in arrays):
        raise SizeError("inputs have a value that is not finite.")
    each = [bool(batch) and a.shape[: len(batch)] == batch for a in arrays]
    first = [_first(a, batch) for a in arrays]
    _, _, _, made.law, made.says, key = known_control(robot.target, law, first)
    made.fed = tuple(f"input{k}" for k in range(len(arrays)))
    for name, array, one in zip(made.fed, arrays, each, strict=True):
        rows(made, name, array, batch, array.ndim - len(batch) if one else array.ndim)
    made.key = (*made.key, key)


def controlled(made: Outside, robot: Robot, ctrl: Any, batch: tuple[int, ...], steps: int) -> None:
    """Put controls of the file's actuators among what acts: (nu,) are held, and (…, steps, nu) stream."""
    nu = robot.model.physics.nu
    given = np.zeros(nu) if ctrl is None else ctrl
    owner = f"robot {robot.name!r} has {nu} controls"
    add_by_step(made, ("ctrl", "ctrls"), held_or_by_step("ctrl", given, owner, nu, batch, steps), batch)


def refuse_controls() -> None:
    """Raise where controls of actuators are given to a run without actuators."""
    raise NotCovered(
        'ctrl= has no effect: only physics="file" has the actuators of an MJCF file. '
        'Give physics="file", or joint forces.'
    )


def _first(a: Array, axes: tuple[int, ...]) -> Array:
    """The first rollout's part of an array, where it has the rollouts' axes first."""
    return a[(0,) * len(axes)] if axes and a.shape[: len(axes)] == axes else a


def unambiguous(robot: Robot, k: int, shape: tuple[int, ...], batch: tuple[int, ...]) -> None:
    """Raise where an input of a controller may be meant for each rollout or for all."""
    if shape == batch and batch and batch[-1] in (robot.nq, robot.nv):
        raise SizeError(
            f"inputs[{k}] has shape {shape}: a number for each rollout, or {batch[-1]} for all of "
            f"them?\n  Give {(*batch, 1)} or {(*batch, batch[-1])}."
        )


def listed(given: Any) -> None:
    """Raise where the inputs of a controller are one array."""
    if isinstance(given, np.ndarray):
        raise SizeError(f"inputs is an array of shape {given.shape}; give a list of arrays, one for each argument.")


def cut(made: Outside, knots: Any, times: AnyArray) -> None:
    """Put the times among what is given at which forces jump: each step that has one in it is taken in parts.

    `times` are those of the steps' ends, the first step's beginning before them.
    """
    at = np.unique(np.asarray(knots, float))
    step = np.searchsorted(times, at, side="right") - 1
    inside = (step >= 0) & (step < len(times) - 1)
    at, step = at[inside], step[inside]
    inside = (at > times[step]) & (at < times[step + 1])
    at, step = at[inside], step[inside]
    if made.law is None:
        return
    rank = np.arange(len(step)) - np.searchsorted(step, step)
    rows = np.repeat(times[1:, None], max(1, int(rank.max(initial=0)) + 1), axis=1)
    rows[step, rank] = at
    made.arrays["cuts"] = rows
    made.shared.add("cuts")
    made.streams.add("cuts")


def pushed_by(
    made: Outside, robot: Robot, forces: Any, batch: tuple[int, ...], steps: int | None, name: str = "control"
) -> None:
    """Put joint forces among what acts: (nv,) are held, and (…, steps, nv) stream."""
    try:
        forces = np.asarray(forces, float)
    except (TypeError, ValueError):
        raise SizeError(f"{name} is neither a function nor an array of joint forces.") from None
    owner = f"robot {robot.name!r} has nv = {robot.nv}"
    add_by_step(made, ("tau", "taus"), held_or_by_step(name, forces, owner, robot.nv, batch, steps), batch, False)


def add_by_step(
    made: Outside,
    names: tuple[str, str],
    given: tuple[Array, bool],
    batch: tuple[int, ...],
    shared: bool = True,
) -> None:
    """Put numbers among what acts, by the first name where they are held, by the other where they stream."""
    (held, streamed), (array, each) = names, given
    if not array.shape[-1]:
        return
    if each:
        made.streams.add(streamed)
        whole = np.broadcast_to(array, (*batch, *array.shape[-2:]))
        made.arrays[streamed] = np.ascontiguousarray(whole.reshape(-1, *array.shape[-2:]))
    else:
        rows(made, held, array, batch, 1, shared)


def in_time(name: str, function: Callable[..., Any], size: int) -> Callable[..., list[Scalar]]:
    """A function of time over scalars; it returns `size` numbers, in any shapes."""

    def law(t: Scalar) -> list[Scalar]:
        made = on_symbols(f"{name} function", function, symbols(t))
        parts = made if isinstance(made, tuple | list) else [made]
        flat = [x for part in parts for x in np.asarray(part, dtype=object).reshape(-1).tolist()]
        flat = [getattr(x, "item", lambda x=x: x)() for x in flat]
        if len(flat) != size:
            raise SizeError(f"the function {name} gives {len(flat)} numbers; it has to give {size}.")
        return [x if type(x) is Expr else float(x) for x in flat]

    return law


def _time_key(law: Callable[..., list[Scalar]]) -> str:
    graph = Graph()
    values = law(graph.input("t", 0))
    return hashlib.sha256(repr(order([Input("t", 1)], [("x", (len(values),), values)], False)).encode()).hexdigest()


# numbers and words


def step_length(robot: Robot, step: float | str, numbers: Array | None = None) -> float:
    """A step in s; "auto" is that in which the fastest joint of all rollouts, at its velocity limit, moves by TURN."""
    if step != "auto":
        return duration("step", step)
    velocity = limits_of(robot.target, numbers).velocity
    fastest = velocity[np.isfinite(velocity) & (velocity > 0.0)]
    if not len(fastest):
        raise SizeError(f'step="auto" needs velocity limits, and robot {robot.name!r} has none. Give a step in s.')
    return float(TURN / fastest.max())


def whole_steps(duration: float, h: float) -> tuple[int, float]:
    """Return how many steps a run takes, none longer than h seconds, and the length of the last."""
    steps = max(1, math.ceil(duration / h - SAME_TIME))
    last = duration - (steps - 1) * h
    return steps, h if abs(last - h) < SAME_TIME * h else last
