"""Everything hinge can complain about.

    HingeError
    ├── ModelError       a robot that cannot be: carries a stable code, the file and the line
    ├── SizeError        an array of the wrong shape
    ├── UnknownName      a body, frame, joint, method or back end that is not there (did you mean …?)
    ├── NotCovered       a method that cannot treat this robot, by joint name
    ├── GeometryError    a matrix that is no pose, a twist that has no axis, vectors that do not span
    ├── PathError        a path that cannot be followed within the limits: carries s and the joint
    ├── TrajectoryError  a saved simulation that cannot be read or written
    ├── SweepError       a sweep whose store holds another one, or whose workers cannot do it
    ├── LogError         a log that cannot be read or written (UnwrittenLog), or lacks a column
    ├── ExcitationError  a measured motion that does not show what is asked of it, by parameter
    ├── ViewError        a page that cannot be served to a browser
    ├── DeviceError      a GPU that is not there, cannot be used, or has no memory left
    ├── FileFault        a file that cannot be written, or is there already
    └── TraceError       a traced value used where a number is needed, or a motion mixed with a force

Each message says where, what was given, what was wanted and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Where:
    """A place in a robot file; printed as ``panda.urdf:142: ``, ``line 142: ``, or nothing."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if not self.file:
            return f"line {self.line}: " if self.line else ""
        return f"{self.file}:{self.line}: " if self.line else f"{self.file}: "


NOWHERE = Where()


class HingeError(Exception):
    """The root of all errors raised by hinge."""


class ModelError(HingeError, ValueError):
    """A robot description that cannot be a robot.

    `code` is a stable word for programs, `file` and `line` say where the fault is written, and `hint` what to do.
    """

    def __init__(self, code: str, what: str, hint: str = "", where: Where = NOWHERE):
        self.code, self.what, self.hint, self.where = code, what, hint, where
        self.file, self.line = where.file, where.line
        super().__init__(f"{where}{what}" + (f"\n  {hint}" if hint else ""))

    def __reduce__(self) -> tuple[type[ModelError], tuple[str, str, str, Where]]:
        return type(self), (self.code, self.what, self.hint, self.where)


class SizeError(HingeError, ValueError):
    """An array whose shape does not fit the robot."""


class UnknownName(HingeError, KeyError):
    """A name that the robot, or hinge, does not have."""

    def __str__(self) -> str:
        return str(self.args[0])


class NotCovered(HingeError, ValueError):
    """A method asked to treat a robot it does not cover."""


class GeometryError(HingeError, ValueError):
    """A matrix that is not in SE(3), a screw without an axis, a space that is not what it has to be."""


class PathError(HingeError, ValueError):
    """A path that the robot cannot follow within its limits: `s` says where, and `joint` names the one that cannot."""

    def __init__(self, what: str, s: float = float("nan"), joint: str = ""):
        self.s, self.joint = s, joint
        super().__init__(what)


class TrajectoryError(HingeError, ValueError):
    """A saved trajectory that is damaged, of another version, or cannot be put where it is wanted."""

    def __init__(self, what: str, hint: str = ""):
        super().__init__(what + (f"\n  {hint}" if hint else ""))


class CannotWrite(TrajectoryError):
    """A trajectory that cannot be written, or not to its end: a run stops and keeps what it has."""


class SweepError(HingeError, RuntimeError):
    """A sweep that cannot be begun or gone on with: its store, or one of its workers, is not what it has to be."""

    def __init__(self, what: str, hint: str = ""):
        super().__init__(what + (f"\n  {hint}" if hint else ""))


class LogError(HingeError, ValueError):
    """A table of states that cannot be read or written, or does not have what is asked of it."""

    def __init__(self, what: str, hint: str = ""):
        super().__init__(what + (f"\n  {hint}" if hint else ""))


class UnwrittenLog(LogError):
    """A log that cannot be written, or not to its end."""


class ExcitationError(HingeError, ValueError):
    """A measured motion that leaves parameters undetermined; `names` has them."""

    def __init__(self, what: str, names: Iterable[str] = ()):
        self.what, self.names = what, tuple(names)
        super().__init__(what)

    def __reduce__(self) -> tuple[type[ExcitationError], tuple[str, tuple[str, ...]]]:
        return type(self), (self.what, self.names)


class ViewError(HingeError, RuntimeError):
    """A page that cannot be served."""


class DeviceError(HingeError, RuntimeError):
    """A GPU, its driver or its compiler that is not there, or memory that it does not have."""


class FileFault(HingeError, OSError):
    """A file that cannot be written, or that would be overwritten."""


class TraceError(HingeError, TypeError):
    """An operation that has no meaning on these operands."""


def one_of(what: str, given: object, words: Collection[str]) -> None:
    """Raise where a word is not one of those that are known; `what` is its keyword, and whose it is."""
    if not isinstance(given, str) or given not in words:
        raise UnknownName(f"{what}={given!r} is not known. {did_you_mean(str(given), words)}")


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """A sentence that offers the names closest to `given`, or lists a few of those there are."""
    names = sorted(set(known))
    short = [name for name in names if len(name) <= 60][:2000]  # what a person wrote; comparing takes long
    close = difflib.get_close_matches(str(given)[:60], short, n=3, cutoff=0.6)
    if not close and len(part := str(given).lower()) > 2:  # 'hand' for 'panda_hand', 'lf_foot' for 'LF_FOOT'
        close = sorted((name for name in short if part in name.lower()), key=len)[:3]
    if close:
        return "Did you mean " + " or ".join(repr(name) for name in close) + "?"
    if not names:
        return "There are none."
    return "Known: " + ", ".join(repr(name[:60]) for name in names[:8]) + (", …" if len(names) > 8 else "") + "."
