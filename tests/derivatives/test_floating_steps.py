"""Derivatives of a step of a floating robot, whose velocities are carried to the axes at its end."""

import numpy as np
import pytest

import hinge

H, SMALL = 0.02, 1e-6


def floating_arm():
    """An arm of one joint on a free body, both with their mass off the joints."""
    builder = hinge.Builder("floating arm")
    builder.link("world")
    builder.link("body", 2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.4, 0.5]))
    builder.link("arm", 1.0, (0.0, 0.1, -0.3), np.diag([0.1, 0.1, 0.02]))
    builder.joint("base", "free", "world", "body")
    builder.joint("elbow", "revolute", "body", "arm", (0.0, 0.2, 0.0), axis=(1, 0, 0))
    return hinge.Robot(builder.build())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ["euler", "semi_implicit", "implicit"])
def test_a_step_is_linearized_as_differences_say(method):
    robot, rng = floating_arm(), np.random.default_rng(0)
    (q,), (qd,) = robot.random_state(rng, 1)
    n, tau = robot.nv, rng.normal(size=robot.nv)
    moved = SMALL * np.concatenate([np.eye(3 * n), -np.eye(3 * n)])
    after = robot.step(robot.integrate(q, moved[:, :n]), qd + moved[:, n : 2 * n], tau + moved[:, 2 * n :], H,
                       method=method)  # fmt: skip
    home = robot.step(q, qd, tau, H, method=method)[0]
    x = np.concatenate([robot.difference(home, after[0]), after[1]], axis=-1)
    wanted = (x[: 3 * n] - x[3 * n :]).T / (2.0 * SMALL)
    A, B = robot.linearize(q, qd, tau, H, method=method, backend="interpret")
    np.testing.assert_allclose(np.hstack([A, B]), wanted, rtol=0, atol=1e-7)
