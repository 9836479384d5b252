"""Height fields of MJCF: heights in the file itself, or in a file of MuJoCo's own format."""

from __future__ import annotations

import os
import struct

import numpy as np

from hinge import files
from hinge.errors import ModelError
from hinge.formats.mjcf.document import Document
from hinge.formats.mjcf.settings import integer
from hinge.formats.xml import Element, attribute, numbers
from hinge.model.height_fields import Heights, normalised

MOST = 1 << 28  # bytes of a file
LARGEST = 1 << 24  # heights that are not written down, and so are all zero


def terrain(element: Element, document: Document) -> Heights | None:
    """The heights of an <hfield>, from 0 to its size; None where they are in a file that hinge does not read: a PNG."""
    x, y, top, base = numbers(element, "size", 4)
    if not (min(x, y, top, base) > 0.0):
        raise ModelError("hfield", f"{element} has a size that is not positive.", "Write four lengths.", element.where)
    if "file" in element.attributes:
        if attribute(element, "file").lower().endswith(".png"):
            return None
        rows = _read(document.mesh_path(element), element)
    else:
        n, m = integer(element, "nrow", 0), integer(element, "ncol", 0)
        if min(n, m) < 2:
            raise ModelError("hfield", f"{element} has {n} rows and {m} columns.", "Write two at least.", element.where)
        if "elevation" not in element.attributes and n * m > LARGEST:
            what = f"{element} has {n} rows and {m} columns, and no heights."
            raise ModelError("hfield", what, f"Write heights, or at most {LARGEST} of them.", element.where)
        flat = np.array(numbers(element, "elevation", n * m)) if "elevation" in element.attributes else np.zeros(n * m)
        rows = flat.reshape(n, m)[::-1]
    return Heights(normalised(rows) * top, (2.0 * x, 2.0 * y), base)


def _read(path: str, element: Element) -> np.ndarray:
    """Rows of a file: two whole numbers, and so many of four bytes."""
    try:
        content = files.read(path, MOST)
        n, m = struct.unpack_from("<2i", content)
        rows = np.frombuffer(content, "<f4", offset=8).reshape(n, m)
    except (OSError, ValueError, struct.error) as problem:
        what = f"height field {os.path.basename(path)!r} cannot be read: {problem}."
        raise ModelError(
            "hfield", what, "Write rows and columns as int32, heights as float32.", element.where
        ) from None
    if min(n, m) < 2 or not np.isfinite(rows).all():
        what = f"height field {os.path.basename(path)!r} has no heights, or infinite ones."
        raise ModelError("hfield", what, "Write two rows and columns at least.", element.where)
    return rows
