"""A robot made from another: frames and payloads added, joints locked, robots attached, gravity changed.

Each function takes a model and gives a new one; the old one stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.errors import NOWHERE, ModelError, SizeError
from hinge.model.doctor import examine_link
from hinge.model.driven import Driven
from hinge.model.model import Follow, Frame, JointData, Model
from hinge.model.numbers import numbers
from hinge.model.potentials import refuse, traced
from hinge.model.symbols import is_symbolic
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import IDENTITY, Mat3, Vec3, mat3, vec3
from hinge.spatial.rotation import snapped_rotation
from hinge.spatial.transform import Rigid, Transform

ALONG = ("revolute", "continuous", "prismatic", "screw")  # of these, two in a row are one


def pose_of(what: str, placement: Any) -> tuple[Mat3, Vec3]:
    """Rotation and origin of a 4×4 pose, or of one given as (3,) for a mere shift; symbols are taken as they are."""
    if is_symbolic(placement) and np.shape(placement) in ((3,), (4, 4)):
        s = numbers(what, "an entry", placement, np.shape(placement), NOWHERE)
        return (IDENTITY, vec3(s)) if len(s) == 3 else (Mat3(s[0:3] + s[4:7] + s[8:11]), vec3((s[3], s[7], s[11])))
    T = np.eye(4)
    given = np.asarray(placement, float)
    if given.shape == (3,):
        T[:3, 3] = given
    elif given.shape == (4, 4):
        T = given
    else:
        raise ModelError("pose", f"{what} has shape {given.shape}.", "Give a 4×4 pose, or (3,) for a shift.")
    R = T[:3, :3]
    if not np.all(np.isfinite(T)) or np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
        raise ModelError("pose", f"{what} is not a pose.", "Its rotation has to be orthogonal and right-handed.")
    return snapped_rotation(mat3(R.tolist())), vec3(T[:3, 3].tolist())


def with_frame(model: Model, name: str, parent: str, placement: Any) -> Model:
    """With a named frame at a pose in a link's or another frame's coordinates."""
    if name in model.frames:
        raise ModelError("duplicate-frame", f"robot {model.name!r} has a link or frame {name!r} already.", "Rename it.")
    return replace(model, frames={**model.frames, name: model.frame(parent).then(*pose_of("placement", placement))})


def with_payload(model: Model, body: str, mass: float, com: Any, inertia: Any) -> Model:
    """With a load on a link or frame: mass (kg), centre of mass (m) and inertia about it (kg m²), in that frame."""
    frame, what = model.frame(body), f"payload on {body!r}"
    if not is_symbolic([mass, com, inertia]):
        _refuse_payload(body, mass, com, inertia)
    (m,), c = numbers(what, "mass", [mass], (1,), NOWHERE), numbers(what, "com", com, (3,), NOWHERE)
    J = numbers(what, "inertia", inertia, (3, 3), NOWHERE)
    load = RigidInertia.at_com(m, Vec3(c), (J[0:3], J[3:6], J[6:9]))
    inertias = list(model.inertia)
    inertias[frame.body] = inertias[frame.body] + frame.transform.T @ load
    return replace(model, inertia=tuple(inertias))


def _refuse_payload(body: str, mass: float, com: Sequence[float], inertia: Any) -> None:
    """Raise where a load is none that a body can be."""
    values = np.asarray(inertia, float)
    if values.shape != (3, 3) or np.shape(com) != (3,):
        raise SizeError(
            f"payload on {body!r}: com has shape {np.shape(com)} and inertia {values.shape}, not (3,) and (3, 3)."
        )
    if not (math.isfinite(mass) and np.all(np.isfinite(values)) and np.all(np.isfinite(com))):
        raise ModelError("nan", f"payload on {body!r} has a value that is not a finite number.", "Give numbers.")
    wrong = examine_link(f"payload on {body}", mass, values, NOWHERE)
    if wrong:
        raise ModelError(wrong[0].code, wrong[0].what.removeprefix("link "), wrong[0].fix)


def with_gravity(model: Model, gravity: Sequence[float]) -> Model:
    """In another field of gravity (m/s², base coordinates)."""
    return replace(model, gravity=numbers(f"robot {model.name!r}", "gravity", gravity, (3,), NOWHERE))


def with_potential(model: Model, function: Callable[[Any], Any], at: str | None = None) -> Model:
    """With a potential besides gravity's: a function of q, or of the pose of the frame `at`."""
    driven = [model.joint_name[i] for i, joint in enumerate(model.joint) if isinstance(joint, Driven)]
    if driven and at is None:
        raise ModelError("potential", f"joint {driven[0]!r} is driven, and not among the coordinates.",
                         "Add the potential first, and prescribe then.")  # fmt: skip
    return replace(model, potentials=(*model.potentials, traced(model, function, at)))


