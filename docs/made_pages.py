"""Pages that are made, not written: the reference from docstrings, examples with their pictures, and notebooks."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import notebooks
from PIL import Image

import hinge
from hinge.dynamics.registry import ALGORITHMS, default
from hinge.graph import OPS
from hinge.integrators import METHODS
from hinge.model import JOINTS
from hinge.model.shapes import SHAPES
from hinge.robot.views import VIEWS, view_class

ROOT = Path(__file__).parents[1]
ROOMS = {  # the rooms that users call by name, and what of them is called by module
    "motion": (), "control": (), "planning": (), "optimal": (), "identify": (), "sim": (), "sweeps": (), "envs": (),
    "contact": (), "viewing": (), "logs": (), "counting": (), "interop": ("pinocchio", "mujoco", "drake", "states"),
    "geometry": ("se3", "screws", "inertias", "spaces"), "model": ("shapes",), "dynamics": (), "integrators": (),
    "graph": (), "backends": (),
}  # fmt: skip
OF_ALGORITHMS = """what the algorithm takes besides: `method=`, `backend=`, `check=`, `joint_terms=`, `regroup=`,
`parameters=`, `prescribed=`, `external=`, `external_frame=`, `base_motion=`, and its own, such as `frame=`"""
HANDED_ON = {  # what ** stands for, by the name it has and what a name that has it begins with
    ("keywords", "hinge.Robot."): OF_ALGORITHMS,
    ("how", "hinge.Robot."): OF_ALGORITHMS,
    ("options", "hinge.Robot."): "options of the algorithm, such as `frame=` of `jacobian`, and `joint_terms=`",
    ("how", "hinge.optimal."): "what the robot's own calls take: `joint_terms=`, `parameters=`, `external=`, …",
    ("how", "hinge.Constrained."): "`backend=`, `return_status=`, `parameters=`, `prescribed=`",
    ("parts", "hinge.Robot."): "the numbers of the velocities that are driven, by the name of their joint",
    ("parameters", "hinge."): "parameters of that type of joint, such as `pitch=`",
    ("details", "hinge."): "what {py:obj}`hinge.Contact` takes besides",
    ("options", "hinge.envs."): "those of {py:obj}`hinge.envs.VectorEnv`",
    ("inputs", "hinge.dynamics."): "the inputs in their order, a `Quantity` each",
}
FENCE = "`" * 8
ADDRESS = re.compile(r"<(?:[^<>]|<[^<>]*>)*>")


def write(folder: Path) -> None:
    """All made pages, and none that were made before."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    pages = {"robot": robot(), "functions": functions(), "kinds": kinds(), "errors": errors()}
    pages |= {f"room_{room}": module_page(room, parts) for room, parts in ROOMS.items()}
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    scripts = sorted((ROOT / "examples").glob("[0-9]*.py"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each is a process of its own
        for script, text in zip(scripts, pool.map(partial(example, folder=folder), scripts), strict=True):
            (folder / f"example_{script.stem}.md").write_text(text, encoding="utf-8")
    (folder / "examples.md").write_text(gallery(scripts, folder), encoding="utf-8")
    for notebook in notebooks.NOTEBOOKS:
        text = notebooks.page(notebook, folder)
        (folder / f"notebook_{notebook.stem}.md").write_text(text, encoding="utf-8")
    listed = contents([f"room_{room}" for room in ROOMS])
    head = "# Rooms: hinge.control, hinge.motion, …\n\nWhat is called by the name of its room.\n"
    (folder / "rooms.md").write_text(f"{head}\n{listed}", encoding="utf-8")


def contents(names: list[str], hidden: str = "") -> str:
    listed = "\n".join(names)
    return f"```{{toctree}}\n:maxdepth: 1\n{hidden}\n{listed}\n```\n"


def robot() -> str:
    """The page of `Robot`: what is written by hand, then the registered algorithms by name."""
    own = {
        name: thing
        for cls in (hinge.Robot, *hinge.Robot.__bases__)
        for name, thing in vars(cls).items()
        if not name.startswith("_") and name not in (*ALGORITHMS, *VIEWS)
    }
    lines = ["# hinge.Robot", "", described("class", "hinge.Robot", called(hinge.Robot), said(hinge.Robot))]
    lines += ["## What it is, and robots made from it", ""]
    lines += [member("hinge.Robot", name, thing) for name, thing in own.items()]
    lines += ["## What it computes", "", "Shapes are for one state; leading axes are a batch.", ""]
    for name, known in sorted(ALGORITHMS.items()):
        methods = f"\n\nMethods: {', '.join(f'`{method}`' for method in known)}." if len(known) > 1 else ""
        text = said(default(name).function) + methods
        lines.append(described("method", f"hinge.Robot.{name}", called(getattr(hinge.Robot, name)), text))
    lines += ["## Views", "", "The same methods, sorted by what they are about.", ""]
    for view, home in VIEWS.items():
        same = "\n".join(
            f"- `{view}.{short}` is {{py:obj}}`hinge.Robot.{name}`" for name, short in home.members.items()
        )
        lines.append(described("property", f"hinge.Robot.{view}", "", f"{said(view_class(view))}\n\n{same}"))
    return "\n".join(lines)


def functions() -> str:
    """The page of what `hinge` itself has."""
    lines = ["# hinge: functions and classes", ""]
    for name in hinge.__all__:
        thing = getattr(hinge, name)
        if not (name in ("Robot", "samples") or (inspect.isclass(thing) and issubclass(thing, Exception))):
            lines.append(entry("hinge", name, thing))
    lines += ["## hinge.samples", ""]
    lines += [entry("hinge.samples", name, getattr(hinge.samples, name)) for name in hinge.samples.__all__]
    return "\n".join(lines)


def module_page(room: str, parts: tuple[str, ...]) -> str:
    """The page of a room: its public names but for those that `hinge` has, and those of the modules named."""
    module = import_module(f"hinge.{room}")
    own = [name for name in getattr(module, "__all__", public(module)) if not inspect.ismodule(getattr(module, name))]
    lines = [f"# hinge.{room}", "", about(module), ""]
    for name in own:
        thing = getattr(module, name)
        if getattr(hinge, name, None) is thing and name in hinge.__all__:
            lines.append(f"`{name}` is {{py:obj}}`hinge.{name}`.\n")
        else:
            lines.append(entry(f"hinge.{room}", name, thing))
    for part in parts:
        inner = import_module(f"hinge.{room}.{part}")
        lines += [f"## hinge.{room}.{part}", "", about(inner), ""]
        lines += [entry(inner.__name__, name, getattr(inner, name)) for name in public(inner)]
    return "\n".join(lines)


def about(module: ModuleType) -> str:
    """A module's docstring, without what it says to readers of the source."""
    return re.sub(r"\bRead [^.]*\.(?=\s|$)", "", said(module))


def public(module: ModuleType) -> list[str]:
    """What a module without a list of its names has itself."""
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and callable(thing) and getattr(thing, "__module__", "") == module.__name__
    ]


def kinds() -> str:
    """The page of what is a class or a row: joints, shapes, operations, methods of integration."""
    tables = {
        "Joints": (("kind", "nq, nv", "URDF", "MJCF", "table", "is"), [
            (f"`{k}`", f"{j.nq}, {j.nv}", *(code(w) for w in (j.urdf, j.mjcf, j.dh)), first_line(j))
            for k, j in JOINTS.items()
        ]),
        "Shapes": (("kind", "sizes", "URDF", "MJCF", "is"), [
            (f"`{k}`", ", ".join(s.sizes()), code(s.urdf and f"<{s.urdf}>"), code(s.mjcf), first_line(s))
            for k, s in SHAPES.items()
        ]),
        "Operations": (("name", "arguments", "counts as"), [
            (f"`{op.name}`", str(op.arity), op.counts_as) for op in OPS.values()
        ]),
        "Methods of integration": (("name", "order", "steps"), [
            (f"`{k}`", str(m.tableau.order) if m.tableau else "", "adaptive" if m.adaptive else "of one length")
            for k, m in METHODS.items()
        ]),
    }  # fmt: skip
    lines = ["# Joints, shapes, operations, methods of integration", ""]
    lines.append("What is one class or one row each. A further one is found by all of hinge.")
    for title, (head, rows) in tables.items():
        lines += ["", f"## {title}", ""]
        lines += [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


def code(word: str) -> str:
    return f"`{word}`" if word else ""


def first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").splitlines()[0]


def errors() -> str:
    """The page of what can go wrong."""
    module = import_module("hinge.errors")
    lines = ["# Errors", "", said(module), ""]
    made = [(name, getattr(hinge, name)) for name in hinge.__all__ if name in vars(module)]
    return "\n".join([*lines, *(described("exception", f"hinge.{name}", "", said(one)) for name, one in made)])


def entry(home: str, name: str, thing: object) -> str:
    """A public name: a function, a class with its members, or data."""
    if not getattr(thing, "__module__", "hinge").startswith("hinge"):
        return described("data", f"{home}.{name}", "", f"`{thing}`")
    if inspect.isclass(thing):
        own = {k: v for k, v in vars(thing).items() if not k.startswith("_") and (callable(v) or _get(v))}
        members = [member(f"{home}.{name}", k, v) for k, v in own.items() if said(_get(v) or v)]
        return "\n".join([described("class", f"{home}.{name}", called(thing), said(thing)), *members])
    if callable(thing):
        return described("function", f"{home}.{name}", called(thing), said(thing))
    return described("data", f"{home}.{name}", "", f"By name: {', '.join(f'`{key}`' for key in thing)}.")


def member(home: str, name: str, thing: object) -> str:
    """A method or a property, which has no call."""
    if _get(thing):
        return described("property", f"{home}.{name}", "", said(_get(thing)))
    return described("method", f"{home}.{name}", called(thing), said(thing))


def described(kind: str, name: str, call: str, text: str) -> str:
    """A name of the reference, which other pages, and other sites by objects.inv, can point to."""
    for rest in re.findall(r"\*\*(\w+)", call):
        text += "".join(
            f"\n\n`**{rest}`: {what}."
            for (given, home), what in HANDED_ON.items()
            if given == rest and name.startswith(home)
        )
    return f"{FENCE}{{py:{kind}}} {name}{call}\n\n{text}\n{FENCE}\n"


def called(function: object) -> str:
    """All arguments of a call and their defaults."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "()"
    plain = [
        one.replace(annotation=one.empty) for one in signature.parameters.values() if one.name not in ("self", "cls")
    ]
    return ADDRESS.sub("…", str(signature.replace(parameters=plain, return_annotation=signature.empty)))


def _get(thing: object) -> object:
    """The function behind a property, or None."""
    return getattr(thing, "fget", None) or getattr(thing, "func", None)


def said(thing: object) -> str:
    """A docstring as Markdown: indented lines and examples are code."""
    made, code = [], False
    for line in (inspect.getdoc(thing) or "").splitlines():
        indented = line.startswith(("    ", ">>>", "..."))
        if line.strip() and indented != code and not (code and made[-1].startswith((">>>", "...")) and line.strip()):
            made.append("```" if code else "```python" if line.startswith(">>>") else "```text")
            code = indented
        if not line.strip() and code:
            made.append("```")
            code = False
        made.append(line.removeprefix("    ") if code else line)
    return "\n".join(made + (["```"] if code else []))


def gallery(scripts: list[Path], folder: Path) -> str:
    """The page of all examples: a small picture and a line each."""
    lines = ["# Examples", "", "Each is a script of under sixty lines in `examples/` that makes a picture.", ""]
    lines += [contents([f"example_{script.stem}" for script in scripts], ":hidden:\n"), '<div class="gallery">', ""]
    for script in scripts:
        small = f"{script.stem}.small.png"
        shown = f"![]({small})<br>" if thumbnail(folder / f"{script.stem}.png", folder / small) else ""
        lines += [f"- [{shown}{title(script)}](example_{script.stem}.md)"]
    return "\n".join([*lines, "", "</div>", ""])


def thumbnail(picture: Path, small: Path, width: int = 400) -> bool:
    """Whether there is a picture, and then it is there in small too."""
    if not picture.exists():
        return False
    with Image.open(picture) as full:
        full.thumbnail((width, width))
        full.save(small)
    return True


def title(script: Path) -> str:
    return (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").splitlines()[0].rstrip(".")


def example(script: Path, folder: Path) -> str:
    """The page of an example, which is run for its picture."""
    text = script.read_text(encoding="utf-8")
    words = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    picture = folder / f"{script.stem}.png"
    shown = f"![the picture it makes]({picture.name})"
    if "import torch" in text and find_spec("torch") is None:
        shown = "Its picture is not here: torch is not installed where this page was made."
    elif not picture.exists() or picture.stat().st_mtime < script.stat().st_mtime:
        subprocess.run([sys.executable, str(script), str(picture)], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    if (film := picture.with_suffix(".html")).exists():
        shown += f"\n\n{{download}}`The film it makes <{film.name}>` plays in a browser."
    about = "\n".join(words[1:]).strip()
    return f"# {title(script)}\n\n{about}\n\n{shown}\n\n```python\n{text}```\n"
