"""The table of integration methods, and `robot.step`: one step with the joint forces held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hinge.dynamics.registry import ALGORITHMS, EXTERNAL, FORCE, POSITION, VELOCITY, algorithm
from hinge.graph import Scalar
from hinge.integrators import midpoint as middle
from hinge.integrators.implicit import implicit as implicit_step
from hinge.integrators.steps import TIME, Flat, Made, PerJoint, System, advanced, not_a_group, pushed
from hinge.integrators.tableaus import TABLEAUS, Tableau
from hinge.model import Model


@dataclass(frozen=True)
class Method:
    """A way from state to state; with a tableau that estimates its error the steps are chosen by it."""

    name: str
    advance: Callable[[Model, System, PerJoint, Flat, Scalar], Made]
    tableau: Tableau | None = None
    refuses: Callable[[Model], str] = lambda model: ""
    late: float = 0.5  # what share of a step a change of velocity acts on positions that happened in it
    asks: bool = True  # whether it asks for accelerations, so that loops, constraints and bases may have a say
    order: int = 1  # with which power of the step its error falls

    @property
    def adaptive(self) -> bool:
        """Whether it estimates the error it makes."""
        return self.tableau is not None and bool(self.tableau.low)


def explicit(tableau: Tableau) -> Method:
    """The method of a tableau: all that a row of METHODS needs."""

    def advance(model: Model, system: System, q: PerJoint, v: Flat, h: Scalar) -> Made:
        return advanced(model, tableau, q, v, h, system)

    late = 1.0 if tableau.late else 0.5 if tableau.stages > 1 else 0.0
    refuses = not_a_group if tableau.group else lambda model: ""
    return Method(tableau.name, advance, tableau, refuses, late, order=tableau.order)


METHODS = {name: explicit(tableau) for name, tableau in TABLEAUS.items()} | {
    "implicit": Method("implicit", implicit_step, late=1.0, order=2),
    "midpoint": Method("midpoint", middle.midpoint, refuses=middle.refused, asks=False, order=2),
}


GIVEN: dict[str, Any] = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME, "external": EXTERNAL}
GIVEN |= {"uses": lambda: (*METHODS.values(), *ALGORITHMS["forward_dynamics"].values())}
GIVES = {"q": POSITION, "qd": VELOCITY}


def _step(name: str, model: Model, q: PerJoint, qd: PerJoint, tau: PerJoint, h: list[Scalar], external: Any) -> Any:
    made = METHODS[name].advance(model, pushed(model, tau, external), q, model.flat(qd), h[0])
    return (made.q, made.v), [made.pivot]


@algorithm("step", priority=1, **GIVEN, returns=GIVES, pivots=True)
def rk4(model, q, qd, tau, h, external):
    """A step of simulation: the state after h seconds, with the joint forces held.

    Takes q (nq), qd and tau (nv), and h (s); gives (q, qd). Methods are "rk4", "euler", "semi_implicit", "implicit" and
    "lie_rk4", which keeps quaternions of length one by itself. `external` are forces held in their bodies' coordinates.

    >>> q, qd = hinge.samples.pendulum(1).step([0.1], [0.0], [0.0], 0.01)
    >>> q.shape, qd.shape
    ((1,), (1,))
    """
    return _step("rk4", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True)
def euler(model, q, qd, tau, h, external):
    """Position and velocity by their rates at the start."""
    return _step("euler", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True)
def semi_implicit(model, q, qd, tau, h, external):
    """Velocity by the acceleration at the start, position by the velocity at the end."""
    return _step("semi_implicit", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True)
def implicit(model, q, qd, tau, h, external):
    """A linearly implicit step of second order, for stiff springs, dampers and gyroscopic terms."""
    return _step("implicit", model, q, qd, tau, h, external)


@algorithm("step", **GIVEN, returns=GIVES, pivots=True, refuses=not_a_group)
def lie_rk4(model, q, qd, tau, h, external):
    """The classic method in the group: positions move by exponentials."""
    return _step("lie_rk4", model, q, qd, tau, h, external)
