"""URDF 1.0 to 1.2 into a Builder.

This file reads what is written and reports what cannot be read. Whether the links and joints make a robot (names,
tree, limits, masses) is the Builder's business, which is why every element is handed on with its line.
    https://wiki.ros.org/urdf/XML, and the additions of urdfdom 1.1 and 1.2: quat_xyzw, capsule, further limits

Two attributes of <dynamics> are hinge's own, armature and stiffness, so that what hinge writes comes back.
Elements of other programs are left out (see urdf_words.py). Shapes are remembered, never opened; but where a mesh name
leads is checked, because a viewer will follow it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import cos, hypot, sin

from hinge.errors import ModelError, Where, did_you_mean
from hinge.formats.urdf_words import LIMITS, SAFETY, check_words
from hinge.formats.xml import Element, attribute, child, no_collection, number, numbers, optional_number, parse, shown
from hinge.model import joints
from hinge.model.build import WORLD, Builder
from hinge.model.shapes import Mesh, Shape, spelled

Row = tuple[float, float, float]
Matrix = tuple[Row, Row, Row]
Values = dict[str, float]

ZERO: Row = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
X_AXIS: Row = (1.0, 0.0, 0.0)

ONCE = {"inertial", "mass", "inertia", "origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "geometry"}


def read(text: str | bytes, file: str = "", folder: str | None = None, packages: Sequence[str] = ()) -> Builder:
    """The robot a URDF text describes.

    `file` names it in messages. Meshes are looked for in `folder`, where the file lies, and in the `packages` folders;
    without either they are only remembered.
    """
    root = parse(text, file)
    if root.tag != "robot":
        hint = 'A URDF file is one <robot name="…"> element with links and joints inside.'
        what = f"the outermost element is <{shown(root.tag)}>, not <robot>."
        raise ModelError("not-urdf", what, hint, root.where)
    if root.first("link") is None:
        hint = 'A robot has at least one <link name="…"/>. A xacro file must be expanded with xacro first.'
        raise ModelError("empty", "the robot has no link.", hint, root.where)
    builder = Builder(root.attributes.get("name", "").strip() or "robot", file=file)
    with no_collection():
        _Reader(builder, _Meshes(builder, folder, packages)).robot(root)
    return builder


class _Reader:
    """Hands the elements of one file to a Builder."""

    def __init__(self, builder: Builder, meshes: _Meshes) -> None:
        self.builder, self.meshes = builder, meshes
        self.colors: dict[str, tuple[float, ...]] = {}

    def robot(self, root: Element) -> None:
        self.preamble(root)
        check_words(root, self.builder)
        for tag, reader in (("material", self.color), ("link", self.link), ("joint", self.joint)):
            for element in root.all(tag):
                reader(element)
        self.implied(root)

    def implied(self, root: Element) -> None:
        """Add a link "world" where joints stand on one that the file does not list."""
        parents = (one for joint in root.all("joint") for one in joint.all("parent"))
        on = [one.where for one in parents if one.attributes.get("link") == WORLD]
        if on and all(link.attributes.get("name") != WORLD for link in root.all("link")):
            what = f"the file has no link {WORLD!r}, on which a joint stands; it was added."
            self.builder.finding("note", "implied-world", what, where=on[0])
            self.builder.link(WORLD, where=on[0])

    def preamble(self, root: Element) -> None:
        version = root.attributes.get("version", "1.0").strip()
        if version not in ("1", "1.0", "1.1", "1.2"):
            what = f"the file says URDF version {version}; it was read as 1.2."
            self.builder.finding("warning", "version", what, "Check what the newer version changed.", root.where)
        macro = next((part for part in root.children if part.tag.startswith("xacro:")), None)
        if macro is not None:
            what = f"<{macro.tag}> is not URDF and was left out, with all it stands for."
            self.builder.finding("warning", "xacro", what, "Run xacro on the file first.", macro.where)

    def parts(self, element: Element) -> dict[str, Element]:
        """The children by tag; of those that may stand once only, the first, as other readers do."""
        parts: dict[str, Element] = {}
        for part in element.children:
            if parts.setdefault(part.tag, part) is not part and part.tag in ONCE:
                first = parts[part.tag].where.line
                what = f"{element} has more than one <{part.tag}>; the first, of line {first}, counts."
                self.builder.finding("warning", "repeated", what, "Remove the others.", part.where)
        return parts

    # ---- links

    def link(self, link: Element) -> None:
        name = attribute(link, "name")
        inertial = self.parts(link).get("inertial")
        mass, com, inertia = (0.0, ZERO, (ZERO, ZERO, ZERO)) if inertial is None else self.inertial(inertial)
        shapes = [self.shape(part) for part in link.children if part.tag in ("visual", "collision")]
        kept = tuple(shape for shape in shapes if shape is not None)
        self.builder.link(name, mass=mass, com=com, inertia=inertia, shapes=kept, where=link.where)

    def inertial(self, inertial: Element) -> tuple[float, Row, Matrix]:
        """Mass, centre of mass, and the inertia about it in link axes; the file has it in axes of its own."""
        com, rotation = _placement(self.parts(inertial).get("origin"))
        mass = number(child(inertial, "mass", '<mass value="…"/>'), "value")
        entries = child(inertial, "inertia", '<inertia ixx="…" iyy="…" izz="…" ixy="0" ixz="0" iyz="0"/>')
        xx, yy, zz = (number(entries, name) for name in ("ixx", "iyy", "izz"))
        xy, xz, yz = (number(entries, name, 0.0) for name in ("ixy", "ixz", "iyz"))
        return mass, com, _turned(rotation, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))

    def shape(self, element: Element) -> Shape | None:
        parts, known = self.parts(element), spelled("urdf")
        geometry = parts.get("geometry")
        form = next((part for part in geometry.children if part.tag in known), None) if geometry else None
        if form is None:
            fix = "Known are " + ", ".join(f"<{tag}>" for tag in known) + "."
            what = f"a <{element.tag}> has no geometry that URDF knows; it was left out."
            self.builder.finding("note", "geometry", what, fix, element.where)
            return None
        xyz, rotation = _placement(parts.get("origin"))
        kind, mesh = known[form.tag], known[form.tag] is Mesh
        return Shape(
            role=element.tag,
            kind=kind.kind,
            size=tuple(x for name, n in kind.urdf_attributes().items() for x in _values(form, name, n)),
            file=self.meshes.find(attribute(form, "filename"), form.where) if mesh else "",
            xyz=xyz,
            rotation=rotation,
            name=element.attributes.get("name", ""),
            scale=numbers(form, "scale", 3, (1.0, 1.0, 1.0)) if mesh else (1.0, 1.0, 1.0),
            rgba=self.color(parts["material"]) if "material" in parts else None,
        )

    def color(self, material: Element) -> tuple[float, ...] | None:
        """The colour written here, or the one given to this material's name before."""
        name, color = material.attributes.get("name", ""), material.first("color")
        if color is None:
            return self.colors.get(name)
        rgba = numbers(color, "rgba", 4)
        self.colors.setdefault(name, rgba)
        return rgba

    # ---- joints

    def joint(self, joint: Element) -> None:
        name, kind, parts = attribute(joint, "name"), _kind(joint), self.parts(joint)
        parent = attribute(child(joint, "parent", '<parent link="…"/>'), "link")
        below = attribute(child(joint, "child", '<child link="…"/>'), "link")
        xyz, rotation = _placement(parts.get("origin"))
        limits, data = self.limits(joint, kind, parts.get("limit"))
        if "safety_controller" in parts:
            data["safety_controller"] = _present(parts["safety_controller"], SAFETY)
        dynamics = parts.get("dynamics")
        self.builder.joint(
            name,
            kind,
            parent,
            below,
            xyz=xyz,
            rotation=rotation,
            axis=numbers(parts["axis"], "xyz", 3, X_AXIS) if "axis" in parts else X_AXIS,
            lower=limits.get("lower"),
            upper=limits.get("upper"),
            velocity=limits.get("velocity"),
            effort=limits.get("effort"),
            damping=number(dynamics, "damping", 0.0) if dynamics else 0.0,
            friction=number(dynamics, "friction", 0.0) if dynamics else 0.0,
            stiffness=number(dynamics, "stiffness", 0.0) if dynamics else 0.0,
            armature=number(dynamics, "armature", 0.0) if dynamics else 0.0,
            mimic=self.mimic(joint, kind, parts.get("mimic")),
            data=data or None,
            where=joint.where,
        )

    def limits(self, joint: Element, kind: str, limit: Element | None) -> tuple[Values, dict[str, Values]]:
        """The limits the model has a place for, and the data it only keeps."""
        one = joints.JOINTS[kind]
        used = () if one.nq != 1 else LIMITS[2:4] if kind == "continuous" else LIMITS[:4]
        bounded = "lower" in used
        if limit is None:
            if bounded:
                what = f"{joint} has no <limit>; it was read as unlimited."
                fix = 'Write <limit lower="…" upper="…" effort="…" velocity="…"/>.'
                self.builder.finding("warning", "no-limit", what, fix, joint.where)
            return {}, {}
        written = _present(limit, LIMITS)
        limits = {name: written.pop(name) for name in used if name in written}
        if bounded:
            if "lower" not in limits and "upper" not in limits:
                what = f"{joint} has a <limit> without lower and upper; URDF reads both as 0, so it cannot move."
                fix = 'Write lower="…" and upper="…", or type="continuous" if it turns freely.'
                self.builder.finding("warning", "empty-limit", what, fix, limit.where)
            limits = {"lower": 0.0, "upper": 0.0} | limits
        return limits, {"limit": written} if written else {}

    def mimic(self, joint: Element, kind: str, mimic: Element | None) -> tuple[str, float, float] | None:
        if mimic is None:
            return None
        followed = attribute(mimic, "joint"), number(mimic, "multiplier", 1.0), number(mimic, "offset", 0.0)
        if kind != "fixed":
            return followed
        # left behind where someone froze a gripper: there is nothing to couple
        what = f"{joint} is fixed, so its <mimic> of {followed[0]!r} was left out."
        self.builder.finding("note", "fixed-mimic", what, "Remove it, or give the joint a moving type.", mimic.where)
        return None


