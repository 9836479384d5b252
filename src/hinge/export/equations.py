"""Algorithms of a robot as equations: SymPy objects, text, LaTeX or Python, and what their symbols are called."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from hinge.backends import symbolic
from hinge.calls.target import Target
from hinge.errors import NotCovered, SizeError
from hinge.export.programs import Frames, Options, traced
from hinge.graph import Graph, Program
from hinge.model import Joint, Model, unmoved
from hinge.model.symbols import symbols_of

LONG = 100_000  # parts of an expression that nobody should print


def equations(target: Target, name: str, method: str | None, at: Frames, simplify: bool, shared: bool,
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
    target: Target,
    name: str,
    method: str | None,
    at: Frames,
    digits: int | None,
    options: Options,
    read: bool = True,
) -> Any:
    """In the frames the robot was given in, so that its numbers are those of the file; None where it is too long."""
    return symbolic.textbook(*_named(target, unmoved(target.model), name, method, at, options, read), digits)


def _named(
    target: Target,
    model: Model,
    name: str,
    method: str | None,
    at: Frames,
    options: Options,
    read: bool = True,
) -> tuple[Program, symbolic.Names]:
    """A program and its symbols: for states in general where someone will read it, for all where it will run."""
    program = traced(target, model, name, method, at, options, Graph(paper=read), needs_frame=True)
    return program, symbol_names(target, program)


def page(target: Target, name: str, form: str, method: str | None = None, at: Frames = "", digits: int | None = None,
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
    arrays = [set(map(str, names)) for names in made.values()]
    twice = sorted(n for k, names in enumerate(arrays) for n in names if any(n in one for one in arrays[:k]))
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
            made[one.name] = _all_parameter_names(target)
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
    positions, velocities, used = list[str](), list[str](), set[str]()
    for i in model.leaders:
        at, rates = _unlike(_short(model.joint_name[i]), partial(_both, model.joint[i]), used)
        positions += at
        velocities += rates
    return positions, velocities


def _short(joint: str) -> str:
    """The end of a symbol: a number where the joint is called joint1, its name else."""
    bare = joint.lower().removeprefix("joint").removeprefix("_")
    return bare if bare.isdigit() and joint.lower().startswith("joint") else "_" + re.sub(r"\W+", "_", joint)


def _unlike(stem: str, named: Callable[[str], list[list[str]]], used: set[str]) -> list[list[str]]:
    """Return the names of what begins with a stem, which gets a number where one of them is used already."""
    for k in count(1):
        made = named(stem if k == 1 else f"{stem}_{k}")
        if used.isdisjoint(n for names in made for n in names):
            used.update(n for names in made for n in names)
            return made
    raise AssertionError  # there is no end to the tries


def _both(joint: Joint, end: str) -> list[list[str]]:
    """The ends for the coordinates of a joint, and those for its velocities."""
    return [_spread(end, joint.nq), _spread(end, joint.nv)]


def _spread(end: str, n: int) -> list[str]:
    """An end for each coordinate of a joint; several are numbered from 0."""
    return [f"{end}_{k}" if n > 1 else end for k in range(n)]


LETTERS = {"mass": "m", "com": "c", "inertia": "I", "placement": "T", "gravity": "g"}


def _all_parameter_names(target: Target) -> list[str]:
    """Names for the entries of all parameters; the model's own symbols keep theirs."""
    own = {one.name: symbols_of(target.model)[one.name].args[0] for one in target.vary if one.field == "symbol"}
    used, made = set(map(str, own.values())), list[str]()
    for one in target.vary:
        if one.field == "symbol":
            made.append(own[one.name])
        else:
            made += _unlike(_stem(one), partial(_in_a_list, one), used)[0]
    return made


def _stem(one: Any) -> str:
    """The beginning of a parameter's names."""
    return re.sub(r"\W+", "_", LETTERS.get(one.field, one.field) + (f"_{one.owner}" if one.owner else ""))


def _in_a_list(one: Any, stem: str) -> list[list[str]]:
    return [_parameter_names(stem, one)]


def _parameter_names(stem: str, one: Any) -> list[str]:
    """Names for the entries of a parameter: m_hand, c_hand_x, I_hand_xy, damping_elbow, g_z."""
    if not one.shape:
        return [stem]
    ends = "xyz" if one.field in ("com", "inertia", "gravity") else [str(k) for k in range(one.shape[0])]
    if len(one.shape) == 1:
        return [f"{stem}_{a}" for a in ends]
    symmetric = one.field == "inertia"
    return [f"{stem}_{''.join(sorted((a, b))) if symmetric else a + b}" for a in ends for b in ends]
