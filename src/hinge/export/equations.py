"""Algorithms of a robot as equations: SymPy objects, text, LaTeX or Python, and what their symbols are called."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from hinge.backends import symbolic
from hinge.calls.target import Target
from hinge.errors import NotCovered, SizeError
from hinge.export.programs import Options, traced
from hinge.graph import Graph, Program
from hinge.model import Model, unmoved
from hinge.model.symbols import symbols_of

LONG = 100_000  # parts of an expression that nobody should print


def equations(target: Target, name: str, method: str | None, at: str, simplify: bool, shared: bool,
              digits: int | None, options: Options) -> Any:  # fmt: skip
    """An algorithm's results as SymPy objects; with `shared` definitions first."""
    symbolic.sympy_module()
    _digits(digits)
    if shared:
        program, names = _named(target, target.traced, name, method, at, options)
        defined, results = symbolic.definitions(program, names, digits)
        return defined, results if len(results) > 1 else results[0]
    short = _textbook(target, name, method, at, digits, options) if simplify else None
    made = short or symbolic.nested(*_named(target, target.traced, name, method, at, options), digits)
    parts = 0 if short else symbolic.size(made)
    if parts > LONG:
        warnings.warn(
            f"{name} of robot {target.name!r} has {parts:,} parts when it is written out. "
            "equations(…, shared=True) gives it with definitions, in a form that can be printed.",
            stacklevel=3,
        )
    return made if len(made) > 1 else made[0]


def _digits(given: Any) -> None:
    """Refuse what is no number of digits."""
    if given is not None and not (type(given) is int and given > 0):
        raise SizeError(f"digits={given!r} is not known. Give a whole number from 1, or leave it out.")


def _textbook(
    target: Target, name: str, method: str | None, at: str, digits: int | None, options: Options, read: bool = True
) -> Any:
    """In the frames the robot was given in, so that its numbers are those of the file; None where it is too long."""
    return symbolic.textbook(*_named(target, unmoved(target.model), name, method, at, options, read), digits)


def _named(
    target: Target, model: Model, name: str, method: str | None, at: str, options: Options, read: bool = True
) -> tuple[Program, symbolic.Names]:
    """A program and its symbols: for states in general where someone will read it, for all where it will run."""
    program = traced(target, model, name, method, at, options, Graph(paper=read), needs_frame=True)
    return program, symbol_names(target, program)


def page(target: Target, name: str, form: str, method: str | None = None, at: str = "", digits: int | None = None,
         options: Options | None = None) -> str:  # fmt: skip
    """The equations of an algorithm as text, as LaTeX, or as a function in Python; long ones with definitions first."""
    symbolic.sympy_module()
    _digits(digits)
    read, options = form != "python", options or {}
    program, names = _named(target, target.traced, name, method, at, options, read)
    defined: list[tuple[Any, Any]] = []
    made = _textbook(target, name, method, at, digits, options, read)
    if made is None:
        defined, made = symbolic.definitions(program, names, digits)
    labels = [output.name for output in program.outputs]
    if form == "python":
        return symbolic.python(name, {one.name: names[one.name] for one in program.inputs}, defined, made)
    return symbolic.lines(labels, defined, made, form == "latex", _ends(target)[1])


def symbol_names(target: Target, program: Program) -> dict[str, list[str]]:
    """What the entries of each input are called: q_elbow, qdot_elbow, qddot_elbow, tau_elbow, and the parameters."""
    made = _entry_names(target, program)
    coordinates = [n for array, names in made.items() for n in names if array != "parameters"]
    twice = sorted(set(coordinates) & set(map(str, made.get("parameters", ()))))
    if twice:
        raise NotCovered(
            f"{twice[0]!r} is a symbol of robot {target.name!r}, and the name of one of its coordinates.\n"
            "  Rename the symbol."
        )
    return made


def _entry_names(target: Target, program: Program) -> dict[str, list[str]]:
    positions, velocities = _ends(target)
    letters = {"qd": "qdot", "qdd": "qddot", "qdd_joints": "qddot"}
    made = {}
    for one in program.inputs:
        letter = letters.get(one.name, one.name)
        if one.name == "parameters":
            made[one.name] = [n for p in target.vary for n in _parameter_names(target.model, p)]
        elif one.size == len(positions) and one.name in ("q", "q0", "q1"):
            made[one.name] = [f"{letter}{end}" for end in positions]
        elif one.size == len(velocities):
            made[one.name] = [f"{letter}{end}" for end in velocities]
        else:
            made[one.name] = [f"{letter}_{k}" for k in range(one.size)]
    return made


def _ends(target: Target) -> tuple[list[str], list[str]]:
    """What the names of coordinates and of velocities end in."""
    model = target.model
    ends = _unlike([_short(model.joint_name[i]) for i in model.leaders])
    joints = list(zip(model.leaders, ends, strict=True))
    nq, nv = ([(short, getattr(model.joint[i], n)) for i, short in joints] for n in ("nq", "nv"))
    return _spread(nq), _spread(nv)


def _short(joint: str) -> str:
    """The end of a symbol: a number where the joint is called joint1, its name else."""
    bare = joint.lower().removeprefix("joint").removeprefix("_")
    return bare if bare.isdigit() and joint.lower().startswith("joint") else "_" + re.sub(r"\W+", "_", joint)


def _unlike(names: Sequence[str]) -> list[str]:
    """The names, with a number after those that are there already."""
    made: list[str] = []
    for name in names:
        tries = (name, *(f"{name}_{k}" for k in range(2, len(names) + 2)))
        made.append(next(n for n in tries if n not in made))
    return made


def _spread(joints: Any) -> list[str]:
    """An end for each coordinate; those of a joint with several are numbered from 0."""
    return [f"{short}_{k}" if n > 1 else short for short, n in joints for k in range(n)]


LETTERS = {"mass": "m", "com": "c", "inertia": "I", "placement": "T", "gravity": "g"}


def _parameter_names(model: Model, one: Any) -> list[str]:
    """Names for the entries of a parameter: m_hand, c_hand_x, I_hand_xy, damping_elbow, g_z; a symbol has its own."""
    if one.field == "symbol":
        return [symbols_of(model)[one.name].args[0]]
    stem = re.sub(r"\W+", "_", LETTERS.get(one.field, one.field) + (f"_{one.owner}" if one.owner else ""))
    if not one.shape:
        return [stem]
    ends = "xyz" if one.field in ("com", "inertia", "gravity") else [str(k) for k in range(one.shape[0])]
    if len(one.shape) == 1:
        return [f"{stem}_{a}" for a in ends]
    symmetric = one.field == "inertia"
    return [f"{stem}_{''.join(sorted((a, b))) if symmetric else a + b}" for a in ends for b in ends]