def _kind(joint: Element) -> str:
    """The model's word for a joint type; each joint class says how URDF spells it."""
    given = attribute(joint, "type")
    kinds = joints.spelled("urdf")
    if given not in kinds:
        raise ModelError("joint-type", f'{joint} has type="{shown(given)}".', did_you_mean(given, kinds), joint.where)
    return kinds[given]


def _values(element: Element, name: str, n: int) -> tuple[float, ...]:
    return (number(element, name),) if n == 1 else numbers(element, name, n)


def _present(element: Element, names: Sequence[str]) -> Values:
    values = ((name, optional_number(element, name)) for name in names)
    return {name: value for name, value in values if value is not None}


# ---- placements ------------------------------------------------------------------------------------------------------


def _placement(origin: Element | None) -> tuple[Row, Matrix]:
    """Position and rotation of an <origin>; without one, those of the frame it stands in."""
    if origin is None:
        return ZERO, IDENTITY
    x, y, z = numbers(origin, "xyz", 3, ZERO)
    if "quat_xyzw" not in origin.attributes:
        return (x, y, z), _from_angles(*numbers(origin, "rpy", 3, ZERO))
    if "rpy" in origin.attributes:
        hint = "They say the same thing twice: keep one of them."
        raise ModelError("orientation", "<origin> has both rpy and quat_xyzw.", hint, origin.where)
    return (x, y, z), _from_quaternion(origin)


