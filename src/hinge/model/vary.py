"""Numbers of a model that become inputs: masses, centres of mass, inertias, placements, gravity.

    "hand.mass"        kg                     "hand.com"     (3,) m, in the link's frame
    "hand.inertia"     (3, 3) kg m² about the centre of mass, link axes
    "elbow.placement"  (4, 4) the joint's pose in the outer frame of the joint that carries it, or in the base
    "gravity"          (3,) m/s², base coordinates

The program is then traced with symbols in their places; the frames it runs in stay those of the nominal robot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean
from hinge.graph.expr import Scalar
from hinge.model.model import Floats, Model
from hinge.model.symbols import symbols, unknown, with_values
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import Mat3, Sym3, Vec3
from hinge.spatial.transform import Rigid, Transform

SHAPES = {"mass": (), "com": (3,), "inertia": (3, 3), "placement": (4, 4), "gravity": (3,), "symbol": ()}
DUST = 1e-13  # relative size of what rounding leaves where zero is meant


@dataclass(frozen=True)
class Parameter:
    """One number or array of a model, by name."""

    name: str
    owner: str
    field: str

    @property
    def shape(self) -> tuple[int, ...]:
        return SHAPES[self.field]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def nominal(self, model: Model) -> Floats:
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
        return np.asarray(model.links[self.owner][("mass", "com", "inertia").index(self.field)], float)


def parameter(model: Model, name: str) -> Parameter:
    """The parameter of that name, if the model has it."""
    if name in model.symbols:
        return Parameter(name, "", "symbol")
    if name == "gravity":
        return _numeric(model, Parameter(name, "", "gravity"), model.gravity)
    owner, _, field = name.rpartition(".")
    owners = model.joint_name[1:] if field == "placement" else tuple(model.links)
    if field not in SHAPES or field in ("gravity", "symbol") or owner not in owners:
        kinds = [f"{link}.{f}" for link in model.links for f in ("mass", "com", "inertia")]
        kinds += [f"{joint}.placement" for joint in model.joint_name[1:]] + ["gravity", *model.symbols]
        raise UnknownName(f"robot {model.name!r} has no parameter {name!r}. {did_you_mean(name, kinds)}")
    at = model.placement[model.joint_number(owner)] if field == "placement" else getattr(model.links[owner], field)
    return _numeric(model, Parameter(name, owner, field), at)


def _numeric(model: Model, one: Parameter, value: object) -> Parameter:
    """The parameter, if it is no symbol already."""
    names = symbols(value)
    if names:
        raise NotCovered(f"{one.name!r} of robot {model.name!r} is made of symbols ({', '.join(names)}), "
                         "which are inputs already.")  # fmt: skip
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
    for owner in dict.fromkeys(one.owner for one in parameters if one.field in ("mass", "com", "inertia")):
        frame, (mass, com, about) = model.frames[owner], model.links[owner]
        m = values.get((owner, "mass"), [mass])[0]
        c = values.get((owner, "com"), list(com))
        J = values.get((owner, "inertia"), [x for row in about for x in row])
        nominal = frame.transform.T @ RigidInertia.at_com(mass, Vec3(tuple(com)), about)
        given = frame.transform.T @ RigidInertia.at_com(m, Vec3(tuple(c)), [J[0:3], J[3:6], J[6:9]])
        inertia[frame.body] = _rest(inertia[frame.body], nominal, frame.p) + given
    for one in parameters:
        if one.field == "placement":
            i = model.joint_number(one.owner)
            placement[i] = _placed(model, i, values[one.owner, "placement"])
        elif one.field == "gravity":
            gravity = tuple(values["", "gravity"])
    return replace(model, inertia=tuple(inertia), placement=tuple(placement), gravity=gravity)


def starts(parameters: Sequence[Parameter]) -> list[int]:
    """Where each parameter begins in a row that has them all."""
    return [sum(one.size for one in parameters[:k]) for k in range(len(parameters))]


def _rest(whole: RigidInertia, part: RigidInertia, at: Vec3) -> RigidInertia:
    """What is left of a body when a link is taken away; nothing where only rounding says otherwise."""
    rest = whole.less(part)
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
