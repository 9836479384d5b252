"""A robot's programs on paper: as source text, as C files, and as equations."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from hinge import dynamics
from hinge.backends import c, interpret, symbolic
from hinge.calls import inputs
from hinge.calls.request import Request, trace
from hinge.calls.target import Target
from hinge.dynamics.located import located
from hinge.dynamics.registry import KNOWN, PLACE, POSITION, Algorithm, At
from hinge.errors import FileFault, NotCovered, SizeError, UnknownName, did_you_mean, one_of
from hinge.graph import Graph, Program
from hinge.model import Model, unmoved
from hinge.model.states import random_state
from hinge.model.symbols import symbols_of

Options = Mapping[str, Any]  # of the algorithm, and joint_terms
LANGUAGES = ("c", "latex", "listing", "llvm")
LONG = 100_000  # parts of an expression that nobody should print
EXPORTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


def source(target: Target, name: str, language: str, method: str | None, at: str, scalar: str,
           options: Options) -> str:  # fmt: skip
    """The program of an algorithm as text."""
    if language not in LANGUAGES:
        raise UnknownName(f"there is no source in {language!r}. {did_you_mean(language, LANGUAGES)}")
    one_of("scalar", scalar, c.REALS)
    if language == "latex":
        return page(target, name, language, method, at, options=options)
    if language == "c":
        prefix, head, routines = _c(target, [name], method, at, options)
        real = c.REALS[scalar]
        return c.header(prefix, head, _sizes(target.model), routines, real) + "\n" + c.code(routines, real)
    program = _traced(target, target.traced, name, method, at, options)
    if language == "listing":
        return str(program)
    from hinge.backends import llvm

    return llvm.emit(program, llvm.lanes(), {"double": llvm.DOUBLE, "float": llvm.SINGLE}[scalar])


def _traced(target: Target, model: Model, name: str, method: str | None, at: str, options: Options,
            graph: Graph | None = None, needs_frame: bool = False) -> Program:  # fmt: skip
    """The program that runs, or where a graph is given the one that is written down, made there."""
    algorithm = dynamics.choose(target.model, name, method, paper=graph is not None)
    if at:
        if not algorithm.asks_for_a_frame:
            raise UnknownName(f"{name} is not about a frame, so at={at!r} says nothing. Leave it out.")
        model.frame(at)
    elif needs_frame and algorithm.asks_for_a_frame:
        raise UnknownName(f"{name} is about a frame: give at=. {did_you_mean('', model.frames)}")
    chosen = inputs.options(algorithm, {k: x for k, x in options.items() if k != "joint_terms"})
    terms = inputs.terms(options.get("joint_terms", ("armature",)))
    places = tuple((n, At((at,))) for n, quantity in algorithm.inputs.items() if at and quantity is PLACE)
    if graph is not None:
        model = replace(model, terms=terms)
        first = located(algorithm, dict(places))
        return first.trace(model, options=chosen, contract=False, vary=target.vary, graph=graph, guard=False)
    request = Request(name, method, options=tuple(sorted(chosen.items())), terms=terms, places=places)
    return trace(request, target)[1]


# C


def c_files(target: Target, names: Sequence[str] = EXPORTED, scalar: str = "double", method: str | None = None,
            at: str = "") -> dict[str, str]:  # fmt: skip
    """File name → text: a header, the functions, and a program that tries them."""
    prefix, head, routines = _c(target, names, method, at, {})
    real = c.REALS[scalar]
    return {
        f"{prefix}.h": c.header(prefix, head, _sizes(target.model), routines, real),
        f"{prefix}.c": f'#include "{prefix}.h"\n' + c.code(routines, real),
        f"{prefix}_test.c": c.test_main(prefix, routines, real),
    }


def c_text(target: Target, algorithm: Algorithm, program: Program, scalar: str) -> str:
    """The program of an algorithm that is in no registry, as a C function with its header."""
    one_of("scalar", scalar, c.REALS)
    prefix, real = c.identifier(target.name), c.REALS[scalar]
    routines = [_routine(target, f"{prefix}_{c.identifier(algorithm.name)}", algorithm, program, "")]
    return c.header(prefix, _about(target), _sizes(target.model), routines, real) + "\n" + c.code(routines, real)


def put(folder: str, files: Mapping[str, str], force: bool = False) -> list[str]:
    """Write files into a folder, which is made if need be; what is there already stays unless `force` says so."""
    paths = {os.path.join(folder, name): text for name, text in files.items()}
    there = [path for path in paths if os.path.lexists(path)]
    if there and not force:
        raise FileFault(f"{there[0]} is there already.\n  Choose another folder, or overwrite it with --force.")
    try:
        os.makedirs(folder, exist_ok=True)
        for path, text in paths.items():
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as problem:
        raise FileFault(f"{problem.filename or folder} cannot be written: {problem.strerror or problem}.\n"
                        "  Choose a folder you may write to.") from None  # fmt: skip
    return list(paths)


def _sizes(model: Model) -> list[tuple[str, int]]:
    return [("NQ", model.nq), ("NV", model.nv)]


def _c(target: Target, names: Sequence[str], method: str | None, at: str,
       options: Options) -> tuple[str, list[str], list[c.Routine]]:  # fmt: skip
    prefix = c.identifier(target.name)
    routines = []
    for name in dict.fromkeys(names):
        algorithm = dynamics.choose(target.model, name, method)
        about = at if algorithm.asks_for_a_frame else ""
        program = _traced(target, target.traced, name, method, about, options, needs_frame=True)
        routines.append(_routine(target, f"{prefix}_{c.identifier(name)}", algorithm, program, about))
    return prefix, _about(target), routines


def _routine(target: Target, name: str, algorithm: Algorithm, program: Program, at: str) -> c.Routine:
    """A program with the words that go into its header, and a state to try it on."""
    words = {n: q.what for n, q in algorithm.inputs.items()}
    words |= {"parameters": _parameter_words(target), "prescribed": "values, rates, accelerations of the driven joints"}
    taken = [c.Array(c.identifier(one.name), one.size, words[one.name]) for one in program.inputs]
    used = {a.name for a in taken}
    given = []
    for output, quantity in zip(program.outputs, algorithm.returns.values(), strict=True):
        called = "out" if len(program.outputs) == 1 else c.identifier(output.name)
        shape = "" if len(output.shape) < 2 else f", {output.shape[0]} × {output.shape[1]} row by row"
        given.append(
            c.Array(called if called not in used else f"{called}_out", prod(output.shape), quantity.what + shape)
        )
    first = next(iter((algorithm.function.__doc__ or algorithm.name).splitlines()))
    state = _state(target, algorithm, program)
    expected = tuple(np.empty((1, a.size)) for a in given)
    interpret.run(program, [row[None] for row in state], expected)
    about = f" Of the frame {at!r}." if at else ""
    title = f"{algorithm.name}, method {algorithm.method}. {first}{about}"
    return c.Routine(name, program, tuple(taken), tuple(given), title, state, expected)


def _state(target: Target, algorithm: Algorithm, program: Program) -> tuple[np.ndarray, ...]:
    """A state in the middle of nowhere, in numbers that single precision has too."""
    rng = np.random.default_rng(0)
    rows = []
    for one in program.inputs:
        quantity = algorithm.inputs.get(one.name)
        if quantity is POSITION:
            row = random_state(target.model, rng, 1)[0][0]
        elif quantity is KNOWN:
            row = np.arange(one.size) % 2.0
        elif one.name == "parameters" and quantity is None:
            row = np.concatenate([_value(target, p, k) for k, p in enumerate(target.vary)])
        else:
            row = rng.normal(size=one.size)
        rows.append(row.astype(np.float32).astype(np.float64))
    return tuple(rows)


def _value(target: Target, parameter: Any, k: int) -> np.ndarray:
    """The nominal value of a parameter; a symbol has none, and any will do to try the code."""
    return np.array([1.0 + 0.125 * k]) if parameter.field == "symbol" else parameter.nominal(target.model).reshape(-1)


def _parameter_words(target: Target) -> str:
    return ", ".join(f"{p.name} ({p.size})" if p.size > 1 else p.name for p in target.vary)


def _about(target: Target) -> list[str]:
    """What stands above everything in a header."""
    model, bodies = target.model, target.model.leaders
    lines = [
        f"Dynamics of {target.name!r}, written by hinge.", "",
        "Units are m, kg, s, rad, N and N m; frames are right-handed, z up. Spatial motions are [angular; linear],",
        "forces [couple; force]. Quaternions are scalar first and of any length. Matrices are row by row. An array",
        "holds one state. Nothing is allocated and nothing is kept between calls; no array may overlap an output.",
        "A state that has no answer gives NaN.", "",
        f"Gravity is ({', '.join(_shown(x) for x in model.gravity)}) m/s².", "Joints, and where they are in q and qd:",
    ]  # fmt: skip
    width = max((len(model.joint_name[i]) for i in range(1, len(model.parent))), default=0)
    for i in bodies:
        q, v = model.slices[i]
        lines.append(f"  {model.joint_name[i]:<{width}}  {model.joint[i].kind:<12} q{_span(q)}  qd{_span(v)}")
    for i, follow in model.follows.items():
        leader = model.joint_name[follow.leader]
        lines.append(f"  {model.joint_name[i]:<{width}}  is {follow.ratio!r} × {leader} + {follow.offset!r}")
    return lines


def _span(at: slice) -> str:
    return f"[{at.start}]" if at.stop - at.start == 1 else f"[{at.start}..{at.stop - 1}]"


def _shown(x: Any) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)


# equations


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
        warnings.warn(f"{name} of robot {target.name!r} has {parts:,} parts when it is written out. "
                      "equations(…, shared=True) gives it with definitions, in a form that can be printed.",
                      stacklevel=3)  # fmt: skip
    return made if len(made) > 1 else made[0]


def _digits(given: Any) -> None:
    """Refuse what is no number of digits."""
    if given is not None and not (type(given) is int and given > 0):
        raise SizeError(f"digits={given!r} is not known. Give a whole number from 1, or leave it out.")


def _textbook(target: Target, name: str, method: str | None, at: str, digits: int | None, options: Options,
              read: bool = True) -> Any:  # fmt: skip
    """In the frames the robot was given in, so that its numbers are those of the file; None where it is too long."""
    return symbolic.textbook(*_named(target, unmoved(target.model), name, method, at, options, read), digits)


def _named(target: Target, model: Model, name: str, method: str | None, at: str, options: Options,
           read: bool = True) -> tuple[Program, symbolic.Names]:  # fmt: skip
    """A program and its symbols: for states in general where someone will read it, for all where it will run."""
    program = _traced(target, model, name, method, at, options, Graph(paper=read), needs_frame=True)
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
        raise NotCovered(f"{twice[0]!r} is a symbol of robot {target.name!r}, and the name of one of its coordinates.\n"
                         "  Rename the symbol.")  # fmt: skip
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
