import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'hinge[gym]'")
