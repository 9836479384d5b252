"""Agreement with Pinocchio and MuJoCo, where they are installed and can read the same file.

Both keep mimic joints independent and have an order of coordinates of their own, so what is compared goes through one
matrix E: their velocities are E times ours, their forces Eᵀ come to us, and H = Eᵀ H' E. Accelerations are compared as
forces: with ours, their equations of motion hold.

    Pinocchio  linear before angular, position before quaternion, its scalar last, cosine and sine of a free angle
    MuJoCo     position before quaternion, linear velocity of a free joint in world coordinates
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from hinge.checking.proofs import Array, CannotBeMade, States, apart
from hinge.checking.written import PRODUCTS, Content, root_of
from hinge.errors import NotCovered
from hinge.formats.xml import Element
from hinge.model import Model

LIMIT = 1e-9  # angles such as 1.5707963268 are read as quarter turns here, up to 1e-11 off at each joint
SWAPPED = [3, 4, 5, 0, 1, 2]
WRITTEN: dict[str, Any] = {  # what of a URDF is handed over
    "link": {"inertial": {"origin": {}, "mass": {}, "inertia": {}}},
    "joint": {tag: {} for tag in ("origin", "parent", "child", "axis", "limit")},
}
SINGLE = ("revolute", "continuous", "prismatic")


def pinocchio(s: States, text: Content, file: str) -> tuple[float, float, str]:
    """Mass matrix, inverse and forward dynamics of Pinocchio's reading of a URDF."""
    pin = _installed("pinocchio", "Pinocchio")
    root, model = root_of(text), s.robot.model
    if root is None or root.tag != "robot":
        raise CannotBeMade("Pinocchio is compared on URDF files.")
    floating = model.joint_name[1] not in {joint.attributes.get("name") for joint in root.all("joint")}
    try:
        theirs = pin.buildModelFromXML(_bare(root), *([pin.JointModelFreeFlyer()] if floating else []))
    except Exception as refusal:  # of whatever class: what a C++ library throws is its own affair
        raise CannotBeMade(f"Pinocchio cannot read the file: {_first_line(refusal)}") from None
    theirs.gravity.linear = np.array(model.gravity)
    data, order, rows = theirs.createData(), [], []
    for j in range(1, theirs.njoints):
        i = 1 if floating and j == 1 else _number(model, theirs.names[j])
        if model.joint[i].kind not in (*SINGLE, "free"):
            raise CannotBeMade(f"joint {theirs.names[j]!r} is {model.joint[i].kind}, whose coordinates differ.")
        order.append(i)
        rows.append(SWAPPED if model.joint[i].nv == 6 else [0])
    E = _lever(model, order, rows)
    H, tau, again = [], [], []
    forces = s.robot.inverse_dynamics(s.q, s.qd, s.qdd)
    accelerations = _accelerations(s, forces)
    for q, qd, qdd, found in zip(s.q, s.qd, s.qdd, accelerations, strict=True):
        position = _pin_position(theirs, model, order, q)
        upper = np.triu(pin.crba(theirs, data, position))
        H.append(E.T @ (upper + np.triu(upper, 1).T) @ E)
        tau.append(E.T @ pin.rnea(theirs, data, position, E @ qd, E @ qdd))
        again.append(E.T @ pin.rnea(theirs, data, position, E @ qd, E @ found))
    return _worst(s, forces, accelerations, H, tau, again), LIMIT, f"Pinocchio {pin.__version__}: {_compared(s)}"


def _pin_position(theirs: Any, model: Model, order: Sequence[int], q: Array) -> Array:
    made, joints = np.zeros(theirs.nq), model.joint_positions(list(q))
    for j, i in enumerate(order, start=1):
        at, x = theirs.idx_qs[j], joints[i]
        if model.joint[i].nv == 6:
            made[at : at + 7] = [*x[4:7], *x[1:4], x[0]]
        else:
            made[at : at + theirs.nqs[j]] = [np.cos(x[0]), np.sin(x[0])] if theirs.nqs[j] == 2 else x
    return made


