"""Vector fields on the configurations of a robot: covariant derivatives, gradients, and the lengths of curves.

    ∇_X Y = X(Y) + Γ̂(X, Y),      grad V = H⁻¹ dV,      ⟨u, v⟩ = uᵀ H v

A field is a function of q over scalars that gives a component for each velocity. It is traced, differentiated as a
graph, and compiled; a derivative is a field again. Where velocities are not rates of coordinates X(f) is the rate of f
when q moves with velocity X, and the structure constants are in Γ̂.
Source: zefran2004, section 2.4.
Differs from the source: the inner product has no factor of one half.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.backends.kernel import Kernel
from hinge.backends.sympy_input import is_sympy
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.sympy_calls import evaluate_with_sympy
from hinge.calls.target import Target
from hinge.dynamics.christoffel import inner_product, of_metric, unlike_rotors
from hinge.dynamics.composite import composite
from hinge.dynamics.registry import POSITION, Algorithm, Quantity, choose, unregistered
from hinge.dynamics.solve import LDL
from hinge.errors import GeometryError, HingeError, NotCovered, SizeError, TraceError
from hinge.geometry.arrays import is_symbolic
from hinge.graph import Expr, Graph, Input, Scalar, along, inner, order, sqrt, units
from hinge.graph.arrays import symbols
from hinge.graph.expr import NAMED
from hinge.graph.scalars import evaluated
from hinge.graph.undoing import undone
from hinge.model import Model, unmoved
from hinge.model.driven import driven

Function = Callable[[Any], Any]
COMPONENTS = Quantity("a component for each velocity", lambda m: (m.nv,))


class Field:
    """A vector field of a robot: call it with q (…, nq) for its components (…, nv), or with symbols."""

    def __init__(self, target: Target, over: Callable[[Model, list[Scalar]], list[Scalar]], says: str):
        self.target, self.over, self.says = target, over, says

    def __repr__(self) -> str:
        return f"<Field {self.says} of {self.target.name!r}>"

    def __call__(self, q: Any, parameters: Mapping[str, Any] | None = None) -> Any:
        if is_sympy(q):
            return evaluate_with_sympy(self._algorithm, unmoved(self.target.model), {"q": q}, {})
        if is_symbolic(q):
            return symbols(self._inside(np.asarray(q, dtype=object).tolist()))
        return self._kernel(q, *inputs.parameters("field", self.target.model, self.target.vary, parameters))

    def _inside(self, q: list[Scalar]) -> list[Scalar]:
        """The field inside another's function, at q: made at symbols of its own, by which it may differentiate."""
        graph = next((x.graph for x in q if type(x) is Expr), None)
        if graph is None:
            raise TraceError(f"{self!r} takes numbers, SymPy's symbols, or the q of another field's function.")
        if self.target.vary and graph is not NAMED:
            raise NotCovered(
                f"{self!r}: inside a function the numbers that are given with each call are not known.\n"
                "  Hand the field itself to covariant_derivative, or give the robot its numbers first."
            )
        own = [graph.input("q of a field", k + 1) for k in range(len(q))]
        return evaluated(self.over(self.target.traced, list(own)), dict(zip(own, q, strict=True)))

    @cached_property
    def _algorithm(self) -> Algorithm:
        def field(model: Model, q: list[list[Scalar]]) -> list[Scalar]:
            return self.over(model, model.flat(q))

        return unregistered("field", field, {"q": POSITION}, {"field": COMPONENTS})

    @cached_property
    def _kernel(self) -> Kernel:
        return Call.outside_registry(self.target.apart(), (lambda: self._algorithm,)).kernel


def components(X: Function, model: Model, q: list[Scalar], what: str) -> list[Scalar]:
    """What a field is at q: another field, or a function over scalars."""
    if isinstance(X, Field):
        return X.over(model, q)
    made = traced(X, q, what)
    if made.shape != (model.nv,):
        raise SizeError(
            f"{what} gave shape {made.shape}; a field of robot {model.name!r} has nv = {model.nv} components."
        )
    return [_scalar(x, what) for x in made]


