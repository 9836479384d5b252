"""xacro into URDF text, by the packages xacrodoc and xacro.

For trusted input only: a xacro file holds Python expressions, which are evaluated, and may include any file. Lines in
messages are those of the expanded text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from xml.parsers.expat import ExpatError

from hinge.errors import ModelError, Where


def expand(path: str, packages: Sequence[str] = ()) -> str:
    """The URDF text a xacro file stands for; `$(find NAME)` looks above the file and in the `packages` folders."""
    try:
        import xacro
        from xacrodoc import packages as finder  # gives xacro a way to find packages without ROS
    except ImportError:
        hint = 'pip install "hinge[xacro]"'
        raise ModelError("no-xacro", "a xacro file needs the package xacrodoc.", hint, Where(_name(path))) from None
    finder.reset()
    finder.walk_up_from(path)
    if packages:
        finder.look_in([os.path.abspath(folder) for folder in packages])
    try:
        # and not xacrodoc's own reader, which looks for included files in the current folder
        return str(xacro.process_file(path).toprettyxml(indent="  "))
    except ExpatError as problem:
        where = Where(_name(_innermost(xacro, path)), problem.lineno)
        raise ModelError("xacro", f"the XML is not well-formed: {problem}.", "", where) from None
    except Exception as problem:  # whatever an expression in the file does
        where = Where(_name(_innermost(xacro, path)))
        what = " ".join(str(problem).split()) or type(problem).__name__
        raise ModelError("xacro", f"xacro cannot expand it: {what}.", "", where) from None
    finally:
        finder.reset()


def _innermost(xacro: object, path: str) -> str:
    """The file xacro was reading, which may be an included one."""
    reading = getattr(xacro, "filestack", None) or [path]
    return str(reading[-1] or path)


def _name(path: str) -> str:
    return os.path.basename(path)
