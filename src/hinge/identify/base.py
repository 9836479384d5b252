"""Base parameters: the combinations of a robot's numbers that its joint forces depend on.

    tau = Y π = Y_b (π_b + K π_d)

Some columns of the regressor are zero, and some are the same combination of others in every state: what a joint cannot
feel, or feels only together with its neighbours. Columns are taken from the base outward, moments before masses and
masses before the joints' own terms; one that the columns before it make up is dependent, and its number joins theirs:
a mass on a turning arm is felt as the moments it makes. Found on numbers, at random states, so that trees, coupled
joints and joints of any kind need no rules of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.arguments import generator
from hinge.calls.call import DEFAULT_TERMS
from hinge.errors import NotCovered, SizeError
from hinge.identify.parameters import Array, parameter_names
from hinge.model.driven import sizes
from hinge.model.model import NUMBERS
from hinge.robot import Robot
from hinge.typing import Numbers, Term

ROWS = 4  # how many times as many equations as unknowns
BRISK = (1.0, 5.0)  # rad/s and rad/s², how fast random states move: as much as gravity does
FAINT = 1e-6  # share of a column that has to be its own for its parameter to be looked for in measurements
DUST = 1e-9  # of a column: a share of it that is rounding


@dataclass(frozen=True, eq=False)
class Base:
    """Independent and dependent parameters of a robot, and how the second join the first."""

    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    K: Array  # (rank, dependent)
    all_names: tuple[str, ...]
    scale: Array  # (rank,) root mean square of each column at random states

    @property
    def rank(self) -> int:
        """How many numbers there are to find."""
        return len(self.independent)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters that others join."""
        return tuple(self.all_names[k] for k in self.independent)

    def values(self, parameters: Any) -> Array:
        """π_b + K π_d, (…, rank), of parameters (…, p)."""
        given = _whole(np.asarray(parameters, float), len(self.all_names), "parameters")
        return given[..., self.independent] + given[..., self.dependent] @ self.K.T

    def columns(self, regressor: Numbers) -> Array:
        """The columns of the regressor (…, p) that stay, (…, rank)."""
        return _whole(np.asarray(regressor, float), len(self.all_names), "regressor")[..., self.independent]

    def groups(self) -> dict[str, dict[str, float]]:
        """For each independent parameter, what joins it: name → factor."""
        others = [self.all_names[d] for d in self.dependent]
        joins = [{name: float(x) for name, x in zip(others, row, strict=True) if x} for row in self.K]
        return dict(zip(self.names, joins, strict=True))

    def __str__(self) -> str:
        lines = [f"{self.rank} of {len(self.all_names)} parameters, or sums of them, can be found from joint forces:"]
        for name, group in self.groups().items():
            lines.append("  " + " ".join([name, *(f"{x:+.4g} {other}" for other, x in group.items())]))
        silent = [self.all_names[d] for k, d in enumerate(self.dependent) if not self.K[:, k].any()]
        return "\n".join([*lines, f"felt by no joint: {', '.join(silent)}" if silent else "every one is felt"])


def base_parameters(robot: Robot, joint_terms: Sequence[Term] = DEFAULT_TERMS,
                    states: tuple[Any, Any, Any] | None = None,
                    tol: float = 1e-8, seed: int = 0) -> Base:  # fmt: skip
    """The combinations that joint forces depend on, found at random states or at given ones, (q, qd, qdd).

    A column is dependent when less than `tol` of it is left beside those before it.

    >>> print(hinge.identify.base_parameters(hinge.samples.pendulum(1), joint_terms=()))
    3 of 10 parameters, or sums of them, can be found from joint forces:
      rod1.mx
      rod1.mz
      rod1.Iyy
    felt by no joint: rod1.m, rod1.my, rod1.Ixx, rod1.Izz, rod1.Iyz, rod1.Ixz, rod1.Ixy
    """
    if any(sizes(robot.model)):
        raise NotCovered(f"robot {robot.name!r} has driven joints. Identify the robot it was made from.")
    names = parameter_names(robot, joint_terms)
    if not robot.nv:
        return Base((), tuple(range(len(names))), np.zeros((0, len(names))), names, np.zeros(0))
    q, qd, qdd = random_motion(robot, ROWS * len(names), seed) if states is None else states
    Y = robot.regressor(q, qd, qdd, joint_terms=joint_terms).reshape(-1, len(names))
    if not np.isfinite(Y).all():
        raise SizeError("base_parameters: states have a number that is not finite. Leave such rows out.")
    size = np.sqrt(np.mean(Y * Y, axis=0))
    R: Any = np.linalg.qr(Y / np.where(size > 0.0, size, 1.0), mode="r")
    taken, all_Q = list[int](), np.empty(R.shape, order="F")
    for k in _in_turn(robot.model.count, len(names)):
        Q = all_Q[:, : len(taken)]
        left = R[:, k] - Q @ (Q.T @ R[:, k])
        left = left - Q @ (Q.T @ left)  # again, for what rounding left
        length = np.linalg.norm(left)
        if length > tol * np.linalg.norm(R[:, k]):
            all_Q[:, len(taken)] = left / length
            taken.append(k)
    Q = all_Q[:, : len(taken)]
    taken.sort()
    others = [k for k in range(len(names)) if k not in taken]
    K = np.linalg.lstsq(Q.T @ R[:, taken], Q.T @ R[:, others], rcond=None)[0]
    K[np.abs(K) < max(tol, DUST)] = 0.0
    K *= size[others] / size[taken][:, None]
    return Base(tuple(taken), tuple(others), K, names, size[taken])


def _in_turn(bodies: int, count: int) -> list[int]:
    """The order in which columns are looked at: moments, masses, joint terms."""
    masses = [NUMBERS * k for k in range(bodies)]
    moments = [k for k in range(NUMBERS * bodies) if k % NUMBERS]
    return [*moments, *masses, *range(NUMBERS * bodies, count)]


def random_motion(robot: Robot, rows: int, seed: int) -> tuple[Array, Array, Array]:
    """States and accelerations, so many that they give at least that many equations."""
    rng = generator("base_parameters", seed)
    q, qd = robot.random_state(rng, max(2, -(-rows // max(robot.nv, 1))))
    return q, BRISK[0] * qd, BRISK[1] * rng.normal(size=(len(qd), robot.nv))


def _whole(given: Array, count: int, what: str) -> Array:
    if given.shape[-1:] != (count,):
        raise SizeError(f"{what} has shape {given.shape}; its last axis has to have {count} entries, all parameters.")
    return given
