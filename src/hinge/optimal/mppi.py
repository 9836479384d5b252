"""`mppi`: motions that cost little, by samples of forces about a guess, for what has no useful derivatives.

    u ← Σ w_s u_s / Σ w_s,   w_s = exp(-(J_s - J_best) / λ),   u_s = u + noise

Source: williams2017 for the weights.
Differs from the source: λ is a share of how much the samples' costs spread, so that costs may have any size, and
samples are charged what they cost alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hinge import arguments
from hinge.arguments import Array
from hinge.errors import SizeError
from hinge.optimal.problem import Problem
from hinge.optimal.rolled import TOLD, rolled, rolled_kernel
from hinge.optimal.solution import Solution
from hinge.optimal.start import Start, flat, start
from hinge.status import NONFINITE, UNCONVERGED
from hinge.typing import Numbers

PART = 0.1  # of the bounds: the noise unless given


def mppi(problem: Problem, q: Numbers, qd: Numbers | None = None, u: Numbers | None = None, samples: int = 1024,
         iterations: int = 50, temperature: float = 0.05, noise: Numbers | None = None, decay: float = 0.97,
         weight: float = 1e3, seed: int = 0, given: Mapping[str, Any] | None = None,
         parameters: Mapping[str, Any] | None = None, backend: str | None = None) -> Solution:  # fmt: skip
    """The motion from q (…, nq) and qd (…, nv) that costs little among samples of forces about u (…, horizon, nu).

    In each iteration `samples` of forces are tried, with normal `noise` (nu) that is a tenth of the bounds of u unless
    given, in N m and N, and `decay` times as much in the next. `temperature` is a share of how much their costs spread:
    the lower, the more the best count. Constraints cost half of `weight` times the squares of what they are off.
    Nothing is known of slopes: the status is UNCONVERGED, or NONFINITE, and `optimality` NaN. What was best of all that
    was tried is given.

    >>> arm = hinge.samples.planar_2r()
    >>> reach = hinge.optimal.reach(arm, "hand", [0.5, 0.0, 1.0], weight=900.0, task="position")
    >>> problem = hinge.optimal.Problem(arm, 25, 0.04, [hinge.optimal.effort(1e-4)], [reach, hinge.optimal.speed()])
    >>> solution = hinge.optimal.mppi(problem, [0.1, 0.2], noise=5.0, samples=256)
    >>> bool(solution.cost < hinge.optimal.rolled(problem, [0.1, 0.2], None, np.zeros((25, 2))).cost / 10.0)
    True
    """
    samples, iterations = arguments.count("samples", samples, 2), arguments.count("iterations", iterations, 0)
    temperature, decay = arguments.positive("temperature", temperature), arguments.positive("decay", decay)
    spread, rng = _noise(problem, noise), arguments.generator("mppi", seed)
    begun = start(problem, q, qd, u, None, given, parameters)
    low, high = problem.bounds
    kernel = rolled_kernel(problem, begun.outside, False, backend)
    n, here = len(begun.q), begun.u
    states = [np.repeat(a[:, 0], samples, axis=0) for a in (begun.q, begun.qd)]
    acts = [a if name in begun.outside.shared else np.repeat(a, samples, axis=0)
            for name, a in zip(begun.outside.arrays, flat(begun.outside), strict=True)]  # fmt: skip
    said = np.tile([0.0, arguments.positive("weight", weight)], (n * samples, 1))
    best, least, history = here.copy(), np.full(n, np.inf), []
    for _ in range(iterations):
        tried = here[:, None] + spread * rng.standard_normal((n, samples, *here.shape[1:]))
        tried[:, 0], tried[:, 1] = here, best
        tried = np.clip(tried, low, high)
        told = kernel(said, *states, tried.reshape(-1, *here.shape[1:]), *acts)
        merit = told[:, TOLD.index("merit")].reshape(n, samples)
        merit = np.where(np.isfinite(merit) & (told[:, -1].reshape(n, samples) < 0.5), merit, np.inf)
        here, found, first = _better(here, tried, merit, temperature)
        better = first < least
        best[better], least = found[better], np.minimum(first, least)
        history.append(np.column_stack([np.arange(n), first]))
        spread = decay * spread
    return _solution(problem, begun, best, given, parameters, history, backend)


def _better(here: Array, tried: Array, merit: Array, temperature: float) -> tuple[Array, Array, Array]:
    """The weighted mean of samples, the best one, and its merit; where no sample has one, things stay."""
    first = merit.min(axis=1)
    finite = np.where(np.isfinite(merit), merit, np.nan)
    lost = ~np.isfinite(first)
    finite[lost] = 0.0
    scale = np.maximum(
        np.nanmedian(finite, axis=1) - finite[np.arange(len(finite)), np.nanargmin(finite, axis=1)], 1e-300
    )
    with np.errstate(invalid="ignore", over="ignore"):
        weights = np.exp(-(merit - np.where(lost, 0.0, first)[:, None]) / (temperature * scale[:, None]))
    weights = np.where(np.isfinite(weights), weights, 0.0)
    total = weights.sum(axis=1)
    mean = np.einsum("ns,nsku->nku", weights, tried) / np.where(total > 0.0, total, 1.0)[:, None, None]
    chosen = tried[np.arange(len(tried)), merit.argmin(axis=1)]
    return np.where(lost[:, None, None], here, mean), chosen, first


def _noise(problem: Problem, noise: Numbers | None) -> Array:
    if noise is not None:
        made = arguments.finite("noise", noise).astype(float)
        if made.shape not in ((), (problem.nu,)) or (made < 0.0).any():
            raise SizeError(
                f"noise={noise!r} is not known. Give a number that is not negative, or {problem.nu} of them."
            )
        return np.broadcast_to(made, (problem.nu,))
    made = PART * problem.bounds[1]
    if not np.isfinite(made).all():
        raise SizeError("mppi: forces have no bounds, so nobody knows how much noise is much. Give noise= (N m, N).")
    return made


def _solution(
    problem: Problem, begun: Start, u: Array, given: Any, parameters: Any, history: Any, backend: Any
) -> Solution:
    batch = begun.batch
    forces = u.reshape((*batch, *u.shape[1:]))
    q0, qd0 = (a[:, 0].reshape((*batch, a.shape[-1])) for a in (begun.q, begun.qd))
    path = rolled(problem, q0, qd0, forces, given, parameters, backend)
    bad = ~np.isfinite(path.cost) | (np.asarray(path.status) != 0)
    nothing = np.full(batch, np.nan)[()]
    gains = np.zeros((*batch, problem.horizon, problem.nu, 2 * problem.robot.nv))
    status = np.where(bad, np.where(np.asarray(path.status) != 0, path.status, NONFINITE), UNCONVERGED)[()]
    return Solution(problem, path.q, path.qd, forces, cost=path.cost, optimality=nothing, gap=np.zeros(batch)[()],
                    violation=path.violation, status=status, gains=gains, told=("cost",), history=history)  # fmt: skip
