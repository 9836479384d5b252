"""Figures of speed: measured by the scripts beside this one, kept in results/, shown in README and docs.

    python bench/figures.py                  measure all that can be measured here, and write it where it is shown
    python bench/figures.py loops sweeps     measure these
    python bench/figures.py --write          measure nothing, and write what is kept

A script says what it measured as figures: a number with its unit, the rows of a table, or a text. On a page a number is
shown as `2.2<!-- loops.hinge -->`, with two digits, and a table between `<!-- bench: loops.table -->` and
`<!-- end of bench -->`; `loops.made` is the sentence that says on what, when and with which versions it was measured,
and `all.made` the table of these. What needs something that is not here, such as a GPU, is left as it is kept.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

from measuring import Missing, processor, versions

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGES = [HERE.parent / "README.md", HERE / "gpu.md", *sorted(HERE.parent.glob("docs/*.md"))]
BLOCK = re.compile(r"(<!-- bench: (\w+)\.(\w+) -->\n)(.*?)(<!-- end of bench -->)", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,])([\d.,]*\d)(<!-- (\w+)\.(\w+) -->)")
FIGURE = re.compile(r"[\d.,+×/()% e-]*")
LEFT = 3  # exit code of a script that lacks something
LACKING = ("ModuleNotFoundError", "ImportError", "hinge.errors.DeviceError")  # and how its messages begin
Rows = list[list[str]]


def number(value: float, unit: str) -> dict[str, Any]:
    """A figure for a sentence."""
    return {"value": float(f"{value:.4g}"), "unit": unit}


def kept() -> dict[str, dict[str, Any]]:
    """What every script measured last, by its name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))}


def two_digits(value: float) -> str:
    """A number as sentences have it: 0.39, 2.2, 61, 150,000."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{value:.2g}" if rounded < 1 else f"{rounded:.1f}"


def made(one: dict[str, Any]) -> str:
    """On what, when and with which versions something was measured."""
    return f"Measured on {one['machine']} on {one['date']}, with {_versions(one)}."


def shown(results: dict[str, dict[str, Any]], name: str, key: str) -> str:
    """A block of a page: a table, a text, or where its figures come from."""
    if name == "all":
        head = ["`bench/`", "measures", "on", "when", "with", "load"]
        rows = [
            [f"`{script}.py`", _first_line(script), one["machine"], one["date"], _versions(one), str(one["load"] or "")]
            for script, one in results.items()
        ]
        return markdown([head, *rows])
    value = made(results[name]) if key == "made" else results[name]["figures"][key]
    return f"{value}\n" if isinstance(value, str) else markdown(value)


def markdown(rows: Rows) -> str:
    """A table; its first row is the head, and columns of figures are flush right."""
    marks = ["---:" if all(map(FIGURE.fullmatch, column[1:])) else "---" for column in zip(*rows, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (rows[0], marks, *rows[1:]))


def written(text: str, results: dict[str, dict[str, Any]]) -> str:
    """A page with the figures that are kept."""
    text = BLOCK.sub(lambda m: m[1] + shown(results, m[2], m[3]) + m[5], text)
    return NUMBER.sub(lambda m: two_digits(results[m[3]]["figures"][m[4]]["value"]) + m[2], text)


def write() -> None:
    """Write what is kept into every page."""
    results = kept()
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        if (new := written(old, results)) != old:
            page.write_text(new, encoding="utf-8")


def main(
    script: str, measured: Callable[[], dict[str, Any]], packages: Iterable[str], where: str = "one core of {}"
) -> None:
    """Measure and print; with --write also keep it, and write it into the pages."""
    start, load = time.perf_counter(), os.getloadavg()[0]
    try:
        figures = measured()
    except Missing as lacking:
        print(lacking, file=sys.stderr)
        sys.exit(LEFT)
    one = {
        "machine": where.format(processor()),
        "date": date.today().isoformat(),
        "versions": versions(packages),
        "load": round(load, 1),
        "seconds": round(time.perf_counter() - start),
        "figures": figures,
    }
    for key, value in figures.items():
        print(f"{key}: {value['value']} {value['unit']}" if isinstance(value, dict) else shown({"": one}, "", key))
    print(made(one))
    if "--write" in sys.argv:
        (RESULTS / Path(script).with_suffix(".json").name).write_text(as_json(one), encoding="utf-8")
        write()


def as_json(one: dict[str, Any]) -> str:
    """What is kept, a row of a table a line."""

    def said(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    parts = [f" {said(key)}: {said(value)}" for key, value in one.items() if key != "figures"]
    tables = {key: value for key, value in one["figures"].items() if isinstance(value, list)}
    rows = {key: ",\n".join(f"   {said(row)}" for row in value) for key, value in tables.items()}
    inner = [
        f"  {said(key)}: " + (f"[\n{rows[key]}\n  ]" if key in rows else said(value))
        for key, value in one["figures"].items()
    ]
    return "{\n" + ",\n".join([*parts, ' "figures": {\n' + ",\n".join(inner) + "\n }"]) + "\n}\n"


def measure(names: Iterable[str]) -> bool:
    """Run scripts one after another, each in a process of its own; whether none failed."""
    good = True
    for name in names:
        start = time.perf_counter()
        ended = subprocess.run([sys.executable, HERE / f"{name}.py", "--write"], capture_output=True, text=True)
        lines = ended.stderr.splitlines()
        lacking = [line for line in lines if ended.returncode == LEFT or line.startswith(LACKING)]
        word = (
            "" if ended.returncode == 0 else f"left as it was: {lacking[0]}" if lacking else f"FAILED\n{ended.stderr}"
        )
        print(f"{name:22} {time.perf_counter() - start:6.0f} s  {word}", flush=True)
        good &= ended.returncode == 0 or bool(lacking)
    return good


def _versions(one: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in one["versions"].items())


def _first_line(script: str) -> str:
    """What a script says it measures."""
    said = ast.get_docstring(ast.parse((HERE / f"{script}.py").read_text(encoding="utf-8"))) or ""
    return said.split("\n")[0].rstrip(".:").replace("|", "/")


if __name__ == "__main__":
    asked = [word for word in sys.argv[1:] if not word.startswith("-")]
    good = True if "--write" in sys.argv else measure(asked or kept())
    write()
    sys.exit(not good)
