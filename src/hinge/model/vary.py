"""Numbers of a model that become inputs: of links, of joints, of gears, and gravity.

    "hand.mass"        kg                     "hand.com"     (3,) m, in the link's frame
    "hand.inertia"     (3, 3) kg m² about the centre of mass, link axes
    "elbow.placement"  (4, 4) the joint's pose in the outer frame of the joint that carries it, or in the base
    "elbow.armature", ".damping", ".friction", ".stiffness", ".velocity", ".effort"    a number for each velocity
    "elbow.lower", ".upper", ".rest"         limits, and where the spring is slack: a number for each coordinate
    "finger.ratio", ".offset"                of a joint that follows another: coordinate = ratio × leader's + offset
    "gravity"          (3,) m/s², base coordinates

What a joint has one of is a number, not an array of one. The program is then traced with symbols in their places; the
frames it runs in stay those of the nominal robot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean
from hinge.graph.expr import Scalar
from hinge.model.frames import unmoved
from hinge.model.model import Model
from hinge.model.symbols import symbols, unknown, with_values
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import Mat3, Sym3, Vec3
from hinge.spatial.transform import Rigid, Transform
from hinge.typing import Array

INF = math.inf
LINK = {"mass": (), "com": (3,), "inertia": (3, 3)}
GEAR = ("ratio", "offset")
PER_VELOCITY = {"armature": 0.0, "damping": 0.0, "friction": 0.0, "stiffness": 0.0, "velocity": INF, "effort": INF}
PER_COORDINATE = {"lower": -INF, "upper": INF, "rest": 0.0}
DATA = PER_VELOCITY | PER_COORDINATE  # of a joint: what it is where the file says nothing
JOINT = ("placement", *DATA, *GEAR)
WANTED: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {  # a comparison, what with if not zero, in words
    "lower": (np.less_equal, "upper", "at most the upper limit,"),
    "upper": (np.greater_equal, "lower", "at least the lower limit,"),
    "velocity": (np.greater_equal, "", "at least"),
    "effort": (np.greater_equal, "", "at least"),
    "ratio": (np.not_equal, "", "other than"),
} | {
    name: (lambda value, bound: ~np.less(value, bound), "", "at least")  # NaN stays in its row
    for name in ("damping", "friction", "armature", "stiffness")
}
SKEW = 1e-3  # an entry of RᵀR of a placement may be off by this, as in differences for derivatives
DUST = 1e-13  # relative size of what rounding leaves where zero is meant


@dataclass(frozen=True)
class Parameter:
    """One number or array of a model, by name."""

    name: str
    owner: str
    field: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def nominal(self, model: Model) -> Array:
        """Its value in the model."""
        if self.field == "symbol":
            raise SizeError(
                f"the symbol {self.name!r} of robot {model.name!r} has no value.\n"
                f'  Give parameters={{"{self.name}": …}}, or robot.with_values({{"{self.name}": …}}) once and for all.'
            )
        if self.field == "gravity":
            return np.array(model.gravity)
        if self.field == "placement":
            R, p = model.placement[model.joint_number(self.owner)].pose()
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = np.reshape(R, (3, 3)), p
            return T
        if self.field in GEAR:
            return np.asarray(getattr(model.follows[model.joint_number(self.owner)], self.field), float)
        if self.field in DATA:
            return np.reshape(_said(model, model.joint_number(self.owner), self.field), self.shape)
        return np.asarray(model.links[self.owner][("mass", "com", "inertia").index(self.field)], float)


def parameter(model: Model, name: str) -> Parameter:
    """The parameter of that name, if the model has it."""
    if name in model.symbols:
        return Parameter(name, "", "symbol")
    if name == "gravity":
        return _numeric(model, Parameter(name, "", "gravity", (3,)), model.gravity)
    owner, _, field = name.rpartition(".")
    joints = model.joint_name[1:]
    kinds = [(model.links, LINK), (joints, ("placement", *DATA)), ([model.joint_name[i] for i in model.follows], GEAR)]
    if not any(field in fields and owner in owners for owners, fields in kinds):
        known = [f"{one}.{f}" for owners, fields in kinds for one in owners for f in fields]
        hint = did_you_mean(name, [*known, "gravity", *model.symbols])
        raise UnknownName(f"robot {model.name!r} has no parameter {name!r}. {hint}")
    if field in LINK:
        return _numeric(model, Parameter(name, owner, field, LINK[field]), getattr(model.links[owner], field))
    i = model.joint_number(owner)
    if field == "placement":
        return _numeric(model, Parameter(name, owner, field, (4, 4)), model.placement[i])
    if field in GEAR:
        return Parameter(name, owner, field)
    count = model.joint[i].nq if field in PER_COORDINATE else model.joint[i].nv
    return _numeric(model, Parameter(name, owner, field, () if count == 1 else (count,)), getattr(model.data[i], field))


def _said(model: Model, i: int, field: str) -> Sequence[float]:
    """What the file says of a joint, or what holds where it says nothing."""
    joint = model.joint[i]
    if field == "rest":
        return model.slack(i)
    count = joint.nq if field in PER_COORDINATE else joint.nv
    return getattr(model.data[i], field) or (DATA[field],) * count


def _numeric(model: Model, one: Parameter, value: object) -> Parameter:
    """The parameter, if it is no symbol already."""
    names = symbols(value)
    if names:
        raise NotCovered(
            f"{one.name!r} of robot {model.name!r} is made of symbols ({', '.join(names)}), which are inputs already."
        )
    return one


def varied(model: Model, parameters: Sequence[Parameter], flat: Sequence[Scalar]) -> Model:
    """The model, which may be re-framed, with scalars in the places of its parameters."""
    at, values = 0, dict[tuple[str, str], list[Scalar]]()
    for one in parameters:
        values[one.owner, one.field] = list(flat[at : at + one.size])
        at += one.size
    named = {one.name: flat[k] for one, k in zip(parameters, starts(parameters), strict=True) if one.field == "symbol"}
    model = with_values(model, named) if named else model
    inertia, placement, gravity = list(model.inertia), list(model.placement), model.gravity
    data, follows, links = list(model.data), dict(model.follows), dict(model.links)
    for owner in dict.fromkeys(one.owner for one in parameters if one.field in ("mass", "com", "inertia")):
        frame, (mass, com, about) = model.frames[owner], model.links[owner]
        m = values.get((owner, "mass"), [mass])[0]
        c = values.get((owner, "com"), list(com))
        J = values.get((owner, "inertia"), [x for row in about for x in row])
        nominal = frame.transform.T @ RigidInertia.at_com(mass, Vec3(tuple(com)), about)
        given = frame.transform.T @ RigidInertia.at_com(m, Vec3(tuple(c)), [J[0:3], J[3:6], J[6:9]])
        links[owner] = model.links[owner]._replace(
            mass=m, com=tuple(c), inertia=(tuple(J[0:3]), tuple(J[3:6]), tuple(J[6:9]))
        )
        inertia[frame.body] = _rest(inertia[frame.body], nominal, frame.p) + given
    for one in parameters:
        entries, i = values[one.owner, one.field], model.joint_number(one.owner) if one.field in JOINT else 0
        if one.field == "placement":
            placement[i] = _placed(model, i, entries)
        elif one.field in DATA:
            data[i] = replace(data[i], **{one.field: tuple(entries)})  # type: ignore[arg-type]
        elif one.field in GEAR:
            follows[i] = follows[i]._replace(**{one.field: entries[0]})
        elif one.field == "gravity":
            gravity = tuple(entries)
    return replace(model, inertia=tuple(inertia), placement=tuple(placement), gravity=gravity, data=tuple(data),
                   follows=follows, links=links, given=tuple(flat))  # fmt: skip


def with_numbers(model: Model, values: Mapping[str, Array]) -> Model:
    """Return the model with numbers in the places of these parameters, which are no inputs then."""
    parameters = [parameter(model, name) for name in values]
    flat = [float(x) for one in parameters for x in np.reshape(values[one.name], one.size)]
    return replace(varied(unmoved(model), parameters, flat), seats=model.seats, given=())


def check(call: str, model: Model, parameters: Sequence[Parameter], given: Mapping[str, Array]) -> None:
    """Raise where a call gives limits that leave no room, a gear that does not turn, friction or damping that drives,
    or a placement that is no pose."""
    for one in parameters:
        if one.field == "placement" and one.name in given:
            _check_placement(call, one.name, given[one.name])
        if one.name not in given or one.field not in WANTED:
            continue
        test, beside, words = WANTED[one.field]
        bound: Array = np.zeros(())
        if beside:
            other = Parameter(f"{one.owner}.{beside}", one.owner, beside, one.shape)
            bound = given.get(other.name, other.nominal(model))
        value, bound = np.broadcast_arrays(given[one.name], bound)
        bad = np.argwhere(~test(value, bound))
        if len(bad):
            at = tuple(int(k) for k in bad[0])
            where = f"[{', '.join(map(str, at))}]" if at else ""
            raise SizeError(
                f"{call}: parameter {one.name!r}{where} is {value[at]:g}; it has to be {words} {bound[at]:g}."
            )


def _check_placement(call: str, name: str, given: Array) -> None:
    """Raise where a pose (…, 4, 4) is finite and has no rotation in it, or another last row than 0 0 0 1."""
    T = np.asarray(given, float)
    R = T[..., :3, :3]
    with np.errstate(invalid="ignore"):
        off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2))
        off = np.maximum(off, np.abs(T[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1))
        bad = np.argwhere((off > SKEW) | (np.linalg.det(R) < 0.0))
    if len(bad):
        where = f"[{', '.join(str(int(k)) for k in bad[0])}]" if bad.shape[1] else ""
        raise SizeError(
            f"{call}: parameter {name!r}{where} is no pose. Give a rotation and a place, with the last row 0 0 0 1."
        )


def starts(parameters: Sequence[Parameter]) -> list[int]:
    """Where each parameter begins in a row that has them all."""
    return [sum(one.size for one in parameters[:k]) for k in range(len(parameters))]


def _rest(whole: RigidInertia, part: RigidInertia, at: Vec3) -> RigidInertia:
    """What is left of a body when a link is taken away; nothing where only rounding says otherwise."""
    rest = whole - part
    if unknown((rest.m, *rest.h, *rest.I, *at)):
        return rest
    reach = max(map(abs, at))
    m, h, I = (DUST * max(map(abs, x)) for x in ((whole.m, part.m), (*whole.h, *part.h), (*whole.I, *part.I)))
    h, I = h + m * reach, I + (h + m * reach) * reach
    return RigidInertia(_dusted((rest.m,), m)[0], Vec3(_dusted(rest.h, h)), Sym3(_dusted(rest.I, I)))


def _dusted(values: Sequence[Scalar], dust: float) -> tuple[Scalar, ...]:
    return tuple(0.0 if abs(x) <= dust else x for x in values)


def _placed(model: Model, i: int, T: Sequence[Scalar]) -> Transform:
    """The transform to joint i that stands at the 4×4 pose T in the user's frames, between the frames of the model."""
    R = Mat3((T[0], T[1], T[2], T[4], T[5], T[6], T[8], T[9], T[10]))
    (Rp, pp), (Ri, pi) = model.seats[model.parent[i]], model.seats[i]
    out = Rigid(Rp, -(Rp.T @ pp))  # from the parent's frame here to the user's
    return Transform(out, Rigid(R.T, Vec3((T[3], T[7], T[11]))), Rigid(Ri.T, pi))
