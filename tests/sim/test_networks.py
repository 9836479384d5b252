"""Networks as controllers: layers are loops of the program, and weights are inputs of it."""

import numpy as np
import pytest

import hinge
from hinge.backends import interpret
from hinge.graph import Graph, Input, order
from hinge.graph.arrays import symbols
from hinge.graph.products import LARGE

SIZES = ((64, 12), (64,), (64, 64), (64,), (6, 64), (6,))


def weights(seed):
    rng = np.random.default_rng(seed)
    return [0.1 * rng.normal(size=shape) for shape in SIZES]


def network(t, q, qd, A, a, B, b, C, c):
    x = np.tanh(A @ np.concatenate([q, qd]) + a)
    return C @ np.tanh(B @ x + b) + c


def test_new_weights_are_no_new_kernel():
    arm = hinge.samples.puma560()
    q0 = np.random.default_rng(0).normal(size=(5, 6))
    runs, kernels = [], []
    for seed in (0, 1):
        runs.append(hinge.rollout(arm, q0, np.zeros(6), 20, 1e-3, policy=network, inputs=weights(seed)))
        kernels.append(len(arm.target.memo))
    assert kernels[0] == kernels[1]
    assert not np.allclose(runs[0].q, runs[1].q)
    q, qd = q0.copy(), np.zeros_like(q0)
    for _ in range(20):  # semi-implicit, by hand
        tau = np.array([network(0.0, a, b, *weights(1)) for a, b in zip(q, qd, strict=True)])
        qd = qd + 1e-3 * arm.forward_dynamics(q, qd, tau)
        q = q + 1e-3 * qd
    np.testing.assert_allclose(runs[1].q[:, -1], q, rtol=0, atol=1e-12)


def test_weights_for_a_rollout_each():
    arm = hinge.samples.puma560()
    many = [np.stack(pair) for pair in zip(weights(0), weights(1), strict=True)]
    both = hinge.rollout(arm, np.zeros((2, 6)), np.zeros(6), 10, 1e-3, policy=network, inputs=many)
    for k in range(2):
        alone = hinge.rollout(arm, np.zeros(6), np.zeros(6), 10, 1e-3, policy=network, inputs=weights(k))
        np.testing.assert_allclose(both.q[k], alone.q, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", ["numbers", "input", "transposed", "input on the right", "mixed"])
def test_large_products_are_loops_and_the_same(kind):
    rows, columns = 20, 24
    rng = np.random.default_rng(0)
    M, x = rng.normal(size=(rows, columns)), rng.normal(size=columns)
    graph = Graph()
    vector = symbols([graph.input("x", k) for k in range(columns)])
    matrix = symbols([graph.input("M", k) for k in range(M.size)])
    made = {
        "numbers": lambda: M @ vector,
        "input": lambda: matrix.reshape(rows, columns) @ vector,
        "transposed": lambda: matrix.reshape(columns, rows).T @ vector,
        "input on the right": lambda: vector @ matrix.reshape(columns, rows),
        "mixed": lambda: (2.0 * matrix.reshape(rows, columns)) @ vector,
    }[kind]()
    wanted = {"numbers": M, "input": M, "mixed": 2.0 * M}.get(kind, M.reshape(columns, rows).T) @ x
    inputs = [Input("x", columns), Input("M", M.size)]
    program = order(inputs, [("y", (rows,), [y.item() for y in made])])
    out = np.empty((1, rows))
    interpret.run(program, [x[None], M.reshape(1, -1)], [out])
    np.testing.assert_allclose(out[0], wanted, rtol=0, atol=1e-13)
    rolled = any(op == "loop" for op, _ in program.code)
    assert M.size >= LARGE
    assert rolled == (kind != "mixed")
    assert (len(program.code) < M.size) == rolled


def test_a_controller_that_was_changed_is_traced_again():
    arm = hinge.samples.planar_2r()
    gains = {"kp": 10.0}
    control = lambda t, q, qd: -gains["kp"] * q
    once = hinge.simulate(arm, 0.02, [0.1, 0.2], control=control)
    gains["kp"] = 20.0
    other = hinge.simulate(arm, 0.02, [0.1, 0.2], control=control)
    np.testing.assert_allclose(once.tau[0], [-1.0, -2.0])
    np.testing.assert_allclose(other.tau[0], [-2.0, -4.0])


def test_a_policy_may_have_more_inputs_than_a_kernel_has_arrays_as_a_rule():
    arm = hinge.samples.planar_2r()
    rng = np.random.default_rng(0)
    gains = [rng.normal(size=(4096, 2)) for _ in range(40)]
    runs = []
    try:
        for threads in (1, 2):
            hinge.set_threads(threads)
            runs.append(hinge.rollout(arm, [0.1, 0.2], np.zeros((4096, 2)), 40, 1e-3, record=10, inputs=gains,
                                      policy=lambda t, q, qd, *kp: -sum(kp) * q))  # fmt: skip
    finally:
        hinge.set_threads(None)
    assert np.array_equal(runs[0].q, runs[1].q)
    tau = -sum(gains) * np.array([0.1, 0.2])
    wanted = 1e-3 * arm.forward_dynamics([0.1, 0.2], np.zeros(2), tau)
    first = hinge.rollout(arm, [0.1, 0.2], np.zeros((4096, 2)), 1, 1e-3, tau=tau)
    np.testing.assert_allclose(first.qd[:, 1], wanted, rtol=0, atol=1e-14)


def test_a_law_with_gains_for_each_rollout_is_a_policy():
    arm = hinge.samples.planar_2r()
    targets = np.array([[0.1, 0.2], [0.3, -0.1], [0.0, 0.5]])
    law = hinge.control.pd(arm, targets, kp=[[10.0], [20.0], [30.0]])
    many = hinge.rollout(arm, np.zeros((3, 2)), np.zeros(2), 20, 1e-3, policy=law)
    for k, kp in enumerate((10.0, 20.0, 30.0)):
        alone = hinge.control.pd(arm, targets[k], kp=kp)
        one = hinge.rollout(arm, np.zeros(2), np.zeros(2), 20, 1e-3, policy=alone)
        np.testing.assert_allclose(many.q[k], one.q, rtol=0, atol=1e-14)
