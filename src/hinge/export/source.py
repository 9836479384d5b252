"""The program of an algorithm as source text."""

from __future__ import annotations

from hinge import backends
from hinge.backends import c
from hinge.calls.target import Target
from hinge.errors import UnknownName, did_you_mean, one_of
from hinge.export.c_files import c_source
from hinge.export.equations import page
from hinge.export.programs import Frames, Options, traced

LANGUAGES = ("c", "cuda", "latex", "listing", "llvm")


def source(
    target: Target, name: str, language: str, method: str | None, at: Frames, scalar: str, options: Options
) -> str:
    """The program of an algorithm as text."""
    if language not in LANGUAGES:
        raise UnknownName(f"there is no source in {language!r}. {did_you_mean(language, LANGUAGES)}")
    one_of("scalar", scalar, c.REALS)
    if language == "latex":
        return page(target, name, language, method, at, options=options)
    if language == "c":
        return c_source(target, name, method, at, scalar, options)
    if language == "cuda":
        device = backends.device(language)
        program = traced(target, target.traced, name, method, at, options, cost=device.cost)
        return device.source(program, scalar, c.identifier(f"{target.name}_{name}"))
    program = traced(target, target.traced, name, method, at, options)
    if language == "listing":
        return str(program)
    from hinge.backends import llvm

    return llvm.emit(program, llvm.lanes(), {"double": llvm.DOUBLE, "float": llvm.SINGLE}[scalar])
