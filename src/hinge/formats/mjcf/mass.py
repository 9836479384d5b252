"""The mass of a body: what <inertial> says, or what its geoms amount to, and then what the compiler makes of it."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from hinge.errors import ModelError
from hinge.formats.mjcf.mesh import fitted
from hinge.formats.mjcf.settings import HERE, ORIGIN, integer, truth, word
from hinge.formats.mjcf.tree import Body, Scope
from hinge.formats.xml import Element, attribute, number, numbers, shown
from hinge.model.moments import Moments, joined
from hinge.model.shapes import spelled
from hinge.typing import Array

OTHERS = ("hfield", "sdf")  # geoms that are no shapes
DENSITY = 1000.0


class Geom(NamedTuple):
    """A geom with its defaults: its kind, MuJoCo's sizes, and its place in the body."""

    element: Element
    kind: str
    size: tuple[float, ...]
    R: Array
    p: Array
    mesh: str = ""
    weighs: bool = False


class Mass(NamedTuple):
    """Mass, centre, and inertia about it along the columns of R: diagonal where R says so."""

    mass: float
    com: Array
    inertia: Array
    R: Array  # of the axes an <inertial> is written in

    @property
    def about_com(self) -> Array:
        return self.R @ self.inertia @ self.R.T


NOTHING = Mass(0.0, ORIGIN, np.zeros((3, 3)), HERE)


def geom_of(given: Element, scope: Scope, inferred: bool) -> Geom:
    """A geom as it is after compilation; `inferred` where the body's mass is. A mesh is opened only if it weighs."""
    element, settings = scope.read(given), scope.document.settings
    shapes, mesh = spelled("mjcf"), element.attributes.get("mesh", "")
    kind = word(element, "type", (*shapes, *OTHERS), "sphere")
    n = len(shapes[kind].sizes()) if kind in shapes else 0
    low, high = settings.groups
    said = number(element, "mass") if "mass" in element.attributes else number(element, "density", DENSITY)
    if said < 0.0:
        raise ModelError(
            "negative-mass", f"{element} has a negative mass or density.", "Write zero or more.", given.where
        )
    counted = low <= integer(element, "group", 0) <= high and kind not in ("plane", "hfield")
    weighs = inferred and counted and said != 0.0
    R, p = scope.placement(element)
    if not n or (mesh and not weighs):
        return Geom(element, kind, (), R, p, mesh, weighs)
    if mesh:
        triangles, solid = scope.document.mesh(mesh, element.where)
        size, center, axes = fitted(triangles, solid, shapes[kind], number(element, "fitscale", 1.0), settings.fitaabb)
        return Geom(element, kind, size, R @ axes, p + R @ center, weighs=weighs)
    size = numbers(element, "size", len(element.attributes.get("size", "").split()), ())
    if "fromto" in element.attributes:
        if n == 1 or not size:
            raise ModelError("fromto", f"{element}, a {kind}, has fromto, which gives no sphere and no radius.",
                             "Write another type, and size with the radius.", element.where)  # fmt: skip
        R, p, length = scope.between(element)
        size = (*size[:1] * (n - 1), length / 2)
    if len(size) < n or not all(1e-15 < s < 1e15 for s in size[:n]):
        raise ModelError("geom-size", f'{element}, a {kind}, has size="{shown(element.attributes.get("size", ""))}".',
                         f"Write {n} positive number{'s' * (n > 1)}.", element.where)  # fmt: skip
    return Geom(element, kind, size[:n], R, p, weighs=weighs)


def mass_of(body: Body, geoms: list[Geom]) -> Mass:
    """What the body weighs, before bounds and balance."""
    how = body.scope.document.settings.inertiafromgeom
    weighing = [geom for geom in geoms if geom.weighs]
    if body.inertial is not None and not (how == "true" and weighing):
        return _stated(*body.inertial)
    if how == "false":
        return NOTHING
    made = joined([_part(geom, body.scope) for geom in weighing])
    return Mass(made.content, made.center, made.inertia, HERE)


def infers(body: Body) -> bool:
    """Whether the body's mass comes from its geoms."""
    how = body.scope.document.settings.inertiafromgeom
    return body.parent is not None and (how == "true" or (how == "auto" and body.inertial is None))


def _part(geom: Geom, scope: Scope) -> Moments:
    """A geom with its mass."""
    element = geom.element
    if geom.kind == "sdf":
        raise ModelError("unmodelled", f"{element} is a signed distance field, whose mass only its plugin knows.",
                         "Write <inertial> in the body.", element.where)  # fmt: skip
    if geom.kind == "mesh":
        if "shellinertia" in element.attributes:
            raise ModelError("shellinertia", f"{element} is a mesh and has shellinertia.",
                             'Write inertia="shell" in the mesh asset.', element.where)  # fmt: skip
        solid = scope.document.mesh(geom.mesh or attribute(element, "mesh"), element.where)[1]
    else:
        shape = spelled("mjcf")[geom.kind]
        made = shape(*shape.from_mjcf(geom.size))
        solid = made.shell() if truth(element, "shellinertia", False) else made.solid()
    density = number(element, "density", DENSITY)
    if "mass" in element.attributes:
        density = number(element, "mass") / solid.content
    return solid.scaled(density).placed(geom.R, geom.p)


def _stated(inertial: Element, scope: Scope) -> Mass:
    mass = number(inertial, "mass")
    if mass < 0.0:
        raise ModelError("negative-mass", f"<inertial> has mass {mass:g} kg.", "Write zero or more.", inertial.where)
    if "pos" not in inertial.attributes:
        attribute(inertial, "pos")
    R, p = scope.placement(inertial)
    if "fullinertia" in inertial.attributes:
        turned = [
            name
            for name in ("quat", "axisangle", "euler", "xyaxes", "zaxis", "diaginertia")
            if name in inertial.attributes
        ]
        if turned:
            raise ModelError(
                "orientation", f"<inertial> has both fullinertia and {turned[0]}.", "Keep one.", inertial.where
            )
        xx, yy, zz, xy, xz, yz = numbers(inertial, "fullinertia", 6)
        return Mass(mass, p, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), R)
    return Mass(mass, p, np.diag(numbers(inertial, "diaginertia", 3, (0.0, 0.0, 0.0))), R)


def adjusted(mass: Mass, body: Body) -> Mass:
    """With the compiler's bounds, and its way to make impossible inertias possible."""
    settings = body.scope.document.settings
    if not (isfinite(mass.mass) and np.all(np.isfinite(mass.inertia))):
        raise ModelError("nan", f"{body.element} has more mass or inertia than a number can say.",
                         "Check masses, densities and sizes.", body.element.where)  # fmt: skip
    if not (settings.boundmass or settings.boundinertia or settings.balanceinertia):
        return mass
    if mass.mass == 0.0 and body.inertial is None:  # MuJoCo has the centre of nothing where the file puts the body
        R, p = settings.placement(body.element)
        mass = mass._replace(com=p, R=R)
    principal, axes = np.linalg.eigh(mass.inertia)
    if settings.boundinertia:
        principal = np.maximum(principal, settings.boundinertia)
    least, middle, most = sorted(principal)
    if settings.balanceinertia and least + middle < most:
        principal = np.full(3, principal.mean())
    return mass._replace(mass=max(mass.mass, settings.boundmass), inertia=axes @ np.diag(principal) @ axes.T)
