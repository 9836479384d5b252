"""The same states in hinge's convention and in another library's.

Joints are paired by name, so the order of coordinates does not matter. Joints that follow others in hinge are
independent in the other libraries: with joint coordinates G q + c, `lever` is T G, and their equations of motion
become ours by H = (T G)ᵀ H' T G and tau = (T G)ᵀ tau'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge import arguments
from hinge.errors import NotCovered, SizeError, did_you_mean
from hinge.interop.forms import Array, Form, times
from hinge.model import Model
from hinge.robot import Robot


class Their(NamedTuple):
    """A joint of theirs: how it is written, and where its coordinates and velocities begin."""

    form: Form
    q: int
    v: int


class State(NamedTuple):
    """Coordinates, velocities, accelerations and joint forces; None where they were not given."""

    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None


class _Pair(NamedTuple):
    """A joint in both: which entries of q and v it has here, and which there."""

    form: Form
    q: list[int]
    v: list[int]
    their_q: slice
    their_v: slice
    ratio: float
    offset: float
    leads: bool


class States:
    """States of one robot in two conventions; leading axes are a batch."""

    def __init__(self, robot: Robot, theirs: Mapping[str, Their], nq: int, nv: int) -> None:
        self.robot, self.nq, self.nv = robot, nq, nv
        self._pairs = _paired(robot.model, theirs)
        self._leaders = [one for one in self._pairs if one.leads]

    def there(self, q: Any, qd: Any = None, qdd: Any = None, tau: Any = None) -> State:
        """A state of ours as they have it; accelerations take velocities too."""
        q, qd, qdd, tau = _read((q, qd, qdd, tau), self.robot.nq, self.robot.nv)
        their_q = np.zeros((*q.shape[:-1], self.nq))
        for one in self._pairs:
            x = q[..., one.q]
            their_q[..., one.their_q] = one.form.q(x if one.leads else one.ratio * x + one.offset)
        v, a = (None if x is None else self._across(q, x, self._pairs) for x in (qd, qdd))
        return State(
            their_q,
            v,
            None if a is None else a + self._bias(q, qd),
            None if tau is None else self._across(q, tau, self._leaders),
        )

    def back(self, q: Any, v: Any = None, a: Any = None, tau: Any = None) -> State:
        """A state of theirs as we have it; joints that follow others are where their leaders say."""
        their_q, v, a, tau = _read((q, v, a, tau), self.nq, self.nv)
        q = np.zeros((*their_q.shape[:-1], self.robot.nq))
        for one in self._leaders:
            q[..., one.q] = one.form.back(their_q[..., one.their_q])
        qd = None if v is None else self._across(q, v, self._leaders, back=True)
        return State(
            q,
            qd,
            None if a is None else self._across(q, a - self._bias(q, qd), self._leaders, back=True),
            None if tau is None else self._across(q, tau, self._pairs, back=True),
        )

    def lever(self, q: Any) -> Array:
        """T (…, their nv, nv): v' = T qd, tau = Tᵀ tau' and H = Tᵀ H' T."""
        (q,) = _read((q,), self.robot.nq, self.robot.nv)
        units = np.broadcast_to(np.eye(self.robot.nv), (*q.shape[:-1], self.robot.nv, self.robot.nv))
        return self._across(q[..., None, :], units, self._pairs).swapaxes(-1, -2)

    def _across(self, q: Array, x: Array, pairs: Sequence[_Pair], back: bool = False) -> Array:
        """T x, or Tᵀ x on the way back, of those joints."""
        made = np.zeros((*x.shape[:-1], self.robot.nv if back else self.nv))
        for one in pairs:
            here, into = (one.their_v, one.v) if back else (one.v, one.their_v)
            part = x[..., here]
            if one.form.lever is not None:
                T = one.form.lever(q[..., one.q])
                part = times(T.swapaxes(-1, -2) if back else T, part)
            made[..., into] += one.ratio * part
        return made

    def _bias(self, q: Array, v: Any) -> Array:
        """Ṫ v."""
        made = np.zeros((*v.shape[:-1], self.nv))
        for one in self._pairs:
            if one.form.bias is not None:
                made[..., one.their_v] = one.form.bias(q[..., one.q], v[..., one.v])
        return made


def _read(given: Sequence[Any], nq: int, nv: int) -> list[Any]:
    """What was given of q, velocities, accelerations and forces, as arrays of one batch."""
    if len(given) > 1 and given[2] is not None and given[1] is None:
        raise SizeError("accelerations were given without velocities, which they depend on in another convention.")
    names, sizes = ("q", "velocities", "accelerations", "tau"), (nq, nv, nv, nv)
    read = [
        None if x is None else arguments.real(name, x, (n,)).astype(float)
        for name, x, n in zip(names, given, sizes, strict=False)
    ]
    parts = [x for x in read if x is not None]
    try:
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in parts))
    except ValueError:
        shown = ", ".join(str(x.shape[:-1]) for x in parts)
        raise SizeError(f"the batches of a state do not fit together: {shown}.") from None
    return [None if x is None else np.broadcast_to(x, (*batch, x.shape[-1])) for x in read]


def _paired(model: Model, theirs: Mapping[str, Their]) -> list[_Pair]:
    """Every joint of ours with those of theirs that it is: by name, or as the joints JOINT_1, JOINT_2, …"""
    made, left = [], dict(theirs)
    free = [name for name, one in theirs.items() if one.form.nv == 6 and name not in model.joint_name]
    for i, _ in model.outward():
        name, joint = model.joint_name[i], model.joint[i]
        if name not in left and joint.nv == 6 and len(free) == 1:
            name = free[0]  # a floating base, which every library calls by another name
        steps = [(name, tuple(range(joint.nq)), joint)]
        if name not in left:
            steps = [(f"{name}_{k}", at, one) for k, (one, at) in enumerate(joint.chain(), start=1)]
        if not steps or any(step not in left for step, _, _ in steps):
            raise NotCovered(f"they have no joint {name!r}. {did_you_mean(name, theirs)}")
        q0, v0 = model.slices[i][0].start, model.slices[i][1].start
        follow = model.follows.get(i)
        ratio, offset = (follow.ratio, follow.offset) if follow else (1.0, 0.0)
        for step, at, one in steps:
            form, their_q, their_v = left.pop(step)
            if (form.nq, form.nv) != (one.nq, one.nv):
                raise NotCovered(f"joint {step!r} is {one.kind} in robot {model.name!r}, and of another kind there.")
            whole = len(steps) == 1
            q = [q0 + k for k in at]
            v = list(range(v0, v0 + one.nv)) if whole else [v0 + k for k in at]
            wide = form.q(np.array(one.neutral())).shape[-1]
            made.append(_Pair(form, q, v, slice(their_q, their_q + wide), slice(their_v, their_v + one.nv),
                              ratio, offset, follow is None))  # fmt: skip
    if left:
        raise NotCovered(f"they have a joint {next(iter(left))!r}, which robot {model.name!r} has not.")
    return made
