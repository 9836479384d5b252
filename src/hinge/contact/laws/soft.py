"""The soft law as a step: MuJoCo's, whose contacts are springs and dampers that are found from accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hinge.contact.law import ContactLaw, ContactResult, Now, PairSurfaces, Stepping, contact_status
from hinge.contact.laws.soft_from_file import SoftFile
from hinge.contact.laws.soft_parameters import SoftPair, SoftParameters, Weights
from hinge.contact.laws.soft_step import SoftDynamics, soft_dynamics, soft_rk4, soft_step, velocity_damping
from hinge.dynamics.file_forces import passive_forces
from hinge.graph import Scalar
from hinge.integrators.implicit import damping
from hinge.integrators.steps import Flat, PerJoint
from hinge.model import Model
from hinge.spatial import Force


@dataclass(frozen=True)
class SoftLaw(SoftParameters, ContactLaw):
    """Bodies give way to each other, as MJCF files state it; forces are the least that the softness allows."""

    name = "soft"
    method = "semi_implicit"
    only_method = True
    surface_fields = ("friction", "spinning", "rolling")
    of_file = True
    solves_loops = True

    @classmethod
    def of(cls, model: Model, weights: Weights, pairs: Sequence[PairSurfaces], whole: bool) -> SoftLaw:
        soft = [
            SoftPair(
                p.first,
                p.second,
                p.weight,
                p.touching.condim,
                p.touching.friction,
                p.touching.softness,
                p.touching.solreffriction,
                p.touching.margin,
            )
            for p in pairs
        ]
        if whole:
            return cls(**SoftFile(model, weights).parameters(soft))
        options = model.physics.options
        return cls(tuple(soft), cone=options.cone, impratio=options.impratio, inertia=weights.inertia,
                   tolerance=options.tolerance, iterations=options.iterations)  # fmt: skip

    def weighed(self, model: Model, weights: Weights, pushes: Sequence[tuple[Scalar, Scalar]], whole: bool) -> SoftLaw:
        pairs = tuple(replace(pair, weight=push) for pair, push in zip(self.pairs, pushes, strict=True))
        if whole:
            return type(self)(**SoftFile(model, weights).parameters(pairs))
        return replace(self, pairs=pairs, inertia=weights.inertia)

    def memory(self, model: Model) -> int:
        """Return the number of accelerations, from which the next step begins its search."""
        return model.nv

    def step(self, step: Stepping, now: Now) -> ContactResult:
        """Take the step of the file's integrator: "Euler" takes the joints' damping at the end of the step,
        "implicitfast" and "implicit" all that falls with velocities, and "RK4" all where it is."""
        model, q, v, h, memory = step.body(now, now.t), now.q, now.v, now.h, list(now.memory)
        integrator, slopes = step.integrator, step.slopes
        slots, speeds = step.contacts(model, q, v[0]), model.joint_velocities(v)

        def forces(c: Scalar, at: PerJoint, rate: PerJoint) -> tuple[Flat, Sequence[Force]]:
            tau, external = step.acting(now, c, at, model.flat(rate))
            if integrator:
                passive = model.generalised_forces(passive_forces(model, at, rate))
                tau = [a + b for a, b in zip(tau, passive, strict=True)]
            return tau, external

        def dynamics(c: Scalar, at: PerJoint, rate: PerJoint) -> SoftDynamics:
            tau, external = forces(c, at, rate)
            near = slots if at is q else step.contacts(model, at, v[0])
            return soft_dynamics(model, self, at, rate, model.joint_velocities(tau), near, memory, h, external, slopes)

        if integrator == "RK4":
            made = soft_rk4(model, q, speeds, h, dynamics)
        else:
            tau, external = forces(0.0, q, speeds)
            fast, whole = integrator == "implicitfast", integrator == "implicit"
            slope = _falls(model, tau, v) if fast else _damped(model, integrator)
            force = model.joint_velocities(tau)
            made = soft_step(model, self, q, speeds, force, slots, memory, h, slope, fast, external, slopes, whole)
        contacts, solved = made.dynamics.contacts, made.dynamics.solved
        return ContactResult(
            made.q,
            made.qd,
            made.guess,
            contact_status(slots, solved.settled),
            slots=slots,
            forces=contacts.forces,
            size=contacts.size,
            smooth=step.smooth(contacts, contacts.margin(solved.a)),
            residual=solved.residual,
        )


def _damped(model: Model, integrator: str) -> list[Flat]:
    """How joint forces fall with velocities by the joints' damping."""
    if not integrator:
        return damping(model)
    off = {"damper", "eulerdamp"} & set(model.physics.options.disabled)
    return damping(replace(model, terms=model.terms - {"damping"} if off else model.terms | {"damping"}))


def _falls(model: Model, tau: Flat, v: Flat) -> list[Flat]:
    """How joint forces fall with velocities, by the symmetric part."""
    D = velocity_damping(model, tau, v)
    return [[0.5 * (D[i][j] + D[j][i]) for j in range(model.nv)] for i in range(model.nv)]
