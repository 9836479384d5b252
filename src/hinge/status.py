"""How a state fared."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a state fared: its numbers are good, its equations were singular, or some number was not finite.

    Of contacts also: no forces can hold the bodies apart, and bounces without number came to an end. Of loops: they
    could not be closed. Of poses: no coordinates were found that reach them.
    """

    OK = 0
    SINGULAR = 1
    NONFINITE = 2
    NO_SOLUTION = 3
    AT_REST = 4
    UNCLOSED = 5
    UNREACHED = 6
