"""What shapes, joints and the file say of contacts, constraints and simulation, where it is not MuJoCo's default."""

from __future__ import annotations

from typing import Any

from hinge.formats.write.text import Tag, number, row
from hinge.model.file_physics import FIRM, JointPhysics, Options, Softness, Surface

Words = dict[str, str | None]
SURFACE = ("contype", "conaffinity", "condim", "priority", "friction", "solmix", "margin", "gap")
OPTIONS = ("timestep", "integrator", "cone", "solver", "impratio", "iterations", "tolerance", "ls_iterations",
           "ls_tolerance", "noslip_iterations")  # fmt: skip


def surface_words(surface: Surface | None) -> Words:
    """How a geom touches others."""
    if surface is None:
        return {}
    return _others(surface, Surface(), SURFACE) | _soft(surface.softness) | dict(surface.unsimulated)


def joint_words(physics: JointPhysics) -> Words:
    """How the constraints of a joint give way, and what may drive it."""
    made = _soft(physics.limit, "limit") | _soft(physics.friction, "friction") | _others(physics, FIRM, ("margin",))
    if physics.force is not None:
        made["actuatorfrcrange"] = row(physics.force)
    if physics.lifted:
        made["actuatorgravcomp"] = "true"
    return made | dict(physics.unsimulated)


def option(options: Options, gravity: tuple[float, ...]) -> Tag:
    """How the file wants to be simulated; gravity that is switched off is written as none."""
    flags: Words = {name: "disable" for name in options.disabled if name != "gravity" or not any(gravity)}
    flags |= dict.fromkeys(options.enabled, "enable")
    words: Words = {"gravity": row(gravity), **dict(options.unsimulated)}
    return Tag("option", words | _others(options, Options(), OPTIONS), [Tag("flag", flags)] if flags else [])


def _others(said: Any, default: Any, names: tuple[str, ...]) -> Words:
    """The attributes that are not the default."""
    return {name: _text(getattr(said, name)) for name in names if getattr(said, name) != getattr(default, name)}


def _soft(softness: Softness, ending: str = "") -> Words:
    return {f"{name}{ending}": text for name, text in _others(softness, Softness(), ("solref", "solimp")).items()}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return row(value) if isinstance(value, tuple) else number(value)
