"""How an algorithm joins the library: it says what it takes and gives, and becomes a method of every robot.

    @algorithm("inverse_dynamics", q=POSITION, qd=VELOCITY, qdd=VELOCITY, external=EXTERNAL, returns=FORCE)
    def newton_euler(model, q, qd, qdd, external): ...

A quantity knows its shape, and how the user's flat coordinates become the per-joint ones an algorithm works on.
Coupled coordinates (mimic joints, gears) are mapped here, around the algorithms, and nowhere inside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from hinge.dynamics.faring import fared_so, lowest, normal, smoothness, smoothness_of_recursion
from hinge.dynamics.place import Place
from hinge.dynamics.rolled import rolled
from hinge.dynamics.rolling import Made
from hinge.dynamics.slopes import Slope, Variable
from hinge.errors import NotCovered, UnknownName, did_you_mean
from hinge.graph import Expr, Graph, Input, Program, Scalar, is_zero, less, order, select
from hinge.graph.collector import uncollected
from hinge.model import Model, Parameter, varied
from hinge.model.driven import put, sizes
from hinge.model.regroup import regrouped
from hinge.spatial import Force, Motion, Vec3
from hinge.status import Status

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Quantity:
    """A kind of input or output: what it is, its shape for one state, and its form inside an algorithm."""

    what: str
    shape: Callable[[Model], Shape]
    take: Callable[[Model, list[Scalar]], Any] = lambda model, flat: flat
    give: Callable[[Model, Any], Sequence[Scalar]] = lambda model, made: made
    absent: Callable[[Model], Any] | None = None  # what stands for it when it is not given
    uniform: bool = False  # one row serves all states of a batch
    counted: str = "nv"  # what its length is called in messages
    sparse: bool = False  # what of it is zero whatever the state is zero where there is no answer, too

    def size(self, model: Model) -> int:
        total = 1
        for n in self.shape(model):
            total *= n
        return total


def _forces_per_joint(model: Model, tau: list[Scalar]) -> list[list[Scalar]]:
    """Generalised forces, each acting at the joint whose coordinate it belongs to; a follower has none of its own."""
    split: list[list[Scalar]] = [[0.0] * joint.nv for joint in model.joint]
    for i in model.leaders:
        split[i] = tau[model.slices[i][1]]
    return split


def _per_joint(model: Model, flat: list[Scalar]) -> list[list[Scalar]]:
    return [flat[at] for _, at in model.slices]


def _base_motion(model: Model, flat: list[Scalar]) -> tuple[Motion, Motion]:
    return Motion(Vec3(tuple(flat[:3])), Vec3(tuple(flat[3:6]))), Motion(Vec3(tuple(flat[6:9])), Vec3(tuple(flat[9:])))


def _wrenches(model: Model, flat: list[Scalar]) -> list[Force]:
    rows = (flat[k : k + 6] for k in range(0, len(flat), 6))
    return [Force(Vec3(tuple(r[:3])), Vec3(tuple(r[3:]))) for r in rows]


def rows(model: Model, made: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """A matrix row by row."""
    return [x for row in made for x in row]


NV: Callable[[Model], Shape] = lambda model: (model.nv,)
POSITION = Quantity(
    "coordinates (rad, m, quaternions)", lambda m: (m.nq,), Model.joint_positions, Model.flat, counted="nq"
)
VELOCITY = Quantity("velocities (rad/s, m/s)", NV, Model.joint_velocities)
ACCELERATION = Quantity("accelerations (rad/s², m/s²)", NV, Model.joint_velocities)
FORCE = Quantity("joint forces (N m, N)", NV, _forces_per_joint, Model.generalised_forces)
MATRIX = Quantity("a matrix over the velocities", lambda m: (m.nv, m.nv), give=rows)
SLOPES = Quantity(
    "slopes along coordinates, velocities, and accelerations or forces",
    lambda m: (m.nv, 3 * m.nv),
    give=rows,
    sparse=True,
)
REGRESSOR = Quantity(
    "joint forces for a unit of each parameter, in columns", lambda m: (m.nv, m.parameter_count), give=rows
)
SCALAR = Quantity("a number", lambda m: ())
VECTOR = Quantity("a vector in base axes", lambda m: (3,))
SPATIAL = Quantity("a spatial vector, angular first", lambda m: (6,))
JACOBIAN = Quantity("a motion for each velocity, in columns", lambda m: (6, m.nv), give=rows)
POSE = Quantity("a 4×4 matrix", lambda m: (4, 4), give=rows)
KNOWN = Quantity("1 where the acceleration is given, 0 where the force is", NV, _per_joint)
BASE = Quantity(
    "velocity and acceleration of the base", lambda m: (2, 6), _base_motion, absent=lambda m: (Motion(), Motion())
)
ON_BODIES = Quantity("a spatial force for each moving body", lambda m: (m.count, 6), give=rows)
JOINTS_ONLY = Quantity(
    "accelerations of the joints beyond the base",
    lambda m: (m.nv - 6,),
    lambda m, flat: _per_joint(m, [0.0] * 6 + flat),
)
BEYOND_BASE = Quantity("forces of the joints beyond the base", lambda m: (m.nv - 6,))
EXTERNAL = Quantity(
    "forces on the bodies", lambda m: (len(m.parent), 6), _wrenches, absent=lambda m: [Force()] * len(m.parent)
)
VARIED, DRIVEN = "parameters", "prescribed"  # what kernels call the numbers that vary, and the motion of driven joints
PLACE = Quantity("a frame", lambda m: (2 * len(m.parent) + 12,), Place.take, uniform=True)


@dataclass(frozen=True)
class Algorithm:
    """A registered method: the public name it serves, what it takes and gives, and where it applies."""

    name: str
    method: str
    function: Callable[..., Any]
    inputs: Mapping[str, Quantity]
    returns: Mapping[str, Quantity]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pivots: bool = False
    refuses: Callable[[Model], str] = lambda model: ""
    competes: bool = False
    closes: bool = False
    rolls: bool = False
    priority: int = 0
    readable: int = 0
    regroups: bool = False
    uses: Callable[[], tuple[Any, ...]] = tuple  # the rows of registries that its function looks up by name
    unmet: Status = Status.SINGULAR  # the status of a state whose margin is not positive
    by: tuple[str, ...] = ()  # of a recursion for derivatives: what they are taken by, where that is not all it takes

    def reason(self, model: Model) -> str:
        """Why it does not cover a model, or nothing."""
        if model.loops and self.name in OPEN and not self.closes:
            return OPEN[self.name]
        return self.refuses(model)

    @property
    def rank(self) -> tuple[int, str, str]:
        """Its place among rivals: by priority, then by name."""
        return -self.priority, self.method, self.function.__name__

    @property
    def result(self) -> Quantity:
        """What it gives, the first where it gives several."""
        return next(iter(self.returns.values()))

    @property
    def asks_for_a_frame(self) -> bool:
        """Whether one of its inputs is a frame, which a call gives by name."""
        return PLACE in self.inputs.values()

    @property
    def frame_keywords(self) -> dict[str, str]:
        """The keyword of a method for each frame among its inputs: `name` for a single one, else their own names."""
        frames = [name for name, quantity in self.inputs.items() if quantity is PLACE]
        return {name: name for name in frames} if len(frames) > 1 else dict.fromkeys(frames, "name")

    def key_rows(self) -> tuple[Any, ...]:
        """Return the rows of registries that its program depends on besides its own."""
        return RULES.get(self.name), self.uses()

    @property
    def in_joint_space(self) -> bool:
        """Whether all it gives belongs to joints, so that inertia may be moved across them."""
        return all(quantity in (FORCE, ACCELERATION, MATRIX, SLOPES) for quantity in self.returns.values())

    def taken(self, given: frozenset[str]) -> dict[str, Quantity]:
        """The inputs its program has, when of the optional ones only these are given."""
        return {name: q for name, q in self.inputs.items() if q.absent is None or name in given}

    @uncollected()
    def trace(self, model: Model, given: frozenset[str] = frozenset(), options: Mapping[str, str] | None = None,
              status: bool = False, contract: bool = True, vary: Sequence[Parameter] = (), regroup: bool = False,
              graph: Graph | None = None, guard: bool = True, slopes: Sequence[Slope] = (),
              flat: bool = False) -> Program:  # fmt: skip
        """Run the algorithm once on symbols: the program specialised to this model.

        With `status` it has a further output, the status of the state; with `vary` a further input;
        with `regroup` inertia is moved across joints first. Nodes are made in `graph`, where an empty one is given: it
        may have a bound. Without `guard` nobody looks whether the state has an answer. With `slopes` it gives these
        derivatives of its results; positions are for them the plain numbers they have where it is `flat`.
        """
        graph, taken = Graph() if graph is None else graph, self.taken(given)
        graph.straight, regroup = bool(slopes), regroup or self.regroups
        inputs = [Input(name, q.size(model), q.uniform, q.shape(model)) for name, q in taken.items()]
        for name, size in ((VARIED, sum(one.size for one in vary)), (DRIVEN, _driven(model))):
            if size:
                inputs.append(Input(name, size))

        def prepare(graph: Graph) -> tuple[Model, dict[str, Any]]:
            arrays = {one.name: [graph.input(one.name, k) for k in range(one.size)] for one in inputs}
            made = varied(model, vary, arrays.get(VARIED, [])) if vary else model
            made = put(made, arrays["prescribed"]) if "prescribed" in arrays else made
            made = regrouped(made) if regroup else made
            seen = {name: q.absent(made) for name, q in self.inputs.items() if q.absent is not None}
            for name, q in taken.items():
                seen[name] = q.take(made, normal(made, arrays[name]) if flat and q is POSITION else arrays[name])
            return made, seen

        shown, seen = prepare(graph)

        def compute(model: Model, seen: Mapping[str, Any]) -> Made:
            result = self.function(model, **seen, **(options or {}))
            result, pivots, *margins = result if self.pivots else (result, ())
            results = result if len(self.returns) > 1 else (result,)
            flat = [
                list(q.give(shown, made)) if q.shape(shown) else [made]
                for q, made in zip(self.returns.values(), results, strict=True)
            ]
            return Made(flat, pivots, margins)

        made = (rolled(graph, shown, prepare, compute) if self.rolls and not slopes else None) or compute(shown, seen)
        positions = [seen[name] for name, q in taken.items() if q is POSITION]
        pivots = [*made.pivots]
        singular = made.margins if self.unmet is Status.SINGULAR else []
        if self.pivots and not singular:  # axes that depend on each other need a margin, or rotors
            bare = [i for i in range(len(shown.joint)) if not set(shown.armature(i)) - {0.0}]
            pivots += [x for q in positions for i in bare for x in shown.joint[i].apart(q[i])]
        least = lowest([*pivots, *singular])
        stands = lowest([x for q in positions for i, at in enumerate(q) for x in shown.joint[i].positive(at)])
        outputs = [
            replace(one, entries=entries) for one, entries in zip(self.results(shown, flat), made.results, strict=True)
        ]
        known = {
            name: replace(one, entries=[graph.input(*at) for at in places])
            for name, (one, places) in self.variables(shown, given, vary, flat).items()
        }
        smooth = smoothness(outputs, known, slopes) if status else 1.0
        if status and self.result.sparse:
            bends = smoothness_of_recursion(shown, seen, known, self.by or tuple(known))
            smooth = lowest([smooth, bends])
        for slope in slopes:
            more, outputs = slope.of(graph, shown, known, outputs)
            known |= {one.name: one for one in more}
            inputs += [Input(one.name, math.prod(one.shape), False, one.shape) for one in more]
        worst = lowest([*pivots, stands])
        if guard and type(worst) is Expr:  # a state that is none, or whose equations are singular, has no answer at all
            good, sparse = less(0.0, worst), bool(slopes) or self.result.sparse
            outputs = [
                replace(one, entries=[e if sparse and is_zero(e) else select(good, e, math.nan) for e in one.entries])
                for one in outputs
            ]
        made_outputs = [(one.name, one.shape, one.entries) for one in outputs]
        if status:
            fared = fared_so(least, [e for one in outputs for e in one.entries], smooth)
            if self.unmet is not Status.SINGULAR:
                missed = select(less(lowest(made.margins), 0.5), float(self.unmet), fared)
                fared = select(less(fared, 0.5), missed, fared)
            made_outputs.append(("status", (), [fared]))
        graph.let_go()
        return order(inputs, made_outputs, contract, whole=("status",))

    def results(self, model: Model, flat: bool = False) -> list[Variable]:
        """What it gives, as a derivative is taken of it."""
        return [Variable(name, q.shape(model), q is POSITION and not flat) for name, q in self.returns.items()]

    def variables(
        self, model: Model, given: frozenset[str], vary: Sequence[Parameter], flat: bool = False
    ) -> dict[str, tuple[Variable, list[tuple[str, int]]]]:
        """What its derivatives can be taken by, inputs and varied numbers, and where the entries of each stand."""
        made = {
            name: (
                Variable(name, q.shape(model), q is POSITION and not flat),
                [(name, k) for k in range(q.size(model))],
            )
            for name, q in self.taken(given).items()
            if not q.uniform
        }
        at = 0
        for one in vary:
            made[one.name] = Variable(one.name, one.shape), [(VARIED, at + k) for k in range(one.size)]
            at += one.size
        if vary:  # and all of them as the row that a kernel takes
            made[VARIED] = Variable(VARIED, (at,)), [(VARIED, k) for k in range(at)]
        return made


def _driven(model: Model) -> int:
    """How many numbers say how the driven joints move."""
    nq, nv = sizes(model)
    return nq + 2 * nv


# what a tree does by itself and a mechanism with loops does not, and what is said of it
OPEN = dict.fromkeys(
    ("forward_dynamics", "hybrid_dynamics", "floating_inverse_dynamics", "impulse_response", "articulated_inertia",
     "articulated_bias", "bias_acceleration", "forward_dynamics_derivatives"), "it has kinematic loops",
)  # fmt: skip
OPEN |= dict.fromkeys(("joint_reactions", "joint_wrench"), "it has kinematic loops, whose forces loop_reactions takes")

# public name → method → algorithm; of those that cover a model the one of the highest priority is the default
ALGORITHMS: dict[str, dict[str, Algorithm]] = {}
RULES: dict[str, Callable[..., None]] = {}  # how results of that name are differentiated, of trees: see graph/rules.py
DEMANDS: dict[str, Callable[[Model], None]] = {}  # what every method of that name asks of a tree, or raises
HEARD: list[Callable[[str], None]] = []  # who is told of a name when a method of it is registered


def algorithm(name: str, *, returns: Quantity | Mapping[str, Quantity], method: str = "", serves: str = "",
              options: Mapping[str, tuple[str, ...]] | None = None, pivots: bool = False,
              refuses: Callable[[Model], str] = lambda model: "", competes: bool = False, closes: bool = False,
              rolls: bool = False, priority: int = 0, readable: int = 0, regroups: bool = False,
              uses: Callable[[], tuple[Any, ...]] = tuple, unmet: Status = Status.SINGULAR,
              **inputs: Quantity) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Register a function under a public name; its method name is the function's own unless one is given.

    One that `serves` another method takes its place for robots that the other does not cover. Among rivals the one of
    the highest `priority` is asked first, and among equals the first by name: the order of imports means nothing.
    `pivots` says that it also returns the pivots of equations it solved, and, where it has an answer for singular ones
    too, a margin that is not positive there; `refuses` gives the reason why it does not cover a model, or nothing; of
    those that compete, the one with the fewest operations for a robot is its default; one that `closes` keeps kinematic
    loops closed; one that `rolls` keeps all that it computes for bodies in columns, so that the bodies of a long robot
    can be gone through by a loop; up to so many `readable` freedoms it is the one whose equations are written down; one
    that `regroups` has inertia moved across joints first, always; `uses` gives the rows of registries that its function
    looks up by name; `unmet` is the status of a state whose margin is not positive.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        gives = {name: returns} if isinstance(returns, Quantity) else returns
        called = method or function.__name__
        ruled = function if closes else _ruled(name, function)
        made = Algorithm(name, serves or called, ruled, inputs, gives, options or {}, pivots, refuses,
                         competes, closes, rolls, priority, readable, regroups, uses, unmet)  # fmt: skip
        ALGORITHMS.setdefault(name, {})[called] = made
        for tell in HEARD:
            tell(name)
        return function

    return register


def _ruled(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the demands and the rule of that name, if any: not where bodies are gone through."""

    @wraps(function)
    def made(model: Model, *given: Any, **options: Any) -> Any:
        if name in DEMANDS and type(model) is Model:
            DEMANDS[name](model)
        result = function(model, *given, **options)
        if name in RULES and type(model) is Model:
            RULES[name](function, result, model, *given, **options)
        return result

    return made


