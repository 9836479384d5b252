"""What a search for the best motion found: the motion, what it costs, how sure that is, and how it came about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.optimal.problem import Problem


@dataclass(frozen=True)
class Solution:
    """States q (…, horizon + 1, nq), qd (…, horizon + 1, nv) and forces u (…, horizon, nu); cost and status (…).

    `optimality` is the steepest slope of the cost by a force within its bounds, `gap` the sum of what steps miss the next
    state by, `violation` the most that a constraint is off; `gains` (…, horizon, nu, 2 nv) say how forces answer to
    displacements of the state.
    """

    problem: Problem
    q: Array
    qd: Array
    u: Array
    cost: Any
    optimality: Any
    gap: Any
    violation: Any
    status: Any
    gains: Array
    t0: Any = 0.0
    history: Sequence[Array] = field(default=(), repr=False)

    @property
    def t(self) -> Array:
        """The times of the states (s)."""
        return np.asarray(self.t0)[..., None] + self.problem.step * np.arange(self.problem.horizon + 1)

    @property
    def tau(self) -> Array:
        """The forces of all joints, (…, horizon, nv)."""
        return self.problem.tau(self.u)