def _from_angles(roll: float, pitch: float, yaw: float) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll)"""
    if roll == pitch == yaw == 0.0:
        return IDENTITY
    cr, sr, cp, sp, cy, sy = cos(roll), sin(roll), cos(pitch), sin(pitch), cos(yaw), sin(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _from_quaternion(origin: Element) -> Matrix:
    x, y, z, w = numbers(origin, "quat_xyzw", 4)
    length = hypot(x, y, z, w)
    if length == 0.0:
        hint = 'A quaternion needs a direction. For no rotation write quat_xyzw="0 0 0 1".'
        raise ModelError("orientation", "<origin> has quat_xyzw = (0, 0, 0, 0).", hint, origin.where)
    x, y, z, w = x / length, y / length, z / length, w / length
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def _turned(R: Matrix, inertia: Matrix) -> Matrix:
    """R I Rᵀ"""
    if R is IDENTITY:
        return inertia
    u, v, w = R
    Iu, Iv, Iw = ((_dot(inertia[0], r), _dot(inertia[1], r), _dot(inertia[2], r)) for r in R)
    xy, xz, yz = _dot(u, Iv), _dot(u, Iw), _dot(v, Iw)
    return (_dot(u, Iu), xy, xz), (xy, _dot(v, Iv), yz), (xz, yz, _dot(w, Iw))


def _dot(a: Row, b: Row) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


# ---- mesh files ------------------------------------------------------------------------------------------------------


class _Meshes:
    """Finds mesh files, and refuses names that lead out of the folders a robot may read from.

    Those are the model's folder, the `packages` folders and, for package:// names, the package around the model.
    """

    def __init__(self, builder: Builder, folder: str | None, packages: Sequence[str]) -> None:
        self.builder = builder
        self.folder = None if folder is None else os.path.realpath(folder or os.curdir)
        self.packages = [os.path.abspath(package) for package in packages]
        self.searched = self.packages + ([self.folder] if self.folder is not None else [])
        self.roots = [os.path.realpath(folder) for folder in self.searched]
        self.found: dict[str, str] = {}
        self.homes: dict[str, tuple[list[str], list[str]]] = {}  # of packages, by name
        self.real_folders: dict[str, str] = {}

    def find(self, name: str, where: Where) -> str:
        """The path of a mesh, or its name as written where there is no such file or nowhere to look."""
        if name not in self.found:
            self.found[name] = self.search(name.strip(), where)
        return self.found[name]

    def search(self, name: str, where: Where) -> str:
        scheme, rest = name.split("://", 1) if "://" in name else ("", name)
        if scheme not in ("", "file", "package"):
            what = f"mesh {shown(name)!r} is not a file name; it is remembered only."
            self.builder.finding("note", "mesh", what, where=where)
            return name
        if scheme == "package":
            # some files write package:///name: the empty host is skipped
            package, _, path = rest.lstrip("/").partition("/")
            places, around = self.home(package, where) if package not in ("", os.curdir, os.pardir) else ([], [])
            path = os.path.join("" if places else package, path.lstrip("/"))
        else:
            path, around = rest, []
            places = [self.folder] if self.folder is not None else [os.sep] if os.path.isabs(path) else []
        if not places and os.path.normpath(path).split(os.sep)[0] == os.pardir:
            raise _escape(name, where)
        return self.choose(name, path, places, self.roots + around, where)

    def choose(self, name: str, path: str, places: list[str], roots: list[str], where: Where) -> str:
        """The first file of that path in one of the places; what lies below none of the roots is refused."""
        outside = ""
        for place in places:
            real = self.real(os.path.join(place, path))
            if not any(real.startswith(os.path.join(root, "")) for root in roots):
                outside = real
            elif os.path.isfile(real):
                return real
        # an absolute name from its author's machine leads nowhere on this one; to refuse it would refuse real robots
        if outside and not (os.path.isabs(path) and not os.path.lexists(outside)):
            raise _escape(name, where)
        if places:
            what, fix = f"mesh {shown(name)!r} was not found.", "The dynamics do not need it; a picture does."
            self.builder.finding("note", "mesh", what, fix, where)
        return name

    def home(self, package: str, where: Where) -> tuple[list[str], list[str]]:
        """The folders a package name may stand for, and the one of them around the model, if there is one."""
        if package not in self.homes:
            inside = [os.path.join(folder, package) for folder in self.searched]
            homes = [folder for folder in inside if os.path.isdir(folder)]
            homes += [folder for folder in self.packages if os.path.basename(folder) == package]
            around = self.around(package)
            homes += around
            if not homes and self.roots:
                what = f"package {shown(package)!r} was not found; its meshes are remembered only."
                fix = "Pass packages=[…] with the folder that holds it."
                self.builder.finding("note", "package", what, fix, where)
            self.homes[package] = homes, around
        return self.homes[package]

    def around(self, package: str) -> list[str]:
        """The nearest folder of that name on the way up from the model's folder."""
        folder = self.folder
        while folder:
            parent = os.path.dirname(folder)
            if folder == parent:
                break
            # beside the way, and directly below the root, only what says that it is a package counts:
            # package://etc/passwd or package://home/… must not reach whatever lies there
            if os.path.basename(folder) == package and (parent != os.path.dirname(parent) or _is_package(folder)):
                return [folder]
            beside = os.path.join(folder, package)
            if _is_package(beside) and os.path.realpath(beside) == beside:
                return [beside]
            folder = parent
        return []

    def real(self, path: str) -> str:
        """As os.path.realpath, which looks at every folder on the way, but once for each folder."""
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir):
            return os.path.realpath(path)
        if folder not in self.real_folders:
            self.real_folders[folder] = os.path.realpath(folder)
        plain = os.path.join(self.real_folders[folder], name)
        return os.path.realpath(plain) if os.path.islink(plain) else plain


def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "package.xml"))


def _escape(name: str, where: Where) -> ModelError:
    what = f'mesh filename="{shown(name)}" leads out of the model\'s folder.'
    hint = "Meshes lie below the folder of the robot file or one given as packages=[…]: move it, or pass its folder."
    return ModelError("path", what, hint, where)
