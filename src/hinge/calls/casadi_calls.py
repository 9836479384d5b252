"""Algorithms as functions of CasADi: the words of a call are checked before CasADi is imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hinge.calls.call import DEFAULT_TERMS, Call
from hinge.calls.inputs import frames_of_inputs
from hinge.calls.target import Target
from hinge.dynamics import choose
from hinge.errors import NotCovered, UnknownName, did_you_mean
from hinge.model.driven import sizes


def casadi(target: Target, name: str, method: str | None = None, given: Sequence[str] = (),
           joint_terms: Sequence[str] = DEFAULT_TERMS, at: str | Sequence[str] = (),
           **options: str) -> Any:  # fmt: skip
    """An algorithm as a function of CasADi, compiled, with exact derivatives of every order: for solvers of your own.

    It takes and gives what `kernel` with these words does, vectors as columns, and last the `parameters` of a robot
    that varies, one after another. Derivatives by q are by its nq numbers, those of quaternions among them.
    f.map(n) takes n states in one call; f.expand() is the same in expressions of CasADi (SX), of which CasADi writes C.
    CasADi does not keep alive what it calls, so a function lives as long as the process.

    >>> f = hinge.samples.planar_2r().casadi("forward_dynamics")  # doctest: +SKIP
    >>> f.jacobian()([0.1, 0.2], [0.0, 0.0], [1.0, 2.0], 0)[0].shape  # doctest: +SKIP
    (2, 2)
    """
    if choose(target.model, name, method).asks_for_a_frame and not at:
        raise UnknownName(f"{name} is about a frame: give at=. {did_you_mean('', target.model.frames)}")
    frames = frames_of_inputs(target.model, name, at)
    call = Call.parse(target, name, frames, method=method, optional=given, joint_terms=joint_terms, options=options)
    if any(sizes(target.model)):
        raise NotCovered(
            f"casadi: robot {target.name!r} has driven joints, and there are no derivatives by their motion.\n"
            "  Take the robot without prescribe."
        )
    try:
        from hinge.calls.casadi_functions import Function
    except ModuleNotFoundError as why:
        if why.name != "casadi":
            raise
        raise NotCovered(
            'functions of CasADi need CasADi, which is not installed.\n  pip install "hinge[casadi]"'
        ) from None
    return Function.of(call)
