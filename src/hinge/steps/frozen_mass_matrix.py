"""The mass matrix and bias force of one step used for several: featherstone1987, section 5.2.

    H(q) qdd = tau - C(q, qd)

The equations are set up and factored every k steps, and carried from step to step in between; the joint forces are
asked for in every step. What this does to the accelerations is measured where the equations are set up anew, against
those that were kept until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hinge.dynamics.composite import composite
from hinge.dynamics.faring import lowest
from hinge.dynamics.newton_euler import bias_force
from hinge.dynamics.solve import LDL
from hinge.graph import Scalar, absolute, floor, less, maximum, select, when
from hinge.integrators.steps import Flat
from hinge.model import Model
from hinge.steps.inputs import Acts


def places(nv: int) -> int:
    """How many scalars equations of motion are, at most."""
    return nv * (nv + 3) // 2


class Frozen:
    """Equations of motion as scalars that a loop can carry: the factors of H, then C."""

    def __init__(self, model: Model, acts: Acts, t: Scalar, q: Flat, v: Flat):
        at, speeds = model.joint_positions(q), model.joint_velocities(v)
        self.model, self.factors = model, LDL(composite(model, at), model.joint_label())
        self.bias = model.generalised_forces(bias_force(model, at, speeds, acts.external(model, at), acts.base(t)))

    @property
    def flat(self) -> Flat:
        """Pivots, the factor below them, and C."""
        return [*self.factors.pivots, *(x for row in self.factors.below for _, x in row), *self.bias]

    def like(self, flat: Sequence[Scalar]) -> Frozen:
        """Equations with other numbers in the same places."""
        made, n = Frozen.__new__(Frozen), self.model.nv
        rest = iter(flat[n : len(flat) - n])
        made.model = self.model
        made.factors = LDL.of(flat[:n], [[(i, next(rest)) for i, _ in row] for row in self.factors.below])
        made.bias = list(flat[len(flat) - n :])
        return made

    def acceleration(self, tau: Flat) -> tuple[Flat, list[Scalar]]:
        """What follows from joint forces, and the pivots."""
        return self.factors.solve([a - b for a, b in zip(tau, self.bias, strict=True)]), self.factors.pivots


def renewed(
    set_up: Callable[[], Frozen], like: Frozen, kept: Sequence[Scalar], n: Scalar, every: int, tau: Flat
) -> tuple[Frozen, Flat]:
    """The equations for step n, and what is carried on: the largest error that keeping them made, and themselves.

    `set_up` makes them, in the steps in which they are made, and `like` has the same places.
    """

    def anew(*now: Scalar) -> Flat:
        fresh = set_up()
        qdd, stale = fresh.acceleration(tau)[0], fresh.like(now[1:]).acceleration(tau)[0]
        apart: Scalar = 0.0
        size: Scalar = 1e-300
        for a, b in zip(qdd, stale, strict=True):
            apart, size = maximum(apart, absolute(a - b)), maximum(size, absolute(a))
        known = less(0.0, lowest(now[1 : fresh.model.nv + 1]))  # none were kept before the first step
        error = select(known, apart / size, 0.0)
        return [select(less(now[0], error), error, now[0]), *fresh.flat]

    due = less(absolute(floor(n / every) * every - n), 0.5)
    made = list(when(due, list(kept), anew))
    return like.like(made[1:]), made
