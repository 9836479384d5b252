"""turney1981, section 10.1: joint accelerations from the hand's, as printed and as it holds."""

import numpy as np

import hinge

ARM = hinge.samples.puma560()
Q, QD = np.array([0.3, 0.2, -0.4, 0.2, -0.6, 0.1]), np.array([0.5, -0.3, 0.8, 1.0, -0.7, 0.4])
HAND = np.array([0.2, -0.1, 0.4, 1.0, 0.5, -0.8])
G = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 9.81])  # a base that accelerates upward stands for gravity


def hand(qd, qdd):
    return ARM.acceleration(Q, qd, qdd, "tool", frame="aligned", kind="classical")


L = np.stack([hand(np.zeros(6), row) for row in np.eye(6)], axis=1)  # strobed
N = hand(QD, np.zeros(6))


def test_10_1_the_hands_acceleration_is_linear_in_the_joints_but_for_what_velocities_make():
    qdd = np.random.default_rng(0).normal(size=6)
    np.testing.assert_allclose(hand(QD, qdd), L @ qdd + N, rtol=0, atol=1e-12)
    np.testing.assert_allclose(L, ARM.jacobian(Q, "tool", frame="aligned"), rtol=0, atol=1e-14)
    np.testing.assert_allclose(N, ARM.jacobian_rate(Q, QD, "tool", frame="aligned") @ QD, rtol=0, atol=1e-13)


def test_10_2_holds_with_n_inside_and_not_as_printed():
    holds, printed = np.linalg.solve(L, HAND - N), np.linalg.solve(L, HAND) - N
    np.testing.assert_allclose(hand(QD, holds), HAND, rtol=0, atol=1e-11)
    assert np.abs(hand(QD, printed) - HAND).max() > 0.5
    for method in ("jacobian", "strobe"):
        made = ARM.resolved_acceleration(Q, QD, HAND, "tool", method=method, backend="interpret")
        np.testing.assert_allclose(made, holds, rtol=0, atol=1e-10)


def test_gravity_is_in_both_or_in_neither():
    """The text finds N with gravity in it: then it has to be in the hand's acceleration as well."""
    np.testing.assert_allclose(np.linalg.solve(L, HAND + G - (N + G)), np.linalg.solve(L, HAND - N), atol=1e-10)
    assert np.abs(hand(QD, np.linalg.solve(L, HAND - (N + G))) - HAND).max() > 9.0
