"""What there is to draw of a trajectory: panels of one quantity and one unit each.

A joint that has a quaternion, such as a floating base, is in panels of its own: where it is, and roll, pitch and yaw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.calls.numbers import limits_with
from hinge.interop.forms import roll_pitch_yaw
from hinge.model.model import Limits
from hinge.model.states import labels
from hinge.sim import units
from hinge.sim.recording import Recording

JOINTS = {"q": "position", "qd": "rate", "tau": "force"}
BASES = {  # by what is drawn, and whether along or about the axes
    ("q", "m"): "position", ("q", "rad"): "roll, pitch, yaw",
    ("qd", "m/s"): "velocity, own axes", ("qd", "rad/s"): "angular velocity, own axes",
    ("tau", "N"): "force, own axes", ("tau", "N m"): "couple, own axes",
}  # fmt: skip
AXES, ANGLES = ("x", "y", "z"), ("roll", "pitch", "yaw")


class Line(NamedTuple):
    """A number over time: what it is called, the joint it is of, (…, T) values, and limits, infinite if none."""

    name: str
    owner: str
    values: Array
    lower: float
    upper: float


class Panel(NamedTuple):
    """Lines of one quantity in one unit; those of bases are two or three a joint, along or about axes."""

    title: str
    unit: str
    of_bases: bool
    lines: list[Line]

    @property
    def values(self) -> Array:
        """All its lines, (…, T, n)."""
        return np.stack([line.values for line in self.lines], axis=-1)

    @property
    def names(self) -> list[str]:
        """What its lines are called, and of which joint if it is of several bases."""
        several = self.of_bases and len(self.owners) > 1
        return [f"{line.owner} {line.name}" if several else line.name for line in self.lines]

    @property
    def owners(self) -> list[str]:
        """The joints in it, each once."""
        return list(dict.fromkeys(line.owner for line in self.lines))


def panels(run: Recording, field: str, joints: Sequence[str] | None = None) -> list[Panel]:
    """The panels of q, qd or tau, of all joints or of some: bases first. A base that nothing pushes has no forces."""
    model = run.robot.model
    found: dict[tuple[bool, str], list[Line]] = {}
    for i in model.leaders:
        if joints is None or model.joint_name[i] in joints:
            base = not model.joint[i].rates_are_velocities
            made = _pose(run, i) if base and field == "q" else _entries(run, field, i)
            for unit, line in made:
                found.setdefault((base, unit), []).append(line)
    order = sorted(found, key=lambda key: (not key[0], key[0] and key[1] not in ("m", "m/s", "N")))
    drawn = [_panel(field, base, unit, found[base, unit]) for base, unit in order]
    return [one for one in drawn if field != "tau" or not one.of_bases or np.any(one.values)]


def _panel(field: str, base: bool, unit: str, lines: list[Line]) -> Panel:
    owners = {line.owner for line in lines}
    whose = f"{lines[0].owner}: " if base and len(owners) == 1 else ""
    return Panel(f"{whose}{BASES[field, unit] if base else JOINTS[field]} ({unit})", unit, base, lines)


def _entries(run: Recording, field: str, i: int) -> Iterator[tuple[str, Line]]:
    """The numbers of a joint as they are, with their units; of a base by their axes."""
    model, values = run.robot.model, getattr(run, field)
    k = 0 if field == "q" else 1
    limits = _limits(run)
    lower, upper = {"q": (limits.lower, limits.upper), "qd": (-limits.velocity, limits.velocity),
                    "tau": (-limits.effort, limits.effort)}[field]  # fmt: skip
    names, unit = labels(model)[k], units.units(model, field)
    mine = range(*model.slices[i][k].indices(values.shape[-1]))
    for e in mine:
        alike = [x for x in mine if unit[x] == unit[e]]
        base = not model.joint[i].rates_are_velocities and len(alike) == len(AXES)
        name = AXES[alike.index(e)] if base else names[e]
        yield unit[e], Line(name, model.joint_name[i], values[..., e], float(lower[e]), float(upper[e]))


def _limits(run: Recording) -> Limits:
    """The limits that all rollouts have; infinite ones, which are not drawn, where they differ."""
    own = {one.name for one in run.robot.target.vary}
    given = {name: x for name, x in (run.parameters or {}).items() if name in own}
    made, none = limits_with("plot", run.robot.target, given), (-np.inf, np.inf, np.inf, np.inf)
    one = [np.where((x == x.reshape(-1, x.shape[-1])[0]).all(axis=tuple(range(x.ndim - 1))),
                    x.reshape(-1, x.shape[-1])[0], free) for x, free in zip(made, none, strict=True)]  # fmt: skip
    return Limits(*one)


def _pose(run: Recording, i: int) -> Iterator[tuple[str, Line]]:
    """Where a joint's outer frame is in its inner one, if it moves along at all, and its angles, without jumps."""
    model, name = run.robot.model, run.robot.model.joint_name[i]
    q = np.moveaxis(np.asarray(run.q)[..., model.slices[i][0]], -1, 0)
    R, p = (np.stack(np.broadcast_arrays(*x, q[0])[:-1], axis=-1) for x in model.joint[i].transform(list(q)).pose())
    angles = np.unwrap(roll_pitch_yaw(R.reshape(*R.shape[:-1], 3, 3)), axis=-2)
    parts = [("m", AXES, p)] if "m" in units.coordinates(model, i) else []
    for unit, names, values in [*parts, ("rad", ANGLES, angles)]:
        for k, axis in enumerate(names):
            yield unit, Line(axis, name, values[..., k], -np.inf, np.inf)
