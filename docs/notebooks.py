"""The notebooks of docs/notebooks: run as Jupyter runs them, and made into pages of the site.

`python docs/notebooks.py` runs them all, and keeps what they show.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from html import escape
from pathlib import Path
from typing import Any

NOTEBOOKS = sorted((Path(__file__).parent / "notebooks").glob("*.ipynb"))
FENCE = "`" * 8
Cell = dict[str, Any]


def cells(notebook: Path) -> list[Cell]:
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def outputs(given: list[Cell]) -> Iterator[list[Cell]]:
    """What each cell of code shows, run from the first one on in one namespace."""
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate((one for one in given if one["cell_type"] == "code"), start=1):
        yield _shown("".join(cell["source"]), names, number)


def _shown(source: str, names: dict[str, Any], number: int) -> list[Cell]:
    """What a cell prints, the value of its last line where no semicolon ends it, and the figures it made."""
    from matplotlib import pyplot

    tree, value = ast.parse(source), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as said:
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    made: list[Cell] = []
    if said.getvalue():
        made.append({"name": "stdout", "output_type": "stream", "text": _lines(said.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        made.append({"data": _data(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    for figure in map(pyplot.figure, pyplot.get_fignums()):
        made.append({"data": _data(figure), "metadata": {}, "output_type": "display_data"})
    pyplot.close("all")
    return made


def _data(value: Any) -> dict[str, Any]:
    """A value in all the ways a notebook can show it."""
    from matplotlib.figure import Figure

    made: dict[str, Any] = {"text/plain": _lines(repr(value))}
    if isinstance(value, Figure):
        file = io.BytesIO()
        value.savefig(file, format="png", dpi=80, bbox_inches="tight")
        made["image/png"] = base64.b64encode(file.getvalue()).decode()
    elif hasattr(value, "_repr_html_"):
        made["text/html"] = _lines(value._repr_html_())
    return made


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def keep(notebook: Path) -> None:
    """Run a notebook, and write what it shows into it."""
    whole = json.loads(notebook.read_text(encoding="utf-8"))
    code = [cell for cell in whole["cells"] if cell["cell_type"] == "code"]
    for number, (cell, made) in enumerate(zip(code, outputs(whole["cells"]), strict=True), start=1):
        cell |= {"execution_count": number, "outputs": made}
    notebook.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def page(notebook: Path, folder: Path) -> str:
    """A notebook as a page of Markdown; its pictures are put into a folder."""
    head, *rest = cells(notebook)
    own = f"{{download}}`Take it along as a notebook <../notebooks/{notebook.name}>`: all it needs is "
    parts = ["".join(head["source"]), own + "`pip install 'hinge[plot]' jupyterlab`."]
    for k, cell in enumerate(rest):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_part(one, folder / f"{notebook.stem}_{k}_{n}.png") for n, one in enumerate(cell["outputs"])]
    return re.sub(r"\((\w+)\.ipynb\)", r"(notebook_\1.md)", "\n\n".join(parts)) + "\n"


def _part(output: Cell, place: Path) -> str:
    """What a cell showed, as Markdown."""
    data = output.get("data", {"text/plain": output.get("text")})
    if "image/png" in data:
        place.write_bytes(base64.b64decode(data["image/png"]))
        return f"![what the cell above shows]({place.name})"
    plain = f"<pre>{escape(''.join(data['text/plain']).rstrip())}</pre>"
    text = "".join(data.get("text/html", plain))
    return f'{FENCE}{{raw}} html\n<div class="shown">{text}</div>\n{FENCE}'


if __name__ == "__main__":
    places = [notebook.resolve() for notebook in NOTEBOOKS]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for notebook in places:
            keep(notebook)
