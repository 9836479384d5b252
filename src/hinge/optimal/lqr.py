"""The linear-quadratic regulator: the feedback about an equilibrium that costs least.

    u = u0 - K x,    x = [displacement of q along velocities; qd]
    cost ∫ xᵀ Q x + (u - u0)ᵀ R (u - u0) dt = x(0)ᵀ S x(0)

S solves the algebraic Riccati equation of the robot's linear motion about the equilibrium, of a robot with loops of
the motion that keeps them closed. With a step the cost is a sum over the steps, and u is held during each.
Modes that forces do not reach are what is left when, beginning with B, all is taken away that A leads to (staircase).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, duration, finite, shaped
from hinge.errors import NotCovered, SizeError
from hinge.model.states import labels
from hinge.optimal.driven import driven_velocities
from hinge.optimal.equilibrium import holding_force, kinematics, loop_rows, numbers
from hinge.robot import Robot
from hinge.typing import AnyArray

REST = 1e-6  # acceleration of a state that counts as at rest, beside that of the robot let loose, and 1 rad/s² or m/s²
REACHED = 1e-10  # what A leads to, as a share of A, that counts
MARGIN = 1e-9  # decay beside A that counts as some
SOLVED = 1e-8  # residual of a Riccati equation beside its terms
SHARE = 0.1  # of the coordinate that moves most: those that have less are not named
NAMED = 6  # coordinates of a mode that a message has room for


class Mode(NamedTuple):
    """A mode: its eigenvalue (1/s, or a factor a step), and the joints that take part in it, the first most."""

    eigenvalue: complex
    joints: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Regulator:
    """A controller (t, q, qd) → tau (nv) that brings a robot back to an equilibrium q (nq) held by tau (nv).

    `K` (nu, 2 nv) are its gains over the driven velocities, whose numbers are `driven` (nu,); `S` (2 nv, 2 nv) gives
    the cost xᵀ S x from a state on; `poles` are the eigenvalues of the closed loop: 1/s, or with a `step` (s) factors
    a step. `uncontrollable` are modes that die out, but by themselves. `numbers` are the parameters and the prescribed
    motion it was made with.
    """

    robot: Robot
    q: Array
    tau: Array
    K: Array
    S: Array
    poles: AnyArray
    driven: Array
    step: float | None
    uncontrollable: tuple[Mode, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, t: Any, q: Any, qd: Any) -> Any:
        """Joint forces (…, nv)."""
        about = self.q, np.zeros(self.robot.nv), self.tau, self.gains
        return feedback(self.robot, about, q, qd, self.numbers)

    @property
    def gains(self) -> Array:
        """K with a row for every velocity, (nv, 2 nv)."""
        return every_row(self.K, self.driven, self.robot.nv)

    def __repr__(self) -> str:
        slowest = self.poles[np.argmax(self.poles.real if self.step is None else np.abs(self.poles))]
        time = "" if self.step is None else f" in steps of {self.step:g} s"
        return (
            f"<Regulator of {self.robot.name!r}{time}: {len(self.driven)} of {self.robot.nv} velocities driven, "
            f"slowest pole {_told(slowest, self.step)}>"
        )


def lqr(robot: Robot, q: Any, Q: Any, R: Any, tau: Any = None, driven: Sequence[str] | None = None,
        step: float | None = None, method: str = "rk4", **how: Any) -> Regulator:  # fmt: skip
    """A controller about an equilibrium q (nq) that costs least: ∫ xᵀ Q x + uᵀ R u dt, or with `step` (s) the sum.

    x (2 nv) is the displacement along velocities and qd, u the change of the forces of the `driven` joints, all but
    floating ones unless named. Q (2 nv) and R (nu) are numbers, diagonals or matrices. `tau` (nv) holds the robot at q,
    and is found unless given. With `step` forces are held for so long, and motion is that of steps of `method`. What
    is no equilibrium is refused, and so are modes that forces do not reach and that do not die out, by name. `how` is
    what `linearize` takes: `joint_terms`, `parameters`, `prescribed`, `external`, …. Needs SciPy: extra `solve`.

    >>> rod = hinge.samples.pendulum(1)
    >>> hold = hinge.optimal.lqr(rod, [np.pi], Q=1.0, R=1.0)
    >>> hold.K.round(2)
    array([[9.91, 2.76]])
    >>> run = hinge.simulate(rod, 5.0, q0=[3.0], control=hold)
    >>> bool(abs(run.q[-1, 0] - np.pi) < 1e-3)
    True
    """
    motors = np.array(driven_velocities(robot, driven))
    still = np.zeros(robot.nv)
    q = robot.integrate(shaped("lqr: q", q, (robot.nq,)), still, **kinematics(how))  # quaternions of length one
    Q, R = weight("lqr: Q", Q, 2 * robot.nv), weight("lqr: R", R, len(motors), definite=True)
    h = None if step is None else duration("lqr: step", step)
    closed = loop_rows(robot, q, how)
    tau = _held_by(robot, q, closed, tau, motors, how)
    A, B = robot.linearize(q, still, tau, h, None if h is None else method, **how)
    N = _kept_closed(closed)
    A, B, inside = N.T @ A @ N, N.T @ B[:, motors], N.T @ Q @ N
    alone = _uncontrollable(robot, A, B, N, h)
    _refuse_unseen(robot, A, inside, N, h)
    S, K = _riccati(A, B, inside, R, h)
    return Regulator(robot, q, tau, K @ N.T, N @ S @ N.T, np.linalg.eigvals(A - B @ K), motors, h, alone,
                     numbers(how))  # fmt: skip


def feedback(robot: Robot, about: Sequence[Any], q: Any, qd: Any, numbers: Mapping[str, Any]) -> Any:
    """Joint forces (…, nv) by gains (…, nv, 2 nv) about a state and forces: `about` is q, qd, tau and the gains."""
    q0, qd0, tau, gains = about
    x = np.concatenate([robot.difference(q0, q, **numbers), qd - qd0], axis=-1)
    return tau - (gains @ x[..., None])[..., 0]


def every_row(K: Array, driven: Array, nv: int) -> Array:
    """Gains (…, nu, n) of the driven velocities with rows of zeros for the others, (…, nv, n)."""
    made = np.zeros((*K.shape[:-2], nv, K.shape[-1]))
    made[..., driven, :] = K
    return made


def weight(what: str, given: Any, n: int, definite: bool = False) -> Array:
    """A symmetric matrix (n, n) of weights, from itself, its diagonal or a number; none may be negative."""
    made = finite(what, given).astype(float)
    if made.shape not in ((), (n,), (n, n)):
        raise SizeError(f"{what} has shape {made.shape}; it has to be a number, {(n,)} or {(n, n)}.")
    if made.ndim < 2:
        made = np.diag(np.broadcast_to(made, (n,)))
    scale = np.abs(made).max(initial=0.0)
    if np.abs(made - made.T).max(initial=0.0) > 1e-12 * scale:
        i, j = np.unravel_index(np.argmax(np.abs(made - made.T)), made.shape)
        raise SizeError(f"{what} is not symmetric: [{i}, {j}] is {made[i, j]:g}, [{j}, {i}] is {made[j, i]:g}.")
    made = 0.5 * (made + made.T)
    least = np.linalg.eigvalsh(made).min(initial=np.inf)
    if definite and not least > 0.0:
        raise SizeError(
            f"{what} is not positive definite: its least eigenvalue is {least:.3g}. Every force has to cost."
        )
    if least < -1e-12 * scale:
        raise SizeError(f"{what} is not positive semidefinite: its least eigenvalue is {least:.3g}.")
    return made


def _held_by(robot: Robot, q: Array, A: Array, tau: Any, motors: Array, how: dict[str, Any]) -> Array:
    """The joint forces that hold the robot at q; refused where they do not."""
    still, names = np.zeros(robot.nv), labels(robot.model)[1]
    best = holding_force(robot.bias_force(q, still, **how), A, motors)
    made = best if tau is None else shaped("lqr: tau", tau, (robot.nv,))
    for k in np.setdiff1d(np.flatnonzero(made), motors):
        raise SizeError(f"lqr: tau[{k}] is {made[k]:g}, of joint {names[k]!r}, which is not driven. Give zero there.")
    loose, off, at_best = (np.abs(robot.forward_dynamics(q, still, x, **how)) for x in (0.0 * made, made, best))
    allowed = REST * max(1.0, loose.max())
    if off.max() <= allowed:
        return made
    k = int(off.argmax())
    hint = f"tau = {np.array2string(best, precision=6, separator=', ')} would hold it."
    if not at_best.max() <= allowed:
        hint = (
            "No forces of the driven joints hold it here. hinge.optimal.equilibrium finds a place near q where they do."
        )
    raise NotCovered(
        f"lqr: robot {robot.name!r} is not at rest at q: joint {names[k]!r} accelerates by {off[k]:.3g} "
        f"rad/s² or m/s².\n  {hint}"
    )


def _kept_closed(A: Array) -> Array:
    """A basis (2 nv, 2 m) of the displacements and velocities that keep loops closed, A of which is (r, nv)."""
    _, s, Vt = np.linalg.svd(A)
    return np.kron(np.eye(2), Vt[np.count_nonzero(s > REACHED * s.max(initial=0.0)) :].T)


def _uncontrollable(robot: Robot, A: Array, B: Array, N: Array, step: float | None) -> tuple[Mode, ...]:
    """The modes that forces do not reach; refused where one does not die out by itself."""
    modes = _modes(robot, A, B, N, step)
    lasting = [mode for mode in modes if not _decay(mode.eigenvalue, A, step) > 0.0]
    if lasting:
        raise NotCovered(
            f"lqr: robot {robot.name!r} cannot be brought to rest: forces of the driven joints do not reach\n"
            f"{_listed(lasting, step)}\n"
            "  Name joints that reach them in driven=, lock them, or let joint_terms= have damping that ends them."
        )
    return tuple(modes)


def _refuse_unseen(robot: Robot, A: Array, Q: Array, N: Array, step: float | None) -> None:
    """Refuse modes that neither die out nor grow, and cost nothing: there is no best way to end them."""
    values, vectors = np.linalg.eigh(Q)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    modes = _modes(robot, A.T, root, N, step)
    unseen = [m for m in modes if not abs(_decay(m.eigenvalue, A, step)) > 0.0]
    if unseen:
        raise NotCovered(
            f"lqr: Q of robot {robot.name!r} does not see what lasts, so that it costs nothing\n"
            f"{_listed(unseen, step)}\n"
            "  Give these coordinates a weight."
        )


def _modes(robot: Robot, A: Array, B: Array, N: Array, step: float | None) -> list[Mode]:
    """The modes of A that B does not reach, in the coordinates of the basis N; steps reach what their changes do."""
    basis = unreached(A if step is None else A - np.eye(len(A)), B)
    values, vectors = np.linalg.eig(basis.T @ A @ basis)
    names = np.array(labels(robot.model)[1])
    made = []
    for value, vector in zip(values, vectors.T, strict=True):
        part = np.abs(N @ basis @ vector).reshape(2, -1).max(axis=0)
        first = np.argsort(-part, kind="stable")[: np.count_nonzero(part > SHARE * part.max())]
        made.append(Mode(complex(value), tuple(str(name) for name in names[first])))
    return made


def unreached(A: Array, B: Array) -> Array:
    """A basis (n, k) of what is at right angles to all that B, A B, A² B, … span."""
    n, made, reached = len(A), np.eye(len(A)), 0
    block, scale = B, np.linalg.norm(B, 2) if B.size else 0.0
    while reached < n:
        U, s, _ = np.linalg.svd(block)
        rank = int(np.count_nonzero(s > REACHED * scale))
        made[:, reached:] = made[:, reached:] @ U
        if rank == 0:
            break
        within = made[:, reached : reached + rank]
        reached += rank
        block, scale = made[:, reached:].T @ A @ within, np.linalg.norm(A, 2)
    return made[:, reached:]


def _decay(eigenvalue: complex, A: Array, step: float | None) -> float:
    """How fast a mode dies out, below zero where it grows, and zero where it does neither."""
    rate = -eigenvalue.real if step is None else 1.0 - abs(eigenvalue)
    return rate if abs(rate) > MARGIN * (np.linalg.norm(A, 2) if step is None else 1.0) else 0.0


def _listed(modes: Sequence[Mode], step: float | None) -> str:
    """Eigenvalues a line each, with all coordinates that take part in their modes."""
    joints: dict[str, list[str]] = {}
    for mode in modes:
        joints.setdefault(_told(mode.eigenvalue, step), []).extend(mode.joints)
    return "\n".join(f"  - eigenvalue {value}: {_few(list(dict.fromkeys(all_)))}" for value, all_ in joints.items())


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")


def _told(eigenvalue: complex, step: float | None) -> str:
    size = abs(eigenvalue)
    real, imaginary = (x if abs(x) > 1e-7 * max(size, 1e-3) else 0.0 for x in (eigenvalue.real, eigenvalue.imag))
    swing = f" ± {abs(imaginary):.3g}i" if imaginary else ""
    return f"{real:.3g}{swing}{' 1/s' if step is None else ' a step'}"


def _riccati(A: Array, B: Array, Q: Array, R: Array, step: float | None) -> tuple[Array, Array]:
    """S of the Riccati equation, put into it to see that it is solved, and the gains K."""
    try:
        from scipy.linalg import solve_continuous_are, solve_discrete_are
    except ImportError:
        raise NotCovered(
            'lqr: Riccati equations are solved with SciPy, which is not installed.\n  pip install "hinge[solve]"'
        ) from None
    try:
        S = (solve_continuous_are if step is None else solve_discrete_are)(A, B, Q, R)
    except np.linalg.LinAlgError as problem:
        raise _unsolved(str(problem)) from None
    S = 0.5 * (S + S.T)
    if step is None:
        K = np.linalg.solve(R, B.T @ S)
        terms = [A.T @ S, S @ A, -S @ B @ K, Q]
    else:
        K = np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A)
        terms = [A.T @ S @ (A - B @ K), -S, Q]
    left = np.abs(sum(terms)).max() / max(np.abs(term).max() for term in terms)
    if not left <= SOLVED:
        raise _unsolved(f"a share of {left:.1g} is left over")
    return S, K


def _unsolved(why: str) -> NotCovered:
    return NotCovered(
        f"lqr: the Riccati equation could not be solved: {why.rstrip('.')}.\n"
        "  Give Q and R numbers whose sizes differ less; forces that hardly reach a mode, or hardly cost, make it hard."
    )