def lock(model: Model, joints: Mapping[str, Any]) -> Model:
    """With joints fixed at given coordinates; joints that follow them are fixed with them."""
    held: dict[int, list[float]] = {}
    for name, value in joints.items():
        i = model.joint_number(name)
        if i in model.follows:
            leader = model.joint_name[model.follows[i].leader]
            raise ModelError("lock", f"joint {name!r} follows joint {leader!r}.", f"Lock {leader!r} instead.")
        if isinstance(model.joint[i], Driven):
            raise ModelError("lock", f"joint {name!r} is driven.", "Give its motion with prescribed=.")
        try:
            at = np.atleast_1d(np.asarray(value, float))
        except (TypeError, ValueError):
            at = np.array(np.nan)
        if not np.all(np.isfinite(at)):
            raise SizeError(f"lock: joint {name!r} is given {value!r}. Give finite numbers.")
        if at.shape != (model.joint[i].nq,):
            raise SizeError(f"lock: joint {name!r} has {model.joint[i].nq} coordinates; {value!r} was given.")
        held[i] = at.tolist()
        if any(x <= 0.0 for x in model.joint[i].positive(held[i])):
            raise ModelError("lock", f"joint {name!r} cannot be at {held[i]}.", "A quaternion has a length.")
    for i, follow in model.follows.items():
        if follow.leader in held:
            held[i] = [follow.ratio * x + follow.offset for x in held[follow.leader]]
    return _without(model, held)


