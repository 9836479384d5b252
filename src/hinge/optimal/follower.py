"""A controller that keeps a robot on a trajectory by forces that answer to what is left to it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.errors import SizeError
from hinge.motion.pieces import Pieces
from hinge.optimal.lqr import every_row, feedback
from hinge.robot import Robot

EARLY = 1e-6  # steps by which gains change before their time: clocks that add up steps are as inexact


@dataclass(frozen=True, eq=False)
class Follower:
    """A controller (t, q, qd) → tau (nv) that keeps a robot on a trajectory.

    In step k, from t[k] on, tau[k] - K[k] x acts with x = [displacement from q[k]; qd - qd[k]]. There are n + 1 rows of
    t (n + 1,), q (…, n + 1, nq), qd and tau (…, n + 1, nv): the last is held after the end, as is that of the gains `K`
    (…, n + 1, nu, 2 nv); `driven` (nu,) are the numbers of the driven velocities. `S` (…, n + 1, 2 nv, 2 nv) gives the
    cost xᵀ S x from a step on, where it is known. `numbers` are the parameters and the prescribed motion it was made
    with. Leading axes are trajectories, one a rollout; `follower[i]` follows one of them.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    tau: Array
    K: Array
    driven: Array
    S: Array | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, t: Any, q: Any, qd: Any) -> Any:
        """Joint forces (…, nv)."""
        return feedback(self.robot, self._rows.at(t), q, qd, self.numbers)

    @functools.cached_property
    def _rows(self) -> Pieces:
        rows = [np.moveaxis(x, -2, 0) for x in (self.q, self.qd, self.tau)]
        gains = np.moveaxis(every_row(self.K, self.driven, self.robot.nv), -3, 0)
        return Pieces(self.t - EARLY * (self.t[1] - self.t[0]), *rows, gains)

    @property
    def sample(self) -> int:
        """Every how many steps a simulation asks in Python: none for one trajectory, which is compiled."""
        return 1 if self.q.ndim > 2 else 0

    def __getitem__(self, i: Any) -> Follower:
        parts = [name for name in ("q", "qd", "tau", "K", "S") if getattr(self, name) is not None]
        if self.q.ndim < 3:
            raise SizeError("this controller follows one trajectory. Leave the index out.")
        return replace(self, **{name: getattr(self, name)[i] for name in parts})

    def __repr__(self) -> str:
        many = "" if self.q.ndim < 3 else f"{self.q.shape[:-2]} trajectories, "
        return f"<Follower of {self.robot.name!r}: {many}{len(self.t) - 1} steps in {self.t[0]:g} … {self.t[-1]:g} s>"
