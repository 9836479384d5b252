"""The line search of the soft law ends where its slope is rounding, whatever the precision."""

import numpy as np

from hinge.contact.laws.soft_problem import least


def problem(seed, kind):
    """The slope of ½ bend α² + start α + Σ ½ D min(0, x + α d)², start and bend, and where it was looked at."""
    rng = np.random.default_rng(seed)
    x, d, D = rng.normal(size=8), rng.normal(size=8), 10.0 ** rng.uniform(1, 5, 8)
    bend = rng.uniform(1.0, 1e3)
    pull = float((D * np.minimum(x, 0.0) * d).sum())
    start, looks = -abs(pull) - pull - rng.uniform(1.0, 1e3), []
    x, d, D, start, bend = (np.asarray(a, kind) for a in (x, d, D, start, bend))

    def slope(alpha):
        looks.append(alpha)
        first, second = start + alpha * bend, bend
        for one, along, stiff in zip(x, d, D, strict=True):
            if one + alpha * along < 0.0:
                first, second = first + stiff * (one + alpha * along) * along, second + stiff * along * along
        return first, second

    return slope, start, bend, looks


def searched(seed, kind):
    slope, start, bend, looks = problem(seed, kind)
    return float(least(slope, kind(1e-10) * abs(start), abs(start) + bend, kind(1.0), 50)), len(looks)


def test_single_precision_looks_no_longer_than_double_but_for_its_rounding():
    for seed in range(40):
        (wanted, many), (found, some) = searched(seed, np.float64), searched(seed, np.float32)
        assert some <= many + 2 < 9, seed
        assert abs(found - wanted) < 1e-3 * wanted, seed