def _without(model: Model, held: Mapping[int, list[float]]) -> Model:
    """The model with the bodies of held joints made part of their parents."""
    number, seat = {0: 0}, {0: Frame(0)}  # new number of a body; where its frame is now
    kept = [0]
    placement, inertia = [model.placement[0]], [model.inertia[0]]
    for i, p in model.outward():
        at = seat[p].then(*model.placement[i].pose())
        if i in held:
            seat[i] = at.then(*model.joint[i].transform(held[i]).pose())
            inertia[seat[i].body] = inertia[seat[i].body] + seat[i].transform.T @ model.inertia[i]
            continue
        number[i] = len(kept)
        kept.append(i)
        seat[i] = Frame(number[i])
        placement.append(Transform(Rigid(at.R.T, at.p)))
        inertia.append(model.inertia[i])
    parent = [-1] + [seat[model.parent[i]].body for i in kept[1:]]
    frames = {name: seat[f.body].then(f.R, f.p) for name, f in model.frames.items()}
    follows = {
        number[i]: Follow(number[f.leader], f.ratio, f.offset) for i, f in model.follows.items() if i not in held
    }

    def column(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(values[i] for i in kept)

    return replace(
        model, parent=tuple(parent), joint=column(model.joint), placement=tuple(placement), inertia=tuple(inertia),
        body_name=column(model.body_name), joint_name=column(model.joint_name), data=column(model.data),
        frames=frames, follows=follows, potentials=tuple(
            one.locked({model.joint_name[i]: at for i, at in held.items()}) for one in model.potentials
        ), physics=model.physics.holding({model.joint_name[i]: at[0] for i, at in held.items()}),
    )  # fmt: skip


def with_elastic(model: Model, name: str, stiffness: float, damping: float, motor_inertia: float | None) -> Model:
    """With a spring and a damper between the motor of a joint and the link it drives.

    The joint becomes the motor's, with its inertia as armature; a second one like it, NAME_spring, carries the link.
    """
    i = model.joint_number(name)
    data, kind = model.data[i], model.joint[i].kind
    if kind not in ALONG or i in model.follows or any(f.leader == i for f in model.follows.values()):
        why = f"is {kind}" if kind not in ALONG else "is coupled to another"
        raise ModelError(
            "elastic", f"joint {name!r} {why}.", f"Joints by themselves can be elastic: {', '.join(ALONG)}."
        )
    J = sum(data.armature) if motor_inertia is None else motor_inertia
    for what, value, least in (("stiffness", stiffness, 0.0), ("motor_inertia", J, 0.0), ("damping", damping, -1e-300)):
        if not (math.isfinite(value) and value > least):
            raise ModelError(
                "elastic", f"joint {name!r} has {what}={value!r}.", "Give a positive number, damping or none."
            )
    motor, spring = f"{name}_motor", f"{name}_spring"
    for taken in sorted({motor} & set(model.frames) | {spring} & set(model.joint_name)):
        raise ModelError("elastic", f"robot {model.name!r} has {taken!r} already.", "A joint is elastic once.")

    def now(body: int) -> int:
        return body + (body >= i)

    def between(values: Sequence[Any], first: Any, second: Any) -> tuple[Any, ...]:
        return (*values[:i], first, second, *values[i + 1 :])

    return replace(
        model,
        parent=between([now(p) for p in model.parent], model.parent[i], i),
        joint=between(model.joint, model.joint[i], model.joint[i]),
        placement=between(model.placement, model.placement[i], Transform(Rigid(IDENTITY, Vec3((0.0, 0.0, 0.0))))),
        inertia=between(model.inertia, RigidInertia(), model.inertia[i]),
        body_name=between(model.body_name, motor, model.body_name[i]),
        joint_name=between(model.joint_name, name, spring),
        data=between(model.data, replace(data, armature=(float(J),)), replace(
            JointData.unsaid(model.joint[i]), stiffness=(float(stiffness),), damping=(float(damping),))),
        frames={motor: Frame(i)} | {key: Frame(now(f.body), f.R, f.p) for key, f in model.frames.items()},
        follows={now(k): Follow(now(f.leader), f.ratio, f.offset) for k, f in model.follows.items()},
    )  # fmt: skip


def attach(model: Model, other: Model, at: str, placement: Any = (0.0, 0.0, 0.0), prefix: str = "") -> Model:
    """With another robot's base fixed to a link or frame; its coordinates come after this one's.

    `placement` is the pose of its base there, `prefix` goes before its names.
    """
    refuse(other, "attach")
    here = model.frame(at).then(*pose_of("placement", placement))
    shift = len(model.parent) - 1

    def moved(f: Frame) -> Frame:
        return Frame(f.body + shift, f.R, f.p) if f.body else here.then(f.R, f.p)

    frames = {f"{prefix}{name}": moved(f) for name, f in other.frames.items()}
    joints = [f"{prefix}{name}" for name in other.joint_name[1:]]
    for kind, new, old in (("frame", frames, model.frames), ("joint", joints, model.joint_name)):
        both = sorted(set(new) & set(old))
        if both:
            raise ModelError(
                f"duplicate-{kind}", f"both robots have a {kind} {both[0]!r}.", 'Give prefix="…" for the second.'
            )
    placement_ = []
    for i, p in other.outward():
        spot = here.then(*other.placement[i].pose()) if p == 0 else None
        placement_.append(Transform(Rigid(spot.R.T, spot.p)) if spot else other.placement[i])
    inertia = list(model.inertia)
    inertia[here.body] = inertia[here.body] + here.transform.T @ other.inertia[0]
    follows = {i + shift: Follow(f.leader + shift, f.ratio, f.offset) for i, f in other.follows.items()}
    weights = {f"{prefix}{link}": share for link, share in other.extras.get("gravcomp", {}).items()}
    lifted = {"gravcomp": {**model.extras.get("gravcomp", {}), **weights}} if weights else {}
    return replace(
        model,
        parent=(*model.parent, *(p + shift if p else here.body for _, p in other.outward())),
        joint=(*model.joint, *other.joint[1:]),
        placement=(*model.placement, *placement_),
        inertia=(*inertia, *other.inertia[1:]),
        body_name=(*model.body_name, *(f"{prefix}{name}" for name in other.body_name[1:])),
        joint_name=(*model.joint_name, *joints),
        data=(*model.data, *other.data[1:]),
        frames={**model.frames, **frames},
        follows={**model.follows, **follows},
        loops=(*model.loops, *(loop.renamed(prefix) for loop in other.loops)),
        links={**model.links, **{f"{prefix}{name}": said for name, said in other.links.items()}},
        shapes={**model.shapes, **{f"{prefix}{name}": shapes for name, shapes in other.shapes.items()}},
        written={**model.written, **{f"{prefix}{name}": where for name, where in other.written.items()}},
        physics=model.physics.joined(other.physics, prefix),
        extras={**model.extras, **lifted},
    )
