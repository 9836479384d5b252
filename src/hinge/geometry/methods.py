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
        refuse_sympy("geodesic", q, qd)
        here: Any = self
        free = here._with(forceless(here.model, ["armature"]))
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
            raise SizeError(f"geodesic: steps={steps}; give a whole number from 1 on.")
        given = [real("geodesic: q", q, (free.nq,)), real("geodesic: qd", qd, (free.nv,))]
        state = joined("geodesic", given)
        path, nothing = [(state[..., : free.nq], state[..., free.nq :])], np.zeros(free.nv)
        for _ in range(steps):
            path.append(free.step(*path[-1], nothing, t / steps))
        return np.stack([a for a, _ in path], axis=-2), np.stack([b for _, b in path], axis=-2)

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
