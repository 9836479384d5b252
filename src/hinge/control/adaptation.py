"""A controller that learns what the bodies of its robot weigh, while it runs.

    s = ė + Λ e,   v = qd + s        the rates that would make errors die out as Λ says
    tau = Y(q, qd, v, v̇) π + Λ H s    inverse dynamics with the numbers π as they are thought to be
    π̇ = γ M Yᵀ s

Joint forces are linear in π, which is what the texts parametrise equations for. With M constant, the energy

    ½ sᵀ H s + ½ Δπᵀ M⁻¹ Δπ / γ       Δπ = the real numbers less those thought

changes by -Λ sᵀ H s: errors die out, whatever the load. M measures the ten numbers of a body as a change of its
pseudo-inertia beside a mean body's, P: Δπᵀ M⁻¹ Δπ = tr(P⁻¹ ΔP P⁻¹ ΔP), so that no unit or axis is better than another.
Source: turney1981, section 3.4: the structure of the equations is there for adaptive control, which is left to others.
Differs from the source: the law is Slotine and Li's, in a metric of Lee, Kwon and Park's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.control import laws
from hinge.errors import NotCovered, SizeError
from hinge.identify.parameters import PSEUDO, parameters, pseudo_inertia, with_parameters
from hinge.model.model import NUMBERS
from hinge.robot import Robot
from hinge.typing import Moving, Numbers

LEAST = 1e-4  # m²: the square of the least radius that the mean body is taken to have


def adaptive(robot: Robot, target: Numbers | Moving, rate: float = 10.0, learning: float = 1.0) -> Adaptive:
    """Joint forces that lead a robot along a target though its bodies, or a load, weigh other than the model says.

    `target` is a motion or a configuration (nq); `rate` (1/s) says how fast errors die out, as computed torque with
    kp = rate² does, and `learning` (1/J) how fast what is thought of the bodies changes. It remembers, so it runs in
    Python once a step; each rollout has its own `estimate` (…, p), in the order of `hinge.identify.parameters`. Of
    joints nothing is learnt. What is thought need not be what a body can have: the motion has to show it.

    >>> arm = hinge.samples.puma560()
    >>> control = hinge.control.adaptive(arm, np.zeros(6))
    >>> control(0.0, np.zeros(6), np.zeros(6)).shape, control.estimate.shape
    ((6,), (66,))
    """
    if robot.nq != robot.nv:
        raise NotCovered(
            f"adaptive: robot {robot.name!r} has joints whose velocities are not the rates of coordinates."
        )
    for name, value in (("rate", rate), ("learning", learning)):
        if not (np.isfinite(value) and value > 0.0):
            raise SizeError(f"adaptive: {name}={value!r} has to be positive.")
    return Adaptive(robot, target, float(rate), float(learning))


class Adaptive:
    """A controller with what it thinks of the bodies; made by `adaptive`.

    Called with a time that is not later than the last, it goes on from what it thinks, and learns nothing in between.
    """

    sample = 1  # it runs in Python, every step

    def __init__(self, robot: Robot, target: Numbers | Moving, rate: float, learning: float):
        self.robot, self.rate, self.learning = robot, rate, learning
        self._want, self._place = laws.joint_target(robot, target), laws.joint_place(robot, target)
        self.knots = getattr(target, "knots", ())
        self.estimate = parameters(robot)
        self._metric = _metric(self.estimate[: NUMBERS * robot.model.count].reshape(-1, NUMBERS))
        self._before: tuple[float, Array] | None = None  # a time, and Yᵀ s then

    def __call__(self, t: float, q: Numbers, qd: Numbers) -> Array:
        """Joint forces (…, nv) at one time for states (…, nq) and (…, nv)."""
        robot, goal = self.robot, self._want(t, self._place)
        q, qd = arguments.real("q", q, (robot.nq,)), arguments.real("qd", qd, (robot.nv,))
        lag = goal.qd - qd
        s = lag + self.rate * robot.difference(q, goal.q)
        if self._before is not None and t > self._before[0]:
            self._learn(t - self._before[0], self._before[1])
        Y = linear_in(robot, q, qd, qd + s, goal.qdd + self.rate * lag)
        self._before = float(t), (s[..., None, :] @ Y)[..., 0, :]
        known = (Y @ np.broadcast_to(self.estimate, (*Y.shape[:-2], Y.shape[-1]))[..., None])[..., 0]
        return known + self.rate * (robot.mass_matrix(q) @ s[..., None])[..., 0]

    def _learn(self, h: float, felt: Array) -> None:
        """Move what is thought by a step of h seconds."""
        size = NUMBERS * self.robot.model.count
        moved = felt[..., :size].reshape(*felt.shape[:-1], -1, NUMBERS) @ self._metric
        change = np.zeros(felt.shape)
        change[..., :size] = h * self.learning * moved.reshape(*felt.shape[:-1], size)
        self.estimate = self.estimate + change

    def thought(self) -> Robot:
        """The robot as it is thought to be; of one rollout.

        >>> arm = hinge.samples.puma560()
        >>> hinge.control.adaptive(arm, np.zeros(6)).thought().mass == arm.mass
        True
        """
        return with_parameters(self.robot, self.estimate)


def linear_in(robot: Robot, q: Numbers, qd: Numbers, v: Any, a: Any) -> Array:
    """The matrix Y (…, nv, p) with Y π = H(q) a + C(q, qd) v + gravity, for the C of the Christoffel symbols.

    These are alike in both velocities, so what both do together is what their sum does less what their difference does.

    >>> arm = hinge.samples.planar_2r()
    >>> hinge.control.adaptation.linear_in(arm, np.zeros(2), np.ones(2), np.ones(2), np.ones(2)).shape
    (2, 22)
    """
    none = np.zeros_like(v)
    both = robot.regressor(q, qd + v, none) - robot.regressor(q, qd - v, none)
    return robot.regressor(q, none, a) + 0.25 * both


def _metric(bodies: Array) -> Array:
    """M (10, 10): what ten numbers change by for a unit of what is felt of each, beside the mean of bodies (n, 10)."""
    P, flat = pseudo_inertia(bodies).mean(axis=0), PSEUDO.reshape(NUMBERS, 16)
    size = max(np.trace(P[:3, :3]) / 3.0, LEAST * P[3, 3])
    mean = np.diag([size, size, size, P[3, 3]])
    dual = np.linalg.pinv(flat).T.reshape(NUMBERS, 4, 4)  # tr(dual_i P_k) is one where i = k, zero elsewhere
    return np.einsum("iab,bc,kcd,da->ik", dual, mean, dual, mean)
