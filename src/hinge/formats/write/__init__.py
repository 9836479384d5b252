"""Models into robot files: a writer a format, chosen by the suffix of the file.

A writer takes a model, the folder the file will lie in and the notes it may add to, and gives the text. What the
format's own reader refuses is not written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module

from hinge import files
from hinge.errors import ModelError, NotCovered, did_you_mean
from hinge.formats.write.losses import note_losses
from hinge.formats.write.notes import Notes
from hinge.model.model import Model
from hinge.model.report import Report

WRITERS = {".urdf": "urdf", ".xml": "mjcf", ".toml": "toml"}
READERS = {".urdf": "urdf", ".xml": "mjcf", ".toml": "dh_file"}
Writer = Callable[[Model, str, Notes], str]


def write_file(model: Model, path: str, notes: Notes) -> Report:
    """Write a model in the format the suffix says, and give what the format cannot say."""
    suffix = os.path.splitext(path)[1]
    if suffix.lower() not in WRITERS:
        what = f"{path} has the suffix {suffix!r}." if suffix else f"{path} has no suffix that names a format."
        raise ModelError("suffix", what, did_you_mean(suffix, WRITERS))
    target = os.path.realpath(path)  # of a link, what it leads to is replaced
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise ModelError("no-folder", f"{path} cannot be written: there is no folder {folder}.", "Make it first.")
    if os.path.isdir(target):
        raise ModelError("not-writable", f"{path} cannot be written: it is a folder.", "Give the name of a file.")
    text = text_of(model, suffix.lower(), folder, notes, path)
    try:
        files.replace({target: text.encode()})
    except OSError as problem:
        raise ModelError("not-writable", *files.unwritten(path, problem)) from None
    return notes.report()


def text_of(model: Model, suffix: str, folder: str, notes: Notes, path: str) -> str:
    """A model in the format of a suffix, as it is in a file of that folder; `path` names it in messages.

    What the reader of the format refuses is not written: what it says of the text is said of the robot.
    """
    writer: Writer = import_module(f"hinge.formats.write.{WRITERS[suffix]}").write
    reader = import_module(f"hinge.formats.{READERS[suffix]}")
    text = writer(model, folder, notes)
    try:
        again = reader.read(text, file=path, folder=folder).build()
    except ModelError as problem:
        said = f"{problem.what}\n  {problem.hint}".rstrip()
        raise NotCovered(f"{path} is not written, because it could not be read again: {said}") from None
    note_losses(model, again, notes)
    return text
