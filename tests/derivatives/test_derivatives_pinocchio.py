"""Derivatives of dynamics against Pinocchio's, on robots of its examples, on a fixed and on a floating base."""

import numpy as np
import pytest
from real_robots import FILES, Pair, named
from slopes_by_graph import by_recursion
from sweeps import swept

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
}
CASES = [(name, floating) for name in ROBOTS for floating in (False, True)]
FEW = {("ur5", False), ("panda", True), ("go2", True)}
CLOSE = 1e-9


def theirs(pair, function, tau=None):
    """Pinocchio's three matrices, a row of states: force or acceleration by q, v, and acceleration or force."""
    third = pair.a if tau is None else tau
    made = []
    for q, v, x in zip(pair.q, pair.v, third, strict=True):
        dq, dv, da = function(pair.model, pair.data, q, v, x)
        made.append(np.hstack([dq, dv, np.triu(da) + np.triu(da, 1).T]))  # of which they fill one half
    return np.array(made)


def ours(pair, slopes):
    """Matrices of hinge in Pinocchio's order."""
    n = pair.robot.nv
    columns = np.concatenate([pair.index + k * n for k in range(3)])
    return slopes[:, pair.index[:, None], columns]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", swept(CASES, FEW.__contains__), ids=lambda case: f"{case[0]} {named(case[1])}")
def test_slopes_are_theirs(case):
    name, floating = case
    pair = Pair(FILES[ROBOTS[name]], floating)
    want = theirs(pair, pin.computeRNEADerivatives)
    made = ours(pair, by_recursion(pair.robot, "inverse_dynamics", pair.hq, pair.hv, pair.ha))
    scale = np.abs(want).max(axis=(1, 2), keepdims=True)
    assert np.max(np.abs(made - want) / scale) < CLOSE

    tau = np.array([pin.rnea(pair.model, pair.data, *row) for row in zip(pair.q, pair.v, pair.a, strict=True)])
    ordered = np.zeros_like(tau)
    ordered[:, pair.index] = tau
    want = theirs(pair, pin.computeABADerivatives, tau)
    made = ours(pair, by_recursion(pair.robot, "forward_dynamics", pair.hq, pair.hv, ordered))
    scale = np.abs(want).max(axis=(1, 2), keepdims=True)
    assert np.max(np.abs(made - want) / scale) < CLOSE
