"""A problem of optimal control: a robot, steps in time, what they cost, and what they have to keep to.

    problem = hinge.optimal.Problem(robot, horizon=100, step=0.01, running=[effort(1e-3)], final=[reach(robot, …)])

Costs and constraints are functions of a user's over arrays; they are traced, so their derivatives come from the graph.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array, count, duration
from hinge.backends.kernel import Kernel, Memo, Plan, kernel_of
from hinge.calls.numbers import limits_of
from hinge.contact.contact_slopes import refuse_curved
from hinge.errors import HingeError, NotCovered, SizeError, TraceError, UnknownName, did_you_mean, one_of
from hinge.graph import Expr, Input, Program, Scalar
from hinge.graph.arrays import on_symbols, symbols
from hinge.integrators import METHODS
from hinge.model.driven import sizes
from hinge.model.vary import GEAR
from hinge.optimal.driven import driven_velocities
from hinge.robot import Robot
from hinge.sim import setup
from hinge.sim.parameters import varied
from hinge.sim.touching import touching
from hinge.steps.step import Physics
from hinge.typing import Numbers

Function = Callable[..., Any]
STATE = ("t", "q", "qd", "u")
TAKEN = ("said", "told", "when", "gains", "multipliers", "parameters")  # names that programs have for something else
LIMITS = {"effort": ("effort",), "position": ("lower", "upper"), "velocity": ("velocity",)}


@dataclass(frozen=True)
class Term:
    """A cost or constraint: a user's function, and the names of what it takes."""

    what: str
    function: Function
    takes: tuple[str, ...]

    def __call__(self, known: Mapping[str, Any]) -> Any:
        """What it gives for traced arrays, by their names: a scalar, or a list of them."""
        try:
            made = on_symbols(self.what, self.function, *(known[name] for name in self.takes))
        except HingeError:
            raise
        except ValueError as problem:
            raise SizeError(f"{self.what}: {problem}.") from problem
        try:
            array = np.asarray(made, dtype=object)
            flat = [_scalar(x) for x in array.reshape(-1).tolist()]
        except (TypeError, ValueError) as problem:
            raise TraceError(
                f"{self.what} gives {type(made).__name__}, which is neither a number nor an array of numbers."
            ) from problem
        if array.ndim > 1:
            raise SizeError(f"{self.what} gives an array of shape {array.shape}; give a number, or numbers in a row.")
        return flat if array.ndim else flat[0]


def _scalar(x: Any) -> Scalar:
    x = x.item() if isinstance(x, np.ndarray | np.generic) else x
    return x if type(x) is Expr else float(x)


