"""Films of trajectories: a page that plays in any browser, or a moving picture."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hinge import files
from hinge.arguments import Array, count, duration
from hinge.errors import ViewError, one_of
from hinge.viewing.cast import Runs
from hinge.viewing.film_page import film_page
from hinge.viewing.reel import Reel, reel, strobe
from hinge.viewing.render import Studio

Size = tuple[int, int]
COLORS = 160  # of a GIF


def film(
    run: Runs,
    path: str | os.PathLike[str],
    rollout: int | Sequence[int] = 0,
    speed: float = 1.0,
    rate: float | None = None,
    size: Size = (640, 400),
    layout: str = "grid",
    trails: Sequence[str] | bool = (),
) -> None:
    """Write a film: a page (.html) that needs nothing beside it, a moving picture (.mp4, .gif), or
    one picture (.png) of the robot at five places on its way, the earlier the paler.

    It has the links as `hinge.view` draws them, the ground, and forces of contact as arrows: the robot's weight is half
    as long as the robot. `run` is a trajectory, a rollout, a sweep, or several runs; of each the film has the `rollout`
    of that number, or several: side by side, or with `layout` "ghosts" one through the other. `trails` are links and
    frames whose ways are drawn, True for the ends of all limbs. It plays `speed` times as fast as it was, with `rate`
    pictures a second: 30, a GIF 20. In the page the mouse turns, shifts (right button, or Shift) and zooms (wheel);
    `size` is that of pictures, in pixels.

    >>> run = hinge.simulate(hinge.samples.planar_2r(), 1.0, q0=[[0.3, 0.5], [0.4, 0.5]], step=0.01)
    >>> hinge.film(run, "run.html", rollout=[0, 1], trails=["hand"])  # doctest: +SKIP
    """
    write, usual = writer_of(path)
    rate, speed = duration("rate", usual if rate is None else rate), duration("speed", speed)
    made = reel(run, rollout, rate, speed, layout, trails)
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


def picture(
    run: Runs,
    t: float,
    rollout: int | Sequence[int] = 0,
    size: Size = (640, 400),
    layout: str = "grid",
    trails: Sequence[str] | bool = (),
) -> Array:
    """What a film shows at the time t (s): (height, width, 3) bytes of red, green and blue.

    >>> from hinge.viewing import picture
    >>> run = hinge.simulate(hinge.samples.planar_2r(), 0.1, q0=[0.3, 0.5], step=0.01)
    >>> picture(run, 0.05, size=(60, 40)).shape
    (40, 60, 3)
    """
    made = reel(run, rollout, 30.0, 1.0, layout, trails)
    return Studio(made, _pixels(size)).picture(int(abs(made.t - t).argmin()))


def _pixels(size: Any) -> Size:
    wide, high = (count("size", x, 16) for x in size)
    return wide, high


def _pillow(what: str) -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ViewError(f'{what} needs the package Pillow.\n  pip install "hinge[plot]", or write .html') from None
    return Image


def _page(made: Reel, size: Size) -> bytes:
    return film_page(made)


def _png(made: Reel, size: Size) -> bytes:
    file = io.BytesIO()
    _pillow("a PNG").fromarray(Studio(strobe(made), _pixels(size)).picture(0)).save(file, "PNG")
    return file.getvalue()


def _pictures(made: Reel, size: Size) -> Iterator[Array]:
    studio = Studio(made, size)
    for k in range(len(made.t)):
        yield studio.picture(k)


def _gif(made: Reel, size: Size) -> bytes:
    Image = _pillow("a GIF")
    pictures = list(_pictures(made, _pixels(size)))
    seen = np.concatenate([one.reshape(-1, 3) // 4 for one in pictures[:: len(pictures) // 8 + 1]])
    seen = 4 * np.unique(seen, axis=0)  # what is rare is as good as others
    palette = Image.fromarray(seen[None]).quantize(COLORS, dither=Image.Dither.NONE)
    shown = [Image.fromarray(one).quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    file = io.BytesIO()
    shown[0].save(file, "GIF", save_all=True, append_images=shown[1:], duration=round(1000 / made.rate), loop=0)
    return file.getvalue()


def _mp4(made: Reel, size: Size) -> bytes:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ViewError(
            'an MP4 needs the package imageio-ffmpeg.\n  pip install "hinge[film]", or write .html or .gif'
        ) from None
    wide, high = (n + n % 2 for n in _pixels(size))  # H.264 has colours for pairs of pixels
    with tempfile.TemporaryDirectory(prefix="hinge-") as folder:
        path = os.path.join(folder, "film.mp4")
        writer = imageio_ffmpeg.write_frames(
            path,
            (wide, high),
            fps=made.rate,
            codec="libx264",
            quality=None,
            macro_block_size=2,
            ffmpeg_log_level="error",
            output_params=["-crf", "20", "-movflags", "+faststart"],
        )
        writer.send(None)
        for image in _pictures(made, (wide, high)):
            writer.send(np.ascontiguousarray(image))
        writer.close()
        return Path(path).read_bytes()


WRITERS: dict[str, tuple[Callable[[Reel, Size], bytes], float]] = {
    ".html": (_page, 30.0), ".mp4": (_mp4, 30.0), ".gif": (_gif, 20.0), ".png": (_png, 30.0),
}  # fmt: skip
