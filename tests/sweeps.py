"""Sweeps: tests of many cases, of which `make test` tries a few and `make sweep` the others; .ci/run does both."""

import pytest


def swept(cases, quick):
    """The cases as parameters of a test or fixture; those that `quick` is not true of have the mark `sweep`.

    Where it is true of none, because a package with robots is not there, none has the mark: every test is tried.
    """
    if not any(map(quick, cases)):
        return list(cases)
    return [case if quick(case) else pytest.param(case, marks=pytest.mark.sweep) for case in cases]
