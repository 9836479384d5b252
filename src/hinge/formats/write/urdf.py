"""A model into URDF.

URDF has no word for gravity, a joint's reference, armature, springs and joints of several freedoms but planar and
floating ones. hinge reads two attributes and a joint type of its own, so that the dynamics come back: armature and
stiffness in <dynamics>, and type="spherical". Other readers leave the first two out. What is lost is a finding.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from hinge import files
from hinge.errors import NotCovered
from hinge.formats.write.notes import Notes, leave_loop
from hinge.formats.write.text import Tag, document, number, row
from hinge.formats.write.tree import FAR, HOME, Inertia, Part, Pose, Tree, note_helper, tree
from hinge.model.build import EARTH, unused
from hinge.model.joints import OnLine, spelled
from hinge.model.model import Model
from hinge.model.shapes import Mesh, Shape
from hinge.spatial.rotation import rpy_from_rotation

SAFETY = ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")
FURTHER = ("acceleration", "deceleration", "jerk")
Mimic = tuple[str, float, float]


def write(model: Model, folder: str, notes: Notes) -> str:
    """The text of the file that says it; `folder` is where the file will lie."""
    for loop in model.loops:
        leave_loop(loop, "URDF", notes)
    planted = tree(model, list(spelled("urdf").values()), notes, ".urdf")
    return document(_Writer(model, planted, folder, notes).robot())


class _Writer:
    def __init__(self, model: Model, planted: Tree, folder: str, notes: Notes) -> None:
        self.model, self.tree, self.folder, self.notes = model, planted, folder, notes
        self.colors: dict[tuple[float, ...], str] = {}
        self.taken = {part.joint_name for part in planted.parts}  # by moving joints
        self.mimics = self.equalities()

    def robot(self) -> Tag:
        self.what_is_lost()
        root = Tag("robot", {"name": self.model.name})
        parts = self.all_parts()
        links = [self.link(part) for part in parts]
        for rgba, name in self.colors.items():
            root.add("material", name=name).add("color", rgba=row(rgba))
        for part, link in zip(parts, links, strict=True):
            if part.parent:
                root.children.append(self.joint(part))
            root.children.append(link)
        return root

    def what_is_lost(self) -> None:
        model = self.model
        if tuple(model.gravity) != EARTH:
            given = f"({', '.join(map(number, model.gravity))})"
            self.notes.add("warning", "gravity", "robot", model.name, f"URDF has no word for its gravity {given}.",
                           f"Read it with gravity={given}.")  # fmt: skip
        if model.name.strip() != model.name or not model.name:
            self.notes.add(
                "note", "name", "robot", model.name, "a name is read without blanks around it, and not empty."
            )
        for what, kept in model.extras.items():
            if kept and what not in ("equality", "format"):
                why = f"URDF has no word for what is said of its {what}; it was left out."
                self.notes.add("note", "extras", "robot", model.name, why, "An .xml file has it.")

    # ---- links

    def all_parts(self) -> list[Part]:
        """The links, and links without mass for frames; where a frame is a link's, its name is the fixed joint's."""
        at: dict[tuple[str, Pose], list[str]] = {}
        for name, link, pose in self.tree.frames:
            at.setdefault((link, pose), []).append(name)
        parts = []
        for part in self.tree.parts:
            if part.parent and not part.joint_name:
                free = [name for name in at.get((part.parent, part.pose), []) if name not in self.taken]
                if free:
                    at[part.parent, part.pose].remove(free[0])
                parts.append(replace(part, joint_name=self.fresh(free[0] if free else part.name)))
            else:
                parts.append(part)
        for (link, pose), names in at.items():
            parts.extend(Part(name, link, pose, joint_name=self.fresh(name)) for name in names)
        return parts

    def fresh(self, name: str) -> str:
        found = unused(name, self.taken)
        self.taken.add(found)
        return found

    def link(self, part: Part) -> Tag:
        if not part.name.strip():
            raise NotCovered(f"link {part.name!r} has no name that an XML file can hold. Rename it.")
        note_helper(part, self.notes)
        link = Tag("link", {"name": part.name})
        if not part.inertia.nothing:
            link.children.append(_inertial(part.inertia))
        for shape in part.shapes:
            made = self.shape(part.name, shape)
            if made is not None:
                link.children.append(made)
        return link

    def shape(self, link: str, shape: Shape) -> Tag | None:
        geometry = shape.geometry
        if geometry is None or not geometry.urdf:
            why = f"URDF has no shape {shape.kind!r}; it was left out."
            self.notes.add("note", "shape", "link", link, why)
            return None
        made = Tag(shape.role, {"name": shape.name or None})
        R = tuple(x for r in shape.rotation for x in r)
        made.children.extend(_origin((R, shape.xyz)))  # type: ignore[arg-type]
        form = made.add("geometry")
        if isinstance(geometry, Mesh):
            scale = None if tuple(shape.scale) == (1.0, 1.0, 1.0) else row(shape.scale)
            form.add("mesh", filename=self.mesh(link, shape.file), scale=scale)
        else:
            sizes = iter(shape.size)
            form.add(geometry.urdf, **{name: row(islice(sizes, n)) for name, n in geometry.urdf_attributes().items()})
        if shape.rgba is not None:
            color = self.colors.setdefault(tuple(shape.rgba), f"color_{len(self.colors) + 1}")
            made.add("material", name=color)
        return made

    def mesh(self, link: str, file: str) -> str:
        """A mesh by a name that leads nowhere outside the file's folder: relative, or by the package it lies in."""
        if not os.path.isabs(file):
            return file
        if relative := files.below(file, os.path.realpath(self.folder)):
            return relative
        package = os.path.dirname(file)
        above = package
        while above != os.path.dirname(above):
            if os.path.isfile(os.path.join(above, "package.xml")):
                package = above
                break
            above = os.path.dirname(above)
        why = f"meshes that lie in {package} are named by package."
        self.notes.add("note", "mesh", "link", link, why, f"Read it with packages=[{os.path.dirname(package)!r}].")
        return f"package://{os.path.basename(package)}/{files.below(file, package)}"

    # ---- joints

    def joint(self, part: Part) -> Tag:
        name, data = part.joint_name, part.data
        if not name.strip():
            raise NotCovered(f"the joint of link {part.name!r} has the name {name!r}, which no URDF file can hold.")
        joint = Tag("joint", {"name": name, "type": self.kind(part)}, _origin(part.pose))
        joint.add("parent", link=part.parent)
        joint.add("child", link=part.name)
        if not part.joint.nv:
            return joint
        if isinstance(part.joint, OnLine):
            joint.add("axis", xyz=row(part.joint.axis))
        elif part.joint.about_z:
            joint.add("axis", xyz="0 0 1")
        self.limit(joint, part)
        self.dynamics(joint, part)
        mimic = part.mimic or self.mimics.get(name)
        if mimic is not None:
            leader, ratio, offset = mimic
            joint.add("mimic", joint=leader, multiplier=number(ratio), offset=number(offset))
        if "safety_controller" in data.other:
            joint.children.append(Tag("safety_controller", _kept(data.other["safety_controller"], SAFETY)))
        return joint

    def kind(self, part: Part) -> str:
        name, word = part.joint_name, part.joint.urdf
        if word == "spherical":
            why = 'URDF has no balls; type="spherical" is read by hinge, and refused by others.'
            self.notes.add("warning", "spherical", "joint", name, why)
        if not part.joint.is_ours:
            why = f'type="{word}" is read where its class is known, and refused elsewhere.'
            self.notes.add("warning", "own-joint", "joint", name, why)
        if word == "floating" and part.parent == self.tree.parts[0].name and self.tree.parts[0].helper:
            why = f"a floating base is written as a joint of type floating on a link {part.parent!r}."
            self.notes.add("note", "floating", "joint", name, why)
        unlimited = not any(map(math.isfinite, (*part.data.lower, *part.data.upper)))
        if word == "revolute" and unlimited:
            why = "a revolute joint without limits is what URDF calls continuous; differences are read the short way."
            self.notes.add("note", "continuous", "joint", name, why)
            return "continuous"
        return word

    def limit(self, joint: Tag, part: Part) -> None:
        data, name = part.data, part.joint_name
        further = _kept(data.other.get("limit", {}), ("lower", "upper", "velocity", "effort", *FURTHER))
        if not part.joint.is_single:
            if any(map(math.isfinite, (*data.lower, *data.upper, *data.velocity, *data.effort))):
                why = f"URDF has no limits for a {part.joint.kind} joint; they were left out."
                self.notes.add("warning", "limits", "joint", name, why)
            if further:
                joint.children.append(Tag("limit", further))
            return
        lower, upper, velocity, effort = (x[0] for x in (data.lower, data.upper, data.velocity, data.effort))
        written: dict[str, str | None] = {}
        bounded = [x for x in (lower, upper) if math.isfinite(x)]
        wanted = joint.attributes["type"] != "continuous"
        if len(bounded) == 1 or (not bounded and wanted and math.isfinite(min(velocity, effort))):
            why = f"URDF has no joint with one limit or none but continuous ones; ±{FAR:g} stands for the other."
            self.notes.add("warning", "limits", "joint", name, why)
            bounded = [max(lower, -FAR), min(upper, FAR)]
        elif not bounded and wanted:
            why = "a slide without limits is written without; readers other than hinge may refuse that."
            self.notes.add("note", "limits", "joint", name, why)
        if bounded and wanted:
            written |= {"lower": number(bounded[0]), "upper": number(bounded[1])}
        elif bounded:
            self.notes.add("warning", "limits", "joint", name, "URDF reads no limits of a continuous joint.")
        if written or further or math.isfinite(min(effort, velocity)):
            # most readers refuse a <limit> without these two
            for key, x in (("effort", effort), ("velocity", velocity)):
                written[key] = number(min(x, FAR))
                if not math.isfinite(x):
                    why = f"URDF wants {key} where it has other limits; {FAR:g} stands for none."
                    self.notes.add("note", key, "joint", name, why)
            joint.children.append(Tag("limit", {**written, **further}))

    def dynamics(self, joint: Tag, part: Part) -> None:
        data, name = part.data, part.joint_name
        written: dict[str, str | None] = {}
        for key in ("damping", "friction", "stiffness", "armature"):
            values = getattr(data, key)
            if not any(values):
                continue
            if len(set(values)) > 1:
                why = f"it has {key} {row(values)}; URDF has one number for all of them"
                if key == "armature":
                    raise NotCovered(f"joint {name!r}: {why}, and its dynamics would be others.")
                self.notes.add("warning", key, "joint", name, f"{why}, and it was left out.")
                continue
            written[key] = number(values[0])
            if key in ("stiffness", "armature"):
                why = f"URDF has no {key}; <dynamics {key}=…> is read by hinge and left out by others."
                self.notes.add("note", key, "joint", name, why)
        if written:
            # most readers refuse <dynamics> without damping and friction
            written = written if "friction" in written else {"damping": "0", **written}
            joint.children.append(Tag("dynamics", written))
        for key in ("reference", "rest"):
            values = getattr(data, key)
            if values and tuple(values) != tuple(part.joint.neutral()):
                self.notes.add("warning", key, "joint", name, f"URDF has no word for a joint's {key}; it was left out.")

    def equalities(self) -> dict[str, Mimic]:
        """The joints that another is kept equal to, or in a fixed ratio to, by what an MJCF file says besides."""
        made: dict[str, Mimic] = {}
        for kept in self.model.extras.get("equality", ()):
            found = _mimic(self.model, kept)
            if found is None or found[0] in made or _leads_back(found, made):
                why = f"URDF has no word for its equality <{kept['tag']}>; it was left out."
                self.notes.add("note", "extras", "robot", self.model.name, why, "An .xml file has it.")
                continue
            name, leader, ratio, offset = found
            made[name] = leader, ratio, offset
            why = f"it is kept in step with joint {leader!r} by an equality, and is written as <mimic>."
            self.notes.add("note", "mimic", "joint", name, why, 'Read it with mimic="free" to have it move by itself.')
        return made