def unregistered(name: str, function: Callable[..., Any], takes: Mapping[str, Quantity],
                 gives: Mapping[str, Quantity], pivots: bool = False) -> Algorithm:  # fmt: skip
    """A function over a model and scalars as an algorithm that no registry has."""
    return Algorithm(name, name, function, takes, gives, pivots=pivots)


def ranked(name: str) -> dict[str, Algorithm]:
    """The algorithms of a public name by method, in the order in which they are asked."""
    return dict(sorted(ALGORITHMS[name].items(), key=lambda one: one[1].rank))


def default(name: str) -> Algorithm:
    """The algorithm that is asked first, whose signature and words are those of the method."""
    return min(ALGORITHMS[name].values(), key=lambda one: one.rank)


def required_inputs(name: str) -> dict[str, Quantity]:
    """What every call of an algorithm has to give, in order."""
    return {one: quantity for one, quantity in default(name).inputs.items() if quantity.absent is None}


def rivals(model: Model, first: Algorithm) -> list[Algorithm]:
    """The algorithms that compete with this one to be the default for a model; itself alone where it does not."""
    if not first.competes:
        return [first]
    covering = [a for a in ranked(first.name).values() if a.competes and not a.reason(model)]
    return list({a.method: a for a in reversed(covering)}.values())[::-1]  # of one method the first that covers it


def choose(model: Model, name: str, method: str | None = None, paper: bool = False) -> Algorithm:
    """The algorithm for a public name: of the method asked for, or of any, the first that covers the model.

    On `paper` one that is readable for a model of that size comes before the others.
    """
    if name not in ALGORITHMS:
        raise UnknownName(f"there is no algorithm {name!r}. {did_you_mean(name, ALGORITHMS)}")
    known = ranked(name)
    asked = [a for key, a in known.items() if method in (None, "auto", key, a.method)]
    if not asked:
        hint = did_you_mean(str(method), (a.method for a in known.values()))
        raise UnknownName(f"{name} has no method {method!r}. {hint}")
    if paper:
        asked.sort(key=lambda a: model.nv > a.readable)
    covering = next((a for a in asked if not a.reason(model)), None)
    if covering is not None:
        return covering
    others = ", ".join(map(repr, dict.fromkeys(a.method for a in known.values() if not a.reason(model))))
    hint = f"Use {others}." if others else "No method does."
    how = f"method {method!r} does not cover" if method else "nothing covers"
    raise NotCovered(f"{name}: {how} robot {model.name!r}: {asked[0].reason(model)}.\n  {hint}")
