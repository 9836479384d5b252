"""Ways to get a robot: from a file, from a table, from the samples."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeGuard

from hinge import files
from hinge.errors import NOWHERE, ModelError
from hinge.formats.xml import MAX_BYTES
from hinge.loops.equalities import closed
from hinge.model.numbers import numbers
from hinge.model.symbols import is_symbolic
from hinge.robot import Robot
from hinge.robot import samples as samples
from hinge.typing import Numbers

Base = Literal["fixed", "floating"]


def load(
    source: str | bytes | os.PathLike[str],
    base: Base = "fixed",
    mimic: Literal["couple", "free"] = "couple",
    gravity: Sequence[float] | None = None,
    strict: bool = False,
    packages: Sequence[str | os.PathLike[str]] = (),
    loops: bool = False,
) -> Robot:
    """A robot from a URDF, MJCF (.xml) or Denavit-Hartenberg (.toml) file, or from its text; or from a xacro file.

    Bytes are text; a string is, where it has a "<" or a table in it. `base` is "fixed" or "floating"; an MJCF file says
    itself what floats, and "floating" frees the one body that is fixed to its world. Mimic joints follow their
    leader with mimic="couple" and are independent with mimic="free". `gravity` is (0, 0, -9.81) m/s² unless given.
    `strict` refuses a robot with findings. Meshes named by package are looked for under `packages`. A xacro file is a
    program: load only those you trust. With `loops`, the equalities of an MJCF file that connect or weld bodies or tie
    joints become kinematic loops.

    >>> hinge.load('<robot name="r"><link name="a"/></robot>').nv
    0
    """
    searched = [os.fspath(p) for p in packages]
    if is_text(source):
        read, stand = _reader(source, base)
        builder = read(source, packages=searched)
    else:
        path = os.fsdecode(source)
        content = read_file(path)
        if path.endswith(".xacro"):
            from hinge.formats import xacro

            content, path = xacro.expand(path, searched).encode(), f"{path} (expanded)"
        read, stand = _reader(content, base, path)
        builder = read(content, file=path, folder=os.path.dirname(path) or ".", packages=searched)
    if gravity is not None:
        builder.gravity = _gravity(gravity)
    model = builder.build(base=stand, mimic=mimic, strict=strict)
    return Robot(closed(model) if loops else model)


def read_file(path: str) -> bytes:
    """The bytes of a robot file."""
    try:
        return files.read(path, MAX_BYTES)
    except files.TooLarge as problem:
        hint = "A robot file holds no meshes: put large data in files of their own."
        raise ModelError("size", f"{path} cannot be read: {problem.strerror}.", hint) from None
    except (OSError, ValueError) as problem:
        hint = files.nearby(path, (os.path.splitext(path)[1],))
        what = f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}."
        raise ModelError("no-file", what, hint) from None


def is_text(source: str | bytes | os.PathLike[str]) -> TypeGuard[str | bytes]:
    """Whether this is a robot's text, as bytes always are, rather than the path of one."""
    return isinstance(source, bytes) or (isinstance(source, str) and ("<" in source or _is_table(source)))


def _reader(content: str | bytes, base: str, path: str = "") -> tuple[Any, str]:
    """What reads this text, and the base its builder then has: an MJCF file has its own free joints."""
    if path.lower().endswith(".toml") or (not path and _is_table(content)):
        from hinge.formats import dh_file

        return dh_file.read, base
    from hinge.formats.xml import outermost

    if outermost(content) in ("mujoco", "mujocoinclude"):
        from hinge.formats import mjcf

        return functools.partial(mjcf.read, floating=True) if base == "floating" else mjcf.read, "fixed"
    from hinge.formats import urdf

    return urdf.read, base


def _is_table(content: str | bytes) -> bool:
    """Whether a text is a Denavit-Hartenberg file; its reader is brought in only where it may be one."""
    text = content if isinstance(content, str) else content[:MAX_BYTES].decode("utf-8", "replace")
    if "[" not in text:
        return False
    from hinge.formats import dh_file

    return dh_file.is_table(text)


def dh(
    rows: Sequence[Mapping[str, Any]],
    convention: Literal["classic", "modified"] = "classic",
    base: Numbers | None = None,
    tool: Numbers | None = None,
    gravity: Sequence[float] | None = None,
    name: str = "arm",
) -> Robot:
    """An arm from a Denavit-Hartenberg table, a dict a row, in the "classic" or the "modified" convention.

    A row has a, alpha, d, theta (m, rad), type ("revolute", "prismatic", "screw" with pitch, "cylindric"), mass (kg),
    com (m, in the body's frame), inertia (3×3 kg m² about the centre of mass, body axes), and may have name, limits,
    velocity, effort, armature, damping, friction, stiffness, reference, rest, and a screw driven_by. Limits are lower
    and upper; data of a cylindric joint may be a list. `base` and `tool` are 4×4 poses; the hand is the frame "tool".

    >>> hinge.dh([{"a": 1.0, "mass": 1.0}, {"a": 1.0, "mass": 1.0}]).nv
    2
    """
    from hinge.formats import dh as table

    options: dict[str, Any] = {} if gravity is None else {"gravity": _gravity(gravity)}
    return Robot(table.read(rows, convention, base, tool, name, **options).build())


def from_twists(twists: Numbers, pose: Numbers, bodies: Sequence[Mapping[str, Any]] = (),
                references: Numbers | None = None, gravity: Sequence[float] | None = None,
                name: str = "arm") -> Robot:  # fmt: skip
    """A serial arm from the twists (n, 6) of its joints at q = 0, in base coordinates, and the pose of its tool there.

    A twist has an angular part of length one, or none and a linear part of length one. A body is a dict of mass, com
    and inertia (3×3 about the centre of mass) in its own frame, which stands at `references` (n, 4, 4) when q = 0, or
    at the base's; it is the frame "body1", "body2", …; the tool is the frame "tool".

    >>> hinge.from_twists([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0]], np.eye(4)).nv
    2
    """
    from hinge.geometry.exponentials import model_from_twists

    options: dict[str, Any] = {} if gravity is None else {"gravity": _gravity(gravity)}
    return Robot(model_from_twists(twists, pose, bodies, references, name, **options))


def _gravity(given: Sequence[float]) -> tuple[float, ...]:
    if is_symbolic(given):
        return numbers("robot", "gravity", given, (3,), NOWHERE)
    try:
        g = tuple(float(x) for x in given)
        if len(g) != 3 or not all(map(math.isfinite, g)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise ModelError(
            "gravity", f"gravity={given!r} is not a vector.", "Give three finite numbers in m/s²."
        ) from None
    return numbers("robot", "gravity", g, (3,), NOWHERE)
