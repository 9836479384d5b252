"""An MJCF file put together: its includes, settings, default classes, assets, and the models it attaches.

Files are looked for in the model's folder and in the `packages` folders, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hinge import files
from hinge.errors import ModelError, Where, did_you_mean
from hinge.formats.mjcf import mesh as meshes
from hinge.formats.mjcf.mesh import Mesh
from hinge.formats.mjcf.settings import Defaults, Settings, class_inside, from_quaternion, walk, word
from hinge.formats.mjcf.words import CHILDREN, NUMBERS, SECTIONS, check, check_section
from hinge.formats.xml import MAX_BYTES, MAX_ELEMENTS, Element, attribute, number, numbers, parse, shown
from hinge.model.moments import Moments


@dataclass(frozen=True)
class Folder:
    """Where a model's files are looked for, and what they must lie below."""

    home: str | None = None  # of the file that names them
    roots: tuple[str, ...] = ()  # of the main file, and the packages

    @classmethod
    def of(cls, home: str | None, packages: Sequence[str]) -> Folder:
        roots = [*([] if home is None else [home or os.curdir]), *packages]
        return cls(home, tuple(os.path.realpath(root) for root in roots))

    def at(self, path: str) -> Folder:
        """Where files are looked for that a model in another file names."""
        return Folder(os.path.dirname(path), self.roots)

    def find(self, name: str, where: Where, inside: str = "", beside: str | None = None) -> str:
        """The path of a file the model names; `inside` is a folder it names besides, `beside` one to look in next."""
        if not self.roots:
            raise ModelError("no-folder", f"file {shown(name)!r} cannot be found: the model was given as text.",
                             "Load it from its file, or pass packages=[…] with the folder.", where)  # fmt: skip
        places = list(dict.fromkeys(place for place in (self.home, beside, *self.roots) if place is not None))
        outside = False
        for place in places:
            real = os.path.realpath(os.path.join(place, inside, name))
            if not any(real.startswith(os.path.join(root, "")) for root in self.roots):
                outside = True
            elif os.path.isfile(real):
                return real
        if outside:
            raise ModelError("path", f"file {shown(name)!r} leads out of the model's folder.",
                             "Files lie below the folder of the model or one given as packages=[…]: move it, or pass "
                             "its folder.", where)  # fmt: skip
        folder = os.path.dirname(os.path.join(places[0], inside, name))
        try:
            hint = did_you_mean(os.path.basename(name), os.listdir(folder))
        except OSError:
            hint = f"There is no folder {shown(os.path.join(inside, os.path.dirname(name)))!r}."
        raise ModelError("no-file", f"file {shown(name)!r} was not found.", hint, where)

    def read(self, name: str, where: Where, beside: str | None = None) -> tuple[bytes, str]:
        """The content and path of a file."""
        path = self.find(name, where, beside=beside)
        try:
            return files.read(path, MAX_BYTES), path
        except files.TooLarge:
            what = f"file {shown(name)!r} has more than {MAX_BYTES} bytes."
            raise ModelError("size", what, "Split it.", where) from None
        except OSError as problem:
            what = f"file {shown(name)!r} cannot be read: {problem.strerror}."
            raise ModelError("no-file", what, "Check its permissions.", where) from None