def mujoco(s: States, text: Content, file: str) -> tuple[float, float, str]:
    """Mass matrix, inverse and forward dynamics of MuJoCo's reading of an MJCF or a URDF; no contact, no springs."""
    mj = _installed("mujoco", "MuJoCo")
    root, model = root_of(text), s.robot.model
    if root is None or root.tag not in ("robot", "mujoco"):
        raise CannotBeMade("MuJoCo is compared on MJCF and URDF files.")
    urdf = root.tag == "robot"
    if urdf and model.joint[1].kind == "free":
        raise CannotBeMade("MuJoCo reads a URDF with a fixed base.")
    ghost = next((name for name, link in model.links.items() if not link.mass and np.any(link.inertia)), None)
    if urdf and ghost:
        raise CannotBeMade(f"link {ghost!r} has inertia and no mass, which MuJoCo leaves out.")
    try:
        if urdf or not file:
            theirs = mj.MjModel.from_xml_string(_bare(root) if urdf else text)
        else:  # which may include other files
            theirs = mj.MjModel.from_xml_path(file)
    except Exception as refusal:
        raise CannotBeMade(f"MuJoCo cannot read the file: {_first_line(refusal)}") from None
    theirs.opt.gravity[:] = model.gravity
    names = [theirs.joint(j).name for j in range(theirs.njnt)]
    order = [_number(model, name) for name in names] if urdf else [i for i, _ in model.outward()]
    if len(order) != theirs.njnt or sum(model.joint[i].nv for i in order) != theirs.nv:
        raise CannotBeMade(f"MuJoCo has {theirs.njnt} joints here and nv = {theirs.nv}.")
    rows = [SWAPPED if model.joint[i].nv == 6 else list(range(model.joint[i].nv)) for i in order]
    data, lever = mj.MjData(theirs), _lever(model, order, rows)
    H, tau, again = [], [], []
    forces = s.robot.inverse_dynamics(s.q, s.qd, s.qdd)
    accelerations = _accelerations(s, forces)
    for q, qd, qdd, found in zip(s.q, s.qd, s.qdd, accelerations, strict=True):
        T, turning = _mujoco_state(theirs, model, order, data, lever, q, qd)
        mj.mj_fwdPosition(theirs, data)
        mj.mj_fwdVelocity(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        for k, unit in enumerate(np.eye(theirs.nv)):
            mj.mj_mulM(theirs, data, M[k], unit)
        H.append(T.T @ M @ T)
        tau.append(T.T @ (M @ (T @ qdd + turning) + data.qfrc_bias))
        again.append(T.T @ (M @ (T @ found + turning) + data.qfrc_bias))
    return _worst(s, forces, accelerations, H, tau, again), LIMIT, f"MuJoCo {mj.__version__}: {_compared(s)}"


def _mujoco_state(theirs: Any, model: Model, order: Sequence[int], data: Any, lever: Array, q: Array, qd: Array
                  ) -> tuple[Array, Array]:  # fmt: skip
    """Sets MuJoCo's state to ours; T with qvel = T qd, and the rate of T times qd."""
    T, turning, joints = lever.copy(), np.zeros(theirs.nv), model.joint_positions(list(q))
    velocity = lever @ qd
    for j, i in enumerate(order):
        at, x = theirs.jnt_qposadr[j], joints[i]
        if model.joint[i].nv == 6:
            data.qpos[at : at + 7] = [*x[4:7], *x[0:4]]
            d, R = theirs.jnt_dofadr[j], np.array(model.joint[i].transform(x).pose()[0]).reshape(3, 3)
            lin, ang = velocity[d : d + 3].copy(), velocity[d + 3 : d + 6]
            T[d : d + 3] = R @ lever[d : d + 3]
            turning[d : d + 3] = R @ np.cross(ang, lin)
        else:
            data.qpos[at : at + len(x)] = x
    data.qvel[:] = T @ qd
    return T, turning


def _bare(element: Element, parts: Mapping[str, Any] = WRITTEN) -> str:
    """A URDF with its masses and joints only: shapes and the tags of other programs do not matter to the dynamics.

    Products of inertia that are left out are written as zeros, which is what it means; both would drop the inertia.
    """
    said = (dict.fromkeys(PRODUCTS, "0") if element.tag == "inertia" else {}) | element.attributes
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in said.items() if ":" not in name)
    inside = "".join(_bare(child, parts[child.tag]) for child in element.children if child.tag in parts)
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


# ---- common ----------------------------------------------------------------------------------------------------------


def _number(model: Model, name: str) -> int:
    """The joint of that name; where there is none, the other library has made several of one."""
    if name not in model.joint_name:
        raise CannotBeMade(f"they have a joint {name!r}, which the file does not.")
    return model.joint_number(name)


def _lever(model: Model, order: Sequence[int], rows: Sequence[Sequence[int]]) -> Array:
    """E: their velocities from ours; their joints are those of bodies `order`, with our rows in their order."""
    G = model.coupling
    starts = np.cumsum([0, *(model.joint[i].nv for i, _ in model.outward())])
    if sorted(order) != [i for i, _ in model.outward()]:
        raise CannotBeMade("they have other joints here.")
    return G[[starts[i - 1] + row for i, block in zip(order, rows, strict=True) for row in block]]


def _accelerations(s: States, forces: Array) -> Array:
    """Forward dynamics, or the accelerations themselves where a joint moves nothing and there is none."""
    try:
        found = s.robot.forward_dynamics(s.q, s.qd, forces)
    except NotCovered:
        return s.qdd
    return found if np.all(np.isfinite(found)) else s.qdd


def _worst(s: States, forces: Array, found: Array, H: list[Array], tau: list[Array], again: list[Array]) -> float:
    ours = s.robot.mass_matrix(s.q)
    size = np.abs(ours) @ np.abs(found)[..., None]
    return max(apart(ours, H), apart(forces, tau), apart(forces, again, size))


def _compared(s: States) -> str:
    tied = ", mimic joints eliminated from theirs" if s.robot.model.follows else ""
    return f"mass matrix, inverse and forward dynamics are the same{tied}"


def _first_line(refusal: Exception) -> str:
    return (str(refusal).splitlines() or [type(refusal).__name__])[0]


def _installed(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise CannotBeMade(f"{name} is not installed.") from None
