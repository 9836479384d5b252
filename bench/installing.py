"""What an installation takes: packages, megabytes and seconds of hinge alone and of its extras.

    python bench/installing.py [--write]

Sizes are of the files that the packages in this environment say are theirs, compiled Python among them, on the disk.
An extra counts what it brings besides the core; of one that is not installed the last row is kept. Seconds are of a new
environment in a folder of its own, and of the processor: what the network takes is not in them.
"""

from __future__ import annotations

import importlib.metadata as metadata
import marshal
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import figures
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_USERS = [name for name in PROJECT["optional-dependencies"] if name not in ("test", "docs", "dev")]


class NotHere(LookupError):
    """A package that is not installed in this environment."""


def packages(lines: Iterable[str]) -> dict[str, int]:
    """The packages that these requirements bring, each with its bytes."""
    found: dict[str, int] = {}
    open_ = [Requirement(line) for line in lines]
    asked = set()
    while open_:
        one = open_.pop()
        name = canonicalize_name(one.name)
        if (name, *sorted(one.extras)) in asked:
            continue
        asked.add((name, *sorted(one.extras)))
        try:
            there = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise NotHere(name) from None
        places = (Path(str(file.locate())) for file in there.files or ())
        found[name] = sum(place.stat().st_size for place in places if place.is_file())
        extras = one.extras or {""}
        needs = [Requirement(line) for line in there.requires or ()]
        open_ += [n for n in needs if not n.marker or any(n.marker.evaluate({"extra": e}) for e in extras)]
    return found


def own() -> int:
    """The bytes of hinge itself: its sources, and what Python compiles of them."""
    sources = [path for path in (HERE.parent / "src" / "hinge").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    code = [marshal.dumps(compile(path.read_bytes(), path, "exec")) for path in sources if path.suffix == ".py"]
    return sum(path.stat().st_size for path in sources) + sum(map(len, code))


def sizes() -> list[list[str]]:
    """The table of the README: a row for the core, and one for each extra."""
    core = packages(PROJECT["dependencies"])
    rows = [["`hinge`", str(len(core) + 1), f"{(sum(core.values()) + own()) / 1e6:.0f}", _largest(core)]]
    for extra in FOR_USERS:
        try:
            more = packages(filter(_here, PROJECT["optional-dependencies"][extra]))
        except NotHere as missing:
            kept = [row for row in figures.kept()["installing"]["figures"]["sizes"] if row[0] == f"`[{extra}]`"]
            rows += kept or [[f"`[{extra}]`", "", "", f"not measured: {missing} was not installed"]]
            continue
        more = {name: size for name, size in more.items() if name not in core}
        rows.append([f"`[{extra}]`", f"+ {len(more)}", f"+ {sum(more.values()) / 1e6:.0f}", _largest(more)])
    return [["", "packages", "MB", "the largest"], *rows]


def _largest(found: dict[str, int]) -> str:
    first = sorted(found, key=found.__getitem__)[:-3:-1]
    return ", ".join(f"{name} {metadata.version(name)} ({found[name] / 1e6:.0f} MB)" for name in first)


def seconds() -> list[list[str]]:
    """What it takes of the processor from nothing to the README's example, and from there to the demo."""
    example = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)[0]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "bin" if os.name == "posix" else "Scripts", "python")
        install = [python, "-m", "pip", "install", "--quiet"]
        steps = {
            "a new environment": [sys.executable, "-m", "venv", folder],
            "`pip install .`": [*install, HERE.parent],
            "the first example of this page": [python, "-c", example],
            "the same once more": [python, "-c", example],
            "`pip install '.[plot,view]'` after that": [*install, f"{HERE.parent}[plot,view]"],
            "`hinge demo`": [python, "-m", "hinge.cli", "demo", "--no-view"],
        }
        rows = []
        alone = os.environ | {"HINGE_CACHE_DIR": folder, "PYTHONPATH": ""}
        for what, command in steps.items():
            used = sum(os.times()[2:4])
            subprocess.run(command, check=True, capture_output=True, cwd=folder, env=alone)
            rows.append([what, f"{sum(os.times()[2:4]) - used:.1f}"])
    return [["", "s of one core"], *rows]


def _here(line: str) -> bool:
    marker = Requirement(line).marker
    return not marker or marker.evaluate()


def measured() -> dict[str, Any]:
    return {"sizes": sizes(), "seconds": seconds()}


if __name__ == "__main__":
    figures.main(__file__, measured, ())
