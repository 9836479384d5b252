"""A model into MJCF, MuJoCo's format.

MJCF has several joints in one body, a joint anywhere in it, and a reference for every coordinate: a body stands where
it is at the references, and the axis and the place of each of its joints are given there. So links that only carry a
joint are folded into the body beyond. Joints that follow others are an equality, which MuJoCo enforces and hinge keeps
as data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from hinge.errors import NotCovered
from hinge.formats.write.mjcf_other_sections import sections, spoken_of
from hinge.formats.write.mjcf_physics import joint_words, option
from hinge.formats.write.mjcf_shapes import Shapes
from hinge.formats.write.notes import Notes
from hinge.formats.write.text import Tag, document, number, row
from hinge.formats.write.tree import FAR, HOME, Inertia, Part, Pose, Tree, note_helper, reference, tree
from hinge.model.build import WORLD, unused
from hinge.model.joints import JOINTS
from hinge.model.model import Model
from hinge.spatial.linear3 import IDENTITY, Vec3
from hinge.spatial.rotation import quaternion_from_rotation, rotation_from_quaternion, snapped_direction

SPELLED = {kind: joint.mjcf for kind, joint in JOINTS.items() if joint.mjcf and joint.__module__.startswith("hinge.")}
DEEPEST = 490  # readers of XML stop at 500, hinge's among them
LEAST = 1e-15  # kg or kg m²: less is nothing to MuJoCo


def write(model: Model, folder: str, notes: Notes) -> str:
    """The text of the file that says it; `folder` is where the file will lie."""
    planted = tree(model, list(SPELLED), notes, ".xml")
    return document(_Writer(model, planted, folder, notes).mujoco())


class _Writer:
    def __init__(self, model: Model, planted: Tree, folder: str, notes: Notes) -> None:
        self.model, self.tree, self.notes = model, planted, notes
        self.shapes = Shapes(model, folder, notes)
        self.children = Counter(part.parent for part in planted.parts)
        self.framed = Counter(link for _, link, _ in planted.frames)
        self.inside: dict[str, Tag] = {}  # the element of each link
        self.depth: dict[str, int] = {}
        self.sites: set[str] = set()
        self.spoken_of = spoken_of(model, "site")
        self.carried: dict[str, float] = {}  # the mass that moves with each body that has joints, by its name
        self.home: dict[str, str] = {}  # of each link: the body it moves with

    def mujoco(self) -> Tag:
        root = Tag("mujoco", {"model": self.model.name})
        root.add("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        root.children.append(option(self.model.physics.options, self.model.gravity))
        world = self.worldbody()
        root.children.extend(self.shapes.defaults())
        root.children.extend(self.shapes.assets())
        root.children.append(world)
        known = {"body": set(self.inside), "site": self.sites, "geom": self.shapes.names}
        root.children.extend(sections(self.model, self.tree, known, self.notes))
        if self.model.name.strip() != self.model.name or not self.model.name:
            self.notes.add(
                "note", "name", "robot", self.model.name, "a name is read without blanks around it, and not empty."
            )
        return root

    # ---- bodies

    def worldbody(self) -> Tag:
        world, base = Tag("worldbody"), self.tree.parts[0]
        self.inside[""] = world
        self.depth[""] = 2
        free = any(part.joint.kind == "free" for part in self.tree.parts)
        if base.helper or base.name == WORLD:
            self.fill(world, base)
            if not base.inertia.nothing:
                why = "MJCF has no mass for the world; it moves nothing, and was left out."
                self.notes.add("note", "inertia", "link", base.name, why)
        else:
            self.body([base])
        if free or base.helper or base.name == WORLD:  # a free body stands in the world itself
            self.inside[base.name], self.depth[base.name] = world, 2
        self.home[base.name] = base.name
        for chain in self.chains():
            self.body(chain)
        for name, link, pose in self.tree.frames:
            self.inside[link].children.append(Tag("site", {"name": self.site(name), **_placed(pose)}))
        self.what_mujoco_refuses()
        return world

    def site(self, name: str) -> str:
        """The name of a site; where a body has it, reading makes it NAME_site, but what speaks of it says NAME."""
        stem = name.removesuffix("_site")
        if name not in self.spoken_of and stem in self.spoken_of and stem in self.inside:
            name = stem
        self.sites.add(name)
        return name

    def what_mujoco_refuses(self) -> None:
        for name, mass in self.carried.items():
            if mass < LEAST:
                why = "MuJoCo refuses a body that moves and has no mass."
                self.notes.add("warning", "massless", "link", name, why, "Give it a mass, or weld it to another.")
        for part in self.tree.parts:
            if not _accepted(part.inertia):
                why = "MuJoCo refuses an inertia that no body has."
                self.notes.add("warning", "unphysical", "link", part.name, why, "See what hinge.repair makes of it.")

    def chains(self) -> Iterator[list[Part]]:
        """The parts that make one body each: the link, and before it those that only carry its joints."""
        pending: dict[str, list[Part]] = {}
        for part in self.tree.parts[1:]:
            chain = [*pending.pop(part.parent, []), part]
            if self.folds(chain):
                pending[part.name] = chain
            else:
                yield from _cut(chain)

    def folds(self, chain: Sequence[Part]) -> bool:
        """Whether the last link of a chain is nothing but the carrier of its joint, by name and by what it has."""
        part, joint = chain[-1], next((one.joint_name for one in reversed(chain) if one.joint_name), "")
        named = part.helper or (joint and part.name.endswith(f"({joint})"))
        bare = part.inertia.nothing and not part.shapes and not self.framed[part.name]
        return bool(named and bare and self.children[part.name] == 1 and part.joint.kind != "free")

    def body(self, chain: list[Part]) -> None:
        part, parent = chain[-1], chain[0].parent
        moving = [one for one in chain if one.joint.nv]
        name = part.name
        if not name.strip():
            raise NotCovered(f"link {name!r} has no name that an XML file can hold. Rename it.")
        if name == WORLD:
            name = self.renamed(name)
        self.depth[part.name] = self.depth[parent] + 1
        if self.depth[part.name] > DEEPEST:
            raise NotCovered(f"link {name!r} would be more than {DEEPEST} elements deep, deeper than XML is read. "
                             "A .urdf file can say it.")  # fmt: skip
        note_helper(part, self.notes)
        standing = self.standing(chain)
        mocap = "true" if part.name in self.model.extras.get("mocap", ()) else None
        body = Tag("body", {"name": name, **_placed(standing), "gravcomp": self.gravcomp(part.name), "mocap": mocap})
        self.inside[parent].children.append(body)
        self.inside[part.name] = body
        if not part.inertia.nothing:
            body.children.append(_inertial(part.inertia))
        for one, rest in zip(chain, _rests(chain), strict=True):
            if one.joint.nv:
                body.children.append(self.joint(one, rest))
        self.fill(body, part)
        self.home[part.name] = home = part.name if moving else self.home.get(parent, "")
        if moving:
            self.carried[home] = 0.0
        if home in self.carried:
            self.carried[home] += part.inertia.mass

    def renamed(self, name: str) -> str:
        other = unused(name, {name, *(part.name for part in self.tree.parts), *self.model.frames})
        why = f"MJCF calls nothing but the world so; it is written as {other!r}."
        self.notes.add("warning", "name", "link", name, why)
        return other

    def standing(self, chain: list[Part]) -> Pose:
        """Where a body stands in its parent when every coordinate is at its reference."""
        first = chain[0]
        if first.joint.kind != "free":
            return _pose_at(chain)
        if first.pose != HOME or first.parent != self.tree.parts[0].name:
            raise NotCovered(f"joint {first.joint_name!r} is free, and does not begin at the world's origin: MJCF has "
                             "no other. A .urdf file can say it.")  # fmt: skip
        w, x, y, z, *p = first.data.reference or first.joint.neutral()
        return rotation_from_quaternion((w, x, y, z)), Vec3(tuple(p))

    def gravcomp(self, link: str) -> str | None:
        value = self.model.extras.get("gravcomp", {}).get(link)
        return None if value is None else number(value)

    def fill(self, body: Tag, part: Part) -> None:
        for geom in self.shapes.geoms(part.name, part.shapes):
            body.children.append(geom)

    # ---- joints

    def joint(self, part: Part, rest: Pose) -> Tag:
        """A joint; `rest` is where the body stands beyond it at the references."""
        data, name, kind = part.data, part.joint_name, SPELLED[part.joint.kind]
        if not name.strip():
            raise NotCovered(f"the joint of link {part.name!r} has the name {name!r}, which no XML file can hold.")
        R, p = rest
        said: dict[str, str | None] = {"name": name, "type": None if kind == "hinge" else kind}
        at = -(R.T @ p)
        if kind in ("hinge", "ball") and any(at):
            said["pos"] = row(at)
        if kind in ("hinge", "slide"):
            axis = part.joint.line or Vec3((0.0, 0.0, 1.0))
            said["axis"] = row(snapped_direction(R.T @ axis))
            said["range"] = self.range(part)
            said["ref"] = _unless_zero(reference(part))
        elif kind == "ball" and "range" in data.other:
            said["range"] = row((0.0, data.other["range"]))
        for key, word in (("stiffness", "stiffness"), ("damping", "damping"), ("armature", "armature"),
                          ("friction", "frictionloss")):  # fmt: skip
            said[word] = self.uniform(part, key)
            if key in (higher := dict(data.physics.higher)):
                said[word] = f"{said[word] or 0} {row(higher[key])}"
            if key == "stiffness" and said[word] and kind in ("hinge", "slide"):
                slack = data.rest or data.reference or (0.0,)
                said["springref"] = _unless_zero(slack[0])
        if kind in ("hinge", "slide"):
            said["actuatorfrcrange"] = self.effort(part)
        said |= joint_words(data.physics)
        self.what_is_lost(part)
        if kind == "free" and not any(text for word, text in said.items() if word not in ("name", "type")):
            return Tag("freejoint", {"name": name})
        return Tag("joint", said)

    def range(self, part: Part) -> str | None:
        lower, upper = part.data.lower[0], part.data.upper[0]
        if not math.isfinite(lower) and not math.isfinite(upper):
            return None
        if lower == upper:
            why = f"MJCF has no range of one point, {number(lower)}; it was left out, and the joint moves freely."
            self.notes.add("warning", "limits", "joint", part.joint_name, why, "Lock it first: robot.lock(…).")
            return None
        if not math.isfinite(lower) or not math.isfinite(upper):
            why = f"MJCF has no joint with one limit; ±{FAR:g} stands for the other."
            self.notes.add("warning", "limits", "joint", part.joint_name, why)
        return row((max(lower, -FAR), min(upper, FAR)))

    def effort(self, part: Part) -> str | None:
        effort = part.data.effort[0]
        if not math.isfinite(effort):
            return None
        if effort <= 0.0:
            why = f"MJCF has no force range of {number(effort)}; it was left out."
            self.notes.add("note", "effort", "joint", part.joint_name, why)
            return None
        return row((-effort, effort))

    def uniform(self, part: Part, key: str) -> str | None:
        values = getattr(part.data, key)
        if not any(values):
            return None
        if len(set(values)) > 1:
            why = f"it has {key} {row(values)}; MJCF has one number for all of them"
            if key == "armature":
                raise NotCovered(f"joint {part.joint_name!r}: {why}, and its dynamics would be others.")
            self.notes.add("warning", key, "joint", part.joint_name, f"{why}, and it was left out.")
            return None
        return number(values[0])

    def what_is_lost(self, part: Part) -> None:
        data, name, single = part.data, part.joint_name, part.joint.is_single
        if any(map(math.isfinite, data.velocity)):
            self.notes.add("note", "velocity", "joint", name, "MJCF has no limits of velocity; they were left out.")
        if not single and any(map(math.isfinite, (*data.lower, *data.upper, *data.effort))):
            why = f"MJCF has no such limits for a {part.joint.kind} joint; they were left out."
            self.notes.add("warning", "limits", "joint", name, why)
        if part.joint.kind == "continuous":
            why = "MJCF has no word for a joint that goes round; differences are read the long way."
            self.notes.add("note", "continuous", "joint", name, why)
        lost = [key for key in data.other if not (key == "range" and part.joint.kind == "spherical")]
        for key in lost:
            self.notes.add("note", key, "joint", name, f"MJCF has no word for a joint's {key}; it was left out.")
        ball = (
            part.joint.kind == "spherical" and data.reference and tuple(data.reference) != tuple(part.joint.neutral())
        )
        if ball or (not single and data.rest):
            self.notes.add("warning", "reference", "joint", name, "MJCF has no other reference or rest for a joint of "
                           "several freedoms than where it is neutral.")  # fmt: skip


# ---- places ----------------------------------------------------------------------------------------------------------


def _then(a: Pose, b: Pose) -> Pose:
    return a[0].times(b[0]), a[1] + a[0] @ b[1]


def _moved(part: Part) -> Pose:
    """From a joint's inner to its outer side at its reference."""
    at = reference(part)
    return part.joint.transform([at]).pose() if at else HOME


