"""JAX is imported when one of its arrays is given, and not before."""

import subprocess
import sys

NOTHING_ELSE = """
import sys, hinge
arm = hinge.samples.planar_2r()
arm.inverse_dynamics([0.0, 1.0], [0.1, 0.2], [0.0, 0.0])
arm.derivatives("inverse_dynamics", [0.0, 1.0], [0.1, 0.2], [0.0, 0.0])
print([name for name in ("jax", "jaxlib") if name in sys.modules])
"""


def test_jax_is_not_imported_unless_it_is_given():
    assert subprocess.run([sys.executable, "-c", NOTHING_ELSE], capture_output=True, text=True).stdout == "[]\n"
