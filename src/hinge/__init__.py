"""hinge: robot dynamics, traced once and compiled.

    import hinge
    robot = hinge.load("panda.urdf")
    tau = robot.inverse_dynamics(q, qd, qdd)

Importing hinge loads nothing else; each name below brings in what it needs when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hinge.version import __version__ as __version__

if TYPE_CHECKING:
    # isort: off
    from hinge import (
        arguments as arguments, backends as backends, calls as calls, checking as checking, cli as cli,
        constraints as constraints, contact as contact, control as control, counting as counting,
        dynamics as dynamics, envs as envs, errors as errors, export as export, files as files, formats as formats,
        formulations as formulations, geometry as geometry, graph as graph, identify as identify,
        integrators as integrators, interop as interop, keys as keys, logs as logs, loops as loops, model as model,
        motion as motion, notebook as notebook, optimal as optimal, planning as planning, robot as robot, sim as sim,
        spatial as spatial, status as status, steps as steps, sweeps as sweeps, typing as typing, viewing as viewing,
    )  # fmt: skip

    # isort: on
    from hinge.backends.symbolic import latex
    from hinge.backends.threads import set_threads
    from hinge.calls.functions import gradient, jacobian
    from hinge.checking import Diagnosis, Proof, check
    from hinge.checking.repairs import repair
    from hinge.contact import (
        Contact,
        ContactState,
        Ground,
        contact_forces,
        contact_sets,
        edge_contact,
        friction_forces,
        impact_projection,
        patch_contact,
        polygon_contact,
        two_body_impact,
    )
    from hinge.counting import Approximation, approximate
    from hinge.errors import (
        DeviceError,
        ExcitationError,
        FileFault,
        GeometryError,
        HingeError,
        LogError,
        ModelError,
        NotCovered,
        PathError,
        SizeError,
        SweepError,
        TraceError,
        TrajectoryError,
        UnknownName,
        ViewError,
    )
    from hinge.model import Builder, Joint
    from hinge.model.joint_laws import check_joint
    from hinge.motion import MotionCheck, check_motion
    from hinge.planning import (
        Accelerations,
        Reached,
        Timed,
        hand_accelerations,
        inverse_kinematics,
        time_optimal,
        time_uniform,
    )
    from hinge.robot import Robot
    from hinge.robot.constrained import Constrained, constrain
    from hinge.robot.loading import dh, from_twists, load, samples
    from hinge.robot.scene import Scene
    from hinge.robot.writing import write
    from hinge.sim import Trajectory, open, rollout, simulate
    from hinge.sim.contact_events import simulate_contacts
    from hinge.status import Status
    from hinge.sweeps import sweep
    from hinge.viewing import Page, view
    from hinge.viewing.film import film


_HOME = {
    # a robot
    "Robot": "robot", "load": "robot.loading", "dh": "robot.loading", "samples": "robot.loading",
    "from_twists": "robot.loading", "write": "robot.writing",
    "Builder": "model", "Joint": "model", "check_joint": "model.joint_laws",
    "view": "viewing", "film": "viewing", "Page": "viewing",
    "check": "checking", "Diagnosis": "checking", "Proof": "checking", "repair": "checking",
    "approximate": "counting", "Approximation": "counting",
    "constrain": "robot.constrained", "Constrained": "robot.constrained",
    # touching
    "Contact": "contact", "Ground": "contact", "contact_forces": "contact", "contact_sets": "contact",
    "edge_contact": "contact", "polygon_contact": "contact", "patch_contact": "contact", "ContactState": "contact",
    "impact_projection": "contact", "two_body_impact": "contact", "friction_forces": "contact", "Scene": "robot.scene",
    # in time
    "check_motion": "motion", "MotionCheck": "motion",
    "simulate": "sim", "rollout": "sim", "open": "sim", "Trajectory": "sim",
    "simulate_contacts": "sim.contact_events", "sweep": "sweeps",
    # where to, and how fast
    "inverse_kinematics": "planning", "Reached": "planning", "hand_accelerations": "planning",
    "Accelerations": "planning", "time_optimal": "planning", "time_uniform": "planning", "Timed": "planning",
    # derivatives of functions
    "gradient": "calls.functions", "jacobian": "calls.functions",
    # how it runs
    "set_threads": "backends.threads", "Status": "status",
    # on paper
    "latex": "backends.symbolic",
    # what can go wrong
    "HingeError": "errors", "ModelError": "errors", "SizeError": "errors", "UnknownName": "errors",
    "NotCovered": "errors", "FileFault": "errors", "GeometryError": "errors", "TraceError": "errors",
    "TrajectoryError": "errors", "SweepError": "errors", "PathError": "errors", "LogError": "errors",
    "ExcitationError": "errors", "ViewError": "errors", "DeviceError": "errors",
}  # fmt: skip
ROOMS = (  # the way of the data: a room imports those before it, and none after
    "version", "typing", "errors", "files", "arguments", "notebook", "status", "keys",
    "graph", "spatial", "model", "formats", "dynamics", "formulations", "constraints", "integrators", "backends",
    "calls", "loops", "geometry", "contact", "steps", "export", "robot",
    "interop", "checking", "counting", "sim", "sweeps", "logs", "motion", "identify", "control", "planning",
    "optimal", "envs", "viewing", "cli",
)  # fmt: skip

__all__ = [  # noqa: RUF022  grouped, not sorted
    "Robot", "load", "dh", "from_twists", "samples", "write", "Builder", "Joint", "check_joint",
    "view", "film", "Page", "check", "Diagnosis", "Proof", "repair", "approximate", "Approximation",
    "constrain", "Constrained",
    "Contact", "Ground", "contact_forces", "contact_sets", "edge_contact", "polygon_contact", "patch_contact",
    "ContactState", "impact_projection", "two_body_impact", "friction_forces", "Scene",
    "check_motion", "MotionCheck", "rollout", "simulate", "open", "Trajectory", "simulate_contacts", "sweep",
    "inverse_kinematics", "Reached", "hand_accelerations", "Accelerations", "time_optimal", "time_uniform", "Timed",
    "gradient", "jacobian", "set_threads", "Status", "latex",
    "HingeError", "ModelError", "SizeError", "UnknownName", "NotCovered", "FileFault", "GeometryError", "SweepError",
    "TraceError", "TrajectoryError", "PathError", "LogError", "ExcitationError", "ViewError", "DeviceError",
]  # fmt: skip


if not TYPE_CHECKING:  # who checks types sees the imports above, and what is none of them

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            found = getattr(import_module(f"hinge.{_HOME[name]}"), name)
            globals()[name] = found
            return found
        if name in ROOMS:
            return import_module(f"hinge.{name}")
        raise AttributeError(f"module 'hinge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__", *ROOMS]
