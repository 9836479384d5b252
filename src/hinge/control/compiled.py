"""A controller as one kernel, or as C: all that it calls is traced with it, and becomes one straight program.

kernel = hinge.control.compiled(robot, control)
tau = kernel(t, q, qd)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hinge.backends.kernel import Kernel
from hinge.calls.call import Call
from hinge.calls.controllers import Untraceable, trace_control
from hinge.control import laws
from hinge.dynamics.registry import POSITION, VELOCITY, Algorithm, Quantity
from hinge.errors import TraceError
from hinge.export.c_files import c_text
from hinge.integrators.steps import TIME
from hinge.robot import Robot
from hinge.typing import Backend, Control

TAU = Quantity("joint forces (N m, N)", lambda model: (model.nv,))


def compiled(robot: Robot, control: Control, backend: Backend | None = None) -> Kernel:
    """A controller as a kernel of t (), q (nq) and qd (nv): for one state at control rate, or for batches.

    `kernel.bind(t, q, qd, tau)` is a call without arguments for control loops. What cannot be traced is refused.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.control.compiled(arm, hinge.control.pd(arm, [0.1, 0.2], gravity=False))(0.0, np.zeros(2), np.zeros(2))
    array([10., 20.])
    """
    return _call(robot, control, backend).kernel


def c_code(robot: Robot, control: Control, scalar: str = "double") -> str:
    """A controller as a C function ROBOT_control(t, q, qd, out), with what it needs; in double or float.

    >>> arm = hinge.samples.planar_2r()
    >>> "void planar_2r_control(" in hinge.control.c_code(arm, hinge.control.pd(arm, [0.1, 0.0]))
    True
    """
    algorithm, program = _call(robot, control).trace()
    return c_text(robot.target, algorithm, program, scalar)


def _call(robot: Robot, control: Control, backend: str | None = None) -> Call:
    """Return the call of a controller, which is traced once."""
    algorithm = _algorithm(robot, control)
    return Call.outside_registry(robot.target.apart(), (lambda: algorithm,), backend)


def _algorithm(robot: Robot, control: Control) -> Algorithm:
    name = getattr(control, "__name__", type(control).__name__)
    try:
        traced: Callable[..., Any] = trace_control(robot.target, laws.law("control", control))
    except Untraceable as why:
        hint = "Arithmetic, sines, roots, np.clip, np.where and methods of the robot can be; an if on numbers cannot."
        raise TraceError(f"controller {name!r} cannot be traced: {str(why).rstrip('.')}.\n  {hint}") from why

    def law(model: Any, t: Any, q: Any, qd: Any) -> Any:
        """Joint forces of a controller."""
        return traced(t[0], model.flat(q), model.flat(qd))

    takes: dict[str, Quantity] = {"t": TIME, "q": POSITION, "qd": VELOCITY}
    return Algorithm("control", name, law, takes, {"tau": TAU})
