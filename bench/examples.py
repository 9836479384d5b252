"""What the examples take: a million states, and a policy that is learned.

    python bench/examples.py [--write]

The examples are run as they are. The times of the first are those that it prints, the least of some runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import figures

EXAMPLES, ROUNDS = Path(__file__).parents[1] / "examples", 3


def run(name: str) -> tuple[str, float]:
    """What an example prints, and the seconds of a processor that it takes."""
    with tempfile.TemporaryDirectory() as folder:
        used = sum(os.times()[2:4])
        command = [sys.executable, EXAMPLES / f"{name}.py", Path(folder, "picture.png")]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return said, sum(os.times()[2:4]) - used


def measured() -> dict[str, Any]:
    said = [re.findall(r"dynamics (\d+) ns", run("10_million_states")[0]) for _ in range(ROUNDS)]
    inverse, forward = (min(map(float, times)) for times in zip(*said, strict=True))
    return {
        "inverse": figures.number(inverse, "ns of a core a state, inverse dynamics of a Puma 560"),
        "forward": figures.number(forward, "ns of a core a state, forward dynamics of a Puma 560"),
        "learning": figures.number(run("16_learning")[1], "s of a processor"),
    }


if __name__ == "__main__":
    figures.main(__file__, measured, ("matplotlib",))
