"""Bodies that are alike: runs of them that differ in nothing but numbers, and things taken apart into scalars."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.errors import HingeError
from hinge.graph import Expr, Scalar
from hinge.model import Model
from hinge.model.model import TERMS


class CannotRoll(Exception):
    """What an algorithm does with a body cannot be done for all of a stretch at once."""


# things taken apart into scalars


SCALAR = "a scalar"  # the form of one
PLAIN = (int, bool, str, type(None))  # what is part of a form


@cache
def _slots(kind: Any) -> tuple[str, ...]:
    """The names of the slots that objects of a class have."""
    return tuple(name for base in reversed(kind.__mro__) for name in base.__dict__.get("__slots__", ()))


def apart(thing: Any, scalars: list[Scalar]) -> Any:
    """The form of a thing that is made of scalars, which are appended in order."""
    kind: Any = type(thing)
    if kind is Expr or isinstance(thing, float):
        scalars.append(thing)
        return SCALAR
    if kind in PLAIN:
        return (thing,)
    if isinstance(thing, tuple | list):
        return kind, None, tuple([apart(x, scalars) for x in thing])
    names = _slots(kind) or tuple(getattr(thing, "__dict__", ()))
    if not names and getattr(thing, "__dict__", None) != {}:
        raise CannotRoll(f"a {kind.__name__} is not made of scalars")
    return kind, names, tuple([apart(getattr(thing, name), scalars) for name in names])


def together(form: Any, scalars: Iterator[Scalar]) -> Any:
    """The thing of that form with these scalars."""
    if form == SCALAR:
        return next(scalars)
    if len(form) == 1:
        return form[0]
    kind, names, parts = form
    made = [together(part, scalars) for part in parts]
    if names is None:
        return kind(*made) if hasattr(kind, "_fields") else kind(made)
    thing = object.__new__(kind)
    for name, part in zip(names, made, strict=True):
        object.__setattr__(thing, name, part)
    return thing


# which bodies are alike


def stretches(model: Model, least: int) -> list[range]:
    """The bodies in runs: each stretch of at least so many that are alike, and every other body by itself."""
    runs: list[list[int]] = [[0]]
    before: Any = None
    for i, _ in model.outward():
        kind = _kind(model, i)
        if kind is not None and kind == before:
            runs[-1].append(i)
        else:
            runs.append([i])
        before = kind
    made = []
    for run in runs:
        made += [range(run[0], run[-1] + 1)] if len(run) >= least else [range(i, i + 1) for i in run]
    return made


def _kind(model: Model, i: int) -> Any:
    """What bodies of one stretch have in common; None of a body that is like no other.

    A joint that feels no inertia of its own body may be one that moves nothing, which each has to find out for itself.
    """
    scalars: list[Scalar] = []
    joint, inertia = model.joint[i], model.inertia[i]
    try:
        form = apart(
            [joint, model.placement[i], inertia, [model._term(i, name) for name in TERMS], list(model.slack(i))],
            scalars,
        )
        if i in model.follows or any(type(x) is Expr for x in scalars):
            return None
        S = joint.axes(joint.neutral())
        LDL(plus_diagonal(S.T @ (inertia @ S), model.armature(i)), model.joint_label(i))
    except (CannotRoll, HingeError):
        return None
    return form