def traced(function: Function, q: list[Scalar], what: str) -> Any:
    """A function of q run on symbols."""
    try:
        with undone(function):
            return np.asarray(function(symbols(q)), dtype=object)
    except HingeError:
        raise
    except Exception as problem:
        raise TraceError(
            f"{what} does not run on symbols: {problem}.\n"
            "  Write it with arithmetic, NumPy functions of arrays, hinge.graph.sin and its like; no test on numbers."
        ) from problem


def _scalar(x: Any, what: str) -> Scalar:
    x = x.item() if isinstance(x, np.ndarray | np.generic) else x
    try:
        return x if type(x) is Expr else float(x)
    except (TypeError, ValueError):
        raise TraceError(f"{what} gave {x!r}, which is neither a number nor made of its symbols.") from None


def rates(model: Model, q: list[Scalar], v: Sequence[Scalar]) -> dict[Expr, Scalar]:
    """How each coordinate changes with velocities v."""
    made: dict[Expr, Scalar] = {}
    for i in model.leaders:
        at, speed = model.slices[i]
        made |= dict(zip(q[at], model.joint[i].rate(q[at], list(v[speed])), strict=True))
    return made


class LeviCivita:
    """The connection of the mass matrix at one configuration: ∇_X Y of the components of two fields there."""

    def __init__(self, model: Model, q: list[Scalar]):
        self.model, self.q, self.at = model, q, model.joint_positions(q)
        self.H = LDL(composite(model, self.at), model.joint_label())

    @cached_property
    def G(self) -> list[list[list[Scalar]]]:
        """Christoffel symbols of the first kind, structure constants in."""
        return of_metric(self.model, self.at)

    def __call__(self, x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
        bent = self.H.solve([inner(x, [inner(row, y) for row in plane]) for plane in self.G])
        return [a + b for a, b in zip(along(y, rates(self.model, self.q, x)), bent, strict=True)]  # section 2.4


def covariant_derivative(target: Target, X: Function, Y: Function) -> Field:
    """∇_X Y by the connection of the mass matrix, for fields given as functions of q over scalars; again a field.

    X and Y take q (nq) and give a component for each velocity (nv). Call the result with q (…, nq).

    >>> D = hinge.samples.planar_2r().covariant_derivative(lambda q: [1.0, 0.0], lambda q: [0.0, q[0]])
    >>> D([0.1, 0.2]).shape
    (2,)
    """
    refused(target.model, "covariant_derivative", unlike_rotors)

    def over(model: Model, q: list[Scalar]) -> list[Scalar]:
        return LeviCivita(model, q)(components(X, model, q, "X"), components(Y, model, q, "Y"))

    return Field(target, over, "∇_X Y")


def gradient(target: Target, V: Function | None = None) -> Field:
    """H⁻¹ dV of a function V(q) over scalars, or of the potential energy: a field, the direction V grows in.

    >>> hinge.samples.pendulum(1).gradient()([0.0])
    array([0.])
    """
    refused(target.model, "gradient")

    def over(model: Model, q: list[Scalar]) -> list[Scalar]:
        at = model.joint_positions(q)
        if V is None:
            value = choose(model, "potential_energy").function(model, at)
        else:
            made = traced(V, q, "V")
            if made.size != 1:
                raise SizeError(f"V gave shape {made.shape}; a potential is one number.")
            value = _scalar(made.reshape(-1)[0], "V")
        slope = [along([value], rates(model, q, unit))[0] for unit in units(model.nv)]
        return LDL(composite(model, at), model.joint_label()).solve(slope)  # section 2.4

    return Field(target, over, "grad V")


def refused(model: Model, name: str, why: Callable[[Model], str] = driven) -> None:
    """Refuse, by joint name, what is no metric on the configurations."""
    if why(model):
        raise NotCovered(f"{name}: nothing covers robot {model.name!r}: {why(model)}.")


def has_symbols(model: Model) -> str:
    """What a robot is built from that has no number."""
    return f"its {', '.join(model.symbols)} have no value; give them with robot.with_values" if model.symbols else ""


# curves


def velocity(model: Model, q: list[Scalar], qdot: list[Scalar]) -> list[Scalar]:
    """The velocities with which coordinates change at given rates; how long a quaternion is does not matter."""
    made: list[Scalar] = [0.0] * model.nv
    for i in model.leaders:
        at, speed = model.slices[i]
        joint, joint_label = model.joint[i], model.joint_label(i)
        if joint.rates_are_velocities:
            made[speed] = qdot[at]
            continue
        rows = [joint.rate(q[at], unit) for unit in units(joint.nv)]
        square = [[inner(a, b) for b in rows] for a in rows]
        made[speed] = LDL(square, joint_label).solve([inner(row, qdot[at]) for row in rows])
    return made


def constrained(model: Model) -> str:
    """Which joint, if any, has fewer velocities than directions to go: not every curve is a motion."""
    for i, joint in enumerate(model.joint):
        if not joint.holonomic:
            return f"joint {model.joint_name[i]!r} is {joint.kind}, which cannot follow every curve"
    return driven(model)


def length(target: Target, curve: Function, start: float = 0.0, stop: float = 1.0) -> Array:
    """∫ √(2T) dt along q = curve(t), a function over scalars: its length by the mass matrix.

    >>> float(hinge.samples.pendulum(1).length(lambda t: [3.0 * t]).round(6))
    1.732051
    """
    return _curve_integral(target, "length", curve, start, stop)


def energy_integral(target: Target, curve: Function, start: float = 0.0, stop: float = 1.0) -> Array:
    """∫ T dt along q = curve(t), a function over scalars; stationary where the curve is a geodesic.

    >>> float(hinge.samples.pendulum(1).energy_integral(lambda t: [3.0 * t]).round(12))
    1.5
    """
    return _curve_integral(target, "energy_integral", curve, start, stop)


def _curve_integral(target: Target, name: str, curve: Function, start: float, stop: float) -> Array:
    """The integral along a curve, to rounding."""
    model = target.traced
    refused(model, name, constrained)
    refused(model, name, has_symbols)
    graph = Graph()
    t = graph.input("t", 0)
    made = traced(lambda _: curve(symbols(t)), [t], "the curve")
    if made.shape != (model.nq,):
        raise SizeError(f"the curve gave shape {made.shape}; robot {model.name!r} has nq = {model.nq}.")
    q = [_scalar(x, "the curve") for x in made]
    v = model.joint_velocities(velocity(model, q, along(q, {t: 1.0})))
    twice = inner_product(model, model.joint_positions(q), v, v)
    value = sqrt(twice) if name == "length" else 0.5 * twice
    program = order((Input("t", 1),), [(name, (), [value])])
    return np.array(_integral(program, float(start), float(stop), name))


def _integral(program: Any, start: float, stop: float, name: str) -> float:
    """Gauss-Legendre over ever more panels, until two of them agree."""
    from hinge.backends import interpret

    nodes, weights = np.polynomial.legendre.leggauss(12)
    last, total, panels = np.nan, np.nan, 4
    while panels <= 4096:
        edges = np.linspace(start, stop, panels + 1)
        half = np.diff(edges)[:, None] / 2
        t = (edges[:-1, None] + half * (1.0 + nodes)).reshape(-1, 1)
        out = np.empty((len(t), 1))
        interpret.run(program, [t], [out])
        last, total = total, float((out.reshape(panels, 12) * weights * half).sum())
        if abs(total - last) <= 1e-13 * abs(total) or not np.isfinite(total):
            return total
        panels *= 2
    if abs(total - last) > 1e-6 * abs(total):
        raise GeometryError(f"{name}: the integral along the curve does not settle; is the curve smooth?")
    return total
