"""What a robot can do as geometry: methods that every robot has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hinge.backends.kernel import Array
from hinge.backends.reading import refuse_sympy
from hinge.errors import SizeError
from hinge.inputs import joined, real
from hinge.model import Model
from hinge.model.potentials import forceless

if TYPE_CHECKING:
    from hinge.geometry.exponentials import ProductOfExponentials
    from hinge.geometry.fields import Field, Function
    from hinge.geometry.geodesics import Geodesic


class Geometric:
    """Fields, geodesics, lengths, and branches as products of exponentials."""

    model: Model
    name: Any
    subject: Any

    @property
    def frame_names(self) -> tuple[str, ...]:
        """All that `pose`, `jacobian` and the like can be asked for: links, then frames, sites and fixed joints.

        >>> hinge.samples.planar_2r().frame_names
        ('base', 'upper', 'lower', 'hand')
        """
        return tuple(self.model.frames)

    def exponentials(self, name: str, q: Any = None) -> ProductOfExponentials:
        """The branch to a link or frame as its product of exponentials, with q as the reference configuration.

        >>> hinge.samples.planar_2r().exponentials("hand").twists[1]
        array([ 0., -1.,  0.,  0.,  0., -1.])
        """
        here: Any = self
        q = here.neutral() if q is None else real("exponentials: q", q, (self.model.nq,))
        if q.ndim != 1:
            raise SizeError(f"exponentials: q has shape {q.shape}; a branch has one reference configuration.")
        from hinge.geometry import exponentials

        return exponentials.branch(self.model, name, q)

    def covariant_derivative(self, X: Function, Y: Function) -> Field:
        """∇_X Y by the connection of the mass matrix, for fields given as functions of q over scalars; again a field.

        X and Y take q (nq) and give a component for each velocity (nv). Call the result with q (…, nq).

        >>> D = hinge.samples.planar_2r().covariant_derivative(lambda q: [1.0, 0.0], lambda q: [0.0, q[0]])
        >>> D([0.1, 0.2]).shape
        (2,)
        """
        from hinge.geometry import fields

        return fields.covariant_derivative(self.subject, self.name, X, Y)

    def gradient(self, V: Function | None = None) -> Field:
        """H⁻¹ dV of a function V(q) over scalars, or of the potential energy: a field, the direction V grows in.

        >>> hinge.samples.pendulum(1).gradient()([0.0])
        array([0.])
        """
        from hinge.geometry import fields

        return fields.gradient(self.subject, self.name, V)

    def geodesic(self, q: Any, qd: Any, t: float = 1.0, steps: int = 1000) -> tuple[Array, Array]:
        """The path without gravity, springs or forces: q (…, steps + 1, nq) and qd (…, steps + 1, nv) up to time t.

        >>> hinge.samples.planar_2r().geodesic([0.0, 0.5], [1.0, 0.0], steps=10)[0].shape
        (11, 2)
        """
        from hinge.geometry.geodesics import followed

        free = self._free("geodesic", steps, q, qd)
        given = [real("geodesic: q", q, (free.nq,)), real("geodesic: qd", qd, (free.nv,))]
        state = joined("geodesic", given)
        return followed(free, state[..., : free.nq], state[..., free.nq :], t, steps)

    def geodesic_between(self, q0: Any, q1: Any, steps: int = 100) -> Geodesic:
        """The shortest path from q0 to q1 by the mass matrix, in unit time: a free motion that arrives there.

        Gives q (…, steps + 1, nq), qd (…, steps + 1, nv) and status (…). It is the shortest of those found, and nothing
        near it is shorter; where none was found status is UNCONVERGED and the path NaN. Its speed is constant: its
        length is √(2T) at any point of it. Limits of joints are not looked at.

        >>> path = hinge.samples.planar_2r().geodesic_between([0.0, 0.5], [1.0, -0.2])
        >>> path.q[-1].round(9), path.status
        (array([ 1. , -0.2]), array(0, dtype=uint8))
        """
        from hinge.geometry.fields import constrained, has_symbols, refused
        from hinge.geometry.geodesics import Geodesic, between

        free = self._free("geodesic_between", steps, q0, q1)
        for why in (constrained, has_symbols, lambda model: "it has kinematic loops" if model.loops else ""):
            refused(free.model, "geodesic_between", why)
        ends = [real(f"geodesic_between: {name}", q, (free.nq,)) for name, q in (("q0", q0), ("q1", q1))]
        both = joined("geodesic_between", ends).astype(float)
        rows = both.reshape(-1, 2 * free.nq)
        made = between(free, rows[:, : free.nq], rows[:, free.nq :], steps)
        return Geodesic(*(a.reshape((*both.shape[:-1], *a.shape[1:])) for a in made))

    def _free(self, name: str, steps: int, *given: Any) -> Any:
        """The robot on which nothing acts, where a path is asked for in so many steps."""
        refuse_sympy(name, *given)
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise SizeError(f"{name}: steps={steps}; give a whole number from 1 on.")
        here: Any = self
        return here._with(forceless(here.model, ["armature"]))

    def length(self, curve: Function, start: float = 0.0, stop: float = 1.0) -> Array:
        """∫ √(2T) dt along q = curve(t), a function over scalars: its length by the mass matrix.

        >>> float(hinge.samples.pendulum(1).length(lambda t: [3.0 * t]).round(6))
        1.732051
        """
        from hinge.geometry import fields

        return fields.curve_integral(self.subject, self.name, "length", curve, start, stop)

    def energy_integral(self, curve: Function, start: float = 0.0, stop: float = 1.0) -> Array:
        """∫ T dt along q = curve(t), a function over scalars; stationary where the curve is a geodesic.

        >>> float(hinge.samples.pendulum(1).energy_integral(lambda t: [3.0 * t]).round(12))
        1.5
        """
        from hinge.geometry import fields

        return fields.curve_integral(self.subject, self.name, "energy_integral", curve, start, stop)
