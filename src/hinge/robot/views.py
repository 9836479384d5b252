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
    "contact": Home("hinge.contact.view", "Contacts", {
        "contact_system": "system", "contact_dynamics": "dynamics", "contact_kernel": "kernel",
        "impact": "impact", "friction_step": "friction_step",
    }),
    "geometry": Home("hinge.geometry.methods", "Geometry", {
        "exponentials": "exponentials", "covariant_derivative": "covariant_derivative", "gradient": "gradient",
        "geodesic": "geodesic", "length": "length", "energy_integral": "energy_integral",
        "inner_product": "inner_product", "connection": "connection", "christoffel": "christoffel",
        "coriolis_coefficients": "coriolis_coefficients",
    }),
    "linkage": Home("hinge.loops.mobility", "Linkage", {
        "loop_names": "names", "circuit": "circuit", "mobility": "mobility", "assemble": "assemble",
        "loop_gap": "gap", "loop_jacobian": "jacobian", "loop_bias": "bias", "loop_dynamics": "dynamics",
        "loop_project": "project", "loop_inverse_dynamics": "inverse_dynamics",
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


class Front(View):
    """A view that has others: each is made when it is first used."""

    def __getattr__(self, name: str) -> Any:
        """A view when it is first used, or a member of one by its name on the robot."""
        if name in VIEWS:
            found: Any = view_class(name)(self.target)
        elif name in MEMBERS:
            view, called = MEMBERS[name]
            found = getattr(getattr(self, view), called)
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *VIEWS]
