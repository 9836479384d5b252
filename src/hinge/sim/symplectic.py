"""The implicit midpoint rule in positions and momenta: symplectic, of second order, for long runs true in energy.

    q' = q + h v_m        p' = p + h (tau + ∂L/∂q (q_m, v_m))        q_m = ½ (q + q'), M(q_m) v_m = ½ (p + p')

p = M(q) v. The equations are solved by repeating them from the velocity at the start, each time in one kernel, until
nothing changes. Every rollout stops by itself, so that none feels the others; one that does not come to rest has a
status.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.backends.kernel import Kernel
from hinge.dynamics.composite import composite
from hinge.dynamics.energy import potential_energy
from hinge.dynamics.registry import FORCE, POSITION, SCALAR, VELOCITY, Quantity
from hinge.dynamics.solve import LDL
from hinge.errors import NotCovered
from hinge.graph import Scalar, inner, jacobian, less, maximum, select, total
from hinge.integrators.steps import TIME
from hinge.model import Model
from hinge.robot import Robot
from hinge.sim.forces import saturated
from hinge.sim.kernels import Physics, made_once, resisted
from hinge.status import SINGULAR

Array = np.ndarray[Any, np.dtype[Any]]
SWEEPS = 30  # to and fro
SMALL = 4e-16  # what a sweep may still change, relative
CONVERGED = 1e-9  # a rollout that changes more in the end has no solution here
NEVER = 1e300  # the change before the first sweep


class Midpoint:
    """A step by the midpoint rule."""

    def __init__(self, run: Any, source: Any, backend: str | None) -> None:
        refuse(run.robot)
        self.run, self.source, rows = run, source, len(run.q)
        sweep = _kernel(run.robot, run.physics, source.traced, backend, _sweep)
        finish = _kernel(run.robot, run.physics, source.traced, backend, _finish)
        self.start = [run.q.copy(), run.qd.copy()]
        self.times, self.given = [np.zeros(rows), np.zeros(rows)], np.zeros_like(run.qd)
        self.end = [np.empty_like(run.q), np.empty_like(run.qd), np.empty_like(run.qd)]
        self.end.append(np.empty(rows, np.uint8))
        changes = np.empty(rows), np.empty(rows)
        self.change, self.fared = changes[0], np.empty(rows, np.uint8)
        besides = self.times if source.traced is not None else [*self.times, self.given]
        self.middle = here, there = np.empty_like(run.qd), np.empty_like(run.qd)
        self.sweeps = [
            sweep.bind(*self.start, a, changes[k], *besides, b, changes[1 - k], self.fared)
            for k, a, b in ((0, here, there), (1, there, here))
        ]
        self.finish = finish.bind(*self.start, here, *besides, *self.end)

    def __call__(self, step: int, t: float, h: float) -> tuple[Array, ...]:
        run = self.run
        self.start[0][...], self.start[1][...] = run.q, run.qd
        self.times[0][:], self.times[1][:] = t, h
        if self.source.traced is None:
            self.given[...] = self.source.at(step, t)
        self.middle[0][...], self.change[:] = run.qd, NEVER
        for k in range(SWEEPS):
            self.sweeps[0]()
            if k == 0:
                first = self.fared.copy()  # where equations cannot be solved, those after it are NaN
            self.sweeps[1]()
            if not (self.change > SMALL).any():
                break
        self.finish()
        q, qd, tau, fared = self.end
        restless = ~(np.abs(self.change) < CONVERGED)
        if restless.any():
            qd[restless] = np.nan
        return q.copy(), qd.copy(), tau, np.where(first == SINGULAR, first, fared)


def refuse(robot: Robot) -> None:
    """Raise where a joint has velocities that are no rates of coordinates, or the model is not conservative in them."""
    model = robot.model
    for i, _ in model.outward():
        if not model.joint[i].rates_are_velocities:
            raise NotCovered(f"method 'midpoint' does not cover robot {robot.name!r}: joint {model.joint_name[i]!r} is "
                             f"{model.joint[i].kind}.\n  Use 'lie_rk4', 'rk4' or 'dopri5'.")  # fmt: skip


def _kernel(robot: Robot, physics: Physics, control: Any, backend: str | None, function: Any) -> Kernel:
    sweeping = function is _sweep

    def run(model: Model, q: Any, qd: Any, middle: Any, t: Any, h: Any, change: Any = None, tau: Any = None) -> Any:
        flat = [model.flat(part) for part in (q, qd, middle)]
        held = None if tau is None else model.generalised_forces(tau)

        def force(at: list[Scalar], speed: list[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
            asked = list(held) if control is None else control(t[0] + 0.5 * h[0], at, speed)  # type: ignore[arg-type]
            asked = saturated(model, asked) if physics.effort else asked
            return asked, resisted(model, physics, asked, model.joint_positions(at), speed)

        return function(model, *flat, h[0], force, *([change[0]] if sweeping else []))

    takes: dict[str, Quantity] = {"q": POSITION, "qd": VELOCITY, "middle": VELOCITY}
    takes |= {"change": TIME} if sweeping else {}
    takes |= {"t": TIME, "h": TIME} | ({"tau": FORCE} if control is None else {})
    gives: dict[str, Quantity] = {"middle": VELOCITY, "change": SCALAR}
    if not sweeping:
        gives = {"q": POSITION, "qd": VELOCITY, "tau": VELOCITY}
    return made_once(robot, "simulate midpoint", run, takes, gives, physics, control, backend)


def _momentum(model: Model, q: list[Scalar], v: list[Scalar]) -> list[Scalar]:
    H = composite(model, model.joint_positions(q))
    return [inner(row, v) for row in H]


def _middle(model: Model, q: list[Scalar], v: list[Scalar], guess: list[Scalar], h: Scalar, force: Any) -> Any:
    """Momentum in the middle of the step by a guess of the velocity there, and the mass matrix to go with it."""
    at = [a + 0.5 * h * b for a, b in zip(q, guess, strict=True)]
    joints = model.joint_positions(at)
    H = composite(model, joints)
    kinetic = 0.5 * total(H[i][j] * guess[i] * guess[j] for i in range(model.nv) for j in range(model.nv))
    (slope,) = jacobian([kinetic - potential_energy(model, joints)], at)
    asked, pushed = force(at, guess)
    lost = model.generalised_forces(
        [_damping(model, i, model.joint_velocities(guess)[i]) for i in range(len(model.parent))]
    )
    p = [a + 0.5 * h * (s + f - r) for a, s, f, r in zip(_momentum(model, q, v), slope, pushed, lost, strict=True)]
    return p, H, asked


def _damping(model: Model, i: int, v: list[Scalar]) -> list[Scalar]:
    return [d * x for d, x in zip(model.data[i].damping or (0.0,) * len(v), v, strict=True)] if (
        "damping" in model.terms) else [0.0] * len(v)  # fmt: skip


def _sweep(model: Model, q: list[Scalar], v: list[Scalar], guess: list[Scalar], h: Scalar, force: Any,
           last: Scalar) -> Any:  # fmt: skip
    """The velocity in the middle, better than the guess; and by how much, relative to the largest.

    `last` is how much the sweep before changed. What changed next to nothing stays as it is; so does what no longer
    gets closer, which rounding forbids: the change is negative then.
    """
    p, H, _ = _middle(model, q, v, guess, h, force)
    factor = LDL(H, model.blame())
    better = factor.solve(p)
    change: Scalar = 0.0
    size: Scalar = 1.0
    for a, b in zip(better, guess, strict=True):
        change, size = maximum(change, maximum(a - b, b - a)), maximum(size, maximum(a, -a))
    change = change / size
    going = less(SMALL, last)
    kept = [select(going, a, b) for a, b in zip(better, guess, strict=True)]
    ended = select(less(CONVERGED, change), change, -change)
    return (kept, select(going, select(less(change, last), change, ended), last)), factor.pivots


def _finish(model: Model, q: list[Scalar], v: list[Scalar], middle: list[Scalar], h: Scalar, force: Any) -> Any:
    """The state at the end of the step."""
    p, _, asked = _middle(model, q, v, middle, h, force)
    end = [a + h * b for a, b in zip(q, middle, strict=True)]
    p_end = [2.0 * b - a for a, b in zip(_momentum(model, q, v), p, strict=True)]
    factor = LDL(composite(model, model.joint_positions(end)), model.blame())
    return (model.joint_positions(end), factor.solve(p_end), asked), factor.pivots
