"""The view `robot.sensors`: what sensors on a robot read."""

from hinge.calls.views import View


class Sensors(View):
    """An inertial measurement unit, a force-torque sensor, and all that joints carry."""
