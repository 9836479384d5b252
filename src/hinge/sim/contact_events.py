"""A run with contacts that are made and broken.

    run = hinge.simulate_contacts(robot, contacts, t=2.0, q0=q)

Between events the closed contacts keep their gaps by contact dynamics, in Runge-Kutta steps of fourth order. A gap that
has closed at the end of a step is found by bisection; there an impact happens, and what does not part again is closed
from then on. A contact whose force is zero and whose gap grows is open again. Bounces without number (Zeno's) come to
an end: a flight shorter than a thousandth of the step is none, and the run has Status.AT_REST. Kinematic loops stay
closed in flight, in contact and at impact, and are projected after each step.

A contact that was found on a face of a solid is on that face only: a point beyond its edges passes beside it. Where a
closed contact comes to an edge, the bodies touch elsewhere from then on, at contacts that were not given: the run ends
there with an event "edge" and Status.NO_SOLUTION.

With friction or compliance the run goes by the rigid law of `hinge.simulate`, in steps of one length: a gap may close
within a step, and impacts are part of it, not events.
Source: featherstone1987, sections 9.6 to 9.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array, finite, number
from hinge.contact import Contact, contact_forces
from hinge.contact.faces import off_faces
from hinge.contact.forces import Method
from hinge.contact.impact import checked_restitution
from hinge.errors import NotCovered, SizeError
from hinge.loops.assembly import START, refuse_open
from hinge.robot import Robot
from hinge.sim.simulation import simulate
from hinge.status import Status
from hinge.steps.contact_step import refuse_driven
from hinge.typing import Control, Flags, LoopWay, Numbers

SHUT = 1e-9  # m: a gap that is closed
STILL = 1e-9  # m/s
MOST_EVENTS = 100_000


class ContactEvent(NamedTuple):
    """What happened when: "impact", "break", "rest" or "edge", at which contact, and the velocities after it."""

    t: float
    kind: str
    contact: int
    qd: Array


class ContactRun(NamedTuple):
    """Times (T,), states (T, nq) and (T, nv), contact forces (T, n), events and a status."""

    t: Array
    q: Array
    qd: Array
    force: Array
    events: tuple[ContactEvent, ...]
    status: Status


def simulate_contacts(robot: Robot, contacts: Sequence[Contact], t: float = 1.0, q0: Numbers | None = None,
                      qd0: Numbers | None = None, tau: Control | Numbers | None = None, step: float = 1e-3,
                      restitution: Numbers | None = None) -> ContactRun:  # fmt: skip
    """Run one state of a robot for t seconds with a fixed set of possible contacts.

    `tau` is None, joint forces (nv), or a function tau(t, q, qd). `restitution`, one number or one each, stands for
    what the contacts say. Where a contact has friction or compliance the run has no events but "edge", with which a run
    ends: a contact has come to the edge of its face.
    """
    refuse_driven("simulate_contacts", robot.model)
    t, step = number("simulate_contacts: t", t), number("simulate_contacts: step", step)
    if not (t > 0.0 and step > 0.0):
        raise SizeError(f"simulate_contacts: t={t!r} and step={step!r} have to be positive.")
    q = finite("simulate_contacts: q0", robot.neutral() if q0 is None else q0).astype(float)
    qd = finite("simulate_contacts: qd0", np.zeros(robot.nv) if qd0 is None else qd0).astype(float)
    if q.shape != (robot.nq,) or qd.shape != (robot.nv,):
        raise SizeError(
            f"simulate_contacts: q0 {q.shape} and qd0 {qd.shape} have to be one state, ({robot.nq},) and ({robot.nv},)."
        )
    listed = list(contacts)
    unknown = next((k for k, contact in enumerate(listed) if contact.face == ()), None)
    if unknown is not None:
        raise NotCovered(
            f"simulate_contacts: contacts[{unknown}], {listed[unknown]}, is known in one configuration only.\n"
            '  Use hinge.simulate(contacts="self"), which finds contacts in every step.'
        )
    e = (
        np.array([c.restitution for c in listed])
        if restitution is None
        else checked_restitution(restitution, len(listed))
    )
    force = tau if callable(tau) else _held(np.zeros(robot.nv) if tau is None else np.asarray(tau, float))
    if any(c.friction or c.compliance for c in listed):
        return _rubbing(robot, listed, e, tau, step, t, q, qd)
    return _Touching(robot, listed, e, force, step).go(t, q, qd)


def _held(tau: Array) -> Callable[..., Array]:
    return lambda t, q, qd: tau


def _rubbing(robot: Robot, contacts: list[Contact], e: Array, tau: Any, step: float, duration: float, q: Array,
             qd: Array) -> ContactRun:  # fmt: skip
    """A run with friction and compliance, by the rigid law."""
    told = [replace(contact, restitution=float(x), face=None) for contact, x in zip(contacts, e, strict=True)]
    loops: LoopWay | None = "project" if robot.loops else None
    run = simulate(robot, duration, q, qd, tau, "rk4", step, contacts=told, loops=loops)
    qs, qds = np.asarray(run.q), np.asarray(run.qd)
    good = np.isfinite(qs).all(axis=1)
    t, qs, qds, taus = run.t[good], qs[good], qds[good], np.asarray(run.tau)[good]
    h = run.info["step"]
    lengths = np.where(np.isclose(np.diff(t), h, rtol=1e-6), h, np.diff(t))  # the last step may be shorter
    made = robot.contact_step(qs[:-1], qds[:-1], taus[:-1], lengths, told)
    force = np.zeros((len(t), len(told)))
    for k in range(made.pairs.shape[-1]):
        there = made.pairs[:, k] >= 0
        normal = np.einsum("ij,ij->i", made.forces[:, k], made.normals[:, k])
        force[1:][there, made.pairs[there, k]] = normal[there]
    off = np.argwhere((force != 0.0) & off_faces(robot.target, qs, contacts))  # rows by time, then by contact
    if not len(off):
        return ContactRun(t, qs, qds, force, (), Status(int(run.status)))
    last, which = (int(x) for x in off[0])
    edge = ContactEvent(float(t[last]), "edge", which, qds[last])
    end = slice(last + 1)
    return ContactRun(t[end], qs[end], qds[end], force[end], (edge,), Status.NO_SOLUTION)


class _Touching:
    """One run while it runs: which contacts are closed, and what has been recorded."""

    def __init__(self, robot: Robot, contacts: list[Contact], e: Array, tau: Callable[..., Any], step: float):
        self.robot, self.contacts, self.e, self.tau, self.step = robot, contacts, e, tau, step
        self.closed = np.zeros(len(contacts), bool)
        self.beside = np.zeros(len(contacts), bool)  # those that have passed beside their face, and are behind it
        self.events: list[ContactEvent] = []
        self.status = Status.OK

    def go(self, duration: float, q: Array, qd: Array) -> ContactRun:
        t, rows = 0.0, []
        if self.robot.loops:
            refuse_open(self.robot.target, q, qd, START)
        gap, off = self._system(t, q, qd).gap, off_faces(self.robot.target, q, self.contacts)
        self.beside = off & (gap <= 0.0)
        if (~off & (gap < -1e-6)).any():
            worst = int(np.where(off, np.inf, gap).argmin())
            raise SizeError(f"simulate_contacts: {self.contacts[worst]} begins {-gap[worst]:g} m deep. Start it apart.")
        qd = self._struck(t, q, qd, ~off & (gap <= SHUT))
        while True:
            rows.append((t, q, qd, self._accelerated(t, q, qd, "even")[1]))
            if t >= duration - 1e-12 * duration or self.status not in (Status.OK, Status.AT_REST):
                break
            h = min(self.step, duration - t)
            h, q, qd, hit = self._stepped(t, q, qd, h)
            t += h
            if hit.any():
                qd = self._struck(t, q, qd, hit)
            if not np.isfinite(qd).all():
                self.status = Status.NONFINITE
            if len(self.events) > MOST_EVENTS:
                self.status = Status.SINGULAR
        times, qs, qds, forces = (np.array(column) for column in zip(*rows, strict=True))
        return ContactRun(times, qs, qds, forces, tuple(self.events), self.status)

    def _system(self, t: float, q: Array, qd: Array) -> Any:
        return self.robot.contact_system(q, qd, np.asarray(self.tau(t, q, qd), float), self.contacts)

    def _accelerated(self, t: float, q: Array, qd: Array, method: Method = "lemke") -> tuple[Array, Array]:
        """Accelerations, which are the same by every method, and the forces of the closed contacts."""
        made, force = self._system(t, q, qd), np.zeros(len(self.contacts))
        if self.closed.any():
            k = np.flatnonzero(self.closed)
            solved = contact_forces(made.C[np.ix_(k, k)], made.d[k], method)
            if solved.status != Status.OK:
                self.status = Status(int(solved.status))
            force[k] = solved.force
        return made.free + force @ made.response, force

    def _stepped(self, t: float, q: Array, qd: Array, h: float) -> tuple[float, Array, Array, Array]:
        """A step, or as much of it as there is before a gap closes; and the contacts that have closed."""
        new_q, new_qd = self._moved(t, q, qd, h)
        gap, off = self._met(t + h, new_q, new_qd)
        hit = np.zeros_like(self.closed)
        if self._changes(gap, off).any():
            low, high = 0.0, h
            for _ in range(60):
                middle = 0.5 * (low + high)
                changes = self._changes(*self._met(t, *self._moved(t, q, qd, middle)))
                low, high = (low, middle) if changes.any() else (middle, high)
                if high - low <= 1e-15 * max(1.0, t):
                    break
            h = high
            new_q, new_qd = self._moved(t, q, qd, h)
            gap, off = self._met(t + h, new_q, new_qd)
            hit = ~self.closed & ~self.beside & ~off & (gap <= SHUT)
        self.beside = ~self.closed & (self.beside | off) & (gap <= 0.0)
        for k in np.flatnonzero(self.closed & off):
            self.status = Status.NO_SOLUTION
            self.events.append(ContactEvent(t + h, "edge", int(k), new_qd))
        return h, *self._settled(t + h, new_q, new_qd), hit

    def _met(self, t: float, q: Array, qd: Array) -> tuple[Array, Flags]:
        """Return the gaps, and which contacts are beyond the edges of their faces."""
        return self._system(t, q, qd).gap, off_faces(self.robot.target, q, self.contacts)

    def _changes(self, gap: Array, off: Flags) -> Flags:
        """Return which contacts close, and which closed ones come to the edge of their face: section 9.6."""
        return np.where(self.closed, off, ~self.beside & ~off & (gap <= 0.0))

    def _moved(self, t: float, q: Array, qd: Array, h: float) -> tuple[Array, Array]:
        """Runge and Kutta's step of fourth order."""

        def rates(at: float, x: Array, v: Array) -> tuple[Array, Array]:
            return self.robot.rate(x, v), self._accelerated(at, x, v)[0]

        a, b = rates(t, q, qd)
        c, d = rates(t + h / 2, q + h / 2 * a, qd + h / 2 * b)
        e, f = rates(t + h / 2, q + h / 2 * c, qd + h / 2 * d)
        g, i = rates(t + h, q + h * e, qd + h * f)
        moved = q + h / 6 * (a + 2 * c + 2 * e + g)
        return self.robot.integrate(moved, np.zeros(self.robot.nv)), qd + h / 6 * (b + 2 * d + 2 * f + i)

    def _settled(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """Open the contacts that part, and take the drift of a step out of the others and out of loops."""
        if self.robot.loops:
            q, qd = self.robot.loop_project(q, qd)
        if not self.closed.any():
            return q, qd
        made, force = self._system(t, q, qd), self._accelerated(t, q, qd)[1]
        parts = self.closed & (force <= 0.0) & (made.speed > STILL) & (made.gap > 0.0)
        for k in np.flatnonzero(parts):
            self.closed[k] = False
            self.events.append(ContactEvent(t, "break", int(k), qd))
        held = np.flatnonzero(self.closed & (force > 0.0))
        if len(held):
            inverse = np.linalg.pinv(made.C[np.ix_(held, held)], rcond=1e-10, hermitian=True)
            q = self.robot.integrate(q, -(inverse @ made.gap[held]) @ made.response[held])
            made = self._system(t, q, qd)
            qd = qd - (inverse @ made.speed[held]) @ made.response[held]
        return q, qd

    def _struck(self, t: float, q: Array, qd: Array, hit: Array) -> Array:
        """The velocities after an impact; contacts that do not part, or would be back at once, are closed."""
        if not hit.any():
            return qd
        touch = hit | self.closed
        k = np.flatnonzero(touch)
        chosen = [self.contacts[i] for i in k]
        made = self.robot.impact(q, qd, chosen, restitution=self.e[k], touch=None)
        if made.status != Status.OK:
            self.status = Status(int(made.status))
            return qd
        after = self._system(t, q, made.qd)
        pull = self._pull(t, q, made.qd)
        flight = np.where(pull < 0.0, 2.0 * after.speed / np.where(pull < 0.0, -pull, 1.0), np.inf)
        bounces = touch & (after.speed > STILL) & (flight > 1e-3 * self.step)
        ends = hit & (after.speed > STILL) & ~bounces
        new = made.qd
        if ends.any():  # the last of bounces without number
            self.status = Status.AT_REST
            new = self.robot.impact(q, qd, chosen, restitution=0.0, touch=None).qd
        self.closed = touch & ~bounces
        for i in np.flatnonzero(hit):
            self.events.append(ContactEvent(t, "rest" if ends[i] else "impact", int(i), new))
        return new

    def _pull(self, t: float, q: Array, qd: Array) -> Array:
        """How the gaps would accelerate without forces of contact."""
        return self._system(t, q, qd).d
