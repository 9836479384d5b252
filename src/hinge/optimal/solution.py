"""What a search for the best motion found: the motion, what it costs, how sure that is, and how it came about."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.counting.sheets import Sheet
from hinge.errors import SizeError, TrajectoryError
from hinge.optimal.follower import Follower
from hinge.optimal.problem import Problem
from hinge.robot import Robot
from hinge.sim import Trajectory, simulate
from hinge.sim.picture import MISSING, drawable, save
from hinge.status import Status

SHOWN = ("cost", "optimality", "gap", "violation", "promised", "alpha", "added")  # of what is told, in the table
BY_PROBLEM = ("q", "qd", "u", "cost", "optimality", "gap", "violation", "status", "gains")
DIGITS = 6  # of a figure there
LEAST = 1e-12  # that is drawn on a scale without zero


@dataclass(frozen=True, eq=False)
class Solution:
    """States q (…, horizon + 1, nq), qd (…, horizon + 1, nv) and forces u (…, horizon, nu); cost and status (…).

    `optimality` is the steepest slope of the cost by a force within its bounds, `gap` the sum of what steps miss the
    next state by, `violation` the most that a constraint is off zero which pushes; `gains` (…, horizon, nu, 2 nv) say
    how forces answer to displacements of the state; `solution[i]` is that of one of several problems. `history` has
    an array for each iteration, a row for each problem that was still searched: its number, then what `told` names.

    >>> arm = hinge.samples.planar_2r()
    >>> wanted = hinge.optimal.posture(arm, [1.0, 0.5])
    >>> problem = hinge.optimal.Problem(arm, 20, 0.05, running=[hinge.optimal.effort()], final=[wanted])
    >>> solution = hinge.optimal.ddp(problem, [0.0, 0.0])
    >>> print(solution)
    <Solution of 'planar_2r': OK, cost 7.81, 20 steps of 0.05 s, 8 iterations>
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
    told: tuple[str, ...] = ()
    history: Sequence[Array] = field(default=(), repr=False)

    def __repr__(self) -> str:
        problem, many = self.problem, np.size(self.cost)
        names = [Status(int(x)).name for x in np.unique(self.status)]
        what = f"cost {self.cost:.3g}" if many == 1 and not np.ndim(self.cost) else f"{many} problems"
        steps = f"{problem.horizon} steps of {problem.step:g} s"
        robot = problem.robot.name
        return f"<Solution of {robot!r}: {', '.join(names)}, {what}, {steps}, {len(self.history)} iterations>"

    def __getitem__(self, i: Any) -> Solution:
        """The solution of one of several problems, or of some."""
        if not np.ndim(self.cost):
            raise SizeError("this is the solution of one problem. Leave the index out.")
        own = np.arange(np.size(self.cost)).reshape(np.shape(self.cost))[i]
        place = np.full(np.size(self.cost), -1)
        place[np.ravel(own)] = np.arange(np.size(own))
        history = []
        for told in self.history:
            at = place[told[:, 0].astype(int)]
            history.append(np.column_stack([at, told[:, 1:]])[at >= 0])
        while history and not len(history[-1]):
            history.pop()
        return replace(self, history=history, **{name: getattr(self, name)[i] for name in BY_PROBLEM})

    @property
    def t(self) -> Array:
        """The times of the states (s)."""
        return self.t0 + self.problem.step * np.arange(self.problem.horizon + 1)

    @property
    def tau(self) -> Array:
        """The forces of all joints, (…, horizon, nv)."""
        return self.problem.tau(self.u)

    @property
    def method(self) -> str:
        """How steps were taken."""
        return self.problem.physics.method

    @property
    def trajectory(self) -> Trajectory:
        """The motion as `simulate` gives one, for pictures, films and files; after it the last forces stay."""
        tau = np.concatenate([self.tau, self.tau[..., -1:, :]], axis=-2)
        states = {"q": self.q, "qd": self.qd, "tau": tau}
        info = {"step": self.problem.step}
        return Trajectory(
            self.problem.robot, self.t, states, np.zeros(np.shape(self.cost), np.uint8), self.method, (), info,
            parameters=None if self.problem.robot.target.vary else {}, joint_terms=self.problem.rolls["joint_terms"],
        )  # fmt: skip

    def controller(self) -> Follower:
        """A controller (t, q, qd) → tau (nv) that follows the motion with its forces and its gains."""
        K = np.concatenate([-self.gains, -self.gains[..., -1:, :, :]], axis=-3)
        motors = np.array(self.problem.drives)
        return Follower(self.problem.robot, self.t, self.q, self.qd, self.trajectory.tau, K, motors)

    def replay(self, robot: Robot | None = None, feedback: bool = False,
               parameters: Mapping[str, Any] | None = None) -> Trajectory:  # fmt: skip
        """What `hinge.simulate` makes of the forces, in the same steps: for this robot, or another with its joints.

        With `feedback` the gains answer to where it comes off. `parameters` are those of a varied robot, as `ddp` had
        them or others.
        """
        problem = self.problem
        control = self.controller() if feedback else self.tau
        start = self.q[..., 0, :], self.qd[..., 0, :]
        time = problem.horizon * problem.step
        return simulate(robot or problem.robot, time, *start, control=control, step=problem.step,
                        parameters=parameters, **problem.rolls)  # fmt: skip

    @property
    def table(self) -> Sheet:
        """The iterations of a search, a row each."""
        return self.iterations()

    def iterations(self, problem: int = 0) -> Sheet:
        """The iterations of one of several problems, counted through."""
        k, told = self._of(problem)
        columns = [name for name in SHOWN if name in told]
        rows = zip(k.astype(int).tolist(), *(told[name].tolist() for name in columns), strict=True)
        title = f"{self.problem.robot.name}: iterations" + (f" of problem {problem}" if np.ndim(self.cost) else "")
        short = tuple((first, *(float(f"{x:.{DIGITS}g}") for x in rest)) for first, *rest in rows)
        return Sheet(title, ("iteration", *columns), short)

    def _of(self, problem: int) -> tuple[Array, dict[str, Array]]:
        """The numbers of a problem's iterations, and what was told in them by name."""
        rows = [(k, *row[1:]) for k, told in enumerate(self.history) for row in told[told[:, 0] == problem]]
        k, *told = np.array(rows).reshape(-1, 1 + len(self.told)).T
        return k, dict(zip(self.told, told, strict=True))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The figure of a search: what the path costs more than in the end, and what is left, over iterations.

        The motion is drawn by `solution.trajectory.plot()`.
        """
        if path is not None:
            drawable(os.fspath(path))
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise TrajectoryError(*MISSING) from None
        if not self.history:
            raise SizeError("plot: there was no iteration to draw.")
        figure = Figure(figsize=(9.0, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        many = np.size(self.cost)
        for which in range(many):
            k, say = self._of(which)
            lines = [(left, say["cost"] - np.nanmin(say["cost"]), "cost", "C0")]
            lines += [
                (right, say[x], x, f"C{n}") for n, x in enumerate(SHOWN[1:4]) if x in say and (say[x] > LEAST).any()
            ]
            for axes, y, name, colour in lines:
                label = name if which == 0 else None
                axes.semilogy(k, np.maximum(y, LEAST), color=colour, label=label, alpha=1.0 if many == 1 else 0.3)
        left.set(title="cost above the least", xlabel="iteration")
        right.set(title="what is left", xlabel="iteration")
        if right.lines:
            right.legend(frameon=False)
        for axes in (left, right):
            axes.grid(alpha=0.25)
            axes.spines[["top", "right"]].set_visible(False)
        if path is not None:
            save(figure, os.fspath(path))
        return figure