@dataclass
class Document:
    """One model: its sections, and what holds throughout it."""

    root: Element
    folder: Folder
    settings: Settings = field(default_factory=Settings)
    defaults: Defaults = field(default_factory=Defaults)
    assets: dict[str, Element] = field(default_factory=dict)  # meshes by name
    fields: dict[str, Element] = field(default_factory=dict)  # height fields by name
    models: dict[str, Element] = field(default_factory=dict)  # what can be attached, by name
    opened: dict[str, Document] = field(default_factory=dict)
    chain: tuple[str, ...] = ()  # the files that led here by attaching
    solids: dict[str, tuple[Mesh, Moments]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(self.root, SECTIONS)
        for section in self.root.children:
            if section.tag in CHILDREN:
                check_section(section)
        for element in self.sections("compiler"):
            self.settings = self.settings.read(element)
        for element in self.sections("default"):
            self.defaults.read(element)
        for asset in self.sections("asset"):
            for element in asset.children:
                if element.tag == "mesh":
                    check(element)
                    name = element.attributes.get("name", _stem(element))
                    if name in self.assets:
                        what = f"there are two meshes named {shown(name)!r}."
                        raise ModelError("duplicate-mesh", what, "Rename one.", element.where)
                    self.assets[name] = self.defaults.applied(element)
                elif element.tag == "hfield":
                    check(element)
                    self.fields[element.attributes.get("name", _stem(element))] = element
                elif element.tag == "model":
                    self.models[element.attributes.get("name") or self._model_name(element)] = element

    @cached_property
    def actuators(self) -> list[Element]:
        """Every actuator with its defaults."""
        made = []
        for section in self.sections("actuator"):
            for element in section.children:
                known = self.defaults.of(element.attributes.get("class", "main"), element)
                said = known.get(element.tag, {}) | known.get("actuator", {}) | element.attributes
                made.append(Element(element.tag, said, element.children, "", element.where))
        return made

    @cached_property
    def places(self) -> dict[tuple[str, str], tuple[Element, str]]:
        """What can be attached: bodies and frames by name, with the class that holds at their place."""
        found: dict[tuple[str, str], tuple[Element, str]] = {}
        stack = [(world, "main") for world in reversed(list(self.sections("worldbody")))]
        while stack:
            element, childclass = stack.pop()
            if element.tag in ("body", "frame") and "name" in element.attributes:
                found.setdefault((element.tag, element.attributes["name"]), (element, childclass))
            inner = class_inside(element, childclass)
            stack.extend((child, inner) for child in reversed(element.children))
        return found

    def _model_name(self, element: Element) -> str:
        """What a model calls itself in its own file."""
        content, path = self.folder.read(attribute(element, "file"), element.where)
        return parse(content, path).attributes.get("model", "")

    def sections(self, tag: str) -> Iterator[Element]:
        return self.root.all(tag)

    def attached(self, name: str, where: Where) -> Document:
        """The model of that name among the assets."""
        if name not in self.models:
            raise ModelError("unknown-model", f"model {shown(name)!r} is not among the assets.",
                             did_you_mean(name, self.models), where)  # fmt: skip
        if name not in self.opened:
            element = self.models[name]
            content, path = self.folder.read(attribute(element, "file"), element.where)
            if path in self.chain:
                ring = " → ".join(os.path.basename(p) for p in (*self.chain[self.chain.index(path) :], path))
                raise ModelError("attach-cycle", f"the model attaches itself: {ring}.", "Remove one of them.", where)
            self.opened[name] = open_document(content, path, self.folder.at(path), self.chain)
        return self.opened[name]

    def mesh(self, name: str, where: Where) -> tuple[Mesh, Moments]:
        """The triangles of a mesh asset, and what they hold."""
        if name not in self.assets:
            raise ModelError("unknown-mesh", f"mesh {shown(name)!r} is not among the assets.",
                             did_you_mean(name, self.assets), where)  # fmt: skip
        if name not in self.solids:
            self.solids[name] = self._open(self.assets[name])
        return self.solids[name]

    def mesh_name(self, element: Element) -> str:
        """The path of a mesh that is only looked at; its bare name where it leads nowhere, or out of the folder."""
        if "file" not in element.attributes:
            return ""
        try:
            return self.mesh_path(element)
        except ModelError:
            return os.path.basename(element.attributes["file"].replace("\\", "/"))

    def mesh_path(self, element: Element) -> str:
        """Where the file of a mesh asset is."""
        name = attribute(element, "file").replace("\\", "/")
        if self.settings.strippath:
            name = os.path.basename(name)
        return self.folder.find(name, element.where, self.settings.meshdir or self.settings.assetdir)

    def _open(self, element: Element) -> tuple[Mesh, Moments]:
        for tag in ("builtin", "plugin"):
            if tag in element.attributes or element.first(tag) is not None:
                raise ModelError(tag, f"{element} is made by {tag}, from which hinge cannot infer a mass.",
                                 "Write <inertial> in the body.", element.where)  # fmt: skip
        if "file" in element.attributes:
            vertices, faces = meshes.load(self.mesh_path(element), element.where)
        else:
            vertices, faces = _written(element)
        mode = word(element, "inertia", meshes.MODES, "legacy")
        if number(element, "maxhullvert", -1.0) > 0.0 and (mode == "convex" or not len(faces)):
            raise ModelError("unmodelled", f"{element} has maxhullvert, with which its hull is MuJoCo's own.",
                             "Remove it, or write <inertial> in the body.", element.where)  # fmt: skip
        vertices = vertices.astype(np.float32).astype(float)
        if not len(faces):
            vertices, faces = meshes.around(vertices, element)
        quaternion = from_quaternion(numbers(element, "refquat", 4, (1.0, 0.0, 0.0, 0.0)), element)
        vertices = np.einsum("ij,jk->ik", vertices - numbers(element, "refpos", 3, (0.0, 0.0, 0.0)), quaternion)
        scale = np.array(numbers(element, "scale", 3, (1.0, 1.0, 1.0)))
        if np.prod(scale) < 0:
            faces = faces[:, ::-1]
        made = Mesh(vertices * scale, faces)
        if mode == "exact" and not made.closed:
            raise ModelError("mesh-open", f'{element} has inertia="exact" and is not closed.',
                             'Repair it, or use inertia="convex".', element.where)  # fmt: skip
        if mode == "convex":
            made = Mesh(*meshes.around(made.vertices, element))
        solid = made.solid(mode)
        if not solid.content > 1e-14:
            raise ModelError("mesh-volume", f"{element} has volume {solid.content:.3g} m³.",
                             'Its triangles may be turned inside out, or it is a surface: use inertia="shell".',
                             element.where)  # fmt: skip
        return made, solid


def _stem(element: Element) -> str:
    """The name of the file of an asset, without its folder and ending."""
    return os.path.splitext(os.path.basename(element.attributes.get("file", "").replace("\\", "/")))[0]


def _written(element: Element) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces in the file itself; there may be no faces."""
    text = attribute(element, "vertex").split()
    points = np.array(numbers(element, "vertex", len(text) // 3 * 3)).reshape(-1, 3)
    if len(points) < 3:
        raise ModelError("mesh", f"{element} has {len(points)} vertices.", "A mesh has at least three.", element.where)
    if "face" not in element.attributes:
        return points, np.zeros((0, 3), int)
    count = len(element.attributes["face"].split()) // 3 * 3
    faces = np.array(numbers(element, "face", count)).astype(int).reshape(-1, 3)
    if not len(faces) or faces.min() < 0 or faces.max() >= len(points):
        raise ModelError("mesh", f"{element} has faces with vertices it does not have.",
                         f"Numbers are 0 … {len(points) - 1}.", element.where)  # fmt: skip
    return points, faces


def open_document(content: str | bytes, path: str, folder: Folder, chain: Sequence[str] = ()) -> Document:
    """The model of a text, with its includes in their places."""
    root = parse(content, path)
    if root.tag != "mujoco":
        raise ModelError("not-mjcf", f"the outermost element is <{shown(root.tag)}>, not <mujoco>.",
                         "An MJCF file is one <mujoco> element with a <worldbody> inside.", root.where)  # fmt: skip
    _include(root, folder, {os.path.realpath(path)} if path else set())
    for element in walk(root):  # numbers that are blank are not there, for MuJoCo
        if not all(map(str.strip, element.attributes.values())):
            said = element.attributes.items()
            element.attributes = {name: text for name, text in said if text.strip() or name not in NUMBERS}
    return Document(root, folder, chain=(*chain, os.path.realpath(path) if path else ""))


def _include(root: Element, folder: Folder, seen: set[str]) -> None:
    """Put included files in the places of their <include>; each file is taken once at most, as MuJoCo does."""
    stack: list[tuple[Element, str | None]] = [(root, folder.home)]  # elements and the folder of the file they are from
    count = 0
    while stack:
        element, home = stack.pop()
        pending = [(child, home) for child in reversed(element.children)]
        if any(child.tag == "include" for child in element.children):
            made: list[tuple[Element, str | None]] = []
            while pending:
                child, beside = pending.pop()
                if child.tag != "include":
                    made.append((child, beside))
                    continue
                name = attribute(child, "file")
                content, path = folder.read(name, child.where, beside)
                if path in seen:
                    raise ModelError("include-cycle", f"file {shown(name)!r} is included more than once.",
                                     "A file may be included once, and not in itself.", child.where)  # fmt: skip
                seen.add(path)
                inner = parse(content, path)
                count += sum(1 for _ in walk(inner))
                if count > MAX_ELEMENTS:
                    raise ModelError("size", "the included files are too large together.", "Include less.", child.where)
                pending.extend((part, os.path.dirname(path)) for part in reversed(inner.children))
            element.children = [child for child, _ in made]
            pending = made
        stack.extend(pending)
