"""The view `robot.actuation`: what drives a robot that was read from an MJCF file."""

from __future__ import annotations

from hinge.calls.views import View


class Actuation(View):
    """Actuators in the order of the file, and the forces that they, springs, dampers and tendons make."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the controls, in order; an actuator with several has its name several times.

        >>> hinge.samples.planar_2r().actuation.names
        ()
        """
        return tuple(one.name for one in self.target.model.physics.actuators for _ in range(one.width))
