"""Sweeps: tests of many cases, of which `make test` tries a few and `make sweep` the others.

CI runs all of `make test` and, by the number of commits, one third of the sweep: `make sweep PART=2/3` is the second.

`swept` chooses the few where cases are listed; `@pytest.mark.sampled(number)` spreads so many evenly over all of them.
"""

from collections import defaultdict

import pytest


def swept(cases, quick):
    """The cases as parameters of a test or fixture; those that `quick` is not true of have the mark `sweep`.

    Where it is true of none, because a package with robots is not there, none has the mark: every test is tried.
    """
    if not any(map(quick, cases)):
        return list(cases)
    return [case if quick(case) else pytest.param(case, marks=pytest.mark.sweep) for case in cases]


def part_of_sweep(items, part):
    """Return (kept, left out) for a part of the sweep such as "2/3"; every third case is kept, from the second on."""
    number, parts = map(int, part.split("/"))
    swept_items = [item for item in items if item.get_closest_marker("sweep")]
    kept = set(swept_items[number - 1 :: parts])
    return [one for one in items if one in kept], [one for one in items if one not in kept]


def mark_sampled(items):
    """Give the mark `sweep` to all but `number` cases of each test with the mark `sampled(number)`."""
    cases = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") and not item.get_closest_marker("sweep"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for several in cases.values():
        (number,) = several[0].get_closest_marker("sampled").args
        chosen = {round(k * (len(several) - 1) / max(1, number - 1)) for k in range(number)}
        for k, item in enumerate(several):
            if k not in chosen:
                item.add_marker("sweep")
