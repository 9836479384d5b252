"""Joint rates and accelerations out of the hand's: how fast the joints have to move for the hand to move as wanted.

    [α; a] = L qdd + N(qd)      qdd = L⁻¹ ([α; a] - N)

    jacobian   L is the Jacobian, N its rate times qd
    strobe     L a column at a time, the hand's acceleration for one joint's; N the hand's when no joint accelerates

Where the hand leaves joints free, the answer is nearest to what `posture` asks of them. Near a place where L loses
rank it is damped, more the nearer: it stays finite and has no step, and the hand falls behind. The faster the hand is
to go, the earlier that has to begin: a direction which joints hardly move is also damped where it asks for more of them
than `most`, and the joints then do what `lost` says.
Source: turney1981, section 10.1. A bare number in the margin is an equation there.
Differs from the source: any number of joints, part of the hand's motion as a task, and a damped answer where the text
has none. Gravity is in neither acceleration. An arm with fewer joints than its task has directions is singular
everywhere, and comes as near as it can.
"""

from __future__ import annotations

import math

from hinge.dynamics.composite import composite
from hinge.dynamics.kinematics import acceleration as hand_acceleration
from hinge.dynamics.kinematics import jacobian, jacobian_rate
from hinge.dynamics.newton_euler import still
from hinge.dynamics.registry import ACCELERATION, NV, PLACE, POSITION, VELOCITY, Quantity, algorithm
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.graph import inner, less, maximum, select, total, units
from hinge.model.driven import driven

TWIST = Quantity("a spatial vector in base axes, angular first", lambda m: (6,), counted="")
POSTURE = Quantity("what joints should do where the hand leaves them free", NV, absent=lambda m: [0.0] * m.nv)
DAMPING = Quantity("how near to singular answers are damped", lambda m: (), lambda m, x: x[0], absent=lambda m: 0.02)
MOST = Quantity(
    "how large answers get undamped in weak directions", lambda m: (), lambda m, x: x[0], absent=lambda m: math.inf
)
LOST = Quantity("what joints should do in directions that are damped for being weak", NV, absent=lambda m: None)
ROWS = {"pose": range(6), "position": range(3, 6), "orientation": range(3)}
OPTIONS = {"task": tuple(ROWS), "metric": ("unit", "inertia")}
# mobilities: squares of what a direction moves for joint rates of one
FLOOR = 1e-6  # the mean of a kind of direction is not taken to be less, (1 mm)²: some hands only turn, or never do
STUCK = 1e-24  # of the mean: a direction that no joint moves but by rounding; nothing is asked of it
WEAK = 0.25  # of the mean: directions that are moved less are weak
LEAST = 1e-14  # of the mean: keeps what is measured from zero where nothing is damped


@algorithm("resolved_rate", method="jacobian", q=POSITION, twist=TWIST, at=PLACE, posture=POSTURE, damping=DAMPING,
           most=MOST, lost=LOST, returns=VELOCITY, options=OPTIONS, pivots=True, refuses=driven,
           priority=1)  # fmt: skip
def rate_by_jacobian(model, q, twist, at, posture, damping, most, lost, task="pose", metric="unit"):
    """Joint velocities that move a link or frame with a given velocity: the least ones, where several do.

    Takes q (nq), twist (6), which is [ω; v] of the frame's origin in base axes, and a name; gives qd (nv). `task` is
    "pose", "position" or "orientation"; "least" is by the sum of squares, or with metric="inertia" by kinetic energy,
    and counted from `posture` (nv). `damping` is how small the least of the singular values may be, beside their mean,
    before answers are damped, and `most` how large answers get before directions that are weak, below half the mean,
    are; these are left to `lost` (nv), which is `posture` unless given. `return_status` says SINGULAR there.

    >>> arm = hinge.samples.puma560()
    >>> qd = arm.resolved_rate([0.0, 0.5, 0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], "tool")
    >>> arm.velocity([0.0, 0.5, 0.5, 0.0, 0.5, 0.0], qd, "tool", frame="aligned").round(9)[3]
    np.float64(0.1)
    """
    return least(model, q, jacobian(model, q, at, "aligned"), twist, posture, damping, most, lost, task, metric)


@algorithm("resolved_rate", method="strobe", q=POSITION, twist=TWIST, at=PLACE, posture=POSTURE, damping=DAMPING,
           most=MOST, lost=LOST, returns=VELOCITY, options=OPTIONS, pivots=True, refuses=driven)  # fmt: skip
def rate_by_strobing(model, q, twist, at, posture, damping, most, lost, task="pose", metric="unit"):
    """Joint rates with L found by strobing: it takes rates to velocities as it takes accelerations to accelerations."""
    return least(model, q, strobed(model, q, at), twist, posture, damping, most, lost, task, metric)


@algorithm("resolved_acceleration", method="jacobian", q=POSITION, qd=VELOCITY, acceleration=TWIST, at=PLACE,
           posture=POSTURE, damping=DAMPING, most=MOST, lost=LOST, returns=ACCELERATION, options=OPTIONS, pivots=True,
           refuses=driven, priority=1)  # fmt: skip
