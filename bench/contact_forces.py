"""Random contact problems, as the text had them: R uniform in [-1, 1], C = R Rᵀ, d uniform in [-1, 1].

    python bench/contact_forces.py [problems of each size]

Prints for each size whether all were solved, the complementarity, the largest disagreement with a QP solver (daqp where
it is installed, else non-negative least squares) in the accelerations C α, how often the heuristic was right, and the
patterns tried by Figure 9-6 against 1.5^(n - 1). Then the same for dependent normals (rank n / 2).
"""

import sys
import time

import numpy as np

import hinge
from hinge.contact.pruning import Tally, guided, pruned

try:
    import daqp
except ImportError:
    daqp = None
from scipy.optimize import nnls


def quadratic(C, d):
    n = len(d)
    if daqp is not None:
        big = np.full(n, 1e30)
        return daqp.solve(C.copy(), d.copy(), np.zeros((0, n)), big, np.zeros(n), np.zeros(n, np.intc))[0]
    L = np.linalg.cholesky(C)
    return nnls(L.T, -np.linalg.solve(L, d))[0]


def off(C, d, made):
    """Complementarity in accelerations, plain and against the rounding of the effects of large forces."""
    away = np.abs(np.minimum(made.force * np.diagonal(C, axis1=1, axis2=2), made.acceleration)).max(axis=1)
    effect = np.einsum("mij,mj->mi", np.abs(C), made.force).max(axis=1)
    return away.max(), (away / np.maximum(1.0, 1e-5 * effect)).max()


def main(count):
    for n in range(1, 13):
        rng = np.random.default_rng(n)
        R = rng.uniform(-1, 1, (count, n, n))
        C, d = R @ R.transpose(0, 2, 1), rng.uniform(-1, 1, (count, n))
        start = time.perf_counter()
        made = hinge.contact_forces(C, d)
        took = time.perf_counter() - start
        well = np.flatnonzero(np.linalg.cond(C) < 1e8)
        apart = max(np.abs(C[k] @ (quadratic(C[k], d[k]) - made.force[k])).max() for k in well)
        choice, search = Tally(), Tally()
        for k in range(min(count, 1000)):
            guided(C[k], d[k], choice)
            pruned(C[k], d[k], search)
        r = max(1, n // 2)
        F = rng.uniform(-1, 1, (count, n, r))
        Cd, dd = F @ F.transpose(0, 2, 1), np.einsum("mij,mj->mi", F, rng.uniform(-1, 1, (count, r)))
        flat = hinge.contact_forces(Cd, dd)
        print(f"n = {n:2}: solved {np.mean(made.status == 0):.4%} in {took / count * 1e6:.1f} µs each, complementarity "
              f"{off(C, d, made)[0]:.1e} ({off(C, d, made)[1]:.1e} scaled), QP {apart:.1e} on {len(well)}; heuristic "
              f"{choice.right / max(choice.choices, 1):.2%}; patterns {search.patterns / min(count, 1000):.1f} against "
              f"{1.5 ** (n - 1):.1f}; dependent: solved {np.mean(flat.status == 0):.4%}, {off(Cd, dd, flat)[1]:.1e}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
