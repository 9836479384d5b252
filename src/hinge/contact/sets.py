"""Contacts that cannot break, and contacts that make no difference.

Normals that add up to nothing with coefficients of one sign hold each other: a positive acceleration at one would be a
negative one at another. A normal that is a non-negative combination of others is redundant, a null one always.
Source: featherstone1987, end of section 9.8.2.
Differs from the source: instead of minimal dependent sets, whose number grows exponentially, each contact is asked
whether its normal, or its opposite, lies in the cone of the others. Both are contact problems of their own, and need
no more than C.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.contact.forces import complementarity_problem, complementary
from hinge.typing import Flags, Numbers, Whole


class ContactSets(NamedTuple):
    """For each contact whether it cannot break, and whether it can be left out; of equal ones the later is."""

    unbreakable: Flags
    redundant: Flags


def contact_sets(C: Numbers) -> ContactSets:
    """Which contacts cannot be broken and which are redundant, from C (n, n) alone.

    >>> hinge.contact_sets([[1.0, -1.0], [-1.0, 1.0]]).unbreakable
    array([ True,  True])
    """
    C, _ = complementarity_problem(C, np.zeros(np.asarray(C).shape[-1:]))
    n = C.shape[-1]
    null = np.diagonal(C) <= 1e-12 * np.diagonal(C).max(initial=0.0)
    redundant = null.copy()
    for i in reversed(range(n)):
        if not redundant[i]:
            others = np.flatnonzero(~redundant & (np.arange(n) != i))
            redundant[i] = _in_cone(C, i, others, 1.0)
    held = [not null[i] and _in_cone(C, i, np.flatnonzero(np.arange(n) != i), -1.0) for i in range(n)]
    return ContactSets(np.array(held, bool), redundant)


def _in_cone(C: Array, i: int, others: Whole, sign: float) -> bool:
    """Whether ± normal i is a non-negative combination of others: the nearest such combination is no distance away."""
    if not len(others):
        return False
    force, status, _ = complementary(C[np.ix_(others, others)][None], -sign * C[others, i][None])
    if status[0]:
        return False
    a = force[0]
    left = C[i, i] - 2.0 * sign * a @ C[others, i] + a @ C[np.ix_(others, others)] @ a
    return bool(left <= 1e-9 * C[i, i])