def acceleration_by_jacobian(model, q, qd, acceleration, at, posture, damping, most, lost, task="pose", metric="unit"):
    """Joint accelerations that give a link or frame a given acceleration: the least ones, where several do.

    Takes q (nq), qd (nv), acceleration (6), which is [α; a] of the frame's origin in base axes, and a name; gives qdd
    (nv). `task`, `metric`, `posture`, `damping`, `most` and `lost` are as in `resolved_rate`.

    >>> arm, q, qd = hinge.samples.puma560(), [0.0, 0.5, 0.5, 0.0, 0.5, 0.0], np.ones(6)
    >>> qdd = arm.resolved_acceleration(q, qd, [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], "tool")
    >>> arm.acceleration(q, qd, qdd, "tool", frame="aligned", kind="classical").round(9)[3]
    np.float64(0.1)
    """
    v = model.flat(qd)
    N = [inner(row, v) for row in jacobian_rate(model, q, qd, at, "aligned")]
    L, left = jacobian(model, q, at, "aligned"), _less(acceleration, N)
    return least(model, q, L, left, posture, damping, most, lost, task, metric)


@algorithm("resolved_acceleration", method="strobe", q=POSITION, qd=VELOCITY, acceleration=TWIST, at=PLACE,
           posture=POSTURE, damping=DAMPING, most=MOST, lost=LOST, returns=ACCELERATION, options=OPTIONS, pivots=True,
           refuses=driven)  # fmt: skip
def acceleration_by_strobing(model, q, qd, acceleration, at, posture, damping, most, lost, task="pose", metric="unit"):
    """Joint accelerations with L and N found by strobing the hand's acceleration."""
    N = hand_acceleration(model, q, qd, still(model), at, "aligned", "classical")  # (10.1)
    return least(model, q, strobed(model, q, at), _less(acceleration, N), posture, damping, most, lost, task, metric)


def strobed(model, q, at):
    """L, a column for each joint acceleration of one, at rest: (10.1)."""
    columns = [
        hand_acceleration(model, q, still(model), model.joint_velocities(u), at, "aligned", "classical")
        for u in units(model.nv)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def least(model, q, L, b, x0, delta, most, lost, task, metric):
    """x nearest to x0 with L x = b, damped near singular L; the pivots of what was solved, and how far off singular is.

    The damping is a smooth function of the least eigenvalue of L W⁻¹ Lᵀ, or rather of what bounds it from below to a
    factor of six, the inverse's trace; angular and linear directions are each measured by the mean of their own.
    """
    rows = ROWS[task]
    L, b = [L[k] for k in rows], [b[k] for k in rows]
    pushed, pivots = _pushed(model, q, L, metric)
    A = [[inner(row, column) for column in pushed] for row in L]
    mean = _means(rows, [A[k][k] for k in range(len(rows))])
    stuck = [less(A[k][k], STUCK * m) for k, m in enumerate(mean)]
    A = plus_diagonal(A, [select(none, m, 0.0) for none, m in zip(stuck, mean, strict=True)])
    asked = [select(none, 0.0, x) for none, x in zip(stuck, b, strict=True)]

    def moved(y):
        return [inner(y, [column[j] for column in pushed]) for j in range(model.nv)]

    square = delta * delta
    inverse = LDL(plus_diagonal(A, [(1e-3 * square + LEAST) * m for m in mean]), str)
    columns = [inverse.solve(u) for u in units(len(rows))]
    s = 1.0 / total(m * columns[k][k] for k, m in enumerate(mean))
    short = select(less(s, square), square - s, 0.0)
    strain = _strain(asked, inverse.solve(asked), mean, moved, 1.0 / most)
    mu, z = short * short / (square + LEAST), x0 if lost is None else lost
    near = LDL(plus_diagonal(A, [mu * m for m in mean]), str)
    damped = LDL(plus_diagonal(A, [(mu + strain) * m for m in mean]), str)
    left = [select(none, 0.0, x - inner(row, z)) for none, x, row in zip(stuck, b, L, strict=True)]
    y = damped.solve(left)
    if lost is not None:
        y = _less(
            y, near.solve([select(none, 0.0, inner(row, _less(x0, z))) for none, row in zip(stuck, L, strict=True)])
        )
    x = [a + b for a, b in zip(x0, moved(y), strict=True)]  # (10.2)
    return x, [*pivots, *damped.pivots], select(less(0.0, strain), -strain, s - square)


def _strain(b, y, mean, moved, ease):
    """The damping of what is asked where it needs more than one over `ease` of joints that hardly move it, and zero.

    It has the size that bounds answers in a direction that is lost: σ b / (σ² + μ) is at most b / (2 √μ).
    """
    asked, needed = total(x * x / m for x, m in zip(b, mean, strict=True)) + LEAST, inner(b, y)
    lost = needed * needed / (total(x * x * m for x, m in zip(y, mean, strict=True)) + LEAST)  # what is asked of it
    share = _excess(total(x * x for x in moved(y)) * (ease * ease), 1.0) * _excess(WEAK * needed, asked)
    return lost * (ease * ease) * share * share


def _excess(x, bound):
    """From zero, where x is within a bound, smoothly to one, where it is far beyond."""
    return 1.0 - bound / maximum(x, bound)


def _pushed(model, q, L, metric):
    """The columns of W⁻¹ Lᵀ, where W is one or the mass matrix, and the pivots of W."""
    if metric == "unit":
        return L, []
    H = LDL(composite(model, q), model.joint_label())
    return [H.solve(row) for row in L], H.pivots


def _means(rows, diagonal):
    """For each direction the mean mobility of its kind, so that radians are not compared with metres."""
    kinds = [[x for k, x in zip(rows, diagonal, strict=True) if (k < 3) == angular] for angular in (True, False)]
    ang, lin = (total(kind) * (1.0 / len(kind)) + FLOOR if kind else 0.0 for kind in kinds)
    return [ang if k < 3 else lin for k in rows]


def _less(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]
