"""Agreement with Pinocchio and MuJoCo, where they are installed and can read the same file.

States go there and forces come back by `hinge.interop`. Both keep mimic joints independent, which its lever T undoes:
H = Tᵀ H' T. Accelerations are compared as forces: with ours, their equations of motion hold.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from hinge import interop
from hinge.checking.trials import CannotBeMade, States, apart
from hinge.checking.written import PRODUCTS, Content, root_of
from hinge.errors import NotCovered
from hinge.formats.mjcf.document import Document, Folder, open_document
from hinge.formats.mjcf.settings import walk
from hinge.formats.xml import Element, shown
from hinge.robot import Robot
from hinge.typing import Array

LIMIT = 1e-9  # angles such as 1.5707963268 are read as quarter turns here, up to 1e-11 off at each joint
ASSETS = ("asset", "mesh", "texture")
WRITTEN: dict[str, Any] = {  # what of a URDF is handed over
    "link": {"inertial": {"origin": {}, "mass": {}, "inertia": {}}},
    "joint": {tag: {} for tag in ("origin", "parent", "child", "axis", "limit")},
}


def pinocchio(s: States, text: Content, file: str) -> tuple[float, float, str]:
    """Mass matrix, inverse and forward dynamics of Pinocchio's reading of a URDF."""
    pin = _installed("pinocchio", "Pinocchio")
    root, model = root_of(text), s.robot.model
    if root is None or root.tag != "robot":
        raise CannotBeMade("Pinocchio is compared on URDF files.")
    _upright(root)
    floating = model.joint_name[1] not in {joint.attributes.get("name") for joint in root.all("joint")}
    try:
        theirs = pin.buildModelFromXML(_bare(root), *([pin.JointModelFreeFlyer()] if floating else []))
    except Exception as refusal:  # of whatever class: what a C++ library throws is its own affair
        raise CannotBeMade(f"Pinocchio cannot read the file: {_first_line(refusal)}") from None
    theirs.gravity.linear = np.array(model.gravity)
    data = theirs.createData()

    def forces(q: Array, v: Array, a: Array) -> Array:
        return np.array(pin.rnea(theirs, data, q, v, a))

    def mass_matrix(q: Array, v: Array) -> Array:
        upper = np.triu(pin.crba(theirs, data, q))
        return upper + np.triu(upper, 1).T

    worst = _compared(s, _paired(interop.pinocchio.states, s.robot, theirs), forces, mass_matrix)
    return worst, LIMIT, f"Pinocchio {pin.__version__}: {_words(s)}"


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
        if urdf:
            theirs = mj.MjModel.from_xml_string(_bare(root))
        else:
            _within_folder(open_document(text, file, Folder.of(os.path.dirname(file) if file else None, ())), file)
            theirs = mj.MjModel.from_xml_path(file) if file else mj.MjModel.from_xml_string(text)
    except CannotBeMade:
        raise
    except Exception as refusal:
        raise CannotBeMade(f"MuJoCo cannot read the file: {_first_line(refusal)}") from None
    theirs.opt.gravity[:] = model.gravity
    data = mj.MjData(theirs)

    def mass_matrix(q: Array, v: Array) -> Array:
        data.qpos[:], data.qvel[:] = q, v
        mj.mj_fwdPosition(theirs, data)
        mj.mj_fwdVelocity(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        for k, unit in enumerate(np.eye(theirs.nv)):
            mj.mj_mulM(theirs, data, M[k], unit)
        return M

    def forces(q: Array, v: Array, a: Array) -> Array:
        return mass_matrix(q, v) @ a + data.qfrc_bias

    worst = _compared(s, _paired(interop.mujoco.states, s.robot, theirs), forces, mass_matrix)
    return worst, LIMIT, f"MuJoCo {mj.__version__}: {_words(s)}"


def _within_folder(document: Document, file: str) -> None:
    """Refuse a model that names a file outside its folder, or any if it is a text: MuJoCo would open it."""
    home, strip = os.path.realpath(os.path.dirname(file) or os.curdir), document.settings.strippath
    elements = list(walk(document.root))
    folders = {"", *(e.attributes[f"{kind}dir"] for e in elements for kind in ASSETS if f"{kind}dir" in e.attributes)}
    for name in (value for e in elements for key, value in e.attributes.items() if key.startswith("file")):
        for inside in folders:
            path = os.path.join(home, inside, os.path.basename(name) if strip else name).replace("\\", "/")
            if not file or not os.path.realpath(path).startswith(os.path.join(home, "")):
                raise CannotBeMade(f"the model names {shown(name)!r}, which MuJoCo would open outside its folder.")
    for model in document.models:
        _within_folder(document.attached(model, document.root.where), file)


def _upright(root: Element) -> None:
    """Refuse a planar joint whose normal is not z: Pinocchio does not read its axis."""
    for joint in root.all("joint"):
        axis = joint.first("axis")
        written = axis.attributes.get("xyz", "").split() if axis else []
        if joint.attributes.get("type") == "planar" and [float(x) for x in written] != [0.0, 0.0, 1.0]:
            name = joint.attributes.get("name")
            raise CannotBeMade(f"joint {name!r} is planar, and Pinocchio reads it with the normal z.")


def _bare(element: Element, parts: Mapping[str, Any] = WRITTEN) -> str:
    """A URDF with its masses and joints only: shapes and the tags of other programs do not matter to the dynamics.

    Products of inertia that are left out are written as zeros, which is what it means; both would drop the inertia.
    """
    said = (dict.fromkeys(PRODUCTS, "0") if element.tag == "inertia" else {}) | element.attributes
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in said.items() if ":" not in name)
    inside = "".join(_bare(child, parts[child.tag]) for child in element.children if child.tag in parts)
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


# ---- common ----------------------------------------------------------------------------------------------------------


def _paired(states: Callable[..., Any], robot: Robot, theirs: Any) -> Any:
    """The states of both; where joints cannot be paired there is nothing to compare."""
    try:
        return states(robot, theirs)
    except NotCovered as why:
        raise CannotBeMade(str(why).splitlines()[0]) from None


def _compared(s: States, both: Any, forces: Callable[..., Array], mass_matrix: Callable[..., Array]) -> float:
    """How far ours and theirs are apart: H = Tᵀ H' T, and tau = Tᵀ tau' with given and with our own accelerations."""
    ours = s.robot.inverse_dynamics(s.q, s.qd, s.qdd)
    found, T = _accelerations(s, ours), both.lever(s.q)
    given, solved = both.there(s.q, s.qd, s.qdd), both.there(s.q, s.qd, found)
    H = [t.T @ mass_matrix(q, v) @ t for t, q, v in zip(T, given.q, given.v, strict=True)]
    tau, again = ([t.T @ forces(*row) for t, *row in zip(T, x.q, x.v, x.a, strict=True)] for x in (given, solved))
    return _worst(s, ours, found, H, tau, again)


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


def _words(s: States) -> str:
    tied = ", mimic joints eliminated from theirs" if s.robot.model.follows else ""
    return f"mass matrix, inverse and forward dynamics are the same{tied}"


def _first_line(refusal: Exception) -> str:
    return (str(refusal).splitlines() or [type(refusal).__name__])[0]


def _installed(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise CannotBeMade(f"{name} is not installed.") from None
