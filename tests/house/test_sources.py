"""Every place in a text that the source cites is a row of docs/sources.toml, and every row is cited.

How a comment or docstring cites: a key such as featherstone1987, then "(4.11)", "section 2.7", "section 2.7, example
3", "chapters 2 and 3", "Table 8-1", "Figure 7-1", or right after the key a bare "8.2.1" for a section and "(3)" for
an equation. A citation without a key belongs to the last key written before it in the same comment or docstring, else
to the one on the file's Source: line, else to the only key the file names.
"""

import ast
import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hinge"
SOURCES = tomllib.loads((ROOT / "docs" / "sources.toml").read_text(encoding="utf-8"))
TEXTS, PLACES = SOURCES["text"], SOURCES["place"]

NUMBER = r"\d+(?:\.\d+)+"
AND = r"(?:, and |, | and )"
KEY = r"\b[a-z]+(?:19|20)\d\d[a-z]?\b"
CITATION = re.compile(
    rf"(?P<key>{KEY})(?:,? \((?P<plain>\d+)\)|,? (?P<bare>{NUMBER}))?"
    rf"|(?<![\w\])])\((?P<equation>{NUMBER})\)"
    rf"|[Ss]ections? (?P<sections>{NUMBER}(?:{AND}{NUMBER})*)(?:, example (?P<example>\d+))?"
    rf"|[Cc]hapters? (?P<chapters>\d+(?:{AND}\d+)*)"
    rf"|(?P<kind>Table|Figure)s? (?P<figures>\d+[-.]\d+(?:{AND}\d+[-.]\d+)*)"
)


def words(code):
    """Each docstring whole, and each run of comment lines whole."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield " ".join(text.split())
    last, run = 0, []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            if run and token.start[0] != last + 1:
                yield " ".join(run)
                run = []
            last = token.start[0]
            run.append(token.string.lstrip("#: "))
    yield " ".join(run)


def cited(text):
    """(key or None, place) for each citation in a text, in order; (key, None) where only a key is named."""
    key = None
    for found in CITATION.finditer(text):
        part = found.groupdict()
        key = part["key"] or key
        if part["sections"]:
            *before, last = re.findall(NUMBER, part["sections"])
            yield from ((key, f"section {number}") for number in before)
            yield key, f"section {last}" + (f", example {part['example']}" if part["example"] else "")
        elif part["chapters"]:
            yield from ((key, f"chapter {number}") for number in re.findall(r"\d+", part["chapters"]))
        elif part["equation"] or part["plain"]:
            yield key, f"({part['equation'] or part['plain']})"
        elif part["bare"]:
            yield key, f"section {part['bare']}"
        elif part["figures"]:
            yield from ((key, f"{part['kind']} {number}") for number in re.findall(r"\d+[-.]\d+", part["figures"]))
        else:
            yield key, None


def citations(code):
    """(key, place) for each citation in a file; the key is None where nothing says which text is meant."""
    texts = list(words(code))
    found = [pair for text in texts for pair in cited(text)]
    keys = {key for key, _ in found if key}
    source = next((re.search(KEY, t.partition("Source:")[2]) for t in texts if "Source:" in t), None)
    default = source[0] if source else keys.pop() if len(keys) == 1 else None
    return [(key or default, place) for key, place in found]


FILES = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
ROWS = {(row["key"], row["at"]) for row in PLACES}


@pytest.mark.parametrize("file", FILES)
def test_every_citation_has_a_row(file):
    missing = [
        f"{key or 'a text that is not named'} {place or ''}".strip()
        for key, place in citations(FILES[file])
        if (key not in TEXTS if place is None else (key, place) not in ROWS)
    ]
    assert not missing, f"src/hinge/{file} cites {', '.join(missing)}: not in docs/sources.toml"


def test_every_row_is_cited():
    used = {pair for code in FILES.values() for pair in citations(code)}
    assert sorted(ROWS - used) == []


def test_the_algorithms_cite():
    counts = {file: len(citations(code)) for file, code in FILES.items() if file.startswith("dynamics")}
    assert counts["dynamics/newton_euler.py"] >= 8
    assert counts["dynamics/articulated.py"] >= 12


def test_every_row_says_what_stands_there_once_and_in_one_line():
    assert len(ROWS) == len(PLACES)
    for row in PLACES:
        assert row["key"] in TEXTS
        assert set(row) <= {"key", "at", "states", "holds", "instead"}
        assert row["states"]
        assert "\n" not in row["states"]
        # a print that is wrong comes with what holds, and nothing else does
        assert (row.get("holds", True) is False) == ("instead" in row)


def test_every_text_has_author_title_and_year():
    for key, text in TEXTS.items():
        assert set(text) == {"author", "title", "year"}
        assert key.endswith(str(text["year"]))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x  # (4.12), (7.16)", [(None, "(4.12)"), (None, "(7.16)")]),
        ("Source: book1987, section 4.5.", [("book1987", None), ("book1987", "section 4.5")]),
        ("section 6.4, and 7.2 and 7.4 for trees", [(None, f"section {s}") for s in ("6.4", "7.2", "7.4")]),
        ("see section 2.7, example 3", [(None, "section 2.7, example 3")]),
        ("old1981 (3) and Table 8-1", [("old1981", "(3)"), ("old1981", "Table 8-1")]),
        ("book1987 8.2.1; old1981 too", [("book1987", "section 8.2.1"), ("old1981", None)]),
        ("Tables 8-3 and 8-4", [(None, "Table 8-3"), (None, "Table 8-4")]),
        ("chapters 2 and 3", [(None, "chapter 2"), (None, "chapter 3")]),
        ("gravity is (0, 0, -9.81), f(2.5), a[1](0.5), 0.25 m", []),
    ],
)
def test_a_citation_is_read_as_it_is_meant(text, found):
    assert list(cited(text)) == found


def test_a_number_without_a_key_belongs_to_the_source_line():
    code = '"""Source: book1987.\n\nSee also old1981 (3)."""\nx = 1  # (4.5)\n'
    assert citations(code) == [("book1987", None), ("old1981", "(3)"), ("book1987", "(4.5)")]
    assert citations('"""About old1981 (3) and book1987 (1.2)."""\nx = 1  # (4.5)\n')[-1] == (None, "(4.5)")
