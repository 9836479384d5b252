"""docs/derivations.md is what docs/derivations.py writes today."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_what_hinge_derives():
    written = runpy.run_path(str(DOCS / "derivations.py"))["page"]()
    assert written == (DOCS / "derivations.md").read_text(encoding="utf-8"), (
        "If this was meant, run `python docs/derivations.py > docs/derivations.md` and commit what it changes."
    )
    assert len(written.splitlines()) < 200  # short enough to read
