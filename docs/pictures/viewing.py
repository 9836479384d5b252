"""Draws docs/viewing.gif: two periods of the trot of example 15, as `hinge.film` has them.

python docs/pictures/viewing.py
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from pathlib import Path

import hinge

DOCS = Path(__file__).parents[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["15_trot.py", str(Path(folder) / "trot.png")]
        run = runpy.run_path(str(DOCS.parent / "examples" / "15_trot.py"))["run"]
    part = run[(run.t > 2.0 - 1e-9) & (run.t < 2.8 - 1e-9)]
    hinge.film(part, DOCS / "viewing.gif", rate=20.0, size=(360, 220))


if __name__ == "__main__":
    main()
