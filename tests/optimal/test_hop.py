"""The hop of examples/18_hop.py is what it says: the least nearby, as `simulate` has it, off the ground and back."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from ddp_cases import price

from hinge.optimal import ddp, rolled
from hinge.status import OK

SCRIPT = Path(__file__).parents[2] / "examples" / "18_hop.py"
pytestmark = pytest.mark.sweep


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The names of the example, after it has run."""
    before = sys.argv
    sys.argv = [str(SCRIPT), str(tmp_path_factory.mktemp("hop") / "hop.png")]
    try:
        return runpy.run_path(str(SCRIPT))
    finally:
        sys.argv = before


def test_it_is_the_least_nearby_and_costs_what_it_claims(example):
    hop, run, problem = example["hop"], example["run"], example["problem"]
    assert hop.status == OK
    assert hop.gap < 1e-6
    np.testing.assert_allclose(price(problem, run.q, run.qd, hop.u), hop.cost, rtol=1e-6)
    assert (np.abs(hop.u) <= problem.bounds[1]).all()


def test_it_leaves_the_ground_and_lands(example):
    run = example["run"]
    load = run.contacts.forces[..., 2].sum(axis=-1)
    away = np.flatnonzero(load == 0.0)
    assert len(away) >= 10
    assert (np.diff(away) == 1).all()  # once
    weight = 9.81 * example["robot"].mass
    assert load[: away[0]].max() > weight
    assert load[away[-1] + 1 :].max() > weight
    assert run.q[:, 6].max() > run.q[0, 6] + 0.1
    assert np.abs(run.q[-1] - example["rest"]).max() < 0.1


def test_its_slope_is_that_of_rollouts(example):
    """On the way, where it is not zero: the guess, standing, and pushed a little everywhere."""
    problem, rest = example["problem"], example["rest"]
    u = np.asarray(example["guess"]) + 0.3
    steepest = ddp(problem, rest, u=u, iterations=0).optimality
    h, n = 1e-4, u.size
    away = h * np.eye(n).reshape(n, *u.shape)
    cost = rolled(problem, np.tile(rest, (2 * n, 1)), None, np.concatenate([u + away, u - away])).cost
    np.testing.assert_allclose(np.abs(cost[:n] - cost[n:]).max() / (2.0 * h), steepest, rtol=1e-4)
