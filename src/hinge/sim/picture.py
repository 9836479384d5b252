"""Trajectories as pictures: positions, rates and forces against their limits, and the energy, over time.

One colour a joint, limits dashed in it where there are not too many. Of many rollouts a line is the median, and bands
around it hold half of them and, where there is room, nine tenths; a rollout that failed is left out from where it did.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hinge import files
from hinge.arguments import Array
from hinge.errors import TrajectoryError, UnknownName, did_you_mean

if TYPE_CHECKING:
    from hinge.sim.trajectory import Trajectory

BANDS = ((5.0, 95.0, 0.15), (25.0, 75.0, 0.25))  # percentiles, and how dense
CROWD = 4  # so many joints have the inner band only
MOST = 12  # of more joints no limits are drawn
TITLES = {"q": "position (rad, m)", "qd": "rate (rad/s, m/s)", "tau": "force (N m, N)"}
MISSING = ("pictures need the package matplotlib.", "pip install hinge[plot]")
SIZE, LETTER, HANDLE = (11.0, 7.0), 0.055, 0.6  # inches: the picture, a letter of the legend, what stands before it
STEADY = 1e-3  # an energy that changes by less of itself is drawn as a line that stays
MARGIN = 0.05  # of its height that a panel is taller than what moves in it


def picture(
    trajectory: Trajectory, path: str | os.PathLike[str] | None = None, joints: Sequence[str] | None = None
) -> Any:
    """The figure of a trajectory, written to a file if a path is given."""
    if path is not None:
        drawable(os.fspath(path))
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError:
        raise TrajectoryError(*MISSING) from None
    fields = [name for name in TITLES if getattr(trajectory, name) is not None]
    panels = [*fields, *(["energy"] if {"q", "qd"} <= set(fields) else [])]
    if not panels:
        raise TrajectoryError("nothing was recorded that could be drawn.", "Simulate with fields=('q', 'qd', 'tau').")
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots(-(-len(panels) // 2), min(2, len(panels)), sharex=True, squeeze=False).ravel()
    for spare in axes[len(panels) :]:
        spare.set_visible(False)
    chosen = _chosen(trajectory, joints)
    colours = colormaps["tab10" if len(chosen) <= 10 else "turbo"]
    colour = {name: colours(k if len(chosen) <= 10 else k / len(chosen)) for k, name in enumerate(chosen)}
    for ax, name in zip(axes, panels, strict=False):
        if name == "energy":
            energy = trajectory.energy()
            _lines(ax, trajectory.t, energy[..., None], ["kinetic and potential"], {})
            _framed(ax, energy, least=STEADY)
            ax.set_title("energy (J)", loc="left")
        else:
            _panel(ax, trajectory, name, chosen, colour)
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[max(0, len(panels) - 2) : len(panels)]:
        ax.set_xlabel("time (s)")
        ax.tick_params(labelbottom=True)
    figure.suptitle(_title(trajectory), x=0.01, ha="left")
    handles, labels = axes[0].get_legend_handles_labels()
    columns = int(SIZE[0] / (LETTER * max(map(len, labels), default=1) + HANDLE))
    figure.legend(handles, labels, loc="outside lower left", ncols=max(1, columns), frameon=False, fontsize="small")
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


def _chosen(trajectory: Trajectory, joints: Sequence[str] | None) -> list[str]:
    """The joints that are drawn, of those that have coordinates of their own."""
    model = trajectory.robot.model
    known = [model.joint_name[i] for i in model.leaders]
    for name in joints or ():
        if name not in known:
            raise UnknownName(f"robot {model.name!r} has no joint {name!r} to draw. {did_you_mean(name, known)}")
    return list(joints) if joints is not None else known


def _panel(ax: Any, trajectory: Trajectory, field: str, joints: Sequence[str], colour: dict[str, Any]) -> None:
    """The entries of some joints over time, with their limits."""
    robot, values = trajectory.robot, getattr(trajectory, field)
    k = 0 if field == "q" else 1
    entries = {name: range(*robot.coordinates(name)[k].indices(values.shape[-1])) for name in joints}
    picked = [e for name in joints for e in entries[name]]
    owners = [name for name in joints for _ in entries[name]]
    _lines(ax, trajectory.t, values[..., picked], owners, colour)
    _framed(ax, values)  # what moves fills the panel; a limit that is far away is not in it
    limits = robot.limits
    pairs = {"q": (limits.lower, limits.upper), "qd": (-limits.velocity, limits.velocity),
             "tau": (-limits.effort, limits.effort)}[field]  # fmt: skip
    for entry, owner in zip(picked, owners, strict=True) if len(joints) <= MOST else ():
        for limit in (pairs[0][entry], pairs[1][entry]):
            if np.isfinite(limit):
                ax.axhline(limit, color=colour[owner], linestyle="--", linewidth=0.8, alpha=0.6)
    ax.set_title(TITLES[field], loc="left")


def _framed(ax: Any, values: Array, least: float = 0.0) -> None:
    """Room for what was drawn, and for that share of its size at least: rounding is not to look like motion."""
    low, high = ax.get_ylim()
    half = max((0.5 + MARGIN) * (high - low), least * np.nanmax(np.abs(values), initial=0.0))
    middle, half = (0.5 * (low + high), half) if np.any(values) else (0.0, 1.0)
    ax.set_ylim(middle - half, middle + half)


def _lines(ax: Any, t: Array, values: Array, owners: Sequence[str], colour: dict[str, Any]) -> None:
    """Each of the last axis over time: a line, or of many rollouts the median and bands."""
    flat = values.reshape(-1, *values.shape[-2:])
    named: set[str] = set()
    for k, owner in enumerate(owners):
        runs, tint = flat[..., k], colour.get(owner, "0.2")
        label = None if owner in named else owner
        named.add(owner)
        if len(runs) == 1:
            ax.plot(t, runs[0], color=tint, label=label, linewidth=1.3)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # times at which every rollout has failed
            for low, high, density in BANDS[len(owners) >= CROWD :]:
                bottom, top = np.nanpercentile(runs, [low, high], axis=0)
                ax.fill_between(t, bottom, top, color=tint, alpha=density, linewidth=0)
            ax.plot(t, np.nanmedian(runs, axis=0), color=tint, label=label, linewidth=1.3)


def _title(trajectory: Trajectory) -> str:
    many = trajectory.status.size
    bands = f", {many} rollouts: median, and bands that hold half and nine tenths" if many > 1 else ""
    failed = int(np.count_nonzero(trajectory.failed))
    return f"{trajectory.robot.name}, {trajectory.method}{bands}" + (f"; {failed} failed" if failed else "")
