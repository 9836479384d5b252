import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'hinge[gym]'")
sys.path.append(str(Path(__file__).parents[2] / "examples"))
