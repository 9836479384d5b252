"""Proofs that the dynamics of a robot hold on this machine: identities of mechanics at random states.

Each proof measures how far two ways to the same number are apart, relative to the largest number in the comparison, and
compares the worst state with a limit: some ten thousand roundings for identities, more for rates. They run on the back
end that serves the user, so that a compiler or a processor that is at fault shows. A proof that cannot be made says
why, and is neither passed nor failed.

Rates of change are central differences of sixth order along a motion of unit speed; with this step what the series
leaves out and what rounding adds are both far below LIMIT_OF_RATES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from hinge.backends import default_backend
from hinge.checking import others
from hinge.checking.trials import CannotBeMade, States, apart
from hinge.errors import NotCovered
from hinge.robot import Robot
from hinge.typing import Array, Backend

STATES = 16
LIMIT = 1e-11
LIMIT_OF_RATES = 1e-9
STEP = 0.01
WEIGHTS = {-3: -1 / 60, -2: 9 / 60, -1: -45 / 60, 1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
FRAMES = 8  # how many of the outermost bodies have their Jacobian proven


@dataclass(frozen=True)
class Proof:
    """An identity: whether it held (None: it could not be tried), worst residual, limit, and the rest in words."""

    name: str
    passed: bool | None
    worst: float | None
    limit: float | None
    detail: str

    @property
    def outcome(self) -> str:
        """In a word: passed, failed or skipped."""
        return "skipped" if self.passed is None else "passed" if self.passed else "failed"

    @property
    def measured(self) -> str:
        """The numbers and the words."""
        return self.detail if self.worst is None else f"{self.worst:.1e}, limit {self.limit:.0e}: {self.detail}"


def prove(robot: Robot, text: str | bytes = "", file: str = "", states: int = STATES) -> tuple[Proof, ...]:
    """All proofs on a robot; `text` is what it was loaded from and `file` its path, which other libraries read too."""
    drawn = draw(robot, states)
    comparisons = {"agrees with Pinocchio": others.pinocchio, "agrees with MuJoCo": others.mujoco}
    laws: dict[str, Law] = LAWS | {name: partial(one, text=text, file=file) for name, one in comparisons.items()}
    return tuple(_tried(name, law, drawn) for name, law in laws.items())


def draw(robot: Robot, n: int, **options: Any) -> States:
    """n random states near the neutral one; limits do not matter, mechanics holds beyond them."""
    rng = np.random.default_rng(0)
    q = robot.integrate(np.tile(robot.neutral(), (n, 1)), rng.uniform(-1.5, 1.5, (n, robot.nv)), **options)
    qd, qdd = rng.normal(size=(2, n, robot.nv))
    return States(robot, q, qd / np.linalg.norm(qd, axis=1, keepdims=True), qdd)


Law = Callable[[States], tuple[float, float, str]]


def _tried(name: str, law: Law, states: States) -> Proof:
    """One proof; where the worst has to be above its limit, the law says so by a negative limit."""
    if not states.robot.nv:
        return Proof(name, None, None, None, "nothing moves.")
    try:
        with np.errstate(all="ignore"):
            worst, limit, detail = law(states)
    except (CannotBeMade, NotCovered) as reason:
        return Proof(name, None, None, None, str(reason).split("\n")[0])
    words = f"{detail}, at {len(states.q)} random states."
    if limit < 0.0:
        return Proof(name, bool(worst > -limit), worst, -limit, words)
    return Proof(name, bool(worst <= limit), worst, limit, words)


def rate(value: Callable[[float], Array]) -> Array:
    """The rate of change of a quantity at time 0."""
    return np.asarray(sum(w * value(k * STEP) for k, w in WEIGHTS.items())) / STEP


# ---- laws: (worst, limit, in words) ----------------------------------------------------------------------------------


def forward_undoes_inverse(s: States) -> tuple[float, float, str]:
    """tau(qdd(tau)) = tau, in forces, because a badly conditioned mass matrix magnifies errors in accelerations."""
    tau = s.robot.inverse_dynamics(s.q, s.qd, s.qdd)
    back = s.robot.forward_dynamics(s.q, s.qd, tau)
    H = s.robot.mass_matrix(s.q)
    size = np.abs(H) @ np.abs(back)[..., None]
    again = s.robot.inverse_dynamics(s.q, s.qd, back)
    off = float(np.abs(back - s.qdd).max())
    return apart(tau, again, size), LIMIT, f"forces come back; accelerations differ by at most {off:.1e}"


def symmetric(s: States) -> tuple[float, float, str]:
    """The columns of the mass matrix, each the force for a unit of acceleration, make a symmetric matrix."""
    columns = _columns(s)
    return apart(columns, columns.swapaxes(1, 2)), LIMIT, "forces for unit accelerations make a symmetric matrix"


def same_matrix(s: States) -> tuple[float, float, str]:
    """The same columns are the mass matrix by its own method."""
    return apart(_columns(s), s.robot.mass_matrix(s.q)), LIMIT, "they are the mass matrix"


def _columns(s: States) -> Array:
    rest, n = np.zeros_like(s.qd), s.robot.nv
    still = s.robot.inverse_dynamics(s.q, rest, rest)
    units = np.broadcast_to(np.eye(n), (len(s.q), n, n))
    each = s.robot.inverse_dynamics(s.q[:, None, :], np.zeros(n), units)
    return (each - still[:, None, :]).swapaxes(1, 2)


def positive_definite(s: States) -> tuple[float, float, str]:
    """The eigenvalues of the mass matrix, with its diagonal made 1 so that units do not matter, are positive."""
    H = s.robot.mass_matrix(s.q)
    diagonal = np.diagonal(H, axis1=1, axis2=2)
    limit = 1e-12
    if np.any(diagonal <= 0.0):
        k = int(np.argmin(diagonal.min(axis=0)))
        return float(diagonal.min()), -limit, f"{s.robot.model.joint_label()(k)} moves nothing that has inertia"
    scale = 1.0 / np.sqrt(diagonal)
    least = np.linalg.eigvalsh(H * scale[:, :, None] * scale[:, None, :]).min()
    return float(least), -limit, "the least eigenvalue of the mass matrix with unit diagonal is above the limit"


def passive(s: States) -> tuple[float, float, str]:
    """dH/dt - 2C is skew: the Coriolis forces do no work."""
    Hd = rate(lambda t: s.robot.mass_matrix(s.robot.integrate(s.q, t * s.qd)))
    C, H = s.robot.coriolis_matrix(s.q, s.qd), s.robot.mass_matrix(s.q)
    N = Hd - 2.0 * C
    return apart(N, -N.swapaxes(1, 2), H), LIMIT_OF_RATES, "dH/dt - 2C is skew"


def energy(s: States) -> tuple[float, float, str]:
    """d(T + V)/dt = tau · qd"""

    def total(t: float) -> Array:
        q, qd = s.robot.integrate(s.q, t * s.qd), s.qd + t * s.qdd
        return s.robot.kinetic_energy(q, qd) + s.robot.potential_energy(q)

    tau = s.robot.inverse_dynamics(s.q, s.qd, s.qdd)
    work = np.sum(tau * s.qd, axis=1)
    return apart(rate(total), work, np.abs(tau * s.qd).sum(axis=1), total(0.0)), LIMIT_OF_RATES, \
        "the power of the forces is the rate of energy"  # fmt: skip


def jacobian(s: States) -> tuple[float, float, str]:
    """J qd is the velocity of a frame: its pose's rate, in its own coordinates."""
    model, worst = s.robot.model, 0.0
    outer = [model.body_name[i] for i, _ in model.outward() if not model.children[i]]
    names = outer[:: max(1, len(outer) // FRAMES)]
    for name in names:
        T = s.robot.pose(s.q, name)

        def pose(t: float, name: str = name) -> Array:
            return s.robot.pose(s.robot.integrate(s.q, t * s.qd), name)

        D = np.linalg.inv(T) @ rate(pose)
        twist = np.stack([D[:, 2, 1], D[:, 0, 2], D[:, 1, 0], D[:, 0, 3], D[:, 1, 3], D[:, 2, 3]], axis=1)
        J = s.robot.jacobian(s.q, name)
        worst = max(worst, apart((J @ s.qd[..., None])[..., 0], twist, T))
    return worst, LIMIT_OF_RATES, f"J qd is the rate of the pose, for {len(names)} outermost bodies"


def machine_code(s: States) -> tuple[float, float, str]:
    """What the machine runs is what the interpreter, which is right by definition, computes."""
    served = default_backend()
    if served == "interpret":
        raise CannotBeMade("the interpreter serves, there is no machine code to compare it with.")
    tau, again = (
        s.robot.inverse_dynamics(s.q, s.qd, s.qdd, backend=b)
        for b in cast(tuple[Backend, Backend], (served, "interpret"))
    )
    return apart(tau, again), 1e-12, f"inverse dynamics of {served} and of the interpreter agree"


LAWS: dict[str, Law] = {
    "forward undoes inverse": forward_undoes_inverse,
    "symmetric": symmetric,
    "mass matrix": same_matrix,
    "positive definite": positive_definite,
    "passive": passive,
    "energy": energy,
    "Jacobian": jacobian,
    "machine code": machine_code,
}
