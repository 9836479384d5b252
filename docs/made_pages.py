"""Pages that are made, not written: the reference from docstrings, and a page for each example with its picture."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import textwrap
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import hinge
from hinge.dynamics.registry import ALGORITHMS, default
from hinge.graph import OPS
from hinge.integrators import METHODS
from hinge.model import JOINTS
from hinge.model.shapes import SHAPES

ROOT = Path(__file__).parents[1]
COMMON = """All of these take `out=`, `method=`, `backend=`, `check=`, `return_status=`, `joint_terms=`, `regroup=`,
`parameters=` and `prescribed=` besides what is listed; see [the contract](../contract.md)."""
MODULES = {
    "geometry": ("se3", "screws", "inertias", "spaces"),
}


def write(folder: Path) -> None:
    """All made pages; those that are there already are written over."""
    folder.mkdir(exist_ok=True)
    pages = {
        "robot": robot(),
        "functions": functions(),
        "geometry": modules("geometry"),
        "kinds": kinds(),
        "errors": errors(),
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    scripts = sorted((ROOT / "examples").glob("[0-9]*.py"))
    for script in scripts:
        (folder / f"example_{script.stem}.md").write_text(example(script, folder), encoding="utf-8")
    listed = "\n".join(f"example_{script.stem}" for script in scripts)
    head = "# Examples\n\nEach is a script of under sixty lines in `examples/` that makes a picture.\n"
    (folder / "examples.md").write_text(f"{head}\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n", encoding="utf-8")


def robot() -> str:
    """The page of `Robot`: what is written by hand, then the registered algorithms by name."""
    own = {
        name: thing
        for cls in (hinge.Robot, *hinge.Robot.__bases__)
        for name, thing in vars(cls).items()
        if not name.startswith("_") and name not in ALGORITHMS
    }
    lines = ["# Robot", "", said(hinge.Robot), "", "## What it is, and robots made from it", ""]
    lines += [entry(name, thing, "robot.") for name, thing in own.items()]
    lines += ["## What it computes", "", COMMON, ""]
    for name, known in sorted(ALGORITHMS.items()):
        first = default(name)
        takes = [one if one != "at" else "name" for one, q in first.inputs.items() if q.absent is None]
        takes += [f"{option}={values[0]!r}" for option, values in first.options.items()]
        takes += [f"{one}=None" for one, q in first.inputs.items() if q.absent is not None]
        methods = f"\nMethods: {', '.join(f'`{method}`' for method in known)}.\n" if len(known) > 1 else ""
        lines += [
            f"### robot.{name}",
            "",
            call(f"robot.{name}", takes),
            said(first.function),
            methods,
        ]
    return "\n".join(lines)


def functions() -> str:
    """The page of what `hinge` itself has."""
    lines = ["# Functions and classes", ""]
    for name in hinge.__all__:
        thing = getattr(hinge, name)
        if name == "Robot" or (inspect.isclass(thing) and issubclass(thing, Exception)):
            continue
        lines.append(entry(name, thing, "hinge.", "##"))
        if inspect.isclass(thing):
            members = {k: v for k, v in vars(thing).items() if not k.startswith("_") and (callable(v) or _get(v))}
            lines += [entry(f"{name}.{k}", v) for k, v in members.items() if said(v)]
    return "\n".join(lines)


def modules(room: str) -> str:
    """A page of the modules of a room whose functions users call by module."""
    lines = [f"# hinge.{room}", ""]
    for name in MODULES[room]:
        module = import_module(f"hinge.{room}.{name}")
        lines += [f"## hinge.{room}.{name}", "", said(module), ""]
        for one, thing in vars(module).items():
            if not one.startswith("_") and callable(thing) and getattr(thing, "__module__", "") == module.__name__:
                lines.append(entry(one, thing, f"{name}."))
    return "\n".join(lines)


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
    lines = ["# Kinds", "", "What is one class or one row each. A further one is found by all of hinge."]
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
    return "\n".join([*lines, *(f"`{n}`: {said(getattr(hinge, n))}\n" for n in hinge.__all__ if n in vars(module))])


def entry(name: str, thing: object, before: str = "", level: str = "###") -> str:
    """A heading, the call, and the docstring; a property has no call."""
    head = f"{level} {before}{name}\n\n"
    return f"{head}{said(_get(thing))}\n" if _get(thing) else f"{head}{called(before + name, thing)}{said(thing)}\n"


def called(name: str, function: object) -> str:
    """A call with its arguments and their defaults, as code."""
    try:
        parameters = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    except (TypeError, ValueError):
        return ""
    shown = [str(one.replace(annotation=inspect.Parameter.empty)) for one in parameters]
    return call(name, shown)


def call(name: str, shown: list[str]) -> str:
    """A call as code, in lines that fit the page."""
    text = f"{name}({', '.join(shown)})"
    lines = textwrap.fill(text, 90, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return f"```python\n{lines}\n```\n\n"


def _get(thing: object) -> object:
    """The function behind a property."""
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
        made.append(line)
    return "\n".join(made + (["```"] if code else []))


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
    return f"# {words[0].rstrip('.')}\n\n{about}\n\n{shown}\n\n```python\n{text}```\n"
