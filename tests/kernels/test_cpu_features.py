"""HINGE_CPU_FEATURES: code of other processors, with results that are the same to the bit."""

import os
import platform

import pytest
from kernel_cases import python

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="names of features are those of x86 processors"
)
BITS = """
import hashlib, numpy as np, hinge
from hinge.backends.llvm import jit
digest = hashlib.sha256()
for robot in (hinge.samples.puma560(), hinge.samples.random_tree(np.random.default_rng(4), 6)):
    q, qd = robot.random_state(np.random.default_rng(0), 37)
    for n in (1, 37):
        digest.update(robot.forward_dynamics(q[:n], qd[:n], qd[:n]).tobytes())
    digest.update(hinge.rollout(robot, q[:5], qd[:5], 20, 1e-3).q.tobytes())
print(jit.lanes(), digest.hexdigest())
"""


@pytest.mark.sweep
def test_results_do_not_depend_on_the_width_of_vectors_or_on_fused_instructions():
    found = {}
    for off in ("-avx512f", "-avx", "-avx,-fma"):
        ran = python(BITS, HINGE_CPU_FEATURES=off)
        assert (ran.returncode, ran.stderr) == (0, "")
        found[off] = ran.stdout.split()
    usual = python(BITS, HINGE_CPU_FEATURES="").stdout.split()
    assert {bits for _, bits in found.values()} == {usual[1]}
    assert int(found["-avx512f"][0]) <= 4
    assert found["-avx"][0] == found["-avx,-fma"][0] == "2"


def test_code_for_other_features_is_another_entry_of_the_cache(tmp_path):
    code = "import hinge, numpy as np; hinge.samples.planar_2r().gravity_force(np.zeros(2))"
    kept = []
    for off in ("", "-avx", "-avx"):
        assert python(code, HINGE_CPU_FEATURES=off, HINGE_CACHE_DIR=str(tmp_path / "cache")).returncode == 0
        kept.append({file for _, _, files in os.walk(tmp_path / "cache") for file in files})
    assert kept[0] < kept[1] == kept[2]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("word", ["+avx512f", "avx2", "-avx1024", "-"])
def test_a_feature_that_is_none_or_switched_on_is_refused(word):
    ran = python("import hinge; hinge.samples.planar_2r().gravity_force([0.0, 0.0])", HINGE_CPU_FEATURES=word)
    assert ran.returncode == 1
    assert (
        f"HINGE_CPU_FEATURES has {word!r}. Give features of this processor to switch off, such as -avx512f; it has "
        in ran.stderr
    )
