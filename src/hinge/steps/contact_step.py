"""`contact_step`: one step with contacts, what happens at them, and its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.arguments import real
from hinge.backends import alone, backend_name
from hinge.calls import inputs
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.contact.contact_model import contact_model
from hinge.contact.contact_slopes import jacobian, refuse_curved, within_reach
from hinge.contact.link_forces import SUMMED, link_forces
from hinge.contact.results import NUMBERS, ContactStep, recorded, told_contacts
from hinge.contact.surfaces import surface_parameters
from hinge.dynamics.registry import FORCE, POSITION, VELOCITY, Algorithm, Quantity, rows, unregistered
from hinge.errors import NotCovered, SizeError
from hinge.graph import absolute, maximum
from hinge.integrators.steps import TIME
from hinge.model import Model
from hinge.model.driven import driven
from hinge.model.regroup import regrouped
from hinge.status import NONFINITE, OK
from hinge.steps.inputs import Acts, Outside
from hinge.steps.step import Moved, Physics, Step, refuse_beside_contacts
from hinge.typing import Backend, Numbers, Term

ONE = Quantity("of a state", lambda m: (1,))


def contact_step(
    target: Target,
    q: Numbers,
    qd: Numbers,
    tau: Numbers,
    h: Numbers,
    contacts: Any = None,
    ground: Any = None,
    law: str = "rigid",
    joint_terms: Sequence[Term] = ("armature",),
    backend: Backend | None = None,
    derivatives: bool = False,
    parameters: Mapping[str, Numbers] | None = None,
) -> ContactStep:
    """The state after h seconds with the joint forces held and contacts that are found, or given.

    Takes q (nq), qd and tau (nv), h (s); `contacts`, `ground`, `law` and `parameters` are as in `hinge.simulate`. By
    the rigid law the step is one of "rk4" with impulses at its end, by the soft law MuJoCo's, of Euler; it is a step of
    `hinge.rollout`. With `derivatives` A and B say how its end changes, by the implicit function; a status NOT_SMOOTH
    says that a contact is within a millionth of where it opens, closes, sticks or slides, where they are those of one
    side.

    >>> scene = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0)
    >>> step = scene.robot.contact_step([1, 0, 0, 0, 0, 0, 0.1], np.zeros(6), np.zeros(6), 1e-3, ground=0.0)
    >>> step.forces.shape, step.forces[0, 2].round(4)
    ((1, 3), np.float64(19.62))
    """
    steps = real("contact_step: h", h)
    if (steps <= 0.0).any():
        raise SizeError(f"contact_step: h is {steps.min():g} s. Give steps above zero.")
    refuse_driven("contact_step", target.model)
    numbers = dict(parameters or {})
    surfaces = surface_parameters("contact_step", target, numbers)
    touch = contact_model(target, contacts, ground, law, surfaces=surfaces)
    if not touch.active:
        raise SizeError("contact_step: there are no contacts. Give contacts= or ground=; without them use step.")
    physics = Physics(touch.law.method, frozenset(inputs.joint_terms(joint_terms)), touch=touch)
    refuse_beside_contacts(target.model, physics)
    terms = tuple(sorted(physics.traced_terms))
    where = alone(backend_name(backend)) if np.asarray(q).ndim < 2 else backend
    call = Call.outside_registry(target, (_step_algorithm, target, physics), where, terms=terms)
    own = {one.name: numbers.pop(one.name) for one in surfaces}
    more = (
        *inputs.parameters("contact_step", target.model, surfaces, own),
        *target.parameter_rows("contact_step", numbers, None),
    )
    end, speed, told, sums, fared, residual = call.kernel(q, qd, tau, h, *more)
    points, forces, normals, gaps, pairs, names = recorded(touch, told)
    status = np.where(fared == fared, fared, NONFINITE)[..., 0].astype(np.uint8)
    made = ContactStep(
        end, speed, forces, status, points, normals, gaps, pairs, residual[..., 0], names, touch.links, sums
    )
    if not derivatives:
        return made
    refuse_curved(touch, target.model)
    physics = replace(physics, touch=within_reach(touch, target.model), slopes=True)
    call = Call.outside_registry(target, (_derivatives_algorithm, target, physics), backend, terms=terms)
    slopes, smooth = call.kernel(*(np.asarray(x, float) for x in (q, qd, tau, h, *more)))
    says = np.where(np.isfinite(slopes).all(axis=(-2, -1)), smooth[..., 0], NONFINITE).astype(np.uint8)
    n, slopes = 2 * target.model.nv, slopes.astype(made.qd.dtype)
    return made._replace(status=np.where(status == OK, says, status), A=slopes[..., :n], B=slopes[..., n:])


def refuse_driven(call: str, model: Model) -> None:
    """Raise where joints are driven: a step takes no motion of theirs."""
    if why := driven(model):
        raise NotCovered(
            f"{call}: {why}, and its motion during a step cannot be given.\n"
            "  Use contact_dynamics, friction_step or impact, which take prescribed=, or a robot with free joints."
        )


def _step_algorithm(target: Target, physics: Physics) -> Algorithm:
    touch = physics.touch

    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any, surfaces: Any = ()) -> Any:
        moved = _advanced(target, model, physics, q, qd, tau, h, surfaces)
        slots, forces, size = moved.met.slots, moved.met.forces, moved.met.size
        assert slots is not None
        assert forces is not None
        sums = link_forces(touch, links, slots, forces, size)
        told = told_contacts(slots, forces, size)
        return moved.q, moved.v, told, sums, [absolute(moved.status)], [moved.met.residual]

    room, links = Quantity("of contacts", lambda m: (touch.room, NUMBERS)), touch.links
    summed = Quantity("of links", lambda m: (len(links), SUMMED), give=rows)
    gives = {"q": POSITION, "qd": VELOCITY, "contacts": room, "links": summed, "fared": ONE, "residual": ONE}
    return unregistered("contact_step", run, _takes(physics), gives)


def _derivatives_algorithm(target: Target, physics: Physics) -> Algorithm:
    def run(model: Model, q: Any, qd: Any, tau: Any, h: Any, surfaces: Any = ()) -> Any:
        moved = _advanced(target, model, physics, q, qd, tau, h, surfaces)
        by = [*model.flat(q), *model.flat(qd), *model.flat(tau)]
        return jacobian(model, moved.q, moved.v, by)[-1], [maximum(moved.met.smooth, absolute(moved.status))]

    by_rows = Quantity("of the state after a step", lambda m: (2 * m.nv, 3 * m.nv))
    return unregistered("contact_step slopes", run, _takes(physics), {"slopes": by_rows, "smooth": ONE})


def _takes(physics: Physics) -> dict[str, Quantity]:
    """What a step is given."""
    made, surfaces = {"q": POSITION, "qd": VELOCITY, "tau": FORCE, "h": TIME}, physics.touch.surfaces
    return made | ({"surfaces": Quantity("of surfaces", lambda m: (len(surfaces),))} if surfaces else {})


def _advanced(
    target: Target, model: Model, physics: Physics, q: Any, qd: Any, tau: Any, h: Any, surfaces: Any
) -> Moved:
    """A step from a state, with joint forces that stay as they are."""
    touch, v, force = physics.touch.weighed(target, model.given).surfaced(surfaces), model.flat(qd), model.flat(tau)
    step = Step(v[0].graph, target, regrouped(model), replace(physics, touch=touch), Outside())
    memory = [0.0 * x for x in v[: step.law.memory(model)]]
    return step.advance(Acts.of_forces(step.model, force), 0.0, h[0], q, v, memory)
