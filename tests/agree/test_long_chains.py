"""Chains that are gone through by loops, against Pinocchio."""

import numpy as np
import pytest
from closeness import close

import hinge
from hinge.dynamics.registry import ALGORITHMS

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")


@pytest.mark.sweep
def test_a_chain_of_two_hundred_joints():
    robot = hinge.samples.chain(np.random.default_rng(0), 200)
    for name, method in (("inverse_dynamics", "newton_euler"), ("forward_dynamics", "articulated")):
        assert any(op == "loop" for op, _ in ALGORITHMS[name][method].trace(robot.target.traced).code)
    model = hinge.interop.pinocchio.to_model(robot)
    data, states = model.createData(), hinge.interop.pinocchio.states(robot, model)
    rng = np.random.default_rng(1)
    q, qd, x = (rng.uniform(-1, 1, 200) for _ in range(3))
    there = states.there(q, qd, x)
    tau = pin.rnea(model, data, there.q, there.v, there.a)
    close(robot.inverse_dynamics(q, qd, x), states.back(there.q, there.v, tau=tau).tau, 1e-11)
    force = states.there(q, qd, tau=x).tau
    qdd = states.back(there.q, there.v, a=pin.aba(model, data, there.q, there.v, force)).a
    close(robot.forward_dynamics(q, qd, x), qdd, 1e-9)
