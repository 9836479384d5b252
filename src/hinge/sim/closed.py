"""Loops and constraints in a simulation: what keeps them from drifting.

Accelerations keep them, but errors of integration add up. "project" brings positions and velocities back after each
step, by the least change in the metric of kinetic energy. "baumgarte" puts critical springs and dampers in parallel
with the loops. "independent" takes from a step only as many coordinates as there are freedoms, those that the loops
determine least, and finds the others from them.
Source: featherstone1987, section 9.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.assembling import START, refuse_open
from hinge.constraining import Constrained
from hinge.constraints.elimination import dependent
from hinge.constraints.loops import closing
from hinge.constraints.multipliers import Keeping
from hinge.dynamics.registry import POSITION, VELOCITY, Quantity
from hinge.errors import NotCovered, SizeError, one_of
from hinge.graph import Scalar
from hinge.programs import compiled

Array = np.ndarray[Any, np.dtype[Any]]
Keeper = Callable[[float, Array, Array], tuple[Array, Array]]
WAYS = ("project", "baumgarte", "independent")


def kept_closed(run: Any, constraint: Any, loops: str | None, time: float, method: str, keep: int) -> Keeper | None:
    """What is done to the states after each step; a constraint becomes part of the run's physics."""
    if loops is not None:
        one_of("loops", loops, WAYS)
    if method == "midpoint" or keep > 1:
        if constraint is not None or run.robot.loops:
            raise NotCovered("loops and constraints need a method that asks for accelerations: not 'midpoint', keep=1.")
    if loops in ("project", "independent") and method == "dopri5":
        raise NotCovered(f"loops={loops!r} goes with fixed steps: dopri5 takes loops='baumgarte', or none.")
    return _constraint(run, constraint, loops) if constraint is not None else _loops(run, loops, time)


def _constraint(run: Any, constraint: Any, loops: str | None) -> Keeper | None:
    if not isinstance(constraint, Constrained) or constraint.robot is not run.robot:
        raise SizeError("constraint has to be what hinge.constrain made of this very robot.")
    if loops in ("baumgarte", "independent"):
        raise NotCovered(f"loops={loops!r} is for kinematic loops. Constraints on velocities take loops='project'.")
    run.physics = replace(run.physics, constraint=constraint)
    return (lambda t, q, qd: (q, constraint.project(q, qd, t))) if loops else None


def _loops(run: Any, loops: str | None, time: float) -> Keeper | None:
    robot = run.robot
    if not robot.loops:
        if loops is not None:
            raise NotCovered(f"loops={loops!r} was given, and robot {robot.name!r} has none. Leave it out.")
        return None
    for q, qd in zip(run.q, run.qd, strict=True):
        refuse_open(robot, q, qd, START)
    if loops == "baumgarte":
        if not (np.isfinite(time) and time > 0.0):
            raise SizeError(f"loop_time={time!r} is not a time. Give a positive number of seconds.")
        run.physics = replace(run.physics, loop_time=float(time))
        return None
    if loops == "project":
        return _Bound(robot.kernel("loop_project"), run.q, run.qd)
    if loops == "independent":
        rank = int(np.max(robot.mobility(run.q).rank))
        takes = {"q": POSITION, "qd": VELOCITY, "gives": Quantity("1 where it depends", lambda m: (m.nv,))}
        kernel = compiled(robot.subject, robot.name, "independent", _found, takes, {"q": POSITION, "qd": VELOCITY})
        return _Independent(kernel, robot.kernel("loop_jacobian"), run.q, run.qd, rank)
    return None


class _Bound:
    """A kernel from states to states, on arrays of its own."""

    def __init__(self, kernel: Any, q: Array, qd: Array, *further: Array):
        self.q, self.qd, self.made = q.copy(), qd.copy(), (np.empty_like(q), np.empty_like(qd))
        self.call = kernel.bind(self.q, self.qd, *further, *self.made)

    def __call__(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        self.q[...], self.qd[...] = q, qd
        self.prepare()
        self.call()
        return self.made

    def prepare(self) -> None:
        """What else the kernel is given."""


class _Independent(_Bound):
    """The same with the velocities that depend on the others, chosen anew for each state."""

    def __init__(self, kernel: Any, jacobian: Any, q: Array, qd: Array, rank: int):
        self.rank, self.gives = rank, np.zeros_like(qd)
        super().__init__(kernel, q, qd, self.gives)
        self.A = np.empty((len(q), *jacobian(q[0]).shape))
        self.look = jacobian.bind(self.q, self.A)

    def prepare(self) -> None:
        self.look()
        self.gives[...] = dependent(self.A, self.rank)


class _Dependent:
    """In place of a mass matrix: the dependent velocities give way, all alike, and the others do not."""

    def __init__(self, gives: Sequence[Scalar]):
        self.gives = gives

    def solve(self, forces: Sequence[Scalar]) -> list[Scalar]:
        return [f * g for f, g in zip(forces, self.gives, strict=True)]


def _found(model: Any, q: Any, qd: Any, gives: Sequence[Scalar]) -> Any:
    """The state whose independent coordinates and velocities stand as they are, the others found from them."""
    change = _Dependent(gives)
    for _ in range(2):
        loops = closing(model, q)
        moved = model.joint_velocities(Keeping(change, loops.A).kept([0.0] * model.nv, loops.gap)[0])
        q = [joint.integrate(q[i], moved[i]) for i, joint in enumerate(model.joint)]
    rates = model.flat(qd)
    kept = [x - y for x, y in zip(rates, change.solve(rates), strict=True)]
    return q, Keeping(change, closing(model, q).A).kept(kept)[0]
