"""What a rollout gives: its states, derivatives back through them, what touched, and the same as a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.results import ContactRecord
from hinge.errors import NotCovered
from hinge.sim.adjoint import Course
from hinge.sim.contact_record import Taken
from hinge.sim.notes import unused_numbers
from hinge.sim.rollouts import Clock
from hinge.sim.trajectory import Trajectory
from hinge.steps.step import joint_terms_of
from hinge.typing import Numbers, Statuses


class States(NamedTuple):
    """States (…, rows, nq) and (…, rows, nv), and a status (…)."""

    q: Array
    qd: Array
    status: Statuses


class Rollout(States):
    """States (…, rows, nq) and (…, rows, nv), and a status (…); derivatives go back through it."""

    course: Course | None = None  # what it came from; a copy does not have it

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(f"  note: {one}" for one in self.notes)])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the robot has that did not act, as `Trajectory.notes` has it; a copy has none."""
        return () if self.course is None else unused_numbers(self.course.robot, self.course.physics)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rollout, tuple(self)

    def pulled(
        self,
        dq: Numbers | None = None,
        dqd: Numbers | None = None,
        by: str | Sequence[str] | None = None,
        flat: bool = False,
        return_status: bool = False,
    ) -> Any:
        """The derivatives of a weighted sum of the states by all that was given, by its names: q0, qd0, tau, taus, …

        `dq` (…, rows, nv), along `integrate`, and `dqd` (…, rows, nv) are the weights of what was recorded; none are
        zero. `by` names what derivatives are taken by, all unless given. Each has the shape in which it was given, that
        of q0 with nv along `integrate`; `parameters` and `external` are dicts by name, `inputs` a tuple. With `flat`
        `dq` and that of q0 are by the nq numbers. What was given must not have changed since. Weights of states that
        were lost make all of that rollout NaN. With `return_status` a status (…) comes after the dict: the worst of the
        steps of a rollout, NOT_SMOOTH where derivatives through contacts hold on one side only (docs/contact.md).

        >>> arm = hinge.samples.planar_2r()
        >>> run = hinge.rollout(arm, [0.5, 0.0], [0.0, 0.0], steps=100, h=1e-3, taus=np.zeros((100, 2)))
        >>> end = np.zeros((101, 2))
        >>> end[-1, 0] = 1.0  # the first joint at the end
        >>> run.pulled(end)["taus"].shape
        (100, 2)
        """
        found, status = self._known().pulled(dq, dqd, by, flat)
        return (found, status) if return_status else found

    @property
    def contacts(self) -> ContactRecord:
        """What touched at the recorded states, as `Trajectory.contacts` has it.

        >>> ball = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
        >>> run = hinge.rollout(ball, [1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), 100, 1e-3, record=10, ground=0.0)
        >>> run.contacts.forces.shape
        (11, 1, 3)
        """
        one = self._known()
        return _steps(one).contacts(one.times, self.q, self.qd)

    @property
    def trajectory(self) -> Trajectory:
        """The same as a trajectory, with its times, which can be plotted, viewed and saved.

        >>> run = hinge.rollout(hinge.samples.planar_2r(), [0.3, 0.5], np.zeros(2), 100, 1e-3, record=10)
        >>> run.trajectory
        <Trajectory of 'planar_2r': 11 states in 0 … 0.1 s, semi_implicit>
        """
        one = self._known()
        own = {name: np.asarray(x, float) for name, x in one.given.get("parameters", {}).items()}
        course = _steps(one) if one.physics.touch.active else None
        states = {"q": self.q, "qd": self.qd}
        info = {"physics": "file"} if one.physics.integrator else {}
        if self.notes:
            info["notes"] = "\n".join(self.notes)
        terms = joint_terms_of(one.robot.model, one.physics)
        return Trajectory(one.robot, one.times, states, self.status, one.physics.method, info=info, parameters=own,
                          joint_terms=terms, course=course)  # fmt: skip

    def _known(self) -> Course:
        if self.course is None:
            raise NotCovered(
                "this rollout does not know what it came from: it is a copy, or one of arrays of another library.\n"
                "  Ask the rollout itself; derivatives of the library's own flow through it."
            )
        return self.course


def _steps(one: Course) -> Taken:
    clock = Clock(one.start, one.first, one.h, one.steps, one.h)
    return Taken(one.robot, one.physics, one.outside, clock, one.backend)
