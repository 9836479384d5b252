"""Derivatives are tried on the robots of the laws, of the mechanisms and of other libraries."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[1:1] = [str(TESTS / folder) for folder in ("laws", "mechanisms", "agree")]
