"""How a state fared."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """How a state fared: its numbers are good, its equations were singular, or some number was not finite.

    Of contacts also: no forces can hold the bodies apart, and bounces without number came to an end. Of loops: they
    could not be closed. Of poses: no coordinates were found that reach them; of a hand that a controller leads: it was
    not led as wanted, though all its numbers are good. Of a simulation: it grew beyond all bounds, or its method of
    integration was unstable with its step, or equations that are solved by turns were not, or more contacts were found
    than there is room for. Of a derivative: there is none, because the state is where a law changes. Of a rollout: its
    start, or in a sweep what it was given, was refused.
    """

    OK = 0
    SINGULAR = 1
    NONFINITE = 2
    NO_SOLUTION = 3
    AT_REST = 4
    UNCLOSED = 5
    UNREACHED = 6
    DIVERGED = 7
    UNCONVERGED = 8
    OVERFLOW = 9
    NOT_SMOOTH = 10
    REFUSED = 11
    UNSTABLE = 12


# The same as plain numbers, for arrays that are compared again and again: NumPy asks an enumeration for attributes it
# does not have, which runs Python, and drops what is raised there: a Ctrl-C would be lost.
OK, SINGULAR, NONFINITE = int(Status.OK), int(Status.SINGULAR), int(Status.NONFINITE)
UNCLOSED, UNREACHED = int(Status.UNCLOSED), int(Status.UNREACHED)
DIVERGED, UNCONVERGED, OVERFLOW = int(Status.DIVERGED), int(Status.UNCONVERGED), int(Status.OVERFLOW)
NOT_SMOOTH, REFUSED, UNSTABLE = int(Status.NOT_SMOOTH), int(Status.REFUSED), int(Status.UNSTABLE)
