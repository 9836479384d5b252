"""The words of a run about contact: what may touch, by which law, and starts that no law has an answer to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hinge.contact.contact_model import ContactModel, contact_model, deep_starts
from hinge.contact.laws import DEFAULT, OF_FILES
from hinge.dynamics.file_forces import pulled
from hinge.errors import NotCovered, SizeError, one_of
from hinge.model import Model
from hinge.model.driven import sizes
from hinge.model.file_physics import FEATURES, LeftOut
from hinge.model.vary import Parameter
from hinge.robot import Robot
from hinge.status import REFUSED


def touching(robot: Robot, contacts: Any, ground: Any, law: str | None, physics: str | None,
             surfaces: Sequence[Parameter] = (), ignore: Sequence[str] = ()
             ) -> tuple[ContactModel, str]:  # fmt: skip
    """What may touch, and the integrator of the robot's file where that says all; features to `ignore` are left out."""
    if physics is None and ignore:
        raise NotCovered('ignore= names features that physics="file" is to leave out. Give both, or neither.')
    if sizes(robot.model)[1] and not contacts is ground is physics is None:
        raise NotCovered("contacts do not go with driven joints. Leave one of them out.")
    if physics is None:
        if law is not None and contacts is ground is None:
            raise NotCovered(f"law={law!r} has no effect: nothing can touch. Give ground= or contacts=.")
        return contact_model(robot.target, contacts, ground, law or DEFAULT, surfaces=surfaces), ""
    one_of("physics", physics, ("file",))
    refuse_left_out(robot.model, ignore)
    integrator = robot.model.physics.options.integrator
    if law not in (None, OF_FILES):
        raise NotCovered(f'physics="file" has the {OF_FILES} law; law={law!r} was given. Leave it out.')
    listed = "file" if contacts is None else contacts
    return contact_model(robot.target, listed, ground, OF_FILES, True, surfaces), integrator


def refuse_left_out(model: Model, ignore: Sequence[str] = ()) -> None:
    """Raise NotCovered where the file of a robot has features that hinge does not simulate and that are not ignored."""
    if isinstance(ignore, str):
        raise SizeError(f'ignore={ignore!r} is one name. Give a sequence of names: ignore=("{ignore}",).')
    for name in ignore:
        one_of("ignore", name, FEATURES)
    found: dict[str, list[str]] = {}
    for feature, element in (*model.physics.left_out, *_servos_on_limited_joints(model)):
        if feature not in ignore:
            found.setdefault(feature, []).append(element)
    if not found:
        return
    lines = [
        f"  {feature}: {FEATURES[feature]}, at {', '.join(elements[:3])}{' …' * (len(elements) > 3)}"
        for feature, elements in found.items()
    ]
    names = ", ".join(f'"{feature}"' for feature in found) + "," * (len(found) == 1)
    raise NotCovered(
        f'physics="file": the file of robot {model.name!r} has what hinge does not simulate:\n'
        + "\n".join(lines)
        + f"\n  To simulate the rest of the file without it, give ignore=({names})."
    )


def _servos_on_limited_joints(model: Model) -> Iterator[LeftOut]:
    """Yield the actuators that damp joints with a force range through tendons and sites, where a step is implicit.

    Where such a joint's force is at the end of its range, MuJoCo's implicit integrators go on counting their damping,
    but not that of actuators on the joint itself. Here a force at the end of its range has no damping.
    """
    if model.physics.options.integrator not in ("implicit", "implicitfast"):
        return
    q = [list(model.neutral(i)) if i else [] for i in range(len(model.parent))]
    for one in model.physics.actuators:
        if one.active and one.on != "joint" and (one.gain[2] or one.bias[2] or one.dampratio):
            moved = (model.data[i] for i in pulled(model, one, q)[1])
            if any(data.physics.force or math.isfinite(sum(data.effort or (math.inf,))) for data in moved):
                yield LeftOut("limited-servo", f"actuator {one.name!r}")


def refuse_deep(fate: Any, robot: Robot, touch: ContactModel, q: Any, t: float, further: Sequence[Any] = ()) -> Any:
    """Refuse the rollouts that begin at states q, at the time t, so deep in something that the rigid law has no answer.

    `further` are the rows of varied numbers. States on a GPU are not looked at.
    """
    if touch.active and isinstance(q, np.ndarray):
        deep = deep_starts(robot.target, touch, q, further)
        fate[deep, 0], fate[deep, 1] = float(REFUSED), t
    return fate
