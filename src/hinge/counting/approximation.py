"""Robots that are cheaper to compute and all but the same: small numbers of their bodies made zero.

    cheaper, what = hinge.approximate(robot, within=0.01)

"A link's centre of mass is typically close to an axis, and there is little error in taking its principal axes for
parallel to them": so says featherstone1987 8.4.3, and turney1981, section 8, that terms which matter little can be seen
and left out. A body's numbers are its mass m, its first moments h and its second moments Σ = ∫ r rᵀ dm, in the frames
that algorithms run in; joint forces are linear in them, so what each number does to them is known at every state from
one look. Numbers are made zero from the least important on, as long as all of them together change no joint force by
more than `within` of the largest that this joint has to make. A body stays one that can be: the matrix [Σ h; hᵀ m]
stays positive. No mass is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from hinge.arguments import generator
from hinge.backends.count import Cost
from hinge.dynamics.newton_euler import newton_euler
from hinge.errors import ModelError, NotCovered, SizeError, UnknownName, did_you_mean
from hinge.model import Finding, Model, Report
from hinge.model.driven import Driven
from hinge.model.frames import moved
from hinge.robot import Robot
from hinge.spatial import Force, Motion, RigidInertia, Sym3, Vec3
from hinge.typing import Array

STATES = 256
COUNTED = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
NOTHING = 1e-14  # a share of a joint force that is rounding
AXES = "xyz"
Kind = Literal["products", "com", "terms"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Entry = tuple[int, int]  # of the matrix [Σ h; hᵀ m]


@dataclass(frozen=True)
class Approximation:
    """What was changed, the error it makes, and the operations it saves."""

    within: float
    errors: Array  # of each joint force: the largest at the states looked at, as a share of the largest force there
    changes: Report
    before: dict[str, Cost]
    after: dict[str, Cost]

    @property
    def error(self) -> float:
        """The largest error of any joint force, as a share of the largest this joint has to make."""
        return float(self.errors.max(initial=0.0))

    @property
    def saved(self) -> dict[str, float]:
        """By name, the share of multiplications and additions that is saved."""
        return {name: 1.0 - _size(self.after[name]) / (_size(old) or 1) for name, old in self.before.items()}

    def __str__(self) -> str:
        lines = [f"{len(self.changes)} changes; joint forces differ by up to {self.error:.2%} of their largest."]
        for name, old in self.before.items():
            new = self.after[name]
            figures = f"{old.mul} / {old.add} to {new.mul} / {new.add}"
            lines.append(f"  {name}: from {figures} multiplications / additions, {self.saved[name]:.0%} fewer")
        return "\n".join([*lines, *(f"  {change.what}" for change in self.changes)])


def _size(one: Cost) -> int:
    return one.mul + one.add


class Candidate(NamedTuple):
    """Numbers of a body that may become zero together."""

    body: int
    entries: tuple[Entry, ...]


def approximate(robot: Robot, within: float = 0.01, drop: Kind | Sequence[Kind] = KINDS,
                states: Sequence[Any] | None = None, seed: int = 0) -> tuple[Robot, Approximation]:  # fmt: skip
    """The robot with small numbers of its bodies made zero, and what that costs and saves.

    No joint force changes by more than `within` of the largest of that joint, at the states looked at: `states` is
    (q, qd, qdd), such as a trajectory, or 256 random ones. `drop` says what may go: "products" of inertia, "com" (a
    centre of mass moves onto a plane or an axis), "terms" (second moments along an axis of a thin body). The numbers
    are those of the frames that algorithms run in, with each body's joint on its z axis.

    >>> arm = hinge.samples.puma560()
    >>> cheaper, what = hinge.approximate(arm, within=0.02)
    >>> what.error <= 0.02, what.saved["inverse_dynamics"] > 0.1
    (True, True)
    """
    wanted = [drop] if isinstance(drop, str) else list(drop)
    for name in wanted:
        if name not in KINDS:
            raise UnknownName(f"approximate has nothing called {name!r} to drop. {did_you_mean(str(name), KINDS)}")
    if not 0.0 <= within < 1.0:
        raise ModelError("within", f"within is {within!r}.", "Give a share of the joint forces, such as 0.01.")
    model = robot.target.traced
    driven = [model.joint_name[i] for i, joint in enumerate(model.joint) if isinstance(joint, Driven)]
    if driven:
        raise NotCovered(f"approximate: joint {driven[0]!r} is driven.\n  Approximate the robot first, then prescribe.")
    q, qd, qdd = _looked_at(robot, states, seed)
    felt = _Felt(model, q, qd, qdd)
    matrices = [_matrix(I) for I in model.inertia]
    done = _dropped(model, matrices, felt, wanted, within)
    changed = _put_back(robot.model, model, matrices, done)
    cheaper: Robot = cast(Any, robot)._with(changed) if done else robot
    before, after = ({name: one.cost(name) for name in COUNTED} for one in (robot, cheaper))
    changes = [
        Finding("note", "approximated", _says(model, i, done[i]), where=model.data[i].where) for i in sorted(done)
    ]
    return cheaper, Approximation(within, felt.share(felt.total), Report(tuple(changes)), before, after)


def _looked_at(robot: Robot, states: Sequence[Any] | None, seed: int) -> list[Array]:
    """Coordinates, velocities and accelerations, a row a state."""
    if states is None:
        rng = generator("approximate", seed)
        q, qd = robot.random_state(rng, STATES)
        return [q, qd, rng.normal(size=(STATES, robot.nv))]
    if len(states) != 3:
        raise SizeError(f"approximate: states has {len(states)} entries, not q, qd and qdd.")
    given = [np.asarray(one, float) for one in states]
    for name, one, size in zip(("q", "qd", "qdd"), given, (robot.nq, robot.nv, robot.nv), strict=True):
        if one.ndim == 0 or one.shape[-1] != size:
            raise SizeError(f"approximate: {name} has shape {one.shape}, robot {robot.name!r} needs (…, {size}).")
    rows = np.broadcast_shapes(*(one.shape[:-1] for one in given))
    return [np.broadcast_to(one, (*rows, one.shape[-1])).reshape(-1, one.shape[-1]) for one in given]


class _Felt:
    """What numbers of bodies do to the joint forces at some states, an array (states, nv) each."""

    def __init__(self, model: Model, q: Array, qd: Array, qdd: Array):
        self.model = model
        self.at = (model.joint_positions(list(q.T)), model.joint_velocities(list(qd.T)),
                   model.joint_velocities(list(qdd.T)))  # fmt: skip
        self.shape = qd.shape
        forces = np.abs(self.forces(model)).max(axis=0, initial=0.0)
        self.scale = np.where(forces > 0.0, forces, forces.max(initial=0.0) or 1.0)
        self.total, self.known = np.zeros(self.shape), dict[tuple[int, Entry], Array]()

    def forces(self, model: Model) -> Array:
        none = [Force()] * len(model.parent)
        made = model.generalised_forces(newton_euler(model, *self.at, none, (Motion(), Motion())))
        return np.stack([np.broadcast_to(x, self.shape[:1]) for x in made], axis=-1)

    def by(self, i: int, entry: Entry) -> Array:
        """The joint forces for a unit of an entry of body i."""
        if (i, entry) not in self.known:
            one = np.zeros((4, 4))
            one[entry] = one[entry[::-1]] = 1.0
            weightless = [RigidInertia()] * len(self.model.parent)
            weightless[i] = _inertia(one)
            self.known[i, entry] = self.forces(replace(self.model, inertia=tuple(weightless), terms=frozenset()))
        return self.known[i, entry]

    def without(self, i: int, entries: Sequence[Entry], P: Array) -> Array:
        """The change of the joint forces when entries of body i become zero."""
        return -sum((self.by(i, entry) * P[entry] for entry in entries), np.zeros(self.shape))

    def share(self, change: Array) -> Array:
        return np.abs(change).max(axis=0, initial=0.0) / self.scale


def _matrix(I: RigidInertia) -> Array:
    """[Σ h; hᵀ m]."""
    full = np.array(I.I.full()).reshape(3, 3)
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(full) * np.eye(3) - full
    P[3, :3] = P[:3, 3] = I.h
    P[3, 3] = I.m
    return P


def _inertia(P: Array) -> RigidInertia:
    """The way back."""
    S = P[:3, :3]
    I = np.trace(S) * np.eye(3) - S
    six = (I[0, 0], I[1, 1], I[2, 2], I[1, 2], I[0, 2], I[0, 1])
    return RigidInertia(float(P[3, 3]), Vec3(map(float, P[3, :3])), Sym3(float(x) for x in six))


def _candidates(i: int, wanted: Sequence[str]) -> list[Candidate]:
    """What may go of a body: single numbers, and sets of them without which it is symmetric to a plane or an axis."""
    found: list[tuple[Entry, ...]] = []
    if "products" in wanted:
        found += [(pair,) for pair in combinations(range(3), 2)]
    if "com" in wanted:
        found += [((k, 3),) for k in range(3)]
    if "products" in wanted and "com" in wanted:
        for k in range(3):
            ties = [(min(j, k), max(j, k)) for j in range(3) if j != k]
            found.append((*ties, (k, 3)))  # to the plane across axis k
            found.append((*ties, *((j, 3) for j in range(3) if j != k)))  # about axis k
    if "terms" in wanted:
        found += [((k, k),) for k in range(3)]
    return [Candidate(i, entries) for entries in found]


def _dropped(
    model: Model, matrices: list[Array], felt: _Felt, wanted: Sequence[str], within: float
) -> dict[int, list[Entry]]:
    """Make numbers zero, those that matter least first; gives them by body."""
    bodies = [i for i, _ in model.outward() if model.inertia[i].m > 0.0]
    ranked = [(felt.share(felt.without(one.body, one.entries, matrices[one.body])).max(initial=0.0), one)
              for i in bodies for one in _candidates(i, wanted)]  # fmt: skip
    order = [one for size, one in sorted(ranked, key=lambda pair: pair[0]) if NOTHING < size <= within]
    done: dict[int, list[Entry]] = {}
    going = True
    while going:  # what a later one made possible is tried again
        going = False
        for one in order:
            P = matrices[one.body]
            entries = [entry for entry in one.entries if P[entry] != 0.0]
            if not entries or not _can_be(P, entries):
                continue
            change = felt.total + felt.without(one.body, entries, P)
            if felt.share(change).max() <= within:
                felt.total, going = change, True
                for a, b in entries:
                    P[a, b] = P[b, a] = 0.0
                done.setdefault(one.body, []).extend(entries)
    return done


def _can_be(P: Array, entries: Sequence[Entry]) -> bool:
    """Whether a body stays possible, or at least no less so, when entries of its matrix become zero."""
    new = P.copy()
    for a, b in entries:
        new[a, b] = new[b, a] = 0.0
    size = np.sqrt(np.abs(np.diag(P)))
    size[size == 0.0] = 1.0
    least: Callable[[Array], float] = lambda M: float(np.linalg.eigvalsh(M / np.outer(size, size))[0])
    return least(new) >= min(0.0, least(P)) - 1e-12


def _put_back(model: Model, traced: Model, matrices: Sequence[Array], touched: Iterable[int]) -> Model:
    """The user's model with the bodies that were touched."""
    inertia = list(model.inertia)
    for i in touched:
        R, p = traced.seats[i]
        inertia[i] = moved(_inertia(matrices[i]), (R.T, -(R.T @ p)))
    return replace(model, inertia=tuple(inertia))


def _says(model: Model, i: int, entries: Sequence[Entry]) -> str:
    """What became zero of a body, in words."""
    parts = [("product", [AXES[a] + AXES[b] for a, b in sorted(entries) if a != b < 3]),
             ("first moment", [AXES[a] for a, b in sorted(entries) if b == 3]),
             ("second moment", [AXES[a] for a, b in sorted(entries) if a == b])]  # fmt: skip
    shown = [f"{what}{'s' * (len(names) > 1)} {', '.join(names)}" for what, names in parts if names]
    return f"link {model.body_name[i]!r}: no {'; no '.join(shown)}."
