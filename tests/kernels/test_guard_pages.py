"""No kernel touches a byte outside the arrays it is given, in whatever way it is called."""

import json
import pathlib
import signal
import sys

import pytest
from kernel_cases import python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pages are forbidden by mprotect")
SCRIPT = pathlib.Path(__file__).parent / "guarded_calls.py"
PLAIN = {f"{kind} {number}" for kind in ("one state", "batch") for number in ("float64", "float32")}
WAYS = ("", ", out=", ", bound")


def test_every_way_to_call_a_kernel_stays_within_its_arrays():
    ran = python(SCRIPT)
    assert (ran.returncode, ran.stderr) == (0, "")
    kinds = {kind + way for kind in (*PLAIN, "status", "threads", "large results") for way in WAYS}
    tally = json.loads(ran.stdout)
    assert set(tally) == kinds | {"fast entry", "streams", "streams, bound"}
    assert sum(tally.values()) > 2000


@pytest.mark.parametrize("touched", ["read", "write"])
def test_the_guard_sees_one_number_too_many(touched):
    assert python(SCRIPT, "beyond", touched).returncode == -signal.SIGSEGV
