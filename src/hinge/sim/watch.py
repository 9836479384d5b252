"""The watch of a run: whether the method of integration is unstable at this step length.

An explicit method is unstable where a mode of the robot and its controller is too fast for the step. The mode then
grows from step to step although its motion is not resolved, which no motion of a robot does. Both are asked for:

    not resolved    in a Runge-Kutta method, a stage changes the accelerations by more than they are: |hλ| > 2.4;
                    from step to step, accelerations alternate in sign; Euler's method already fails at |hλ| > 0.2
    growing         the velocity that a step adds doubles again and again while the motion is not resolved, or is huge

A control that switches on and off, a stop, an impact or dry friction is not resolved either, but does not grow. Chaos,
an inverted pendulum and fast motions are resolved. `Watch` is carried from step to step with the states.
Source: ours; the measure of |hλ| by stages follows Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2.
"""

from __future__ import annotations

from typing import NamedTuple

from hinge.graph import Scalar, absolute, less, maximum, select, when
from hinge.integrators import METHODS
from hinge.integrators.probes import Probe
from hinge.status import DIVERGED, UNSTABLE

SLIGHT = 1e-4  # rad/s, m/s: a change of velocity in a step that does no harm
HUGE = 1e4  # rad/s, m/s: a change of velocity in a step, against that of the last one, that no motion has
DOUBLINGS, EULER_DOUBLINGS = 6.0, 10.0  # so often it doubles before a run is unstable
FORGOTTEN = 0.5  # of a doubling, in a step that is resolved
STAGES, EULER = 1.5, 0.04  # (hλ)²/4 by stages, and (hλ)² by Euler's steps, from which a motion is not resolved


class Watch(NamedTuple):
    """What a run remembers: weighted sums of the velocity changes of the last two steps, and how often they doubled.

    `before` is that of Euler's method only; `level` is the change at the last doubling.
    """

    last: Scalar = 0.0
    before: Scalar = 0.0
    level: Scalar = 0.0
    doublings: Scalar = 0.0

    def after(self, method: str, probe: Probe, h: Scalar, status: Scalar) -> tuple[Watch, Scalar]:
        """Return the watch after a step of h seconds that ended with a status, and the status with UNSTABLE in it.

        A run that is lost while it doubles is unstable too.
        """
        tableau = METHODS[method].tableau
        is_euler = tableau is not None and tableau.stages == 1 and not tableau.late
        most = EULER_DOUBLINGS if is_euler else DOUBLINGS
        change, first, between = (h * x for x in probe)
        if is_euler:
            coarse = less(EULER * absolute(self.last), absolute(change - 2.0 * self.last + self.before))
        else:
            coarse = less(change * self.last, -SLIGHT * SLIGHT)
        if tableau is not None and tableau.stages > 1:
            coarse = maximum(coarse, less(STAGES * absolute(first) + SLIGHT, absolute(between)))

        def counted(level: Scalar, doublings: Scalar, status: Scalar) -> tuple[Scalar, Scalar, Scalar]:
            size = absolute(change) + absolute(between)
            doubles = select(less(2.0 * maximum(level, SLIGHT), size), coarse, 0.0)
            count = select(coarse, doublings + doubles, maximum(doublings - FORGOTTEN, 0.0))
            level = select(doubles, size, select(less(0.0, count), level, 0.0))
            grown = maximum(less(most - 0.5, count), select(less(HUGE, absolute(change)), coarse, 0.0))
            ends = select(less(status, 0.5), grown, 0.0)
            lost = select(less(absolute(status - DIVERGED), 0.5), less(1.5, doublings), 0.0)
            return level, count, select(maximum(ends, lost), float(UNSTABLE), status)

        seen = maximum(coarse, less(0.0, self.doublings))  # in few steps: the others cost next to nothing
        level, count, status = when(seen, (self.level, self.doublings, status), counted)
        return Watch(change, self.last if is_euler else 0.0, level, count), status
