"""Algorithms of a robot as C: functions, a header that says what they take, and a program that tries them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from hinge import dynamics, files
from hinge.backends import c, interpret
from hinge.calls.call import OPERATIONS
from hinge.calls.target import Target
from hinge.dynamics.registry import KNOWN, POSITION, Algorithm
from hinge.errors import FileFault, one_of
from hinge.export.programs import Frames, Options, traced
from hinge.graph import Program
from hinge.model import Model
from hinge.model.states import random_state

EXPORTED = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


def c_files(
    target: Target,
    names: Sequence[str] = EXPORTED,
    scalar: str = "double",
    method: str | None = None,
    at: Frames = "",
) -> dict[str, str]:
    """File name → text: a header, the functions, and a program that tries them."""
    prefix, made = routines(target, names, method, at, {})
    real = c.REALS[scalar]
    return {
        f"{prefix}.h": c.header(prefix, about(target), sizes(target.model), made, real),
        f"{prefix}.c": f'#include "{prefix}.h"\n' + c.code(made, real),
        f"{prefix}_test.c": c.test_main(prefix, made, real),
    }


def c_source(target: Target, name: str, method: str | None, at: Frames, scalar: str, options: Options) -> str:
    """An algorithm as C functions with their header, in one text."""
    prefix, made = routines(target, [name], method, at, options)
    real = c.REALS[scalar]
    return c.header(prefix, about(target), sizes(target.model), made, real) + "\n" + c.code(made, real)


def c_text(target: Target, algorithm: Algorithm, program: Program, scalar: str) -> str:
    """The program of an algorithm that is in no registry, as a C function with its header."""
    one_of("scalar", scalar, c.REALS)
    prefix, real = c.identifier(target.name), c.REALS[scalar]
    made = [_routine(target, f"{prefix}_{c.identifier(algorithm.name)}", algorithm, program, "")]
    return c.header(prefix, about(target), sizes(target.model), made, real) + "\n" + c.code(made, real)


def put(folder: str, texts: Mapping[str, str], force: bool = False) -> list[str]:
    """Write files into a folder, which is made if need be; what is there already stays unless `force` says so."""
    paths = {os.path.join(folder, name): text.encode() for name, text in texts.items()}
    there = [path for path in paths if os.path.lexists(path)]
    if there and not force:
        raise FileFault(f"{there[0]} is there already.\n  Choose another folder, or overwrite it with --force.")
    try:
        os.makedirs(folder, exist_ok=True)
        files.replace(paths)
    except OSError as problem:
        raise FileFault("\n  ".join(files.unwritten(folder, problem))) from None
    return list(paths)


def sizes(model: Model) -> list[tuple[str, int]]:
    """What a header defines."""
    return [("NQ", model.nq), ("NV", model.nv)]


def routines(target: Target, names: Sequence[str], method: str | None, at: Frames, options: Options,
             cost: Callable[[Program], float] = OPERATIONS) -> tuple[str, list[c.Routine]]:  # fmt: skip
    """What all names begin with, and the programs of algorithms with the words of a header."""
    prefix = c.identifier(target.name)
    made = []
    for name in dict.fromkeys(names):
        algorithm = dynamics.choose(target.model, name, method)
        about = at if algorithm.asks_for_a_frame else ""
        program = traced(target, target.traced, name, method, about, options, needs_frame=True, cost=cost)
        made.append(_routine(target, f"{prefix}_{c.identifier(name)}", algorithm, program, about))
    return prefix, made


def _routine(target: Target, name: str, algorithm: Algorithm, program: Program, at: Frames) -> c.Routine:
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
    frames = [at] if isinstance(at, str) else at
    about = f" Of the frame{'s' * (len(frames) > 1)} {' and '.join(map(repr, frames))}." if at else ""
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


ARRAYS = (
    "An array holds one state. Nothing is allocated and nothing is kept between calls; no array may overlap an output.",
    "A state that has no answer gives NaN.",
)


def about(target: Target, arrays: Sequence[str] = ARRAYS) -> list[str]:
    """What stands above everything in a header."""
    model, bodies = target.model, target.model.leaders
    lines = [
        f"Dynamics of {target.name!r}, written by hinge.", "",
        "Units are m, kg, s, rad, N and N m; frames are right-handed, z up. Spatial motions are [angular; linear],",
        "forces [couple; force]. Quaternions are scalar first and of any length. Matrices are row by row.", *arrays, "",
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
