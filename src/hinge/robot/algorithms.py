"""The registered algorithms as methods of a robot, with the signatures and words the registry gives them.

algorithms.pyi beside it says the same to editors and type checkers; it is written from the same tables.
"""

from hinge import constraints, dynamics, formulations, integrators, loops  # noqa: F401  they register themselves
from hinge.calls import derivatives as slopes_of
from hinge.calls.casadi_calls import casadi
from hinge.calls.views import install, on_target
from hinge.dynamics.registry import ALGORITHMS, HEARD
from hinge.robot.views import MEMBERS, Front


class Algorithms(Front):
    """What a robot computes: a method for each algorithm that is in no other view, and derivatives of any."""

    inverse_dynamics_derivatives = on_target(slopes_of.inverse_dynamics_derivatives)
    forward_dynamics_derivatives = on_target(slopes_of.forward_dynamics_derivatives)
    derivatives = on_target(slopes_of.derivatives)
    derivative_pattern = on_target(slopes_of.derivative_pattern)
    jvp = on_target(slopes_of.jvp)
    vjp = on_target(slopes_of.vjp)
    second_derivatives = on_target(slopes_of.second_derivatives)
    linearize = on_target(slopes_of.linearize)
    casadi = on_target(casadi)


ELSEWHERE = {*MEMBERS, *vars(Algorithms)}  # a method that is there already is not made from the registry
HEARD.append(lambda name: None if name in ELSEWHERE else install(Algorithms, {name: name}))  # what comes later
install(Algorithms, {name: name for name in ALGORITHMS if name not in ELSEWHERE})