class Problem:
    """The least Σ running(q, qd, u) + final(q, qd) over `horizon` steps of `step` seconds.

    Costs and constraints are functions that take what their arguments name: `q` (nq), `qd` (nv), `u` (nu), `t` (s), and
    names of `given`, a dict of arrays with the numbers they have unless others are given. A cost gives a number, or
    residuals (k,), which cost half the sum of their squares; constraints give what is to be zero (`equal`) or at most
    zero (`below`), at the end too where they take no `u`.
    `u` are the forces (N m, N) of the velocities of joints that are `driven`, by default of all but floating ones, in
    the robot's order. `limits` of the robot that are kept: "effort" bounds u, by `effort` (nu) where it is given,
    "position" and "velocity" the states.
    Steps are those of `hinge.rollout`, with contacts, loops and constraints as there.

    >>> arm = hinge.samples.planar_2r()
    >>> reach = lambda q: 30.0 * (arm.pose(q, "hand")[[0, 2], 3] - np.array([0.5, 1.0]))
    >>> problem = hinge.optimal.Problem(arm, 50, 0.02, running=[lambda u: 0.01 * u], final=[reach, lambda qd: qd])
    >>> problem
    <Problem of 'planar_2r': 50 steps of 0.02 s, 2 forces>
    """

    def __init__(self, robot: Robot, horizon: int, step: float, running: Sequence[Function] = (),
                 final: Sequence[Function] = (), driven: Sequence[str] | None = None, method: str = "semi_implicit",
                 given: Mapping[str, Any] | None = None, equal: Sequence[Function] = (), below: Sequence[Function] = (),
                 final_equal: Sequence[Function] = (), final_below: Sequence[Function] = (),
                 limits: Sequence[str] = ("effort",), effort: Numbers | None = None,
                 joint_terms: Sequence[str] = ("armature",), contacts: Any = None,
                 ground: Any = None, law: str | None = None, constraint: Any = None, loops: str | None = None,
                 loop_time: float = 0.05):  # fmt: skip
        if not isinstance(robot, Robot):
            raise SizeError(f"Problem takes a robot first; a {type(robot).__name__} was given.")
        if sizes(robot.model)[1]:
            raise NotCovered(
                f"robot {robot.name!r} has joints that are prescribed, which problems do not cover. Lock them."
            )
        self.robot, self.step = robot, duration("step", step)
        self.horizon = count("horizon", horizon)
        self.given = {name: np.asarray(value, float) for name, value in (given or {}).items()}
        for name in self.given:
            if name in (*STATE, *TAKEN) or not name.isidentifier():
                raise UnknownName(f"given: {name!r} cannot be the name of an argument. Give it another one.")
        self.drives = driven_velocities(robot, driven)
        for word in limits:
            one_of("limits", word, LIMITS)
        self.limits = tuple(limits)
        self.effort = None if effort is None else arguments.finite("effort", effort).astype(float)
        if self.effort is not None:
            if self.effort.shape not in ((), (self.nu,)) or not (self.effort > 0.0).all():
                raise SizeError(
                    f"effort={effort!r} is not known. Give a positive number (N m, N), or {self.nu} of them."
                )
        kept = [x for word in limits if word != "effort" or effort is None for x in LIMITS[word]]
        for name in robot.target.varied:
            if name.rpartition(".")[2] in (*kept, *(GEAR if {"lower", "velocity"} & set(kept) else ())):
                raise NotCovered(
                    f"robot {robot.name!r} varies {name!r}, but limits of a problem are numbers that stay.\n"
                    "  Do not vary it; or leave it out of limits=, and give a constraint with a number of given=."
                )
        self.running = self._terms("running", running)
        self.final = self._terms("final", final, end=True)
        if not self.running and not self.final:
            raise SizeError("Problem: no cost is given. Give functions as running= or final=.")
        self.equal = self._terms("equal", equal)
        self.below = [*self._terms("below", below), *self._limited()]
        stay = [[term for term in terms if "u" not in term.takes] for terms in (self.equal, self.below)]
        self.final_equal = [*self._terms("final_equal", final_equal, end=True), *stay[0]]
        self.final_below = [*self._terms("final_below", final_below, end=True), *stay[1]]
        self.memo = Memo()
        self._how = (method, joint_terms, constraint, loops, loop_time, contacts, ground, law)

    def __repr__(self) -> str:
        return f"<Problem of {self.robot.name!r}: {self.horizon} steps of {self.step:g} s, {self.nu} forces>"

    @property
    def nu(self) -> int:
        """How many forces there are to choose."""
        return len(self.drives)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The least and the greatest u."""
        high = np.full(self.nu, np.inf)
        if self.effort is not None:
            high[:] = self.effort
        elif "effort" in self.limits:
            high[:] = limits_of(self.robot.target).effort[list(self.drives)]
        return -high, high

    @cached_property
    def physics(self) -> Physics:
        """What acts in a step besides u."""
        return self.physics_from(np.empty((0, self.robot.nq)), np.empty((0, self.robot.nv)))

    def physics_from(self, q: Array, qd: Array, numbers: Array | None = None) -> Physics:
        """The same, refused where it cannot begin at states q (n, nq) and qd (n, nv), with `numbers` that vary."""
        method, terms, constraint, loops, loop_time, contacts, ground, law = self._how
        one_of("method", method, METHODS)
        if METHODS[method].adaptive:
            raise NotCovered(f"method {method!r} chooses its own steps. Use 'semi_implicit' or 'rk4'.")
        touch, _ = touching(self.robot, contacts, ground, law, None)
        made = setup.physics(
            self.robot, q, qd, method, terms, False, "ignore", constraint, loops, loop_time, 1, touch, numbers=numbers
        )
        if not touch.active:
            return made
        refuse_curved(touch, self.robot.model)
        return replace(made, slopes=True)

    @property
    def rolls(self) -> dict[str, Any]:
        """What `hinge.rollout` is told to take the same steps."""
        method, terms, constraint, loops, loop_time, contacts, ground, law = self._how
        return {"method": method, "joint_terms": terms, "constraint": constraint, "loops": loops,
                "loop_time": loop_time, "contacts": contacts, "ground": ground, "law": law}  # fmt: skip

    def kernel(self, what: tuple[Any, ...], takes: Sequence[Input], gives: Sequence[tuple[int, ...]],
               trace: Callable[[], Program], backend: str | None) -> Kernel:  # fmt: skip
        """The kernel of a program about this problem, called by the first of `what`; kept, and made once."""
        inputs = tuple(replace(one, label=one.name) for one in takes)
        plan = Plan(self.robot.name, what[0], inputs, tuple(gives), lambda backend: trace(), (self, what, inputs),
                    self.memo)  # fmt: skip
        return kernel_of(plan, backend)

    def parameters(self, parameters: Mapping[str, Numbers] | None) -> Array | None:
        """The numbers of a varied robot, side by side."""
        return varied(self.robot, parameters)

    def tau(self, u: Array) -> Array:
        """Joint forces (…, nv) of u (…, nu)."""
        made = np.zeros((*u.shape[:-1], self.robot.nv))
        made[..., list(self.drives)] = u
        return made

    def known(self, t: Scalar, q: Sequence[Scalar], qd: Sequence[Scalar], u: Sequence[Scalar] | None,
              given: Mapping[str, Sequence[Scalar]]) -> dict[str, Any]:  # fmt: skip
        """What functions of a user's are given, as traced arrays by name."""
        known: dict[str, Any] = {"t": symbols(t), "q": symbols(list(q)), "qd": symbols(list(qd))}
        known |= {name: symbols(list(flat)).reshape(self.given[name].shape) for name, flat in given.items()}
        return known if u is None else known | {"u": symbols(list(u))}

    def _terms(self, where: str, functions: Sequence[Function], end: bool = False) -> list[Term]:
        if callable(functions):
            functions = [functions]
        made = []
        for k, function in enumerate(functions):
            if not callable(function):
                raise SizeError(
                    f"{where}[{k}] is a {type(function).__name__}; give a function of q, qd, u and the like."
                )
            what = f"{where}[{k}], {getattr(function, '__name__', type(function).__name__)!r}"
            known = [*(STATE[:-1] if end else STATE), *self.given]
            own = inspect.signature(function).parameters.items()
            takes = tuple(getattr(function, "takes", ()) or (n for n, x in own if n in known or x.default is x.empty))
            for name in takes:
                if name not in known:
                    hint = "At the end there is no force." if name == "u" else did_you_mean(name, known)
                    raise UnknownName(f"{what} takes {name!r}, which is neither of the state nor in given=. {hint}")
            made.append(Term(what, function, takes))
        return made

    def _limited(self) -> list[Term]:
        """What limits of the robot say of states, as constraints."""
        limits, made = limits_of(self.robot.target), []
        if "position" in self.limits:
            for bound, sign in ((limits.upper, 1.0), (limits.lower, -1.0)):
                rows = [(k, float(x)) for k, x in enumerate(bound) if math.isfinite(x)]
                if rows:
                    made.append(_beyond("position limits", "q", rows, sign))
        if "velocity" in self.limits:
            rows = [(k, float(x)) for k, x in enumerate(limits.velocity) if math.isfinite(x)]
            if rows:
                made += [
                    _beyond("velocity limits", "qd", rows, 1.0),
                    _beyond("velocity limits", "qd", rows, -1.0, -1.0),
                ]
        return made


def _beyond(what: str, name: str, rows: Sequence[tuple[int, float]], sign: float, of: float = 1.0) -> Term:
    """sign (x - limit) for some entries of a vector, where the limit is `of` times the number."""
    at, bound = [k for k, _ in rows], np.array([of * x for _, x in rows])
    return Term(what, lambda x: sign * (x[at] - bound), (name,))
