"""The views of a robot: where each is, and the names that its members have on the robot itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from hinge.calls.views import View, install
from hinge.dynamics.registry import ALGORITHMS


class Home(NamedTuple):
    """Where the class of a view is; its members, algorithms of the registry and others, by their names on a robot."""

    module: str
    name: str
    members: dict[str, str]


VIEWS = {
    "actuation": Home("hinge.calls.actuation", "Actuation", {
        "actuator_names": "names", "control_forces": "forces", "passive_forces": "passive",
    }),
    "contact": Home("hinge.steps.contact_view", "Contacts", {
        "contact_system": "system", "contact_dynamics": "dynamics", "contact_kernel": "kernel",
        "impact": "impact", "friction_step": "friction_step", "contact_step": "step",
        "distances": "distances", "collides": "collides",
    }),
    "geometry": Home("hinge.geometry.methods", "Geometry", {
        "exponentials": "exponentials", "covariant_derivative": "covariant_derivative", "gradient": "gradient",
        "geodesic": "geodesic", "geodesic_between": "geodesic_between", "length": "length",
        "energy_integral": "energy_integral",
        "inner_product": "inner_product", "connection": "connection", "christoffel": "christoffel",
        "coriolis_coefficients": "coriolis_coefficients",
        "composite_inertia": "composite_inertia", "articulated_inertia": "articulated_inertia",
        "articulated_bias": "articulated_bias", "inverse_inertia": "inverse_inertia", "cross_inertia": "cross_inertia",
        "bias_acceleration": "bias_acceleration",
    }),
    "linkage": Home("hinge.loops.mobility", "Linkage", {
        "loop_names": "names", "circuit": "circuit", "mobility": "mobility", "assemble": "assemble",
        "loop_gap": "gap", "loop_jacobian": "jacobian", "loop_bias": "bias", "loop_dynamics": "dynamics",
        "loop_reactions": "reactions", "loop_project": "project", "loop_inverse_dynamics": "inverse_dynamics",
    }),
    "sensors": Home("hinge.calls.sensors", "Sensors", {
        "imu": "imu", "joint_wrench": "wrench", "joint_reactions": "reactions",
    }),
}  # fmt: skip
MEMBERS = {name: (view, called) for view, home in VIEWS.items() for name, called in home.members.items()}


def view_class(view: str) -> type[View]:
    """The class of a view, with its algorithms."""
    home = VIEWS[view]
    made: type[View] = getattr(import_module(home.module), home.name)
    missing = {n: called for n, called in home.members.items() if n in ALGORITHMS and not hasattr(made, called)}
    install(made, missing)
    return made


class _View:
    """Stands for a view until it is first used."""

    def __init__(self, view: str):
        self.view = view

    def __get__(self, robot: Any, owner: type) -> Any:
        if robot is None:
            return view_class(self.view)
        made = robot.__dict__[self.view] = view_class(self.view)(robot.target)
        return made


class _Member:
    """Stands for a member of a view under its name on the robot itself, until it is first used."""

    def __init__(self, name: str):
        self.name = name
        self.view, self.called = MEMBERS[name]

    def __get__(self, robot: Any, owner: type) -> Any:
        if robot is None:
            return getattr(view_class(self.view), self.called)
        made = robot.__dict__[self.name] = getattr(getattr(robot, self.view), self.called)
        return made


class _Listed(type):
    """A class that lists its views, and not what they have."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in MEMBERS]


class Front(View, metaclass=_Listed):
    """A view that has others; what these have it has too, and does not list."""

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in MEMBERS]


for _name in VIEWS:
    setattr(Front, _name, _View(_name))
for _name in MEMBERS:
    setattr(Front, _name, _Member(_name))
