"""DDP on a GPU, and on one that is none: paths are the CPU's."""

import interpreted_gpu
import numpy as np
import pytest
from ddp_cases import rods
from gpus import with_gpu

from hinge.optimal import Problem, ddp
from hinge.status import OK


def problems():
    """Problems with targets, masses and weights by stage of their own, bounds and a constraint."""
    rng = np.random.default_rng(4)
    problem = Problem(rods(effort=6.0).vary("rod2.mass"), 5, 0.1, [lambda u: 0.3 * u], [
        lambda q, target, weight: weight * (q - target)], given={"target": np.zeros(2), "weight": 2.0},
        below=[lambda qd: qd[0] - 0.8])  # fmt: skip
    given = {"target": rng.normal(size=(5, 2)), "weight": rng.uniform(1.0, 2.0, (5, 6))}
    return problem, {"q": 0.3 * rng.normal(size=(5, 2)), "given": given,
                     "parameters": {"rod2.mass": rng.uniform(0.5, 1.5, 5)}}  # fmt: skip


def same(ours, plain, tolerance):
    assert (plain.status == OK).all()
    np.testing.assert_array_equal(ours.status, plain.status)
    for name in ("q", "qd", "u", "cost", "gains"):
        np.testing.assert_allclose(getattr(ours, name), getattr(plain, name), rtol=tolerance, atol=tolerance)


def test_copied_arrays_give_the_paths_of_the_cpu(monkeypatch):
    problem, given = problems()
    wanted = ddp(problem, **given)
    interpreted_gpu.pretend(monkeypatch)
    same(ddp(problem, **given, backend="cuda"), wanted, 0.0)


@with_gpu
@pytest.mark.parametrize("hessians", ["gauss_newton", "exact"])
def test_a_gpu_gives_the_paths_of_the_cpu(hessians):
    problem, given = problems()
    same(ddp(problem, **given, hessians=hessians, backend="cuda"), ddp(problem, **given, hessians=hessians), 1e-6)
