"""Code around kernels reads the numbers of a model in one place, which applies the parameters of a call.

A kernel has parameters as inputs: what is traced may read its model. A file that reads numbers of a model is listed
here with the reason; others use `hinge.calls.numbers`, `robot.limits`, which raises where limits vary, or
`robot.with_values`.
"""

import ast
from pathlib import Path

import hinge

SOURCE = Path(__file__).parents[2] / "src" / "hinge"
TRACED = {"graph", "spatial", "model", "dynamics", "formulations", "constraints", "integrators", "backends"}
AS_IN_THE_FILE = {"formats", "interop", "export", "checking", "cli", "counting"}  # robots as their files have them
NUMBERS = {"data", "inertia", "links", "gravity", "placement"}  # of a model
MODELS = {"model", "tree", "traced"}
READERS = {"joint_limits", "limit_entries", "random_state", "nominal"}
ALLOWED = {
    "calls/controllers.py": "limits in a program; states at which a controller is tried",
    "calls/inputs.py": "the values of parameters that a call leaves out",
    "calls/numbers.py": "the place",
    "calls/operands.py": "the values of parameters that a call leaves out",
    "contact/collision_pairs.py": "which bodies are without mass",
    "contact/laws/energy_bound.py": "in a program",
    "contact/laws/soft_from_file.py": "in a program where numbers vary",
    "contact/laws/soft_parameters.py": "in a program where numbers vary",
    "envs/episode.py": "the values of parameters that a task leaves out",
    "identify/base.py": "states at which the rank of a regressor is found",
    "identify/fitting.py": "the numbers that are fitted",
    "identify/parameters.py": "the numbers that are fitted",
    "planning/ik.py": "limits in a program; random states within limits that are given",
    "robot/constrained.py": "states at which constraints are tried",
    "robot/robot.py": "limits, which raise where they vary; the nominal mass",
    "robot/summary.py": "a robot as it was loaded, as text",
    "contact/joint_impulses.py": "in a program",
    "sim/notes.py": "which joint terms and limits the file has; numbers that vary count as there",
    "sim/on_gpu.py": "the values of parameters that a call leaves out",
    "steps/step.py": "in a program",
    "sim/touching.py": "which joints have a force range, in the file's own words",
    "viewing/cast.py": "of a robot with the numbers of a rollout",
    "viewing/shapes.py": "of a robot with the numbers of a rollout",
}


def reads(path):
    """Whether a file reads numbers of a model."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in NUMBERS and named(node.value) in MODELS:
            return True
        if isinstance(node, ast.Call) and named(node.func) in READERS:
            return True
        if (
            isinstance(node, ast.Call)
            and named(node.func) == "limits"
            and named(getattr(node.func, "value", None)) == "states"
        ):
            return True
    return False


def named(node):
    """The name of a variable, or of an attribute."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def test_numbers_of_a_model_are_read_in_known_places():
    rooms = [room for room in hinge.ROOMS if (SOURCE / room).is_dir() and room not in TRACED | AS_IN_THE_FILE]
    found = {
        path.relative_to(SOURCE).as_posix() for room in rooms for path in (SOURCE / room).rglob("*.py") if reads(path)
    }
    assert found == ALLOWED.keys(), "use hinge.calls.numbers, or say here why the nominal numbers are meant"
