"""Trajectories as pictures: positions, rates and forces against their limits, and the energy, over time.

One unit a panel; one colour a joint, limits dashed in it where there are not too many; a floating base is in panels of
its own, by its axes. Of many rollouts a line is the median, and bands
around it hold half of them and, where there is room, nine tenths; a rollout that failed is left out from where it did.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge import files
from hinge.arguments import Array
from hinge.errors import TrajectoryError, UnknownName, did_you_mean
from hinge.sim.panels import Panel, panels
from hinge.sim.recording import FIELDS, Recording

BANDS = ((5.0, 95.0, 0.15), (25.0, 75.0, 0.25))  # percentiles, and how dense
CROWD = 4  # so many joints have the inner band only
MOST = 12  # of more joints no limits are drawn
MISSING = ("pictures need the package matplotlib.", 'pip install "hinge[plot]"')
WIDE, HIGH = (11.0, 3.7), (7.0, 2.4)  # inches: the least, and a panel
LETTER, HANDLE = 0.055, 0.6  # inches: a letter of the legend, what stands before it
STYLES = ("-", "--", ":")  # of the axes of a base, where there are several
STEADY = 1e-3  # an energy that changes by less of itself is drawn as a line that stays
MARGIN = 0.05  # of its height that a panel is taller than what moves in it


def picture(
    trajectory: Recording, path: str | os.PathLike[str] | None = None, joints: Sequence[str] | None = None
) -> Any:
    """The figure of a trajectory, written to a file if a path is given."""
    if path is not None:
        drawable(os.fspath(path))
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
    except ImportError:
        raise TrajectoryError(*MISSING) from None
    chosen = _chosen(trajectory, joints)
    rows = [panels(trajectory, field, chosen) for field in FIELDS if field in trajectory.states]
    energy = {"q", "qd"} <= set(trajectory.states)
    drawn = [panel for row in rows for panel in row]
    count = len(drawn) + energy
    if not count:
        raise TrajectoryError("nothing was recorded that could be drawn.", "Simulate with fields=('q', 'qd', 'tau').")
    columns = min(count, max(2, len(rows[0])))
    size = max(WIDE[0], WIDE[1] * columns), max(HIGH[0], HIGH[1] * -(-count // columns))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(-(-count // columns), columns, sharex=True, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_visible(False)
    colour = _colours(colormaps, _listed(drawn))
    for ax, panel in zip(axes, drawn, strict=False):
        _panel(ax, trajectory.t, panel, colour, limited=len(chosen) <= MOST)
    if energy:
        _energy(axes[count - 1], trajectory)
    for ax in axes[:count]:
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.set_xlabel("time (s)")
        ax.tick_params(labelbottom=True)
    figure.suptitle(_title(trajectory), x=0.01, ha="left")
    handles = [Line2D([], [], color=tint) for tint in colour.values()]
    fit = int(size[0] / (LETTER * max(map(len, colour), default=1) + HANDLE))
    figure.legend(handles, colour, loc="outside lower left", ncols=max(1, fit), frameon=False, fontsize="small")
    if path is not None:
        save(figure, os.fspath(path))
    return figure


def drawable(path: str) -> None:
    """Refuse a path that no picture can be written to."""
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise TrajectoryError(*MISSING) from None
    suffix, folder = os.path.splitext(path)[1].removeprefix(".").lower(), os.path.dirname(path)
    known = FigureCanvasBase.get_supported_filetypes()
    if suffix not in known:
        raise TrajectoryError(f"{path} has the suffix {suffix!r}.", did_you_mean(suffix, known))
    if folder and not os.path.isdir(folder):
        raise TrajectoryError(f"{path} cannot be written: there is no folder {folder}.", "Make it first.")


def save(figure: Any, path: str) -> None:
    drawn = io.BytesIO()
    figure.savefig(drawn, format=os.path.splitext(path)[1][1:].lower(), dpi=120)
    try:
        files.replace({path: drawn.getvalue()})
    except OSError as problem:
        raise TrajectoryError(*files.unwritten(path, problem)) from None


def _chosen(trajectory: Recording, joints: Sequence[str] | None) -> list[str]:
    """The joints that are drawn, of those that have coordinates of their own."""
    model = trajectory.robot.model
    known = [model.joint_name[i] for i in model.leaders]
    for name in joints or ():
        if name not in known:
            raise UnknownName(f"robot {model.name!r} has no joint {name!r} to draw. {did_you_mean(name, known)}")
    return list(joints) if joints is not None else known


def _listed(drawn: Sequence[Panel]) -> list[str]:
    """The joints that have a colour each, once: all but a base that is alone in its panels."""
    return list(dict.fromkeys(owner for panel in drawn if not _axial(panel) for owner in panel.owners))


def _colours(colormaps: Any, names: Sequence[str]) -> dict[str, Any]:
    few = len(names) <= 10
    colours = colormaps["tab10" if few else "turbo"]
    return {name: colours(k if few else k / len(names)) for k, name in enumerate(names)}


def _axial(panel: Panel) -> bool:
    """Whether colours of a panel are axes, since it is of one joint."""
    return panel.of_bases and len(panel.owners) == 1


def _panel(ax: Any, t: Array, panel: Panel, colour: dict[str, Any], limited: bool) -> None:
    """The lines of a panel over time, with their limits."""
    axes = list(dict.fromkeys(line.name for line in panel.lines))
    tints = [f"C{axes.index(line.name)}" if _axial(panel) else colour[line.owner] for line in panel.lines]
    several = panel.of_bases and not _axial(panel)
    styles = [STYLES[axes.index(line.name) % len(STYLES)] if several else "-" for line in panel.lines]
    _lines(ax, t, panel.values, tints, styles)
    _framed(ax, panel.values)  # what moves fills the panel; a limit that is far away is not in it
    for line, tint in zip(panel.lines, tints, strict=True) if limited else ():
        for limit in (line.lower, line.upper):
            if np.isfinite(limit):
                ax.axhline(limit, color=tint, linestyle="--", linewidth=0.8, alpha=0.6)
    if panel.of_bases:
        ax.legend(ax.lines[: len(axes)], axes, ncols=len(axes), frameon=False, fontsize="small")
    ax.set_title(panel.title, loc="left", fontsize="medium")


def _energy(ax: Any, trajectory: Recording) -> None:
    energy = trajectory.energy()
    _lines(ax, trajectory.t, energy[..., None], ["0.2"], ["-"])
    _framed(ax, energy, least=STEADY)
    ax.set_title("energy (J)", loc="left", fontsize="medium")


def _framed(ax: Any, values: Array, least: float = 0.0) -> None:
    """Room for what was drawn, and for that share of its size at least: rounding is not to look like motion."""
    low, high = ax.get_ylim()
    half = max((0.5 + MARGIN) * (high - low), least * np.nanmax(np.abs(values), initial=0.0))
    middle, half = (0.5 * (low + high), half) if np.any(values) else (0.0, 1.0)
    ax.set_ylim(middle - half, middle + half)


def _lines(ax: Any, t: Array, values: Array, tints: Sequence[Any], styles: Sequence[str]) -> None:
    """Each of the last axis over time: a line, or of many rollouts the median and bands."""
    flat = values.reshape(-1, *values.shape[-2:])
    for k, (tint, style) in enumerate(zip(tints, styles, strict=True)):
        runs = flat[..., k]
        if len(runs) == 1:
            ax.plot(t, runs[0], color=tint, linestyle=style, linewidth=1.3)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # times at which every rollout has failed
            for low, high, density in BANDS[len(tints) >= CROWD :]:
                bottom, top = np.nanpercentile(runs, [low, high], axis=0)
                ax.fill_between(t, bottom, top, color=tint, alpha=density, linewidth=0)
            ax.plot(t, np.nanmedian(runs, axis=0), color=tint, linestyle=style, linewidth=1.3)


def _title(trajectory: Recording) -> str:
    many = trajectory.status.size
    bands = f", {many} rollouts: median, and bands that hold half and nine tenths" if many > 1 else ""
    failed = int(np.count_nonzero(trajectory.failed))
    return f"{trajectory.robot.name}, {trajectory.method}{bands}" + (f"; {failed} failed" if failed else "")
