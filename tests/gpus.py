"""Whether there is a GPU here."""

import pytest

from hinge.backends.cuda.device import driver
from hinge.errors import DeviceError


def has_gpu():
    try:
        driver()
    except DeviceError:
        return False
    return True


with_gpu = pytest.mark.skipif(not has_gpu(), reason="there is no GPU here, or no driver for it")
