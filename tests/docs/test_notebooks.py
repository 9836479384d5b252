"""The notebooks run from top to bottom, and show what they are kept with."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import notebooks  # noqa: E402  it is a page of the site's own code

NUMBER = re.compile(r"[-+−]?\b\d+(?:\.\d*)?(?:e[-+]?\d+)?")


def shown(output):
    """What stands in an output: its words, its numbers, and a unit of the last digit of each."""
    data = output.get("data", {"text/plain": output.get("text")})
    if "image/png" in data:
        return "a picture", [], []
    text = "".join(data.get("text/html", data["text/plain"]))
    numbers = [x.replace("−", "-") for x in NUMBER.findall(text)]
    last = []
    for x in numbers:
        digits, _, power = x.partition("e")
        last.append(10.0 ** (int(power or 0) - len(digits.partition(".")[2])))
    return " ".join(NUMBER.sub("#", text).split()), [float(x) for x in numbers], last


@pytest.mark.sweep
@pytest.mark.parametrize("notebook", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_is_kept_with(notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = notebooks.cells(notebook)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for cell, made in zip(code, notebooks.outputs(cells), strict=True):
        source = "".join(cell["source"])
        assert len(made) == len(cell["outputs"]), source
        for now, kept in zip(made, cell["outputs"], strict=True):
            (words, numbers, _), (as_kept, values, last) = shown(now), shown(kept)
            assert words == as_kept, source
            for x, y, unit in zip(numbers, values, last, strict=True):
                assert abs(x - y) <= 1.001 * unit, f"{source}\nshows {x} where {y} is kept: python docs/notebooks.py"


@pytest.mark.parametrize("notebook", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_short_begins_with_words_and_becomes_a_page(notebook, tmp_path):
    cells = notebooks.cells(notebook)
    assert len(cells) < 40
    assert "".join(cells[0]["source"]).startswith("# ")
    page = notebooks.page(notebook, tmp_path)
    pictures = re.findall(r"!\[.*?\]\((\S+)\)", page)
    assert len(pictures) == sum("image/png" in one.get("data", {}) for cell in cells for one in cell.get("outputs", ()))
    assert all((tmp_path / name).stat().st_size > 5_000 for name in pictures)
    for name in re.findall(r"\]\(\.\./([\w-]+\.md)\)", page):
        assert (DOCS / name).exists()


def test_there_are_two():
    assert [path.stem for path in notebooks.NOTEBOOKS] == ["first_hour", "log_to_model"]