def _leads_back(found: tuple[str, str, float, float], made: Mapping[str, Mimic]) -> bool:
    name, at = found[0], found[1]
    while at in made and at != name:
        at = made[at][0]
    return at == name


def _mimic(model: Model, kept: Mapping[str, Any]) -> tuple[str, str, float, float] | None:
    """(joint, leader, ratio, offset) of a linear equality of two joints; MuJoCo counts both from their references."""
    said = kept["attributes"]
    numbers = {name: i for i, name in enumerate(model.joint_name) if i and i not in model.follows}
    one, two = numbers.get(said.get("joint1", "")), numbers.get(said.get("joint2", ""))
    if kept["tag"] != "joint" or one is None or two is None or said.get("active") == "false":
        return None
    try:
        c0, c1, *higher = [*map(float, said.get("polycoef", "0 1 0 0 0").split()), 0.0, 0.0][:5]
    except ValueError:
        return None
    single = model.joint[one].is_single and model.joint[two].is_single
    if any(higher) or c1 == 0.0 or not single:
        return None
    y0, x0 = model.neutral(one)[0], model.neutral(two)[0]
    return said["joint1"], said["joint2"], c1, c0 + y0 - c1 * x0  # y - y0 = c0 + c1 (x - x0)


def _kept(said: Mapping[str, float], names: Sequence[str]) -> dict[str, str | None]:
    return {name: number(said[name]) for name in names if name in said}


def _inertial(inertia: Inertia) -> Tag:
    tag = Tag("inertial", {}, _origin((HOME[0], inertia.com)))
    tag.add("mass", value=number(inertia.mass))
    xx, yy, zz, yz, xz, xy = map(number, inertia.moments)
    tag.add("inertia", ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
    return tag


def _origin(pose: Pose) -> list[Tag]:
    R, p = pose
    rpy = rpy_from_rotation(R)
    if not any(p) and not any(rpy):
        return []
    return [Tag("origin", {"xyz": row(p), "rpy": row(rpy)})]
