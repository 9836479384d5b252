"""A film as one page that any browser plays, with nothing beside it: film.html, and the numbers packed into it."""

from __future__ import annotations

import base64
import gzip
import html
import json
from importlib.resources import files
from typing import Any

import numpy as np

from hinge.typing import AnyArray
from hinge.viewing.figure import CONTACT
from hinge.viewing.reel import Reel
from hinge.viewing.triangles import Surface, arrow, surface

THICK = 0.012  # of what is seen: the radius of an arrow


def film_page(reel: Reel) -> bytes:
    """The page of a film."""
    packed = _Packed()
    up = {"point": reel.floor.point.tolist(), "normal": reel.floor.normal.tolist()}
    shaft, head = (_part(packed, one, 0, CONTACT, None) for one in arrow(THICK * reel.radius))
    about = {
        "rate": reel.rate, "radius": reel.radius, "cell": reel.cell, "floor": up, "shaft": shaft, "head": head,
        "parts": [_part(packed, surface(p.vertices, p.faces), p.body, p.color, p.opacity) for p in reel.parts],
        "t": packed.add(reel.t, "f4"), "target": packed.add(reel.target, "f4"),
        "poses": packed.add(reel.poses[:, :, :3, :], "f4"), "bodies": reel.poses.shape[1],
        "forces": packed.add(np.concatenate([reel.points, reel.pushes], axis=-1), "f4"), "most": reel.points.shape[1],
    }  # fmt: skip
    page = (files("hinge.viewing") / "film.html").read_text(encoding="utf-8")
    for mark, text in (("NAME", html.escape(reel.name)), ("PACKED", packed.text(about))):
        page = page.replace(f"@{mark}@", text)
    return page.encode()


class _Packed:
    """Arrays one after another, each told by where it begins and how many numbers it has."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, a: AnyArray, kind: str) -> list[Any]:
        at, flat = len(self.data), np.ascontiguousarray(a, f"<{kind}").tobytes()
        self.data += flat + bytes(-len(flat) % 4)
        return [kind, at, a.size]

    def text(self, about: dict[str, Any]) -> str:
        said = json.dumps(about).encode()
        said += b" " * (-len(said) % 4)
        whole = gzip.compress(len(said).to_bytes(4, "little") + said + bytes(self.data), 9, mtime=0)
        return base64.b64encode(whole).decode()


def _part(packed: _Packed, made: Surface, body: int, color: Any, opacity: float | None) -> dict[str, Any]:
    """A part in numbers of two bytes, as shares of half its size from its middle."""
    low, high = made.corners.min(axis=0), made.corners.max(axis=0)
    half = np.maximum(0.5 * (high - low), 1e-9)
    middle = 0.5 * (low + high)
    return {
        "body": body, "color": [x / 255 for x in color], "opacity": opacity or 1.0, "half": half.tolist(),
        "middle": middle.tolist(), "corners": packed.add(np.round((made.corners - middle) / half * 32767), "i2"),
        "normals": packed.add(np.round(made.normals * 127), "i1"), "faces": packed.add(made.faces, "u4"),
    }  # fmt: skip