def _rests(chain: Sequence[Part]) -> list[Pose]:
    """For each part where the last one stands beyond its joint, at the references."""
    rest, made = HOME, list[Pose]()
    for part in reversed(chain):
        made.append(rest)
        rest = _then(_then(part.pose, _moved(part)), rest)
    return made[::-1]


def _pose_at(chain: Sequence[Part]) -> Pose:
    return _then(_then(chain[0].pose, _moved(chain[0])), _rests(chain)[0])


def _cut(chain: list[Part]) -> Iterator[list[Part]]:
    """The chain, in pieces where a ball would have other axes than the body: MJCF has its quaternion in the body's."""
    start = 0
    for k, (part, rest) in enumerate(zip(chain, _rests(chain), strict=True)):
        if part.joint.kind == "spherical" and rest[0] != IDENTITY:
            yield chain[start : k + 1]
            start = k + 1
    yield chain[start:]


def _placed(pose: Pose) -> dict[str, str | None]:
    R, p = pose
    q = quaternion_from_rotation(R)
    largest = max(map(abs, q))
    if all(min(abs(x), abs(abs(x) - largest)) < 1e-15 for x in q):  # a turn by right angles: 1 1 0 0
        q = tuple(float(round(x / largest)) for x in q)  # type: ignore[assignment]
    return {"pos": row(p) if any(p) else None, "quat": row(q) if any(q[1:]) else None}


def _inertial(inertia: Inertia) -> Tag:
    xx, yy, zz, yz, xz, xy = inertia.moments
    said = {"pos": row(inertia.com), "mass": number(inertia.mass)}
    if any((xy, xz, yz)):
        return Tag("inertial", {**said, "fullinertia": row((xx, yy, zz, xy, xz, yz))})
    return Tag("inertial", {**said, "diaginertia": row((xx, yy, zz))})


def _accepted(inertia: Inertia) -> bool:
    """Whether MuJoCo takes an inertia: no principal moment above the sum of the others, none below zero.

    Where it finds them itself, from a full matrix, none may be zero either.
    """
    xx, yy, zz, yz, xz, xy = inertia.moments
    full = any((yz, xz, xy))
    least, middle, most = (
        np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) if full else sorted((xx, yy, zz))
    )
    return bool(inertia.mass >= 0.0 and least >= (LEAST if full else 0.0) and least + middle >= most * (1 - 1e-12))


def _unless_zero(x: float) -> str | None:
    return number(x) if x else None
