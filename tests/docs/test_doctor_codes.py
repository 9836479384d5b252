"""docs/doctor.md has every code that a file or a robot can be told, with its severity, and no other."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "hinge"
TEXT = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
# where a refusal is the fault of a call and not of a file
CALLS = {"model/edit.py", "model/joints.py", "model/driven.py", "model/vary.py", "formats/write/__init__.py",
         "counting/approximation.py"}  # fmt: skip


def calls(*names):
    """(file, arguments) of each call of one of these."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if called in names:
                    yield path.relative_to(SOURCE).as_posix(), node.args


TABLED = {  # where the code is not written in the call: the codes that can be there
    "checking/diagnosis.py": set(),  # hands on those of a refusal
    "model/build.py": set(),  # the same
    "model/plausibility.py": {"zero-velocity", "zero-effort"},
    "formats/mjcf/other_sections.py": {"equality", "contact", "tendon"},
    "formats/mjcf/document.py": {"builtin", "plugin"},
    "formats/mjcf/physics.py": {f"unknown-{kind}" for kind in ("body", "joint", "geom", "site", "tendon")},
    "formats/dh_file.py": set(),  # hands on those of a table
    "formats/write/notes.py": set(),  # what a format cannot say: no fault of a file
}


def literals(argument):
    return {n.value for n in ast.walk(argument) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def told():
    """Code → severities of the findings that the sources make."""
    made = {}
    for file, args in calls("Finding", "finding"):
        if len(args) > 1 and file not in CALLS:
            for code in {args[1].value} if isinstance(args[1], ast.Constant) else TABLED[file]:
                made.setdefault(code, set()).update(literals(args[0]))
    return made


def refused():
    """The codes of the refusals that a file can meet."""
    made = set()
    for file, args in calls("ModelError"):
        if file not in CALLS:
            made |= {args[0].value} if isinstance(args[0], ast.Constant) else TABLED[file]
    return made


def rows(columns):
    """The rows of the tables with so many columns, as (codes of the first cell, the others)."""
    for line in TEXT.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        codes = re.findall(r"`([\w-]+)`", cells[0]) if cells else []
        if codes and len(cells) == columns:
            yield codes, cells[1:]


def test_every_finding_has_a_row_with_its_severity():
    table = {codes[0]: cells[0] for codes, cells in rows(4)}
    found = {code: severity for code, (severity,) in told().items() if not code.startswith("mended-")}
    assert table == found


def test_every_refusal_has_a_row():
    listed = [code for codes, _ in rows(3) for code in codes]
    assert set(listed) == refused() - {"xacro"}
    assert len(listed) == len(set(listed))


def test_every_change_is_named():
    named = set(re.findall(r"`(mended-[\w-]+)`", TEXT))
    assert named == {code for code in told() if code.startswith("mended-")}


def test_every_row_says_what_to_do():
    assert all(len(cell) > 3 for columns in (3, 4) for _, cells in rows(columns) for cell in cells)


def test_the_sources_are_read():
    assert len(told()) > 30
    assert len(refused()) > 30


def test_every_proof_has_a_row():
    from hinge.checking.proofs import LAWS

    table = re.findall(r"^\| ([\w ]+?) \| ", TEXT.partition("## Proofs")[2].partition("## Repairs")[0], re.M)
    assert table[1:] == [*LAWS, "agrees with Pinocchio", "agrees with MuJoCo"]


def test_every_repair_has_a_row():
    from hinge.checking.repairs import REPAIRS

    table = re.findall(r"^\| `(\w+)` \| ", TEXT.partition("## Repairs")[2].partition("## xacro")[0], re.M)
    assert table == list(REPAIRS)
