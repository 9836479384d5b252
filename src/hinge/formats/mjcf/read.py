"""Bodies into a Builder: links, joints, sites and shapes.

A body with several joints becomes a chain of links, the last of which has its name. A joint's `ref` and `pos` go into
the placement of the link beyond it, so that every coordinate means what MuJoCo's does.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from hinge.errors import ModelError, Where, did_you_mean
from hinge.formats.mjcf.document import Document
from hinge.formats.mjcf.mass import NOTHING, Geom, Mass, adjusted, geom_of, infers, mass_of
from hinge.formats.mjcf.mesh import principal
from hinge.formats.mjcf.physics import joint_physics, left_out, part_left_out, surface
from hinge.formats.mjcf.settings import HERE, ORIGIN, Settings, about, direction, from_quaternion, integer, truth, word
from hinge.formats.mjcf.terrain import terrain
from hinge.formats.mjcf.tree import Body, Scope
from hinge.formats.mjcf.words import TOUCHES
from hinge.formats.xml import ANY, Element, attribute, number, numbers, shown
from hinge.model import joints
from hinge.model.build import WORLD, Builder, unused
from hinge.model.file_physics import LeftOut, Range, Surface
from hinge.model.height_fields import Heights
from hinge.model.moments import Moments
from hinge.model.shapes import Shape, spelled
from hinge.spatial.linear3 import Mat3
from hinge.spatial.rotation import quaternion_from_rotation
from hinge.typing import Array

JOINTS = joints.spelled("mjcf")


class FreeNames:
    """Names that are free, for what has none in the file; MuJoCo's numbers make them."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def free(self, wanted: str) -> str:
        name = unused(wanted, self.taken)
        self.taken.add(name)
        return name


