"""Laws share robots, states and differences with the tests of derivatives and mechanisms."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[1:1] = [str(TESTS / folder) for folder in ("derivatives", "mechanisms")]
