"""Films of trajectories: a page that plays in any browser, or a moving picture."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hinge import files
from hinge.arguments import Array, count, duration
from hinge.errors import SizeError, ViewError, one_of
from hinge.sim import Trajectory
from hinge.viewing.film_page import film_page
from hinge.viewing.reel import Reel, reel, strobe
from hinge.viewing.render import Studio

Size = tuple[int, int]
COLORS = 160  # of a GIF


def film(run: Trajectory, path: str | os.PathLike[str], rollout: int = 0, speed: float = 1.0, rate: float | None = None,
         size: Size = (640, 400)) -> None:  # fmt: skip
    """Write a film of one rollout: a page (.html) that needs nothing beside it, a moving picture (.gif), or one
    picture (.png) of the robot at five places on its way, the earlier the paler.

    It has the links as `hinge.view` draws them, the ground, and forces of contact as arrows: the robot's weight is half
    as long as the robot. It plays `speed` times as fast as it was, with `rate` pictures a second: 30, a GIF 20. In the
    page the mouse turns, shifts (right button, or Shift) and zooms (wheel); `size` is that of a GIF or PNG, in pixels.

    >>> run = hinge.simulate(hinge.samples.planar_2r(), 1.0, q0=[0.3, 0.5], step=0.01)
    >>> hinge.film(run, "run.html")  # doctest: +SKIP
    """
    write, usual = writer_of(path)
    made = _reel(run, rollout, usual if rate is None else rate, speed)
    where = Path(path)
    try:
        files.replace({os.fspath(where): write(made, size)})
    except OSError as problem:
        raise ViewError(". ".join(files.unwritten(where, problem))) from None


def writer_of(path: str | os.PathLike[str]) -> tuple[Callable[[Reel, Size], bytes], float]:
    """What writes a film with the suffix of a path, and how many pictures a second that has."""
    kind = Path(path).suffix.lower()
    one_of("the ending of a film", kind, WRITERS)
    return WRITERS[kind]


def picture(run: Trajectory, t: float, rollout: int = 0, size: Size = (640, 400)) -> Array:
    """What a film shows at the time t (s): (height, width, 3) bytes of red, green and blue.

    >>> from hinge.viewing import picture
    >>> run = hinge.simulate(hinge.samples.planar_2r(), 0.1, q0=[0.3, 0.5], step=0.01)
    >>> picture(run, 0.05, size=(60, 40)).shape
    (40, 60, 3)
    """
    made = _reel(run, rollout, 30.0, 1.0)
    return Studio(made, _pixels(size)).picture(int(abs(made.t - t).argmin()))


def _reel(run: Any, rollout: Any, rate: Any, speed: Any) -> Reel:
    if not isinstance(run, Trajectory):
        raise SizeError(f"film takes a trajectory; a {type(run).__name__} was given.\n"
                        "  hinge.simulate makes one, hinge.open(path) reads one.")  # fmt: skip
    which = count("rollout", rollout, 0)
    if which >= max(run.status.size, 1):
        raise SizeError(f"film: rollout {which} is asked for; there are {run.status.size}, from 0 on.")
    return reel(run, which, duration("rate", rate), duration("speed", speed))


def _pixels(size: Any) -> Size:
    wide, high = (count("size", x, 16) for x in size)
    return wide, high


def _pillow(what: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ViewError(f"{what} needs the package Pillow.\n  pip install hinge[plot], or write .html") from None
    return Image


def _page(made: Reel, size: Size) -> bytes:
    return film_page(made)


def _png(made: Reel, size: Size) -> bytes:
    file = io.BytesIO()
    _pillow("a PNG").fromarray(Studio(strobe(made), _pixels(size)).picture(0)).save(file, "PNG")
    return file.getvalue()


def _gif(made: Reel, size: Size) -> bytes:
    Image = _pillow("a GIF")
    studio = Studio(made, _pixels(size))
    pictures = [studio.picture(k) for k in range(len(made.t))]
    seen = (
        np.unique(np.concatenate([one.reshape(-1, 3) // 4 for one in pictures[:: len(pictures) // 8 + 1]]), axis=0) * 4
    )
    palette = Image.fromarray(seen[None]).quantize(
        COLORS, dither=Image.Dither.NONE
    )  # what is rare is as good as others
    shown = [Image.fromarray(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    file = io.BytesIO()
    shown[0].save(file, "GIF", save_all=True, append_images=shown[1:], duration=round(1000 / made.rate), loop=0)
    return file.getvalue()


WRITERS: dict[str, tuple[Callable[[Reel, Size], bytes], float]] = {
    ".html": (_page, 30.0), ".gif": (_gif, 20.0), ".png": (_png, 30.0),
}  # fmt: skip