class Reader:
    """Hands bodies to a builder, and remembers what the rest of the file will want to know about joints."""

    def __init__(self, builder: Builder, names: Mapping[str, dict[str, str]]) -> None:
        self.builder, self.sites = builder, names["site"]
        self.bodies = names["body"].keys() - {WORLD}
        self.links, self.joint_names = FreeNames({*names["body"], *names["site"]}), FreeNames({*names["joint"]})
        self.added: dict[str, dict[str, float]] = {"armature": {}, "damping": {}}  # by actuators to joints, by name
        self.scalar: dict[str, Range] = {}  # joints of one coordinate, and their limits
        self.rests: dict[str, float] = {}  # of those, where their springs are slack
        self.paired: set[str] = set()  # geoms that a pair names
        self.surfaces: dict[tuple[str | None, ...], Surface | None] = {(): None}  # by the words that say them
        self.layout: list[tuple[str, str]] = []  # joints in order: name, MuJoCo's type
        self.counted, self.njoint = 0, 0
        self.weights: list[tuple[Body, Mass, list[Geom]]] = []
        self.afloat: Body | None = None  # a body that is given a free joint
        self.referenced: set[str] = set()  # bodies that elements outside the tree name

    def body(self, body: Body) -> None:
        """Weigh a body; it is built when all are weighed, because a file may state the total."""
        geoms = [geom_of(element, scope, infers(body)) for element, scope in body.geoms]
        mass = NOTHING if body.parent is None else adjusted(mass_of(body, geoms), body)
        self.weights.append((body, mass, geoms))

    def build(self, settings: Settings) -> None:
        total = sum(mass.mass for body, mass, _ in self.weights if not self.fused(body))
        factor = settings.settotalmass / total if settings.settotalmass > 0.0 and total > 0.0 else 1.0
        for body, mass, geoms in self.weights:
            scaled = mass._replace(mass=factor * mass.mass, inertia=factor * mass.inertia) if factor != 1.0 else mass
            self.add(body, scaled, geoms)

    def fused(self, body: Body) -> bool:
        """Whether MuJoCo makes a body part of the world, so that its mass does not count (see `fusestatic`)."""
        while body.parent is not None:
            said, settings = body.element.attributes, body.scope.document.settings
            fuses = said.get("fuse", "true" if settings.fusestatic else "false") == "true"
            named = body.scope.name(said.get("name", "")) in self.referenced
            if body.joints or body is self.afloat or named or not fuses or truth(body.element, "mocap", False):
                return False
            body = body.parent
        return True

    def add(self, body: Body, mass: Mass, geoms: list[Geom]) -> None:
        given = body.scope.name(body.element.attributes.get("name", ""))
        if body.parent is None:
            body.link = WORLD
        else:
            body.link = given or self.links.free(f"body_{self.counted}")
        self.counted += 1
        moved = self._aligned(body, mass)
        if moved is not None:
            R, p = moved
            body.R, body.p = body.R @ R, body.p + body.R @ p
            turned = R.T @ mass.R
            mass = Mass(mass.mass, R.T @ (mass.com - p), mass.inertia, turned)
            geoms = [g._replace(R=R.T @ g.R, p=R.T @ (g.p - p)) for g in geoms]
        shapes = [shape for geom in geoms for shape in self.shapes(geom, body.scope)]
        where = body.element.where
        self.builder.link(body.link, mass.mass, mass.com, mass.about_com, shapes, where)
        if body.parent is not None:
            self.joints(body, where)
        for element, scope in body.sites:
            self.site(body, element, scope, moved)

    def _aligned(self, body: Body, mass: Mass) -> tuple[Array, Array] | None:
        """Where the frame of a free body goes that is to be aligned with its inertia."""
        if body.parent is None or body.bodies or len(body.joints) != 1 or not mass.mass:
            return None
        element, scope = body.joints[0]
        if self._kind(body, element, scope) != "free":
            return None
        asked = word(element, "align", ("auto", "true", "false"), "auto")
        if asked == "false" or (asked == "auto" and not scope.document.settings.alignfree):
            return None
        if np.count_nonzero(mass.inertia - np.diag(np.diag(mass.inertia))) == 0:
            return mass.R, mass.com
        moment = np.trace(mass.inertia) / 2 * np.eye(3) - mass.inertia
        note = f"body {body.link!r} is aligned with its axes of inertia, whose signs MuJoCo may choose otherwise."
        self.builder.finding("note", "aligned", note, where=element.where)
        return mass.R @ principal(Moments(mass.mass, mass.com, moment)), mass.com

    # joints

    def joints(self, body: Body, where: Where) -> None:
        assert body.parent is not None
        if body is self.afloat:
            body.joints.append((Element("freejoint", {}, where=where), body.scope))
        kinds = [self._kind(body, element, scope) for element, scope in body.joints]
        if not kinds:
            name = self.joint_names.free(body.link)
            self.builder.joint(name, "fixed", body.parent.link, body.link, body.p, body.R, where=where, named=False)
            return
        parent, R, p = body.parent.link, body.R, body.p
        for k, (given, scope) in enumerate(body.joints):
            element = scope.read(given) if given.tag == "joint" else given
            name = scope.name(element.attributes.get("name", "")) or self._unnamed(kinds[k])
            last = k == len(kinds) - 1
            child = body.link if last else self.links.free(f"{body.link}({name})")
            if not last:
                self.builder.link(child, where=element.where)
            self._joint(element, scope, name, kinds[k], parent, child, R, p)
            self.layout.append((name, kinds[k]))
            self.njoint += 1
            parent, R, p = child, HERE, ORIGIN

    def _unnamed(self, kind: str) -> str:
        return self.joint_names.free("base") if kind == "free" else self.joint_names.free(f"joint_{self.njoint}")

    def _kind(self, body: Body, given: Element, scope: Scope) -> str:
        element = scope.read(given) if given.tag == "joint" else given
        kind = "free" if given.tag == "freejoint" else word(element, "type", tuple(JOINTS), "hinge")
        several = len(body.joints) > 1
        assert body.parent is not None
        if kind == "free" and (several or body.parent.parent is not None):
            what = "is free and has other joints" if several else "is free and is not directly in the world"
            hint = "A free joint stands alone, in a body of the world."
            raise ModelError("free-joint", f"body {shown(body.link)!r} {what}.", hint, given.where)
        return kind

    def _joint(self, element: Element, scope: Scope, name: str, kind: str, parent: str, child: str, R: Array, p: Array
               ) -> None:  # fmt: skip
        settings = scope.document.settings
        angle = settings.angle if kind in ("hinge", "ball") else 1.0
        at = scope.R @ numbers(element, "pos", 3, (0.0, 0.0, 0.0)) + scope.p
        data: dict[str, Any] = {}
        options: dict[str, Any] = {
            "damping": self._first(element, name, "damping") + self._added("damping", element, scope),
            "friction": number(element, "frictionloss", 0.0),
            "stiffness": self._first(element, name, "stiffness"),
            "armature": number(element, "armature", 0.0) + self._added("armature", element, scope),
        }
        ranged = kind in ("hinge", "slide") or "range" in element.attributes
        lower, upper = self._range(element, settings, "range", "limited", angle) if ranged else (None, None)
        if kind in ("hinge", "slide"):
            axis = scope.R @ direction(numbers(element, "axis", 3, (0.0, 0.0, 1.0)), element, "axis")
            ref = number(element, "ref", 0.0) * angle
            options |= {"axis": axis, "lower": lower, "upper": upper, "reference": ref}
            options["rest"] = number(element, "springref", 0.0) * angle
            _, options["effort"] = self._range(element, settings, "actuatorfrcrange", "actuatorfrclimited", 1.0)
            back, shift = (about(axis, -ref), ORIGIN) if kind == "hinge" else (HERE, -ref * axis)
            options |= {"child_rotation": back, "child_xyz": shift - back @ at}
            self.rests[name] = options["rest"]
            self.scalar[name] = -inf if lower is None else lower, inf if upper is None else upper
        elif kind == "ball":
            options["child_xyz"] = -at
            if upper is not None:
                data["range"] = upper
        else:  # the position of a free body is its coordinates, and where the file puts it their reference
            options["reference"] = (*quaternion_from_rotation(Mat3(R.reshape(-1).tolist())), *p)
            R, p, at = HERE, ORIGIN, ORIGIN
            if options["armature"]:
                what = f"joint {name!r} is free and has armature: hinge adds it in body axes, MuJoCo in the world's."
                self.builder.finding(
                    "warning", "free-armature", what, "Write <freejoint/>, which has none.", element.where
                )
                self.builder.left_out.append(LeftOut("free-armature", str(element)))
        options["physics"] = joint_physics(element, settings, angle)
        part_left_out(self.builder, element, {"springyield"})
        if any(numbers(element, "springdamper", 2, (0.0, 0.0))):
            why = "it has springdamper, of which MuJoCo makes stiffness and damping"
            left_out(self.builder, element, "springdamper", why)
        self.builder.joint(name, JOINTS[kind], parent, child, p + R @ at, R, data=data or None, where=element.where,
                           **options)  # fmt: skip
        if options["stiffness"]:
            what, fix = f"joint {name!r} has a spring, which is left out of the dynamics.", "joint_terms= puts it in."
            self.builder.finding("note", "stiffness", what, fix, element.where)

    def _added(self, what: str, element: Element, scope: Scope) -> float:
        """What actuators add: those that name this joint, and those that name all its repetitions."""
        given = element.attributes.get("name", "")
        names = {scope.prefix + given, scope.name(given)}
        return sum(self.added[what].get(name, 0.0) for name in names)

    def _first(self, element: Element, name: str, what: str) -> float:
        """A coefficient that may be followed by those of higher powers."""
        values = numbers(element, what, len(element.attributes.get(what, "0").split()), (0.0,))
        if any(values[1:]):
            left_out(self.builder, element, "nonlinear", f"it has {what} of higher order")
        return values[0] if values else 0.0

    def _range(self, element: Element, settings: Settings, name: str, switch: str, unit: float
               ) -> tuple[float | None, float | None]:  # fmt: skip
        """The two ends of a range, where it is switched on."""
        on = word(element, switch, ("auto", "true", "false"), "auto")
        if on == "true" and name not in element.attributes:
            raise ModelError("limits", f'{element} has {switch}="true" and no {name}.', f'Write {name}="lower upper".',
                             element.where)  # fmt: skip
        if on == "auto" and not settings.autolimits and name in element.attributes:
            what = f"{element} has {name} without {switch}, and autolimits is off; it has no limit."
            self.builder.finding("warning", "autolimits", what, f'Write {switch}="true".', element.where)
        if on == "false" or (on == "auto" and not settings.autolimits) or name not in element.attributes:
            return None, None
        low, high = (unit * x for x in numbers(element, name, 2, largest=ANY))
        if low == high == 0.0 and on == "auto":
            return None, None
        return low, high

    # sites

    def site(self, body: Body, given: Element, scope: Scope, moved: tuple[Array, Array] | None) -> None:
        element = scope.read(given)
        name = scope.name(element.attributes.get("name", ""))
        if not name:
            return
        R, p = scope.between(element)[:2] if "fromto" in element.attributes else scope.placement(element)
        if moved is not None:
            R, p = moved[0].T @ R, moved[0].T @ (p - moved[1])
        if name in self.bodies:
            other = self.links.free(f"{name}_site")
            what = f"site {name!r} has the name of a body; it is called {other!r}."
            self.builder.finding("note", "site-name", what, "Rename it in the file.", element.where)
            self.sites[name] = other
            name = other
        self.builder.frame(name, body.link, p, R, element.where)

    # shapes

    def shapes(self, geom: Geom, scope: Scope) -> list[Shape]:
        """A geom as collision and as visual shape; sizes as URDF has them: whole edges and lengths."""
        element, size = geom.element, geom.size
        name = scope.name(element.attributes.get("name", ""))
        colliding = integer(element, "contype", 1) or integer(element, "conaffinity", 1) or name in self.paired
        words = tuple(map(element.attributes.get, TOUCHES)) if colliding else ()
        if words not in self.surfaces:
            self.surfaces[words] = surface(element)
        touches = self.surfaces[words]
        part_left_out(self.builder, element, {"adhesion", "surfacevel"})
        seen = integer(element, "group", 0) < 3
        file: str = ""
        scale: tuple[float, ...] = (1.0, 1.0, 1.0)
        if geom.kind == "mesh" or (geom.mesh and not size):
            asset = scope.document.assets.get(geom.mesh)
            if asset is None:
                return []
            file = scope.document.mesh_name(asset)
            placed = self._referenced(asset)
            if placed is None:
                return []
            scale, R, p = placed
            geom = geom._replace(R=geom.R @ R, p=geom.p + geom.R @ p)
        kind = geom.kind if size or geom.kind in ("plane", "hfield") else "mesh"
        heights = self.terrain(element, scope.document) if kind == "hfield" else None
        shape = spelled("mjcf").get(kind)
        kind, size = (shape.kind, shape.from_mjcf(size)) if shape is not None else (kind, ())
        rgba = numbers(element, "rgba", 4) if "rgba" in element.attributes else None
        roles = [role for role, wanted in (("visual", seen), ("collision", colliding)) if wanted]
        return [
            Shape(role, kind, size, file, tuple(geom.p.tolist()), tuple(map(tuple, geom.R.tolist())), name,
                  tuple(scale), rgba, touches, heights) for role in roles
        ]  # fmt: skip

    def _referenced(self, asset: Element) -> tuple[tuple[float, ...], Array, Array] | None:
        """Scale, rotation and position of a mesh file in the frame of its asset; None where no such scale exists.

        MuJoCo moves a vertex v to S Rᵀ (v - p), with the scales S, the rotation R of refquat, and refpos p. That is
        Rᵀ (R S Rᵀ) v - S Rᵀ p, which has scales along the axes of the file where R S Rᵀ is diagonal.
        """
        S = np.diag(numbers(asset, "scale", 3, (1.0, 1.0, 1.0)))
        R = from_quaternion(numbers(asset, "refquat", 4, (1.0, 0.0, 0.0, 0.0)), asset)
        scales = np.diag(R @ S @ R.T)
        if np.abs(R @ S @ R.T - np.diag(scales)).max() > 1e-9 * np.abs(S).max():
            what = f"{asset} has unequal scales along axes that refquat turns; its shapes are left out."
            self.builder.finding("warning", "mesh-scale", what, "Scale the file, or leave out refquat.", asset.where)
            return None
        p = np.array(numbers(asset, "refpos", 3, (0.0, 0.0, 0.0)))
        if np.array_equal(R, HERE):
            return tuple(np.diag(S).tolist()), R, -S @ p
        return tuple(scales.tolist()), R.T, -S @ R.T @ p

    def terrain(self, geom: Element, document: Document) -> Heights | None:
        """The heights of a geom that is a height field; a finding where they cannot be read."""
        name = attribute(geom, "hfield")
        if name not in document.fields:
            raise ModelError("unknown-hfield", f"height field {shown(name)!r} is not among the assets.",
                             did_you_mean(name, document.fields), geom.where)  # fmt: skip
        made = terrain(document.fields[name], document)
        if made is None:
            what = f"height field {name!r} is an image, which hinge does not read; contacts with it are refused."
            self.builder.finding("warning", "hfield", what, "Write elevation, or MuJoCo's binary format.", geom.where)
        return made
